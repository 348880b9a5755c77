"""Collobert, Sinz, Weston and Bottou (2006), Large Scale Transductive SVMs: its items in their order."""

from importlib import import_module

from ..statement import Paper
from .quantities import problems

PAPER = Paper("collobert2006", "Large Scale Transductive SVMs", problems)

# In the paper's order, which is that of its report.
for _name in ("method", "appendix"):
    import_module(f".{_name}", __name__)

# Appendix A derives the quadratic program of a step, an equation after the other.
PAPER.derivation.extend(PAPER[number] for number in range(12, 28))
