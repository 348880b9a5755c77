"""Several PLQ functions as arrays: what compiled loops, interior points and CVXPY's duals read of a loss.

All of them need the same few numbers: the ends of every piece, and on it the derivative, which is a line.  They are
those of the loss itself where a primal is solved, and those of its conjugate in a dual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .plq import PLQ, Array


@dataclass(frozen=True)
class Pieces:
    """The pieces of several PLQ functions, a row each: constant + offset t + rate t²/2 on ``count`` pieces."""

    ends: Array  # breakpoints, one more than pieces, with the ends of the domain, perhaps infinite; then NaN
    offset: Array  # the derivative on each piece is ``offset + rate * t``
    rate: Array
    count: NDArray[np.intp]  # number of pieces; 0 for a function that lives on one point, ``ends[k, 0]``
    constant: Array | None = None  # the value on each piece extended to t = 0; None where only derivatives are needed

    @classmethod
    def of(cls, functions: Sequence[PLQ]) -> Pieces:
        count = np.array([0 if f.lower == f.upper else len(f.pieces) for f in functions], dtype=np.intp)
        most = max(1, int(count.max()))
        ends = np.full((len(functions), most + 1), np.nan)
        offset, rate, constant = (np.zeros((len(functions), most)) for _ in range(3))
        for k, (f, m) in enumerate(zip(functions, count, strict=True)):
            ends[k, : m + 1] = f.edges[: m + 1]
            rate[k, :m], offset[k, :m] = 2 * f.pieces[:m, 0], f.pieces[:m, 1]
            constant[k, : len(f.pieces)] = f.pieces[:, 2]
        return cls(ends, offset, rate, count, constant)

    @cached_property
    def derivatives(self) -> tuple[Array, Array, Array, NDArray[np.intp]]:
        """S, P, R and m, as compiled loops call ``ends``, ``offset``, ``rate`` and ``count``."""
        return self.ends, self.offset, self.rate, self.count

    @cached_property
    def domain(self) -> tuple[Array, Array]:
        """Ends of the intervals where the functions are finite, each of shape (n_functions,)."""
        return self.ends[:, 0], self.ends[np.arange(len(self.count)), self.count]

    def values(self, kind: NDArray[np.intp], t: Array) -> Array:
        """The value of the function ``kind`` of each t, which is in its domain."""
        assert self.constant is not None
        place = kind, np.add.reduce(t[:, None] >= self._inner[kind], axis=1)
        return self.constant[place] + t * (self.offset[place] + 0.5 * t * self.rate[place])

    def prox(self, kind: NDArray[np.intp], v: Array) -> Array:
        """The minimizer of the function ``kind`` plus (t - v)² / 2, for each v; the functions are convex."""
        place = np.add.reduce(v[:, None] >= self._thresholds[kind], axis=1)
        piece = kind, place // 2
        moved = (v - self.offset[piece]) / (1 + self.rate[piece])
        moved = np.where(place % 2, self._inner[piece], moved)
        return np.clip(moved, self.domain[0][kind], self.domain[1][kind])

    @cached_property
    def _inner(self) -> Array:
        """The breakpoints inside the domain, a row each, and NaN after them."""
        inner = self.ends[:, 1:].copy()
        inner[np.arange(len(self.count)), np.maximum(self.count - 1, 0)] = np.nan
        return inner

    @cached_property
    def _thresholds(self) -> Array:
        """Where the proximal map comes to a breakpoint and where it leaves it, for each of them, as in PLQ.prox."""
        inner, after = self._inner, np.zeros(self._inner.shape)
        first = inner + self.offset + self.rate * inner
        after[:, :-1] = (inner + np.roll(self.offset, -1, axis=1) + np.roll(self.rate, -1, axis=1) * inner)[:, :-1]
        return np.stack([first, np.maximum(first, after)], axis=2).reshape(len(inner), -1)

    def joined(self, *others: Pieces) -> Pieces:
        """These functions, and others after them; only their derivatives."""
        parts = (self, *others)
        size, most = sum(len(part.count) for part in parts), max(part.rate.shape[1] for part in parts)
        ends = np.full((size, most + 1), np.nan)
        offset, rate, count = np.zeros((size, most)), np.zeros((size, most)), np.zeros(size, np.intp)
        start = 0
        for part in parts:
            rows, m = slice(start, start + len(part.count)), part.rate.shape[1]
            ends[rows, : m + 1], offset[rows, :m], rate[rows, :m] = part.ends, part.offset, part.rate
            count[rows] = part.count
            start += len(part.count)
        return Pieces(ends, offset, rate, count)


@lru_cache(maxsize=64)
def conjugate_pieces(losses: tuple[PLQ, ...]) -> Pieces:
    """The pieces of the conjugates ℓ_k* of convex losses, which are all that a dual method needs of them."""
    return Pieces.of([loss.conjugate() for loss in losses])


class WeightedSums:
    """f_i(t) = Σ_k weights_ik ℓ_k(t), for m points i, with convex ℓ_k and weights >= 0, shape (m, len(losses)).

    Every loss restricts the domain, whatever its weight.  Deterministic annealing charges an unlabelled point both
    label's losses, weighted by a probability of its own: as n PLQ functions that would be n small Python objects a
    step; here the breakpoints, which all points share, are merged once, and what differs is an array.  A ValueError
    says if a loss is not convex, a weight is negative, or the domains have no point in common.
    """

    def __init__(self, losses: Sequence[PLQ], weights: ArrayLike) -> None:
        weights = np.asarray(weights, dtype=float)
        if not all(loss.is_convex for loss in losses):
            raise ValueError("weighted sums are of convex PLQ functions (split() them first)")
        if weights.ndim != 2 or weights.shape[1] != len(losses) or not (weights >= 0).all():
            raise ValueError(f"weights has shape {weights.shape}; it must be (m, {len(losses)}), all of them >= 0")
        self.lower, self.upper = max(loss.lower for loss in losses), min(loss.upper for loss in losses)
        if self.lower >= self.upper:
            raise ValueError(f"the domains {[loss.domain for loss in losses]} have no interval in common")
        inner = np.unique(np.concatenate([loss.breaks for loss in losses]))
        self.breaks: Array = inner[(inner > self.lower) & (inner < self.upper)]
        edges = np.concatenate([[self.lower], self.breaks, [self.upper]])
        # Each loss's own piece on every common piece: (len(losses), number of pieces, 3).
        parts = np.array([loss.pieces[np.searchsorted(loss.breaks, _inside(edges))] for loss in losses])
        self.a, self.b, self.c = (weights @ parts[:, :, k] for k in range(3))
        self._edges = edges

    @property
    def domain(self) -> tuple[float, float]:
        """The closed interval where the functions are finite."""
        return self.lower, self.upper

    @property
    def is_finite(self) -> bool:
        """Whether the functions are finite on the whole line."""
        return self.lower == -np.inf and self.upper == np.inf

    def __call__(self, t: Array) -> Array:
        """f_i(t_i), shape (m,); ``+inf`` outside the domain."""
        place = np.arange(len(self.a)), np.searchsorted(self.breaks, t, side="right")
        values = (self.a[place] * t + self.b[place]) * t + self.c[place]
        return np.where((t >= self.lower) & (t <= self.upper), values, np.inf)

    def conjugate(self) -> Conjugates:
        """The conjugates f_i*."""
        return self._conjugates

    @cached_property
    def _conjugates(self) -> Conjugates:
        return Conjugates(self)

    def prox(self, v: Array) -> Array:
        """Minimizers of f_i(t) + (t - v_i)² / 2, shape (m,)."""
        m, pieces = self.a.shape
        own = Pieces(np.tile(self._edges, (m, 1)), self.b, 2 * self.a, np.full(m, pieces, np.intp))
        return own.prox(np.arange(m), v)

    def conjugate_pieces(self) -> Pieces:
        """The pieces of the conjugates of all sums, each with as many as the others."""
        S, (m, pieces) = self._slopes, self.a.shape
        P, R = np.zeros((m, 2 * pieces - 1)), np.zeros((m, 2 * pieces - 1))
        curved = self.a > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            R[:, ::2] = np.where(curved, 0.5 / self.a, 0.0)
            P[:, ::2] = np.where(curved, -0.5 * self.b / self.a, _inside(self._edges))
        P[:, 1::2] = self.breaks
        if np.isfinite(self.lower):
            S, P, R = (np.insert(one, 0, end, axis=1) for one, end in ((S, -np.inf), (P, self.lower), (R, 0.0)))
        if np.isfinite(self.upper):
            ends = ((S, np.inf), (P, self.upper), (R, 0.0))
            S, P, R = (np.insert(one, one.shape[1], end, axis=1) for one, end in ends)
        return Pieces(S, P, R, np.full(len(P), P.shape[1], dtype=np.intp))

    @cached_property
    def _slopes(self) -> Array:
        """Derivatives at both ends of every piece, never decreasing, shape (m, 2 pieces)."""
        slopes = np.empty((len(self.a), 2 * self.a.shape[1]))
        for side, ends in enumerate((self._edges[:-1], self._edges[1:])):
            infinite = np.isinf(ends)
            inner = 2 * self.a * np.where(infinite, 0.0, ends) + self.b
            slopes[:, side::2] = np.where(infinite & (self.a > 0), ends, inner)
        # Slopes of convex functions never decrease, not even by rounding.
        return np.maximum.accumulate(slopes, axis=1)


class Conjugates:
    """The conjugates of weighted sums; ``lower`` and ``upper``, shape (m,), are the ends of their domains."""

    def __init__(self, sums: WeightedSums) -> None:
        self._sums = sums
        self._S, self._P, self._R, _ = sums.conjugate_pieces().derivatives
        self.domain: tuple[Array, Array] = (self._S[:, 0], self._S[:, -1])
        self.lower, self.upper = self.domain

    def __call__(self, s: Array) -> Array:
        """f_i*(s_i) for s in the domain, shape (m,)."""
        place, points = (self._S[:, 1:-1] < s[:, None]).sum(axis=1), np.arange(len(s))
        t = np.clip(self._P[points, place] + self._R[points, place] * s, *self._sums.domain)
        return np.asarray(s * t - self._sums(t))


def _inside(edges: Array) -> Array:
    """A point inside each interval between edges, of which the outer ones may be infinite."""
    left, right = edges[:-1], edges[1:]
    left = np.where(np.isinf(left), np.where(np.isinf(right), -1.0, right - 2), left)
    right = np.where(np.isinf(right), left + 2, right)
    return np.asarray((left + right) / 2)
