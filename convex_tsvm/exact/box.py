"""Boxes: ends of the outputs between which a node of the search looks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..problem import Array
from ..relaxations.output_space.quadratic_program import labels_of, settle


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
