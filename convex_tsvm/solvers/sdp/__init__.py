"""Semidefinite programs with sparse constraints, by a low-rank method."""
