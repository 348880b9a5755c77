"""What is minimized: one file per formulation of the papers."""

from .compact_margin import compact_margin, compactness_weights, relative_margin
from .formulation import Formulation
from .svm import svm
from .tsvm import LOSSES, cccp_tsvm, s3vm, tsvm

__all__ = [
    "LOSSES",
    "Formulation",
    "cccp_tsvm",
    "compact_margin",
    "compactness_weights",
    "relative_margin",
    "s3vm",
    "svm",
    "tsvm",
]
