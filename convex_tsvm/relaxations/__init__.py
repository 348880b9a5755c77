"""Convex relaxations: problems whose value is a lower bound of a formulation's optimum, and bounds that hold."""

from .builder import Bound, LowerBoundBuilder, Stage
from .label_matrix import LowRankPoint, solve_low_rank
from .output_space import RELAXATIONS, OutputSpace
from .safe_bounds import transduction_bound

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
