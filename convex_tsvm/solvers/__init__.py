"""Solvers of convex problems; compiled loops live in ``_loops`` and nowhere else."""

from .dual import CachedRows, DualPoint, DualProblem, FlatLosses, NativeSolver, flatten, solve_dual

__all__ = ["CachedRows", "DualPoint", "DualProblem", "FlatLosses", "NativeSolver", "flatten", "solve_dual"]
