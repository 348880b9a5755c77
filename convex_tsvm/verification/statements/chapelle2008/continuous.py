"""§4: the balance, the primal, CCCP, ∇S³VM and continuation."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
import scipy.integrate

from ....formulations import tsvm
from ....instance import Instance
from ....instance.primal import SmoothPrimal
from ....losses import exponential, smoothed, squared_hinge, symmetric_squared_hinge
from ....methods import cccp
from ....methods.schedule import doubling
from ....problem import Array
from ..statement import without
from . import PAPER
from .quantities import EXACT, Quantities, V


@PAPER.states(
    "§4, method 1",
    r"z_i \cdot z_j",
    r"k(x_i, x_j)",
    claimed=lambda q: q.K,
    faults={"Λ in place of Λ^½": lambda q: q.K @ q.K},
)
def method_1(q: Quantities) -> Array:
    """A factor of the kernel matrix stands for the feature space: the rows of the toolkit's factor."""
    return q.Z @ q.Z.T


def split(q: Quantities, factor: float = 1.0) -> Array:
    """The convex part of §4.1's display and the concave one, added up; and the convex part's second differences."""
    t = np.abs(q.t)
    return np.maximum(0, 1 - t) ** 2 + 2 * t - 2 * factor * t


@PAPER.states(
    "§4.1, decomposition",
    r"\max(0, 1-|t|)^2",
    r"\underbrace{\max(0, 1-|t|)^2 + 2|t|}_{\text{convex}} \underbrace{{} - 2|t|}_{\text{concave}}",
    claimed=lambda q: np.append(split(q), 0),
    faults={"-|t| for the concave part": lambda q: np.append(split(q, 0.5), 0)},
)
def decomposition(q: Quantities) -> Array:
    """The loss of an unlabelled point splits; its first part is convex (the last entry: by how much it is not)."""
    convex = np.maximum(0, 1 - np.abs(q.t)) ** 2 + 2 * np.abs(q.t)
    bend = float(np.maximum(0, -np.diff(convex, 2)).max())
    return np.append(symmetric_squared_hinge()(q.t), bend if bend > 1e-9 else 0.0)


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


def procedure(q: Quantities, unlabelled: Callable[[cp.Expression, Array], cp.Expression], rounds: int = 30) -> float:
    """Convex problems one after the other, from the SVM of the labelled points; the last objective of eq. 5."""
    w, b = cp.Variable(q.Z.shape[1]), cp.Variable()
    f = q.Z @ w + b
    known = q.C * cp.sum(cp.square(cp.pos(1 - cp.multiply(q.y, f[: q.l]))))
    goal, o = 0.5 * cp.sum_squares(w) + known, np.zeros(q.n)
    cp.Problem(cp.Minimize(goal)).solve(**EXACT)
    for _ in range(rounds):
        before, o = np.sign(o), np.asarray(f.value)
        if np.array_equal(before, np.sign(o)):
            break
        cp.Problem(cp.Minimize(goal + q.C_star * cp.sum(unlabelled(f[q.l :], o[q.l :])))).solve(**EXACT)
    return q.model.objective(q.problem, np.asarray(f.value), 0.5 * float(w.value @ w.value))


def by_tangents(f: cp.Expression, o: Array, factor: float = 2.0) -> cp.Expression:
    """max(0, 1 - |t|)² + 2|t|, which is 1 + huber(t), with the tangent of -2|t|."""
    return 1 + cp.huber(f, 1) - factor * cp.multiply(np.sign(o), f)


def by_effective_loss(f: cp.Expression, o: Array) -> cp.Expression:
    """L̃(y t) with y the sign now: with h = max(0, 1 - t) it is h² up to h = 2, and 4 h - 4 from there on."""
    h = cp.pos(1 - cp.multiply(np.sign(o), f))
    return cp.huber(h, 2)


def toolkit_cccp(q: Quantities) -> float:
    """The toolkit's CCCP from the SVM of the labelled points."""
    start = cccp(q.model.supervised(), q.problem, tol=1e-10).scores
    return cccp(q.model, q.problem, start=start, tol=1e-10).objective


@PAPER.states(
    "Algorithm 3",
    r"\text{objective where the toolkit's CCCP ends}",
    r"x_{t+1} = \arg\min_x f_{vex}(x) + \nabla f_{cave}(x_t)\cdot x,\ \dots",
    rests_on=("§4.1, decomposition",),
    tolerance=1e-5,
    claimed=lambda q: procedure(q, by_tangents),
    faults={
        "half the tangent": lambda q: procedure(q, lambda f, o: by_tangents(f, o, 1.0)),
        "one step": lambda q: procedure(q, lambda f, o: by_tangents(f, -o), 1),
    },
)
def algorithm_3(q: Quantities) -> float:
    """The concave part is replaced by its tangent, until that stays: native steps against CVXPY's."""
    return toolkit_cccp(q)


@PAPER.states(
    "Algorithm 4",
    r"\text{objective where the toolkit's CCCP ends}",
    r"(w, b) = \arg\min\ \tfrac12\|w\|^2 + C\sum V + C^*\sum\tilde L(y_i(w\cdot x_i + b)),\ y_i \leftarrow"
    r" \mathrm{sign}",
    rests_on=("Algorithm 3", "§4.1, effective loss"),
    tolerance=1e-5,
    claimed=lambda q: procedure(q, by_effective_loss),
    faults={"y from the point before": lambda q: procedure(q, lambda f, o: by_effective_loss(f, 0 * o + 1), 2)},
)
def algorithm_4(q: Quantities) -> float:
    """The same for S³VMs, with the effective loss and the signs of the outputs."""
    return toolkit_cccp(q)


def smooth_objective(q: Quantities, x: Array, primal: SmoothPrimal, s: float = 5.0) -> float:
    """Eq. 14 at the toolkit's variables."""
    o = primal.outputs(x)
    unlabelled = np.exp(-s * o[q.l :] ** 2)
    return float(primal.regularization(x) + q.C * V(q.y, o[: q.l]).sum() + q.C_star * unlabelled.sum())


def smooth_primal(q: Quantities) -> tuple[SmoothPrimal, list[Array]]:
    """The toolkit's primal of eq. 14, and variables to look at it."""
    primal = SmoothPrimal(Instance(tsvm("exp"), q.balanced))
    return primal, [np.random.default_rng(k).normal(0, 0.8, primal.n_variables) for k in range(6)]


@PAPER.states(
    "eq. 14",
    r"\text{the toolkit's smooth primal}",
    r"\tfrac12\|w\|^2 + C\sum\max(0, 1 - y_i o_i)^2 + C^*\sum\exp(-s\,o_i^2),\quad s = 5",
    claimed=lambda q: [smooth_objective(q, x, smooth_primal(q)[0]) for x in smooth_primal(q)[1]],
    faults={
        "s = 3, for the hinge loss": lambda q: [
            smooth_objective(q, x, smooth_primal(q)[0], 3.0) for x in smooth_primal(q)[1]
        ],
    },
)
def eq_14(q: Quantities) -> list[float]:
    """∇S³VM's objective: the kink at 0 is gone."""
    primal, points = smooth_primal(q)
    return [primal.value(x) for x in points]


@PAPER.states(
    "§4.2, gradient",
    r"\nabla \text{ of eq. 14, the toolkit's}",
    r"\text{its central differences}",
    rests_on=("eq. 14",),
    tolerance=1e-5,
    claimed=lambda q: differences(q, smooth_primal(q)[1][0]),
    faults={"of the losses alone": lambda q: differences(q, smooth_primal(q)[1][0]) - smooth_primal(q)[1][0]},
)
def gradient_of_eq_14(q: Quantities) -> Array:
    """What the descent follows."""
    primal, points = smooth_primal(q)
    return primal.gradient(points[0])


def differences(q: Quantities, x: Array, width: float = 1e-5) -> Array:
    """The gradient of eq. 14 written out, by central differences."""
    primal = smooth_primal(q)[0]
    steps = width * np.eye(len(x))
    ends = [(smooth_objective(q, x + one, primal), smooth_objective(q, x - one, primal)) for one in steps]
    return np.array([(above - below) / (2 * width) for above, below in ends])


@PAPER.states(
    "§4.2, schedule",
    r"\text{factors on } C^* \text{ of the toolkit's } \nabla S^3VM",
    r"2^{i-10},\ i = 1, \dots, 10",
    claimed=lambda q: 2.0 ** (np.arange(1, 11) - 10),
    faults={"from 2⁻¹⁰ on": lambda q: 2.0 ** (np.arange(10) - 10)},
)
def doubling_schedule(q: Quantities) -> Array:
    """C* doubles from step to step, and at the tenth it has its value.

    §5.4.4 begins at 1/1000, which is i = 0; the toolkit begins at i = 1, and has ten factors from 1/1000 for CCCP and
    Newton-S³VM.
    """
    return doubling()


def convolved(q: Quantities, gamma: float, factor: float = 1.0) -> Array:
    """f_γ of Algorithm 5 for d = 1 and f = exp(-5 t²), by quadrature."""

    def value(t: float) -> float:
        def inside(x: float) -> float:
            return float(np.exp(-5 * (t - x) ** 2) * np.exp(-(x**2) / (factor * gamma)))

        return scipy.integrate.quad(inside, -8, 8, points=[t])[0] / np.sqrt(np.pi * factor * gamma)

    return np.array([value(t) for t in q.t[::4]])


@PAPER.states(
    "Algorithm 5",
    r"\text{the toolkit's loss, smoothed by a Gaussian of variance } \gamma/2",
    r"f_\gamma(x) = (\pi\gamma)^{-d/2}\int f(x - t)\exp(-\|t\|^2/\gamma)\,dt",
    claimed=lambda q: convolved(q, 0.6),
    faults={"variance γ": lambda q: convolved(q, 0.6, 2.0)},
)
def algorithm_5(q: Quantities) -> Array:
    """Smoothing of the unlabelled loss, in closed form, against the integral."""
    return smoothed(exponential(), np.sqrt(0.3))(q.t[::4])


@PAPER.states(
    "§4.3, infinite width",
    r"\text{the unlabelled loss, smoothed very much}",
    r"0",
    rests_on=("Algorithm 5",),
    tolerance=2e-3,
    claimed=lambda q: np.zeros(len(q.t)),
    faults={"its mean over the margin": lambda q: np.full(len(q.t), 0.4)},
)
def infinite_width(q: Quantities) -> Array:
    """With enough smoothing the unlabelled part vanishes, and a standard SVM is left."""
    return smoothed(exponential(), 300.0)(q.t)


@PAPER.states(
    "Figure 5",
    r"\text{both losses of the toolkit}",
    r"\max(0, 1-|t|)^2,\ \exp(-5t^2)",
    rests_on=("eq. 14",),
    claimed=lambda q: [V(1, np.abs(q.t)), np.exp(-5 * q.t**2)],
    faults={"exp(-3 t²)": lambda q: [V(1, np.abs(q.t)), np.exp(-3 * q.t**2)]},
)
def figure_5(q: Quantities) -> list[Array]:
    """The differentiable loss beside that of Figure 2."""
    return [symmetric_squared_hinge()(q.t), exponential()(q.t)]


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
    found = []
    for width in (2.0, 1.0, 0.0):
        value = 0.05 * (w - 1) ** 2 + squared_hinge()(w) * 0.02 + smoothed(exponential(), width)(w)
        found.append(int(((value[1:-1] < value[:-2]) & (value[1:-1] < value[2:])).sum()))
    return found


# Lines of derivations: which of them, the step that leads to each, and mistakes in it.
for _number, _says, _derivation, _step, _faults in (
    (
        "eq. 12",
        "The balance sets the bias.",
        4,
        1,
        {"losses of labelled points left out": without(1)},
    ),
    ("eq. 13", "The kernel of points moved by their mean.", 4, 2, {"½ left out": without(0, 2)}),
    ("§4, centring and the bias", "Centring is the same as the balance.", 4, 2, {"without c": without(1)}),
):
    PAPER.proven(_number, _says, _derivation, _step, _faults)
