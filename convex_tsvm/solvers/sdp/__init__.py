"""Solvers of semidefinite programs with sparse constraints."""

from .sparse_matrices import SparseMatrices
from .sparse_sdp import SDPPoint, check_solver, solve_sdp

__all__ = ["SDPPoint", "SparseMatrices", "check_solver", "solve_sdp"]
