"""Semidefinite programs with sparse constraints, by a low-rank method."""

from .low_rank import LowRankPoint, LowRankSDP
from .sparse_matrices import SparseMatrices

__all__ = ["LowRankPoint", "LowRankSDP", "SparseMatrices"]
