"""Exact search: branch and bound, its certificates, and the references it is held to."""

from .brute_force import brute_force
from .page import certificate_page
from .prove import prove_certificate
from .proven import ProvenLabels
from .search import BranchAndBound
from .solve import ExactSolution, exact_search
from .tree import Progress
from .trim import Trimmed, trim_certificate

__all__ = [
    "BranchAndBound",
    "ExactSolution",
    "Progress",
    "ProvenLabels",
    "Trimmed",
    "brute_force",
    "certificate_page",
    "exact_search",
    "prove_certificate",
    "trim_certificate",
]
