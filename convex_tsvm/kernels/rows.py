"""Sources of kernel rows: what a solver sees of the feature space.

A source answers ``rows(indices)`` and ``diag()``; sources wrap each other, so that centring, the extra point x₀ or a
cache inside a byte budget is added to any of them without the solver knowing.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .functions import Array, Kernel, Points

Indices = NDArray[np.intp]


class RowSource(Protocol):
    """Rows of a symmetric positive semidefinite matrix."""

    @property
    def n(self) -> int:
        """Order of the matrix."""
        ...

    def rows(self, indices: Indices) -> Array:
        """The rows asked for, shape (len(indices), n)."""
        ...

    def diag(self) -> Array:
        """The diagonal, shape (n,)."""
        ...


class GramRows:
    """Rows of a matrix held in memory."""

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix

    @property
    def n(self) -> int:
        """Order of the matrix."""
        return self.matrix.shape[0]

    def rows(self, indices: Indices) -> Array:
        """Rows of the matrix, copied."""
        return self.matrix[indices]

    def diag(self) -> Array:
        """The diagonal."""
        return np.array(np.diag(self.matrix))


class KernelRows:
    """Rows computed from the points when they are asked for."""

    def __init__(self, kernel: Kernel, X: Points) -> None:
        self.kernel, self.X = kernel, X

    @property
    def n(self) -> int:
        """Number of points."""
        return self.X.shape[0]

    def rows(self, indices: Indices) -> Array:
        """k(X[indices], X)."""
        return self.kernel(self.X[indices], self.X)

    def diag(self) -> Array:
        """k(x, x) of every point."""
        return self.kernel.diag(self.X)


class CentredRows:
    """Rows of the kernel centred on the mean of some points (chapelle2008 eq. 13).

    Parameters
    ----------
    source : RowSource
    members : int array
        The points whose mean becomes the origin: the unlabelled ones.
    """

    def __init__(self, source: RowSource, members: Indices) -> None:
        self.source = source
        self.mean = mean_row(source, members)
        self.constant = float(self.mean[members].mean())

    @property
    def n(self) -> int:
        """Order of the matrix."""
        return self.source.n

    def rows(self, indices: Indices) -> Array:
        """Centred rows."""
        rows = self.source.rows(indices)
        rows -= self.mean
        rows -= (self.mean[indices] - self.constant)[:, None]
        return rows

    def diag(self) -> Array:
        """Centred diagonal."""
        return self.source.diag() - 2 * self.mean + self.constant


class RowsWithMean:
    """The rows of a source and, last, those of the point x₀ that is the mean of some points (collobert2006 eq. 10)."""

    def __init__(self, source: RowSource, members: Indices) -> None:
        self.source = source
        mean = mean_row(source, members)
        self.last = np.append(mean, mean[members].mean())

    @property
    def n(self) -> int:
        """Order of the matrix, x₀ included."""
        return self.source.n + 1

    def rows(self, indices: Indices) -> Array:
        """Rows with the column of x₀ appended."""
        indices = np.asarray(indices)
        rows = np.empty((len(indices), self.n))
        points = indices < self.n - 1
        rows[points, :-1] = self.source.rows(indices[points])
        rows[points, -1] = self.last[indices[points]]
        rows[~points] = self.last
        return rows

    def diag(self) -> Array:
        """Diagonal with that of x₀ appended."""
        return np.append(self.source.diag(), self.last[-1])


class CachedRows:
    """The least recently used rows of a source, kept inside a byte budget.

    Parameters
    ----------
    source : RowSource
    max_bytes : int
        Budget of the store; at least one row is kept whatever it says.
    """

    def __init__(self, source: RowSource, max_bytes: int) -> None:
        self.source = source
        self.capacity = max(1, int(max_bytes // (8 * source.n)))
        self._store: OrderedDict[int, Array] = OrderedDict()

    @property
    def n(self) -> int:
        """Order of the matrix."""
        return self.source.n

    def rows(self, indices: Indices) -> Array:
        """Rows, from the store where they are in it."""
        missing = [i for i in dict.fromkeys(int(i) for i in indices) if i not in self._store]
        fresh = dict(zip(missing, self.source.rows(np.array(missing, dtype=np.intp)), strict=True)) if missing else {}
        result = np.empty((len(indices), self.n))
        for place, i in enumerate(int(i) for i in indices):
            if i in fresh:
                result[place] = fresh[i]
            else:
                self._store.move_to_end(i)
                result[place] = self._store[i]
        for i, row in fresh.items():
            self._store[i] = row
            if len(self._store) > self.capacity:
                self._store.popitem(last=False)
        return result

    def diag(self) -> Array:
        """The source's diagonal."""
        return self.source.diag()


def within_budget(source: RowSource, max_bytes: int) -> RowSource:
    """The source as a matrix in memory if that fits into ``max_bytes``, otherwise behind a cache of that size."""
    if isinstance(source, GramRows):
        return source
    if 8 * source.n**2 <= max_bytes:
        return GramRows(full_matrix(source))
    return CachedRows(source, max_bytes)


def full_matrix(source: RowSource) -> Array:
    """The whole matrix, exactly symmetric."""
    if isinstance(source, GramRows):
        return source.matrix
    matrix = source.rows(np.arange(source.n))
    return (matrix + matrix.T) / 2


def apply_rows(source: RowSource, vector: Array, block: int = 512) -> Array:
    """The matrix times a vector, from the rows of its non-zero entries in blocks."""
    if isinstance(source, GramRows):
        return source.matrix @ vector
    used, total = np.flatnonzero(vector), np.zeros(source.n)
    for start in range(0, len(used), block):
        part = used[start : start + block]
        total += vector[part] @ source.rows(part)
    return total


def mean_row(source: RowSource, members: Indices) -> Array:
    """Mean of the rows of ``members``, from one pass."""
    weights = np.zeros(source.n)
    weights[members] = 1 / len(members)
    return apply_rows(source, weights)
