"""The S3VM as a quadratic program in v, for the squared hinge (Bai and Yan 2016; Piccialli, Schwiddessen, Sudoso 2024).

With slacks signed as their points, v = f + y ξ, and f minimized out, the S3VM is

    min q(v) = ½ (v - o)ᵀ (G + D)⁻¹ (v - o),  y_i v_i >= 1 (known labels),  v_i² >= 1 (unknown),  D_ii = 1 / (2 c_i),

and its SDP relaxation has V for v vᵀ: V ⪰ v vᵀ, V_ii >= 1.  The value is that of the relaxation in Γ (debie2004 §2,
chapelle2008 §3.4); but here a product of two outputs is at hand, and with it the cuts of
:mod:`~convex_tsvm.relaxations.output_space.cuts`.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ...instance.labelling import Labelling
from ...losses import squared_hinge
from ...problem import Array

#: Weight of the square of a fixed sum of targets, relative to the diagonal of the quadratic form.
PENALTY = 1.0


class OutputSpace:
    """The S3VM as a quadratic program in v.

    Attributes
    ----------
    C : array, shape (1 + n, 1 + n)
        q(v) = <C, [1; v] [1; v]ᵀ> + constant, with C_00 = 0.  Where a sum of v is fixed, a multiple of the square of
        how far it is off is part of it, which is zero for every solution.
    constant : float
    """

    def __init__(self, search: Labelling) -> None:
        if not search.loss.isclose(squared_hinge()):
            raise ValueError(f"labeled={search.loss!r}: relaxations in v-space are for the squared hinge")
        if not (search.cost > 0).all():
            raise ValueError("relaxations in v-space need a cost > 0 for every point")
        self.search, n = search, search.n
        factor = scipy.linalg.cho_factor(search.kernel + np.diag(1 / (2 * search.cost)))
        half = scipy.linalg.cho_solve(factor, np.eye(n)) / 2
        if search.free_bias:
            # The bias that is best for v is minimized out.
            sums = half.sum(axis=1)
            half = half - np.outer(sums, sums) / sums.sum()
        half = (half + half.T) / 2
        linear, constant = -half @ search.offset, float(search.offset @ half @ search.offset)
        if search.target_sum is not None:
            weight = PENALTY * float(np.diag(half).mean())
            half = half + weight * np.outer(search.summed, search.summed)
            linear = linear - weight * search.target_sum * search.summed
            constant += weight * search.target_sum**2
        self.C = np.block([[np.zeros((1, 1)), linear[None]], [linear[:, None], half]])
        self.constant = constant + search.constant

    def value(self, v: Array) -> float:
        """q(v), with the constant of the objective."""
        x = np.concatenate([[1.0], v])
        return float(x @ self.C @ x) + self.constant


def settle(low: Array, high: Array, y: Array) -> tuple[Array, Array]:
    """A box without (-1, 1): known labels, and unknown ones that one end settles."""
    low, high = low.copy(), high.copy()
    positive, negative = (y > 0) | (low > -1), (y < 0) | (high < 1)
    low[positive] = np.maximum(low[positive], 1.0)
    high[negative] = np.minimum(high[negative], -1.0)
    return low, high


def labels_of(low: Array, high: Array) -> Array:
    """Labels that a box settles; 0 for the others."""
    return np.where(low >= 1, 1.0, np.where(high <= -1, -1.0, 0.0))
