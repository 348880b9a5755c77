"""Labels from the SDP relaxation (debie2004 §2)."""

from __future__ import annotations

import time

from ..deadline import time_is_up
from ..formulations import Formulation
from ..problem import Problem
from ..relaxations import LowerBoundBuilder, Relaxation
from .trained import RelaxedSolution, trained_on_labels


def sdp_transduction(
    formulation: Formulation,
    problem: Problem,
    *,
    relaxation: str | type[Relaxation] = "sdp",
    solver: str = "auto",
    tol: float = 1e-4,
) -> RelaxedSolution:
    """Labels from the SDP relaxation (debie2004 §2), with a proven lower bound of the optimum.

    Parameters
    ----------
    formulation : Formulation
        With the loss min(ℓ(f), ℓ(-f)) for unlabelled points.
    relaxation, solver, tol
        See :class:`~convex_tsvm.LowerBoundBuilder`.

    Returns
    -------
    RelaxedSolution
        Status "inaccurate" if the relaxation was not solved to ``tol``; its bound holds all the same.

    Examples
    --------
    >>> solution = ct.sdp_transduction(ct.s3vm(), problem)
    >>> solution.labels, bool(solution.lower_bound <= solution.objective)
    (array([-1., -1., -1.,  1.,  1.,  1.]), True)
    """
    began = time.perf_counter()
    bound = LowerBoundBuilder(formulation, problem, relaxation=relaxation, solver=solver, tol=tol).bound()
    status = "converged" if bound.status == "optimal" else bound.status
    if status in ("inaccurate", "failed") and time_is_up():
        status = "time_limit"
    return trained_on_labels(formulation, problem, bound.scores, began, status, bound.value)
