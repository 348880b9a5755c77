"""Functions that are quadratics on neighbouring intervals, many at once: their values and least values."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...losses import Pieces
from ...losses.plq import ZERO_TOL
from ...problem import Array
from ._loops import conjugates


@dataclass(frozen=True)
class Quadratics:
    """Function i is a t² + b t + c on [low, high], with one entry of each array, shape (n, k), for every piece.

    Pieces with low > high are none; outside its pieces a function is infinite.
    """

    low: Array
    high: Array
    a: Array
    b: Array
    c: Array

    def within(self, low: Array, high: Array) -> "Quadratics":
        """The functions on intervals, one for each."""
        return Quadratics(
            np.maximum(self.low, low[:, None]), np.minimum(self.high, high[:, None]), self.a, self.b, self.c
        )

    def ends(self) -> tuple[Array, Array]:
        """Where each function is finite."""
        is_piece = self.low <= self.high
        return np.where(is_piece, self.low, np.inf).min(axis=1), np.where(is_piece, self.high, -np.inf).max(axis=1)

    def plus(self, a: Array, b: Array, c: Array) -> "Quadratics":
        """The functions and a quadratic for each."""
        return Quadratics(self.low, self.high, self.a + a[:, None], self.b + b[:, None], self.c + c[:, None])

    def at(self, t: Array) -> Array:
        """The value of each function at its own t."""
        inside = (self.low <= t[:, None]) & (t[:, None] <= self.high)
        values = (self.a * t[:, None] + self.b) * t[:, None] + self.c
        return np.asarray(np.where(inside, values, np.inf).min(axis=1))

    def least(self) -> tuple[Array, Array]:
        """The least value on every piece, infinite where there is none, and where it is; shape (n, k)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            lowest = np.where(self.a > 0, -self.b / (2 * self.a), np.nan)
            lowest = np.where((lowest > self.low) & (lowest < self.high), lowest, np.nan)
            best, at = np.full(self.a.shape, np.inf), self.low.copy()
            for t in (self.low, self.high, lowest):
                value = self._on_pieces(t, self.c)
                better = value < best
                best, at = np.where(better, value, best), np.where(better, t, at)
        empty = self.low > self.high
        return np.where(empty, np.inf, best), at

    def below(self, level: Array) -> tuple[Array, Array]:
        """The ends of the least interval outside which each function is above its level; low > high for none."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            a, b, c = self.a, self.b, self.c - level[:, None]
            root = np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))
            q = -0.5 * (b + np.copysign(root, b))
            one, two = np.where(a != 0, q / a, np.nan), np.where(q != 0, c / q, np.nan)
            line = np.where(b != 0, -c / b, np.nan)
            candidates = [self.low, self.high]
            candidates += [np.clip(np.where(a != 0, t, line), self.low, self.high) for t in (one, two)]
            room = 1e-12 * (np.abs(self.c) + np.abs(level)[:, None])
            first, last = np.full(a.shape, np.inf), np.full(a.shape, -np.inf)
            for number, t in enumerate(candidates):
                value = self._on_pieces(t, c)
                # A root that was clipped to an end counts by the value there, one inside its piece by being a root.
                inside = (value <= room) | ((number > 1) & (t > self.low) & (t < self.high))
                inside &= (self.low <= self.high) & ~np.isnan(t)
                first, last = np.where(inside, np.minimum(first, t), first), np.where(inside, np.maximum(last, t), last)
        return first.min(axis=1), last.max(axis=1)

    def cuts(self) -> tuple[Array, NDArray[np.bool_]]:
        """The place after every piece but the last, shape (n, k - 1), and whether it ends a convex stretch.

        It does where the slope falls, and where a piece of negative curvature begins or ends.
        """
        t = self.high[:, :-1]
        is_piece = self.low < self.high
        concave = is_piece & (self.a < 0)
        with np.errstate(invalid="ignore"):
            before = 2 * self.a[:, :-1] * t + self.b[:, :-1]
            after = 2 * self.a[:, 1:] * t + self.b[:, 1:]
            falls = after < before - ZERO_TOL * (1 + np.abs(before))
        return t, (falls | concave[:, :-1] | concave[:, 1:]) & is_piece[:, :-1] & is_piece[:, 1:]

    def _on_pieces(self, t: Array, c: Array) -> Array:
        """Each piece's quadratic, with another constant, at a t of its own; where that is infinite, the limit."""
        far = np.isinf(t)
        leading = np.where(self.a != 0, self.a, self.b * np.sign(t))
        limit = np.where(leading > 0, np.inf, np.where(leading < 0, -np.inf, c))
        return np.where(far, limit, (self.a * t + self.b) * t + c)

    def conjugates(self) -> Pieces:
        """The derivatives of the conjugates of the functions, which are those of their convex envelopes."""
        n, k = self.a.shape
        ends, count = np.full((n, 2 * k + 3), np.nan), np.zeros(n, dtype=np.intp)
        offset, rate = np.zeros((n, 2 * k + 2)), np.zeros((n, 2 * k + 2))
        conjugates(self.low, self.high, self.a, self.b, self.c, ends, offset, rate, count)
        most = int(count.max(initial=1))
        return Pieces(ends[:, : most + 1].copy(), offset[:, :most].copy(), rate[:, :most].copy(), count)
