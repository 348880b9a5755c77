"""Newton directions where the losses of few points have curvature: a system of their number, not that of the features.

The losses' Hessian is Zᵀ H Z over those points, and by the formula of Woodbury (R + Zᵀ H Z)⁻¹ g is
R⁻¹ g - R⁻¹ Zᵀ (H⁻¹ + Z R⁻¹ Zᵀ)⁻¹ Z R⁻¹ g.  It is exact however large the curvatures are: those of rounded kinks slow
down conjugate gradients.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ...instance.space import Space
from ...kernels.functions import dense
from ...parallel import blas_threads_for
from ...problem import Array


def serves(space: Space, h: Array, *, most: int = 1500, entries: int = 2**21) -> bool:
    """Whether the points with curvature are few: beside the features, and few enough to solve a system of them.

    That is at most ``most`` points, and at most so many ``entries`` of their rows, of which products are computed.
    """
    n, d = space.points.shape
    count = int(np.count_nonzero(h))
    return 0 < count <= min(most, d // 2) and count * space.points.n_entries <= entries * n


def newton(space: Space, h: Array, gradient: Array, last: float) -> Array:
    """p with (R + Zᵀ H Z) p = -gradient, where R is the identity, with ``last`` in its place for a free bias."""
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
