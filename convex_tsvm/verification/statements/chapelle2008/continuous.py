"""§4: the balance, the primal, CCCP, ∇S³VM and continuation."""

from __future__ import annotations

from functools import partial

import cvxpy as cp
import numpy as np
import scipy.optimize

from ....formulations import tsvm
from ....instance import Instance
from ....instance.primal import SmoothPrimal
from ....losses import exponential, smoothed, squared_hinge, symmetric_squared_hinge
from ....methods import cccp
from ....methods.settings import doubling
from ....problem import Array
from ..concerned import EXACT
from . import PAPER
from .quantities import Quantities, V

PAPER.states(
    "§4, method 1",
    r"z_i \cdot z_j",
    r"k(x_i, x_j)",
    says="A factor of the kernel matrix stands for the feature space: the rows of the toolkit's factor.",
    computed=lambda q: q.Z @ q.Z.T,
    claimed=lambda q: q.K,
    faults={"Λ in place of Λ^½": lambda q: q.K @ q.K},
)


def effective_loss(t: Array, far: float = -4.0) -> Array:
    """L̃, for a point that is classified positive."""
    return np.where(t >= 1, 0.0, np.where(t <= -1, far * t, (1 - t) ** 2))


@PAPER.states(
    "§4.1, effective loss",
    r"\text{convex part} + \text{tangent at a positive output}",
    r"\tilde L(t) = 0\ (t \ge 1),\ (1-t)^2\ (|t| < 1),\ -4t\ (t \le -1)",
    rests_on=("§4.1, decomposition",),
    claimed=lambda q: effective_loss(q.t),
    faults={"-2 t below -1": lambda q: effective_loss(q.t, -2.0)},
)
def effective(q: Quantities) -> Array:
    """What an unlabelled point pays in the next step if it is positive now; the toolkit's split says the same."""
    convex, concave = symmetric_squared_hinge().split()
    at = 0.7
    return np.asarray(convex(q.t) + concave(at) + concave.supergradient(at) * (q.t - at))


def procedure(q: Quantities, far: float = 2.0) -> float:
    """Algorithm 4 by CVXPY, from the SVM of the labelled points; the last objective of eq. 5.

    With h = max(0, 1 - y t) the effective loss is h² up to h = 2, and 4 h - 4 from there on, which is a Huber loss.
    """
    w, b = cp.Variable(q.Z.shape[1]), cp.Variable()
    f = q.Z @ w + b
    goal = 0.5 * cp.sum_squares(w) + q.C * cp.sum(cp.square(cp.pos(1 - cp.multiply(q.y, f[: q.l]))))
    cp.Problem(cp.Minimize(goal)).solve(**EXACT)
    for _ in range(30):
        y = np.sign(f.value[q.l :])
        losses = cp.huber(cp.pos(1 - cp.multiply(y, f[q.l :])), far)
        cp.Problem(cp.Minimize(goal + q.C_star * cp.sum(losses))).solve(**EXACT)
        if np.array_equal(y, np.sign(f.value[q.l :])):
            break
    return q.model.objective(q.problem, np.asarray(f.value), 0.5 * float(w.value @ w.value))


@PAPER.states(
    "Algorithm 4",
    r"\text{objective where the toolkit's CCCP ends}",
    r"(w, b) = \arg\min\ \tfrac12\|w\|^2 + C\sum V + C^*\sum\tilde L(y_i(w\cdot x_i + b)),\ y_i \leftarrow"
    r" \mathrm{sign}",
    rests_on=("Algorithm 3", "§4.1, effective loss"),
    tolerance=1e-5,
    claimed=lambda q: procedure(q),
    faults={"a loss that is straight from t = 0.7 on": lambda q: procedure(q, 0.3)},
)
def algorithm_4(q: Quantities) -> float:
    """CCCP for S³VMs, with the effective loss and the signs of the outputs: native steps against CVXPY's."""
    start = cccp(q.model.supervised(), q.problem, tol=1e-10).scores
    return cccp(q.model, q.problem, start=start, tol=1e-10).objective


def smooth_primal(q: Quantities) -> tuple[SmoothPrimal, list[Array]]:
    """The toolkit's primal of eq. 14, and variables to look at it."""
    primal = SmoothPrimal(Instance(tsvm("exp"), q.balanced))
    return primal, [np.random.default_rng(k).normal(0, 0.8, primal.n_variables) for k in range(6)]


def smooth_objective(q: Quantities, x: Array, s: float = 5.0) -> float:
    """Eq. 14 at the toolkit's variables."""
    primal = smooth_primal(q)[0]
    o = primal.outputs(x)
    return float(primal.regularization(x) + q.C * V(q.y, o[: q.l]).sum() + q.C_star * np.exp(-s * o[q.l :] ** 2).sum())


PAPER.states(
    "eq. 14",
    r"\text{the toolkit's smooth primal}",
    r"\tfrac12\|w\|^2 + C\sum\max(0, 1 - y_i o_i)^2 + C^*\sum\exp(-s\,o_i^2),\quad s = 5",
    says="∇S³VM's objective: the kink at 0 is gone.",
    computed=lambda q: [smooth_primal(q)[0].value(x) for x in smooth_primal(q)[1]],
    claimed=lambda q: [smooth_objective(q, x) for x in smooth_primal(q)[1]],
    faults={"s = 3, for the hinge loss": lambda q: [smooth_objective(q, x, 3.0) for x in smooth_primal(q)[1]]},
)

PAPER.states(
    "§4.2, gradient",
    r"\nabla \text{ of eq. 14, the toolkit's}",
    r"\text{its differences}",
    says="What the descent follows.",
    rests_on=("eq. 14",),
    tolerance=1e-4,
    computed=lambda q: smooth_primal(q)[0].gradient(smooth_primal(q)[1][0]),
    claimed=lambda q: scipy.optimize.approx_fprime(smooth_primal(q)[1][0], partial(smooth_objective, q), 1e-7),
    faults={"half of it": lambda q: smooth_primal(q)[0].gradient(smooth_primal(q)[1][0]) / 2},
)

PAPER.states(
    "§4.2, schedule",
    r"\text{factors on } C^* \text{ of the toolkit's } \nabla S^3VM",
    r"2^{i-10},\ i = 1, \dots, 10",
    says="C* doubles from step to step, and at the tenth it has its value.\n\n"
    "§5.4.4 begins at 1/1000, which is i = 0; the toolkit begins at i = 1, and has ten factors from 1/1000 for CCCP "
    "and Newton-S³VM.",
    computed=lambda q: doubling(),
    claimed=lambda q: 2.0 ** (np.arange(1, 11) - 10),
    faults={"from 2⁻¹⁰ on": lambda q: 2.0 ** (np.arange(10) - 10)},
)

PAPER.states(
    "§4.3, infinite width",
    r"\text{the unlabelled loss, smoothed very much}",
    r"0",
    says="With enough smoothing the unlabelled part vanishes, and a standard SVM is left.",
    rests_on=("Algorithm 5",),
    tolerance=2e-3,
    computed=lambda q: smoothed(exponential(), 300.0)(q.t),
    claimed=lambda q: np.zeros(len(q.t)),
    faults={"its mean over the margin": lambda q: np.full(len(q.t), 0.4)},
)

PAPER.states(
    "Figure 5",
    r"\text{both losses of the toolkit}",
    r"\max(0, 1-|t|)^2,\ \exp(-5t^2)",
    says="The differentiable loss beside that of Figure 2.",
    rests_on=("eq. 14",),
    computed=lambda q: [symmetric_squared_hinge()(q.t), exponential()(q.t)],
    claimed=lambda q: [V(1, np.abs(q.t)), np.exp(-5 * q.t**2)],
    faults={"exp(-3 t²)": lambda q: [V(1, np.abs(q.t)), np.exp(-3 * q.t**2)]},
)


@PAPER.states(
    "Figure 6",
    r"\text{minima of a function of one variable, smoothed less and less}",
    r"1, 1, 2",
    rests_on=("Algorithm 5",),
    claimed=lambda q: [1, 1, 2],
    faults={"two all the way": lambda q: [2, 2, 2]},
)
def figure_6(q: Quantities) -> list[int]:
    """An objective with two minima has one where it is smoothed, which moves to the lower one as that is taken back."""
    w = np.linspace(-3, 3, 6001)
    convex = 0.05 * (w - 1) ** 2 + squared_hinge()(w) * 0.02
    rises = [np.diff(convex + smoothed(exponential(), width)(w)) > 0 for width in (2.0, 1.0, 0.0)]
    return [int((one[1:] & ~one[:-1]).sum()) for one in rises]
