"""The dual with one variable per point, as the native solver works on it.

min over γ   ½ γᵀ G γ + Σ c_i γ_i + Σ ψ_i*(-γ_i),     Σ γ_i = 0 if the bias is free (then c = 0)

Points that are differences of others have outputs without a bias; the sum is over those that are tied by it only.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...instance.convex_step import UNBOUNDED
from ...kernels import CentredRows, GramRows, RowSource
from ...kernels.rows import Rows
from ...losses import Pieces
from .._loops import locate_all, place_all

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class State:
    """Dual variables s, outputs h without a free bias, and the bounds between which optimal outputs are."""

    s: Array
    h: Array
    low: Array
    high: Array


@dataclass
class DualPoint:
    """A point with how far from optimal it is: the largest violation, and the error measured in its outputs."""

    s: Array
    h: Array
    bias: float = 0.0
    violation: float = np.inf
    rounding: float = 0.0
    n_iter: int = 0
    status: str = "max_iter"


@dataclass(frozen=True)
class DualProblem:
    """What the solver works on: ψ_i = cost_i ℓ_kind(i) + slope_i (·), with arrays of shape (n,)."""

    conjugates: Pieces  # of the losses ℓ
    kind: Indices
    cost: Array
    slope: Array
    rows: RowSource  # of G
    offset: float | Array  # the fixed bias c, or one for each point
    tied: NDArray[np.bool_]  # whether an output has a free bias, and its γ a part in the sum; none without such a bias

    @functools.cached_property
    def free_bias(self) -> bool:
        return bool(self.tied.any())

    def gamma(self, s: Array) -> Array:
        return -(self.slope + self.cost * s)

    def outputs(self, s: Array) -> Array:
        """G γ + c from scratch."""
        gamma = self.gamma(s)
        used = np.flatnonzero(gamma)
        return self.rows.combine(used, gamma[used]) + self.offset

    def locate(self, s: Array, which: Indices | slice = slice(None)) -> Array:
        """low, rate_up, room_up, high, rate_down, room_down of all variables, or some (see ``_loops.locate``)."""
        place = np.empty((6, len(s)))
        locate_all(*self.conjugates.derivatives, self.kind[which], self.cost[which], s, place)
        return place

    def survey(self, state: State) -> Survey:
        offset = 0.0 if isinstance(self.offset, np.ndarray) else self.offset
        between = state.low == state.high
        return Survey(state.low - state.h, state.h - state.high, between, offset, self.tied)

    def state(self, s: Array, h: Array) -> State:
        low, _, _, high, _, _ = self.locate(s)
        return State(s, h, low, high)

    def matrix(self) -> tuple[Rows, Rows, float]:
        """Q, m and c with G_ij = Q_ij - m_i - m_j + c: a matrix in memory is not copied to centre it."""
        if self.rows.in_memory and isinstance(self.rows, CentredRows):
            return self.rows.source.full(), self.rows.mean_row.astype(self.rows.dtype), self.rows.constant
        return self.rows.full(), np.zeros(self.rows.n, dtype=self.rows.dtype), 0.0

    def part(self, where: Indices) -> DualProblem:
        """The problem of some of the variables, its matrix in memory, the others held fixed."""
        matrix = GramRows(self.rows.block(where, where))
        offset = self.offset[where] if isinstance(self.offset, np.ndarray) else self.offset
        mine = (self.kind[where], self.cost[where], self.slope[where])
        return DualProblem(self.conjugates, *mine, matrix, offset, self.tied[where])

    def part_at(self, state: State, where: Indices) -> tuple[DualProblem, State]:
        part = self.part(where)
        return part, part.state(state.s[where], state.h[where])

    def with_part(self, state: State, where: Indices, after: Array) -> State:
        """The state after some of the variables have got other values."""
        before = state.s[where]
        changed = after != before
        which, s = where[changed], after[changed]
        moved = self.rows.combine(which, self.cost[which] * (before[changed] - s))
        new = State(state.s.copy(), state.h + moved, state.low.copy(), state.high.copy())
        new.s[which] = s
        new.low[which], _, _, new.high[which], _, _ = self.locate(s, which)
        return new

    def start(self, gamma: Array | None) -> Array:
        """Feasible s near ``gamma`` (near zero for None).

        ValueError is raised if no γ in the domain sums to zero: then the primal is unbounded below.
        """
        n, ends, count = len(self.kind), self.conjugates.ends, self.conjugates.count
        s = np.empty(n)
        near = np.zeros(n) if gamma is None else gamma
        place_all(ends, count, self.kind, self.cost, self.slope, near, s)
        if self.free_bias:
            excess, used = float(self.gamma(s)[self.tied].sum()), (self.cost > 0) & self.tied
            cost = np.where(used, self.cost, 1.0)
            first, last = ends[:, 0][self.kind], ends[np.arange(len(count)), count][self.kind]
            # Spread the excess over the variables that can move, in proportion to their room where it is finite.
            room = np.where(used, cost * (last - s if excess > 0 else s - first), 0.0)
            room = np.where(np.isfinite(room), room, abs(excess))
            total = float(room.sum())
            if abs(excess) > total * (1 + 1e-12) + 1e-12:
                raise ValueError(UNBOUNDED)
            if total > 0:
                s = np.clip(s + np.sign(excess) * room * min(1.0, abs(excess) / total) / cost, first, last)
        return s


@dataclass(frozen=True)
class Survey:
    """How far every point is from optimal."""

    raise_by: Array  # by how much the output is below ``low``; for a free bias, up to that bias
    lower_by: Array  # by how much it is above ``high``
    between: NDArray[np.bool_]  # whether a variable is between breakpoints: it answers to every change of the others
    offset: float
    tied: NDArray[np.bool_]

    @functools.cached_property
    def violation(self) -> float:
        """The largest; of points that a free bias ties, the gap between the bounds that they put on it."""
        alone = np.maximum(self.raise_by, self.lower_by).max(where=~self.tied, initial=0.0)
        return max(float(alone), sum(self._most_tied))

    @property
    def bias(self) -> float:
        """The fixed bias, or one in the middle of what the points allow: max(low - h) <= b <= min(high - h)."""
        if not self.tied.any():
            return self.offset
        up, down = self._most_tied
        finite = np.array([up, -down])[np.isfinite([up, -down])]
        return float(finite.mean()) if len(finite) else 0.0

    @functools.cached_property
    def _most_tied(self) -> tuple[float, float]:
        """How far points that a free bias ties are above or below their bounds at most; -∞ of no points."""
        up, down = (float(side.max(where=self.tied, initial=-np.inf)) for side in (self.raise_by, self.lower_by))
        return up, down

    @property
    def _shift(self) -> Array:
        """What a free bias adds to each output."""
        return np.where(self.tied, self.bias, 0.0)

    def n_unsettled(self, tol: float) -> int:
        """Number of points that violate, or answer to changes."""
        shift = self._shift
        violating = np.maximum(self.raise_by - shift, self.lower_by + shift) > tol
        return int((violating | self.between).sum())

    def choose(self, size: int, tol: float) -> Indices:
        """A working set of at most ``size``: what violates, what answers to changes, what is next to violate.

        Ties, of which there are many when all variables are zero, are broken by chance, the same in every run.
        """
        n = len(self.raise_by)
        luck = _luck(n)
        if size >= n:
            return np.arange(n)
        shift = self._shift
        up, down = self.raise_by - shift, self.lower_by + shift
        violation = np.maximum(up, down)
        n_violating = int((violation > 0.25 * tol).sum())
        answering = np.flatnonzero(self.between & (violation <= 0.25 * tol))
        # Half of the set at least is for what violates, if there is so much.
        room = size - min(n_violating, max(size // 2, size - len(answering)))
        answering = answering[np.argsort(luck[answering])[:room]]
        rank = violation * (1 + 0.05 * luck)
        rank[answering] = np.inf
        if not self.tied.any():
            return _largest(rank, size)
        # Something must be there to be raised, and something to be lowered.
        chosen = np.zeros(n, dtype=bool)
        chosen[answering] = True
        wanted = (size - len(answering)) // 2
        for side in (up, down):
            chosen[_largest(np.where(chosen, -np.inf, side * (1 + 0.05 * luck)), wanted)] = True
        return np.flatnonzero(chosen)


@functools.lru_cache(maxsize=8)
def _luck(n: int) -> Array:
    """A number in [0, 1) for every point, the same in every run."""
    return np.random.default_rng(0).random(n)


def _largest(values: Array, count: int) -> Indices:
    """Where the ``count`` largest values are, in increasing order."""
    count = max(count, 1)
    return np.sort(np.argpartition(-values, count - 1)[:count])
