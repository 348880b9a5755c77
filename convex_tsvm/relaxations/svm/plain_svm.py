"""The SVM of the known labels for losses that :mod:`~convex_tsvm.relaxations.svm.partial_svm` does not support."""

from __future__ import annotations

import numpy as np

from ...instance.labelling import Labelling
from ...problem import Array
from ...solvers import NativeSolver
from ..safe_bounds import svm_bound
from .partial_svm import PartialPoint


class PlainSVM:
    """The SVM of known labels for any loss that never increases, and for points without a cost.

    It proves a bound, and nothing about single outputs.  ValueError is raised if the bias is free, or a number of
    positive labels or a sum of targets is asked for.
    """

    free_bias = squared = hard = False

    def __init__(self, search: Labelling) -> None:
        if search.free_bias or search.n_positive is not None or search.target_sum is not None:
            raise ValueError(
                f"labeled={search.loss!r} with {search.instance.balance} or a free bias: bounds are for hinge() and "
                "squared_hinge(), with a cost > 0 for every point"
            )
        self.search, self.n_solved = search, 0
        self._solver = NativeSolver(search.problem, tol=1e-8, precision="double")

    def point(self, y: Array, gamma: Array) -> PartialPoint:
        """The dual point of a γ; nothing is known about the error of its outputs."""
        search = self.search.fixed(y)
        outputs = search.kernel @ gamma + search.offset
        return PartialPoint(svm_bound(search, gamma), gamma, outputs, np.full(search.n, np.inf))

    def solve(self, y: Array, gamma: Array | None = None, tol: float = 1e-7) -> PartialPoint:
        """The best γ for labels ``y`` (+1, -1, 0 for unknown)."""
        self.n_solved += 1
        return self.point(y, self._solver.solve(self.search.svm(y)).gamma)

    def consequences(self, y: Array, point: PartialPoint, cutoff: float) -> tuple[Array, Array]:
        """Infinite ends for all outputs, as this SVM proves nothing about them."""
        return np.full(len(y), -np.inf), np.full(len(y), np.inf)
