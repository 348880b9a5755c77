"""Sums of a few convex PLQ functions whose weights differ from point to point.

Deterministic annealing charges an unlabelled point both label's losses, weighted by a probability of its own.  As n
distinct :class:`~convex_tsvm.losses.PLQ` functions that would be n small Python objects a step; here the breakpoints,
which all points share, are merged once, and what differs is an array.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .pieces import Pieces
from .plq import PLQ, Array


class WeightedSums:
    """f_i(t) = Σ_k weights_ik ℓ_k(t), for m points i, with convex ℓ_k and weights >= 0, shape (m, len(losses)).

    Every loss restricts the domain, whatever its weight.

    Raises
    ------
    ValueError
        If a loss is not convex, a weight is negative, or the domains have no point in common.
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
        a, b, c = self._at(np.searchsorted(self.breaks, t, side="right"))
        return np.where((t >= self.lower) & (t <= self.upper), (a * t + b) * t + c, np.inf)

    def conjugate(self) -> Conjugates:
        """The conjugates f_i*."""
        return self._conjugates

    @cached_property
    def _conjugates(self) -> Conjugates:
        return Conjugates(self)

    def prox(self, v: Array) -> Array:
        """Minimizers of f_i(t) + (t - v_i)² / 2, shape (m,)."""
        # The map t → t + ∂f_i(t) takes the graph's corners to thresholds of v, which lie like the slopes.
        _, ends = self._corners
        place = _count(self._slopes[:, 1:-1] + ends[1:-1], v)
        piece = place // 2
        a, b, _ = self._at(piece)
        kinks = np.append(self.breaks, 0.0)[np.minimum(piece, len(self.breaks))]
        return np.clip(np.where(place % 2 == 0, (v - b) / (1 + 2 * a), kinks), self.lower, self.upper)

    def conjugate_pieces(self) -> Pieces:
        """The pieces of the conjugates of all sums, each with as many as the others."""
        slopes, outputs = self._slopes, self._corners[0]
        m, pieces = self.a.shape
        S = slopes
        P, R = np.zeros((m, 2 * pieces - 1)), np.zeros((m, 2 * pieces - 1))
        curved = self.a > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            R[:, ::2] = np.where(curved, 0.5 / self.a, 0.0)
            P[:, ::2] = np.where(curved, -0.5 * self.b / self.a, outputs[::2])
        P[:, 1::2] = self.breaks
        if np.isfinite(self.lower):
            S, P, R = _prepend(S, -np.inf), _prepend(P, self.lower), _prepend(R, 0.0)
        if np.isfinite(self.upper):
            S, P, R = _append(S, np.inf), _append(P, self.upper), _append(R, 0.0)
        return Pieces(S, P, R, np.full(len(P), P.shape[1], dtype=np.intp))

    @cached_property
    def _corners(self) -> tuple[Array, Array]:
        """A point on every stretch of the graphs (piece, kink, piece, …), and the outputs at the ends of pieces."""
        ends = np.column_stack([self._edges[:-1], self._edges[1:]]).ravel()
        outputs = np.empty(2 * len(self._edges) - 3)
        outputs[::2], outputs[1::2] = _inside(self._edges), self.breaks
        return outputs, ends

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

    def _at(self, piece: NDArray[np.intp]) -> tuple[Array, Array, Array]:
        points = np.arange(len(self.a))
        return self.a[points, piece], self.b[points, piece], self.c[points, piece]


class Conjugates:
    """The conjugates of weighted sums; ``lower`` and ``upper``, shape (m,), are the ends of their domains."""

    def __init__(self, sums: WeightedSums) -> None:
        self._sums = sums
        self._S, self._P, self._R, _ = sums.conjugate_pieces().derivatives
        self.lower: Array = self._S[:, 0]
        self.upper: Array = self._S[:, -1]

    @property
    def domain(self) -> tuple[Array, Array]:
        """Ends of the domains, each of shape (m,)."""
        return self.lower, self.upper

    def __call__(self, s: Array) -> Array:
        """f_i*(s_i) for s in the domain, shape (m,)."""
        place, points = _count(self._S[:, 1:-1], s), np.arange(len(s))
        t = np.clip(self._P[points, place] + self._R[points, place] * s, *self._sums.domain)
        return np.asarray(s * t - self._sums(t))


def _inside(edges: Array) -> Array:
    """A point inside each interval between edges, of which the outer ones may be infinite."""
    left, right = edges[:-1], edges[1:]
    left = np.where(np.isinf(left), np.where(np.isinf(right), -1.0, right - 2), left)
    right = np.where(np.isinf(right), left + 2, right)
    return np.asarray((left + right) / 2)


def _count(thresholds: Array, values: Array) -> NDArray[np.intp]:
    """How many of each row's thresholds are below its value."""
    return np.asarray((thresholds < values[:, None]).sum(axis=1), dtype=np.intp)


def _prepend(values: Array, first: float) -> Array:
    return np.column_stack([np.full(len(values), first), values])


def _append(values: Array, last: float) -> Array:
    return np.column_stack([values, np.full(len(values), last)])
