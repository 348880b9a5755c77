"""Checks a derivation; looks at every layer, and none of them knows it."""

from .derivation import verify
from .report import Check, Report

__all__ = ["Check", "Report", "verify"]
