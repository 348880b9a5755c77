"""Points in memory, or in files that are mapped into it: sparse rows and dense ones, in either precision, uncopied."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..parallel import in_threads, n_parts, unsigned
from ..validation import is_sparse
from .protocol import Array, LinearPoints

#: Fewer entries than this are not worth a second thread.
THREADED_PRODUCTS = 2**17

#: Blocks of points have about this many entries; that many dense ones are converted to 64 bits at a time.
ENTRIES_AT_ONCE = 2**18


class SparsePoints(LinearPoints):
    """Rows in compressed form (CSR), as they are: the arrays are neither copied nor changed.

    ``data``, shape (entries,), has 32 or 64 bits, and sums 64; ``indices`` are the columns of the entries, from 0 on,
    increasing within a row; and ``indptr``, shape (n + 1,), is where each row begins.
    """

    def __init__(self, data: Any, indices: Any, indptr: Any, n_features: int) -> None:
        self.data, self.indices, self.indptr = data, indices, indptr
        self.shape, self.n_entries = (len(indptr) - 1, int(n_features)), int(indptr[-1])
        wanted = n_parts(self.n_entries, THREADED_PRODUCTS)
        cuts = np.searchsorted(indptr, np.linspace(0, self.n_entries, wanted + 1)[1:-1]).tolist()
        #: First and last rows of each thread, with about the same number of entries.
        self._parts = [*zip([0, *cuts], [*cuts, self.shape[0]], strict=True)]

    def times(self, w: Array) -> Array:
        from ._loops import times

        out = np.empty(self.shape[0])
        self._each(lambda k, first, last: times(*self.arrays, w, first, last, out))
        return out

    def transposed(self, q: Array) -> Array:
        return self._sum("add_transposed", 1, q)[0]

    def curved(self, h: Array, p: Array, shift: float = 0.0) -> tuple[Array, float]:
        return self._sum("add_curved", 1, h, p, float(shift))

    def gram(self, h: Array) -> Array:
        lower, _ = self._sum("add_gram", 2, h)
        return lower + np.tril(lower, -1).T

    def squares(self, h: Array) -> Array:
        return self._sum("add_squares", 1, h)[0]

    def squared_norms(self) -> Array:
        from ._loops import squared_norms

        out = np.empty(self.shape[0])
        self._each(lambda k, first, last: squared_norms(self.arrays[0], self.data, first, last, out))
        return out

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        n = self.shape[0]
        step = max(1, n * ENTRIES_AT_ONCE // max(self.n_entries, 1))
        for first in range(0, n, step):
            rows = slice(first, min(first + step, n))
            yield rows, self._rows(rows)

    def take(self, rows: NDArray[np.intp]) -> Any:
        first, last = (np.asarray(self.indptr[rows + k], dtype=np.int64) for k in (0, 1))
        ends = np.concatenate([[0], np.cumsum(last - first)])
        data, indices = np.empty(ends[-1], self.data.dtype), np.empty(ends[-1], self.indices.dtype)
        for k in range(len(rows)):
            here, there = slice(ends[k], ends[k + 1]), slice(first[k], last[k])
            data[here], indices[here] = self.data[there], self.indices[there]
        return sp.csr_array((data, indices, ends), shape=(len(rows), self.shape[1]))

    def _rows(self, rows: slice) -> Any:
        first, last = int(self.indptr[rows.start]), int(self.indptr[rows.stop])
        where = np.asarray(self.indptr[rows.start : rows.stop + 1]) - first
        parts = (self.data[first:last], self.indices[first:last], where)
        return sp.csr_array(parts, shape=(rows.stop - rows.start, self.shape[1]))

    @property
    def arrays(self) -> tuple[Any, Any, Any]:
        """``indptr``, ``indices`` and ``data`` as compiled loops take them: what counts is unsigned."""
        return unsigned(self.indptr), unsigned(self.indices), self.data

    def _sum(self, loop: str, dimensions: int, *given: Any) -> tuple[Array, float]:
        """The sum of what a compiled loop adds up in every thread, and of what it returns."""
        from . import _loops

        add, count = getattr(_loops, loop), len(self._parts)
        sums, totals = np.zeros((count, *(self.shape[1],) * dimensions)), np.zeros(count)

        def work(k: int, first: int, last: int) -> None:
            totals[k] = add(*self.arrays, *given, first, last, sums[k]) or 0.0

        self._each(work)
        return np.asarray(sums.sum(axis=0)), float(totals.sum())

    def _each(self, work: Callable[[int, int, int], object]) -> None:
        in_threads(lambda part: work(*part), [(k, first, last) for k, (first, last) in enumerate(self._parts)])


class DensePoints(LinearPoints):
    """Rows of an array X, shape (n, d), which is not copied; 32 bits are converted to 64 bits a block at a time."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.shape, self.n_entries = (int(X.shape[0]), int(X.shape[1])), int(X.shape[0]) * int(X.shape[1])

    def times(self, w: Array) -> Array:
        out = np.empty(self.shape[0])
        in_threads(lambda rows: np.matmul(self._block(rows), w, out=out[rows]), self._pieces())
        return out

    def transposed(self, q: Array) -> Array:
        return self._sum(lambda rows, block: q[rows] @ block, self.shape[1], q)

    def curved(self, h: Array, p: Array, shift: float = 0.0) -> tuple[Array, float]:
        # Directions need no more digits than the points have: 32-bit points are multiplied by 32-bit vectors, which
        # takes a third of the time.  These vectors are scaled to a largest entry of 1, so that they do not overflow.
        kind = self.X.dtype
        size = float(np.abs(p).max()) or 1.0
        direction = (p / size).astype(kind)

        def part(rows: Any, block: Any) -> Array:
            change = h[rows] * (size * np.asarray(block @ direction, dtype=float) + shift)
            largest = float(np.abs(change).max()) or 1.0
            return np.append(largest * np.asarray((change / largest).astype(kind) @ block, dtype=float), change.sum())

        image = self._sum(part, self.shape[1] + 1, h, as_given=True)
        return image[:-1], float(image[-1])

    def gram(self, h: Array) -> Array:
        total = self._sum(lambda rows, block: block.T @ (h[rows, None] * block), (self.shape[1],) * 2, h)
        return (total + total.T) / 2

    def squares(self, h: Array) -> Array:
        return self._sum(lambda rows, block: h[rows] @ block**2, self.shape[1], h)

    def squared_norms(self) -> Array:
        return self._squared_norms.copy()

    @cached_property
    def _squared_norms(self) -> Array:
        out = np.empty(self.shape[0])

        def fill(rows: slice) -> None:
            block = self._block(rows)
            out[rows] = np.einsum("ij,ij->i", block, block)

        in_threads(fill, self._pieces())
        return out

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        for rows in self._pieces():
            yield rows, self._block(rows)

    def take(self, rows: NDArray[np.intp]) -> Any:
        return np.asarray(self.X[rows])

    def _block(self, rows: Any) -> Array:
        return np.asarray(self.X[rows], dtype=float)

    def _pieces(self, weights: Array | None = None) -> list[Any]:
        """Rows of the blocks that have a weight: all rows where most have one."""
        n, step = self.shape[0], max(1, ENTRIES_AT_ONCE // self.shape[1])
        if weights is None or np.count_nonzero(weights) > 0.5 * n:
            return [slice(first, min(first + step, n)) for first in range(0, n, step)]
        used = np.flatnonzero(weights)
        return [used[first : first + step] for first in range(0, len(used), step)]

    def _sum(self, part: Callable[[Any, Any], Array], shape: Any, weights: Array, as_given: bool = False) -> Array:
        """The sum of ``part(rows, block)`` over the blocks with a weight.

        Blocks are of 64-bit numbers, or as they are stored if ``as_given``.  Every thread has a total of its own, which
        always gets the same blocks, so that the result does not depend on timing.
        """
        pieces = self._pieces(weights)
        totals = np.zeros((n_parts(self.n_entries, THREADED_PRODUCTS), *np.atleast_1d(shape)))

        def follow(k: int) -> None:
            for rows in pieces[k :: len(totals)]:
                totals[k] += part(rows, self.X[rows] if as_given else self._block(rows))

        in_threads(follow, range(len(totals)))
        return np.asarray(totals.sum(axis=0))


class SinglePoints(DensePoints):
    """Rows of an array as 32-bit numbers, which also the vectors of products are rounded to: for use where a relative
    error of 10⁻⁶ does not matter, in half the time.  X is rounded to 32 bits, in a copy if it has more.
    """

    def __init__(self, X: Any) -> None:
        super().__init__(np.ascontiguousarray(X, dtype=np.float32))

    def times(self, w: Array) -> Array:
        size, out = float(np.abs(w).max(initial=0.0)) or 1.0, np.empty(self.shape[0])
        vector = (w / size).astype(np.float32)

        def fill(rows: slice) -> None:
            out[rows] = self.X[rows] @ vector

        in_threads(fill, self._pieces())
        return size * out

    def transposed(self, q: Array) -> Array:
        size = float(np.abs(q).max(initial=0.0)) or 1.0
        vector = (q / size).astype(np.float32)
        return size * self._sum(lambda rows, block: vector[rows] @ block, self.shape[1], q, as_given=True)


def in_memory(X: Any) -> DensePoints | SparsePoints:
    """An array or a sparse matrix as points, not copied if it has floating-point numbers and, if sparse, sorted rows.

    ValueError is raised if X is not two-dimensional, is empty, or holds NaN or infinity.
    """
    sparse = is_sparse(X)
    X = X.tocsr() if sparse else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X has shape {X.shape}; it must be 2-dimensional, (n, d)")
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"X has shape {X.shape}; it needs at least one point and one feature")
    if X.dtype not in (np.float32, np.float64):
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"X must be an array of numbers: {error}") from None
    if not np.isfinite((X.data if sparse else X).sum(dtype=float)) and not np.isfinite(X.data if sparse else X).all():
        raise ValueError("X contains NaN or infinity; every entry must be a finite number")
    if not sparse:
        return DensePoints(X)
    check_rows(X.indices, X.indptr, X.shape[1])
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return SparsePoints(X.data, X.indices, X.indptr, X.shape[1])


def unchecked(X: Any) -> LinearPoints:
    """The same without a check for NaN and infinity, for what has been checked before."""
    if not is_sparse(X):
        X = np.asarray(X)
        return DensePoints(X if X.dtype in (np.float32, np.float64) else X.astype(float))
    X = X.tocsr()
    if not X.has_canonical_format or X.dtype not in (np.float32, np.float64):
        return in_memory(X)
    return SparsePoints(X.data, X.indices, X.indptr, X.shape[1])


def check_rows(indices: Any, indptr: Any, n_features: int) -> None:
    """Raise ValueError if compressed rows point outside of their arrays, which compiled loops would then read."""
    entries, step = len(indices), 2**22
    if len(indptr) == 0 or indptr[0] != 0 or indptr[-1] != entries:
        raise ValueError(f"X is no CSR matrix: indptr must begin with 0 and end with {entries}, the number of entries")
    for first in range(0, len(indptr), step):
        if (np.diff(indptr[first : first + step + 1]) < 0).any():
            raise ValueError("X is no CSR matrix: indptr decreases, so that a row ends before it begins")
    for first in range(0, entries, step):
        part = indices[first : first + step]
        if part.min() < 0 or part.max() >= n_features:
            raise ValueError(
                f"X is no CSR matrix: its column indices {part.min()} to {part.max()} go outside of the {n_features} "
                f"columns; 0 to {n_features - 1} are allowed"
            )
