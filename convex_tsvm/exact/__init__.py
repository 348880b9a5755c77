"""Exact search: branch and bound, its certificates, and the references it is held to."""

from .brute_force import brute_force
from .certificate import CertificateCheck, verify_certificate
from .search import BranchAndBound, Progress
from .solution import ExactSolution, exact_search

__all__ = [
    "BranchAndBound",
    "CertificateCheck",
    "ExactSolution",
    "Progress",
    "brute_force",
    "exact_search",
    "verify_certificate",
]
