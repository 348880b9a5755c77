"""Newton steps on the dual variables between breakpoints."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.optimize import brentq

from .cholesky import cholesky
from .dual import Array, DualProblem, State

#: Parts of a step that passes breakpoints that are tried, every variable stopped at its own.
SHARES = (1.0, 0.5, 0.25)


def newton(dual: DualProblem, state: State, max_steps: int = 2) -> State:
    """Newton steps on the variables strictly between breakpoints.

    The matrix of ``dual`` must be in memory.  While steps pass breakpoints there are at most ``max_steps``: coordinate
    steps find the breakpoints for less.

    A step that would pass a breakpoint is cut short at the first one, or, if that is better, taken with every variable
    stopped at its own.
    """
    cost, s, h = dual.cost, state.s.copy(), state.h.copy()
    for _ in range(max_steps):
        low, rate, room_up, high, _, room_down = dual.locate(s)
        free = np.flatnonzero((low == high) & (room_up > 0) & (room_down > 0))
        if len(free) == 0:
            break
        residual, up, down = low[free] - h[free], room_up[free], room_down[free]
        rows = dual.rows.rows(free)
        H = rows[:, free].astype(float, copy=False)
        H[np.diag_indices_from(H)] += rate[free]
        direction = _direction(H, residual, dual.free_bias, np.minimum(up, down))
        with np.errstate(divide="ignore", invalid="ignore"):
            limit = np.where(direction > 0, up, down) / np.abs(direction)
        limit[direction == 0] = np.inf
        length = float(limit.min())
        change = min(1.0, length) * direction
        blocked = limit <= length * (1 + 1e-12) if length <= 1 else np.zeros(len(free), dtype=bool)
        if length < 1:
            best = _value(H, residual, change)
            for share in SHARES:
                stopped = _stop(share * direction, -down, up, dual.free_bias)
                value = _value(H, residual, stopped)
                if value < best:
                    best, change, blocked = value, stopped, (stopped <= -down) | (stopped >= up)
        s[free] -= change / cost[free]
        for i in free[blocked]:
            s[i] = _breakpoint(dual.losses.S[dual.kind[i]], s[i])
        h += change @ rows
        if not blocked.any():
            break
    return dual.state(s, h)


def _value(H: Array, residual: Array, move: Array) -> float:
    """What a move between breakpoints adds to the dual."""
    return float(move @ (0.5 * (H @ move) - residual))


def _stop(move: Array, low: Array, high: Array, free_bias: bool) -> Array:
    """The nearest move inside the bounds, of which 0 is inside; with a sum of 0 for a free bias."""
    if not free_bias:
        return np.clip(move, low, high)
    size = float(np.abs(move).max())
    shift = brentq(lambda shift: np.clip(move - shift, low, high).sum(), -size, size, xtol=1e-15 * size)
    stopped = np.clip(move - shift, low, high)
    inside = (stopped > low) & (stopped < high)
    stopped[inside] -= stopped.sum() / max(1, inside.sum())
    return stopped


def _direction(H: Array, residual: Array, free_bias: bool, room: Array) -> Array:
    """Solve H d = residual, with Σ d = 0 for a free bias.

    The sum is kept by expressing everything relative to the variable with most room (x₀, where there is one, which
    turns H into the centred matrix).  A singular H gets a small ridge: its null space is then searched far out, up
    to the first breakpoint, as it should be, since the dual is linear along it.
    """
    if not free_bias:
        return _solve(H, residual)
    reference = int(np.argmax(room))
    row = H[reference]
    centred = H - row
    centred -= row[:, None]
    centred += row[reference]
    # Its own row and column are zero now; any number on the diagonal will do.
    centred[reference, reference] = centred.diagonal().max() or 1.0
    direction = _solve(centred, residual - residual[reference])
    direction[reference] = -direction.sum()
    return direction


def _solve(H: Array, residual: Array) -> Array:
    return np.asarray(scipy.linalg.cho_solve(cholesky(H), residual, check_finite=False))


def _breakpoint(S: Array, s: float) -> float:
    """The breakpoint nearest to s."""
    return float(S[np.nanargmin(np.abs(np.where(np.isfinite(S), S, np.nan) - s))])
