"""Which kernel rows a native solver works with: their precision, and where they are kept."""

from __future__ import annotations

from functools import cached_property
from typing import cast

import numpy as np
import scipy.sparse as sp

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
from ...kernels.rows import ROW_BYTES_AT_ONCE, Indices
from ...problem import Array, Problem
from .row_cache import CachedRows


class HeldRows:
    """Kernel rows of one problem inside a byte budget.

    They are wanted as they are, which is the way "plain", or centred on the points ``members`` of a balance constraint,
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
        self,
        problem: Problem,
        members: Indices,
        max_bytes: int,
        precision: str,
        tol: float,
        device: Device | None = None,
    ) -> None:
        self.problem, self.members, self.max_bytes, self.device = problem, members, max_bytes, device
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
