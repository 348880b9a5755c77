"""Sindhwani and Keerthi (2006), Newton Methods for Fast Solution of Semi-supervised Linear SVMs: its items in order."""

from ..statement import Paper
from .quantities import problems

PAPER = Paper(
    "sindhwani2006",
    "Newton Methods for Fast Solution of Semi-supervised Linear SVMs",
    problems,
    "newton derivation annealing",
)
