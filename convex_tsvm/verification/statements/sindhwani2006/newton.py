"""§1.2: the modified finite Newton method."""

from __future__ import annotations

import numpy as np
import scipy.optimize

from ....formulations import svm
from ....instance import Instance
from ....losses import squared_hinge as squared_hinge_loss
from ....losses import symmetric_squared_hinge
from ....problem import Array, Problem
from ....solvers.finite_newton import FiniteNewton
from . import PAPER
from .quantities import Quantities, squared_hinge


def objective(q: Quantities, w: Array, *, half: float = 0.5) -> float:
    """Eq. 1.1 over the labelled points, with λ = 1 / (2 C) and times 1 / λ, which is the toolkit's scale."""
    known = q.problem.labeled
    lam = 1 / (2 * float(q.problem.cost[known[0]]))
    return float(half * squared_hinge(q.y[known] * (q.X[known] @ w)).sum() + lam / 2 * w @ w) / lam


@PAPER.states(
    "eq. 1.1",
    r"\tfrac12\|w\|^2 + C\sum_i \max(0, 1 - y_i w^\top x_i)^2",
    r"\tfrac1\lambda\left(\tfrac12\sum_{i=1}^{l} l_2(y_i w^\top x_i) + \tfrac\lambda2\|w\|^2\right),\quad \lambda ="
    r" \tfrac{1}{2C}",
    claimed=lambda q: [objective(q, w) for w in q.others],
    faults={"λ = 1 / C": lambda q: [objective(q, w, half=1.0) for w in q.others]},
)
def eq_1_1(q: Quantities) -> list[float]:
    """The l₂-SVM: squared hinge losses, and the bias regularized with the rest.

    Its λ is 1 / (2 C) for the C of the toolkit, whose losses have no ½ in front; the footnote's λ = 1 / C is for
    C/2 Σ l₂.
    """
    supervised = svm(squared_hinge_loss(), fit_intercept=False, balance=None)
    return [supervised.objective(q.problem, q.X @ w, 0.5 * float(w @ w)) for w in q.others]


@PAPER.states(
    "eq. 1.2",
    r"\text{the toolkit's objective}",
    r"\tfrac12\sum_{i\in\jmath(w)} c_i\, l_2(y_i w^\top x_i) + \tfrac\lambda2\|w\|^2,\quad \jmath(w) = \{i: y_i w^\top"
    r" x_i < 1\}",
    rests_on=("eq. 1.1",),
    claimed=lambda q: [active_objective(q, w) for w in q.others],
    faults={"all points, without the maximum": lambda q: [active_objective(q, w, 1e9) for w in q.others]},
)
def eq_1_2(q: Quantities) -> list[float]:
    """Only points of the active set pay: on them the loss is a square, (1 - y f)²."""
    step = q.instance.svm(q.y)
    return [0.5 * float(w @ w) + step.loss_value(q.X @ w) for w in q.others]


def active_objective(q: Quantities, w: Array, below: float = 1.0) -> float:
    """Eq. 1.2 over the points with y w·x below a number."""
    t = q.y * (q.X @ w)
    return float(0.5 * (q.c * (1 - t) ** 2)[t < below].sum() + 0.5 * q.lam * w @ w)


PAPER.states(
    "eq. 1.3",
    r"w^k + n^k",
    r"w^k - [\nabla^2 f(w^k)]^{-1}\nabla f(w^k)",
    says="The Newton point, with a generalized Hessian: the toolkit's direction added to w.",
    rests_on=("§1.2, gradient",),
    computed=lambda q: q.w + q.direction,
    claimed=lambda q: q.w - np.linalg.solve(q.hessian(q.w), q.gradient(q.w)),
    faults={"a plus": lambda q: q.w + np.linalg.solve(q.hessian(q.w), q.gradient(q.w))},
)

PAPER.states(
    "eq. 1.5",
    r"f(w^k + \delta_k(\bar w^k - w^k))",
    r"\min_{\delta\ge0} f(w^k + \delta(\bar w^k - w^k))",
    says="The line search ends at the least value along the step, against SciPy's bounded search.",
    rests_on=("eq. 1.3",),
    computed=lambda q: q.objective(q.w + q.length * q.direction),
    claimed=lambda q: along(q),
    faults={"half a step": lambda q: q.objective(q.w + q.direction / 2)},
)


def along(q: Quantities) -> float:
    """The least value along the step."""
    found = scipy.optimize.minimize_scalar(
        lambda t: q.objective(q.w + t * q.direction), bounds=(0, 20), method="bounded", options={"xatol": 1e-10}
    )
    return float(found.fun)


@PAPER.states(
    "§1.2, finite convergence",
    r"\text{Newton steps until the active set stays}",
    r"30",
    relation="<=",
    rests_on=("eq. 1.4", "eq. 1.5"),
    claimed=lambda q: 30,
    faults={"one step": lambda q: 1},
)
def convergence(q: Quantities) -> int:
    """The procedure ends at the optimum after a few steps, on these problems and a larger one."""
    X = np.random.default_rng(0).normal(size=(400, 10))
    large = Problem(X, np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1.0, -1.0), C=5.0, C_unlabeled=None, balance=None)
    model = svm(squared_hinge_loss(), fit_intercept=False, balance=None)
    found = FiniteNewton(large, tol=1e-9).solve(Instance(model, large).step())
    assert found.gap <= 1e-9
    return found.n_iter


PAPER.states(
    "Figure 1.1",
    r"\min_y \max(0, 1 - y f)^2",
    r"\max(0, 1 - |f|)^2",
    says="The loss of an unlabelled point is that of its better label.",
    computed=lambda q: symmetric_squared_hinge()(q.outputs),
    claimed=lambda q: np.maximum(0, 1 - np.abs(q.outputs)) ** 2,
    faults={"not squared": lambda q: np.maximum(0, 1 - np.abs(q.outputs))},
)
