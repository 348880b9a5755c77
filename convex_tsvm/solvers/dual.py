"""Working-set solver of the dual with one variable per point.

    min over γ   ½ γᵀ G γ + c Σ γ_i + Σ ψ_i*(-γ_i),     Σ γ_i = 0 if the bias is free (then c = 0)

Blocks of variables are chosen by violation; a block is solved by compiled coordinate or pair steps, which find out
at which breakpoint of its loss each variable sits, in turn with Newton steps on the variables between breakpoints,
which make the solution accurate.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from ..kernels import GramRows, RowSource, apply_rows
from ._loops import descend_pairs, descend_single, locate_all
from .flat import FlatLosses

Array = NDArray[np.float64]

#: Violation at which coordinate steps first hand over to Newton steps.
COARSE = 1e-3

#: Up to this many points, waking more than one BLAS thread costs more than it brings (ten times more at 200).
SMALL = 1000

#: How often outputs are computed afresh before rounding is said to be in the way.
REFRESHES = 10

#: Up to this many points a matrix in memory is one block: Newton steps on all of it are cheaper than many blocks.
WHOLE = 4096


@dataclass
class DualPoint:
    """State of the solver: dual variables, outputs without bias, and how far from optimal they are."""

    s: Array
    h: Array
    bias: float = 0.0
    violation: float = np.inf
    n_iter: int = 0
    status: str = "max_iter"


@dataclass(frozen=True)
class DualProblem:
    """What the solver works on.

    Attributes
    ----------
    losses : FlatLosses
    kind : int array, shape (n,)
        Row of ``losses`` for each point.
    cost, slope : array, shape (n,)
        ψ_i = cost_i ℓ_kind(i) + slope_i (·).
    rows : RowSource
        Rows of G.
    offset : float
        The fixed bias c.
    free_bias : bool
        Whether the bias is free instead, with Σ γ = 0.
    """

    losses: FlatLosses
    kind: NDArray[np.intp]
    cost: Array
    slope: Array
    rows: RowSource
    offset: float = 0.0
    free_bias: bool = False

    def gamma(self, s: Array, where: NDArray[np.intp] | slice = slice(None)) -> Array:
        """γ of the points ``where`` from their s."""
        return -(self.slope[where] + self.cost[where] * s)

    def outputs(self, s: Array) -> Array:
        """G γ + c from scratch."""
        return apply_rows(self.rows, self.gamma(s)) + self.offset

    def locate(self, s: Array, where: NDArray[np.intp] | slice = slice(None)) -> tuple[Array, ...]:
        """low, rate_up, room_up, high, rate_down, room_down of the points ``where`` (see ``_loops.locate``)."""
        flat = self.losses
        place = tuple(np.empty(len(s)) for _ in range(6))
        locate_all(flat.S, flat.P, flat.R, flat.m, self.kind[where], self.cost[where], s, *place)
        return place

    def start(self, gamma: Array | None) -> Array:
        """Feasible s near ``gamma`` (near zero for None).

        Raises
        ------
        ValueError
            If no γ in the domain sums to zero: then the primal is unbounded below.
        """
        n, flat = len(self.kind), self.losses
        used = self.cost > 0
        cost = np.where(used, self.cost, 1.0)
        last = flat.S[np.arange(len(flat.m)), flat.m][self.kind]
        first = flat.S[:, 0][self.kind]
        s = (-(np.zeros(n) if gamma is None else gamma) - self.slope) / cost
        s = np.where(used, np.clip(s, first, last), 0.0)
        edges = flat.S[self.kind]
        near = np.abs(s[:, None] - edges) <= 1e-9 * (1 + np.abs(np.where(np.isfinite(edges), edges, 0.0)))
        s = np.where(near.any(axis=1) & used, edges[np.arange(n), near.argmax(axis=1)], s)
        if self.free_bias:
            excess = float(self.gamma(s).sum())
            # Spread the excess over the variables that can move, in proportion to their room where it is finite.
            room = np.where(used, cost * (last - s if excess > 0 else s - first), 0.0)
            room = np.where(np.isfinite(room), room, abs(excess))
            total = float(room.sum())
            if abs(excess) > total * (1 + 1e-12) + 1e-12:
                raise ValueError(
                    "the convex problem is unbounded below in the bias: no dual variables sum to zero; "
                    "use a balance constraint, fit_intercept=False, or losses that charge both sides"
                )
            if total > 0:
                s = np.clip(s + np.sign(excess) * room * min(1.0, abs(excess) / total) / cost, first, last)
        return s


def solve_dual(
    dual: DualProblem,
    *,
    gamma: Array | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    block_size: int = 1024,
) -> DualPoint:
    """Solve the dual to a violation of at most ``tol``.

    Parameters
    ----------
    dual : DualProblem
    gamma : array, shape (n,), optional
        Start.
    tol : float
        Largest allowed distance of an output from the subdifferential of its ψ*, in units of the output; for a
        free bias, the gap between the bounds that the points put on the bias.
    max_iter : int
        Limit on blocks solved.
    block_size : int
        Number of variables in a block (up to ``WHOLE`` if all fit into one and the matrix is in memory).

    Returns
    -------
    DualPoint
        With ``status`` "optimal", "max_iter", or "inaccurate" if rounding keeps undoing what was reached.
    """
    if len(dual.kind) <= SMALL:
        with _blas_threads().limit(limits=1, user_api="blas"):
            return _solve(dual, gamma, tol, max_iter, block_size)
    return _solve(dual, gamma, tol, max_iter, block_size)


@functools.cache
def _blas_threads() -> ThreadpoolController:
    return ThreadpoolController()


def _solve(dual: DualProblem, gamma: Array | None, tol: float, max_iter: int, block_size: int) -> DualPoint:
    """See :func:`solve_dual`."""
    s = dual.start(gamma)
    point = DualPoint(s, dual.outputs(s))
    n = len(s)
    fresh, refreshed = True, 0
    whole = n <= max(block_size, WHOLE) and isinstance(dual.rows, GramRows)
    while True:
        low, _, _, high, _, _ = dual.locate(point.s)
        raise_by, lower_by = low - point.h, point.h - high
        if dual.free_bias:
            point.violation = max(0.0, float(raise_by.max(initial=-np.inf) + lower_by.max(initial=-np.inf)))
            point.bias = _middle(raise_by, lower_by)
        else:
            point.violation = max(0.0, float(raise_by.max(initial=0.0)), float(lower_by.max(initial=0.0)))
            point.bias = dual.offset
        if point.violation <= tol:
            # What is reported must hold for outputs computed afresh, not for those that rounding has moved.
            if fresh:
                point.status = "optimal"
                return point
            if refreshed == REFRESHES:
                point.status = "inaccurate"
                return point
            point.h, fresh, refreshed = dual.outputs(point.s), True, refreshed + 1
            continue
        if point.n_iter >= max_iter:
            return point
        fresh = False
        block = np.arange(n) if whole else _choose(raise_by, lower_by, dual.free_bias, block_size)
        _solve_block(dual, point, block, tol, whole)
        point.n_iter += 1


def _middle(raise_by: Array, lower_by: Array) -> float:
    """A bias in the middle of what the points allow: max(low - h) <= b <= min(high - h)."""
    ends = np.array([raise_by.max(initial=-np.inf), -lower_by.max(initial=-np.inf)])
    finite = ends[np.isfinite(ends)]
    return float(finite.mean()) if len(finite) else 0.0


def _choose(raise_by: Array, lower_by: Array, free_bias: bool, size: int) -> NDArray[np.intp]:
    """The most violating variables; for a free bias half of them to be raised and half to be lowered."""
    size = min(size, len(raise_by))
    if free_bias:
        up = np.argpartition(-raise_by, size // 2 - 1)[: size // 2]
        down = np.argpartition(-lower_by, size // 2 - 1)[: size // 2]
        return np.unique(np.concatenate([up, down]))
    violation = np.maximum(raise_by, lower_by)
    block = np.argpartition(-violation, size - 1)[:size]
    return np.sort(block[violation[block] > 0])


def _solve_block(dual: DualProblem, point: DualPoint, block: NDArray[np.intp], tol: float, whole: bool) -> None:
    flat, q = dual.losses, len(block)
    rows = dual.rows.matrix if whole and isinstance(dual.rows, GramRows) else dual.rows.rows(block)
    Q = rows if whole else np.ascontiguousarray(rows[:, block])
    kind, cost = dual.kind[block], dual.cost[block]
    s, h = point.s[block], point.h[block]
    before = dual.gamma(s, block)
    descend = descend_pairs if dual.free_bias else descend_single
    # Newton steps make accuracy cheap: when the block is the whole problem, more of it than asked is taken.
    goal = 0.01 * tol if whole else 0.5 * tol
    for turn in range(50):
        target = max(goal, COARSE) if turn == 0 else goal
        steps, _ = descend(Q, h, s, kind, cost, flat.S, flat.P, flat.R, flat.m, target, 2 * q)
        if turn and steps == 0:
            break
        _newton(dual, block, Q, s, h)
    point.s[block] = s
    point.h = h if whole else point.h + (dual.gamma(s, block) - before) @ rows


def _newton(dual: DualProblem, block: NDArray[np.intp], Q: Array, s: Array, h: Array, max_steps: int = 100) -> None:
    """Newton steps on the variables strictly between breakpoints.  Changes s and h.

    A step that would pass a breakpoint is cut short at the first one, or, if that is better and no constraint ties
    the variables together, taken with every variable stopped at its own.
    """
    cost = dual.cost[block]
    for _ in range(max_steps):
        low, rate, room_up, high, _, room_down = dual.locate(s, block)
        free = np.flatnonzero((low == high) & (room_up > 0) & (room_down > 0))
        if len(free) == 0:
            return
        residual, up, down = low[free] - h[free], room_up[free], room_down[free]
        H = Q[np.ix_(free, free)]
        H[np.diag_indices_from(H)] += rate[free]
        direction = _newton_direction(H, residual, dual.free_bias, np.minimum(up, down))
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
            s[i] = _breakpoint(dual.losses.S[dual.kind[block[i]]], s[i])
        h += change @ Q[free]
        if not blocked.any():
            return


def _newton_direction(H: Array, residual: Array, free_bias: bool, room: Array) -> Array:
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
