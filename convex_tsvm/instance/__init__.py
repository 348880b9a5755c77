"""A formulation on a problem, with balance, bias and feature space settled, and the views that methods take of it."""

from .annealed_primal import AnnealedPrimal
from .convex_step import ConvexStep, same_points
from .expansion import ExpansionPrimal
from .instance import Instance
from .labelling import Labelling, check_relaxable, labelling, reduced_basis
from .primal import SmoothPrimal, features_of
from .rows import OutputRows
from .smooth_point import SmoothPoint
from .step_solution import StepSolution, StepSolver, certify

__all__ = [
    "AnnealedPrimal",
    "ConvexStep",
    "ExpansionPrimal",
    "Instance",
    "Labelling",
    "OutputRows",
    "SmoothPoint",
    "SmoothPrimal",
    "StepSolution",
    "StepSolver",
    "certify",
    "check_relaxable",
    "features_of",
    "labelling",
    "reduced_basis",
    "same_points",
]
