"""Compiled loops over terms: a term is a loss of one point, with its cost and slope (see ``ConvexStep``).

A loss k has the breakpoints ``breaks[k, :m[k]]`` and on its piece j the quadratic ``pieces[k, j]``.  Where ``point`` is
empty, term t is of point t.
"""

import numpy as np

from ...points.compilation import njit, tell_of_compilation

tell_of_compilation()

#: Sums may be reordered, which vectorizes them; infinities and NaN keep their meaning.
FAST = {"cache": True, "nogil": True, "fastmath": {"nsz", "arcp", "contract", "reassoc"}, "error_model": "numpy"}

ZERO, ONE = np.uint64(0), np.uint64(1)


@njit(**FAST)
def evaluate(breaks, pieces, m, kind, cost, slope, point, f, first, last, g, h):
    """g_i += ψ_i'(f_i) and h_i += ψ_i''(f_i) for the terms from ``first`` to ``last``; the sum of the losses."""
    total, indirect = 0.0, point.shape[0] > 0
    for t in range(np.uint64(first), np.uint64(last)):
        c, b = cost[t], slope[t]
        if c == 0.0 and b == 0.0:
            continue
        i, k, j = point[t] if indirect else t, kind[t], ZERO
        x = f[i]
        for q in range(m[k]):
            j += ONE if x >= breaks[k, q] else ZERO  # a choice, not a branch: where x lies is not to be predicted
        p = pieces[k, j]
        total += c * ((p[0] * x + p[1]) * x + p[2]) + b * x
        g[i] += c * (2.0 * p[0] * x + p[1]) + b
        h[i] += 2.0 * c * p[0]
    return total


@njit(**FAST)
def along(breaks, pieces, m, kind, cost, slope, point, f, change, t, first, last):
    """First and second derivative, at step t, of the sum of the losses of f + t · change."""
    down, bend, indirect = 0.0, 0.0, point.shape[0] > 0
    for s in range(np.uint64(first), np.uint64(last)):
        c, b = cost[s], slope[s]
        if c == 0.0 and b == 0.0:
            continue
        i, k, j = point[s] if indirect else s, kind[s], ZERO
        d = change[i]
        x = f[i] + t * d
        for q in range(m[k]):
            j += ONE if x >= breaks[k, q] else ZERO  # a choice, not a branch: where x lies is not to be predicted
        down += (c * (2.0 * pieces[k, j, 0] * x + pieces[k, j, 1]) + b) * d
        bend += 2.0 * c * pieces[k, j, 0] * d * d
    return down, bend
