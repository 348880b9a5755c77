"""Compiled loops of the native dual solver.  All of them are here, so that one file decides what must recompile.

Every point i has a loss ψ_i(t) = cost_i ℓ_k(t) + slope_i t.  Its dual variable is held as s_i, a slope of the
*unscaled* loss: γ_i = -(slope_i + cost_i s_i).  The derivative of ℓ_k* is piecewise linear: on the piece
[S[k, j], S[k, j+1]] it is P[k, j] + R[k, j] s.  Breakpoints are met exactly, so they are compared with ==.
"""

import numpy as np
from numba import njit

TINY = 1e-12


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


@njit(cache=True)
def descend_single(Q, h, s, kind, cost, S, P, R, m, tol, max_steps):
    """Coordinate steps of largest gain for a fixed bias; ``h`` are the outputs.  Changes h and s.

    Returns (steps, largest violation).
    """
    q = s.shape[0]
    low, rate_up, room_up = np.empty(q), np.empty(q), np.empty(q)
    high, rate_down, room_down = np.empty(q), np.empty(q), np.empty(q)
    locate_all(S, P, R, m, kind, cost, s, low, rate_up, room_up, high, rate_down, room_down)
    worst = 0.0
    for step in range(max_steps + 1):
        best, chosen, delta, up, worst = 0.0, -1, 0.0, True, 0.0
        for i in range(q):
            d = low[i] - h[i]
            if d > 0.0:
                worst = max(worst, d)
                curvature = Q[i, i] + rate_up[i]
                move = min(d / max(curvature, TINY), room_up[i])
                gain = move * (d - 0.5 * move * curvature)
                if gain > best:
                    best, chosen, delta, up = gain, i, move, True
            d = h[i] - high[i]
            if d > 0.0:
                worst = max(worst, d)
                curvature = Q[i, i] + rate_down[i]
                move = min(d / max(curvature, TINY), room_down[i])
                gain = move * (d - 0.5 * move * curvature)
                if gain > best:
                    best, chosen, delta, up = gain, i, move, False
        if worst <= tol or chosen < 0 or step == max_steps:
            return step, worst
        i = chosen
        s[i] = moved(S, m, kind[i], cost[i], s[i], delta, room_up[i] if up else room_down[i], up)
        signed = delta if up else -delta
        for j in range(q):
            h[j] += signed * Q[i, j]
        low[i], rate_up[i], room_up[i], high[i], rate_down[i], room_down[i] = locate(S, P, R, m, kind[i], cost[i], s[i])
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
    gap = 0.0
    for step in range(max_steps + 1):
        i, top, bottom = -1, -np.inf, np.inf
        for j in range(q):
            if low[j] - h[j] > top:
                top, i = low[j] - h[j], j
            bottom = min(bottom, high[j] - h[j])
        gap = top - bottom
        if gap <= tol or i < 0 or step == max_steps:
            return step, max(gap, 0.0)
        best, partner, best_curvature = 0.0, -1, 1.0
        for j in range(q):
            d = top - (high[j] - h[j])
            if d > 0.0 and j != i:
                curvature = max(Q[i, i] + Q[j, j] - 2.0 * Q[i, j] + rate_up[i] + rate_down[j], TINY)
                if d * d > best * curvature:
                    best, partner, best_curvature = d * d / curvature, j, curvature
        if partner < 0:
            return step, max(gap, 0.0)
        j = partner
        delta = (top - (high[j] - h[j])) / best_curvature
        delta = min(delta, room_up[i], room_down[j])
        s[i] = moved(S, m, kind[i], cost[i], s[i], delta, room_up[i], True)
        s[j] = moved(S, m, kind[j], cost[j], s[j], delta, room_down[j], False)
        for k in range(q):
            h[k] += delta * (Q[i, k] - Q[j, k])
        low[i], rate_up[i], room_up[i], high[i], rate_down[i], room_down[i] = locate(S, P, R, m, kind[i], cost[i], s[i])
        low[j], rate_up[j], room_up[j], high[j], rate_down[j], room_down[j] = locate(S, P, R, m, kind[j], cost[j], s[j])
    return max_steps, gap
