"""The native solver of convex steps: working sets in the dual, Newton steps, and the kernel rows that are held."""

from .dual_problem import DualPoint, DualProblem
from .native import NativeSolver
from .quadratic import Minimum, minimize_quadratic
from .row_cache import CachedRows
from .working_sets import solve_dual

__all__ = [
    "CachedRows",
    "DualPoint",
    "DualProblem",
    "Minimum",
    "NativeSolver",
    "minimize_quadratic",
    "solve_dual",
]
