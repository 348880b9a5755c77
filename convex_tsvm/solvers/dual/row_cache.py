"""A store of kernel rows inside a byte budget."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernels import RowSource
from ...kernels.rows import ROW_BYTES_AT_ONCE, Indices, Rows
from ...kernels.types import Array
from ...parallel import in_threads, n_threads
from .._loops import accumulate, gather


class CachedRows(RowSource):
    """The rows of a source that were used last, in one slab; new rows displace those that have not been used longest.

    Rows asked for in one call never displace each other: of more rows than there is room for, the first stay.  Rows
    that are cheap to compute are kept when they are asked for a second time.  ``max_bytes`` is the budget of the slab
    and of the rows on their way into it, but one row is kept in any case; ``computed`` counts the rows computed so far.
    Sums of fewer entries than ``threaded`` are not worth a second thread.
    """

    threaded = 2**20

    def __init__(self, source: RowSource, max_bytes: int) -> None:
        self.source, self.n, self.dtype = source, source.n, source.dtype
        row_bytes = self.dtype.itemsize * source.n
        part_bytes = min(ROW_BYTES_AT_ONCE, max_bytes // 4)
        self.part = max(1, part_bytes // row_bytes)
        self.capacity = int(np.clip((max_bytes - self.part * row_bytes) // row_bytes, 1, source.n))
        self.computed = 0
        self._known = np.full(source.n, not source.cheap)
        self._slab = np.empty((self.capacity, source.n), dtype=self.dtype)
        self._slot = np.full(source.n, -1, dtype=np.intp)
        self._owner = np.full(self.capacity, -1, dtype=np.intp)
        self._last_used = np.zeros(self.capacity, dtype=np.int64)
        self._clock = 0

    def rows(self, indices: Indices) -> Rows:
        """Rows, shape (len(indices), n): copies of those in the slab, and the others computed."""
        indices = np.asarray(indices)
        result = np.empty((len(indices), self.n), dtype=self.dtype)
        stored = self._touch(indices)
        result[stored] = self._slab[self._slot[indices[stored]]]
        # A row asked for twice is computed once.
        missing, place = np.unique(indices[~stored], return_inverse=True)
        fresh = np.empty((len(missing), self.n), dtype=self.dtype)
        for part in self._parts(missing):
            fresh[part] = self._compute(missing[part])
        result[~stored] = fresh[place]
        return result

    def diag(self) -> Array:
        return self.source.diag()

    def block(self, indices: Indices, columns: Indices) -> Rows:
        """The submatrix of these rows and columns; of rows that are not in the slab only these columns are computed."""
        stored = self._touch(indices)
        if 4 * stored.sum() < len(indices):  # so few that copying them beside the others would take longer
            return self.source.block(indices, columns)
        values = np.empty((len(indices), len(columns)), dtype=self.dtype)
        places, slots = np.flatnonzero(stored), self._slot[indices[stored]]

        def copy(part: NDArray[np.intp]) -> None:
            gather(self._slab, slots[part], columns, values, places[part])

        if len(slots) * len(columns) < self.threaded:
            copy(np.arange(len(slots)))
        else:
            in_threads(copy, np.array_split(np.arange(len(slots)), n_threads()))
        if not stored.all():
            values[~stored] = self.source.block(indices[~stored], columns)
        return values

    def combine(self, indices: Indices, coefficients: Array) -> Array:
        """Σ coefficients_k row_k; rows that had to be computed stay in the slab while there is room."""
        indices = np.asarray(indices)
        total = np.zeros(self.n)
        stored = self._touch(indices)
        self._accumulate(self._slab, self._slot[indices[stored]], coefficients[stored], total)
        missing, weights = indices[~stored], coefficients[~stored]
        for part in self._parts(missing):
            rows = self._compute(missing[part])
            self._accumulate(rows, np.arange(len(rows)), weights[part], total)
        return total

    def mean(self, members: Indices) -> Array:
        """The mean of the rows ``members``, which the source computes in one pass; no rows are kept."""
        return self.source.mean(members)

    def _touch(self, indices: Indices) -> NDArray[np.bool_]:
        """Which of the rows are in the slab; these count as used now."""
        self._clock += 1
        stored = self._slot[indices] >= 0
        self._last_used[self._slot[indices[stored]]] = self._clock
        return np.asarray(stored)

    def _parts(self, indices: Indices) -> list[slice]:
        return [slice(k, k + self.part) for k in range(0, len(indices), self.part)]

    def _compute(self, indices: Indices) -> Rows:
        """Compute rows that are not in the slab, and keep them there if there is room and they are worth it."""
        rows = self.source.rows(indices)
        self.computed += len(indices)
        known, self._known[indices] = self._known[indices], True
        self._keep(indices[known], rows if known.all() else rows[known])
        return rows

    def _keep(self, indices: Indices, rows: Rows) -> None:
        """Store rows in place of those not used in this call, the longest unused first, as far as there are such."""
        idle = np.flatnonzero(self._last_used < self._clock)
        if len(idle) > len(indices):
            idle = idle[np.argpartition(self._last_used[idle], len(indices) - 1)[: len(indices)]]
        kept = indices[: len(idle)]
        displaced = self._owner[idle]
        self._slot[displaced[displaced >= 0]] = -1
        self._slab[idle] = rows[: len(idle)]
        self._slot[kept], self._owner[idle], self._last_used[idle] = idle, kept, self._clock

    def _accumulate(self, store: Rows, slots: NDArray[np.intp], coefficients: Array, total: Array) -> None:
        n = len(total)
        if len(slots) * n < self.threaded:
            accumulate(store, slots, coefficients, total, 0, n)
        else:
            edges = np.linspace(0, n, n_threads() + 1).astype(int)
            in_threads(
                lambda ends: accumulate(store, slots, coefficients, total, *ends),
                list(zip(edges[:-1], edges[1:], strict=True)),
            )
