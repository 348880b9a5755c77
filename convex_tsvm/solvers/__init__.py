"""Solvers of convex problems; compiled loops live in ``_loops`` and nowhere else."""

from .dual import CachedRows, DualPoint, DualProblem, FlatLosses, NativeSolver, flatten, solve_dual
from .finite_newton import FiniteNewton
from .smooth import SmoothSolver

__all__ = [
    "CachedRows",
    "DualPoint",
    "DualProblem",
    "FiniteNewton",
    "FlatLosses",
    "NativeSolver",
    "SmoothSolver",
    "flatten",
    "solve_dual",
]
