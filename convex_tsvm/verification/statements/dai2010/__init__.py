"""Dai and Niu (2010), Compact Margin Machine: its items."""

from ..statement import Paper
from .quantities import problems

PAPER = Paper("dai2010", "Compact Margin Machine", problems, "machine derivation theory")
