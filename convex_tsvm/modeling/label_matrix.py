"""The SDP relaxation of the transductive SVM (debie2004 §2; chapelle2008 §3.4), as CVXPY problems.

The label matrix Γ = y yᵀ of rank one becomes any Γ ⪰ 0 with ones on its diagonal and the known block.  Links between
points are equations between rows of Γ (footnote 3).  Values are those of the S3VM's objective, half of what eq. (1)
has: ½ ‖w‖² + Σ c_i ℓ(y_i f_i) for any loss ℓ that never increases.
"""

import warnings
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import scipy.linalg

from ..deadline import TimeIsUp, in_background
from ..instance.labelling import Labelling, balanced_direction, check_relaxable
from ..kernels import kernel_factor
from ..problem import Array
from .expressions import loss_expression
from .printing import ReadableProblem
from .solver import ACCURATELY, solve_by


class TransductionSDP(ABC):
    """min over Γ and margins t of ½ τ + Σ c_i ℓ(t_i), with the linear matrix inequality of eq. (10).

    The margins are what the papers write as e + ν - μ: for the hinge loss, ν is how far a margin is above 1, and μ how
    far below, at a cost of C.

    Where the problem prescribes a number of positive labels, the labels of unlabelled points have a sum q.  Then
    Σ Γ_ij = q² over pairs of unlabelled points (chapelle2008 §3.4), and what is implied by yᵀ y_u = q besides and makes
    the relaxation tighter, Σ g_i = q and Σ_j Γ_ij = q g_i.

    A free bias b adds b y_i to the margins, which is not linear in b and Γ where a label is unknown, but of which the
    sum over these points is b q.  So they count as one, whose margin is the sum of theirs: Sᵀ (K ∘ Γ) S takes the place
    of K ∘ Γ.
    """

    def __init__(self, search: Labelling) -> None:
        check_relaxable(search)
        self.search = search
        n = search.n
        self.total = search.unknown_sum
        self.labels, gamma, signs, constraints = self.label_matrix()  # Γ, or Γ̃ of the reduced form
        self.margins = cp.Variable(n, name="t")
        self.tau = cp.Variable(name="tau")
        losses, domain = loss_expression(search.loss, self.margins)
        inner = self.margins
        if search.offset.any():
            inner = inner - cp.multiply(cp.Constant(search.offset, name="offset"), signs)
        squares: cp.Expression = cp.multiply(cp.Constant(search.kernel, name="K"), gamma)
        if search.free_bias:
            merging, sums = cp.Constant(_merging(search), name="S"), cp.Constant(_sums(search), name="Sᵀy")
            squares = merging.T @ squares @ merging
            inner = merging.T @ inner - cp.Variable(name="b") * sums
        column = cp.reshape(inner, (inner.size, 1), order="C")
        corner = cp.reshape(self.tau, (1, 1), order="C")
        self.inequality = cp.bmat([[squares, column], [column.T, corner]]) >> 0
        objective: cp.Expression = 0.5 * self.tau + search.constant
        if search.loss.pieces.any():  # a hard margin costs nothing where it is met
            objective = 0.5 * self.tau + cp.Constant(search.cost, name="C") @ losses + search.constant
        parts = {"known": np.flatnonzero(search.y), "unknown": search.unknown}
        self.problem = ReadableProblem(cp.Minimize(objective), [*constraints, *domain, self.inequality], parts=parts)

    @abstractmethod
    def label_matrix(self) -> tuple[cp.Variable, cp.Expression, cp.Expression, list[cp.Constraint]]:
        """The variable, Γ, the labels g of all points before thresholding, and the constraints on Γ."""

    @abstractmethod
    def reduced(self) -> Array:
        """Γ̃ of the solution, shape (1 + m, 1 + m) for m groups of labels that are tied: u, if no links tie any."""

    @property
    def scores(self) -> Array:
        """g of the unlabelled points (§2.3)."""
        return _scores(self.search, self.reduced())

    @property
    def alpha(self) -> Array:
        """α, from the multiplier of the matrix inequality."""
        multiplier = np.asarray(self.inequality.dual_value)
        alpha = -2 * multiplier[:-1, -1]
        return _merging(self.search) @ alpha if self.search.free_bias else alpha


class FullSDP(TransductionSDP):
    """Γ with the constraints (5), (6) and (8) as they stand."""

    def label_matrix(self) -> tuple[cp.Variable, cp.Expression, cp.Expression, list[cp.Constraint]]:
        y = self.search.y
        known = np.flatnonzero(y)
        gamma = cp.Variable((len(y), len(y)), PSD=True, name="Gamma")
        outer = cp.Constant(np.outer(y[known], y[known]), name="yyᵀ")
        block = gamma[np.ix_(known, known)] == outer  # (5)
        signs = gamma[:, known[0]] if y[known[0]] > 0 else -gamma[:, known[0]]
        constraints = [block, cp.diag(gamma) == 1]  # (6)
        side = self.search.side
        for i in np.setdiff1d(self.search.unknown, side.first):  # rows of labels that are tied (footnote 3)
            constraints.append(gamma[i, :] == side.sign[i] * gamma[side.first[side.group[i]], :])
        if self.total is not None:
            unknown = self.search.unknown
            part = gamma[np.ix_(unknown, unknown)]
            constraints += [
                cp.sum(part) == self.total**2,
                cp.sum(signs[unknown]) == self.total,
                part @ cp.Constant(np.ones(len(unknown)), name="1") == self.total * signs[unknown],
            ]
        return gamma, gamma, signs, constraints

    def reduced(self) -> Array:
        """Γ̃: the rows of one known point, which stand for all of them, and of the first unlabelled point of a group."""
        known = int(np.flatnonzero(self.search.y)[0])
        where = np.concatenate([[known], self.search.side.first])
        sign = np.ones(len(where))
        sign[0] = self.search.y[known]
        return np.asarray(self.labels.value[np.ix_(where, where)]) * np.outer(sign, sign)


class ReducedSDP(TransductionSDP):
    """Γ̃ = [[1, gᵀ], [g, Γʷ]] ⪰ 0 with a unit diagonal, which is equivalent (§2.2, Proposition 2.3).

    With a class balance all of Γ̃ is orthogonal to (-q, 1, ..., 1), so that no Γ̃ is positive definite, which
    interior-point methods need: it is written as Q Ω Qᵀ with Ω ⪰ 0 and the orthogonal complement Q.
    """

    def label_matrix(self) -> tuple[cp.Variable, cp.Expression, cp.Expression, list[cp.Constraint]]:
        """Γ̃, and Γ = B Γ̃ Bᵀ."""
        basis = cp.Constant(self.search.basis, name="B")
        size = basis.shape[1]
        if self.total is None:
            small = cp.Variable((size, size), PSD=True, name="Gamma_reduced")
        else:
            complement = cp.Constant(_complement(self.search), name="Q")
            rank = complement.shape[1]
            small = complement @ cp.Variable((rank, rank), PSD=True, name="Omega") @ complement.T
        return small, basis @ small @ basis.T, basis @ small[:, 0], [cp.diag(small) == 1]

    def reduced(self) -> Array:
        return np.asarray(self.labels.value)


class SubspaceSDP(TransductionSDP):
    """Γ = V M Vᵀ with M ⪰ 0 and diag(Γ) <= e, for label vectors in or near the column space of V (§3).

    The known block of (5) and the ones of (6) are left to V, of which the better, the nearer Γ is to meeting them.  A
    ValueError says if the search has offsets, or V another shape or columns that depend on each other.

    Parameters
    ----------
    search : Labelling
        Without bias and balance, as in the paper.
    V : array, shape (n, d)
        For instance of :func:`~convex_tsvm.methods.spectral.spectral_subspace`.
    """

    def __init__(self, search: Labelling, V: Array) -> None:
        check_subspace(search, V)
        self.V = V
        super().__init__(search)

    def label_matrix(self) -> tuple[cp.Variable, cp.Expression, cp.Expression, list[cp.Constraint]]:
        """M, and Γ = V M Vᵀ."""
        V, d = cp.Constant(self.V, name="V"), self.V.shape[1]
        M = cp.Variable((d, d), PSD=True, name="M")
        gamma = V @ M @ V.T
        return M, gamma, gamma[:, 0], [cp.diag(gamma) <= 1]

    def reduced(self) -> Array:
        """M, shape (d, d)."""
        return np.asarray(self.labels.value)

    @property
    def scores(self) -> Array:
        """The column of Γ of the known positive points (minus that of the negative ones), for the unlabelled points."""
        signs = self.search.y / np.count_nonzero(self.search.y)
        return np.asarray(self.V @ (self.reduced() @ (self.V.T @ signs)))[self.search.unknown]


class SpectralSDP:
    """Constrained spectral transduction (§4.1) as an SDP: max <L' D^-½ K D^-½ L, H> over 0 ⪯ H ⪯ I with trace d.

    Its value is the sum of the d largest eigenvalues (Fan 1949), and H the projection on their eigenvectors h, of which
    v = L h has one entry for all points that are known to be of one class (Proposition 4.1).

    Parameters
    ----------
    similarity : array, shape (m, m)
        L' D^-½ K D^-½ L.
    tie : array or sparse array, shape (n, m)
        The matrix L, which ties known labels.
    n_components : int
        d, the number of vectors.
    """

    def __init__(self, similarity: Array, tie: Any, n_components: int = 1) -> None:
        m = len(similarity)
        self.tie = tie
        self.H = cp.Variable((m, m), PSD=True, name="H")
        limits = [cp.Constant(np.eye(m), name="I") - self.H >> 0, cp.trace(self.H) == n_components]
        similarities = cp.Constant((similarity + similarity.T) / 2, name="similarities")
        self.problem = ReadableProblem(cp.Maximize(cp.sum(cp.multiply(similarities, self.H))), limits)

    @property
    def gamma(self) -> Array:
        """L H Lᵀ of the solution, shape (n, n), which stands for label matrices in a subspace."""
        return np.asarray(self.tie @ (self.tie @ np.asarray(self.H.value)).T)


def check_subspace(search: Labelling, V: Array) -> None:
    """Raise ValueError if a search has a bias or offsets, or V is no basis of a subspace of its label vectors."""
    if search.offset.any() or search.free_bias:
        raise ValueError(
            "the subspace SDP has a zero bias (debie2004, footnote 1): use fit_intercept=False, balance=None"
        )
    if V.ndim != 2 or V.shape[0] != search.n or np.linalg.matrix_rank(V) < V.shape[1]:
        raise ValueError(f"V has shape {V.shape}; it must be ({search.n}, d) with independent columns")


def best_of_planes(values: list[float], slopes: list[Array], Q: Array, cvxpy_solver: str) -> tuple[Array, Array, Array]:
    """The M ⪰ 0 with diag(Q M Qᵀ) <= e at which the largest of some planes, values_k - ½ <slopes_k, M>, is least.

    With it the multipliers of the planes, which sum to 1, and those of the diagonal, shape (n,).
    """
    d = Q.shape[1]
    M, t = cp.Variable((d, d), PSD=True), cp.Variable()
    flat = cp.vec(M, order="C")
    planes = t >= np.array(values) - 0.5 * np.array([slope.ravel() for slope in slopes]) @ flat
    diagonal = np.einsum("ij,ik->ijk", Q, Q).reshape(len(Q), -1) @ flat <= 1
    with warnings.catch_warnings():
        # What the solver finds need not be accurate: the value is computed anew, and the bound repaired.
        warnings.simplefilter("ignore", UserWarning)
        solve_by(ReadableProblem(cp.Minimize(t), [planes, diagonal]), cvxpy_solver, **ACCURATELY.get(cvxpy_solver, {}))
    weights = np.maximum(planes.dual_value, 0.0)
    return np.asarray(M.value), weights / weights.sum(), np.asarray(diagonal.dual_value)


class DualSDP:
    """The dual of both, max over α and λ of - Σ c_i ℓ*(-α_i / c_i) - Σ_known α_i y_i o_i - ½ Σ λ_j.

    The inner maximum of eq. (1) over label matrices is a max-cut relaxation, and its dual asks for
    Diag(λ) ⪰ Bᵀ Diag(α) G Diag(α) B.  With G = Z Zᵀ that is a linear matrix inequality in α and λ together, of order
    1 + u + rank G and without a matrix variable.  Every feasible point is a lower bound.

    With a free bias α is S x for the x of few points, and any X ⪰ x xᵀ may take the place of x xᵀ, as it raises the
    right side: the inequality is then linear in X and λ, of order u.

    Attributes
    ----------
    alpha, multipliers : cvxpy expressions, shapes (n,), (1 + m,)
        α and λ, for m groups of labels that are tied: u, if no links tie any.
    """

    def __init__(self, search: Labelling) -> None:
        check_relaxable(search)
        self.search = search
        n, size = search.n, 1 + search.side.n_groups
        basis = cp.Constant(search.basis, name="B")
        self.alpha: cp.Expression = cp.Variable(n, name="alpha")
        if search.free_bias:
            merging, sums = cp.Constant(_merging(search), name="S"), cp.Constant(_sums(search), name="Sᵀy")
            X = cp.Variable((sums.size + 1, sums.size + 1), PSD=True, name="lifted")  # [[X, x], [xᵀ, 1]]
            self.alpha = merging @ X[:-1, -1]
        self.multipliers = cp.Variable(size, name="lambda")
        # With a class balance the inequality is asked for on the subspace that label matrices are in.
        self.complement = None if search.unknown_sum is None else _complement(search)
        scale, cost = cp.Constant(1 / search.cost, name="1/C"), cp.Constant(search.cost, name="C")
        conjugates, domain = loss_expression(search.loss.conjugate(), -cp.multiply(scale, self.alpha))
        top = cp.diag(self.multipliers)
        objective = -(cost @ conjugates) - 0.5 * cp.sum(self.multipliers) + search.constant
        if search.offset.any():
            # - Σ α_i o_i g_i over the unlabelled points is linear in the first row of Γ̃.
            select = search.basis.T * search.offset
            select[0] = 0.0
            picked = cp.Constant(select, name="O")
            first = np.zeros((1, size))
            first[0, 0] = 1.0
            row = cp.reshape(picked @ self.alpha, (size, 1), order="C") @ cp.Constant(first, name="e₀ᵀ")
            top = top - row - row.T
            objective = objective - cp.Constant(search.y * search.offset, name="yo") @ self.alpha
        if self.complement is not None:
            Q = cp.Constant(self.complement, name="Q")
            top, basis = Q.T @ top @ Q, basis @ Q
        if search.free_bias:
            domain = [*domain, X[-1, -1] == 1, sums @ X[:-1, -1] == 0]
            squares = cp.multiply(cp.Constant(search.kernel, name="K"), merging @ X[:-1, :-1] @ merging.T)
            self.inequality = top - basis.T @ squares @ basis >> 0
        else:
            factor = cp.Constant(kernel_factor(search.kernel, 1e-9), name="Z")
            side = factor.T @ (cp.diag(self.alpha) @ basis)
            self.inequality = cp.bmat([[top, side.T], [side, cp.Constant(np.eye(factor.shape[1]), name="I")]]) >> 0
        self.problem = ReadableProblem(cp.Maximize(objective), [self.inequality, *domain])

    def reduced(self) -> Array:
        """Γ̃, from the multiplier of the matrix inequality."""
        if self.complement is None:
            size = 1 + self.search.side.n_groups
            return np.asarray(2 * self.inequality.dual_value[:size, :size])
        Q, size = self.complement, self.complement.shape[1]
        return np.asarray(Q @ (2 * self.inequality.dual_value[:size, :size]) @ Q.T)

    @property
    def scores(self) -> Array:
        """g of the unlabelled points (§2.3)."""
        return _scores(self.search, self.reduced())


def _scores(search: Labelling, reduced: Array) -> Array:
    """The first column of Γ = B Γ̃ Bᵀ of a positive point, for the unlabelled points."""
    return np.asarray(search.basis[search.unknown] @ reduced[:, 0])


def _complement(search: Labelling) -> Array:
    """Orthonormal columns that are orthogonal to (-q, 1, ..., 1), shape (1 + m, m)."""
    return np.asarray(scipy.linalg.null_space(balanced_direction(search)[None]))


def _merging(search: Labelling) -> Array:
    """S, shape (n, l + 1), which adds the unlabelled points up and leaves the others as they are."""
    return np.column_stack([np.eye(search.n)[:, search.y != 0], search.y == 0])


def _sums(search: Labelling) -> Array:
    """Sᵀ y: the known labels, and the sum of the others."""
    return np.append(search.y[search.y != 0], float(search.unknown_sum or 0))


class ConicPoint(NamedTuple):
    """What a conic solver says of the dual: its value, α, λ, the labels before thresholding, and R with Γ̃ = R Rᵀ."""

    value: float
    alpha: Array
    multipliers: Array
    scores: Array
    vectors: Array
    status: str = "inaccurate"


def solve_dual(search: Labelling, solver: str) -> ConicPoint:
    """The dual by a conic solver of CVXPY's, "scs", "clarabel" or "sdpa", whatever it makes of it."""
    dual, m = DualSDP(search), search.side.n_groups
    try:
        with warnings.catch_warnings(action="ignore"):  # an inaccurate solution is reported as a status
            in_background(solve_by, dual.problem, solver.upper())
            value = float(np.nan if dual.problem.value is None else dual.problem.value)
    except (RuntimeError, TimeIsUp):
        value = np.nan
    if not np.isfinite(value) or dual.alpha.value is None:
        return ConicPoint(
            np.nan, np.zeros(search.n), np.zeros(1 + m), np.zeros(len(search.unknown)), np.zeros((1 + m, 1))
        )
    status = "optimal" if dual.problem.status == "optimal" else "inaccurate"
    found = (np.asarray(dual.alpha.value), np.asarray(dual.multipliers.value), dual.scores)
    spread, axes = np.linalg.eigh(dual.reduced())
    return ConicPoint(value, *found, axes * np.sqrt(np.maximum(spread, 0.0)), status)
