"""A formulation on a problem, with balance, bias and feature space settled, and the views that methods take of it."""

from .convex_step import ConvexStep as ConvexStep
from .convex_step import same_points as same_points
from .first_guess import first_guess as first_guess
from .first_guess import has_mirror_image as has_mirror_image
from .first_guess import labels_of as labels_of
from .first_guess import principal_components as principal_components
from .instance import Instance as Instance
from .labelling import Labelling as Labelling
from .labelling import SideInformation as SideInformation
from .labelling import check_relaxable as check_relaxable
from .labelling import labelling as labelling
from .labelling import with_one_label as with_one_label
from .primal import AnnealedPrimal as AnnealedPrimal
from .primal import ExpansionPrimal as ExpansionPrimal
from .primal import SmoothPrimal as SmoothPrimal
from .primal import features_of as features_of
from .rows import OutputRows as OutputRows
from .smooth_point import SmoothPoint as SmoothPoint
from .step_solution import RECOMPUTED as RECOMPUTED
from .step_solution import StepSolution as StepSolution
from .step_solution import StepSolver as StepSolver
from .step_solution import certify as certify
