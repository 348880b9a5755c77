"""The five papers, run: their numbered statements, the grades of answers to them, and the quantities they define."""

from .verification import (
    Check,
    Grade,
    Outcome,
    Paper,
    PaperReport,
    Report,
    Statement,
    error_bound,
    grade,
    paper,
    rademacher_complexity,
)

__all__ = [
    "Check",
    "Grade",
    "Outcome",
    "Paper",
    "PaperReport",
    "Report",
    "Statement",
    "error_bound",
    "grade",
    "paper",
    "rademacher_complexity",
]
