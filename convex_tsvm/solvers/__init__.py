"""Native numerical kernels; compiled loops live in ``_loops`` and nowhere else."""

from .dual import DualPoint, DualProblem, solve_dual
from .flat import FlatLosses, flatten
from .native import NativeSolver

__all__ = ["DualPoint", "DualProblem", "FlatLosses", "NativeSolver", "flatten", "solve_dual"]
