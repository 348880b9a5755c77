"""What one point pays for its output: piecewise linear-quadratic functions, smooth losses, and their algebra."""

from .better_label import BetterLabel, better_label
from .catalogue import (
    epsilon_insensitive,
    flat_newton,
    hinge,
    huber_hinge,
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
from .envelopes import convex_pieces, envelope_of
from .pieces import Pieces, Segments, conjugate_pieces
from .plq import HARD_MARGIN, PLQ, indicator
from .smooth import Annealed, Exponential, GaussianSmoothed, annealed, exponential, smoothed, without_convex_kinks
from .weighted_sums import WeightedSums

__all__ = [
    "HARD_MARGIN",
    "PLQ",
    "Annealed",
    "BetterLabel",
    "ConcavePart",
    "Convex",
    "ConvexLoss",
    "DCLoss",
    "Exponential",
    "GaussianSmoothed",
    "Loss",
    "Pieces",
    "Segments",
    "SmoothConcave",
    "SmoothLoss",
    "SplitLoss",
    "WeightedSums",
    "annealed",
    "better_label",
    "conjugate_pieces",
    "convex_pieces",
    "envelope_of",
    "epsilon_insensitive",
    "exponential",
    "flat_newton",
    "hinge",
    "huber_hinge",
    "indicator",
    "logistic",
    "ramp",
    "relaxed_compact_hinge",
    "relaxed_compact_symmetric_hinge",
    "smoothed",
    "squared_hinge",
    "symmetric_hinge",
    "symmetric_ramp",
    "symmetric_squared_hinge",
    "tube",
    "two_slope_symmetric_ramp",
    "without_convex_kinks",
    "zero",
]
