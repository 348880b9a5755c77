"""The solver of a method's convex steps, by name."""

from __future__ import annotations

from typing import Any

from ..instance import StepSolver
from ..problem import Problem
from ..table import METHODS, SOLVERS


def solver_of(method: str, solver: Any, regularizer: Any = "l2") -> Any:
    """The solver of a method's problems, by the names of both.

    "auto" is the first that the method takes, or CVXPY where w costs other than ½ ‖w‖².

    Raises
    ------
    ValueError
        If the method poses other problems than the solver solves.
    """
    takes = METHODS[method].solvers
    if isinstance(solver, str) and solver == "auto":
        return "cvxpy" if regularizer != "l2" and "cvxpy" in takes else takes[0]
    if isinstance(solver, str) and solver in SOLVERS and solver not in takes:
        names = ", ".join(repr(name) for name in ("auto", *takes))
        raise ValueError(f"solver={solver!r} is none of method={method!r}, which takes {names}")
    return solver


def make_solver(solver: str | StepSolver, problem: Problem, tol: float, options: dict[str, Any]) -> StepSolver:
    """Solver of convex steps.

    Parameters
    ----------
    solver : {"native", "finite_newton", "cvxpy", "smooth"} or object with ``solve(step, start)``
    problem : Problem
    tol : float
        For solvers that take a tolerance.
    options : dict
        Others of the solver's own.

    Raises
    ------
    ValueError
        If there is no such solver, or an option is none of its own.
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
