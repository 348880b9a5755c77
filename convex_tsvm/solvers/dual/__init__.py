"""The native solver of convex steps: working sets in the dual, Newton steps, and the kernel rows that are held."""

from .dual_problem import DualProblem as DualProblem
from .native import NativeSolver as NativeSolver
from .working_sets import minimize_quadratic as minimize_quadratic
from .working_sets import solve_dual as solve_dual
