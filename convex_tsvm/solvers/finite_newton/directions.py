"""Newton directions: (Diag(ridge) + Xᵀ Diag(h) X) p = -gradient, solved as accurately as is asked for."""

from typing import Any

import numpy as np
import scipy.linalg

from ...deadline import time_is_up
from ...instance.space import Space
from ...kernels.functions import dense
from ...parallel import blas_threads_for
from ...problem import Array
from ..cholesky import cholesky


class Directions:
    """Newton directions in one space; Hessians and their factors are kept from one direction to the next."""

    # How long Hessians and their factors are kept.
    most_dense = 600  # up to this number of variables the Hessian is formed, and kept from step to step
    # It is updated by the points whose curvature has changed, if these are at most this share of all points.
    changed = 0.25
    changes = 200  # after this number of updates it is formed anew, since each update leaves a rounding error
    # The largest change of a free bias in a step where losses have little curvature, in units of the outputs.
    bias = 10.0
    least = 1e-12  # curvatures count as at least this share of the largest one

    def __init__(self, space: Space) -> None:
        self.space, self.few = space, space.size <= self.most_dense
        self._ridge, self._h = space.ridge, np.zeros(space.points.shape[0])
        self._hessian: Any = 0.0
        self._factor: Any = None
        self._n_changes = 0

    def newton(self, h: Array, gradient: Array, accuracy: float) -> Array:
        """A direction of descent for curvatures h, with a residual of about ``accuracy`` times the gradient or less."""
        before, self._ridge = self._ridge, self._ridged(h, gradient)
        if not self.few and are_few(self.space, h):
            return newton_of_few(self.space, h, gradient, float(self._ridge[-1]))
        if not self.few:
            return self._iterate(h, gradient, accuracy)
        if self._factor is None or not (np.array_equal(h, self._h) and np.array_equal(before, self._ridge)):
            self._factorize(h)
        return -np.asarray(scipy.linalg.cho_solve(self._factor, gradient, check_finite=False))

    def _ridged(self, h: Array, gradient: Array) -> Array:
        """What is added to the diagonal: the regularization, and for a free bias what keeps its next change small."""
        if not self.space.free_bias:
            return self.space.ridge
        found = self.space.ridge.copy()
        found[-1] = max(0.0, abs(float(gradient[-1])) / self.bias - float(h.sum()))
        return found

    def _factorize(self, h: Array) -> None:
        change = h - self._h
        if self._n_changes >= self.changes or np.count_nonzero(change) > self.changed * len(h):
            self._hessian, self._n_changes = self.space.hessian(h), 0
        elif change.any():
            self._hessian, self._n_changes = self._hessian + self.space.hessian(change), self._n_changes + 1
        self._h = h
        matrix = self._hessian + np.diag(self._ridge)
        with blas_threads_for(len(matrix)):
            self._factor = cholesky(matrix, overwrite=True)

    def _iterate(self, h: Array, gradient: Array, accuracy: float) -> Array:
        """A direction by preconditioned conjugate gradients from 0, less accurate if they stop, or the time is up."""
        diagonal = self.space.diagonal(h) + self._ridge
        diagonal = np.maximum(diagonal, self.least * float(diagonal.max()))
        p, r = np.zeros(self.space.size), -gradient
        z = r / diagonal
        q, rz = z, float(r @ z)
        wanted = accuracy**2 * rz
        for _ in range(10 * self.space.size):
            image = self.space.curved(h, q) + self._ridge * q
            bend = float(q @ image)
            if not bend > 0:
                break
            step = rz / bend
            p += step * q
            r -= step * image
            z = r / diagonal
            rz, before = float(r @ z), rz
            if rz <= wanted or time_is_up():
                break
            q = z + (rz / before) * q
        return p


def are_few(space: Space, h: Array) -> bool:
    """Whether the points with curvature are few: beside the features, and few enough to solve a system of them."""
    n, d = space.points.shape
    count = int(np.count_nonzero(h))
    # Products are computed of their rows, which have about this many entries.
    return 0 < count <= min(1500, d // 2) and count * space.points.n_entries <= 2**21 * n


def newton_of_few(space: Space, h: Array, gradient: Array, last: float) -> Array:
    """p with (R + Zᵀ H Z) p = -gradient, where R is the identity, with ``last`` in its place for a free bias.

    Z are the few points with curvatures H, and the system is one of their number, not that of the features: by the
    formula of Woodbury (R + Zᵀ H Z)⁻¹ g is R⁻¹ g - R⁻¹ Zᵀ (H⁻¹ + Z R⁻¹ Zᵀ)⁻¹ Z R⁻¹ g.  It is exact however large the
    curvatures are: those of rounded kinks slow down conjugate gradients.
    """
    rows = np.flatnonzero(h)
    Z, bends = space.points.take(rows), h[rows]
    part, inner = space.of(Z), dense(Z @ Z.T)
    if space.mean is not None:
        # Points are centred: (x - m)·(x' - m).
        shift = np.asarray(Z @ space.mean).ravel()
        inner += float(space.mean @ space.mean) - shift[:, None] - shift[None, :]
    inner[np.diag_indices_from(inner)] += 1 / bends
    with blas_threads_for(len(inner)):
        factor = scipy.linalg.cho_factor(inner, lower=True, check_finite=False)

    def inverse(q: Array) -> Array:
        return np.asarray(scipy.linalg.cho_solve(factor, q, check_finite=False))

    if not space.free_bias:
        return part.pull(inverse(part.change(gradient))) - gradient
    # The bias is eliminated first: the sum of (H⁻¹ + Z Zᵀ)⁻¹ 1 is its curvature, without a difference of large numbers.
    w, rest, without = gradient[:-1], inverse(np.ones(len(rows))), inverse(part.points.times(gradient[:-1]))
    bias = (float(gradient[-1]) - float(without.sum())) / (last + float(rest.sum()))
    return np.append(part.points.transposed(without + bias * rest) - w, -bias)
