"""Native numerical kernels; compiled loops live in ``_loops`` and nowhere else."""

from .cache import CachedRows
from .dual import DualPoint, DualProblem
from .flat import FlatLosses, flatten
from .native import NativeSolver
from .working_sets import solve_dual

__all__ = ["CachedRows", "DualPoint", "DualProblem", "FlatLosses", "NativeSolver", "flatten", "solve_dual"]
