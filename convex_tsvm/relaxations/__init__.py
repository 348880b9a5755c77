"""Convex relaxations: problems whose value is a lower bound of a formulation's optimum, and bounds that hold."""

from ..table import RELAXATIONS as _TABLE
from .builder import Bound, LowerBoundBuilder
from .label_matrix import LowRankPoint, solve_low_rank
from .output_space import OutputSpace
from .relaxation import Stage
from .safe_bounds import transduction_bound

#: Names of the relaxations, from the cheapest to the strongest.
RELAXATIONS = tuple(_TABLE)

__all__ = [
    "RELAXATIONS",
    "Bound",
    "LowRankPoint",
    "LowerBoundBuilder",
    "OutputSpace",
    "Stage",
    "solve_low_rank",
    "transduction_bound",
]
