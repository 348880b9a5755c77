"""What is minimized: one file per formulation of the papers."""

from .by_name import Stated, build, on_neighbor_graph
from .compact_margin import compact_margin, compactness_cost, compactness_weights, relative_margin
from .constraints import OutputConstraint, cannot_link, mean_output, must_link, output_constraint
from .formulation import Formulation
from .groups import Addition, PointGroup, addition
from .multiple_kernels import MultipleKernels
from .regularizers import ElasticNet, GroupLasso, NonnegativeNorm, OneNorm, Regularizer, SquaredNorm
from .s4vm import SafeLabels
from .tsvm import FINITE_LOSSES, LOSSES, cccp_tsvm, cs3vm, hard_margin_s3vm, s3vm, svm, tsvm, universum_tsvm

__all__ = [
    "FINITE_LOSSES",
    "LOSSES",
    "Addition",
    "ElasticNet",
    "Formulation",
    "GroupLasso",
    "MultipleKernels",
    "NonnegativeNorm",
    "OneNorm",
    "OutputConstraint",
    "PointGroup",
    "Regularizer",
    "SafeLabels",
    "SquaredNorm",
    "Stated",
    "addition",
    "build",
    "cannot_link",
    "cccp_tsvm",
    "compact_margin",
    "compactness_cost",
    "compactness_weights",
    "cs3vm",
    "hard_margin_s3vm",
    "mean_output",
    "must_link",
    "on_neighbor_graph",
    "output_constraint",
    "relative_margin",
    "s3vm",
    "svm",
    "tsvm",
    "universum_tsvm",
]
