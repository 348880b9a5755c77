"""Solvers of convex problems; compiled loops live in files named ``_loops`` and nowhere else."""

from .coordinates import CoordinateDescent as CoordinateDescent
from .dual import DualProblem as DualProblem
from .dual import NativeSolver as NativeSolver
from .dual import solve_dual as solve_dual
from .finite_newton import FiniteNewton as FiniteNewton
from .linear import LinearSolver as LinearSolver
from .smooth import SmoothSolver as SmoothSolver
