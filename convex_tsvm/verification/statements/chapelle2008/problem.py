"""§2: the problem, and its tree of partial labels (§3.1)."""

from __future__ import annotations

import numpy as np

from ....exact import exact_search
from ....formulations import s3vm
from ....kernels import RBF
from ....losses import hinge, squared_hinge, symmetric_squared_hinge
from ....methods import switching
from ....problem import Array, Problem
from . import PAPER
from .quantities import Quantities, V


def objective(q: Quantities, function: tuple[Array, float], labels: Array, *, half: float = 1.0) -> float:
    """Eq. 1 at (w, b) and labels of all points."""
    return float(half * q.half(function) + q.cost @ V(labels, q.o(function)))


PAPER.states(
    "eq. 1",
    r"\mathcal I(w, b, y_u)",
    r"\tfrac12\|w\|^2 + C\sum_{i=1}^{l} V(y_i, o_i) + C^*\sum_{i=l+1}^{n} V(y_i, o_i)",
    says="The objective at a function and labels of all points.",
    computed=lambda q: [q.instance.labelled_objective(q.o(one), q.half(one), q.labelings[3]) for one in q.functions],
    claimed=lambda q: [objective(q, one, q.labelings[3]) for one in q.functions],
    faults={"‖w‖² without its half": lambda q: [objective(q, one, q.labelings[3], half=2.0) for one in q.functions]},
)

PAPER.states(
    "eq. 2",
    r"V(1, o) \text{ for } p = 1, 2",
    r"\max(0, 1 - o)^p",
    says="The hinge loss, plain and squared; there is no ½ in front of the square.",
    computed=lambda q: [hinge()(q.t), squared_hinge()(q.t)],
    claimed=lambda q: [V(1, q.t, 1), V(1, q.t, 2)],
    faults={"p = 2 with a half": lambda q: [V(1, q.t, 1), V(1, q.t, 2) / 2]},
)


@PAPER.states(
    "eq. 3",
    r"\left(\tfrac1u\sum\max(y_i, 0),\ \tfrac1u\sum y_i\right) \text{ of the toolkit's labels}",
    r"(r,\ 2r - 1)",
    claimed=lambda q: [q.r, 2 * q.r - 1],
    faults={"r for both": lambda q: [q.r, q.r]},
)
def eq_3(q: Quantities) -> list[float]:
    """The balance: a share r of the unlabelled points is positive, in both forms of the equation."""
    labels = switching(s3vm(), q.counted).labels[q.l :]
    return [float(np.maximum(labels, 0).mean()), float(labels.mean())]


PAPER.states(
    "eq. 4",
    r"\mathcal J(y_u)",
    r"\min_{w,b} \mathcal I(w, b, y_u)",
    says="For fixed labels the problem is an SVM: native solver against CVXPY, for every labelling.",
    rests_on=("eq. 1",),
    computed=lambda q: q.values,
    claimed=lambda q: [q.program(labels) for labels in q.labelings],
    faults={"the cost C for all points": lambda q: [q.program(labels, np.full(q.n, q.C)) for labels in q.labelings]},
)

PAPER.states(
    "eq. 5",
    r"\tfrac12\|w\|^2 + C\sum\max(0, 1-y_i o_i)^2 + C^*\sum\max(0, 1-|o_i|)^2",
    r"\min_{y_u} \mathcal I(w, b, y_u)",
    says="Labels are the signs of the outputs at best, which leaves a continuous objective: against every labelling.",
    rests_on=("eq. 1",),
    computed=lambda q: [q.model.objective(q.problem, q.o(one), q.half(one)) for one in q.functions],
    claimed=lambda q: [min(objective(q, one, labels) for labels in q.labelings) for one in q.functions],
    faults={"the largest over labels": lambda q: [max(objective(q, f, y) for y in q.labelings) for f in q.functions]},
)


@PAPER.states(
    "Figure 1",
    r"\text{wrong labels at the global optimum of two moons}",
    r"0",
    quantities=lambda: [moons()],
    claimed=lambda case: 0,
    faults={"one": lambda case: 1},
)
def figure_1(case: tuple[Problem, Array]) -> int:
    """With two labelled points, one in each moon, the optimum separates the moons."""
    problem, truth = case
    return int((exact_search(s3vm(), problem, time_limit=60).labels != truth).sum())


def moons() -> tuple[Problem, Array]:
    """Two half circles of 15 points each, one of them labelled in each."""
    angle = np.linspace(0, np.pi, 15)
    X = np.vstack(
        [np.column_stack([np.cos(angle), np.sin(angle)]), np.column_stack([1 - np.cos(angle), 0.5 - np.sin(angle)])]
    )
    truth = np.repeat([1.0, -1.0], 15)
    y = np.where(np.isin(np.arange(30), [7, 22]), truth, 0.0)
    return Problem(X, y, kernel=RBF(0.3), C=10.0, C_unlabeled=10.0, balance=0.0), truth


PAPER.states(
    "Figure 2",
    r"\text{loss of an unlabelled point}",
    r"\max(0, 1 - |o|)^2",
    says="The effective loss: 1 at the boundary, 0 outside the margin.",
    rests_on=("eq. 5",),
    computed=lambda q: symmetric_squared_hinge()(q.t),
    claimed=lambda q: np.maximum(0, 1 - np.abs(q.t)) ** 2,
    faults={"max(0, 1 - o²)": lambda q: np.maximum(0, 1 - q.t**2)},
)


def path_down(q: Quantities) -> Array:
    """J of the SVM as unlabelled points get labels one after the other, down a branch of the tree."""
    labels = q.labelings[2]
    return np.array([q.program(labels, np.where(np.arange(q.n) < q.l + k, q.cost, 0.0)) for k in range(q.u + 1)])


PAPER.states(
    "Figure 3",
    r"\text{lower bound of a node}",
    r"\text{that of its child}",
    says="Down a branch of the tree the SVM of the labelled points pays for more points: its objective rises.",
    relation="<=",
    rests_on=("eq. 4",),
    computed=lambda q: path_down(q)[:-1] - 1e-8,
    claimed=lambda q: path_down(q)[1:],
    faults={"that of the child, less its new point's loss": lambda q: path_down(q)[1:] - q.C_star},
)
