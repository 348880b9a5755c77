"""Collobert, Sinz, Weston and Bottou (2006), Large Scale Transductive SVMs: its items in their order."""

from importlib import import_module

from ..statement import Paper
from .quantities import problems

PAPER = Paper("collobert2006", "Large Scale Transductive SVMs", problems)

# In the paper's order, which is that of its report.
for _name in ("method", "derivation", "appendix"):
    import_module(f".{_name}", __name__)
