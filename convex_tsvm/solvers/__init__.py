"""Solvers of convex problems; compiled loops live in files named ``_loops`` and nowhere else."""

from .coordinates import CoordinateDescent
from .dual import CachedRows, DualPoint, DualProblem, NativeSolver, solve_dual
from .finite_newton import FiniteNewton
from .linear import LinearSolver
from .smooth import SmoothSolver

__all__ = [
    "CachedRows",
    "CoordinateDescent",
    "DualPoint",
    "DualProblem",
    "FiniteNewton",
    "LinearSolver",
    "NativeSolver",
    "SmoothSolver",
    "solve_dual",
]
