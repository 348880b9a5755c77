"""What is minimized: one file per formulation of the papers."""

from .formulation import Formulation
from .svm import svm
from .tsvm import cccp_tsvm, s3vm

__all__ = ["Formulation", "cccp_tsvm", "s3vm", "svm"]
