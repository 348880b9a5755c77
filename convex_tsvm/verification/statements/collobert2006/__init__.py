"""Collobert, Sinz, Weston and Bottou (2006), Large Scale Transductive SVMs: its items."""

from ..statement import Paper
from .quantities import problems

PAPER = Paper("collobert2006", "Large Scale Transductive SVMs", problems, "method derivation appendix")
