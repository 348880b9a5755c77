"""Labels from a relaxation (debie2004), and the SVM trained on all of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..formulations import Formulation
from ..kernels import Precomputed, neighbor_graph
from ..problem import Array, Problem
from ..relaxations import LowerBoundBuilder, labelling, solve_subspace, spectral_subspace, svm_of_labels
from ..solution import Solution
from ..solvers import NativeSolver
from ..validation import integer, one_of


@dataclass(frozen=True, eq=False)
class RelaxedSolution(Solution):
    """Labels by thresholding those of a relaxation; its step is the SVM trained on them.

    Attributes
    ----------
    relaxed : array, shape (n,)
        Labels before thresholding; known ones as given.
    """

    relaxed: Array | None = None

    @property
    def scores(self) -> Array:
        """Labels before thresholding, shape (n,)."""
        return self.step.outputs if self.relaxed is None else self.relaxed


def sdp_transduction(
    formulation: Formulation, problem: Problem, *, relaxation: str = "sdp", solver: str = "auto", tol: float = 1e-4
) -> RelaxedSolution:
    """Labels from the SDP relaxation (debie2004 §2), with a proven lower bound of the optimum.

    Parameters
    ----------
    formulation : Formulation
        With the loss min(ℓ(f), ℓ(-f)) for unlabelled points.
    problem : Problem
    relaxation, solver, tol
        See :class:`~convex_tsvm.LowerBoundBuilder`.

    Returns
    -------
    RelaxedSolution
        Status "inaccurate" if the relaxation was not solved to ``tol``; its bound holds all the same.
    """
    began = time.perf_counter()
    bound = LowerBoundBuilder(formulation, problem, relaxation=relaxation, solver=solver, tol=tol).bound()
    status = "converged" if bound.status == "optimal" else bound.status
    return _trained(formulation, problem, bound.scores, began, status, bound.value)


def subspace_transduction(
    formulation: Formulation, problem: Problem, *, n_components: int = 4, outliers: float = 0.05, tol: float = 1e-4
) -> RelaxedSolution:
    """Labels from the SDP on the subspace of constrained spectral transduction (debie2004 §3).

    Parameters
    ----------
    formulation : Formulation
        Without bias and balance constraint, and with the loss min(ℓ(f), ℓ(-f)) for unlabelled points.
    problem : Problem
    n_components : int
        d, the dimension of the subspace: with more, label vectors are approximated better, and less is left of what the
        subspace knows of the clusters; the paper has 3 and 4.
    outliers : float
        See :func:`~convex_tsvm.relaxations.spectral_subspace`.
    tol : float
        Relative gap between the subspace SDP's value and its bound.

    Returns
    -------
    RelaxedSolution
        Without a lower bound: label vectors outside the subspace are left out.
    """
    began = time.perf_counter()
    V, _ = spectral_subspace(problem.gram, problem.y, n_components, outliers=outliers)
    point = solve_subspace(labelling(formulation, problem), V, tol=tol)
    status = {"optimal": "converged"}.get(point.status, point.status)
    return _trained(formulation, problem, point.scores, began, status)


def spectral_transduction(
    formulation: Formulation,
    problem: Problem,
    *,
    n_components: int = 4,
    affinity: str = "kernel",
    n_neighbors: int = 10,
    constrained: bool = True,
    outliers: float = 0.0,
    random_state: int = 0,
) -> RelaxedSolution:
    """Labels from eigenvectors that respect the known labels (debie2004 §4).

    Of the dominant centred eigenvectors each counts by how far apart it has the two classes, measured by its spread.

    Parameters
    ----------
    formulation : Formulation
        For the SVM trained on the labels found.
    problem : Problem
    n_components : int
        Eigenvectors looked at.
    affinity : {"kernel", "nearest_neighbors"}
        Similarities: the kernel matrix, or the sparse graph of neighbours (either of a pair being one of the other's).
    n_neighbors : int
        Neighbours in that graph.
    constrained, outliers, random_state
        See :func:`~convex_tsvm.relaxations.spectral_subspace`.
    """
    began = time.perf_counter()
    V, _ = spectral_subspace(
        _similarity(problem, affinity, n_neighbors),
        problem.y,
        n_components,
        constrained=constrained,
        outliers=outliers,
        random_state=random_state,
    )
    apart = V[problem.y > 0].mean(axis=0) - V[problem.y < 0].mean(axis=0)
    spread = np.maximum(V.std(axis=0), 1e-300)
    return _trained(formulation, problem, (V / spread) @ (apart / spread), began, "converged")


def _similarity(problem: Problem, affinity: str, n_neighbors: int) -> Any:
    if one_of("affinity", affinity, ("kernel", "nearest_neighbors")) == "kernel":
        return problem.gram
    if isinstance(problem.kernel, Precomputed):
        raise ValueError("affinity='nearest_neighbors' needs points, but the kernel is precomputed")
    return neighbor_graph(problem.X, integer("n_neighbors", n_neighbors, least=1, most=problem.n - 1))


def _trained(
    formulation: Formulation, problem: Problem, scores: Array, began: float, status: str, bound: float | None = None
) -> RelaxedSolution:
    """The SVM for the labels that scores give."""
    labels = np.where(problem.y != 0, problem.y, np.where(scores >= 0, 1.0, -1.0))
    step = NativeSolver(problem).solve(svm_of_labels(formulation, problem, labels))
    objective = formulation.objective(problem, step.outputs, step.regularization)
    if bound is not None:
        bound = min(bound, objective)  # they may meet, up to rounding
    return RelaxedSolution(
        formulation=formulation,
        problem=problem,
        step=step,
        objective=objective,
        status=status,
        seconds=time.perf_counter() - began,
        lower_bound=bound,
        relaxed=np.where(problem.y != 0, problem.y, scores),
    )
