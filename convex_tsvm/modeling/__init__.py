"""The common CVXPY layer: convex steps as readable problems, compiled once and solved often."""

from .expressions import conjugate_segments, loss_expression
from .models import DualModel, PrimalModel, StepModel
from .solver import CvxpySolver

__all__ = [
    "CvxpySolver",
    "DualModel",
    "PrimalModel",
    "StepModel",
    "conjugate_segments",
    "loss_expression",
]
