"""The solver of a method's convex steps, by name."""

from __future__ import annotations

from typing import Any

from ..instance import StepSolver
from ..problem import Problem
from ..table import METHODS, SOLVERS


def solver_of(method: str, solver: Any, regularizer: Any = "l2") -> Any:
    """The name of the solver for a method, or ``solver`` if that is an object; a ValueError if they do not fit.

    "auto" is the first solver that the method takes, or CVXPY if the regularizer is not ½ ‖w‖² and the method takes it.
    """
    takes = METHODS[method].solvers
    if isinstance(solver, str) and solver == "auto":
        return "cvxpy" if regularizer != "l2" and "cvxpy" in takes else takes[0]
    if isinstance(solver, str) and solver in SOLVERS and solver not in takes:
        names = ", ".join(repr(name) for name in ("auto", *takes))
        raise ValueError(f"solver={solver!r} is none of method={method!r}, which takes {names}")
    return solver


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
    names = ", ".join(repr(name) for name in SOLVERS)
    raise ValueError(f"solver={solver!r} must be {names}, or an object with solve(step, start)")
