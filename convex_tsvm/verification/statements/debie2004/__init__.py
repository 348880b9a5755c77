"""De Bie and Cristianini (2004), Convex Methods for Transduction: its items in their order."""

from ..statement import Paper
from .quantities import problems

PAPER = Paper("debie2004", "Convex Methods for Transduction", problems)

from . import experiments, relaxation, spectral  # noqa: E402, F401
