"""Dai and Niu (2010), Compact Margin Machine: its items in their order."""

from importlib import import_module

from ..statement import Paper
from .quantities import problems

PAPER = Paper("dai2010", "Compact Margin Machine", problems)

# In the paper's order, which is that of its report.
for _name in ("machine", "derivation", "theory"):
    import_module(f".{_name}", __name__)
