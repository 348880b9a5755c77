"""Sources of kernel rows: what a solver sees of the feature space.

A source has ``n``, ``rows(indices)`` and ``diag()``; everything else (a block, a combination of rows, all of them)
follows from these three, and a source overrides what it can do better.  Sources wrap each other, so that centring, the
extra point x₀ or a deformation can be added to any of them without a change of the solver.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..parallel import in_threads, row_slices, tiles
from .functions import Kernel, Linear, dense
from .types import Array, Points

Indices = NDArray[np.intp]
#: Rows have single or double precision; sums of rows are always in double precision.
Rows = NDArray[Any]

#: Rows that are needed only for their sum are computed in parts of this many bytes.
ROW_BYTES_AT_ONCE = 8 * 2**20


class RowSource(ABC):
    """Rows of a symmetric positive semidefinite matrix."""

    dtype: np.dtype[Any] = np.dtype(np.float64)
    n: int  # the order of the matrix
    bytes_at_once = ROW_BYTES_AT_ONCE

    #: Whether computing a row takes less time than allocating the memory for it.
    cheap = False

    #: Whether entries are read from memory rather than computed.
    in_memory = False

    #: Whether the caller need not store rows: the source stores them, or needs no rows to combine them.
    keeps = False

    @abstractmethod
    def rows(self, indices: Indices) -> Rows:
        """The rows asked for, shape (len(indices), n), as a new array."""

    @abstractmethod
    def diag(self) -> Array:
        """The diagonal, shape (n,)."""

    def block(self, indices: Indices, columns: Indices) -> Rows:
        """Submatrix of some rows and columns, as a new array."""
        return self.rows(indices)[:, columns]

    def parts(self, count: int, width: int | None = None) -> list[slice]:
        """Slices of so many rows, or of shorter ones, each of about ``bytes_at_once``."""
        size = max(1, self.bytes_at_once // (self.dtype.itemsize * max(1, self.n if width is None else width)))
        return [slice(start, start + size) for start in range(0, count, size)]

    def combine(self, indices: Indices, coefficients: Array) -> Array:
        """Σ coefficients_k row_k over ``indices``, shape (n,), from rows computed in parts."""
        total = np.zeros(self.n)
        for part in self.parts(len(indices)):
            rows = self.rows(indices[part])
            total += coefficients[part].astype(rows.dtype, copy=False) @ rows
        return total

    def times(self, vectors: Array) -> Array:
        """The matrix times some vectors, shape (n, k), from one pass over its rows in parts."""
        result = np.empty(vectors.shape)
        for part in self.parts(self.n):
            multiplied(self.rows(np.arange(self.n)[part]), vectors, result[part])
        return result

    def mean(self, members: Indices) -> Array:
        """Mean of the rows of ``members``, which may be there several times, shape (n,), from one pass."""
        members, counts = np.unique(members, return_counts=True)
        return self.combine(members, counts / counts.sum())

    def full(self) -> Rows:
        matrix = self.rows(np.arange(self.n))
        matrix += matrix.T.copy()
        matrix /= 2
        return matrix


class GramRows(RowSource):
    """Rows of a matrix held in memory."""

    in_memory = True

    def __init__(self, matrix: Rows) -> None:
        self.matrix, self.dtype, self.n = matrix, matrix.dtype, matrix.shape[0]

    def rows(self, indices: Indices) -> Rows:
        return self.matrix[indices]

    def diag(self) -> Array:
        return np.array(np.diag(self.matrix), dtype=float)

    def block(self, indices: Indices, columns: Indices) -> Rows:
        return self.matrix.take(indices, axis=0).take(columns, axis=1)

    def combine(self, indices: Indices, coefficients: Array) -> Array:
        """Σ coefficients_k row_k; without copying rows where most of them have a coefficient."""
        if 2 * len(indices) > self.n:
            every = np.zeros(self.n, dtype=self.dtype)
            every[indices] = coefficients
            return np.asarray(every @ self.matrix, dtype=float)
        return super().combine(indices, coefficients)

    def times(self, vectors: Array) -> Array:
        return multiplied(self.matrix, vectors)

    def full(self) -> Rows:
        return self.matrix


class KernelRows(RowSource):
    """Rows computed by the kernel function, in double precision, when they are asked for."""

    def __init__(self, kernel: Kernel, X: Points) -> None:
        self.kernel, self.X, self.n = kernel, X, X.shape[0]

    def rows(self, indices: Indices) -> Array:
        return self._values(self.X[indices], self.X)

    def diag(self) -> Array:
        return self.kernel.diag(self.X)

    def block(self, indices: Indices, columns: Indices) -> Array:
        return self._values(self.X[indices], self.X[columns])

    def _values(self, left: Points, right: Points) -> Array:
        if left.shape[0] == 0 or right.shape[0] == 0:
            return np.empty((left.shape[0], right.shape[0]))  # scikit-learn's kernels refuse empty arrays
        return self.kernel(left, right)


class LinearRows(RowSource):
    """Rows of X Xᵀ, formed only when they are asked for: sums of rows are computed from w = Σ a_i x_i."""

    keeps = True

    def __init__(self, X: Points) -> None:
        self.X, self.n = X, X.shape[0]

    def rows(self, indices: Indices) -> Array:
        return dense(self.X[indices] @ self.X.T)

    def diag(self) -> Array:
        return Linear().diag(self.X)

    def block(self, indices: Indices, columns: Indices) -> Array:
        return dense(self.X[indices] @ self.X[columns].T)

    def times(self, vectors: Array) -> Array:
        return np.asarray(self.X @ (self.X.T @ vectors))

    def combine(self, indices: Indices, coefficients: Array) -> Array:
        """X w with w = X[indices]ᵀ coefficients."""
        return np.asarray(self.X @ (self.X[indices].T @ coefficients)).ravel()


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


def multiplied(rows: Rows, vectors: Array, out: Array | None = None) -> Array:
    """Rows times vectors, by tiles."""
    result = np.empty((len(rows), vectors.shape[1])) if out is None else out
    in_threads(lambda tile: np.matmul(rows[tile], vectors, out=result[tile]), tiles(len(rows), rows.size))
    return result
