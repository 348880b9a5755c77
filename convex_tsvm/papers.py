"""The five papers, run: their numbered statements, the grades of answers to them, and the quantities they define."""

from .verification import (
    Check,
    Derivation,
    Grade,
    Outcome,
    Paper,
    PaperReport,
    ProvenDerivation,
    Report,
    Statement,
    error_bound,
    grade,
    paper,
    rademacher_complexity,
)

__all__ = [
    "Check",
    "Derivation",
    "Grade",
    "Outcome",
    "Paper",
    "PaperReport",
    "ProvenDerivation",
    "Report",
    "Statement",
    "error_bound",
    "grade",
    "paper",
    "rademacher_complexity",
]
