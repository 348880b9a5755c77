"""Newton steps on the dual variables between breakpoints."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .dual import Array, DualProblem, State


def newton(dual: DualProblem, state: State, max_steps: int = 100) -> State:
    """Newton steps on the variables strictly between breakpoints.

    The matrix of ``dual`` must be in memory.

    A step that would pass a breakpoint is cut short at the first one, or, if that is better and no constraint ties
    the variables together, taken with every variable stopped at its own.
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
        if length < 1 and not dual.free_bias:
            projected = np.clip(direction, -down, up)

            def model(move: Array) -> float:
                return float(move @ (0.5 * (H @ move) - residual))  # noqa: B023

            if model(projected) < model(change):
                change, blocked = projected, limit <= 1
        s[free] -= change / cost[free]
        for i in free[blocked]:
            s[i] = _breakpoint(dual.losses.S[dual.kind[i]], s[i])
        h += change @ rows
        if not blocked.any():
            break
    return dual.state(s, h)


def _direction(H: Array, residual: Array, free_bias: bool, room: Array) -> Array:
    """Solve H d = residual, with Σ d = 0 for a free bias.

    The sum is kept by expressing everything relative to the variable with most room (x₀, where there is one, which
    turns H into the centred matrix).  A singular H gets a small ridge: its null space is then searched far out, up
    to the first breakpoint, as it should be, since the dual is linear along it.
    """
    if free_bias:
        reference = int(np.argmax(room))
        others = np.delete(np.arange(len(H)), reference)
        if len(others) == 0:
            return np.zeros(1)
        row = H[reference]
        H = H[np.ix_(others, others)] - row[others] - row[others][:, None] + row[reference]
        part = _solve_with_ridge(H, residual[others] - residual[reference])
        direction = np.empty(len(row))
        direction[others], direction[reference] = part, -part.sum()
        return direction
    return _solve_with_ridge(H, residual)


def _solve_with_ridge(H: Array, residual: Array) -> Array:
    """Solve H d = residual for a positive semidefinite H."""
    ridge = 1e-12 * (np.trace(H) / len(H) + 1e-300)
    while True:
        try:
            factor = scipy.linalg.cho_factor(H + ridge * np.eye(len(H)), lower=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            ridge *= 100
            continue
        return np.asarray(scipy.linalg.cho_solve(factor, residual, check_finite=False))


def _breakpoint(S: Array, s: float) -> float:
    """The breakpoint nearest to s."""
    return float(S[np.nanargmin(np.abs(np.where(np.isfinite(S), S, np.nan) - s))])
