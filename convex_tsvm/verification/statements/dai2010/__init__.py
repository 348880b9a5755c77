"""Dai and Niu (2010), Compact Margin Machine: its items in their order."""

from ..statement import Paper
from .quantities import problems

PAPER = Paper("dai2010", "Compact Margin Machine", problems)

from . import experiments, machine, theory  # noqa: E402, F401
