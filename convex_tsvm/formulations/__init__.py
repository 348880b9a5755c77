"""What is minimized: one file per formulation of the papers."""

from .formulation import Formulation
from .svm import svm
from .tsvm import LOSSES, cccp_tsvm, s3vm, tsvm

__all__ = ["LOSSES", "Formulation", "cccp_tsvm", "s3vm", "svm", "tsvm"]
