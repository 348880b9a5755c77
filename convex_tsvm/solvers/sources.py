"""Which kernel rows a native solver works with: their precision, and where they are kept."""

from __future__ import annotations

from functools import cached_property
from typing import cast

import numpy as np

from ..kernels import (
    CentredRows,
    GramRows,
    KernelRows,
    LinearRows,
    Precomputed,
    ProductKernel,
    ProductRows,
    RowSource,
    RowsWithMean,
)
from ..kernels.rows import PART_BYTES, Indices
from ..problem import Array, Problem
from .cache import CachedRows

#: From this many points on single precision is worth its rounding.
LARGE = 1000

#: Smallest tolerance that single precision serves.
LEAST_TOL = 1e-4

#: Largest rounding error of the argument of a kernel function that single precision may start with.
LARGEST_ERROR = 1e-4

#: Rounding error of that argument that nobody will notice.
NEGLIGIBLE_ERROR = 1e-12

#: Up to this many points the whole matrix is computed at once; of more points, most rows will not be needed.
WHOLE = 1536

#: The same where the mean row is needed, which is a pass over all of it.
WHOLE_WITH_MEAN = 2560

#: Largest working set.
LARGEST_BLOCK = 4096

#: Points at which rounding is measured.
SAMPLE = 32


class Sources:
    """Row sources of one problem inside a byte budget.

    A source is wanted in one of three ways: "plain", "centred" on the points of the balance, or with the point "x0"
    that is their mean.  The whole matrix is held if it fits; otherwise the rows used last are, and all ways share them.

    Parameters
    ----------
    problem : Problem
    max_bytes : int
    precision : {"auto", "single", "double"}
    tol : float
        Of the solver.
    """

    def __init__(self, problem: Problem, max_bytes: int, precision: str, tol: float) -> None:
        self.problem, self.max_bytes = problem, max_bytes
        self._reference: Array | None = None
        self._has_products = hasattr(problem.kernel, "product_form")
        self.single = self._has_products and precision == "single"
        if self._has_products and precision == "auto":
            self.single = problem.n >= LARGE and tol >= LEAST_TOL and "gram" not in problem.__dict__
        self._ways: dict[str, RowSource] = {}
        if precision == "auto" and self.single and self._base.error > LARGEST_ERROR:  # type: ignore[attr-defined]
            self.use_double()

    def use_double(self) -> bool:
        """Go over to double precision; False if that is what is used already."""
        if not self.single:
            return False
        self.single = False
        self._forget()
        return True

    @property
    def exact(self) -> bool:
        """Whether the problem's own matrix is used: its outputs are cheap to compute, and have no other error."""
        problem = self.problem
        if self.single or problem.is_linear:
            return False
        if isinstance(problem.kernel, Precomputed) or "gram" in problem.__dict__:
            return True
        return not self._has_products and 16 * problem.n**2 <= self.max_bytes

    def measures_rounding(self, way: str) -> bool:
        """Whether what rounding does to the outputs is worth measuring."""
        error = getattr(self._base, "error", np.inf)
        return not self.exact and not (self._is_whole(way) and error <= NEGLIGIBLE_ERROR)

    def block_size(self, way: str) -> int:
        """Largest working set: everything if the matrix is held, else what fits into a quarter of the budget."""
        if self._is_whole(way):
            return self.problem.n + 1
        return self._largest_part

    def rows(self, way: str) -> RowSource:
        """The source wanted in one of the three ways."""
        if way not in self._ways:
            if self._is_whole(way):
                self._ways.clear()  # the budget is for one matrix
            self._ways[way] = self._make(way)
        return self._ways[way]

    def rounding(self, way: str, gamma: Array, outputs: Array) -> float:
        """Largest error of G γ found at some of the points, by the kernel function in double precision."""
        sample, n = self._sample, self.problem.n
        right = self._reference_outputs(gamma[:n])
        if way == "x0":
            right += gamma[n] * self._mean[0][sample]
        elif way == "centred":
            mean, constant = self._mean
            right += gamma.sum() * (constant - mean[sample]) - mean @ gamma
        return float(np.abs(right - outputs[sample]).max(initial=0.0))

    def centred_bias(self, gamma: Array, target: float) -> float:
        """b in f = K a + b, for outputs G γ + c of the centred kernel G."""
        mean, constant = self._mean
        return float(target - mean @ gamma + constant * gamma.sum())

    @property
    def _largest_part(self) -> int:
        return int(np.clip(np.sqrt(self.max_bytes / 4 / self._item), 16, LARGEST_BLOCK))

    @property
    def _item(self) -> int:
        return 4 if self.single else 8

    def _is_whole(self, way: str) -> bool:
        """Whether compiled steps are to work on one matrix, centred or with x₀, of all points."""
        n, copies = self.problem.n, 2 if self.exact and way == "x0" else 1
        limit = LARGEST_BLOCK if self.exact else WHOLE if way == "plain" else WHOLE_WITH_MEAN
        return not self.problem.is_linear and n <= limit and copies * self._item * (n + 1) ** 2 <= self.max_bytes

    @cached_property
    def _base(self) -> RowSource:
        """Where kernel values come from."""
        problem = self.problem
        if self.exact:
            return GramRows(problem.gram)
        if problem.is_linear:
            return LinearRows(problem.X)
        if self._has_products:
            kernel = cast(ProductKernel, problem.kernel)
            return ProductRows(kernel, problem.X, np.float32 if self.single else np.float64)
        return KernelRows(problem.kernel, problem.X)

    @cached_property
    def _cached(self) -> CachedRows:
        return CachedRows(self._base, self.max_bytes - self._item * self._largest_part**2)

    @cached_property
    def _mean(self) -> tuple[Array, float]:
        """Mean row of the points of the balance, and its mean."""
        return self._mean_of(self._base)

    def _mean_of(self, source: RowSource) -> tuple[Array, float]:
        members = self.problem.balance_points
        row = source.mean(members)
        return row, float(row[members].mean())

    @cached_property
    def _sample(self) -> Indices:
        n = self.problem.n
        return np.random.default_rng(0).choice(n, min(SAMPLE, n), replace=False)

    def _reference_outputs(self, gamma: Array) -> Array:
        """K γ at the sample, from the kernel function itself; its rows are kept if they are small in the budget."""
        rows, sample = KernelRows(self.problem.kernel, self.problem.X), self._sample
        if 8 * len(sample) * len(gamma) <= self.max_bytes / 8:
            if self._reference is None:
                self._reference = rows.rows(sample)
            return self._reference @ gamma
        used, total = np.flatnonzero(gamma), np.zeros(len(sample))
        size = max(1, min(PART_BYTES, self.max_bytes // 4) // (8 * len(sample)))
        for start in range(0, len(used), size):
            part = used[start : start + size]
            total += rows.block(sample, part) @ gamma[part]
        return total

    def _forget(self) -> None:
        for name in ("_base", "_cached", "_mean"):
            self.__dict__.pop(name, None)
        self._ways.clear()

    def _make(self, way: str) -> RowSource:
        if not self._is_whole(way):
            held = self.exact or self.problem.is_linear
            return self._wrap(self._base if held else self._cached, way)
        matrix = GramRows(self._base.full())
        if way == "plain":
            return matrix
        self.__dict__.setdefault("_mean", self._mean_of(matrix))
        source = self._wrap(matrix, way)
        return source if way == "centred" else GramRows(source.full())

    def _wrap(self, source: RowSource, way: str) -> RowSource:
        if way == "centred":
            return CentredRows(source, self.problem.balance_points, self._mean[0])
        if way == "x0":
            return RowsWithMean(source, self.problem.balance_points, self._mean[0])
        return source
