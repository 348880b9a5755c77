"""Convex relaxations: problems whose value is a lower bound of a formulation's optimum, and bounds that hold."""

from ..table import RELAXATIONS as _TABLE
from .bound_model import BoundModel
from .box import Box, LabelBox
from .builder import LowerBoundBuilder
from .envelopes.model import OutputModel
from .label_matrix.low_rank import LowRankPoint, solve_low_rank
from .label_model import LabelModel
from .proof import Proof, Stored
from .quadratic_program import OutputSpace
from .region import Bound, Relaxation, Stage, Work
from .safe_bounds import transduction_bound

#: Names of the relaxations, from the cheapest to the strongest, first those about labels.
RELAXATIONS = tuple(_TABLE)

__all__ = [
    "RELAXATIONS",
    "Bound",
    "BoundModel",
    "Box",
    "LabelBox",
    "LabelModel",
    "LowRankPoint",
    "LowerBoundBuilder",
    "OutputModel",
    "OutputSpace",
    "Proof",
    "Relaxation",
    "Stage",
    "Stored",
    "Work",
    "solve_low_rank",
    "transduction_bound",
]
