"""§4: the balance, and methods in the primal: CCCP, ∇S³VM, continuation, and Newton-S³VM in an expansion."""

from __future__ import annotations

from functools import cache, partial

import cvxpy as cp
import numpy as np
import scipy.linalg
import scipy.optimize

from ....formulations import tsvm
from ....instance import Instance
from ....instance.primal import ExpansionPrimal, SmoothPrimal
from ....losses import exponential, flat_newton, smoothed, squared_hinge, symmetric_squared_hinge
from ....methods import cccp
from ....methods.settings import doubling
from ....problem import Array, Problem
from ....solvers.levenberg_marquardt import levenberg_marquardt
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


@cache
def flat_primal(problem: Problem) -> ExpansionPrimal:
    """The primal of the loss that is flat, straight and curved by turns; it is asked for in every step of a descent."""
    return ExpansionPrimal(Instance(tsvm("flat"), problem))


def primal_of(q: Quantities) -> tuple[ExpansionPrimal, list[Array]]:
    """The toolkit's primal of eq. 15 under the linear balance, and coefficients to look at it."""
    return flat_primal(q.balanced), [np.random.default_rng(k).normal(0, 0.8, q.n) for k in range(6)]


def outputs(q: Quantities, beta: Array) -> Array:
    """K β + b with the centred kernel and b = 2r - 1."""
    return np.asarray(primal_of(q)[0].kernel @ beta + 2 * q.r - 1)


def omega(q: Quantities, beta: Array, half: float = 0.5) -> float:
    """Eq. 15 written out."""
    o = outputs(q, beta)
    loss = q.C * V(q.y, o[: q.l]).sum() + q.C_star * flat_newton()(o[q.l :]).sum()
    return float(half * beta @ primal_of(q)[0].kernel @ beta + loss)


def slopes(q: Quantities, beta: Array) -> Array:
    """g of eq. 16."""
    o = outputs(q, beta)
    known = -2 * q.C * np.maximum(0, 1 - q.y * o[: q.l]) * q.y
    return beta + np.concatenate([known, q.C_star * flat_newton().derivative(o[q.l :])])


def curvatures(q: Quantities, beta: Array) -> Array:
    """D_ii of eq. 17."""
    o = outputs(q, beta)
    return np.concatenate([2 * q.C * (q.y * o[: q.l] < 1), q.C_star * flat_newton().curvature(o[q.l :])])


PAPER.states(
    "eq. 15",
    r"\text{the toolkit's primal of an expansion}",
    r"\tfrac12\beta^\top K\beta + C\sum_{i=1}^{l}\ell_L(y_i(K_i^\top\beta + b)) +"
    r" C^*\sum_{i=l+1}^{n}\ell_U(K_i^\top\beta + b)",
    says="The objective with w = Σ β_i φ(x_i), in the kernel of eq. 13.",
    computed=lambda q: [primal_of(q)[0].value(beta) for beta in primal_of(q)[1]],
    claimed=lambda q: [omega(q, beta) for beta in primal_of(q)[1]],
    faults={"βᵀKβ without its half": lambda q: [omega(q, beta, 1.0) for beta in primal_of(q)[1]]},
)


def blocks(q: Quantities, *, sign: float = -1.0, cross: float = 1.0) -> Array:
    """Eq. 18 at λ = 3, with the Cholesky factor of K + 10⁻⁹ I on the points that bend."""
    beta, damping = primal_of(q)[1][0], 3.0
    K, D, g = primal_of(q)[0].kernel, curvatures(q, beta), slopes(q, beta)
    sv, nsv = np.flatnonzero(D != 0), np.flatnonzero(D == 0)
    A = scipy.linalg.cholesky(K[np.ix_(sv, sv)] + 1e-11 * np.eye(len(sv)))
    B = damping * np.eye(len(sv)) + A @ np.diag(D[sv]) @ A.T
    inner = g[sv] - cross / damping * D[sv] * (K[np.ix_(sv, nsv)] @ g[nsv])
    step = np.zeros(q.n)
    step[sv] = sign * np.linalg.solve(A, np.linalg.solve(B, A @ inner))
    step[nsv] = sign * g[nsv] / damping
    return K @ step


@PAPER.states(
    "eq. 18",
    r"\text{change of the outputs by } -(\lambda K + KDK)^{-1}Kg",
    r"K\begin{pmatrix}-A_{sv}^{-1}B^{-1}A_{sv}(g_{sv} - \tfrac1\lambda D_{sv}K_{sv,nsv}g_{nsv})\\ -\tfrac1\lambda"
    r" g_{nsv}\end{pmatrix}",
    rests_on=("eq. 16", "eq. 17"),
    tolerance=1e-4,
    claimed=lambda q: blocks(q),
    printed=lambda q: blocks(q, sign=1.0),
    printed_tex=(
        r"\begin{pmatrix} A_{sv}^{-1}B^{-1}A_{sv}(g_{sv} - \tfrac1\lambda D_{sv}K_{sv,nsv}g_{nsv})\\"
        r" \tfrac1\lambda g_{nsv}\end{pmatrix}"
    ),
    corrected_tex=(
        r"-\begin{pmatrix} A_{sv}^{-1}B^{-1}A_{sv}(g_{sv} - \tfrac1\lambda D_{sv}K_{sv,nsv}g_{nsv})\\"
        r" \tfrac1\lambda g_{nsv}\end{pmatrix}"
    ),
    misprint="Both lines lack a minus sign: where no loss bends, the step is -g / λ.",
    faults={"without the cross term": lambda q: blocks(q, cross=0.0)},
)
def eq_18(q: Quantities) -> Array:
    """The Newton step by blocks: only points that bend enter a linear system.

    Steps are compared by what they do to the outputs, as the centred K is singular.
    """
    beta, damping = primal_of(q)[1][0], 3.0
    K, D, g = primal_of(q)[0].kernel, curvatures(q, beta), slopes(q, beta)
    return K @ -np.linalg.lstsq(damping * K + K @ np.diag(D) @ K, K @ g, rcond=1e-12)[0]


def damped(q: Quantities, *, least: bool = True, steps: int = 60) -> tuple[float, float]:
    """Algorithm 6, with dense matrices; the last value, and the least λ on the way."""
    primal, beta, damping, lowest = primal_of(q)[0], np.zeros(q.n), 1.0, 1.0
    K = primal.kernel
    for _ in range(steps):
        g, D = slopes(q, beta), np.diag(curvatures(q, beta))
        system = damping * K + K @ D @ K
        if np.linalg.eigvalsh(system)[0] < -1e-10 * np.abs(system).max():
            damping *= 4
            continue
        s = -np.linalg.lstsq(system, K @ g, rcond=1e-11)[0]
        expected = 0.5 * s @ (K + K @ D @ K) @ s + s @ K @ g
        if abs(expected) < 1e-14:
            break
        agreement = (omega(q, beta + s) - omega(q, beta)) / expected
        if agreement > 0:
            beta = beta + s
        if agreement < 0.25:
            damping *= 4
        elif agreement > 0.75:
            damping = max(1.0, damping / 2) if least else min(1.0, damping / 2)
        lowest = min(lowest, damping)
    return omega(q, beta), lowest


PAPER.states(
    "Algorithm 6",
    r"\Omega \text{ where the toolkit's steps from } \beta = 0 \text{ end}",
    r"\Omega \text{ where Algorithm 6 ends, written out}",
    says="Levenberg-Marquardt: a ridge of λ - 1 times K keeps steps downhill.",
    rests_on=("eq. 18",),
    tolerance=1e-5,
    computed=lambda q: levenberg_marquardt(primal_of(q)[0], np.zeros(q.n), goal=1e-12, max_iter=500).primal,
    claimed=lambda q: damped(q)[0],
    faults={"one step": lambda q: damped(q, steps=1)[0]},
)

PAPER.states(
    "Algorithm 6, λ",
    r"\min \lambda \text{ on the way}",
    r"1",
    says="λ = 1 is Newton's own step, and λ is never less.",
    rests_on=("Algorithm 6",),
    computed=lambda q: damped(q)[1],
    claimed=lambda q: 1.0,
    printed=lambda q: damped(q, least=False)[1],
    printed_tex=r"\lambda \leftarrow \min(1, \lambda/2)",
    corrected_tex=r"\lambda \leftarrow \max(1, \lambda/2)",
    misprint="λ ← min(1, λ/2) must be max(1, λ/2): the text wants λ >= 1, and with the minimum λ falls below 1 with"
    " every good step.",
    faults={"2": lambda q: 2.0},
)

PAPER.states(
    "Figure 7",
    r"\text{slope of the toolkit's flat loss}",
    r"\text{its differences; 0 in the middle and beyond the margin}",
    says="The loss is flat, straight and curved by turns, and has no kink.\n\n"
    "The figure gives no constants; the toolkit's has two parameters for the widths of its plateau and its bends.",
    computed=lambda q: flat_newton().derivative(np.append(q.t, [0.0, 3.0, -3.0])),
    claimed=lambda q: np.append(flat_newton()(q.t + 1e-6) - flat_newton()(q.t - 1e-6), np.zeros(3)) / 2e-6,
    tolerance=1e-5,
    faults={"nothing": lambda q: np.zeros(len(q.t) + 3)},
)

PAPER.states(
    "§4.4, number of steps",
    r"\text{steps of the toolkit for one } C^*",
    r"50",
    says="The number of Newton steps is a small constant.",
    relation="<=",
    rests_on=("Algorithm 6",),
    computed=lambda q: levenberg_marquardt(primal_of(q)[0], np.zeros(q.n), goal=1e-8, max_iter=500).n_iter,
    claimed=lambda q: 50,
    faults={"one": lambda q: 1},
)
