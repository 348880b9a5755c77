"""Compiled loops of the native solvers.  All of them are here, so that one file decides what must recompile.

Every point i has a loss ψ_i(t) = cost_i ℓ_k(t) + slope_i t.  Its dual variable is held as s_i, a slope of the
*unscaled* loss: γ_i = -(slope_i + cost_i s_i).  The derivative of ℓ_k* is piecewise linear: on the piece
[S[k, j], S[k, j+1]] it is P[k, j] + R[k, j] s.  Breakpoints are met exactly, so they are compared with ==.
"""

import numpy as np

from ..points.compilation import njit, tell_of_compilation
from ..ties import ZERO_OUTPUT

tell_of_compilation()

LEAST_BEND = 1e-12

#: Largest values are found lane by lane, with variable i in lane i mod LANES: that loop vectorizes.  The place of the
#: largest one is then searched for in its lane only.
LANES = 256

#: Options with which scans vectorize: arithmetic may be reordered, and divisions are not checked.  Infinities keep
#: their meaning, as some bounds are infinite.
SCAN = {"cache": True, "fastmath": {"nsz", "nnan", "arcp", "contract", "reassoc"}, "error_model": "numpy"}

#: Options of functions that only compiled ones call: entries from Python and C would take a fifth longer to compile.
INSIDE_ONLY = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


@njit(cache=True, error_model="numpy", **INSIDE_ONLY)
def locate(S, P, R, m, k, cost, s):
    """Where the output may lie, and how far the dual variable can go, at s.

    Returns (low, rate_up, room_up, high, rate_down, room_down): raising γ (lowering s) pays while the output is
    below ``low``; then ``low`` falls at ``rate_up`` per unit of γ, until γ has risen by ``room_up``.  Likewise for
    lowering γ, while the output is above ``high``.
    """
    low, rate_up, room_up = -np.inf, 0.0, 0.0
    high, rate_down, room_down = np.inf, 0.0, 0.0
    inverse = 1.0 / cost
    for j in range(m[k]):
        # These are selections, not branches: a processor could not predict on which piece s lies.
        first, last, rate = S[k, j], S[k, j + 1], R[k, j] * inverse
        output = P[k, j] + R[k, j] * s
        up, down = (first < s) & (s <= last), (first <= s) & (s < last)
        low = output if up else low
        rate_up = rate if up else rate_up
        room_up = cost * (s - first) if up else room_up
        high = output if down else high
        rate_down = rate if down else rate_down
        room_down = cost * (last - s) if down else room_down
    if cost <= 0.0:
        return -np.inf, 0.0, 0.0, np.inf, 0.0, 0.0
    return low, rate_up, room_up, high, rate_down, room_down


@njit(cache=True, error_model="numpy", **INSIDE_ONLY)
def _relocate(exact, i, S, P, R, m, k, cost, s):
    """Write what :func:`locate` says of point i into its column."""
    exact[0, i], exact[1, i], exact[2, i], exact[3, i], exact[4, i], exact[5, i] = locate(S, P, R, m, k, cost, s)


@njit(cache=True, error_model="numpy")
def locate_all(S, P, R, m, kind, cost, s, exact):
    """:func:`locate` for every point, which has a column."""
    for i in range(s.shape[0]):
        _relocate(exact, i, S, P, R, m, kind[i], cost[i], s[i])


@njit(cache=True)
def place_all(S, m, kind, cost, slope, gamma, s):
    """s of every γ, moved into the domain, and onto a breakpoint that it misses by rounding only.

    That is within 1e-9, relative to the breakpoint, but no more than a thousandth of the width of the pieces beside it:
    otherwise values inside a narrow piece would be moved to its end.
    """
    for i in range(s.shape[0]):
        s[i] = 0.0
        if cost[i] > 0.0:
            k = kind[i]
            s[i] = min(max((-gamma[i] - slope[i]) / cost[i], S[k, 0]), S[k, m[k]])
            for j in range(m[k] + 1):
                if np.isfinite(S[k, j]):
                    near = 1e-9 * (1.0 + abs(S[k, j]))
                    if j > 0 and S[k, j - 1] < S[k, j]:
                        near = min(near, 1e-3 * (S[k, j] - S[k, j - 1]))
                    if j < m[k] and S[k, j] < S[k, j + 1]:
                        near = min(near, 1e-3 * (S[k, j + 1] - S[k, j]))
                    if abs(s[i] - S[k, j]) <= near:
                        s[i] = S[k, j]


@njit(inline="always", cache=True, nogil=True, error_model="numpy")
def meeting(S, P, R, m, k, top, share):
    """s where the derivative of ℓ_k*, which rises, meets the falling line top - share s.

    The pieces are gone through from the left until they meet.
    """
    found = S[k, 0]
    for j in range(m[k]):
        s = (top - P[k, j]) / max(R[k, j] + share, 1e-300)
        if s <= S[k, j]:
            return S[k, j]
        if s < S[k, j + 1]:
            return s
        found = S[k, j + 1]
    return found


@njit(cache=True, error_model="numpy")
def proximal_all(S, P, R, m, kind, cost, slope, penalty, v, s, z):
    """The minimizers z of ψ_i(z) + penalty / 2 (z - v_i)², and the slopes s of the unscaled losses there.

    z = v - (slope + cost s) / penalty, where s is where the derivative of ℓ* meets that line.
    """
    for i in range(v.shape[0]):
        k, share = kind[i], cost[i] / penalty
        if cost[i] <= 0.0:
            s[i], z[i] = 0.0, v[i]
            continue
        top = v[i] - slope[i] / penalty
        s[i] = meeting(S, P, R, m, k, top, share)
        z[i] = top - share * s[i]


@njit(cache=True, **INSIDE_ONLY)
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


@njit(**SCAN, **INSIDE_ONLY)
def _fold(lanes, values):
    for i in range(values.shape[0]):
        lanes[i] = max(lanes[i], values[i])


@njit(cache=True, **INSIDE_ONLY)
def _maxima(lanes, values):
    """The largest value of every lane."""
    for lane in range(LANES):
        lanes[lane] = -np.inf
    for start in range(0, values.shape[0], LANES):
        _fold(lanes, values[start : min(start + LANES, values.shape[0])])


@njit(**SCAN, **INSIDE_ONLY)
def _highest(values):
    top = values[0]
    for i in range(1, values.shape[0]):
        top = max(top, values[i])
    return top


@njit(cache=True, **INSIDE_ONLY)
def _argmax(lanes, values):
    _maxima(lanes, values)
    top, lane = _highest(lanes), 0
    while lanes[lane] != top and lane < LANES - 1:  # with values that are no numbers there may be none
        lane += 1
    best = lane
    for i in range(lane, values.shape[0], LANES):
        if values[i] > values[best]:
            best = i
    return best


@njit(**SCAN, **INSIDE_ONLY)
def _rate_single(h, change, row, mean, shift, low, high, up, down, room_up, room_down, gain, violation, zero):
    """Update the outputs by the last step, and rate every variable by what its own step would gain.

    A variable with slack d moves by min(d / curvature, room), which brings d times that to first order: at most twice
    too much.
    """
    for i in range(h.shape[0]):
        output = h[i] + change * (row[i] - mean[i] + shift)
        h[i] = output
        below, above = max(low[i] - output, zero), max(output - high[i], zero)
        gain[i] = max(below * min(below * up[i], room_up[i]), above * min(above * down[i], room_down[i]))
        violation[i] = max(below, above)


@njit(cache=True)
def descend_single(Q, mean, constant, outputs, s, kind, cost, S, P, R, m, tol, max_steps):
    """Coordinate steps of largest gain for a fixed bias.  Changes the outputs and s.

    The matrix is Q_ij - mean_i - mean_j + constant.  All that is scanned has the precision of Q: scans are what a step
    costs.

    Returns (steps, largest violation).
    """
    q, real = s.shape[0], Q.dtype.type
    zero = real(0.0)
    h = outputs.astype(Q.dtype)
    low, room_up, up = np.empty(q, Q.dtype), np.empty(q, Q.dtype), np.empty(q, Q.dtype)
    high, room_down, down = np.empty(q, Q.dtype), np.empty(q, Q.dtype), np.empty(q, Q.dtype)
    exact, diagonal = np.empty((6, q)), np.empty(q)
    for i in range(q):
        diagonal[i] = Q[i, i] - 2.0 * mean[i] + constant
        _relocate(exact, i, S, P, R, m, kind[i], cost[i], s[i])
        low[i], room_up[i], up[i] = exact[0, i], exact[2, i], 1.0 / max(diagonal[i] + exact[1, i], LEAST_BEND)
        high[i], room_down[i], down[i] = exact[3, i], exact[5, i], 1.0 / max(diagonal[i] + exact[4, i], LEAST_BEND)
    gain, violation, lanes = np.empty(q, Q.dtype), np.empty(q, Q.dtype), np.empty(LANES, Q.dtype)
    change, row, shift = zero, Q[0], zero
    for step in range(max_steps + 1):
        _rate_single(h, change, row, mean, shift, low, high, up, down, room_up, room_down, gain, violation, zero)
        _maxima(lanes, violation)
        worst = _highest(lanes)
        i = _argmax(lanes, gain)
        if worst <= tol or gain[i] <= zero or step == max_steps:
            break
        # The variable's own step is in double precision: s must meet breakpoints exactly.
        rising = h[i] < low[i]
        if rising:
            miss, bend, room = exact[0, i] - h[i], diagonal[i] + exact[1, i], exact[2, i]
        else:
            miss, bend, room = h[i] - exact[3, i], diagonal[i] + exact[4, i], exact[5, i]
        by = min(max(miss, 0.0) / max(bend, LEAST_BEND), room)
        s[i] = moved(S, m, kind[i], cost[i], s[i], by, room, rising)
        change, row, shift = real(by if rising else -by), Q[i], real(constant - mean[i])
        _relocate(exact, i, S, P, R, m, kind[i], cost[i], s[i])
        low[i], room_up[i], up[i] = exact[0, i], exact[2, i], 1.0 / max(diagonal[i] + exact[1, i], LEAST_BEND)
        high[i], room_down[i], down[i] = exact[3, i], exact[5, i], 1.0 / max(diagonal[i] + exact[4, i], LEAST_BEND)
    for i in range(q):
        outputs[i] = h[i]
    return step, float(worst)


@njit(cache=True, error_model="numpy", **INSIDE_ONLY)
def take_tangents(S, P, R, m, kind, cost, outputs, slope):
    """Give each point the slope of its concave part at its output, times its cost; how many slopes have changed.

    At a kink it is the slope nearest to zero (collobert2006 eq. 11), and outputs of rounding are on the kink at 0.
    """
    changed = 0
    for i in range(outputs.shape[0]):
        k, t, j = kind[i], outputs[i], 0
        if abs(t) <= ZERO_OUTPUT:
            t = 0.0
        while j < m[k] - 1 and t > S[k, j + 1]:
            j += 1
        left = P[k, j] + R[k, j] * t
        right = P[k, j + 1] + R[k, j + 1] * t if j < m[k] - 1 and t == S[k, j + 1] else left
        value = cost[i] * min(max(0.0, min(left, right)), max(left, right))
        if value != slope[i]:
            changed += 1
            slope[i] = value
    return changed


@njit(**SCAN, **INSIDE_ONLY)
def _add_row(h, change, row):
    for i in range(h.shape[0]):
        h[i] += change * row[i]


@njit(cache=True)
def follow_tangents(
    Q, mean, constant, target, gamma, known, every, kind, cost, S, P, R, m, concave, tol, max_sweeps, max_rounds
):
    """Concave-convex steps from the SVM of ``known`` points, until tangents of ``every`` one stop changing.

    Coordinate steps visit one variable after the other, as a loose tolerance asks for no more.  The matrix is Q_ij -
    mean_i - mean_j + constant, and the bias ``target``.  ``concave`` has of the concave parts what S, P, R and m are of
    the conjugates of the convex parts.  With no rounds only the SVM is solved.  γ is changed, from 0.

    Returns the outputs.
    """
    n, real = gamma.shape[0], Q.dtype.type
    ends, offset, rate, count = concave
    slope, diagonal, outputs, low, high = np.zeros(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        outputs[i] = target
        diagonal[i] = max(Q[i, i] - 2.0 * mean[i] + constant, LEAST_BEND)
    # The output of point j is h_j - total mean_j + shift: what centring adds is kept in two numbers.
    # Variables that violate by more than ``room`` move.
    h, total, shift, room = np.zeros(n, Q.dtype), 0.0, target, 0.25 * tol
    for turn in range(max_rounds + 1):
        if turn:
            # The dual variables stay where they are, as far as the new slopes let them.
            if take_tangents(ends, offset, rate, count, kind, cost, outputs, slope) == 0:
                break
            for i in every:
                k = kind[i]
                least, most = -(slope[i] + cost[i] * S[k, m[k]]), -(slope[i] + cost[i] * S[k, 0])
                change = min(max(gamma[i], least), most) - gamma[i]
                if change != 0.0:
                    _add_row(h, real(change), Q[i])
                    total, shift, gamma[i] = total + change, shift + change * (constant - mean[i]), gamma[i] + change
        # A point rests while its output is from low to high; at first none does.
        for i in range(n):
            low[i], high[i] = np.inf, -np.inf
        for _ in range(max_sweeps):
            farthest = 0.0
            for i in known if turn == 0 else every:
                output = h[i] - total * mean[i] + shift
                if low[i] - room <= output <= high[i] + room:
                    continue
                k, c, q = kind[i], cost[i], diagonal[i]
                top, best, low[i], high[i] = output - q * (gamma[i] + slope[i]), S[k, 0], -np.inf, np.inf
                for j in range(m[k]):
                    meeting = (top - P[k, j]) / (R[k, j] + q * c)
                    if meeting <= S[k, j]:
                        high[i] = P[k, j] + R[k, j] * S[k, j]
                        break
                    best = min(meeting, S[k, j + 1])
                    low[i] = P[k, j] + R[k, j] * best
                    if meeting < S[k, j + 1]:
                        high[i] = low[i]
                        break
                change = -(slope[i] + c * best) - gamma[i]
                move = q * abs(change)
                if move > room:
                    farthest = max(farthest, move)
                    _add_row(h, real(change), Q[i])
                    total, shift, gamma[i] = total + change, shift + change * (constant - mean[i]), gamma[i] + change
            if farthest <= tol:
                break
        for i in range(n):
            outputs[i] = h[i] - total * mean[i] + shift
    return outputs


@njit(**SCAN, **INSIDE_ONLY)
def _rate_ends(h, change, row, other, low, high, below, above):
    """Update the outputs by the last step; by how much each is below the bias that it asks for, and above."""
    for i in range(h.shape[0]):
        output = h[i] + change * (row[i] - other[i])
        h[i] = output
        below[i], above[i] = low[i] - output, output - high[i]


@njit(**SCAN, **INSIDE_ONLY)
def _rate_partners(above, curvature, row, top, own, gain, zero, tiny):
    """What a pair step brings, to second order; ``curvature`` is without the first variable's part."""
    for i in range(above.shape[0]):
        d = max(top + above[i], zero)
        gain[i] = d * d / max(own + curvature[i] - (row[i] + row[i]), tiny)


@njit(cache=True)
def descend_pairs(Q, outputs, s, tied, kind, cost, S, P, R, m, tol, max_steps):
    """Steps for a free bias: pairs of outputs that have it (``tied``), or one of the others, whichever brings most.

    The first variable of a pair is furthest from its bounds, the second has the largest second-order gain.  All that is
    scanned has the precision of Q.  Changes the outputs (without bias) and s.

    Returns (steps, gap), the gap between the largest lower and the smallest upper bound on the bias, or what another
    output misses by, if larger.
    """
    q, real = s.shape[0], Q.dtype.type
    zero = real(0.0)
    h, nothing = outputs.astype(Q.dtype), np.zeros_like(Q[0])
    low, high, curvature = np.empty(q, Q.dtype), np.empty(q, Q.dtype), np.empty(q, Q.dtype)
    exact, alone = np.empty((6, q)), np.flatnonzero(~tied)
    for i in range(q):
        _relocate(exact, i, S, P, R, m, kind[i], cost[i], s[i])
        low[i], high[i], curvature[i] = exact[0, i], exact[3, i], Q[i, i] + exact[4, i]
    low[alone], high[alone] = -np.inf, np.inf  # in no pair
    # Between equal points the curvature of a pair is 0 up to rounding, which must not make gains and steps huge.
    tiny = real(max(LEAST_BEND, np.finfo(Q.dtype).eps * _highest(curvature)))
    below, above = np.empty(q, Q.dtype), np.empty(q, Q.dtype)
    gain, lanes = np.zeros(q, Q.dtype), np.empty(LANES, Q.dtype)
    change, row, other = zero, nothing, nothing
    for step in range(max_steps + 1):
        _rate_ends(h, change, row, other, low, high, below, above)
        i = _argmax(lanes, below)  # its output is furthest below the bias that it asks for
        top = below[i]
        _maxima(lanes, above)
        gap, single, single_gain, j = max(top + _highest(lanes), zero), 0.0, 0.0, 0
        for p in alone:
            rising = exact[0, p] > h[p]
            miss = exact[0, p] - h[p] if rising else h[p] - exact[3, p]
            own = miss * miss / max(Q[p, p] + exact[1 if rising else 4, p], LEAST_BEND) if miss > 0.0 else 0.0
            single = max(single, miss)
            if own > single_gain:
                single_gain, j = own, p
        # If numbers have overflown, the gap is NaN or infinite, and the caller sees that.
        if max(gap, single) <= tol or step == max_steps or not gap < np.inf:
            break
        pair_gain = zero
        if top > -np.inf:
            above[i] = -np.inf  # a variable is not its own partner
            _rate_partners(above, curvature, Q[i], top, real(Q[i, i] + exact[1, i]), gain, zero, tiny)
            partner = _argmax(lanes, gain)
            pair_gain = gain[partner]
        if max(pair_gain, single_gain) <= zero:
            break
        # The step itself is in double precision: s must meet breakpoints exactly, and γ of pairs keep its sum.
        if pair_gain >= single_gain:
            j = partner
            bend = float(Q[i, i]) + exact[1, i] + float(Q[j, j]) + exact[4, j] - 2.0 * Q[i, j]
            miss = (exact[0, i] - h[i]) - (exact[3, j] - h[j])
            delta = min(max(miss, 0.0) / max(bend, float(tiny)), exact[2, i], exact[5, j])
            s[i] = moved(S, m, kind[i], cost[i], s[i], delta, exact[2, i], True)
            _relocate(exact, i, S, P, R, m, kind[i], cost[i], s[i])
            low[i], high[i], curvature[i] = exact[0, i], exact[3, i], Q[i, i] + exact[4, i]
            change, row, other, rising = real(delta), Q[i], Q[j], False
        else:
            rising = exact[0, j] > h[j]
            miss = exact[0, j] - h[j] if rising else h[j] - exact[3, j]
            delta = min(miss / max(Q[j, j] + exact[1 if rising else 4, j], LEAST_BEND), exact[2 if rising else 5, j])
            change, row, other = real(delta if rising else -delta), Q[j], nothing
        s[j] = moved(S, m, kind[j], cost[j], s[j], delta, exact[2 if rising else 5, j], rising)
        _relocate(exact, j, S, P, R, m, kind[j], cost[j], s[j])
        if tied[j]:
            low[j], high[j], curvature[j] = exact[0, j], exact[3, j], Q[j, j] + exact[4, j]
    for i in range(q):
        outputs[i] = h[i]
    return step, max(float(gap), single)


@njit(cache=True, nogil=True, fastmath=True)
def products_of_pairs(R, i, j, value):
    """X_ij = <R_i, R_j> of every pair."""
    for e in range(i.shape[0]):
        total = 0.0
        for k in range(R.shape[1]):
            total += R[i[e], k] * R[j[e], k]
        value[e] = total


@njit(cache=True, nogil=True)
def triangles_below(B, limit, found, value):
    """Triangle inequalities s B_ij + t B_ik + s t B_jk + 1 >= 0 whose left side is below a limit: how many there are.

    The first of them, as many as there is room for, are written to ``found`` (i, j, k, s, t) and ``value``.
    """
    n, count, room = B.shape[0], 0, found.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            a = B[i, j]
            for k in range(j + 1, n):
                b, c = B[i, k], B[j, k]
                # The least of the four left sides: none of the others needs a look if that is not below the limit.
                if 1.0 - max(a + b - c, a - b + c, b + c - a, -a - b - c) >= limit:
                    continue
                for q in range(4):
                    s = 1.0 if q < 2 else -1.0
                    t = 1.0 if q % 2 == 0 else -1.0
                    left = s * a + t * b + s * t * c + 1.0
                    if left < limit:
                        if count < room:
                            found[count, 0], found[count, 1], found[count, 2] = i, j, k
                            found[count, 3], found[count, 4] = s, t
                            value[count] = left
                        count += 1
    return count
