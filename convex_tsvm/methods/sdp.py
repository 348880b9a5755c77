"""Labels from the SDP relaxation (debie2004 §2), and the SVM trained on labels that were found in any such way."""

import time
from dataclasses import dataclass

import numpy as np

from ..deadline import time_is_up, unlimited
from ..formulations import Formulation
from ..instance import Instance
from ..notice import warn
from ..problem import Array, Problem
from ..relaxations import LowerBoundBuilder, Relaxation
from ..solution import Solution
from ..solvers import NativeSolver
from ..ties import eigenvectors
from ..validation import one_of
from .run import STOPPED


@dataclass(frozen=True, eq=False, repr=False)
class RelaxedSolution(Solution):
    """Labels by thresholding those of a relaxation; its step is the SVM trained on them.

    Attributes
    ----------
    relaxed : array, shape (n,)
        Labels before thresholding; known ones as given.

    Examples
    --------
    >>> solution = ct.sdp_transduction(ct.s3vm(), problem)
    >>> solution.relaxed.shape, bool(solution.lower_bound <= solution.objective)
    ((6,), True)
    """

    relaxed: Array | None = None

    @property
    def scores(self) -> Array:
        """Labels before thresholding, shape (n,)."""
        return self.point.outputs if self.relaxed is None else self.relaxed


def trained_on_labels(
    formulation: Formulation, problem: Problem, scores: Array, began: float, status: str, bound: float | None = None
) -> RelaxedSolution:
    """The solution with the labels that scores give; its decision function is the SVM trained on these labels.

    ``began`` is the time when the work began, and ``bound`` a proven lower bound of the optimum, if one is known.
    """
    if status in STOPPED:
        warn(f"{status}: the labels are those of an unfinished relaxation")
    instance = Instance(formulation, problem)
    labels = instance.best_labels(scores)
    with unlimited():
        solver = NativeSolver(problem)
        point = solver.solve(instance.svm(labels))
    if status == "converged":
        # An objective that rounding has spoilt is none.
        status = "converged" if point.judged(solver.tol).status == "optimal" else "inaccurate"
    objective = instance.objective(point.outputs, point.regularization)
    if instance.n_positive is not None:
        # Without a bias that moves them, outputs may have other signs than the labels, which then are what is paid for.
        objective = instance.labelled_objective(point.outputs, point.regularization, labels)
    if bound is not None:
        bound = min(bound, objective)  # where both are the optimum, rounding may have them in the wrong order
    return RelaxedSolution(
        formulation=formulation,
        problem=problem,
        point=point,
        objective=objective,
        status=status,
        seconds=time.perf_counter() - began,
        lower_bound=bound,
        given_labels=None if instance.n_positive is None else labels,
        relaxed=np.where(problem.y != 0, problem.y, scores),
    )


def sdp_transduction(
    formulation: Formulation,
    problem: Problem,
    *,
    relaxation: str | type[Relaxation] = "sdp",
    solver: str = "auto",
    labels_from: str = "column",
    tol: float = 1e-4,
) -> RelaxedSolution:
    """Labels from the SDP relaxation (debie2004 §2), with a proven lower bound of the optimum.

    The status is "inaccurate" if the relaxation was not solved to ``tol``; its bound holds all the same.

    Parameters
    ----------
    formulation : Formulation
        With the loss min(ℓ(f), ℓ(-f)) for unlabelled points.
    relaxation, solver, tol
        See :class:`~convex_tsvm.LowerBoundBuilder`.
    labels_from : {"column", "eigenvector"}, default "column"
        Which vector of the label matrix Γ is thresholded: the column of the labelled points, or the eigenvector of its
        largest eigenvalue (chapelle2008 §3.4), scaled to 1 at these where it is not near 0 there; only with
        ``relaxation="sdp"``.  Where all labels are known, or the relaxation failed, there is the column alone.

    Examples
    --------
    >>> solution = ct.sdp_transduction(ct.s3vm(), problem)
    >>> solution.labels, bool(solution.lower_bound <= solution.objective)
    (array([-1., -1., -1.,  1.,  1.,  1.]), True)
    """
    began = time.perf_counter()
    if one_of("labels_from", labels_from, ("column", "eigenvector")) == "eigenvector" and relaxation != "sdp":
        raise ValueError(f"labels_from='eigenvector' needs relaxation='sdp', not {relaxation!r}: others have no matrix")
    bound = LowerBoundBuilder(formulation, problem, relaxation=relaxation, solver=solver, tol=tol).bound()
    status = "converged" if bound.status == "optimal" else bound.status
    if status in ("inaccurate", "failed") and time_is_up():
        status = "time_limit"
    scores, vectors = bound.scores, bound.duals.get("vectors")
    if labels_from == "eigenvector" and vectors is not None and np.any(vectors):  # else the column is what is known
        scores = _dominant(vectors, problem.y)
    return trained_on_labels(formulation, problem, scores, began, status, bound.value)


def _dominant(vectors: Array, y: Array) -> Array:
    """The eigenvector of the largest eigenvalue of Γ = R Rᵀ, on the scale and with the signs of the labels y."""
    axes, sizes, _ = np.linalg.svd(vectors, full_matrices=False)
    found = eigenvectors(sizes**2, axes, 1)[1][:, 0]
    # Whose mean at the labelled points is less than this share of its largest entry has no scale there.
    clear = 1e-3
    agreed = float(y @ found) / max(int(np.count_nonzero(y)), 1)
    return np.asarray(found / (agreed if abs(agreed) > clear * np.abs(found).max() else np.abs(found).max()))
