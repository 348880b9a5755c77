"""Chapelle, Sindhwani and Keerthi (2008), Optimization Techniques for Semi-Supervised Support Vector Machines."""

from importlib import import_module

from ..statement import Paper
from .quantities import problems

PAPER = Paper("chapelle2008", "Optimization Techniques for Semi-Supervised Support Vector Machines", problems)

# In the paper's order, which is that of its report.
for _name in ("problem", "switching", "annealing", "relaxation", "continuous", "newton", "derivation"):
    import_module(f".{_name}", __name__)
