"""Exact search: branch and bound, its certificates, and the references it is held to."""

from .brute_force import brute_force
from .certificate import CertificateCheck, verify_certificate
from .search import BranchAndBound
from .solution import ExactSolution, exact_search
from .state import Progress

__all__ = [
    "BranchAndBound",
    "CertificateCheck",
    "ExactSolution",
    "Progress",
    "brute_force",
    "exact_search",
    "verify_certificate",
]
