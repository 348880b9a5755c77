"""One method on one problem or on many that resemble each other, with one solver for those with the same points."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..deadline import share_of_time, within
from ..formulations import Formulation
from ..instance import Instance, StepSolution, StepSolver, certify, first_guess, has_mirror_image, same_points
from ..problem import Array, Problem
from ..solution import Solution
from ..table import DESCENTS, METHODS, SMOOTH_SOLVERS, SOLVERS
from .balance import search_balance
from .run import Method, Recorded, Run
from .settings import Callback, Settings, make_solver, solver_of, step_solver


def minimize(
    method: str | Method,
    formulation: Formulation,
    problem: Problem,
    *,
    solver: str | StepSolver = "auto",
    start: ArrayLike | Solution | None = None,
    settings: Settings | None = None,
    options: Mapping[str, Any] | None = None,
    offered: Mapping[str, Any] | None = None,
) -> Solution:
    """Solve one problem by one method; the function of every method calls this.

    Parameters
    ----------
    method : str or Method
        A descent of ``ct.table.METHODS`` by its name, with the options that it has by default (``load()`` of its entry
        is the class, which takes others), or a method of one's own.
    solver : str or StepSolver, default "auto"
        What solves the problems that the method poses; "auto" is the first solver that takes the formulation.
    start : array, shape (n,), or Solution, optional
        Outputs to start from, or the solution of nearly the same problem.
    settings : Settings, optional
        Tolerance, limits and callback.
    options : mapping of str to object, optional
        Of the solver, which has to take them.
    offered : mapping of str to object, optional
        Options that the solver is given if it takes them.

    Examples
    --------
    >>> ct.minimize("cccp", ct.cccp_tsvm(), problem).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    settings = Settings() if settings is None else settings
    known = [start.step] if isinstance(start, Solution) and start.has_step else []
    with within(settings.time_limit):
        descents = Descents(method, solver=solver, settings=settings, options=options or {}, offered=offered)
        return descents.solve(formulation, problem, known, _start_outputs(start, problem))[0]


class Minimizes(Protocol):
    """The function of a method; ``options`` are those of the method and of its solver."""

    def __call__(
        self,
        formulation: Formulation,
        problem: Problem,
        *,
        solver: str | StepSolver = "auto",
        start: ArrayLike | Solution | None = None,
        tol: float = 1e-3,
        max_iter: int = ...,
        callback: Callback | None = None,
        time_limit: float | None = None,
        **options: Any,
    ) -> Solution: ...


def function_of(made: type[Method], max_iter: int = 100) -> Minimizes:
    """The function that minimizes by a method: it has the method's name, docstring, and options among its own."""
    own = inspect.signature(made).parameters

    def function(
        formulation: Formulation,
        problem: Problem,
        *,
        solver: str | StepSolver = "auto",
        start: ArrayLike | Solution | None = None,
        tol: float = 1e-3,
        max_iter: int = max_iter,
        callback: Callback | None = None,
        time_limit: float | None = None,
        **options: Any,
    ) -> Solution:
        method = made(**{name: options.pop(name) for name in own if name in options})
        settings = Settings(tol, max_iter, callback, time_limit)
        # A descent on the smooth primal has its steps inside the solver.
        offered = {"max_iter": max_iter} if made.solvers == SMOOTH_SOLVERS else {}
        given = {"solver": solver, "start": start, "settings": settings, "options": options, "offered": offered}
        return minimize(method, formulation, problem, **given)  # type: ignore[arg-type]

    signature = inspect.signature(function)
    first, last = list(signature.parameters.values())[:4], list(signature.parameters.values())[4:]
    options = [one.replace(kind=one.KEYWORD_ONLY) for one in own.values()]
    function.__signature__ = signature.replace(parameters=[*first, *options, *last])  # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = made.name.lower()
    function.__module__, function.__doc__ = made.__module__, made.__doc__
    return function


def asked(
    method: Any, given: Mapping[str, Any] | None = None, defaults: Mapping[str, Mapping[str, Any]] | None = None
) -> Method:
    """A method, or the descent of a name with these options, else with its ``defaults``; a ValueError if it is none."""
    given = given or {}
    if isinstance(method, Method):
        for option, value in given.items():
            raise ValueError(f"{option}={value!r} is for methods by name; this one was made with its own options")
        return method
    if not isinstance(method, str) or method not in METHODS or not METHODS[method].is_descent:
        raise ValueError(f"method={method!r} must be {', '.join(map(repr, DESCENTS))}, or a Method")
    taken = METHODS[method].options
    for option, value in given.items():
        if option not in taken:
            all_taken = ", ".join(taken) or "none"
            raise ValueError(f"{option}={value!r} is no option of method={method!r}, which takes {all_taken}")
    made: Method = METHODS[method].load()(**{**(defaults or {}).get(method, {}), **given})
    return made


class Descents:
    """One method on many problems, with one solver for all that have the same points: it keeps kernel rows for them.

    The solver has to take all the ``options``, and is given those ``offered`` that it takes.
    """

    def __init__(
        self,
        method: str | Method,
        *,
        solver: str | StepSolver,
        settings: Settings,
        options: Mapping[str, Any],
        offered: Mapping[str, Any] | None = None,
    ) -> None:
        self.method, self.solver, self.settings, self.options = asked(method), solver, settings, dict(options)
        self._offered = dict(offered or {})
        self._inner: StepSolver | None = None
        self._last: Problem | None = None

    def solve(
        self,
        formulation: Formulation,
        problem: Problem,
        known: Sequence[StepSolution] = (),
        start: ArrayLike | Solution | None = None,
    ) -> tuple[Solution, list[StepSolution]]:
        """The solution of a problem, and the convex steps that were solved on the way.

        The start may be outputs, shape (n,), or the solution of nearly the same problem, from which the method goes on
        at the full costs.  Convex steps may start at the dual variables of ``known`` steps.
        """
        method = self.method
        if isinstance(start, Solution):
            method, known = method.nearby(), [*known, *([start.step] if start.has_step else [])]
        instance = Instance(formulation, problem)
        problem = instance.problem  # a balance does not count points of groups
        if self._inner is None or self._last is None or not same_points(self._last, problem):
            self._inner = self.made(formulation, problem)
        self._last = problem
        formulation.check_classes(problem)
        outputs, method = _start_outputs(start, problem), method.suited(instance)
        guessed = outputs is None and problem.n_labeled == 0 and formulation.unlabeled is not None
        if guessed:
            outputs, method = first_guess(instance), method.from_guess()
        if instance.n_positive is not None and not method.keeps_number:
            return self._searched(method, instance, self._inner, outputs, list(known))
        run = Run(instance, self._inner, self.settings, outputs, known)
        with run.guarded():
            run.status = method.descend(run)
        solution = run.solution(method)
        return first_negative(solution) if guessed else solution, run.solved

    def made(self, formulation: Formulation, problem: Problem) -> Any:
        """The solver, with the options that were given and those offered ones that it takes."""
        solver = solver_of(self.method.solvers, self.solver, formulation, problem, self.options, self.method.name)
        takes = SOLVERS[solver].options if isinstance(solver, str) and solver in SOLVERS else ()
        offered = {name: value for name, value in self._offered.items() if name in takes}
        return make_solver(solver, problem, self.settings.tol, {**offered, **self.options})

    def _searched(
        self, method: Method, instance: Instance, inner: Any, outputs: Array | None, known: list[StepSolution]
    ) -> tuple[Solution, list[StepSolution]]:
        """The same as :meth:`solve`, with a search for the balance that gives the number of positive labels."""
        trainer: Any = None

        def descend(instance: Instance, start: Array | None) -> Solution:
            nonlocal known
            begun, own = (outputs, method) if start is None else (start, method.nearby())
            run = Run(instance, inner, self.settings, begun, known)
            with run.guarded():
                run.status = own.descend(run)
            known = run.solved
            return run.solution(own)

        def train(labels: Array) -> Array | None:
            nonlocal trainer
            if not getattr(instance.formulation.labeled, "is_convex", False):
                return None
            trainer = trainer or step_solver(inner, instance, self.settings.tol)
            point: StepSolution = trainer.solve(instance.svm(labels))
            if point.status == "interrupted":
                raise KeyboardInterrupt
            return None if point.status == "time_limit" else point.outputs

        found = search_balance(descend, train, instance)
        return found, known

    def solve_all(
        self,
        formulation: Formulation,
        problems: Iterable[Problem],
        n: int | None = None,
        starts: Sequence[Solution | None] | None = None,
    ) -> list[Solution]:
        """The solutions of problems that resemble each other; an interrupted one is the last.

        Solutions to start at, if there are some, are in the order of the problems.  If their number n is given, every
        problem has an equal share of the time left; otherwise one that takes all of the time is the last.
        """
        solutions: list[Solution] = []
        known: list[StepSolution] = []
        for problem in problems:
            if solutions and solutions[-1].problem.n != problem.n:
                before = solutions[-1].problem.n
                raise ValueError(f"problems: {problem!r} has {problem.n} points, those before it {before}")
            if solutions and not np.array_equal(solutions[-1].problem.y, problem.y):
                known = []  # another class: dual variables of the one before are a worse start than none
            with nullcontext() if n is None else share_of_time(n - len(solutions)):
                start = None if starts is None else starts[len(solutions)]
                solution, known = self.solve(formulation, problem, known, start)
            solutions.append(solution)
            if solution.status == "interrupted" or (solution.status == "time_limit" and n is None):
                break
        return solutions


def first_negative(solution: Solution) -> Solution:
    """The solution or, where that is as good, its mirror image: the one in which the first point's label is -1."""
    point: Any = solution.point
    if solution.labels[0] < 0 or not has_mirror_image(Instance(solution.formulation, solution.problem)):
        return solution
    if isinstance(point, StepSolution):
        step, rows = point.step, point.step.rows
        other = step.replace(
            losses=tuple(loss.reflect() for loss in step.losses),
            slope=-step.slope,
            rows=None if rows is None else replace(rows, lower=-rows.upper, upper=-rows.lower),
        )
        weights = None if point.weights is None else -point.weights
        mirrored: Recorded = certify(
            other, -point.gamma, -point.gamma0, -point.bias, weights, -point.multipliers, status=point.status
        )
    else:
        mirrored = point.primal_of.point(-point.variables, status=point.status)
    labels = None if solution.given_labels is None else -solution.given_labels
    history = [replace(one, outputs=None if one.outputs is None else -one.outputs) for one in solution.history]
    return replace(solution, point=mirrored, given_labels=labels, history=tuple(history))


def _start_outputs(start: ArrayLike | Solution | None, problem: Problem) -> Array | None:
    if start is None:
        return None
    outputs = np.asarray(start.scores if isinstance(start, Solution) else start, dtype=float)
    if outputs.shape != (problem.n,) or not np.isfinite(outputs).all():
        raise ValueError(f"start has shape {outputs.shape}; it must be {problem.n} finite outputs, one per point")
    return outputs
