"""Chapelle, Sindhwani and Keerthi (2008), Optimization Techniques for Semi-Supervised Support Vector Machines."""

from ..statement import Paper
from .quantities import problems

PAPER = Paper(
    "chapelle2008",
    "Optimization Techniques for Semi-Supervised Support Vector Machines",
    problems,
    "problem labels primal derivation",
)
