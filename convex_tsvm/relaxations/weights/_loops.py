"""Compiled: over a box of weights and bias, a plane that the sum of what points pay is not below.

A point's output is in a known interval over the box.  Where the loss has one convex piece there, the point is decided
for every part of the box, and its quadratic joins those of others; every other one pays a line below its loss.
"""

import numpy as np

from ...points.compilation import njit

#: Halvings of the interval of slopes in which the best line below a curved loss is found.
HALVINGS = 60

#: A line below a loss that is not convex touches its envelope at least this share of the interval away from its ends:
#: otherwise the line may lie on a chord that is as short as a rounding error, and have any slope.
MARGIN = 2.0**-16

#: Moves of weight between planes, and halvings of the interval of weights that may be moved.
MOVES, STEPS = 50, 25


@njit(cache=True, nogil=True, error_model="numpy")
def _bent(h, k, m, x, y, ends, a, b, c, s):
    """The least value of a loss less the line s x, and where: at corners, or in curved pieces from the k-th on."""
    lowest, at = np.inf, x[0]
    for e in range(m):
        if y[e] - s * x[e] < lowest:
            lowest, at = y[e] - s * x[e], x[e]
    piece = k
    while piece < a.shape[1] and (piece == k or ends[h, piece] < x[m - 1]):
        if a[h, piece] > 0.0:
            v = min(max((s - b[h, piece]) / (2.0 * a[h, piece]), x[0], ends[h, piece]), x[m - 1], ends[h, piece + 1])
            value = (a[h, piece] * v + b[h, piece] - s) * v + c[h, piece]
            if value < lowest:
                lowest, at = value, v
        piece += 1
    return lowest, at


@njit(cache=True, nogil=True, error_model="numpy")
def _line(h, k, l, u, t, ends, a, b, c, last, x, y):
    """Slope and intercept of a line below a loss on [l, u], which begins in piece k: about its convex envelope's at t.

    The envelope is made of corners, where the slope rises, and of curved pieces, if these are convex.  ``x`` and ``y``
    are room for the corners.  Also returned is by how much the line changes on [l, u] if an end of a chord moves, at
    most, in units of that move.
    """
    t = min(max(t, l + MARGIN * (u - l)), u - MARGIN * (u - l))
    x[0], y[0] = l, (a[h, k] * l + b[h, k]) * l + c[h, k]
    m, piece, curved = 1, k, a[h, k] > 0.0
    flattest, steepest = np.inf, -np.inf
    while True:
        p, q = max(l, ends[h, piece]), min(u, ends[h, piece + 1])
        flattest = min(flattest, 2.0 * a[h, piece] * p + b[h, piece], 2.0 * a[h, piece] * q + b[h, piece])
        steepest = max(steepest, 2.0 * a[h, piece] * p + b[h, piece], 2.0 * a[h, piece] * q + b[h, piece])
        curved = curved or a[h, piece] > 0.0
        if piece == last - 1 or ends[h, piece + 1] >= u:
            break
        # Where the slope falls the envelope is below the loss.
        end = ends[h, piece + 1]
        if 2.0 * a[h, piece] * end + b[h, piece] <= 2.0 * a[h, piece + 1] * end + b[h, piece + 1]:
            x[m] = end
            y[m] = (a[h, piece] * x[m] + b[h, piece]) * x[m] + c[h, piece]
            m += 1
        piece += 1
    x[m], y[m] = u, (a[h, piece] * u + b[h, piece]) * u + c[h, piece]
    m += 1
    s = 0.0
    if curved:
        below, above = flattest, steepest
        for _ in range(HALVINGS):
            s = 0.5 * (below + above)
            if _bent(h, k, m, x, y, ends, a, b, c, s)[1] <= t:
                below = s
            else:
                above = s
        lowest, left = _bent(h, k, m, x, y, ends, a, b, c, below)
        right = _bent(h, k, m, x, y, ends, a, b, c, above)[1]
        change = (u - l) / (right - left) if left < right and (left == l or right == u) else 0.0
        return below, lowest, (steepest - flattest) * change
    change, first, best = 0.0, 1, np.inf
    while first < m - 1 and x[first] <= t:
        first += 1
    for e in range(first):
        for g in range(first, m):
            slope = (y[g] - y[e]) / (x[g] - x[e])
            if y[e] + slope * (t - x[e]) < best:
                best, s = y[e] + slope * (t - x[e]), slope
                change = (u - l) / (x[g] - x[e]) if e == 0 or g == m - 1 else 0.0
    # Whatever the slope is, this intercept makes the line one below.
    s, r = min(max(s, flattest), steepest), np.inf
    for e in range(m):
        r = min(r, y[e] - s * x[e])
    return s, r, (steepest - flattest) * change


@njit(cache=True, nogil=True, error_model="numpy")
def plane(X, offset, free, kind, cost, points, low, high, at, slack, priced, losses, decided, left, found, spread):
    """The plane at a point of a box; how many points are left undecided, and what those that are not pay.

    Outputs are x w + offset, and + b where that is ``free``: the last coordinate.  Each of the ``points``, which are
    undecided in a larger box, pays its cost times the loss of its kind; ``losses`` are ends, a, b, c, count and whether
    the piece ends a convex stretch, a row for each.  The loss of kind 2 may hold for one price only (``priced``), so
    that its points are not decided.  Rounding may move outputs in the box from ``low`` to ``high`` by the slack.

    Adds to ``decided``, constant, slopes and form of what decided points pay.  Sets the first of ``left``, places of
    the undecided points among the points; ``found``, constant and slopes of the plane; and ``spread``, how much outputs
    of undecided points vary with each coordinate, times costs.  Returned besides their number is what all points pay
    ``at``, and by how much the plane changes in the box if the ends of all outputs' intervals move by the slack.
    """
    ends, a, b, c, count, cuts = losses
    n_weights, n = X.shape[1], low.size
    z, middle, half = np.zeros(n), 0.5 * (low + high), 0.5 * (high - low)
    constant, value, used, shift = 0.0, 0.0, 0, 0.0
    slopes, x, y = np.zeros(n), np.empty(a.shape[1] + 2), np.empty(a.shape[1] + 2)
    spread[:] = 0.0
    if free:
        z[n - 1] = 1.0
    for p in range(points.size):
        i = points[p]
        t, m, rad = offset, offset, slack
        for j in range(n_weights):
            z[j] = X[i, j]
            t += z[j] * at[j]
            m += z[j] * middle[j]
            rad += abs(z[j]) * half[j]
        if free:
            t += at[n - 1]
            m += middle[n - 1]
            rad += half[n - 1]
        h, q = kind[p], cost[i]
        last = count[h]
        l, u = m - rad, m + rad
        k = 0
        while k < last - 1 and l >= ends[h, k + 1]:
            k += 1
        single = priced and h == 2
        if not single and u <= ends[h, k + 1] and a[h, k] >= 0.0:
            A, B, G = q * a[h, k], q * (2.0 * a[h, k] * offset + b[h, k]), (a[h, k] * offset + b[h, k]) * offset
            decided[0] += q * (G + c[h, k])
            if B != 0.0:
                for j in range(n):
                    decided[1 + j] += B * z[j]
            if A != 0.0:
                for j in range(n):
                    for g in range(n):
                        decided[1 + n + j * n + g] += 2.0 * A * z[j] * z[g]
            continue
        left[used] = p
        used += 1
        t = min(max(t, l), u)
        f = k
        convex = (a[h, k] >= 0.0 and not single) or l == u
        while f < last - 1 and t >= ends[h, f + 1]:
            f += 1
        for piece in range(k, last - 1):
            if ends[h, piece + 1] >= u:
                break
            convex = convex and not cuts[h, piece]
        here = (a[h, f] * t + b[h, f]) * t + c[h, f]
        value += q * here
        if convex:
            s = 2.0 * a[h, f] * t + b[h, f]
            r = here - s * t
        else:
            s, r, change = _line(h, k, l, u, t, ends, a, b, c, last, x, y)
            shift += q * change * slack
        constant += q * (r + s * offset)
        for j in range(n):
            slopes[j] += q * s * z[j]
            spread[j] += q * abs(z[j])
    # The tangent of what decided points pay, and its value.
    found[0] = constant + decided[0]
    value += decided[0]
    for j in range(n):
        bent = 0.0
        for g in range(n):
            bent += decided[1 + n + j * n + g] * at[g]
        found[1 + j] = slopes[j] + decided[1 + j] + bent
        found[0] -= 0.5 * bent * at[j]
        value += (decided[1 + j] + 0.5 * bent) * at[j]
    return used, value, shift


@njit(cache=True, nogil=True, error_model="numpy")
def _least(bend, kink, g, low, high):
    """The least value of ½ bend t² + kink |t| + g t on [low, high], and where it is."""
    t = 0.0
    if g > kink:
        t = (kink - g) / bend if bend > 0.0 else -np.inf
    elif g < -kink:
        t = (-kink - g) / bend if bend > 0.0 else np.inf
    t = min(max(t, low), high)
    return (0.5 * bend * t + g) * t + kink * abs(t), t


@njit(cache=True, nogil=True, error_model="numpy")
def least(bend, kink, found, low, high, each, at):
    """The least value of the plane and of what weights cost over a box; ``each`` coordinate's, and where, are set."""
    total = found[0]
    for j in range(low.size):
        each[j], at[j] = _least(bend[j], kink[j], found[1 + j], low[j], high[j])
        total += each[j]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def narrow(bend, kink, found, each, room, low, high):
    """Ends beyond which the plane and what weights cost are more than ``room`` above their least value; are changed."""
    for j in range(low.size):
        g, level = found[1 + j], each[j] + room
        if level >= 0.0:
            # On the side of sign s the function is ½ bend t² + rise |t|.
            for s in (1.0, -1.0):
                rise = kink[j] + s * g
                root = np.sqrt(rise * rise + 2.0 * bend[j] * level)
                t = np.inf
                if rise > 0.0:
                    t = 2.0 * level / (root + rise)
                elif bend[j] > 0.0:
                    t = (root - rise) / bend[j]
                if s > 0.0:
                    high[j] = min(high[j], t)
                else:
                    low[j] = max(low[j], -t)
        elif abs(g) > kink[j]:
            # Zero is above the level, and so is all of the side on which the function rises.
            fall = abs(g) - kink[j]
            root = np.sqrt(max(fall * fall + 2.0 * bend[j] * level, 0.0))
            first, last = -2.0 * level / (fall + root), (fall + root) / bend[j] if bend[j] > 0.0 else np.inf
            if g < 0.0:
                low[j], high[j] = max(low[j], first), min(high[j], last)
            else:
                low[j], high[j] = max(low[j], -last), min(high[j], -first)


@njit(cache=True, nogil=True, error_model="numpy")
def combine(bend, kink, planes, weights, low, high, accuracy, found, each, at):
    """About the best convex combination of planes for a bound over a box, whose ``weights`` are set.

    Weight moves from the plane that is lowest where the combination's least value is to the highest one there, as far
    as that raises this value, until both are equal up to an accuracy.  The combination is set as ``found``, and what
    :func:`least` sets of it, whose value is returned.
    """
    best, first = -np.inf, 0
    for k in range(weights.size):
        value = least(bend, kink, planes[k], low, high, each, at)
        if value > best:
            best, first = value, k
    weights[:] = 0.0
    weights[first] = 1.0
    found[:] = planes[first]
    least(bend, kink, found, low, high, each, at)
    moved, t, slopes = found.copy(), at.copy(), planes[:, 1:].copy()
    for _ in range(MOVES):
        here = planes[:, 0] + slopes @ at
        to, lowest = np.argmax(here), -1
        for k in range(weights.size):
            if weights[k] > 0.0 and (lowest < 0 or here[k] < here[lowest]):
                lowest = k
        if here[to] - here[lowest] <= accuracy:
            break
        direction = planes[to] - planes[lowest]
        below, above = 0.0, weights[lowest]
        moved[:] = found + above * direction
        least(bend, kink, moved, low, high, each, t)
        if direction[0] + direction[1:] @ t >= 0.0:
            below = above
        else:
            for _ in range(STEPS):
                step = 0.5 * (below + above)
                moved[:] = found + step * direction
                least(bend, kink, moved, low, high, each, t)
                if direction[0] + direction[1:] @ t >= 0.0:
                    below = step
                else:
                    above = step
        if below == 0.0:
            break
        weights[to] += below
        weights[lowest] = max(weights[lowest] - below, 0.0)
        found[:] = weights @ planes
        least(bend, kink, found, low, high, each, at)
    weights[:] = weights / weights.sum()
    found[:] = weights @ planes
    return least(bend, kink, found, low, high, each, at)
