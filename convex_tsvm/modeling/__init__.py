"""The common CVXPY layer: convex steps as readable problems, compiled once and solved often."""

from .expressions import conjugate_segments as conjugate_segments
from .expressions import loss_expression as loss_expression
from .mixed_integer import MixedIntegerModel as MixedIntegerModel
from .models import DualModel as DualModel
from .models import PrimalModel as PrimalModel
from .models import StepModel as StepModel
from .solver import CvxpySolver as CvxpySolver
from .unrelaxed_compact_margin import UnrelaxedCompactMargin as UnrelaxedCompactMargin
