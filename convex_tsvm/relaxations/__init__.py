"""Convex relaxations: problems whose value is a lower bound of a formulation's optimum, and bounds that hold."""

from ..table import INTERVAL_RELAXATIONS as _OF_INTERVALS
from ..table import RELAXATIONS as _OF_LABELS
from .bound import Bound
from .box import Box
from .builder import LowerBoundBuilder
from .label_matrix import LowRankPoint, solve_low_rank
from .proofs import Proof
from .quadratic_program import OutputSpace
from .relaxation import Relaxation, Stage, Work
from .safe_bounds import transduction_bound

#: Names of the relaxations about labels, from the cheapest to the strongest.
RELAXATIONS = tuple(_OF_LABELS)

#: Names of those by envelopes, from the cheapest to the strongest.
INTERVAL_RELAXATIONS = tuple(_OF_INTERVALS)

__all__ = [
    "INTERVAL_RELAXATIONS",
    "RELAXATIONS",
    "Bound",
    "Box",
    "LowRankPoint",
    "LowerBoundBuilder",
    "OutputSpace",
    "Proof",
    "Relaxation",
    "Stage",
    "Work",
    "solve_low_rank",
    "transduction_bound",
]
