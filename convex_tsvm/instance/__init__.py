"""A formulation on a problem, with balance, bias and feature space settled, and the views that methods take of it."""

from .convex_step import ConvexStep, StepSolution, StepSolver, certify, same_points
from .instance import Instance
from .labelling import Labelling, check_relaxable, labelling, reduced_basis
from .primal import SmoothPrimal
from .rows import OutputRows

__all__ = [
    "ConvexStep",
    "Instance",
    "Labelling",
    "OutputRows",
    "SmoothPrimal",
    "StepSolution",
    "StepSolver",
    "certify",
    "check_relaxable",
    "labelling",
    "reduced_basis",
    "same_points",
]
