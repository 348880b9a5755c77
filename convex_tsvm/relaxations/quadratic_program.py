"""The S3VM as a quadratic program in v, for the squared hinge (Bai and Yan 2016; Piccialli, Schwiddessen, Sudoso 2024).

With slacks signed as their points, v = f + y ξ, and f minimized out, the S3VM is

    min q(v) = ½ (v - o)ᵀ (G + D)⁻¹ (v - o),  y_i v_i >= 1 (known labels),  v_i² >= 1 (unknown),  D_ii = 1 / (2 c_i),

and its SDP relaxation has V for v vᵀ: V ⪰ v vᵀ, V_ii >= 1.  The value is that of the relaxation in Γ (debie2004 §2,
chapelle2008 §3.4); but here a product of two outputs is at hand, and with it the cuts of
:mod:`~convex_tsvm.relaxations.signs.cuts`.
"""

import numpy as np
import scipy.linalg

from ..deadline import TimeIsUp, time_is_up
from ..instance.labelling import Labelling
from ..losses import squared_hinge
from ..problem import Array
from .rounding import EPS

#: Columns of an inverse that are computed before it is asked whether there is time for more.
COLUMNS_AT_ONCE = 500


class OutputSpace:
    """The S3VM as a quadratic program in v.

    Attributes
    ----------
    C : array, shape (1 + n, 1 + n)
        q(v) = <C, [1; v] [1; v]ᵀ> + constant, with C_00 = 0.  Where a sum of v is fixed, a multiple of the square of
        how far it is off is part of it, which is zero for every solution.
    doubt : float
        What rounding may have done to q: its exact values are at least the computed ones less doubt times ‖v - o‖².
        Infinite where the kernel and its inverse are too far apart in size for floating point: then q bounds nothing.
    linear_error : array, shape (n,)
        How far the linear terms may be off, beyond that.
    constant_error : float
        The same of the constant.
    """

    def __init__(self, search: Labelling) -> None:
        if not search.loss.isclose(squared_hinge()):
            raise ValueError(f"labeled={search.loss!r}: relaxations in v-space are for the squared hinge")
        if not (search.cost > 0).all():
            raise ValueError("relaxations in v-space need a cost > 0 for every point")
        self.search, n = search, search.n
        half, self.doubt = self._inverse(search)
        if search.free_bias:
            # The bias that is best for v is minimized out.
            sums = half.sum(axis=1)
            total = float(sums.sum())
            half = half - np.outer(sums, sums) / total
            # With an error in the inverse the best bias is another one, too; ``stretch`` bounds what that adds.
            stretch = 1 + np.sqrt(n) * float(np.linalg.norm(sums)) / abs(total)
            self.doubt *= 2 * stretch**2 if total > 4 * n * self.doubt else np.inf
            self.doubt += (n + 8) * EPS * stretch**2 * float(np.linalg.norm(half))
        half = (half + half.T) / 2
        self.linear_error = np.abs(half) @ (search.offset_error + (n + 4) * EPS * np.abs(search.offset))
        linear, constant = -half @ search.offset, float(search.offset @ half @ search.offset)
        self.constant_error = search.constant_error + 4 * float(np.abs(search.offset) @ self.linear_error)
        if search.target_sum is not None:
            # Weight of the square of a fixed sum of targets, relative to the diagonal of the quadratic form.
            weight = 1.0 * float(np.diag(half).mean())
            half = half + weight * np.outer(search.summed, search.summed)
            linear = linear - weight * search.target_sum * search.summed
            constant += weight * search.target_sum**2
            self.linear_error = self.linear_error + 4 * EPS * weight * abs(search.target_sum) * search.summed
            self.constant_error += 4 * EPS * weight * search.target_sum**2
            self.doubt += 4 * EPS * weight * n
        self.C = np.block([[np.zeros((1, 1)), linear[None]], [linear[:, None], half]])
        self.constant = constant + search.constant
        self.constant_error += 8 * EPS * (abs(constant) + abs(search.constant))

    @staticmethod
    def _inverse(search: Labelling) -> tuple[Array, float]:
        """R = ½ (G + D)⁻¹ as computed, and a δ with ‖½ (G + D)⁻¹ - R‖ <= δ: E = I - 2 (G + D) R is how far it is off.

        E is known to its own rounding and that of G; then ‖(G + D)⁻¹ - 2 R‖ <= ‖2 R‖ ‖E‖ / (1 - ‖E‖).
        """
        n, gram = search.n, search.gram
        if time_is_up():
            raise TimeIsUp
        matrix = gram.matrix + np.diag(1 / (2 * search.cost))
        try:
            factor = scipy.linalg.cho_factor(matrix)
        except np.linalg.LinAlgError:
            return np.diag(search.cost), np.inf
        inverse = np.empty((n, n))
        for columns in np.array_split(np.arange(n), -(-n // COLUMNS_AT_ONCE)):
            if time_is_up():
                raise TimeIsUp
            inverse[:, columns] = scipy.linalg.cho_solve(factor, np.eye(n)[:, columns])
        inverse = (inverse + inverse.T) / 2
        sizes = np.abs(inverse)
        error = float(np.linalg.norm(matrix @ inverse - np.eye(n)))
        error += (n + 8) * EPS * float(np.linalg.norm(np.abs(matrix) @ sizes))
        error += gram.error * float(np.linalg.norm(gram.scale)) * float(np.linalg.norm(sizes @ gram.scale))
        if not error < 0.5:
            return inverse / 2, np.inf
        # The largest row sum is a bound of the norm that needs no eigenvalues.
        return inverse / 2, 0.5 * float(sizes.sum(axis=1).max()) * 1.01 * error / (1 - error)
