"""Convex relaxations: problems whose value is a lower bound of a formulation's optimum, and bounds that hold."""

from ..table import RELAXATIONS as _TABLE
from .bound_model import BoundModel as BoundModel
from .box import Box as Box
from .box import LabelBox as LabelBox
from .builder import LowerBoundBuilder as LowerBoundBuilder
from .envelopes.model import OutputModel as OutputModel
from .label_matrix.low_rank import LowRankPoint as LowRankPoint
from .label_matrix.low_rank import solve_low_rank as solve_low_rank
from .label_model import LabelModel as LabelModel
from .proof import Proof as Proof
from .proof import Stored as Stored
from .quadratic_program import OutputSpace as OutputSpace
from .region import Bound as Bound
from .region import Relaxation as Relaxation
from .region import Stage as Stage
from .region import Work as Work
from .safe_bounds import transduction_bound as transduction_bound

#: Names of the relaxations, from the cheapest to the strongest, first those about labels.
RELAXATIONS = tuple(_TABLE)
