"""Sparse constraints <B_k, X> >= b_k on a symmetric matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...problem import Array


@dataclass(frozen=True, eq=False)
class SparseMatrices:
    """Constraints <B_k, X> >= b_k on a symmetric matrix X: the left side sums f X_ij over the entries (i, j, f) of B_k.

    Entries have i <= j and are sorted by constraint k.
    """

    k: NDArray[np.intp]
    i: NDArray[np.intp]
    j: NDArray[np.intp]
    f: Array
    b: Array

    @property
    def m(self) -> int:
        """Number of constraints."""
        return len(self.b)

    @staticmethod
    def make(entries: Sequence[tuple[ArrayLike, ArrayLike, ArrayLike]], b: ArrayLike) -> SparseMatrices:
        """Constraints with equally many entries: each of ``entries`` is (i, j, f), with arrays of one per constraint.

        Numbers in place of arrays are those of all constraints.
        """
        b = np.atleast_1d(np.asarray(b, dtype=float))
        m, width = len(b), len(entries)
        i, j, f = (
            np.column_stack([np.broadcast_to(np.asarray(entry[part]), m) for entry in entries]).ravel()
            for part in range(3)
        )
        k = np.repeat(np.arange(m), width)
        return SparseMatrices(k, np.minimum(i, j), np.maximum(i, j), f.astype(float), b)

    @staticmethod
    def stack(parts: list[SparseMatrices]) -> SparseMatrices:
        starts = np.cumsum([0, *(part.m for part in parts)])[:-1]
        columns = ((part.k + start, part.i, part.j, part.f, part.b) for part, start in zip(parts, starts, strict=True))
        return SparseMatrices(*map(np.concatenate, zip(*columns, strict=True)))

    def values_of_factor(self, R: Array) -> Array:
        """<B_k, R Rᵀ> of every constraint, from the entries that are used alone."""
        products = np.einsum("ij,ij->i", R[self.i], R[self.j])
        return np.asarray(np.bincount(self.k, self.f * products, minlength=self.m), dtype=float)

    def combine(self, z: Array, n: int) -> Array:
        """Σ z_k B_k."""
        half = np.zeros((n, n))
        np.add.at(half, (self.i, self.j), z[self.k] * self.f / 2)
        return half + half.T
