"""Compiled epochs of coordinate steps: each visits terms in random order, and moves one dual variable at a time.

Term t is the loss cost ℓ_k(f_i) + slope f_i of a point i = point[t].  Its dual variable is held as s_t, a slope of the
unscaled loss ℓ_k: γ_t = -(slope_t + cost_t s_t).  The derivative of ℓ_k* is P[k, j] + R[k, j] s on the piece from
S[k, j] to S[k, j + 1], of which there are m[k].

Outputs are f_i = u·x_i - sigma away_i + shift.  With a balance, points are x_i - m for the mean m of its points;
``away`` has the products x_i·m, and sigma = Σ γ is how often m is in w = u - sigma m.  Otherwise ``away`` is zero.
The shift changes by ``room - away_i`` with γ_i: ``room`` is ‖m‖² with a balance; for a free bias it is the inverse
weight of the square that keeps the bias near its last value; it is 0 without a bias.

An epoch visits the first ``active`` terms of ``order``, and returns how many are to be visited next, sigma and shift,
and what it has found: the largest violation, the sum of the duality gaps of the terms, the sum of their losses, and
Σ γ f, which is ‖w‖² at a solution.
"""

import numpy as np

from ...points.compilation import njit, tell_of_compilation
from .._loops import meeting

tell_of_compilation()

#: Sums may be reordered, which vectorizes products of dense rows; infinities keep their meaning.
REORDERED = {"cache": True, "nogil": True, "fastmath": {"nsz", "arcp", "contract", "reassoc"}, "error_model": "numpy"}

IN_ORDER = {"cache": True, "nogil": True, "error_model": "numpy"}


@njit(inline="always", **IN_ORDER)
def _gaps(S, P, R, Q, m, k, s, f):
    """ℓ(f) + ℓ*(s) - s f, which is at least 0, and ℓ*(s); the former is an integral of |f - (ℓ*)'| from s on."""
    gap, conjugate = 0.0, 0.0
    for j in range(m[k]):
        first, last, p, r = S[k, j], S[k, j + 1], P[k, j], R[k, j]
        if first <= s <= last:
            conjugate = Q[k, j] + (p + 0.5 * r * s) * s
        if last > s:  # to the right of s the derivative is above that at s; f may be above it
            a = max(first, s)
            high = f - p - r * a
            if high > 0.0:
                b = last if r <= 0.0 else min(last, a + high / r)
                gap += (high - 0.5 * r * (b - a)) * (b - a)
        if first < s:
            b = min(last, s)
            low = p + r * b - f
            if low > 0.0:
                a = first if r <= 0.0 else max(first, b - low / r)
                gap += (low - 0.5 * r * (b - a)) * (b - a)
    return gap, conjugate


@njit(inline="always", **IN_ORDER)
def _violation(S, P, R, m, k, s, f):
    """How far f is from where the subgradient s belongs to, and how far inside of that interval."""
    low, high = -np.inf, np.inf
    for j in range(m[k]):
        first, last = S[k, j], S[k, j + 1]
        here = P[k, j] + R[k, j] * s
        if first < s <= last:
            low = here
        if first <= s < last:
            high = here
    return max(low - f, f - high, 0.0), min(f - low, high - f)


@njit(inline="always", **IN_ORDER)
def _rated(S, P, R, Q, m, k, c, b, s, f):
    """Of a term with output f: its violation, how far inside f is, its gap, its loss, and its part of Σ γ f."""
    out, inside = _violation(S, P, R, m, k, s, f)
    residual, conjugate = _gaps(S, P, R, Q, m, k, s, f)
    return out, inside, c * residual, c * (residual + s * f - conjugate) + b * f, (b + c * s) * f


@njit(**IN_ORDER)
def shuffle(order, count, seed):
    """Put the first ``count`` entries into random order (xorshift)."""
    x = seed[0]
    for j in range(count - 1, 0, -1):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        i = ((x >> np.uint64(33)) * np.uint64(j + 1)) >> np.uint64(31)
        order[i], order[j] = order[j], order[i]
    seed[0] = x


def _epoch(rows, norms, away, room, tables, point, kind, cost, slope, s, order, active, u, sigma, shift, keep):
    """An epoch over dense rows, ``(X,)``, or sparse ones, ``(indptr, indices, data)``; one branch is compiled."""
    S, P, R, Q, m = tables
    place = 0
    violation, gap, loss, pull = 0.0, 0.0, 0.0, 0.0
    while place < active:
        t = order[place]
        i = point[t]
        k, c, b, old = kind[t], cost[t], slope[t], s[t]
        f = 0.0
        if len(rows) == 1:
            row = rows[0][i]
            for j in range(u.shape[0]):
                f += row[j] * u[j]
        else:
            first, last = rows[0][i], rows[0][i + 1]
            for j in range(first, last):
                f += rows[2][j] * u[rows[1][j]]
        f += shift - sigma * away[i]
        out, inside, lacking, paid, pulled = _rated(S, P, R, Q, m, k, c, b, old, f)
        violation, gap, loss, pull = max(violation, out), gap + lacking, loss + paid, pull - pulled
        if out <= 0.0:
            if inside > keep:
                active -= 1
                order[place], order[active] = order[active], t
            else:
                place += 1
            continue
        place += 1
        new = meeting(S, P, R, m, k, f + norms[i] * c * old, norms[i] * c)
        s[t] = new
        change = c * (old - new)
        if len(rows) == 1:
            for j in range(u.shape[0]):
                u[j] += change * row[j]
        else:
            for j in range(first, last):
                u[rows[1][j]] += change * rows[2][j]
        sigma += change
        shift += change * (room - away[i])
    return active, sigma, shift, violation, gap, loss, pull


epoch_dense, epoch_sparse = njit(**REORDERED)(_epoch), njit(**IN_ORDER)(_epoch)
