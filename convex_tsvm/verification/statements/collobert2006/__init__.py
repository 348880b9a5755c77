"""Collobert, Sinz, Weston and Bottou (2006), Large Scale Transductive SVMs: its items in their order."""

from ..statement import Paper
from .quantities import problems

PAPER = Paper("collobert2006", "Large Scale Transductive SVMs", problems)

from . import appendix, experiments, method  # noqa: E402, F401
