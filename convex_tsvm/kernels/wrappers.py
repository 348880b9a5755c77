"""Row sources made from row sources: another origin, one more point."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..parallel import in_threads, row_slices
from .rows import Indices, Rows, RowSource
from .types import Array


class CentredRows(RowSource):
    """Rows of the kernel centred on the mean of some points (chapelle2008 eq. 13).

    ``members`` are the points whose mean becomes the origin, and ``mean``, shape (n,), is the mean of their rows where
    that is known.  The source's own rows stay as they are, so that others can use them too.
    """

    def __init__(self, source: RowSource, members: Indices, mean: Array | None = None) -> None:
        self.source, self.n, self.dtype, self.in_memory = source, source.n, source.dtype, source.in_memory
        self.mean_row = source.mean(members) if mean is None else mean
        self.constant = float(self.mean_row[members].mean())

    def rows(self, indices: Indices) -> Rows:
        return self._centre(self.source.rows(indices), indices, slice(None))

    def diag(self) -> Array:
        return self.source.diag() - 2 * self.mean_row + self.constant

    def block(self, indices: Indices, columns: Indices) -> Rows:
        return self._centre(self.source.block(indices, columns), indices, columns)

    def combine(self, indices: Indices, coefficients: Array) -> Array:
        """Σ coefficients_k row_k, from the rows that are not centred."""
        shift = self.constant * coefficients.sum() - coefficients @ self.mean_row[indices]
        return self.source.combine(indices, coefficients) - coefficients.sum() * self.mean_row + shift

    def full(self) -> Rows:
        matrix = self.source.full()
        return self._centre(matrix.copy() if self.in_memory else matrix, np.arange(self.n), slice(None))

    def _centre(self, values: Rows, indices: Indices, columns: Indices | slice) -> Rows:
        right = self.mean_row[columns].astype(self.dtype)
        left = (self.mean_row[indices] - self.constant).astype(self.dtype)

        def subtract(rows: slice) -> None:
            values[rows] -= right
            values[rows] -= left[rows, None]

        in_threads(subtract, row_slices(values))
        return values


class RowsWithSums(RowSource):
    """The rows of a source and, after them, those of points Σ_i a_i Φ(x_i).

    A sum of outputs is the output of such a point: the point x₀ of a balance constraint (collobert2006 eq. 10) is the
    mean of the unlabelled ones.  ``A``, shape (k, n), has a row of coefficients for each point.
    """

    def __init__(self, source: RowSource, A: Any) -> None:
        self.source, self.dtype = source, source.dtype
        A = sp.csr_array(A)
        products = np.empty(A.shape)
        for k in range(A.shape[0]):
            part = slice(A.indptr[k], A.indptr[k + 1])
            products[k] = source.combine(np.asarray(A.indices[part], dtype=np.intp), A.data[part])
        corner = products @ A.T
        self.sums_with_sums: Array = (corner + corner.T) / 2
        self.last = np.hstack([products, self.sums_with_sums])
        self.n = self.last.shape[1]

    def rows(self, indices: Indices) -> Rows:
        return self.block(indices, np.arange(self.n))

    def diag(self) -> Array:
        return np.append(self.source.diag(), np.diag(self.sums_with_sums))

    def block(self, indices: Indices, columns: Indices) -> Rows:
        indices, columns, n = np.asarray(indices), np.asarray(columns), self.source.n
        above, left = indices < n, columns < n
        values = np.empty((len(indices), len(columns)), dtype=self.dtype)
        values[np.ix_(above, left)] = self.source.block(indices[above], columns[left])
        values[:, ~left] = self.last[columns[~left] - n][:, indices].T
        values[~above] = self.last[indices[~above] - n][:, columns]
        return values

    def combine(self, indices: Indices, coefficients: Array) -> Array:
        n, points = self.source.n, indices < self.source.n
        total = coefficients[~points] @ self.last[indices[~points] - n]
        total[:n] += self.source.combine(indices[points], coefficients[points])
        total[n:] += self.last[:, indices[points]] @ coefficients[points]
        return np.asarray(total, dtype=float)
