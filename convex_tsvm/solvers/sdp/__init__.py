"""Semidefinite programs with sparse constraints, by a low-rank method."""

from .low_rank import LowRankPoint as LowRankPoint
from .low_rank import LowRankSDP as LowRankSDP
from .sparse_matrices import SparseMatrices as SparseMatrices
