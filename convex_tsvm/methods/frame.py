"""What all methods share: solving steps, the trace, the best point, Ctrl-C, an exact balance, paths over problems.

A method is a descent and no more: it asks the run for solutions of convex steps and records what it wants kept.
"""

from __future__ import annotations

import copy
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..deadline import TimeIsUp, share_of_time, time_is_up, unlimited, within
from ..formulations import Formulation
from ..instance import ConvexStep, Instance, SmoothPoint, SmoothPrimal, StepSolution, StepSolver, same_points
from ..losses import PLQ
from ..notice import warn
from ..points import LinearPoints
from ..problem import Array, Problem
from ..solution import Iteration, Solution
from ..solvers import SmoothSolver
from ..validation import finite, integer
from .balance import search_balance
from .solvers import make_solver

#: Up to this many points every figure is computed again before a solution is said to have converged.
RECOMPUTED = 256

Callback = Callable[[Iteration], None]

#: What runs record: solved convex steps, or points where descents ended.
Recorded = StepSolution | SmoothPoint


class Method(ABC):
    """How a good point of an instance is found.

    Attributes
    ----------
    name : str
        What messages call it.
    keeps_number : bool
        Whether it keeps a prescribed number of positive labels itself.  For other methods it is reached by a search
        for the mean output that brings it (chapelle2008 §4).
    best : bool
        Whether the result is the best point of the whole path, by the objective at the full costs, or the last one.
    scales : array
        Factors on C* that it goes through, the last of them 1; other methods have no others.
    """

    name: str
    keeps_number = False
    best = False
    scales: Array = np.ones(1)

    @abstractmethod
    def descend(self, run: Run) -> str:
        """Solve steps and record them; the status, "converged" or "max_iter"."""

    def suited(self, instance: Instance) -> Method:
        """The method as it is on an instance: itself, unless the losses make it another."""
        return self

    def nearby(self) -> Method:
        """The method as it goes on from the solution of nearly the same instance: at the full costs only."""
        found = copy.copy(self)
        found.scales = np.ones(1)
        return found

    def share(self, first: float, stage: float) -> float:
        """About how much of the work is done when the stage, which began with ``first``, is this; 0 if unknown."""
        return 0.0


@dataclass(frozen=True)
class Settings:
    """What users set, whatever the method: tolerance, limit on steps of a stage, callback, limit on seconds."""

    tol: float
    max_iter: int
    callback: Callback | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        finite("tol", self.tol, above=0)
        integer("max_iter", self.max_iter, least=1)


#: What a solution's status is if its method did not come to its end.
STOPPED = ("interrupted", "time_limit")


def unless_interrupted(solutions: Sequence[Solution]) -> Sequence[Solution]:
    """The same solutions, for work that they are only a part of: Ctrl-C in one of them is Ctrl-C in all of it.

    Parameters
    ----------
    solutions : sequence of Solution

    Raises
    ------
    KeyboardInterrupt
        If one of them was interrupted.
    """
    if any(solution.status == "interrupted" for solution in solutions):
        raise KeyboardInterrupt
    return solutions


class _Interrupted(Exception):
    """Ctrl-C or a deadline inside an inner solver, which gave the best point it had."""

    def __init__(self, point: Recorded) -> None:
        self.point = point


class Run:
    """One descent on one instance: the solver, the current point, and how it was reached.

    Attributes
    ----------
    instance : Instance
    settings : Settings
    start : array, shape (n,), or None
        Outputs to start from, if there are some.
    near : SmoothPoint or other point, or None
        The point that those are the outputs of, if it is the solution of nearly the same instance.
    current : StepSolution or None
        The last recorded point.
    lower_bound : float or None
        A proven lower bound of the formulation's optimum, where the method comes by one.
    status : str
        How the descent has ended.
    """

    def __init__(
        self,
        instance: Instance,
        inner: StepSolver | SmoothSolver,
        settings: Settings,
        start: Array | None = None,
        known: Sequence[StepSolution] = (),
        near: object = None,
    ) -> None:
        self.near = near
        self.instance, self.settings, self.start, self.known = instance, settings, start, known
        self.inner: Any = inner
        #: Whether vectors of one number a point may be kept for every step: not where there are millions of points.
        self.keeps_vectors = getattr(inner, "keeps_vectors", True)
        self.solved: list[StepSolution] = []
        self.history: list[Iteration] = []
        self.current: Recorded | None = None
        self.lower_bound: float | None = None
        self._labels: Array | None = None
        self._best: tuple[float, Recorded, Array | None] | None = None
        self.status = "converged"
        self.began = time.perf_counter()

    @property
    def latest(self) -> Recorded:
        """The current point, once there is one."""
        if self.current is None:
            raise RuntimeError("no step has been solved")
        return self.current

    def solve(self, step: ConvexStep) -> StepSolution:
        """Solve a step from the solution of the one most like it."""
        candidates = [point for point in (self.current, *self.known) if isinstance(point, StepSolution)]

        def difference(other: StepSolution) -> float:
            slopes = np.abs(step.point_slope - other.step.point_slope).sum()
            return float(slopes + np.abs(step.point_cost - other.step.point_cost).sum())

        if time_is_up():
            raise TimeIsUp
        start = min(candidates, key=difference) if len(candidates) > 1 else next(iter(candidates), None)
        point: StepSolution = self._unless_interrupted(self.inner.solve(step, start)).judged(self.settings.tol)
        if self.keeps_vectors:
            self.solved.append(point)
        return point

    @property
    def improves(self) -> bool:
        """Whether the solver can do less than solve a step."""
        return hasattr(self.inner, "improve")

    def improve(self, step: ConvexStep) -> StepSolution:
        """A point of a step that is better than the current one, or optimal; solved, if the solver knows no less.

        Where the next step depends on this one's point only roughly, more would be thrown away.
        """
        if not self.improves:
            return self.solve(step)
        if time_is_up():
            raise TimeIsUp
        found: StepSolution = self._unless_interrupted(self.inner.improve(step, self.current))
        return found

    @property
    def smooth(self) -> SmoothSolver:
        """The solver of smooth primals, for methods that pose such."""
        if not isinstance(self.inner, SmoothSolver):
            raise ValueError(f"solver={self.inner!r} solves convex steps; this method descends: solver='smooth'")
        return self.inner

    def begin(self, primal: SmoothPrimal) -> Array:
        """Variables to start from: those of a point nearby, those with outputs near the user's, or 0."""
        if isinstance(self.near, SmoothPoint) and self.near.variables.shape == (primal.n_variables,):
            return self.near.variables
        return np.zeros(primal.n_variables) if self.start is None else primal.nearest(self.start)

    def checked(self, point: SmoothPoint) -> SmoothPoint:
        """A point that a descent ended at, judged; one that was interrupted ends the run."""
        judged: SmoothPoint = self._unless_interrupted(point).judged(self.settings.tol)
        return judged

    def _unless_interrupted(self, point: Any) -> Any:
        if point.status in STOPPED:
            raise _Interrupted(point)
        return point

    def envelope(self) -> StepSolution:
        """The convex envelope of the formulation, whose dual value is a lower bound, or the SVM if there is none.

        For a TSVM it is the SVM of the labelled points: where methods begin.  It is no step of theirs.
        """
        return self.begun(self.solve(self.envelope_step()))

    def envelope_step(self) -> ConvexStep:
        """The step that :meth:`envelope` solves."""
        formulation = self.instance.formulation
        below = formulation.envelope() or formulation.supervised()
        if isinstance(below.unlabeled, PLQ) and below.unlabeled.is_constant:
            # Unlabelled points that all pay the same, whatever their output, are left out.
            below = below.supervised()
        return self.instance.replaced(below).step()

    def begun(self, point: StepSolution) -> StepSolution:
        """Begin at the solution of :meth:`envelope_step`, and keep what it bounds."""
        self.current, envelope = point, self.instance.formulation.envelope()
        if envelope is not None and point.lower_bound is not None:
            idle, loss = 0.0, envelope.unlabeled
            if isinstance(loss, PLQ) and loss.is_constant:
                idle = float(loss(0.0))
            self.lower_bound = point.lower_bound + idle * float(
                self.instance.cost[self.instance.problem.unlabeled].sum()
            )
        return point

    def record(
        self,
        point: Recorded,
        *,
        stage: float = 1.0,
        changed: int = 0,
        step_objective: float | None = None,
        labels: Array | None = None,
        objective: float | None = None,
    ) -> None:
        """Make a solved step the current point, and part of the trace (see :class:`~convex_tsvm.Iteration`).

        A method that has computed the objective at the full costs passes it on.
        """
        self.current, self._labels = point, labels
        at_full_cost = step_objective is not None and stage == 1 and labels is None
        if objective is None:
            objective = float(step_objective) if at_full_cost else self.value(point, labels)  # type: ignore[arg-type]
        if self._best is None or self._is_better(objective, point):
            self._best = objective, point, labels
        iteration = Iteration(
            objective=objective,
            step_objective=objective if step_objective is None else step_objective,
            stage=stage,
            changed=changed,
            outputs=point.outputs if self.keeps_vectors else None,
            primal=point.primal,
            dual=point.dual,
            kkt=point.kkt,
            n_inner=point.n_iter,
            seconds=point.seconds,
            solver_seconds=point.solver_seconds,
        )
        self.history.append(iteration)
        if self.settings.callback is not None:
            self.settings.callback(iteration)

    def _is_better(self, objective: float, point: Recorded) -> bool:
        """Whether a point is better than the best; one that is solved counts more than one lower by rounding."""
        least, best, _ = self._best  # type: ignore[misc]
        slack = 1e-9 * abs(least) * ((point.status == "optimal") - (best.status == "optimal"))
        return objective < least + slack or np.isnan(least)

    @property
    def best_objective(self) -> float:
        """The objective of the best point so far, at the full costs."""
        return np.inf if self._best is None else self._best[0]

    @property
    def best_labels(self) -> Array | None:
        """The labels of the best point so far."""
        return None if self._best is None else self._best[2]

    def value(self, point: Recorded, labels: Array | None = None, cost: Array | None = None) -> float:
        """The objective at a point, of its labels where it has some, by default at the problem's costs."""
        if labels is None:
            return self.instance.objective(point.outputs, point.regularization, cost)
        return self.instance.labelled_objective(point.outputs, point.regularization, labels, cost)

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Ctrl-C and deadlines inside end the descent, and the best point that there is by then is kept."""
        try:
            with getattr(self.inner, "threads", nullcontext)():
                yield
        except (_Interrupted, TimeIsUp, KeyboardInterrupt) as stop:
            self.status = "time_limit" if isinstance(stop, TimeIsUp) else "interrupted"
            if isinstance(stop, _Interrupted):
                self.status = stop.point.status
                self._keep_better(stop.point)
            if self.status == "time_limit" and not self.history:
                self._fall_back()
            if self.current is None:
                raise
            warn(f"{self.status}: the best point so far is returned")

    def _fall_back(self) -> None:
        """Take the supervised SVM if it is better, where time was up before the first step was done.

        That is the least that is returned, however long it takes.
        """
        instance = self.instance
        if self.current is not None and instance.formulation.unlabeled is None:
            return  # it is the same problem
        below, inner = instance.replaced(instance.formulation.supervised()), self.inner
        with unlimited():
            if not isinstance(inner, SmoothSolver):
                self._keep_better(inner.solve(below.step(), None))
            elif isinstance(below.formulation.labeled, PLQ):
                name = "finite_newton" if isinstance(instance.problem.X, LinearPoints) else "native"
                own = make_solver(name, instance.problem, self.settings.tol, {})
                self._keep_better(own.solve(below.step(), None))
            else:
                primal = inner.primal(below)
                self._keep_better(inner.descend(primal, np.zeros(primal.n_variables)))

    def _keep_better(self, point: Recorded) -> None:
        """Take the point that an interrupted solver gave, if it is better than the current one."""
        if self.current is None or (self._labels is None and self.value(point) < self.value(self.current)):
            self.current = point

    def _holds(self, point: Recorded) -> bool:
        """Whether figures recomputed with the kernel function itself are those of the solver; of few points only.

        Where there are many, rounding has been measured at some of them.
        """
        if len(point.outputs) > RECOMPUTED:
            return True
        return point.recomputed().judged(self.settings.tol).status == "optimal"

    def solution(self, method: Method) -> Solution:
        """What a method's descent has come to."""
        if self.status == "max_iter":
            warn(f"{method.name} stopped after max_iter={self.settings.max_iter} steps; it has not converged")
        point: Recorded = self.latest
        labels = self._labels
        if method.best and self._best is not None:
            _, point, labels = self._best
        if labels is None and method.keeps_number and self.instance.n_positive is not None:
            labels = self.instance.best_labels(point.outputs)  # Ctrl-C came before the first labels
        status = self.status
        if status == "converged" and not (point.status == "optimal" and self._holds(point)):
            status = "inaccurate"
        return Solution(
            formulation=self.instance.formulation,
            problem=self.instance.problem,
            point=point,
            objective=self.value(point, labels),
            status=status,
            history=tuple(self.history),
            seconds=time.perf_counter() - self.began,
            lower_bound=self.lower_bound,
            given_labels=labels,
        )


def minimize(
    method: Method,
    formulation: Formulation,
    problem: Problem,
    *,
    solver: str | StepSolver,
    start: ArrayLike | Solution | None,
    settings: Settings,
    options: dict[str, Any],
) -> Solution:
    """One problem by one method: what every method's function calls."""
    known = [start.step] if isinstance(start, Solution) and start.has_step else []
    with within(settings.time_limit):
        descents = Descents(method, solver=solver, settings=settings, options=options)
        return descents.solve(formulation, problem, known, _start_outputs(start, problem))[0]


def minimize_path(
    method: Method,
    formulation: Formulation,
    problems: Iterable[Problem],
    *,
    solver: str | StepSolver = "native",
    settings: Settings,
    options: dict[str, Any],
) -> list[Solution]:
    """Problems that resemble each other, by one method (see :func:`~convex_tsvm.cccp_path`)."""
    n = len(problems) if isinstance(problems, Sized) else None
    with within(settings.time_limit):
        return Descents(method, solver=solver, settings=settings, options=options).solve_all(formulation, problems, n)


class Descents:
    """One method on many problems: what the solver keeps, kernel rows above all, serves all that have the same points.

    Parameters
    ----------
    method, solver, settings, options
        As for :func:`minimize`.
    """

    def __init__(
        self, method: Method, *, solver: str | StepSolver, settings: Settings, options: dict[str, Any]
    ) -> None:
        self.method, self.solver, self.settings, self.options = method, solver, settings, options
        self._inner: StepSolver | None = None
        self._last: Problem | None = None

    def solve(
        self,
        formulation: Formulation,
        problem: Problem,
        known: Sequence[StepSolution] = (),
        start: ArrayLike | Solution | None = None,
    ) -> tuple[Solution, list[StepSolution]]:
        """The solution from outputs to start at, shape (n,), and the convex steps solved on the way.

        ``known`` steps have dual variables that may be started from.  A solution to start at is that of nearly the same
        problem, so that the method goes on at the full costs.
        """
        method = self.method
        if isinstance(start, Solution):
            method, known = method.nearby(), [*known, *([start.step] if start.has_step else [])]
        if self._inner is None or self._last is None or not same_points(self._last, problem):
            self._inner = make_solver(self.solver, problem, self.settings.tol, self.options)
        self._last, instance = problem, Instance(formulation, problem)
        outputs, method = _start_outputs(start, problem), method.suited(instance)
        if instance.n_positive is not None and not method.keeps_number:
            return self._searched(method, instance, self._inner, outputs, list(known))
        run = Run(instance, self._inner, self.settings, outputs, known)
        with run.guarded():
            run.status = method.descend(run)
        return run.solution(method), run.solved

    def _searched(
        self, method: Method, instance: Instance, inner: Any, outputs: Array | None, known: list[StepSolution]
    ) -> tuple[Solution, list[StepSolution]]:
        """The same where the balance is searched that brings the number of positive labels asked for."""

        def solve(instance: Instance, near: Solution | None) -> Solution:
            nonlocal known
            start, point, own = (outputs, None, method) if near is None else (near.scores, near.point, method.nearby())
            run = Run(instance, inner, self.settings, start, known, point)
            with run.guarded():
                run.status = own.descend(run)
            known = run.solved
            return run.solution(own)

        found = search_balance(solve, instance)
        return found, known

    def solve_all(
        self,
        formulation: Formulation,
        problems: Iterable[Problem],
        n: int | None = None,
        starts: Sequence[Solution | None] | None = None,
    ) -> list[Solution]:
        """The solutions of problems that resemble each other; an interrupted one is the last.

        Solutions to start at, if there are some, are in the order of the problems.
        If it is said how many there are, each has an equal share of what time is left; otherwise one that takes all of
        the time is the last.
        """
        solutions: list[Solution] = []
        known: list[StepSolution] = []
        for problem in problems:
            if solutions and solutions[-1].problem.n != problem.n:
                before = solutions[-1].problem.n
                raise ValueError(f"problems: {problem!r} has {problem.n} points, those before it {before}")
            if solutions and not np.array_equal(solutions[-1].problem.y, problem.y):
                known = []  # another class: its dual variables are a worse start than none
            with nullcontext() if n is None else share_of_time(n - len(solutions)):
                start = None if starts is None else starts[len(solutions)]
                solution, known = self.solve(formulation, problem, known, start)
            solutions.append(solution)
            if solution.status == "interrupted" or (solution.status == "time_limit" and n is None):
                break
        return solutions


def _start_outputs(start: ArrayLike | Solution | None, problem: Problem) -> Array | None:
    if start is None:
        return None
    outputs = np.asarray(start.scores if isinstance(start, Solution) else start, dtype=float)
    if outputs.shape != (problem.n,) or not np.isfinite(outputs).all():
        raise ValueError(f"start has shape {outputs.shape}; it must be {problem.n} finite outputs, one per point")
    return outputs
