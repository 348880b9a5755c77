"""Sindhwani and Keerthi (2006), Newton Methods for Fast Solution of Semi-supervised Linear SVMs: its items in order."""

from importlib import import_module

from ..statement import Paper
from .quantities import problems

PAPER = Paper("sindhwani2006", "Newton Methods for Fast Solution of Semi-supervised Linear SVMs", problems)

# In the paper's order, which is that of its report.
for _name in ("newton", "derivation", "annealing"):
    import_module(f".{_name}", __name__)
