"""A formulation on a problem, with balance, bias and feature space settled, and the views that methods take of it."""

from .convex_step import ConvexStep, StepSolution, StepSolver, certify, same_points
from .instance import Instance
from .labelling import Labelling, check_relaxable, labelling, reduced_basis
from .primal import AnnealedPrimal, ExpansionPrimal, SmoothPoint, SmoothPrimal, features_of
from .rows import OutputRows

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
