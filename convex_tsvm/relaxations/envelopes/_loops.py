"""Compiled: the conjugates of functions that are not convex, each given by quadratics on neighbouring intervals.

The conjugate sup_t (s t - f(t)) is the largest of the conjugates of f's parts: of each convex part [l, u] it is a
parabola between the slopes at its ends and a line beyond, of any other part that of its two ends.  Parts from left to
right take over from each other in that order as s rises, so that one stack finds where.
"""

import numpy as np

from ...points.compilation import njit


@njit(cache=True, error_model="numpy")
def _value(part, s):
    """The conjugate of a part (l, u, f(l), f(u), a, b, c) at s."""
    l, u, at_l, at_u, a, b, c = part
    if a > 0.0:
        t = (s - b) / (2.0 * a)
        if l < t < u:
            return 0.5 * t * (s - b) - c
        return l * s - at_l if t <= l else u * s - at_u
    return l * s - at_l


@njit(cache=True, error_model="numpy")
def _place(part, s):
    """Where the conjugate of a part is reached at s."""
    l, u, _, _, a, b, _ = part
    return min(max((s - b) / (2.0 * a), l), u) if a > 0.0 else l


@njit(cache=True, error_model="numpy")
def _crossing(left, right, s):
    """The least slope from s on at which the conjugate of the right part is not below that of the left one."""
    knots = np.full(4, np.inf)
    used = 0
    for part in (left, right):
        if part[4] > 0.0:
            for t in (part[0], part[1]):
                knot = 2.0 * part[4] * t + part[5]
                if knot > s:
                    knots[used] = knot
                    used += 1
    knots = np.sort(knots[:used])
    below = s
    for k in range(used):
        above = knots[k]
        if _value(right, above) >= _value(left, above):
            # Between two knots the difference is a quadratic that rises: its root is found by halving.
            for _ in range(200):
                middle = 0.5 * (below + above)
                if middle <= below or middle >= above:
                    break
                if _value(right, middle) >= _value(left, middle):
                    above = middle
                else:
                    below = middle
            return above
        below = above
    far = below if np.isfinite(below) else -1e300
    rate = _place(right, np.inf) - _place(left, np.inf)
    if used == 0 and not np.isfinite(s):
        # Two points: the slope of the line through both.
        return (right[2] - left[2]) / (right[0] - left[0]) if right[0] > left[0] else np.inf
    if rate <= 0.0:
        return np.inf
    return far + (_value(left, far) - _value(right, far)) / rate


@njit(cache=True, error_model="numpy")
def _part(parts, k):
    return (parts[k, 0], parts[k, 1], parts[k, 2], parts[k, 3], parts[k, 4], parts[k, 5], parts[k, 6])


@njit(cache=True, error_model="numpy")
def conjugates(low, high, a, b, c, S, P, R, m):
    """Derivatives of the conjugates of functions that are a t² + b t + c on [low, high], piece by piece, and +inf else.

    Function i has the pieces (i, k); those with low > high are none.  The derivative of its conjugate is
    P[i, j] + R[i, j] s on [S[i, j], S[i, j + 1]], for j < m[i].
    """
    n, pieces = a.shape
    parts = np.empty((2 * pieces, 7))
    begin = np.empty(2 * pieces)
    for i in range(n):
        top = -1
        for k in range(pieces):
            l, u = low[i, k], high[i, k]
            if l > u:
                continue
            at_l, at_u = (a[i, k] * l + b[i, k]) * l + c[i, k], (a[i, k] * u + b[i, k]) * u + c[i, k]
            curved = a[i, k] > 0.0 and u > l
            for end in range(1 if curved or u == l else 2):
                if curved:
                    part = (l, u, at_l, at_u, a[i, k], b[i, k], c[i, k])
                elif end == 0:
                    part = (l, l, at_l, at_l, 0.0, 0.0, 0.0)
                else:
                    part = (u, u, at_u, at_u, 0.0, 0.0, 0.0)
                start = -np.inf
                while top >= 0:
                    kept = _part(parts, top)
                    start = begin[top]
                    if np.isfinite(start):
                        if _value(part, start) >= _value(kept, start):
                            top -= 1
                            start = -np.inf
                            continue
                        start = _crossing(kept, part, start)
                        break
                    # The first part: the lines beyond the least slope say which is larger there.
                    if part[0] <= kept[0] and part[2] <= kept[2]:
                        top -= 1
                        start = -np.inf
                        continue
                    first = 1e300
                    if kept[4] > 0.0:
                        first = 2.0 * kept[4] * kept[0] + kept[5]
                    if part[4] > 0.0:
                        first = min(first, 2.0 * part[4] * part[0] + part[5])
                    if first == 1e300:
                        start = _crossing(kept, part, -np.inf)
                        break
                    gap = part[0] - kept[0]
                    if gap > 0.0 and (part[2] - kept[2]) / gap <= first:
                        start = (part[2] - kept[2]) / gap
                    else:
                        start = _crossing(kept, part, first)
                    break
                if start == np.inf:
                    continue
                top += 1
                begin[top] = start
                for q in range(7):
                    parts[top, q] = part[q]
        count = 0
        S[i, 0] = -np.inf
        for k in range(top + 1):
            first, last = begin[k], (begin[k + 1] if k < top else np.inf)
            l, u, a_k, b_k = parts[k, 0], parts[k, 1], parts[k, 4], parts[k, 5]
            curved = a_k > 0.0
            bounds = (2.0 * a_k * l + b_k, 2.0 * a_k * u + b_k) if curved else (np.inf, np.inf)
            for piece in range(3):
                if piece == 0:
                    stop, offset, rate = min(bounds[0], last), l, 0.0
                elif piece == 1:
                    stop, rate = min(bounds[1], last), (0.5 / a_k if curved else 0.0)
                    offset = -b_k * rate
                else:
                    stop, offset, rate = last, u, 0.0
                if stop <= first:
                    continue
                if count > 0 and R[i, count - 1] == rate and P[i, count - 1] == offset:
                    S[i, count] = stop
                else:
                    P[i, count], R[i, count] = offset, rate
                    count += 1
                    S[i, count] = stop
                first = stop
        m[i] = count
