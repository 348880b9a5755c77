"""The solver of a method's problems: the one that is asked for, or the first that takes the formulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..formulations import Formulation
from ..instance import StepSolver
from ..losses import PLQ
from ..points import LinearPoints
from ..problem import Problem
from ..table import SOLVERS

#: Solvers of the table that take the linear kernel, a balance with a bias and finite losses, and nothing else.
LINEAR_SOLVERS = ("linear", "finite_newton", "coordinates")


def solver_of(
    takes: Sequence[str], solver: Any, formulation: Formulation, problem: Problem, options: Mapping[str, Any], name: str
) -> Any:
    """The name of the solver for a method, or ``solver`` if that is an object; a ValueError if they do not fit.

    "auto" is the first of those that the method ``takes`` which takes the formulation's losses and regularizer, and the
    options that it is to be made with.  ``name`` is what the method is called in messages.
    """
    if isinstance(solver, str) and solver == "auto":
        fitting = [one for one in takes if why_not_solver(one, formulation, problem) is None]
        suited = [one for one in fitting if set(options) <= set(SOLVERS[one].options)]
        return next(iter([*suited, *fitting, *takes]))
    check_taken(takes, solver, name)
    return solver


def check_taken(takes: Sequence[str], solver: Any, name: str) -> None:
    """Raise ValueError if a solver of the table is none of those that a method takes."""
    if isinstance(solver, str) and solver in SOLVERS and solver not in takes:
        names = ", ".join(repr(one) for one in ("auto", *takes))
        raise ValueError(f"solver={solver!r} is none of method={name!r}, which takes {names}")


def why_not_solver(name: str, formulation: Formulation, problem: Problem) -> str | None:
    """Why a solver of convex steps does not take a formulation on a problem, or None if it does."""
    if name in ("cvxpy", "smooth"):
        return None
    if formulation.additions:
        return f"additions={list(formulation.additions)!r}"
    if not formulation.regularizer.is_squared_norm:
        return f"regularizer={formulation.regularizer!r}"
    if name in LINEAR_SOLVERS and not problem.is_linear:
        return f"kernel={problem.kernel!r}"
    if name in LINEAR_SOLVERS and formulation.constrains_outputs:
        return "constraints on outputs other than a balance with a bias"
    for loss in formulation.losses:
        convex = loss.split()[0] if hasattr(loss, "split") else loss
        if not isinstance(convex, PLQ):
            return f"{loss!r} has a convex part that is not piecewise linear-quadratic"
        if name in LINEAR_SOLVERS and not convex.is_finite:
            return f"{loss!r} is infinite somewhere"
    if isinstance(problem.X, LinearPoints) and name in ("native", "coordinates"):
        return "points that are known by their products only"
    return None


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
