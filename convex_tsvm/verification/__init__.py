"""Checks a derivation; looks at every layer, and none of them knows it."""

from .complexity import Complexity, ErrorBound, error_bound, rademacher_complexity
from .derivation import verify
from .report import Check, Report
from .statements import Grade, Outcome, Paper, PaperReport, Statement, check, paper

__all__ = [
    "Check",
    "Complexity",
    "ErrorBound",
    "Grade",
    "Outcome",
    "Paper",
    "PaperReport",
    "Report",
    "Statement",
    "check",
    "error_bound",
    "paper",
    "rademacher_complexity",
    "verify",
]
