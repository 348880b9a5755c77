"""§4.4: Newton-S³VM, in the coefficients of an expansion."""

from __future__ import annotations

from functools import cache

import numpy as np
import scipy.linalg

from ....formulations import tsvm
from ....instance import Instance
from ....instance.primal import ExpansionPrimal
from ....losses import flat_newton
from ....problem import Array, Problem
from ....solvers.levenberg_marquardt import levenberg_marquardt
from . import PAPER
from .quantities import Quantities, V


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
