"""§3 and §4: a subspace that the label vector lies close to."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ....methods.spectral import spectral_subspace
from ....problem import Array
from . import PAPER
from .quantities import Quantities, smallest


def normalized(q: Quantities) -> Array:
    """D^-½ K D^-½."""
    d = q.K.sum(axis=1)
    return np.asarray(q.K / np.sqrt(np.outer(d, d)))


PAPER.states(
    "§3, number of parameters",
    r"\text{entries of } t, \nu, \mu \text{ and } M",
    r"1 + 2(n_t + n_w) + \tfrac12 d(d+1)",
    says="The program over M has fewer variables: their number grows like n_w.",
    computed=lambda q: [1 + 2 * q.n + float(np.tri(d).sum()) for d in (1, 2, 3)],
    claimed=lambda q: [1 + 2 * (q.n_t + q.n_w) + d * (d + 1) / 2 for d in (1, 2, 3)],
    faults={"M without its diagonal": lambda q: [1 + 2 * (q.n_t + q.n_w) + d * (d - 1) / 2 for d in (1, 2, 3)]},
)


@PAPER.states(
    "§3, M",
    r"\lambda_{\min}(M) \text{ where } \Gamma = VMV' \text{ is a label matrix}",
    r"0",
    relation=">=",
    rests_on=("eq. 7",),
    claimed=lambda q: 0.0,
    faults={"definite": lambda q: 0.01},
)
def coefficients(q: Quantities) -> list[float]:
    """A label vector in the subspace gives M of rank one."""
    rest = np.random.default_rng(0).normal(size=(q.n, 2))
    found = [np.linalg.pinv(np.column_stack([y, rest])) @ y for y in q.labelings]
    return [smallest(np.outer(one, one)) + 1e-12 for one in found]


PAPER.states(
    "eq. 11",
    r"\text{largest eigenvalue of the toolkit}",
    r"\max_{v'v = 1}\ v'D^{-1/2}KD^{-1/2}v",
    says="Spectral clustering maximizes a quotient, whose largest value is an eigenvalue; it is 1.",
    tolerance=1e-5,
    computed=lambda q: float(spectral_subspace(q.K, q.problem.y, 1, constrained=False)[1][0]),
    claimed=lambda q: highest(normalized(q)),
    faults={"K without D": lambda q: highest(q.K)},
)


def highest(matrix: Array) -> float:
    """The largest v'Av with v'v = 1, by ascent."""
    v = np.random.default_rng(0).normal(size=len(matrix))
    for _ in range(4000):
        v = matrix @ v + v * np.abs(matrix).sum(axis=1).max()
        v /= np.linalg.norm(v)
    return float(v @ matrix @ v)


PAPER.states(
    "Proposition 4.1",
    r"\text{dominant eigenvalues of } L'D^{-1/2}KD^{-1/2}L",
    r"\text{stationary values of } v'D^{-1/2}KD^{-1/2}v,\ v'v = 1,\ v \text{ equal on known points of a class}",
    says="The best vectors that are constant on the known points of a class come from a smaller eigenvalue "
    "problem.\n\n"
    "The right side never forms L: it restricts the quadratic form to the null space of the differences that the "
    "constraint sets to zero.",
    rests_on=("eq. 11",),
    computed=lambda q: spectral_subspace(q.K, q.problem.y, 2)[1],
    claimed=lambda q: constrained_values(q),
    faults={"without the constraint": lambda q: np.linalg.eigvalsh(normalized(q))[::-1][:2]},
)


def constrained_values(q: Quantities) -> Array:
    """The two largest stationary values under the constraint."""
    unit, classes = np.eye(q.n), [np.flatnonzero(q.problem.y == sign) for sign in (1, -1)]
    rows = [unit[members[0]] - unit[other] for members in classes for other in members[1:]]
    basis = scipy.linalg.null_space(np.array(rows)) if rows else unit
    return np.asarray(np.linalg.eigvalsh(basis.T @ normalized(q) @ basis)[::-1][:2], dtype=float)


PAPER.states(
    "§4.1, order",
    r"\lambda_1, \lambda_2, \dots \text{ of the dominant eigenvectors}",
    r"\lambda_i \ge \lambda_j \text{ for } i < j",
    says="The dominant eigenvectors come first.\n\n"
    '"λ_i >= λ_j for i > j" numbers them the other way round; §4.2 then takes those with the largest eigenvalues.',
    computed=lambda q: spectral_subspace(q.K, q.problem.y, 2)[1],
    claimed=lambda q: np.sort(constrained_values(q))[::-1],
    faults={"rising": lambda q: np.sort(constrained_values(q))},
)

PAPER.states(
    "§4.2, centring",
    r"v_i \text{ on known positive points}",
    r"-v_i \text{ on known negative points}",
    says="A constant is added to each eigenvector, so that known points of both classes have opposite entries.",
    rests_on=("Proposition 4.1",),
    computed=lambda q: spectral_subspace(q.K, q.problem.y, 2)[0][np.flatnonzero(q.problem.y > 0)[0]],
    claimed=lambda q: -spectral_subspace(q.K, q.problem.y, 2)[0][np.flatnonzero(q.problem.y < 0)[0]],
    faults={
        "the same on both": lambda q: spectral_subspace(q.K, q.problem.y, 2)[0][np.flatnonzero(q.problem.y < 0)[0]]
    },
)
