"""§1 and §2: from the transductive SVM to a semidefinite program."""

from __future__ import annotations

import itertools

import numpy as np

from ....kernels import RBF
from ....problem import Array, Problem
from ..statement import unconditioned, without
from . import PAPER
from .quantities import Quantities, is_psd, smallest


@PAPER.states(
    "Proposition 2.1",
    r"\Gamma \text{ satisfies (3) and (4)}",
    r"\Gamma \text{ satisfies (5), (6) and (7)}",
    sign=r"\Leftrightarrow",
    rests_on=("eq. 3", "eq. 4", "eq. 5", "eq. 6", "eq. 7"),
    claimed=lambda q: [block(q, one) and diagonal(one) and rank(one) == 1 for one in q.matrices],
    faults={
        "without the known block (5)": lambda q: [diagonal(one) and rank(one) == 1 for one in q.matrices],
        "without the diagonal (6)": lambda q: [block(q, one) and rank(one) == 1 for one in q.matrices],
        "without the rank (7)": lambda q: [block(q, one) and diagonal(one) for one in q.matrices],
    },
)
def proposition_2_1(q: Quantities) -> list[bool]:
    """A matrix is the label matrix of a labelling exactly if it has the known block, ones on its diagonal, and rank 1.

    Tried on every label matrix and on matrices that lack one of the three properties each.
    """
    return [any(np.allclose(one, np.outer(y, y)) for y in q.labelings) for one in q.matrices]


def block(q: Quantities, gamma: Array) -> bool:
    """Eq. 5."""
    return np.allclose(gamma[: q.n_t, : q.n_t], np.outer(q.y_t, q.y_t), atol=1e-6)


def diagonal(gamma: Array) -> bool:
    """Eq. 6."""
    return np.allclose(np.diag(gamma), 1, atol=1e-6)


def rank(gamma: Array) -> int:
    """The rank, up to rounding."""
    return int(np.linalg.matrix_rank(gamma, tol=1e-9))


@PAPER.states(
    "eq. 5",
    r"[\Gamma]_{ij},\ i, j \le n_t",
    r"y^t_i y^t_j",
    tolerance=1e-5,
    claimed=lambda q: np.outer(q.y_t, q.y_t),
    faults={
        "the signs left out": lambda q: np.ones((q.n_t, q.n_t)),
        "the wrong sign": lambda q: -np.outer(q.y_t, q.y_t),
    },
)
def eq_5(q: Quantities) -> Array:
    """The known block of the relaxation's Γ, solved over Γ̃, which has it by construction."""
    return _whole(q, q.reduced.reduced())[: q.n_t, : q.n_t]


def _whole(q: Quantities, reduced: Array) -> Array:
    """Γ from Γ̃: the first row stands for the known points, with their signs."""
    basis = np.zeros((q.n, 1 + q.n_w))
    basis[: q.n_t, 0], basis[q.n_t :, 1:] = q.y_t, np.eye(q.n_w)
    return np.asarray(basis @ reduced @ basis.T)


@PAPER.states(
    "eq. 7",
    r"\mathrm{rank}(yy')",
    r"1",
    claimed=lambda q: [1] * len(q.labelings),
    faults={"2, one for each class": lambda q: [2] * len(q.labelings)},
)
def eq_7(q: Quantities) -> list[int]:
    """A label matrix has rank one, however many classes' points there are."""
    return [rank(np.outer(y, y)) for y in q.labelings]


@PAPER.states(
    "Proposition 2.2",
    r"v\!\left(\tfrac12(\Gamma_1 + \Gamma_2)\right)",
    r"\tfrac12 v(\Gamma_1) + \tfrac12 v(\Gamma_2),\quad v(\Gamma) = \max_\alpha 2\alpha'e -"
    r" \alpha'(K\odot\Gamma)\alpha",
    relation="<=",
    rests_on=("eq. 1", "eq. 8"),
    claimed=lambda q: [(q.value(a) + q.value(b)) / 2 for a, b in _pairs(q)],
    faults={"below both ends": lambda q: [min(q.value(a), q.value(b)) - 0.05 for a, b in _pairs(q)]},
)
def proposition_2_2(q: Quantities) -> list[float]:
    """Without the rank the problem is convex: the SVM's value is convex in the label matrix."""
    return [q.value((a + b) / 2) for a, b in _pairs(q)]


def _pairs(q: Quantities) -> list[tuple[Array, Array]]:
    outer = [np.outer(y, y) for y in q.labelings[:4]]
    return [*itertools.combinations(outer, 2), *itertools.pairwise(q.correlations)]


@PAPER.states(
    "eq. 8",
    r"\lambda_{\min}(\Gamma)",
    r"0",
    relation=">=",
    claimed=lambda q: 0.0,
    faults={"positive definite, >= 1/100": lambda q: 0.01},
)
def eq_8(q: Quantities) -> list[float]:
    """Label matrices are positive semidefinite, and so is the relaxation's; none is definite."""
    return [*(smallest(np.outer(y, y)) for y in q.labelings), smallest(q.full.labels.value) + 1e-8]


@PAPER.states(
    "Lemma 2.1",
    r"\lambda_{\min}(A_{SS}),\ S \subset \{1, \dots, n\}",
    r"0",
    relation=">=",
    claimed=lambda q: [0.0] * len(_parts(q)),
    faults={"at least the second smallest eigenvalue of A": lambda q: [np.linalg.eigvalsh(a)[1] for a, _ in _parts(q)]},
)
def lemma_2_1(q: Quantities) -> list[float]:
    """Principal submatrices of a positive semidefinite matrix are positive semidefinite: all of them."""
    return [smallest(a[np.ix_(rows, rows)]) + 1e-12 for a, rows in _parts(q)]


def _parts(q: Quantities) -> list[tuple[Array, list[int]]]:
    """Positive semidefinite matrices, and all their principal submatrices."""
    found = []
    for k in range(3):
        root = np.random.default_rng(k).normal(size=(5, 3 + k))
        for size in range(1, 6):
            found += [(root @ root.T, list(rows)) for rows in itertools.combinations(range(5), size)]
    return found


@PAPER.states(
    "Corollary 2.1",
    r"\max_{ij} |\Gamma_{ij}|",
    r"1",
    relation="<=",
    rests_on=("eq. 6", "eq. 8", "Lemma 2.1"),
    claimed=lambda q: 1.0,
    faults={"off the diagonal at most one half": lambda q: 0.5},
)
def corollary_2_1(q: Quantities) -> list[float]:
    """A unit diagonal keeps all entries between -1 and 1."""
    return [float(np.abs(one).max()) - 1e-12 for one in [*q.correlations, q.reduced.reduced() / (1 + 1e-6)]]


@PAPER.states(
    "eq. 9",
    r"2\,\min \text{ of the toolkit's relaxation}",
    r"\min_{\Gamma,\nu\ge0,\mu\ge0,t}\ t",
    rests_on=("Proposition 2.2", "eq. 10"),
    tolerance=1e-4,
    claimed=lambda q: q.relaxed(),
    faults={"a hard margin": lambda q: q.relaxed(soft=False), "ν and μ exchanged": lambda q: q.relaxed(sign=-1.0)},
)
def eq_9(q: Quantities) -> float:
    """The relaxation as a semidefinite program: the toolkit's reduced form against the paper's, written out."""
    return 2 * float(q.reduced.problem.value)


@PAPER.states(
    "§2.2, cross block",
    r"\Gamma^c = y^t g' \text{ and } |g_i| \le 1",
    r"\Gamma \succeq 0",
    sign=r"\Leftarrow",
    rests_on=("Lemma 2.1", "Lemma 2.2"),
    claimed=lambda q: [_cross(q, gamma) for gamma in _crossed(q)],
    faults={"from the unit diagonal alone": lambda q: [True for _ in _crossed(q)]},
)
def cross_block(q: Quantities) -> list[bool]:
    """The rows of known points are one row g, up to their signs, in every Γ ⪰ 0 with the known block."""
    return [is_psd(gamma) for gamma in _crossed(q)]


def _crossed(q: Quantities) -> list[Array]:
    """Γ ⪰ 0 with the known block, and the same with one entry of the cross block moved, which makes them indefinite."""
    found = []
    for gamma in q.correlations[:6]:
        moved = gamma.copy()
        moved[0, -1] += 0.4
        moved[-1, 0] += 0.4
        found += [gamma, moved]
    return found


def _cross(q: Quantities, gamma: Array) -> bool:
    rows = q.y_t[:, None] * gamma[: q.n_t, q.n_t :]
    return bool(np.allclose(rows, rows[0], atol=1e-8) and (np.abs(rows) <= 1 + 1e-9).all())


@PAPER.states(
    "§2.2, number of parameters",
    r"\text{entries of } t, \nu, \mu, g \text{ and } \Gamma^w",
    r"1 + 2n_t + \tfrac12(n_w^2 + 5n_w)",
    claimed=lambda q: 1 + 2 * q.n_t + (q.n_w**2 + 5 * q.n_w) / 2,
    faults={"the hard margin's": lambda q: 1 + q.n_t + (q.n_w**2 + 3 * q.n_w) / 2},
)
def parameters(q: Quantities) -> float:
    """What is left to be found with a soft margin: t, ν and μ for every point, g, and Γʷ below its diagonal."""
    return 1 + 2 * q.n + q.n_w + q.n_w * (q.n_w - 1) / 2


@PAPER.states(
    "§2.3, bounds",
    r"\min \text{ of the relaxation}",
    r"\text{least value over labelings, and that of the labels of } g",
    relation="<=",
    rests_on=("eq. 9",),
    claimed=lambda q: [2 * q.least, 2 * q.svm_values[_nearest(q)]],
    faults={"half of them": lambda q: [q.least / 2, q.svm_values[_nearest(q)] / 2]},
)
def bounds(q: Quantities) -> list[float]:
    """The relaxation is below the least value of all labelings, and that is below the thresholded labels' value."""
    return [2 * float(q.reduced.problem.value) * (1 - 1e-6), 2 * q.least * (1 - 1e-9)]


def _nearest(q: Quantities) -> int:
    signs = np.where(q.reduced.scores >= 0, 1.0, -1.0)
    return next(k for k, y in enumerate(q.labelings) if np.array_equal(y[q.n_t :], signs))


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


# Lines of the derivation of the relaxation: the step that leads to each, and mistakes in it.
for _number, _says, _step, _faults in (
    ("eq. 1", "The dual of the SVM, least over labels.", 7, {"α'(K∘yy')α twice": without(0, 2)}),
    ("eq. 2", "The bounds of α are those of the hinge loss.", 7, {"no upper bound": unconditioned(1)}),
    ("eq. 3", "Labels stand in it as the matrix Γ = yy' only.", 8, {"Γ twice": without(0, 2)}),
    ("eq. 4", "Unknown labels are 1 or -1: the better one is paid for.", 1, {"paid twice": without(1, 2)}),
    ("eq. 6", "Γ has ones on its diagonal.", 8, {"left out": unconditioned(2)}),
    ("§2.1, dual over α", "The dual of the bounds.", 11, {"without μ": without(1), "½ left out": without(0, 2)}),
    ("Lemma 2.2", "A Schur complement, with e + ν - μ as (K∘Γ) a.", 12, {"any e + ν - μ": unconditioned(3)}),
    ("eq. 10", "The linear matrix inequality, and the least t.", 12, {"ν of either sign": unconditioned(1)}),
    ("Proposition 2.3", "One row of Γ̃ stands for all known points.", 13, {"no unit diagonal": unconditioned(0)}),
):
    PAPER.proven(_number, _says, 0, _step, _faults)
