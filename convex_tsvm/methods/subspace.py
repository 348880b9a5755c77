"""The SDP relaxation with label matrices from a subspace, Γ = V M Vᵀ (debie2004 §3).

The value of the SVM for a label matrix, S(M) = max over α of - Σ c_i ℓ*(-α_i / c_i) - ½ αᵀ (G ∘ V M Vᵀ) α, is convex in
the d (d + 1) / 2 entries of M, and every α gives a plane below it.  So M is found by cutting planes: an SVM of n points
and an SDP of order d take turns, where (9)-(10) as one SDP would have a matrix inequality of order n + 1.
"""

import dataclasses
import time
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ..deadline import time_is_up
from ..formulations import Formulation
from ..formulations.constraints import Link
from ..instance import Labelling, labelling
from ..modeling.label_matrix import SubspaceSDP, best_of_planes, check_subspace
from ..modeling.solver import installed_solver
from ..problem import Array, Problem
from ..relaxations.label_matrix.low_rank import margin_svm
from ..relaxations.safe_bounds import into_domain, least_eigenvalue, weighted
from ..validation import finite
from .sdp import RelaxedSolution, trained_on_labels
from .spectral import spectral_subspace


def subspace_transduction(
    formulation: Formulation,
    problem: Problem,
    *,
    n_components: int = 4,
    outliers: float = 0.05,
    tol: float = 1e-4,
    cvxpy_solver: str = "CLARABEL",
) -> RelaxedSolution:
    """Labels from the SDP on the subspace of constrained spectral transduction (debie2004 §3).

    There is no lower bound, as label vectors outside the subspace are left out.

    Parameters
    ----------
    formulation : Formulation
        Without bias and balance constraint, and with the loss min(ℓ(f), ℓ(-f)) for unlabelled points.  Exact links
        among its constraints are side information for the eigenvectors (footnote 3).
    n_components : int
        d, the dimension of the subspace: with more, label vectors are approximated better, and less is left of what the
        subspace knows of the clusters; the paper has 3 and 4.
    outliers : float
        See :func:`~convex_tsvm.methods.spectral_subspace`.
    tol : float
        Relative gap between the subspace SDP's value and its bound.
    cvxpy_solver : str, default "CLARABEL"
        Which of CVXPY's solvers finds the best of the cutting planes.

    Examples
    --------
    >>> ct.subspace_transduction(ct.s3vm(), problem, n_components=2).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    began = time.perf_counter()
    point = solve_subspace(
        *_in_subspace(formulation, problem, n_components, outliers), tol=tol, cvxpy_solver=cvxpy_solver
    )
    status = {"optimal": "converged"}.get(point.status, point.status)
    return trained_on_labels(formulation, problem, point.scores, began, status)


def subspace_sdp(
    formulation: Formulation, problem: Problem, *, n_components: int = 4, outliers: float = 0.05
) -> SubspaceSDP:
    """The subspace SDP of a formulation as one CVXPY problem, eq. (9)-(10) with Γ = V M Vᵀ, to read and to solve.

    :func:`subspace_transduction` finds its value by cutting planes, which is faster.  Its ``problem`` is the
    ``cvxpy.Problem``; after that is solved ``scores`` are the labels before thresholding.

    Parameters
    ----------
    formulation, problem, n_components, outliers
        As for :func:`subspace_transduction`.

    Examples
    --------
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], kernel=ct.RBF(1.0), C=10, balance=None)
    >>> sdp = ct.subspace_sdp(ct.s3vm(balance=None, fit_intercept=False), problem, n_components=2)
    >>> print(str(sdp.problem).splitlines()[0])
    minimize    ½ τ + Cᵀ max(0, 1 - t)²
    >>> value = sdp.problem.solve(solver="CLARABEL")
    >>> np.sign(sdp.scores)
    array([-1., -1.,  1.,  1.])
    """
    return SubspaceSDP(*_in_subspace(formulation, problem, n_components, outliers))


def _in_subspace(
    formulation: Formulation, problem: Problem, n_components: int, outliers: float
) -> tuple[Labelling, Array]:
    """The search for labels, and the basis V of its label vectors, which is all that knows of links."""
    V, _ = spectral_subspace(problem.gram, problem.y, n_components, outliers=outliers, links=formulation.constraints)
    others = tuple(one for one in formulation.constraints if not isinstance(one, Link))
    return labelling(dataclasses.replace(formulation, constraints=others), problem), V


@dataclass(frozen=True, eq=False)
class SubspacePoint:
    """An approximate solution M, shape (d, d), of the subspace SDP, with its ``value`` S(M)."""

    M: Array
    value: float
    bound: float  # a proven one of the SDP's value; none for the S3VM, whose labels need not be in the subspace
    scores: Array  # the column of Γ that belongs to a known positive point: labels before thresholding
    n_iter: int
    seconds: float
    status: str  # "optimal", "max_iter", "time_limit" or "interrupted"


def solve_subspace(search: Labelling, V: Array, *, tol: float = 1e-4, cvxpy_solver: str = "CLARABEL") -> SubspacePoint:
    """Solve the subspace SDP: min S(M) over M ⪰ 0 with diag(V M Vᵀ) <= e, to a relative gap of ``tol``.

    Arguments and errors are those of :class:`~convex_tsvm.modeling.label_matrix.SubspaceSDP`; one of CVXPY's solvers
    finds the best of the planes.
    """
    tol = finite("tol", tol, above=0)
    check_subspace(search, V)
    began = time.perf_counter()
    return _Planes(search, V, installed_solver(cvxpy_solver)).run(tol, began)


class _Planes:
    """Kelley's cutting-plane method, in an orthonormal basis Q of the subspace.

    It starts at the largest multiple of the identity that the constraints allow.
    """

    most = 300  # planes

    def __init__(self, search: Labelling, V: Array, cvxpy_solver: str) -> None:
        # In an orthonormal basis of the subspace M is as well scaled as it can be.
        self.Q, self.T = np.linalg.qr(V)
        self.search, self.cvxpy_solver = search, cvxpy_solver
        self.values: list[float] = []
        self.slopes: list[Array] = []
        self.alpha: Array | None = None

    def run(self, tol: float, began: float) -> SubspacePoint:
        """Add planes until the gap is at most ``tol``, there are ``most`` of them, or the time is up."""
        d = self.Q.shape[1]
        M = np.eye(d) / np.einsum("ij,ij->i", self.Q, self.Q).max()
        best, bound, status, n_iter = (np.inf, M), -np.inf, "max_iter", 0
        try:
            while n_iter < self.most:
                n_iter += 1
                value = self.cut(M, tol)
                if value < best[0]:
                    best = (value, M)
                if time_is_up():
                    status = "time_limit"
                    break
                M, below = self.master()
                bound = max(bound, below)
                if best[0] - bound <= tol * max(1.0, abs(best[0])):
                    status = "optimal"
                    break
                if time_is_up():
                    status = "time_limit"
                    break
        except KeyboardInterrupt:
            status = "interrupted"
        value, M = best
        back = np.linalg.inv(self.T)
        return SubspacePoint(
            M=back @ M @ back.T,
            value=value,
            bound=bound,
            scores=self.scores(M),
            n_iter=n_iter,
            seconds=time.perf_counter() - began,
            status=status,
        )

    def cut(self, M: Array, tol: float) -> float:
        """S(M); the plane that its α gives is added to the model."""
        value, alpha = margin_svm(self.search, self.Q @ M @ self.Q.T, 0.0, start=self.alpha, tol=0.01 * tol)
        self.alpha, constant, _ = into_domain(self.search, alpha)
        self.values.append(constant)
        self.slopes.append(weighted(self.search, self.alpha, self.Q))
        return value

    def master(self) -> tuple[Array, float]:
        """The best M of the model, made feasible, and a lower bound from the multipliers."""
        M, weights, multipliers = best_of_planes(self.values, self.slopes, self.Q, self.cvxpy_solver)
        slope = np.einsum("k,kij->ij", weights, self.slopes)
        bound = float(weights @ self.values) - 0.5 * self._most(slope, multipliers)
        value = (M + M.T) / 2
        # A solver's point may miss the constraints by its tolerance; scaled down it meets them.
        value *= min(1.0, 1 / max(1e-300, float(np.einsum("ij,jk,ik->i", self.Q, value, self.Q).max())))
        return value, bound

    def _most(self, slope: Array, multipliers: Array) -> float:
        """An upper bound of <slope, M> over all M that are allowed: Σ λ_i for λ >= 0 with Qᵀ Diag(λ) Q ⪰ slope.

        The multipliers are scaled until that holds.
        """
        multipliers = np.maximum(np.nan_to_num(multipliers), 0.0) + 1e-12
        middle = self.Q.T @ (multipliers[:, None] * self.Q)
        root = scipy.linalg.inv(scipy.linalg.cholesky(middle, lower=True))
        scale = -least_eigenvalue(-root @ slope @ root.T)
        return max(scale, 0.0) * float(multipliers.sum())

    def scores(self, M: Array) -> Array:
        """The column of Γ of the known positive points, which is minus that of the negative ones."""
        signs = self.search.y / np.count_nonzero(self.search.y)
        return np.asarray(self.Q @ (M @ (self.Q.T @ signs)))
