"""The inner solver of a method, by name."""

from __future__ import annotations

from typing import Any

from ..convex_step import StepSolver
from ..problem import Problem


def make_solver(solver: str | StepSolver, problem: Problem, **options: Any) -> StepSolver:
    """Solver of convex steps.

    Parameters
    ----------
    solver : {"native", "cvxpy"} or object with ``solve(step, start)``
    problem : Problem
    **options
        Passed to :class:`~convex_tsvm.solvers.NativeSolver` or :class:`~convex_tsvm.modeling.CvxpySolver`.
    """
    if isinstance(solver, str):
        if solver == "native":
            from ..solvers import NativeSolver

            return NativeSolver(problem, **options)
        if solver == "cvxpy":
            from ..modeling import CvxpySolver

            for native_only in ("tol", "max_iter", "cache_size", "progress"):
                options.pop(native_only, None)
            return CvxpySolver(problem, **options)
    elif callable(getattr(solver, "solve", None)):
        return solver
    raise ValueError(f"solver={solver!r} must be 'native', 'cvxpy', or an object with solve(step, start)")
