"""The concave-convex procedure, for any formulation whose losses split (collobert2006 §2, chapelle2008 §4.1)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..convex_step import StepSolution, StepSolver
from ..formulations import Formulation
from ..losses import PLQ
from ..problem import Array, Problem
from ..solution import Iteration, Solution
from ..validation import finite
from .balance import search_balance
from .inner import make_solver

Callback = Callable[[Iteration], None]


def cccp(
    formulation: Formulation,
    problem: Problem,
    *,
    solver: str | StepSolver = "native",
    start: ArrayLike | Solution | None = None,
    annealing: int | Sequence[float] | None = None,
    tol: float = 1e-3,
    max_iter: int = 100,
    callback: Callback | None = None,
    **options: Any,
) -> Solution:
    """Minimize a formulation by the concave-convex procedure.

    Each step replaces the concave part of every loss by its tangent at the current outputs and solves the convex
    problem that is left (collobert2006 Algorithms 1 and 2, chapelle2008 Algorithms 3 and 4).  The objective never
    rises, and if the concave parts are piecewise linear the tangents stop changing after finitely many steps.

    Parameters
    ----------
    formulation : Formulation
        Convex ones are solved in a single step.
    problem : Problem
        With an exact balance, the c of the linear balance constraint is searched so that the share of positive
        labels comes out (chapelle2008 §4).
    solver : {"native", "cvxpy"} or StepSolver, default "native"
        What solves the convex steps.
    start : array, shape (n,), or Solution, optional
        Outputs f at which the first tangents are taken; by default those of the SVM trained on the labelled points
        alone, under the same constraints.
    annealing : int or sequence of float, optional
        Raise C* in steps: factors on C*, increasing and ending in 1; an int m gives m factors spaced geometrically
        from 1/1000 (chapelle2008 §5.4.4).  None is no annealing, as in collobert2006.
    tol : float, default 1e-3
        Tolerance of the native solver, and change of tangents (relative to the cost) below which a concave part
        that is not piecewise linear counts as unchanged.
    max_iter : int, default 100
        Limit on steps for each factor of the annealing.
    callback : callable, optional
        Called with every :class:`~convex_tsvm.solution.Iteration`.
    **options
        Passed to the solver.

    Returns
    -------
    Solution
        With status "interrupted" if Ctrl-C ended it; it then holds the best point so far.

    Raises
    ------
    ValueError
        If the problem does not fit the formulation, or an argument is not as stated.
    """
    formulation.check(problem)
    scales, tol = annealing_schedule(annealing), finite("tol", tol, above=0)
    if not isinstance(max_iter, (int, np.integer)) or max_iter < 1:
        raise ValueError(f"max_iter={max_iter!r} must be an integer >= 1")
    inner = make_solver(solver, problem, tol=tol, **options)
    if problem.positive_count is not None and formulation.balance == "linear":

        def solve(linear: Problem) -> Solution:
            return cccp(
                formulation,
                linear,
                solver=inner,
                start=start,
                annealing=annealing,
                tol=tol,
                max_iter=max_iter,
                callback=callback,
            )

        return search_balance(solve, problem)
    run = _Run(formulation, problem, inner, callback, slope_tol=0.0 if formulation.has_finitely_many_tangents else tol)
    outputs = _start_outputs(start, problem)
    try:
        if formulation.is_convex:
            run.step(None, problem.cost, 1.0)
            run.lower_bound = run.latest.lower_bound
            return run.solution("converged")
        if outputs is None:
            outputs = run.supervised().outputs
        status = "converged"
        for scale in scales:
            cost = problem.cost.copy()
            cost[problem.unlabeled] *= scale
            status = run.descend(outputs, cost, scale, max_iter)
            outputs = run.latest.outputs
    except KeyboardInterrupt:
        if run.current is None:
            raise
        status = "interrupted"
        warnings.warn("interrupted: the best point so far is returned", stacklevel=2)
    if status == "max_iter":
        warnings.warn(f"CCCP stopped after max_iter={max_iter} steps; its tangents still change", stacklevel=2)
    return run.solution(status)


def annealing_schedule(annealing: int | Sequence[float] | None) -> Array:
    """Factors on C* (see :func:`cccp`)."""
    if annealing is None:
        return np.ones(1)
    if isinstance(annealing, (int, np.integer)) and not isinstance(annealing, bool):
        if annealing >= 1:
            return np.geomspace(1e-3, 1, int(annealing)) if annealing > 1 else np.ones(1)
    else:
        try:
            scales = np.asarray(annealing, dtype=float)
        except (TypeError, ValueError):
            scales = np.zeros(0)
        if scales.ndim == 1 and len(scales) and (scales > 0).all() and (np.diff(scales) > 0).all() and scales[-1] == 1:
            return scales
    raise ValueError(f"annealing={annealing!r} must be None, an integer >= 1, or increasing factors > 0 ending in 1")


def _start_outputs(start: ArrayLike | Solution | None, problem: Problem) -> Array | None:
    if start is None:
        return None
    outputs = np.asarray(start.scores if isinstance(start, Solution) else start, dtype=float)
    if outputs.shape != (problem.n,) or not np.isfinite(outputs).all():
        raise ValueError(f"start has shape {outputs.shape}; it must be {problem.n} finite outputs, one per point")
    return outputs


class _Run:
    """The current point of a run and its history."""

    def __init__(
        self,
        formulation: Formulation,
        problem: Problem,
        inner: StepSolver,
        callback: Callback | None,
        slope_tol: float,
    ) -> None:
        self.formulation, self.problem, self.inner, self.callback = formulation, problem, inner, callback
        self.slope_tol = slope_tol
        self.history: list[Iteration] = []
        self.current: StepSolution | None = None
        self.lower_bound: float | None = None
        self.began = time.perf_counter()

    @property
    def latest(self) -> StepSolution:
        """The current point, once there is one."""
        if self.current is None:
            raise RuntimeError("no step has been solved")
        return self.current

    def supervised(self) -> StepSolution:
        """The SVM on the labelled points, under the same constraints.

        Its dual value is a lower bound of the whole objective if its loss is convex, since what it leaves out, the
        unlabelled points' losses, is at least their minimum.
        """
        supervised, unlabeled = self.formulation.supervised(), self.formulation.unlabeled
        self.current = point = self.inner.solve(supervised.step(self.problem), None)
        if isinstance(unlabeled, PLQ) and supervised.is_convex and point.lower_bound is not None:
            least = unlabeled.minimizers()[0] * float(self.problem.cost[self.problem.unlabeled].sum())
            if np.isfinite(least):
                self.lower_bound = point.lower_bound + least
        return point

    def step(self, outputs: Array | None, cost: Array, scale: float, changed: int = 0) -> Iteration:
        """Solve the convex step with tangents at ``outputs``."""
        step = self.formulation.step(self.problem, outputs, cost)
        self.current = point = self.inner.solve(step, self.current)
        iteration = Iteration(
            objective=self.formulation.objective(self.problem, point.outputs, point.regularization),
            step_objective=self.formulation.objective(self.problem, point.outputs, point.regularization, cost),
            scale=scale,
            primal=point.primal,
            dual=point.dual,
            kkt=point.kkt,
            changed=changed,
            n_inner=point.n_iter,
            seconds=point.seconds,
            solver_seconds=point.solver_seconds,
            outputs=point.outputs,
        )
        self.history.append(iteration)
        if self.callback is not None:
            self.callback(iteration)
        return iteration

    def descend(self, outputs: Array, cost: Array, scale: float, max_iter: int) -> str:
        """Steps at fixed costs until the tangents stop changing."""
        tangents = self.formulation.tangents
        slope, last = tangents(self.problem, outputs, cost), None
        changed = int((slope != 0).sum())
        for _ in range(max_iter):
            iteration = self.step(outputs, cost, scale, changed)
            outputs = iteration.outputs
            previous, slope = slope, tangents(self.problem, outputs, cost)
            changed = int((np.abs(slope - previous) > self.slope_tol * cost).sum())
            if changed == 0:
                return "converged"
            # By the strict inequality (7) of collobert2006 the objective falls while tangents change; when it no
            # longer does, the steps are below the inner solver's accuracy.
            if last is not None and iteration.step_objective >= last - 1e-12 * abs(last):
                return "converged"
            last = iteration.step_objective
        return "max_iter"

    def solution(self, status: str) -> Solution:
        """What has been found."""
        point = self.latest
        if status == "converged" and point.status != "optimal":
            status = "inaccurate"
        return Solution(
            formulation=self.formulation,
            problem=self.problem,
            step=point,
            objective=self.formulation.objective(self.problem, point.outputs, point.regularization),
            status=status,
            history=tuple(self.history),
            seconds=time.perf_counter() - self.began,
            lower_bound=self.lower_bound,
        )
