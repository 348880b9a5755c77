"""The solver of a method's problems: the one that is asked for, or the first that takes the formulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..formulations import Formulation
from ..instance import Instance, StepSolver
from ..problem import Problem
from ..table import SOLVERS, STEP_SOLVERS


def solver_of(
    takes: Sequence[str], solver: Any, formulation: Formulation, problem: Problem, options: Mapping[str, Any], name: str
) -> Any:
    """The name of the solver for a method, or ``solver`` if that is an object; a ValueError if they do not fit.

    "auto" is the first of those that the method ``takes`` which takes the formulation on the problem, and the options
    that it is to be made with.  ``name`` is what the method is called in messages.
    """
    if isinstance(solver, str) and solver == "auto":
        if len(takes) == 1:
            return takes[0]
        first = None
        for one in takes:  # one after the other, since CVXPY, the last, takes a second to import
            if why_not_solver(one, formulation, problem) is None:
                first = first or one
                if set(options) <= set(SOLVERS[one].options):
                    return one
        return first or takes[0]
    check_taken(takes, solver, name)
    return solver


def check_taken(takes: Sequence[str], solver: Any, name: str) -> None:
    """Raise ValueError if a solver of the table is none of those that a method takes."""
    if isinstance(solver, str) and solver in SOLVERS and solver not in takes:
        names = ", ".join(repr(one) for one in ("auto", *takes))
        raise ValueError(f"solver={solver!r} is none of method={name!r}, which takes {names}")


def why_not_solver(name: str, formulation: Formulation, problem: Problem) -> str | None:
    """What of a formulation on a problem a solver of convex steps does not take, or None if it takes all."""
    why: str | None = SOLVERS[name].load().takes.why_not(formulation, problem)
    return why


def make_solver(solver: str | StepSolver, problem: Problem, tol: float, options: dict[str, Any]) -> StepSolver:
    """The solver of a name in ``SOLVERS``, made for a problem, or ``solver`` itself if it has ``solve(step, start)``.

    ``tol`` is for solvers that take a tolerance.  A ValueError if there is no such solver, or it does not take one of
    the options; an object takes none.
    """
    if isinstance(solver, str) and solver in SOLVERS:
        entry = SOLVERS[solver]
        unknown = sorted(set(options) - set(entry.options))
        if unknown:
            raise ValueError(
                f"{unknown[0]}={options[unknown[0]]!r} is no option of solver={solver!r}, "
                f"which takes {', '.join(entry.options)}"
            )
        given = {"tol": tol, **options} if "tol" in entry.options else options
        return entry.load()(problem, **given)
    if not isinstance(solver, str) and callable(getattr(solver, "solve", None)):
        if options:
            name, value = next(iter(options.items()))
            raise ValueError(f"{name}={value!r} is for solvers given by name; this one was made with its own options")
        return solver
    names = ", ".join(repr(name) for name in ("auto", *SOLVERS))
    raise ValueError(f"solver={solver!r} must be {names}, or an object with solve(step, start)")


def step_solver(solver: Any, instance: Instance, tol: float) -> Any:
    """A solver of convex steps: the one of the method, if it is one, or that which takes the problem."""
    if hasattr(solver, "solve"):
        return solver
    name = solver_of(STEP_SOLVERS, "auto", instance.formulation, instance.problem, {}, "")
    return make_solver(name, instance.problem, tol, {})
