"""De Bie and Cristianini (2004), Convex Methods for Transduction: its items in their order."""

from importlib import import_module

from ..statement import Paper
from .quantities import problems

PAPER = Paper("debie2004", "Convex Methods for Transduction", problems)

# In the paper's order, which is that of its report.
for _name in ("relaxation", "derivation", "spectral"):
    import_module(f".{_name}", __name__)
