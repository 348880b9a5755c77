"""Compiled: what points pay at least in a box of weights and bias.

A loss is a table with a row (from, to, a, b, c) for each piece a x² + b x + c.
"""

import numpy as np

try:
    from numba import njit
except ImportError:

    def njit(**_options):
        """The decorator that leaves a loop as it is, but silent where numbers are divided by 0."""
        return np.errstate(divide="ignore", invalid="ignore", over="ignore")


@njit(cache=True, error_model="numpy")
def below(table, l, u, s):
    """The least value of a loss less the line s x on [l, u], and a place where it is."""
    least, place = np.inf, l
    for k in range(len(table)):
        first, last, a, b, c = table[k]
        p, q = max(first, l), min(last, u)
        if p > q:
            continue
        for x in (p, q, min(max((s - b) / (2.0 * a), p), q) if a > 0.0 else p):
            value = (a * x + b - s) * x + c
            if value < least:
                least, place = value, x
    return least, place


@njit(cache=True, error_model="numpy")
def slope(table, l, u, t):
    """About the slope at t of the convex envelope of a loss on [l, u]."""
    low, high, before, own, convex, bent = np.inf, -np.inf, -np.inf, 0.0, True, False
    for k in range(len(table)):
        first, last, a, b = table[k, 0], table[k, 1], table[k, 2], table[k, 3]
        p, q = max(first, l), min(last, u)
        if p >= q:
            continue
        left, right = 2.0 * a * p + b, 2.0 * a * q + b
        convex, bent = convex and right >= left >= before, bent or a > 0.0
        low, high, before = min(low, left, right), max(high, left, right), right
        if p <= t <= q:
            own = 2.0 * a * t + b
    if convex:
        return own
    # Not too near to an end of the interval: the line might be any there.
    margin = 2.0**-16 * (u - l)
    t = min(max(t, l + margin), u - margin)
    if bent:
        for _ in range(60):
            s = 0.5 * (low + high)
            if below(table, l, u, s)[1] <= t:
                low = s
            else:
                high = s
        return low
    # Of the lines through an end of a piece on either side of t the one that is lowest there.
    lowest, best = np.inf, low
    for k in range(len(table)):
        x = max(table[k, 0], l)
        if x > min(table[k, 1], u) or x > t:
            continue
        y = (table[k, 2] * x + table[k, 3]) * x + table[k, 4]
        for g in range(len(table)):
            z = min(table[g, 1], u)
            if z < max(table[g, 0], l) or z <= x or z < t:
                continue
            rise = ((table[g, 2] * z + table[g, 3]) * z + table[g, 4] - y) / (z - x)
            if y + rise * (t - x) < lowest:
                lowest, best = y + rise * (t - x), rise
    return min(max(best, low), high)


@njit(cache=True, error_model="numpy")
def touch(Z, cost, offset, tables, kind, middle, half, at, err, decided, planes):
    """Add what some points pay at least in a box to planes (constant, slopes) that touch ``at`` some points of it.

    Points whose loss is one convex quadratic there are added to what is ``decided`` (constant, slopes, form), and are
    not among those that are left, which are returned.  A fifth table, if there is one, is of two losses and stands for
    the lesser of them, for which no point is decided.
    """
    m, n = Z.shape
    left = np.zeros(m, dtype=np.bool_)
    for i in range(m):
        z, q, table = Z[i], cost[i], tables[kind[i]]
        f, rad = offset, err
        for j in range(n):
            f += z[j] * middle[j]
            rad += abs(z[j]) * half[j]
        l, u, inside = f - rad, f + rad, -1
        for k in range(len(table)):
            if kind[i] < 4 and table[k, 0] <= l and u <= table[k, 1] and table[k, 2] >= 0.0:
                inside = k
        if inside >= 0:
            a, b, c = table[inside, 2], table[inside, 3], table[inside, 4]
            decided[0] += q * ((a * offset + b) * offset + c)
            for j in range(n):
                decided[1 + j] += q * (2.0 * a * offset + b) * z[j]
                if a != 0.0:
                    for h in range(n):
                        decided[1 + n + j * n + h] += 2.0 * q * a * z[j] * z[h]
            continue
        left[i] = True
        for p in range(len(at)):
            t = offset
            for j in range(n):
                t += z[j] * at[p, j]
            s = slope(table, l, u, min(max(t, l), u))
            r = below(table, l, u, s)[0]
            planes[p, 0] += q * (r + s * offset)
            for j in range(n):
                planes[p, 1 + j] += q * s * z[j]
    return left
