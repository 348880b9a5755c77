"""Compiled loops of the native dual solver.  All of them are here, so that one file decides what must recompile.

Every point i has a loss ψ_i(t) = cost_i ℓ_k(t) + slope_i t.  Its dual variable is held as s_i, a slope of the
*unscaled* loss: γ_i = -(slope_i + cost_i s_i).  The derivative of ℓ_k* is piecewise linear: on the piece
[S[k, j], S[k, j+1]] it is P[k, j] + R[k, j] s.  Breakpoints are met exactly, so they are compared with ==.
"""

import numpy as np
from numba import njit

TINY = 1e-12

#: Largest values are kept lane by lane, variable i in lane i mod LANES: a scan is then a loop that vectorizes, and the
#: winner is looked for in its lane only.
LANES = 256

#: Reorderings of arithmetic that let scans vectorize.  Infinities stay: bounds are infinite.
ARITHMETIC = {"nsz", "nnan", "arcp", "contract", "reassoc"}


@njit(cache=True)
def locate(S, P, R, m, k, cost, s):
    """Where the output may lie, and how far the dual variable can go, at s.

    Returns (low, rate_up, room_up, high, rate_down, room_down): raising γ (lowering s) pays while the output is
    below ``low``; then ``low`` falls at ``rate_up`` per unit of γ, until γ has risen by ``room_up``.  Likewise for
    lowering γ, while the output is above ``high``.
    """
    low, rate_up, room_up = -np.inf, 0.0, 0.0
    high, rate_down, room_down = np.inf, 0.0, 0.0
    if cost <= 0.0:
        return low, rate_up, room_up, high, rate_down, room_down
    for j in range(m[k]):
        if S[k, j] < s <= S[k, j + 1]:
            low = P[k, j] + R[k, j] * s
            rate_up = R[k, j] / cost
            room_up = cost * (s - S[k, j])
        if S[k, j] <= s < S[k, j + 1]:
            high = P[k, j] + R[k, j] * s
            rate_down = R[k, j] / cost
            room_down = cost * (S[k, j + 1] - s)
    return low, rate_up, room_up, high, rate_down, room_down


@njit(cache=True)
def locate_all(S, P, R, m, kind, cost, s, low, rate_up, room_up, high, rate_down, room_down):
    """:func:`locate` for every point."""
    for i in range(s.shape[0]):
        low[i], rate_up[i], room_up[i], high[i], rate_down[i], room_down[i] = locate(S, P, R, m, kind[i], cost[i], s[i])


@njit(cache=True)
def moved(S, m, k, cost, s, delta, room, up):
    """s after γ has moved by ``delta`` >= 0; a variable that used up its room lands exactly on the breakpoint."""
    if delta >= room:
        if up:
            for j in range(m[k]):
                if S[k, j] < s <= S[k, j + 1]:
                    return S[k, j]
        else:
            for j in range(m[k]):
                if S[k, j] <= s < S[k, j + 1]:
                    return S[k, j + 1]
    return s - delta / cost if up else s + delta / cost


@njit(cache=True, nogil=True)
def accumulate(store, slots, coefficients, total, first, last):
    """total[first:last] += Σ_k coefficients[k] store[slots[k], first:last], in double precision, by columns."""
    width = 4096  # of the total, so that it stays in the cache
    for start in range(first, last, width):
        stop = min(start + width, last)
        for k in range(slots.shape[0]):
            row, c = store[slots[k]], coefficients[k]
            for j in range(start, stop):
                total[j] += c * row[j]


@njit(cache=True, nogil=True)
def gather(store, slots, columns, values, places):
    """values[places[k], :] = store[slots[k], columns]."""
    for k in range(slots.shape[0]):
        row, out = store[slots[k]], values[places[k]]
        for j in range(columns.shape[0]):
            out[j] = row[columns[j]]


@njit(cache=True, fastmath=ARITHMETIC)
def _follow(h, change, row):
    """h += change row."""
    for i in range(h.shape[0]):
        h[i] += change * row[i]


@njit(cache=True, fastmath=ARITHMETIC)
def _gain(d, inverse, room):
    """What moving a variable with slack d by min(d / curvature, room) brings to first order: at most twice too much."""
    return d * min(d * inverse, room)


@njit(cache=True, fastmath=ARITHMETIC)
def _rate_single(h, low, high, up, down, room_up, room_down, gain, violation):
    """Lane by lane, the larger of what is in ``gain`` and ``violation`` and what the variables have."""
    for i in range(h.shape[0]):
        below, above = max(low[i] - h[i], 0.0), max(h[i] - high[i], 0.0)
        gain[i] = max(gain[i], _gain(below, up[i], room_up[i]), _gain(above, down[i], room_down[i]))
        violation[i] = max(violation[i], below, above)


@njit(cache=True, fastmath=ARITHMETIC)
def _rate_ends(h, low, high, top, bottom):
    """Lane by lane, the largest ``low - h`` and the smallest ``high - h``."""
    for i in range(h.shape[0]):
        top[i] = max(top[i], low[i] - h[i])
        bottom[i] = min(bottom[i], high[i] - h[i])


@njit(cache=True, fastmath=ARITHMETIC)
def _pair_gain(top, h, high, curvature):
    """What a pair step brings, to second order."""
    d = max(top - high + h, 0.0)
    return d * d / max(curvature, TINY)


@njit(cache=True, fastmath=ARITHMETIC)
def _rate_partners(h, high, curvature, row, top, own, gain):
    """Lane by lane, the largest gain of a pair step; ``curvature`` is without the first variable's part."""
    for i in range(h.shape[0]):
        gain[i] = max(gain[i], _pair_gain(top, h[i], high[i], own + curvature[i] - 2.0 * row[i]))


@njit(cache=True)
def descend_single(Q, h, s, kind, cost, S, P, R, m, tol, max_steps):
    """Coordinate steps of largest gain for a fixed bias; ``h`` are the outputs.  Changes h and s.

    Returns (steps, largest violation).
    """
    q = s.shape[0]
    low, rate_up, room_up = np.empty(q), np.empty(q), np.empty(q)
    high, rate_down, room_down = np.empty(q), np.empty(q), np.empty(q)
    locate_all(S, P, R, m, kind, cost, s, low, rate_up, room_up, high, rate_down, room_down)
    up, down = np.empty(q), np.empty(q)  # inverse curvatures
    for i in range(q):
        up[i], down[i] = 1.0 / max(Q[i, i] + rate_up[i], TINY), 1.0 / max(Q[i, i] + rate_down[i], TINY)
    gain, violation = np.empty(LANES), np.empty(LANES)
    change, row = 0.0, Q[0]
    for step in range(max_steps + 1):
        # One pass: outputs follow the last step, and what the next ones would bring is rated.
        gain[:], violation[:] = 0.0, 0.0
        for start in range(0, q, LANES):
            stop = min(start + LANES, q)
            _follow(h[start:stop], change, row[start:stop])
            _rate_single(
                h[start:stop],
                low[start:stop],
                high[start:stop],
                up[start:stop],
                down[start:stop],
                room_up[start:stop],
                room_down[start:stop],
                gain,
                violation,
            )
        worst, lane = violation.max(), np.argmax(gain)
        if worst <= tol or gain[lane] <= 0.0 or step == max_steps:
            return step, worst
        i, best, raises = lane, -1.0, True
        for j in range(lane, q, LANES):
            this = _gain(max(low[j] - h[j], 0.0), up[j], room_up[j])
            if this > best:
                i, best, raises = j, this, True
            this = _gain(max(h[j] - high[j], 0.0), down[j], room_down[j])
            if this > best:
                i, best, raises = j, this, False
        if raises:
            change = min((low[i] - h[i]) * up[i], room_up[i])
            s[i] = moved(S, m, kind[i], cost[i], s[i], change, room_up[i], True)
        else:
            change = min((h[i] - high[i]) * down[i], room_down[i])
            s[i] = moved(S, m, kind[i], cost[i], s[i], change, room_down[i], False)
            change = -change
        row = Q[i]
        low[i], rate_up[i], room_up[i], high[i], rate_down[i], room_down[i] = locate(S, P, R, m, kind[i], cost[i], s[i])
        up[i], down[i] = 1.0 / max(Q[i, i] + rate_up[i], TINY), 1.0 / max(Q[i, i] + rate_down[i], TINY)
    return max_steps, worst


@njit(cache=True)
def descend_pairs(Q, h, s, kind, cost, S, P, R, m, tol, max_steps):
    """Pair steps for a free bias, second variable by second-order gain; ``h`` are the outputs without bias.

    Returns (steps, gap), the gap between the largest lower and the smallest upper bound on the bias.
    """
    q = s.shape[0]
    low, rate_up, room_up = np.empty(q), np.empty(q), np.empty(q)
    high, rate_down, room_down = np.empty(q), np.empty(q), np.empty(q)
    locate_all(S, P, R, m, kind, cost, s, low, rate_up, room_up, high, rate_down, room_down)
    curvature = np.empty(q)
    for i in range(q):
        curvature[i] = Q[i, i] + rate_down[i]
    tops, bottoms, gain = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    delta, row, other = 0.0, Q[0], Q[0]
    for step in range(max_steps + 1):
        # Outputs follow the last step; the variable that most wants to be raised, and the bounds on the bias.
        tops[:], bottoms[:] = -np.inf, np.inf
        for start in range(0, q, LANES):
            stop = min(start + LANES, q)
            _follow(h[start:stop], delta, row[start:stop])
            _follow(h[start:stop], -delta, other[start:stop])
            _rate_ends(h[start:stop], low[start:stop], high[start:stop], tops, bottoms)
        lane = np.argmax(tops)
        top = tops[lane]
        gap = max(top - bottoms.min(), 0.0)
        if gap <= tol or top == -np.inf or step == max_steps:
            return step, gap
        i = lane
        for k in range(lane, q, LANES):
            if low[k] - h[k] > low[i] - h[i]:
                i = k
        row, own = Q[i], Q[i, i] + rate_up[i]
        gain[:] = 0.0
        for start in range(0, q, LANES):
            stop = min(start + LANES, q)
            _rate_partners(h[start:stop], high[start:stop], curvature[start:stop], row[start:stop], top, own, gain)
        lane = np.argmax(gain)
        j, best = -1, 0.0
        for k in range(lane, q, LANES):
            this = _pair_gain(top, h[k], high[k], own + curvature[k] - 2.0 * row[k])
            if k != i and this > best:
                j, best = k, this
        if j < 0:
            return step, gap
        delta = (top - high[j] + h[j]) / max(own + curvature[j] - 2.0 * row[j], TINY)
        delta = min(delta, room_up[i], room_down[j])
        s[i] = moved(S, m, kind[i], cost[i], s[i], delta, room_up[i], True)
        s[j] = moved(S, m, kind[j], cost[j], s[j], delta, room_down[j], False)
        other = Q[j]
        low[i], rate_up[i], room_up[i], high[i], rate_down[i], room_down[i] = locate(S, P, R, m, kind[i], cost[i], s[i])
        low[j], rate_up[j], room_up[j], high[j], rate_down[j], room_down[j] = locate(S, P, R, m, kind[j], cost[j], s[j])
        curvature[i], curvature[j] = Q[i, i] + rate_down[i], Q[j, j] + rate_down[j]
    return max_steps, gap
