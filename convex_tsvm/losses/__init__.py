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
from .dc import ConcavePart, DCLoss, Loss, SmoothConcave
from .plq import PLQ, indicator

__all__ = [
    "PLQ",
    "ConcavePart",
    "DCLoss",
    "Loss",
    "SmoothConcave",
    "epsilon_insensitive",
    "flat_newton",
    "hinge",
    "indicator",
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
