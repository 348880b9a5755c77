"""What all methods share: solving steps, the trace, the best point, Ctrl-C and deadlines.

A method says how to descend and no more: it asks its run to solve convex steps, and to record those that it takes.
"""

from __future__ import annotations

import copy
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from ..deadline import TimeIsUp, time_is_up, unlimited
from ..instance import RECOMPUTED, ConvexStep, Instance, SmoothPoint, SmoothPrimal, StepSolution, StepSolver
from ..losses import PLQ
from ..notice import warn
from ..problem import Array
from ..solution import Iteration, Solution
from ..solvers import SmoothSolver
from ..table import STEP_SOLVERS
from ..validation import one_of
from .settings import Settings, step_solver

#: What runs record: solved convex steps, or points where descents ended.
Recorded = StepSolution | SmoothPoint


class Method(ABC):
    """A way to find a good point of an instance.

    A subclass says in :meth:`descend` which convex steps are solved, one after the other, and which are recorded; a
    :class:`Run` does both.  The trace, the best point, Ctrl-C, limits, an exact balance and the choice of a solver are
    taken care of around it, by :func:`minimize` and by estimators.

    Attributes
    ----------
    name : str
        What messages call it.
    keeps_number : bool
        Whether it keeps a prescribed number of positive labels itself.  For other methods the mean output that brings
        this number is searched for (chapelle2008 §4).
    best : bool
        Whether the result is the best point that was recorded, by the objective at the full costs, as it is unless a
        subclass says otherwise, or the last one.
    scales : array
        Factors on C* that it goes through, the last of them 1.
    solvers : tuple of str
        The solvers whose problems it poses: those of convex steps by default, or ``("smooth",)`` for a descent on the
        smooth primal.
    loss : str
        Name of the loss of unlabelled points that estimators give it where none is asked for.

    Examples
    --------
    CCCP with steps of one and a half times the length, as long as these lower the objective:

    >>> class Overshooting(ct.Method):
    ...     name = "overshooting"
    ...
    ...     def descend(self, run):
    ...         f, value = run.envelope().outputs, np.inf
    ...         for _ in range(run.settings.max_iter):
    ...             point = run.solve(run.instance.step(f))
    ...             if not run.value(point) < value - 1e-9 * abs(value):
    ...                 return "converged"
    ...             run.record(point)
    ...             f, value = f + 1.5 * (point.outputs - f), run.value(point)
    ...         return "max_iter"
    >>> ct.minimize(Overshooting(), ct.cccp_tsvm(), problem).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """

    name: str = "the method"
    solvers: tuple[str, ...] = STEP_SOLVERS
    loss: str = "ramp"
    keeps_number = False
    best = True
    scales: Array = np.ones(1)

    @abstractmethod
    def descend(self, run: Run) -> str:
        """Solve steps by a run, which knows the instance, and record them; "converged", "max_iter" or "inaccurate"."""

    def suited(self, instance: Instance) -> Method:
        """The method to use on an instance: this one, unless its losses ask for a variant."""
        return self

    def nearby(self) -> Method:
        """A copy that goes on from the solution of nearly the same instance, and so works at the full costs only."""
        found = copy.copy(self)
        found.scales = np.ones(1)
        return found

    def from_guess(self) -> Method:
        """The method as it begins at a guess of labels: at small costs of the points nothing would keep the guess."""
        return self.nearby() if len(self.scales) > 1 else self

    def share(self, first: float, stage: float) -> float:
        """About which share of the work is done, by the schedule's parameter at first and now; 0 if unknown."""
        return 0.0


#: The statuses of a solution whose method was stopped before its end.
STOPPED = ("interrupted", "time_limit")


def unless_interrupted(solutions: Sequence[Solution]) -> Sequence[Solution]:
    """The same solutions; KeyboardInterrupt if one of them was interrupted, so that the work they are part of ends."""
    if any(solution.status == "interrupted" for solution in solutions):
        raise KeyboardInterrupt
    return solutions


class Interrupted(Exception):
    """Raised where Ctrl-C or a deadline has ended an inner solver, with the point that the solver had reached."""

    def __init__(self, point: Recorded) -> None:
        self.point = point


class Run:
    """One descent on one instance: the solver, the current point, and how it was reached.

    A :class:`Method` is handed one.  It asks for solutions of convex steps (:meth:`solve`, :meth:`envelope`), for
    objectives (:meth:`value`), and has points recorded (:meth:`record`).

    Attributes
    ----------
    instance : Instance
        The formulation on the problem, which makes convex steps.
    start : array, shape (n,), or None
        Outputs to start from.
    current : StepSolution, SmoothPoint or None
        The point of the last recorded step, or that of the envelope before there is one.
    lower_bound : float or None
        A proven lower bound of the formulation's optimum, where the method finds one.
    status : str
        How the descent has ended.

    Examples
    --------
    >>> class Supervised(ct.Method):
    ...     name = "the SVM of the labelled points"
    ...
    ...     def descend(self, run):
    ...         run.record(run.envelope())
    ...         return "converged"
    >>> len(ct.minimize(Supervised(), ct.cccp_tsvm(), problem).history)
    1
    """

    def __init__(
        self,
        instance: Instance,
        inner: StepSolver | SmoothSolver,
        settings: Settings,
        start: Array | None = None,
        known: Sequence[StepSolution] = (),
    ) -> None:
        self.instance, self.settings, self.start, self.known = instance, settings, start, known
        self.inner: Any = inner
        #: Whether the trace may keep a vector of n numbers for every step; solvers for millions of points say no.
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
        """The current point; a RuntimeError if there is none yet."""
        if self.current is None:
            raise RuntimeError("no step has been solved")
        return self.current

    def solve(self, step: ConvexStep) -> StepSolution:
        """Solve a step, such as ``run.instance.step(outputs)``, from the solution of the one most like it."""
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

    @contextmanager
    def tolerance(self, tol: float) -> Iterator[None]:
        """A context in which the solver has another tolerance, if it has one at all."""
        before = getattr(self.inner, "tol", None)
        if before is None or before == tol:
            yield
            return
        self.inner.tol = tol
        try:
            yield
        finally:
            self.inner.tol = before

    @property
    def improves(self) -> bool:
        """Whether the solver can improve a point of a step without solving the step."""
        return hasattr(self.inner, "improve")

    def improve(self, step: ConvexStep) -> StepSolution:
        """A point of a step that is better than the current one, or optimal.

        If the solver cannot improve, the step is solved.  This is for methods whose next step depends on the point only
        roughly, so that it need not be solved.
        """
        if not self.improves:
            return self.solve(step)
        if time_is_up():
            raise TimeIsUp
        found: StepSolution = self._unless_interrupted(self.inner.improve(step, self.current))
        return found

    @property
    def smooth(self) -> SmoothSolver:
        """The solver of smooth primals, for methods that descend on these; a ValueError if the solver is another."""
        if not isinstance(self.inner, SmoothSolver):
            raise ValueError(f"solver={self.inner!r} solves convex steps; this method takes solver='smooth'")
        return self.inner

    def begin(self, primal: SmoothPrimal) -> Array:
        """Variables to start from, shape (n_variables,): those with outputs near the run's start, or 0."""
        return np.zeros(primal.n_variables) if self.start is None else primal.nearest(self.start)

    def checked(self, point: SmoothPoint) -> SmoothPoint:
        """The point where a descent ended, with its status by the tolerance; if it was interrupted, the run ends."""
        judged: SmoothPoint = self._unless_interrupted(point).judged(self.settings.tol)
        return judged

    def _unless_interrupted(self, point: Any) -> Any:
        if point.status in STOPPED:
            raise Interrupted(point)
        return point

    def envelope(self) -> StepSolution:
        """The solution of the convex envelope of the formulation, where methods begin, or of the SVM if there is none.

        Its dual value is a lower bound.  For a TSVM it is the SVM of the labelled points.  It is no step of the trace.
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
        """Begin at the solution of :meth:`envelope_step`, and keep its lower bound if it is that of an envelope."""
        self.current, envelope = point, self.instance.formulation.envelope()
        if envelope is not None and point.lower_bound is not None:
            idle, loss = 0.0, envelope.unlabeled
            if isinstance(loss, PLQ) and loss.is_constant:
                idle = float(loss(0.0))
            self.lower_bound = point.lower_bound + idle * float(self.instance.cost[self.instance.ungrouped].sum())
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
        """Make a solved step the current point, and part of the trace (see :class:`~convex_tsvm.solution.Iteration`).

        Parameters
        ----------
        stage : float, default 1.0
            The parameter of the method's schedule.
        changed : int, default 0
            Number of points whose part in the step had changed before it.
        step_objective : float, optional
            What the method lowers at this stage; the objective by default.
        labels : array, shape (n,), optional
            The labels that points pay for, where the method has some.
        objective : float, optional
            At the full costs; computed here if the method has not done so.
        """
        self.current, self._labels = point, labels
        at_full_cost = step_objective is not None and stage == 1 and labels is None
        if objective is None:
            objective = float(step_objective) if at_full_cost else self.value(point, labels)  # type: ignore[arg-type]
        least, best = (np.nan, point) if self._best is None else self._best[:2]
        # A point that is solved is better than one that is not, and lower by no more than rounding.
        slack = 1e-9 * abs(least) * ((point.status == "optimal") - (best.status == "optimal"))
        if np.isnan(least) or objective < least + slack:
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

    @property
    def best_objective(self) -> float:
        """The objective of the best point so far, at the full costs; infinite before there is one."""
        return np.inf if self._best is None else self._best[0]

    @property
    def best_labels(self) -> Array | None:
        """The labels of the best point so far, if the method gives it labels."""
        return None if self._best is None else self._best[2]

    def value(self, point: Recorded, labels: Array | None = None, cost: Array | None = None) -> float:
        """The objective at a point.

        ``labels``, shape (n,), are those that points pay for; without them every unlabelled point pays the loss of the
        formulation.  ``cost``, shape (n,), is that of the problem by default.
        """
        if labels is None:
            return self.instance.objective(point.outputs, point.regularization, cost)
        return self.instance.labelled_objective(point.outputs, point.regularization, labels, cost)

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """A context in which Ctrl-C and deadlines end the descent, with a warning, and the best point so far is kept.

        Ctrl-C is raised again if there is no point yet.
        """
        try:
            with getattr(self.inner, "threads", nullcontext)():
                yield
        except (Interrupted, TimeIsUp, KeyboardInterrupt) as stop:
            self.status = "time_limit" if isinstance(stop, TimeIsUp) else "interrupted"
            if isinstance(stop, Interrupted):
                self.status = stop.point.status
                self._keep_better(stop.point)
            if self.status == "time_limit" and not self.history:
                self.fall_back()
            if self.current is None:
                raise
            warn(f"{self.status}: the best point so far is returned")

    def fall_back(self) -> None:
        """Take the supervised SVM if it is better than the current point; for a time limit before the first step's end.

        It is solved however long that takes, so that a point as good as the SVM is returned in any case.
        """
        instance = self.instance
        if self.current is not None and instance.formulation.unlabeled is None:
            return  # the supervised SVM is the same problem
        below, inner = instance.replaced(instance.formulation.supervised()), self.inner
        with unlimited():
            if not isinstance(inner, SmoothSolver) or isinstance(below.formulation.labeled, PLQ):
                own = step_solver(inner, below, self.settings.tol)
                self._keep_better(own.solve(below.step(), None))
            else:
                primal = inner.primal(below)
                self._keep_better(inner.descend(primal, np.zeros(primal.n_variables)))

    def _keep_better(self, point: Recorded) -> None:
        """Take the point that an interrupted solver gave, if it is better than the current one."""
        if self.current is None or (self._labels is None and self.value(point) < self.value(self.current)):
            self.current = point

    def _holds(self, point: Recorded) -> bool:
        """Whether the point is optimal, and its objective the same, by figures of the kernel function itself.

        That is done for few points only; where there are many, the solver has measured rounding at some of them.
        """
        if len(point.outputs) > RECOMPUTED or getattr(point, "is_recomputed", False):
            return True
        again, objective = point.recomputed().judged(self.settings.tol), self.value(point)
        room = self.settings.tol * max(min(1.0, float(self.instance.cost.sum())), abs(objective))
        return again.status == "optimal" and abs(self.value(again) - objective) <= room

    def solution(self, method: Method) -> Solution:
        """The solution of a method's descent: the best point or the last one, as the method has it."""
        one_of(f"{type(method).__name__}.descend(run)", self.status, ("converged", "max_iter", "inaccurate", *STOPPED))
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
            if isinstance(point, SmoothPoint):  # solvers of convex steps have said so
                warn(
                    f"{method.name} ended where the objective can still fall: its gap, {point.gap:.2g}, is above "
                    f"tol={self.settings.tol:g}; cccp may end lower"
                )
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
            solver=getattr(self.inner, "name", type(self.inner).__name__),
        )
