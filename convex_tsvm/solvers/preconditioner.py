"""Variables in which a smooth primal is curved about the same in all directions, so that a descent takes few steps.

The Hessian of ½ ‖w‖² + Σ c_i ℓ_i(f_i) is I + Σ h_i z_i z_iᵀ with h_i = c_i ℓ_i''(f_i).  Of a kernel matrix the first
coordinates of the features z_i are hundreds of times as long as the last, and the few labelled points have by far the
largest h_i, so in w itself a descent zigzags.  Here w = T u, where T Tᵀ is the inverse of a near Hessian: of the
diagonal, without the points with the largest h_i ‖z_i‖², and of these points exactly (by the Woodbury formula).
Losses that bend downwards count as straight, so T is defined wherever it is made.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from ..instance import SmoothPrimal
from ..kernels.functions import dense
from ..problem import Array
from ..validation import is_sparse


class Identity:
    """The variables themselves, u = x."""

    def variables(self, u: Array) -> Array:
        return u

    gradient = scaled = variables


class Preconditioner:
    """T in x = T u, for a primal in the coordinates of w around a point x.

    At most ``points`` points are taken exactly, and at most this ``share`` of all: with few points steps cost less.
    """

    points, share = 100, 0.05

    def __init__(self, primal: SmoothPrimal, x: Array) -> None:
        space, h = primal.space, np.maximum(primal.curvatures_at(primal.outputs(x)), 0.0)
        sizes = h * (space.squared_norms() + space.free_bias)
        largest = np.argsort(-sizes, kind="stable")[: min(self.points, math.ceil(self.share * len(sizes)))]
        largest = np.sort(largest[sizes[largest] > 0])
        others = h.copy()
        others[largest] = 0.0
        diagonal = space.ridge + space.diagonal(others)
        if space.free_bias:
            diagonal[-1] = max(diagonal[-1], float(h.sum())) or 1.0  # nothing else holds the bias, which has no ridge
        self._scale = 1 / np.sqrt(diagonal)
        # V = Diag(√h) Z Diag(scale) for the points taken exactly; the Hessian in scaled variables is near I + Vᵀ V,
        # and with V Vᵀ = Q Diag(e) Qᵀ its root's inverse is I + Vᵀ Q Diag(((1 + e)^-½ - 1) / e) Qᵀ V.
        self._points, self._root = space.points.take(largest), np.sqrt(h[largest])
        self._space = space.of(self._points)
        values, basis = np.linalg.eigh(self._gram())
        values = np.maximum(values, 0.0)
        near_zero = values < 1e-12
        safe = np.where(near_zero, 1.0, values)
        self._inner = (basis * np.where(near_zero, -0.5, (1 / np.sqrt(1 + safe) - 1) / safe)) @ basis.T
        self._outer = (basis * np.where(near_zero, 0.5, (np.sqrt(1 + safe) - 1) / safe)) @ basis.T

    def variables(self, u: Array) -> Array:
        """x = T u."""
        return self._scale * self._changed(u, self._inner)

    def gradient(self, gradient: Array) -> Array:
        """Tᵀ g, the gradient with respect to u."""
        return self._changed(self._scale * gradient, self._inner)

    def scaled(self, x: Array) -> Array:
        """u = T⁻¹ x."""
        return self._changed(x / self._scale, self._outer)

    def _changed(self, u: Array, inner: Array) -> Array:
        return u + self._transposed(inner @ self._times(u))

    def _times(self, u: Array) -> Array:
        """V u."""
        return self._root * self._space.change(self._scale * u)

    def _transposed(self, q: Array) -> Array:
        """Vᵀ q."""
        return self._scale * self._space.pull(self._root * q)

    def _gram(self) -> Array:
        """V Vᵀ."""
        space, rows, squared = self._space, self._points, self._scale**2
        weights = space.weights(squared)
        scaled: Any = rows @ sparse.diags_array(weights) if is_sparse(rows) else rows * weights
        gram = dense(scaled @ rows.T)
        if space.free_bias:
            gram = gram + squared[-1]
        elif space.mean is not None:
            across = np.asarray(scaled @ space.mean)
            gram = gram - across[:, None] - across + float(space.mean @ (squared * space.mean))
        return self._root[:, None] * gram * self._root
