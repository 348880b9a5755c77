"""Solvers of convex problems; compiled loops live in files named ``_loops`` and nowhere else."""

from .dual import CachedRows, DualPoint, DualProblem, NativeSolver, solve_dual
from .finite_newton import FiniteNewton
from .smooth import SmoothSolver

__all__ = [
    "CachedRows",
    "DualPoint",
    "DualProblem",
    "FiniteNewton",
    "NativeSolver",
    "SmoothSolver",
    "solve_dual",
]
