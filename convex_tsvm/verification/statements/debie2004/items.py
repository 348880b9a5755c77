"""The items that are compared as numbers: label matrices (§1 and §2), and subspaces of them (§3 and §4)."""

import itertools

import numpy as np
import scipy.linalg

from ....kernels import RBF
from ....methods.spectral import spectral_subspace
from ....problem import Array, Problem
from .quantities import PAPER, Quantities, smallest


def properties(q: Quantities) -> Array:
    """Whether each of the matrices has the known block (5), ones on its diagonal (6), and rank one (7)."""
    known = slice(q.n_t), slice(q.n_t)
    found = [
        (
            np.allclose(one[known], np.outer(q.y_t, q.y_t)),
            np.allclose(np.diag(one), 1),
            np.linalg.matrix_rank(one, tol=1e-9) == 1,
        )
        for one in q.matrices
    ]
    return np.array(found)


PAPER.states(
    "Proposition 2.1",
    r"\Gamma \text{ satisfies (3) and (4)}",
    r"\Gamma \text{ satisfies (5), (6) and (7)}",
    says="A matrix is that of a labelling exactly if it has the known block, ones on its diagonal, and rank 1.",
    sign=r"\Leftrightarrow",
    rests_on=("eq. 3", "eq. 4", "eq. 5", "eq. 6", "eq. 7"),
    computed=lambda q: [any(np.allclose(one, np.outer(y, y)) for y in q.labelings) for one in q.matrices],
    claimed=lambda q: properties(q).all(axis=1),
    faults={
        "without the known block (5)": lambda q: properties(q)[:, 1:].all(axis=1),
        "without the diagonal (6)": lambda q: properties(q)[:, ::2].all(axis=1),
        "without the rank (7)": lambda q: properties(q)[:, :2].all(axis=1),
    },
)

PAPER.states(
    "Proposition 2.2",
    r"v\!\left(\tfrac12(\Gamma_1 + \Gamma_2)\right)",
    r"\tfrac12 v(\Gamma_1) + \tfrac12 v(\Gamma_2),\quad v(\Gamma) = \max_\alpha 2\alpha'e -"
    r" \alpha'(K\odot\Gamma)\alpha",
    says="Without the rank condition the problem is convex: the SVM's value is convex in the label matrix.",
    relation="<=",
    rests_on=("eq. 1", "eq. 8"),
    computed=lambda q: [q.value((a + b) / 2) for a, b in _pairs(q)],
    claimed=lambda q: [(q.value(a) + q.value(b)) / 2 for a, b in _pairs(q)],
    faults={"below both ends": lambda q: [min(q.value(a), q.value(b)) - 0.05 for a, b in _pairs(q)]},
)


def _pairs(q: Quantities) -> list[tuple[Array, Array]]:
    outer = [np.outer(y, y) for y in q.labelings[:4]]
    return [*itertools.combinations(outer, 2), *itertools.pairwise(q.correlations)]


PAPER.states(
    "Lemma 2.1",
    r"\lambda_{\min}(A_{SS}),\ S \subset \{1, \dots, n\}",
    r"0",
    says="Principal submatrices of a positive semidefinite matrix are positive semidefinite: all of them.",
    relation=">=",
    computed=lambda q: [smallest(a[np.ix_(rows, rows)]) + 1e-12 for a, rows in _parts(q)],
    claimed=lambda q: [0.0] * len(_parts(q)),
    faults={"at least the second smallest eigenvalue of A": lambda q: [np.linalg.eigvalsh(a)[1] for a, _ in _parts(q)]},
)


def _parts(q: Quantities) -> list[tuple[Array, list[int]]]:
    """A positive semidefinite matrix of rank four, and the rows of all its principal submatrices."""
    root = np.random.default_rng(0).normal(size=(5, 4))
    return [(root @ root.T, list(rows)) for size in range(1, 6) for rows in itertools.combinations(range(5), size)]


PAPER.states(
    "Corollary 2.1",
    r"\max_{ij} |\Gamma_{ij}|",
    r"1",
    says="A unit diagonal keeps all entries between -1 and 1.",
    relation="<=",
    rests_on=("eq. 6", "eq. 8", "Lemma 2.1"),
    computed=lambda q: [
        float(np.abs(one).max()) - 1e-12 for one in [*q.correlations, q.reduced.reduced() / (1 + 1e-6)]
    ],
    claimed=lambda q: 1.0,
    faults={"off the diagonal at most one half": lambda q: 0.5},
)

PAPER.states(
    "§2.2, number of parameters",
    r"\text{entries of } t, \nu, \mu, g \text{ and } \Gamma^w",
    r"1 + 2n_t + \tfrac12(n_w^2 + 5n_w)",
    says="The unknowns with a soft margin: t, ν and μ for every point, g, and Γʷ below its diagonal.",
    computed=lambda q: 1 + 2 * q.n + q.n_w + q.n_w * (q.n_w - 1) / 2,
    claimed=lambda q: 1 + 2 * q.n_t + (q.n_w**2 + 5 * q.n_w) / 2,
    faults={"the hard margin's": lambda q: 1 + q.n_t + (q.n_w**2 + 3 * q.n_w) / 2},
)


def toy() -> list[Quantities]:
    """Two clusters, ten points labelled, twenty not."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal([-1.5, 0], 0.35, (15, 2)), rng.normal([1.5, 0], 0.35, (15, 2))])
    order = np.concatenate([np.arange(5), np.arange(15, 20), np.arange(5, 15), np.arange(20, 30)])
    y = np.concatenate([-np.ones(5), np.ones(5), np.zeros(20)])
    return [Quantities(Problem(X[order], y, kernel=RBF(1.0), C=0.1, C_unlabeled=0.1, balance=None))]


@PAPER.states(
    "Figure 1",
    r"|g_i| \text{ of the working set}",
    r"0.99",
    relation=">=",
    quantities=toy,
    rests_on=("eq. 9",),
    claimed=lambda q: np.full(q.n_w, 0.99),
    faults={"above 1": lambda q: np.full(q.n_w, 1.01)},
)
def figure_1(q: Quantities) -> Array:
    """On two clusters the labels are close to 1 and -1 before thresholding.

    So they are with C = 0.1, where every point is inside the margin; with C >= 1 they are 0.8 to 0.97, and the paper
    says neither its C nor its kernel.
    """
    q.reduced.problem.solve(solver="CLARABEL")
    return np.abs(q.reduced.scores)


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
    faults={"a positive definite M": lambda q: 0.01},
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
    faults={"the other order": lambda q: np.sort(constrained_values(q))},
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
