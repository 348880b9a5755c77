"""The regularizer of several kernels at once, whose weights are found with the function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import Array
from .regularizers import Regularizer, disjoint


@dataclass(frozen=True)
class MultipleKernels(Regularizer):
    """½ (Σ_g ‖w_g‖)²: several kernels, with weights d that are found (Bach, Lanckriet and Jordan 2004).

    Each block of features is one kernel, such as the columns of a factor of its matrix.  Since (Σ ‖w_g‖)² is the least
    of Σ ‖w_g‖² / d_g over d >= 0 with Σ d_g = 1, the function is that of the kernel Σ d_g k_g with the best d, which is
    ‖w_g‖ / Σ ‖w_h‖ (:meth:`kernel_weights`).

    Parameters
    ----------
    groups : sequence of sequences of int
        The features of each kernel; every feature is in one.

    Examples
    --------
    >>> kernels = ct.formulations.MultipleKernels([[0, 1], [2]])
    >>> kernels.value(np.array([3.0, 4.0, 1.0])), kernels.kernel_weights(np.array([3.0, 4.0, 5.0]))
    (18.0, array([0.5, 0.5]))
    """

    groups: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", disjoint(self.groups))

    def value(self, w: Array) -> float:
        return 0.5 * float(self._norms(w).sum()) ** 2

    def weights(self, v: Array) -> None:
        return None  # only blocks of the largest norm may be other than zero, and v does not say how they share

    def conjugate(self, v: Array) -> float:
        return 0.5 * float(self._norms(v).max()) ** 2

    def kernel_weights(self, w: Array) -> Array:
        """The weights d of the kernels, shape (n_groups,), which sum to 1, from w such as ``solution.weights``."""
        norms = self._norms(w)
        return np.asarray(norms / max(float(norms.sum()), 1e-300))

    def expression(self, cvxpy: Any, w: Any) -> tuple[Any, list[Any]]:
        return 0.5 * cvxpy.square(sum(cvxpy.norm(w[list(group)]) for group in self.groups)), []

    def conjugate_expression(self, cvxpy: Any, v: Any) -> tuple[Any, list[Any]]:
        norms = cvxpy.hstack([cvxpy.norm(v[list(group)]) for group in self.groups])
        return 0.5 * cvxpy.square(cvxpy.max(norms)), []

    def latex(self) -> str:
        return r"\tfrac12 \left( \sum_g \lVert w_g \rVert \right)^2"

    def __str__(self) -> str:
        return "½ (Σ_g ‖w_g‖)²"

    def check(self, n_features: int) -> None:
        found = sorted(j for group in self.groups for j in group)
        if found != list(range(n_features)):
            raise ValueError(f"groups must have each of the {n_features} features in one; they have {len(found)}")

    def _norms(self, w: Array) -> Array:
        return np.array([float(np.linalg.norm(w[list(group)])) for group in self.groups])
