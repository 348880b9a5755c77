"""Boxes: ends of the outputs between which the solutions are that a bound is about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..problem import Array


def settle(low: Array, high: Array, y: Array) -> tuple[Array, Array]:
    """A box without (-1, 1): known labels, and unknown ones that one end settles."""
    low, high = low.copy(), high.copy()
    positive, negative = (y > 0) | (low > -1), (y < 0) | (high < 1)
    low[positive] = np.maximum(low[positive], 1.0)
    high[negative] = np.minimum(high[negative], -1.0)
    return low, high


def labels_of(low: Array, high: Array) -> Array:
    """Labels that a box settles; 0 for the others."""
    return np.where(low >= 1, 1.0, np.where(high <= -1, -1.0, 0.0))


@dataclass(frozen=True, eq=False)
class Box:
    """Ends of the outputs v; an end beyond -1 or 1 is a label.  Empty if an end is beyond the other."""

    low: Array
    high: Array

    @cached_property
    def labels(self) -> Array:
        """+1, -1, or 0 where both are possible."""
        return labels_of(self.low, self.high)

    @cached_property
    def unknown(self) -> np.ndarray:
        """Indices of the points without a label."""
        return np.flatnonzero(self.labels == 0)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is in it."""
        return bool((self.low > self.high).any())

    @property
    def is_bounded(self) -> bool:
        """Whether all ends are finite."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    def meet(self, low: Array, high: Array) -> Box:
        """What is in both, without the outputs in (-1, 1)."""
        # An end that is not a number, where something has overflown, says nothing.
        return Box(*settle(np.fmax(self.low, low), np.fmin(self.high, high), np.zeros(len(low))))

    def with_label(self, i: int, sign: float) -> Box:
        """The half in which point i has a label."""
        low, high = self.low.copy(), self.high.copy()
        if sign > 0:
            low[i] = max(low[i], 1.0)
        else:
            high[i] = min(high[i], -1.0)
        return Box(low, high)

    @staticmethod
    def of_labels(y: Array) -> Box:
        """No ends but those that labels are."""
        return Box(np.where(y > 0, 1.0, -np.inf), np.where(y < 0, -1.0, np.inf))
