"""A formulation on a problem, with balance, bias and feature space settled, and the views that methods take of it."""

from .annealed_primal import AnnealedPrimal
from .convex_step import ConvexStep, same_points
from .expansion import ExpansionPrimal
from .first_guess import first_guess, has_mirror_image, labels_of, principal_components
from .instance import Instance
from .labelling import Labelling, check_relaxable, labelling, with_one_label
from .primal import SmoothPrimal, features_of
from .rows import OutputRows
from .side_information import SideInformation
from .smooth_point import SmoothPoint
from .step_solution import StepSolution, StepSolver, certify

__all__ = [
    "AnnealedPrimal",
    "ConvexStep",
    "ExpansionPrimal",
    "Instance",
    "Labelling",
    "OutputRows",
    "SideInformation",
    "SmoothPoint",
    "SmoothPrimal",
    "StepSolution",
    "StepSolver",
    "certify",
    "check_relaxable",
    "features_of",
    "first_guess",
    "has_mirror_image",
    "labelling",
    "labels_of",
    "principal_components",
    "same_points",
    "with_one_label",
]
