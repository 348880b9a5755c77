"""De Bie and Cristianini (2004), Convex Methods for Transduction: its items."""

from ..statement import Paper
from .quantities import problems

PAPER = Paper("debie2004", "Convex Methods for Transduction", problems, "relaxation derivation spectral")
