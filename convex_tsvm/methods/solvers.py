"""The solver of a method's convex steps, by name."""

from __future__ import annotations

from typing import Any

from ..instance import StepSolver
from ..problem import Problem
from ..table import SOLVERS


def make_solver(solver: str | StepSolver, problem: Problem, tol: float, options: dict[str, Any]) -> StepSolver:
    """Solver of convex steps.

    Parameters
    ----------
    solver : {"native", "finite_newton", "cvxpy"} or object with ``solve(step, start)``
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
