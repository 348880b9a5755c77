"""The concave-convex procedure, for any formulation whose losses split (collobert2006 §2, chapelle2008 §4.1)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..convex_step import ConvexStep, StepSolution, StepSolver, same_points
from ..formulations import Formulation
from ..losses import PLQ
from ..problem import Array, Problem
from ..solution import Iteration, Solution
from ..validation import finite, integer
from .balance import search_balance
from .inner import make_solver

Callback = Callable[[Iteration], None]

#: Steps in a row that do not lower the objective, after which it is said to have converged.
STALLS = 3


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
        Outputs f at which the first tangents are taken; by default those of the formulation with the convex envelope
        of the unlabelled points' loss (:meth:`Formulation.envelope`), which for a TSVM is the SVM trained on the
        labelled points alone, under the same constraints.  A solution also gives the dual variables to start from; it
        may be of another kernel or other costs.
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
    descent = Descent(formulation, annealing=annealing, tol=tol, max_iter=max_iter, callback=callback)
    formulation.check(problem)
    inner = make_solver(solver, problem, tol=descent.tol, **options)
    known = [start.step] if isinstance(start, Solution) else []
    return descent.minimize(problem, inner, _start_outputs(start, problem), known)[0]


def cccp_path(
    formulation: Formulation,
    problems: Iterable[Problem],
    *,
    solver: str | StepSolver = "native",
    annealing: int | Sequence[float] | None = None,
    tol: float = 1e-3,
    max_iter: int = 100,
    callback: Callback | None = None,
    **options: Any,
) -> list[Solution]:
    """Minimize a formulation on problems that resemble each other: a path over C or C*, neighbouring σ, classes.

    The solutions are those of :func:`cccp` on each problem, to the tolerance; but every convex step starts at the
    dual variables of the step most like it, of this problem or of the one before (if that has the same labels), and
    kernel rows are kept from problem to problem as long as points and kernel are the same.

    Parameters
    ----------
    formulation : Formulation
    problems : iterable of Problem
        With equally many points, such as ``(problem.replace(C=C) for C in [0.1, 1, 10])``; taken one at a time.
    solver : {"native", "cvxpy"} or StepSolver, default "native"
        An object must be able to solve steps of all the problems.
    annealing, tol, max_iter, callback, **options
        As in :func:`cccp`.

    Returns
    -------
    list of Solution
        One for each problem; Ctrl-C ends it with the best point of the problem it came in, so marked.

    Raises
    ------
    ValueError
        If a problem does not fit the formulation, or an argument is not as stated.
    """
    descent = Descent(formulation, annealing=annealing, tol=tol, max_iter=max_iter, callback=callback)
    solutions: list[Solution] = []
    known: list[StepSolution] = []
    inner: StepSolver | None = None
    for problem in problems:
        formulation.check(problem)
        if solutions and solutions[-1].problem.n != problem.n:
            raise ValueError(f"problems: {problem!r} has {problem.n} points, those before it {solutions[-1].problem.n}")
        if solutions and not np.array_equal(solutions[-1].problem.y, problem.y):
            known = []  # another class: its dual variables are a worse start than none
        if inner is None or not same_points(solutions[-1].problem, problem):
            inner = make_solver(solver, problem, tol=descent.tol, **options)
        solution, known = descent.minimize(problem, inner, None, known)
        solutions.append(solution)
        if solution.status == "interrupted":
            break
    return solutions


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


class Descent:
    """The procedure with its settings (see :func:`cccp`), for any number of problems."""

    def __init__(
        self,
        formulation: Formulation,
        *,
        annealing: int | Sequence[float] | None,
        tol: float,
        max_iter: int,
        callback: Callback | None,
    ) -> None:
        self.formulation, self.callback = formulation, callback
        self.scales, self.tol = annealing_schedule(annealing), finite("tol", tol, above=0)
        self.max_iter = integer("max_iter", max_iter, least=1)
        self.slope_tol = 0.0 if formulation.has_finitely_many_tangents else self.tol
        # Where to begin: unlabelled points that all pay the same, whatever their output, are left out.
        envelope, self.idle = formulation.envelope(), 0.0
        self.below, self.bounds = envelope or formulation.supervised(), envelope is not None
        if isinstance(self.below.unlabeled, PLQ) and self.below.unlabeled.is_constant:
            self.idle, self.below = float(self.below.unlabeled(0.0)), self.below.supervised()

    def minimize(
        self, problem: Problem, inner: StepSolver, outputs: Array | None, known: Sequence[StepSolution]
    ) -> tuple[Solution, list[StepSolution]]:
        """The solution, and the steps solved on the way, which the next problem may start from."""

        def solve(problem: Problem) -> Solution:
            nonlocal known
            run = _Run(self, problem, inner, known)
            solution, known = run.minimize(outputs), run.solved
            return solution

        exact = problem.positive_count is not None and self.formulation.balance == "linear"
        solution = search_balance(solve, problem) if exact else solve(problem)
        return solution, list(known)


class _Interrupted(Exception):
    """Ctrl-C inside an inner solver, which gave the best point it had."""

    def __init__(self, point: StepSolution) -> None:
        self.point = point


class _Run:
    """One descent: the current point, and how it was reached."""

    def __init__(
        self, descent: Descent, problem: Problem, inner: StepSolver, known: Sequence[StepSolution] = ()
    ) -> None:
        self.formulation, self.descent, self.problem, self.inner = descent.formulation, descent, problem, inner
        self.known = known
        self.solved: list[StepSolution] = []
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

    def minimize(self, outputs: Array | None) -> Solution:
        """Steps for every factor of the annealing, from the tangents at ``outputs``."""
        status = "converged"
        try:
            if self.formulation.is_convex:
                step = self.formulation.step(self.problem)
                self.record(self.solve(step), 1.0, 0)
                self.lower_bound = self.latest.lower_bound
                return self.solution(status)
            if outputs is None:
                outputs = self.below().outputs
            for scale in self.descent.scales:
                status = self.descend(outputs, float(scale))
                outputs = self.latest.outputs
        except (_Interrupted, KeyboardInterrupt) as stop:
            if isinstance(stop, _Interrupted) and (self.current is None or self.value(stop.point) < self.value()):
                self.current = stop.point
            if self.current is None:
                raise
            status = "interrupted"
            warnings.warn("interrupted: the best point so far is returned", stacklevel=5)
        if status == "max_iter":
            warnings.warn(
                f"CCCP stopped after max_iter={self.descent.max_iter} steps; its tangents still change", stacklevel=5
            )
        return self.solution(status)

    def below(self) -> StepSolution:
        """The convex envelope of the formulation, whose dual value is a lower bound, or the SVM if there is none."""
        self.current = point = self.solve(self.descent.below.step(self.problem))
        if self.descent.bounds and point.lower_bound is not None:
            cost = float(self.problem.cost[self.problem.unlabeled].sum())
            self.lower_bound = point.lower_bound + self.descent.idle * cost
        return point

    def descend(self, outputs: Array, scale: float) -> str:
        """Steps at fixed costs until the tangents stop changing."""
        formulation, problem = self.formulation, self.problem
        cost = problem.cost.copy()
        cost[problem.unlabeled] *= scale
        convex = formulation.step(problem, None, cost)
        slope, before = formulation.tangents(problem, outputs, cost), np.inf
        changed, stalled = int((slope != 0).sum()), 0
        for _ in range(self.descent.max_iter):
            point = self.solve(convex.replace(slope=slope))
            # By the strict inequality (7) of collobert2006 the objective falls while tangents change; where it does
            # not, the step is below the inner solver's accuracy, and a few more may get over that.
            now = self.value(point, cost)
            falls = before == np.inf or now < before - 1e-12 * abs(before)
            previous, slope = slope, formulation.tangents(problem, point.outputs, cost)
            still = int((np.abs(slope - previous) > self.descent.slope_tol * cost).sum())
            # A point that is tangent to the objective is preferred to one that is lower by less than can be told.
            if falls or (still == 0 and now - before <= point.primal - point.dual):
                self.record(point, scale, changed, now)
            stalled = 0 if falls else stalled + 1
            if still == 0 or stalled == STALLS:
                return "converged"
            changed, before = still, min(now, before)
        return "max_iter"

    def solve(self, step: ConvexStep) -> StepSolution:
        """Solve a step from the solution of the one most like it."""
        candidates = [*([self.current] if self.current is not None else []), *self.known]

        def difference(other: StepSolution) -> float:
            return float(np.abs(step.slope - other.step.slope).sum() + np.abs(step.cost - other.step.cost).sum())

        start = min(candidates, key=difference) if len(candidates) > 1 else self.current or next(iter(candidates), None)
        point = self.inner.solve(step, start)
        if point.status == "interrupted":
            raise _Interrupted(point)
        self.solved.append(point)
        return point

    def record(self, point: StepSolution, scale: float, changed: int, step_objective: float | None = None) -> None:
        """Make a solved step the current point."""
        self.current = point
        objective = self.value() if scale != 1 or step_objective is None else step_objective
        iteration = Iteration(
            objective=objective,
            step_objective=objective if step_objective is None else step_objective,
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
        if self.descent.callback is not None:
            self.descent.callback(iteration)

    def value(self, point: StepSolution | None = None, cost: Array | None = None) -> float:
        """The objective at a point, by default the current one and the problem's costs."""
        point = self.latest if point is None else point
        return self.formulation.objective(self.problem, point.outputs, point.regularization, cost)

    def solution(self, status: str) -> Solution:
        """What has been found."""
        point = self.latest
        if status == "converged" and point.status != "optimal":
            status = "inaccurate"
        return Solution(
            formulation=self.formulation,
            problem=self.problem,
            step=point,
            objective=self.value(),
            status=status,
            history=tuple(self.history),
            seconds=time.perf_counter() - self.began,
            lower_bound=self.lower_bound,
        )
