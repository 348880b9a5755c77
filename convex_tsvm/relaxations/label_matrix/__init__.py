"""The relaxation in the label matrix Γ, which stands for y yᵀ (debie2004 §2)."""

from .low_rank import LowRankPoint, solve_low_rank
from .margins import margin_svm

__all__ = ["LowRankPoint", "margin_svm", "solve_low_rank"]
