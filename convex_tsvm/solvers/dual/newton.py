"""Newton steps on the dual variables between breakpoints."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.optimize import brentq

from ...kernels.rows import Rows
from ..cholesky import cholesky
from .dual_problem import Array, DualProblem, Indices, State


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
        rows = dual.rows.full() if len(free) == len(s) else dual.rows.rows(free)
        H = rows.copy() if len(free) == len(s) else rows[:, free]
        H[np.diag_indices_from(H)] += rate[free].astype(H.dtype)
        tied = None
        if dual.free_bias:
            tied = np.ones(len(free)) if dual.tied is None else dual.tied[free].astype(float)
        try:
            direction = _direction(H, residual, tied, np.minimum(up, down))
        except np.linalg.LinAlgError:
            break  # coordinate steps go on without

        change, blocked = _inside_breakpoints(direction, residual, up, down, rows, free, rate[free], tied)
        moved = h + change @ rows
        if not (np.isfinite(moved).all() and np.isfinite(change).all()):
            break  # the matrix has lost its digits, and such a step is none
        s[free] -= change / cost[free]
        for i in free[blocked]:  # to the nearest breakpoint
            ends = dual.conjugates.ends[dual.kind[i]]
            s[i] = ends[np.nanargmin(np.abs(np.where(np.isfinite(ends), ends, np.nan) - s[i]))]
        h = moved
        if not blocked.any():
            break
    return dual.state(s, h)


def _inside_breakpoints(
    direction: Array,
    residual: Array,
    up: Array,
    down: Array,
    rows: Rows,
    free: Indices,
    rate: Array,
    tied: Array | None,
) -> tuple[Array, NDArray[np.bool_]]:
    """The change of the free variables, which passes no breakpoint, and which of them are at one after it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        limit = np.where(direction > 0, up, down) / np.abs(direction)
    limit[direction == 0] = np.inf
    length = float(limit.min())
    change = min(1.0, length) * direction
    if length > 1:
        return change, np.zeros(len(free), dtype=bool)
    blocked = limit <= length * (1 + 1e-12)
    if length < 1:
        best = _value(rows, free, rate, residual, change)
        for share in (1.0, 0.5, 0.25):  # of the step, with every variable stopped at its own breakpoint
            stopped = _stop(share * direction, -down, up, tied)
            reached = _value(rows, free, rate, residual, stopped)
            if reached < best:
                best, change, blocked = reached, stopped, (stopped <= -down) | (stopped >= up)
    return change, blocked


def _value(rows: Rows, free: Indices, rate: Array, residual: Array, move: Array) -> float:
    """What a move of the free variables between breakpoints adds to the dual."""
    return float(move @ (0.5 * ((move @ rows)[free] + rate * move) - residual))


def _stop(move: Array, low: Array, high: Array, tied: Array | None) -> Array:
    """The nearest move inside the bounds, of which 0 is inside; with a sum of 0 over what a free bias ties."""
    if tied is None or not tied.any():
        return np.clip(move, low, high)
    size = float(np.abs(move).max())
    shift = brentq(lambda shift: tied @ np.clip(move - shift * tied, low, high), -size, size, xtol=1e-15 * size)
    stopped = np.clip(move - shift * tied, low, high)
    inside = (stopped > low) & (stopped < high) & (tied > 0)
    stopped[inside] -= (tied @ stopped) / max(1, int(inside.sum()))
    return stopped


def _direction(H: Rows, residual: Array, tied: Array | None, room: Array) -> Array:
    """Solve H d = residual, with Σ d = 0 over the variables that a free bias ties (1 in ``tied``, 0 for the others).

    H is overwritten.  The sum is kept by expressing everything relative to the variable with most room (x₀, where
    there is one, which turns H into the centred matrix).  A singular H gets a small ridge: its null space is then
    searched far out, up to the first breakpoint, as it should be, since the dual is linear along it.
    """
    if tied is None or not tied.any():
        return _solve(H, residual)
    reference = int(np.argmax(np.where(tied > 0, room, -np.inf)))
    row = H[reference].copy()
    if tied.all():
        H -= row - row[reference]
        H -= row[:, None]
    else:
        H -= np.outer(tied, row - row[reference] * tied)
        H -= np.outer(row, tied)
    H[reference], H[:, reference] = 0.0, 0.0
    # Its own row and column are zero now; any number on the diagonal will do.
    H[reference, reference] = H.diagonal().max() or 1.0
    direction = _solve(H, residual - residual[reference] * tied)
    direction[reference] -= tied @ direction
    return direction


def _solve(H: Rows, residual: Array) -> Array:
    right = residual.astype(H.dtype)
    return np.asarray(scipy.linalg.cho_solve(cholesky(H, overwrite=True), right, check_finite=False), dtype=float)
