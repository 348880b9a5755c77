"""§1 and §2: from the transductive SVM to a semidefinite program."""

from __future__ import annotations

import itertools

import numpy as np

from ....kernels import RBF
from ....problem import Array, Problem
from . import PAPER
from .quantities import Quantities, is_psd, smallest


@PAPER.states(
    "eq. 1",
    r"2\min_y\ \min_w\ \tfrac12\|w\|^2 + C\sum_i \xi_i",
    r"\min_\Gamma\max_\alpha\ 2\alpha'e - \alpha'(K\odot\Gamma)\alpha",
    tolerance=1e-5,
    claimed=lambda q: min(q.value(np.outer(y, y)) for y in q.labelings),
    faults={
        "α'(K∘Γ)α twice": lambda q: min(q.value(np.outer(y, y), squares=2.0) for y in q.labelings),
        "the largest over Γ": lambda q: max(q.value(np.outer(y, y)) for y in q.labelings),
    },
)
def eq_1(q: Quantities) -> float:
    """The transductive SVM without bias is the least value of the SVM's dual over label matrices.

    It is twice the objective of the SVM, whose dual this is; the toolkit's values are those of the objective.
    """
    return 2 * q.least


@PAPER.states(
    "eq. 2",
    r"2\,\min_w \text{ for each labelling}",
    r"\max_{0\le\alpha_i\le C}\ 2\alpha'e - \alpha'(K\odot yy')\alpha",
    tolerance=1e-5,
    claimed=lambda q: [q.value(np.outer(y, y)) for y in q.labelings],
    faults={"no upper bound": lambda q: [q.value(np.outer(y, y), bounded=False) for y in q.labelings]},
)
def eq_2(q: Quantities) -> Array:
    """The bounds of α are those of the SVM's dual with hinge loss."""
    return 2 * q.svm_values


@PAPER.states(
    "eq. 3",
    r"2\,\min_w \text{ for each labelling}",
    r"\max_\alpha\ \dots \text{ at } \Gamma = (y^t, y^w)(y^t, y^w)'",
    rests_on=("eq. 1",),
    tolerance=1e-5,
    claimed=lambda q: [q.value(np.outer(y, y)) for y in q.labelings],
    faults={
        "the absolute values of the labels": lambda q: [q.value(np.ones((q.n, q.n))) for y in q.labelings],
        "an identity for the working set": lambda q: [
            q.value(np.where(np.arange(q.n)[:, None] + np.arange(q.n) >= 2 * q.n_t, np.eye(q.n), np.outer(y, y)))
            for y in q.labelings
        ],
    },
)
def eq_3(q: Quantities) -> Array:
    """The label matrix of a labelling is y y'."""
    return 2 * q.svm_values


@PAPER.states(
    "eq. 4",
    r"2\,\min_w \text{ of all labelings, in order}",
    r"\max_\alpha \dots \text{ for } y^w \in \{1, -1\}^{n_w}\text{, in order}",
    rests_on=("eq. 3",),
    tolerance=1e-5,
    claimed=lambda q: values_over(q, (-1.0, 1.0)),
    faults={
        "labels 0 and 1": lambda q: values_over(q, (0.0, 1.0)),
        "labels between": lambda q: values_over(q, (-0.5, 0.5)),
    },
)
def eq_4(q: Quantities) -> Array:
    """Unknown labels are 1 or -1, and nothing between."""
    return np.sort(2 * q.svm_values)


def values_over(q: Quantities, labels: tuple[float, float]) -> Array:
    """Eq. 1's inner value for all y^w of two labels, in order."""
    vectors = [np.concatenate([q.y_t, unknown]) for unknown in itertools.product(labels, repeat=q.n_w)]
    return np.sort([q.value(np.outer(y, y)) for y in vectors])


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
    "eq. 6",
    r"\mathrm{diag}(\Gamma)",
    r"e",
    tolerance=1e-5,
    claimed=lambda q: np.ones(q.n),
    faults={"a trace of 1": lambda q: np.full(q.n, 1 / q.n)},
)
def eq_6(q: Quantities) -> Array:
    """Every point agrees with itself."""
    return np.diag(q.full.labels.value)


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
    "§2.1, dual over α",
    r"v(\Gamma)",
    r"\min_{\nu,\mu\ge0}\ (e+\nu-\mu)'(K\odot\Gamma)^\dagger(e+\nu-\mu) + 2C\mu'e",
    rests_on=("eq. 1", "eq. 2"),
    tolerance=1e-4,
    claimed=lambda q: [q.inequality(np.outer(y, y), []) for y in q.labelings[:4]],
    faults={
        "ν and μ exchanged": lambda q: [q.inequality(np.outer(y, y), [], sign=-1.0) for y in q.labelings[:4]],
        "without μ, a hard margin": lambda q: [q.inequality(np.outer(y, y), [], soft=False) for y in q.labelings[:4]],
    },
)
def inner_dual(q: Quantities) -> list[float]:
    """The largest value over α is the least over the multipliers of its bounds."""
    return [q.value(np.outer(y, y)) for y in q.labelings[:4]]


@PAPER.states(
    "Lemma 2.2",
    r"\begin{pmatrix}A & B\\ B' & C\end{pmatrix} \succeq 0",
    r"B \perp \mathrm{null}(A) \text{ and } C \succeq B'A^\dagger B",
    sign=r"\Leftrightarrow",
    claimed=lambda q: [apart(A, B) and is_psd(C - B.T @ np.linalg.pinv(A) @ B) for A, B, C in _blocks()],
    faults={
        "without the null space": lambda q: [is_psd(C - B.T @ np.linalg.pinv(A) @ B) for A, B, C in _blocks()],
        "a plus in place of the minus": lambda q: [
            apart(A, B) and is_psd(C + B.T @ np.linalg.pinv(A) @ B) for A, B, C in _blocks()
        ],
    },
)
def lemma_2_2(q: Quantities) -> list[bool]:
    """The Schur complement of a singular matrix takes a pseudo-inverse, and columns orthogonal to its null space."""
    return [is_psd(np.block([[A, B], [B.T, C]])) for A, B, C in _blocks()]


def apart(A: Array, B: Array) -> bool:
    """Whether the columns of B are orthogonal to the null space of A."""
    return np.allclose(A @ np.linalg.pinv(A) @ B, B, atol=1e-8)


def _blocks() -> list[tuple[Array, Array, Array]]:
    """Singular A ⪰ 0, B inside and outside its range, and C above and below what the lemma asks."""
    rng, found = np.random.default_rng(1), []
    for k in range(8):
        root = rng.normal(size=(5, 3))
        A = root @ root.T
        B = A @ rng.normal(size=(5, 2)) + (k % 2) * np.linalg.svd(root)[0][:, 3:5]
        least = B.T @ np.linalg.pinv(A) @ B
        found += [
            (A, B, factor * least + shift * np.eye(2)) for factor, shift in ((1, 0.1), (0.5, 0.0), (1, -0.1), (2, 9))
        ]
    return found


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
    "eq. 10",
    r"2\,\min_w \text{ for each labelling}",
    r"\min t \text{ s.t. } \begin{pmatrix}K\odot\Gamma & e+\nu-\mu\\ (e+\nu-\mu)' & t - 2C\mu'e\end{pmatrix}\succeq 0",
    rests_on=("§2.1, dual over α", "Lemma 2.2"),
    tolerance=1e-4,
    claimed=lambda q: [q.inequality(np.outer(y, y), []) for y in q.labelings[:4]],
    faults={"e - ν + μ": lambda q: [q.inequality(np.outer(y, y), [], sign=-1.0) for y in q.labelings[:4]]},
)
def eq_10(q: Quantities) -> Array:
    """At a label matrix the linear matrix inequality gives the SVM."""
    return 2 * q.svm_values[:4]


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
    "Proposition 2.3",
    r"\Gamma \succeq 0",
    r"\tilde\Gamma = \begin{pmatrix}1 & g'\\ g & \Gamma^w\end{pmatrix} \succeq 0",
    sign=r"\Leftrightarrow",
    rests_on=("Lemma 2.1", "§2.2, cross block"),
    claimed=lambda q: [is_psd(one) for one in _reduced(q)],
    faults={
        "Γʷ ⪰ 0 alone": lambda q: [is_psd(one[1:, 1:]) for one in _reduced(q)],
        "g with the wrong sign beside |g| for Γ": lambda q: [
            is_psd(one - np.eye(len(one)) * 0.2) for one in _reduced(q)
        ],
    },
)
def proposition_2_3(q: Quantities) -> list[bool]:
    """The small matrix is positive semidefinite exactly where the large one is."""
    return [is_psd(_whole(q, one)) for one in _reduced(q)]


def _reduced(q: Quantities) -> list[Array]:
    """Γ̃ with a unit diagonal, semidefinite or not, and some on the border."""
    rng, found = np.random.default_rng(2), []
    for _ in range(30):
        entries = np.clip(rng.normal(0, 0.6, (1 + q.n_w, 1 + q.n_w)), -1, 1)
        one = np.tril(entries, -1)
        found.append(one + one.T + np.eye(1 + q.n_w))
    vectors = rng.normal(size=(1 + q.n_w, 2))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    outside = np.eye(1 + q.n_w)
    outside[0, 1:] = outside[1:, 0] = 0.9  # Γʷ = I is definite; with g = 0.9 e the whole is not
    return [*found, vectors @ vectors.T, outside]


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
