"""The concave-convex procedure, for any formulation whose losses split (collobert2006 §2, chapelle2008 §4.1)."""

import warnings
from collections.abc import Iterable, Sequence, Sized
from typing import Any

import numpy as np

from ..deadline import unlimited, within
from ..formulations import Formulation, svm
from ..instance import StepSolution, StepSolver
from ..problem import Array, Problem
from ..solution import Solution
from .descents import Descents, function_of
from .run import Method, Run, unless_interrupted
from .settings import Callback, Settings, annealing_schedule


class CCCP(Method):
    """Minimize a formulation by the concave-convex procedure.

    Each step replaces the concave part of every loss by its tangent at the current outputs and solves the convex
    problem that is left (collobert2006 Algorithms 1 and 2, chapelle2008 Algorithms 3 and 4).  The objective never
    rises, and if the concave parts are piecewise linear the tangents stop changing after finitely many steps.  Ctrl-C
    and ``time_limit`` leave the best point so far, with the status "interrupted" or "time_limit".

    Parameters
    ----------
    formulation : Formulation
        Convex ones are solved in a single step.
    problem : Problem
        With an exact balance, the c of the linear balance constraint is searched so that the share of positive
        labels comes out (chapelle2008 §4).
    solver : {"auto", "linear", "native", "finite_newton", "coordinates", "cvxpy"} or StepSolver, default "auto"
        What solves the convex steps; "auto" is the first of these that takes the losses, the regularizer and the
        options, and ``solution.solver`` says which it was.
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
    time_limit : float > 0, optional
        Seconds after which the best point so far is returned, with a warning and status "time_limit"; if not even the
        first step is done by then, the supervised SVM, however long that takes.
    **options
        Passed to the solver.

    Examples
    --------
    >>> solution = ct.cccp(ct.cccp_tsvm(s=-0.3), problem)
    >>> solution.labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    >>> objectives = [step.objective for step in solution.history]
    >>> objectives == sorted(objectives, reverse=True)
    True
    """

    name, best = "CCCP", False  # the last point, as in the paper

    def __init__(self, annealing: int | Sequence[float] | None = None) -> None:
        self.scales = annealing_schedule(annealing)

    def descend(self, run: Run) -> str:
        """Steps for every factor of the annealing, from the tangents at the start; one step if all is convex."""
        if run.instance.formulation.is_convex:
            point = run.solve(run.instance.step())
            run.record(point)
            run.lower_bound = point.lower_bound
            return "converged"
        outputs = run.begun(run.solve(run.envelope_step())).outputs if run.start is None else run.start
        status = "converged"
        for scale in self.scales:
            stage = _Stage(run, outputs, float(scale))
            for _ in range(run.settings.max_iter):
                stage.take(run.solve(stage.step))
                if stage.ended:
                    break
            status, outputs = "converged" if stage.ended else "max_iter", stage.outputs
        return status


class _Stage:
    """Steps at fixed costs until the tangents stop changing, or steps no longer lower the objective: ``ended``.

    ``step`` is the next one, and ``outputs``, shape (n,), are those of the last one that was recorded.
    """

    #: So many steps in a row that do not lower the objective end it.
    most_stalled = 3

    def __init__(self, run: Run, outputs: Array, scale: float) -> None:
        self._run, self._scale, self.outputs, self.ended = run, scale, outputs, False
        instance, self._cost = run.instance, run.instance.scaled_cost(scale)
        self._slope_tol = 0.0 if instance.formulation.has_finitely_many_tangents else run.settings.tol
        self._convex = instance.step(None, self._cost)
        self._slope, self._before = instance.tangents(outputs, self._cost), np.inf
        self._changed, self._stalled, self._gap = int((self._slope != 0).sum()), 0, 0.0
        self.step = self._convex.replace(slope=self._slope)

    def take(self, point: StepSolution) -> None:
        """Record a step that is solved, if it is better, and make the next one of its tangents."""
        run, before = self._run, self._before
        # By the strict inequality (7) of collobert2006 the objective falls while tangents change; where it does
        # not, the step is below the inner solver's accuracy, and a few more may get over that.
        now = run.value(point, cost=self._cost)
        falls = before == np.inf or now < before - 1e-12 * abs(before)
        previous, self._slope = self._slope, run.instance.tangents(point.outputs, self._cost)
        # What additions subtract has no cost that a slope is a share of.
        room = self._cost + np.abs(previous) if run.instance.formulation.subtracts else self._cost
        still = int((np.abs(self._slope - previous) > self._slope_tol * room).sum())
        # A point whose tangents are its own is preferred to one that is lower by less than accuracy allows to tell.
        gap = float(np.fmax(point.primal - point.dual, 0.0))  # the dual of additions is NaN
        doubt = max(gap + self._gap, 1e-12 * abs(before))
        if falls or (still == 0 and now - before <= doubt):
            run.record(point, stage=self._scale, changed=self._changed, step_objective=now)
            self.outputs = point.outputs
        self._stalled = 0 if falls else self._stalled + 1
        self.ended = still == 0 or self._stalled == self.most_stalled
        self._changed, self._before, self._gap = still, min(now, before), gap
        self.step = self._convex.replace(slope=self._slope)


cccp = function_of(CCCP)


def cccp_path(
    formulation: Formulation,
    problems: Iterable[Problem],
    *,
    solver: str | StepSolver = "auto",
    annealing: int | Sequence[float] | None = None,
    tol: float = 1e-3,
    max_iter: int = 100,
    callback: Callback | None = None,
    time_limit: float | None = None,
    **options: Any,
) -> list[Solution]:
    """Minimize a formulation on problems that resemble each other: a path over C or C*, neighbouring σ, classes.

    The solutions are those of :func:`cccp` on each problem, to the tolerance; but every convex step starts at the dual
    variables of the step most like it, of this problem or of the one before (if that has the same labels), and kernel
    rows are kept from problem to problem as long as points and kernel are the same.  Ctrl-C ends the list with the best
    point of the problem it came in, so marked.

    Parameters
    ----------
    problems : iterable of Problem
        With equally many points, such as ``(problem.replace(C=C) for C in [0.1, 1, 10])``; taken one at a time.
    solver : {"auto", "linear", "native", "finite_newton", "coordinates", "cvxpy"} or StepSolver, default "auto"
        An object must be able to solve steps of all the problems.
    annealing, tol, max_iter, callback, **options
        As in :func:`cccp`.
    time_limit : float > 0, optional
        Seconds for all problems together.  Those of a list share what is left; of others, such as a generator's, whose
        number is not known, the one that takes all of the time is the last.

    Examples
    --------
    >>> solutions = ct.methods.cccp_path(ct.cccp_tsvm(), (problem.replace(C=C) for C in (1, 10, 100)))
    >>> [solution.status for solution in solutions]
    ['converged', 'converged', 'converged']
    """
    settings, n = Settings(tol, max_iter, callback, time_limit), len(problems) if isinstance(problems, Sized) else None
    with within(settings.time_limit):
        descents = Descents(CCCP(annealing), solver=solver, settings=settings, options=options)
        return descents.solve_all(formulation, problems, n)


def supervised_svms(formulation: Formulation, problems: Iterable[Problem]) -> list[Solution]:
    """The SVMs of one or more problems with the same points, with the labelled loss of a formulation and no balance.

    Deadlines do not end them.  Ctrl-C raises KeyboardInterrupt, as a comparison with unfinished SVMs would be wrong.
    """
    given = [problem.replace(balance=None, balance_sample=None) for problem in problems]
    # No deadline ends this: callers cannot do without the supervised SVM.
    with warnings.catch_warnings(action="ignore"), unlimited():
        found = cccp_path(svm(formulation.labeled, fit_intercept=formulation.fit_intercept), given)
    return list(unless_interrupted(found))
