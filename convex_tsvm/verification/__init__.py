"""Checks a derivation; looks at every layer, and none of them knows it."""

from .complexity import Complexity, ErrorBound, error_bound, rademacher_complexity
from .derivation import verify
from .report import Check, Report

__all__ = ["Check", "Complexity", "ErrorBound", "Report", "error_bound", "rademacher_complexity", "verify"]
