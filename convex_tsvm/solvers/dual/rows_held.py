"""Which kernel rows a native solver works with: their precision, and the store inside a byte budget."""

from functools import cached_property
from typing import cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...instance.space import members_of
from ...instance.step_solution import RECOMPUTED
from ...kernels import (
    CentredRows,
    DeformedKernel,
    Device,
    DeviceRows,
    GramRows,
    KernelRows,
    Precomputed,
    ProductKernel,
    RowSource,
    RowsWithSums,
    rows_of,
)
from ...kernels.rows import ROW_BYTES_AT_ONCE, Indices, Rows
from ...parallel import in_threads, n_threads
from ...problem import Array, Problem
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


class HeldRows:
    """Kernel rows of one problem inside a byte budget.

    They are wanted as they are, which is the way "plain", or centred on the ``members`` of its balance constraint,
    "centred", and perhaps with rows for sums of points.  The whole matrix is held if it has few rows and fits into the
    budget; otherwise the plain rows used last are, from which both ways are made.  ``precision`` is "auto", "single" or
    "double"; ``tol`` is that of the solver; rows are computed on ``device``, if there is one.
    """

    # Where single precision and whole matrices are worth it.
    large = 1000  # points from which on single precision saves enough time to be worth its rounding
    least_tol = 1e-4  # the smallest tolerance, in units of the outputs, for which it is used
    # Rounding errors of a kernel function's argument: the largest it is tried with, and one not worth measuring.
    largest_error = 1e-4
    negligible_error = 1e-12
    # Points up to which the whole matrix is computed at once, also where the mean row needs a pass over all of it.
    most_whole = 1536
    most_whole_with_mean = 2560
    most_block = 4096  # the largest number of variables in a working set
    measured = 32  # points at which rounding is measured

    def __init__(
        self, problem: Problem, max_bytes: int, precision: str, tol: float, device: Device | None = None
    ) -> None:
        self.problem, self.members, self.max_bytes, self.device = problem, members_of(problem), max_bytes, device
        self._reference: Array | None = None
        self._has_products = hasattr(problem.kernel, "product_form")
        self.single = self._has_products and precision == "single"
        if self._has_products and precision == "auto":
            self.single = problem.n >= self.large and tol >= self.least_tol
        self._held: tuple[str, sp.csr_array | None, RowSource] | None = None
        self.whole = False
        if precision == "auto" and self.single and self._base.error > self.largest_error:  # type: ignore[attr-defined]
            self.use_double()

    def use_double(self, *, whole: bool = False) -> bool:
        """Go over to double precision; False if that is what is used already.

        With ``whole`` the matrix is held from then on even where it is larger than usual, as far as the budget goes:
        problems that need double precision are hard, and solving them takes nearly all rows.
        """
        if not self.single:
            return False
        self.single, self.whole, self._held = False, whole, None
        for name in ("_base", "_cached", "_mean"):
            self.__dict__.pop(name, None)
        return True

    @property
    def exact(self) -> bool:
        """Whether the problem's own matrix is used, in double precision: outputs are as accurate as they can be."""
        problem = self.problem
        if self.single or problem.is_linear:
            return False
        if isinstance(problem.kernel, DeformedKernel):
            return problem.rows().in_memory
        computed_anyway = problem.n <= RECOMPUTED or "gram" in problem.__dict__
        used = not self._has_products or (computed_anyway and self.device is None)
        return isinstance(problem.kernel, Precomputed) or (used and 16 * problem.n**2 <= self.max_bytes)

    def measures_rounding(self, way: str) -> bool:
        if isinstance(self.problem.kernel, DeformedKernel):
            return False  # rows are known to the tolerance they were computed with, and there are no others
        error = getattr(self._base, "error", np.inf)
        return not self.exact and not (self._is_whole(way) and error <= self.negligible_error)

    def block_size(self, way: str) -> int:
        """The number of variables in a working set, at most: more than there are if the whole matrix is held.

        Otherwise the matrix of a working set takes at most a quarter of the budget.
        """
        if self._is_whole(way):
            return self.problem.n + 1
        return self._largest_part

    def rows(self, way: str, sums: sp.csr_array | None = None) -> RowSource:
        """The rows wanted, "plain" or "centred", and after them k rows of sums of points with coefficients (k, n)."""
        if self._held is None or self._held[0] != way or not same_matrices(self._held[1], sums):
            self._held = None  # first, since the budget is for one matrix
            self._held = way, sums, self._make(way, sums)
        return self._held[2]

    def rounding(self, way: str, coefficients: Array, outputs: Array) -> float:
        """The largest error of ``outputs`` G a at some of the points, found by the kernel function in double precision.

        ``coefficients`` are the a, shape (n,), with the multipliers of sums spread over their points.
        """
        sample = self._sample
        right = self._reference_outputs(coefficients)
        if way == "centred":
            mean, constant = self._mean
            right += coefficients.sum() * (constant - mean[sample]) - mean @ coefficients
        return float(np.abs(right - outputs[sample]).max(initial=0.0))

    def centred_bias(self, coefficients: Array, target: float) -> float:
        """b in f = K a + b, for outputs G a + c of the centred kernel G."""
        mean, constant = self._mean
        return float(target - mean @ coefficients + constant * coefficients.sum())

    @property
    def _largest_part(self) -> int:
        return int(np.clip(np.sqrt(self.max_bytes / 4 / self._item), 16, self.most_block))

    @property
    def _item(self) -> int:
        return 4 if self.single else 8

    def _is_whole(self, way: str) -> bool:
        """Whether the whole matrix is to be held, and compiled steps to work on it."""
        n = self.problem.n
        limit = self.most_whole if way == "plain" else self.most_whole_with_mean
        if self.exact or self.whole:
            limit = self.most_block
        return not self.problem.is_linear and n <= limit and self._item * (n + 1) ** 2 <= self.max_bytes

    @cached_property
    def _base(self) -> RowSource:
        """The source of plain kernel rows."""
        problem = self.problem
        if self.exact:
            return GramRows(problem.gram)
        if isinstance(problem.kernel, DeformedKernel):
            return problem.rows()
        dtype = np.float32 if self.single else np.float64
        if self.device is None:
            return rows_of(problem.kernel, problem.X, dtype)
        return DeviceRows(cast(ProductKernel, problem.kernel), problem.X, dtype, self.device)

    @cached_property
    def _cached(self) -> CachedRows:
        return CachedRows(self._base, self.max_bytes - self._item * self._largest_part**2)

    @cached_property
    def _mean(self) -> tuple[Array, float]:
        """The mean of the kernel rows of the points of the balance, shape (n,), and its mean over these points."""
        return self._mean_of(self._base)

    def _mean_of(self, source: RowSource) -> tuple[Array, float]:
        row = source.mean(self.members)
        return row, float(row[self.members].mean())

    @cached_property
    def _sample(self) -> Indices:
        n = self.problem.n
        return np.random.default_rng(0).choice(n, min(self.measured, n), replace=False)

    def _reference_outputs(self, gamma: Array) -> Array:
        """K γ at the sample, from the kernel function itself; its rows are kept if they are small in the budget."""
        rows, sample = KernelRows(self.problem.kernel, self.problem.X), self._sample
        if 8 * len(sample) * len(gamma) <= self.max_bytes / 8:
            if self._reference is None:
                self._reference = rows.rows(sample)
            return self._reference @ gamma
        used, total = np.flatnonzero(gamma), np.zeros(len(sample))
        size = max(1, min(ROW_BYTES_AT_ONCE, self.max_bytes // 4) // (8 * len(sample)))
        for start in range(0, len(used), size):
            part = used[start : start + size]
            total += rows.block(sample, part) @ gamma[part]
        return total

    def _make(self, way: str, sums: sp.csr_array | None) -> RowSource:
        if self._is_whole(way):
            source: RowSource = GramRows(self._base.full())
            if way == "centred":
                self.__dict__.setdefault("_mean", self._mean_of(source))
        else:
            source = self._base if self.exact or self._base.keeps else self._cached
        whole = source.in_memory
        if way == "centred":
            source = CentredRows(source, self.members, self._mean[0])
        if sums is None:
            return source
        source = RowsWithSums(source, sums)
        return GramRows(source.full()) if whole else source


def same_matrices(one: sp.csr_array | None, other: sp.csr_array | None) -> bool:
    """Whether two matrices of coefficients of sums are equal, or both are None."""
    if one is None or other is None or one.shape != other.shape:
        return one is other
    parts = ("indptr", "indices", "data")
    return all(np.array_equal(getattr(one, part), getattr(other, part)) for part in parts)
