"""What one point pays for its output: piecewise linear-quadratic functions and their algebra."""

from .catalogue import (
    epsilon_insensitive,
    flat_newton,
    hinge,
    ramp,
    relaxed_compact_hinge,
    relaxed_compact_symmetric_hinge,
    squared_hinge,
    symmetric_hinge,
    symmetric_ramp,
    symmetric_squared_hinge,
    tube,
    two_slope_symmetric_ramp,
    zero,
)
from .convex import ConvexLoss, logistic
from .dc import ConcavePart, Convex, DCLoss, Loss, SmoothConcave, SmoothLoss, SplitLoss
from .plq import PLQ, indicator
from .weighted_sums import WeightedSums

__all__ = [
    "PLQ",
    "ConcavePart",
    "Convex",
    "ConvexLoss",
    "DCLoss",
    "Loss",
    "SmoothConcave",
    "SmoothLoss",
    "SplitLoss",
    "WeightedSums",
    "epsilon_insensitive",
    "flat_newton",
    "hinge",
    "indicator",
    "logistic",
    "ramp",
    "relaxed_compact_hinge",
    "relaxed_compact_symmetric_hinge",
    "squared_hinge",
    "symmetric_hinge",
    "symmetric_ramp",
    "symmetric_squared_hinge",
    "tube",
    "two_slope_symmetric_ramp",
    "zero",
]
