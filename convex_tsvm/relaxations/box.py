"""Boxes: a lower and an upper end for every output; a bound is about the solutions with outputs between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..problem import Array


@dataclass(frozen=True, eq=False)
class Box:
    """Ends of outputs, shape (n,); the box is empty if a lower end is above its upper end."""

    low: Array
    high: Array

    @property
    def is_empty(self) -> bool:
        """Whether no output vector is in the box."""
        return bool((self.low > self.high).any())

    def meet(self, low: Array, high: Array) -> Box:
        """The intersection with another box."""
        # Where something has overflown an end is NaN; ``fmax`` and ``fmin`` then keep the other end.
        return Box(np.fmax(self.low, low), np.fmin(self.high, high))

    def halves(self, i: int, place: float) -> tuple[Box, Box]:
        """The parts in which output i is below and above a place."""
        low, high = self.low.copy(), self.high.copy()
        high[i], low[i] = min(high[i], place), max(low[i], place)
        return Box(self.low, high), Box(low, self.high)


def settle(low: Array, high: Array, y: Array) -> tuple[Array, Array]:
    """Narrow a box where a label is known, or where one end leaves a single label: no output may be in (-1, 1)."""
    low, high = low.copy(), high.copy()
    positive, negative = (y > 0) | (low > -1), (y < 0) | (high < 1)
    low[positive] = np.maximum(low[positive], 1.0)
    high[negative] = np.minimum(high[negative], -1.0)
    return low, high


def labels_of(low: Array, high: Array) -> Array:
    """The labels that the ends of a box leave possible: +1, -1, or 0 where both are."""
    return np.where(low >= 1, 1.0, np.where(high <= -1, -1.0, 0.0))


def counted(box: Any, points: np.ndarray, labels: Array, least: int, most: int, edge: float) -> Any:
    """A box after its labels of some points are counted, of which ``least`` to ``most`` are +1.

    Where that leaves the others one label, their outputs are at ``edge`` or beyond; a box without a solution is empty.
    """
    positive, possible, rest = int((labels > 0).sum()), int((labels >= 0).sum()), points[labels == 0]
    low, high = box.low.copy(), box.high.copy()
    if positive > most or possible < least:
        low[:], high[:] = np.inf, -np.inf
    elif len(rest) and positive == most:
        high[rest] = np.minimum(high[rest], -edge)
    elif len(rest) and possible == least:
        low[rest] = np.maximum(low[rest], edge)
    else:
        return box
    return type(box)(low, high)


class LabelBox(Box):
    """Ends of the outputs v of a search for labels: a lower end >= 1 is the label +1, an upper end <= -1 the label -1.

    There are no outputs in (-1, 1), so that the halves below and above 0 are the labels -1 and +1.
    """

    @cached_property
    def labels(self) -> Array:
        """+1, -1, or 0 where both are possible."""
        return labels_of(self.low, self.high)

    @cached_property
    def unknown(self) -> np.ndarray:
        """Indices of the points without a label."""
        return np.flatnonzero(self.labels == 0)

    def meet(self, low: Array, high: Array) -> LabelBox:
        """The intersection with another box, narrowed to outputs outside (-1, 1)."""
        return LabelBox(*settle(np.fmax(self.low, low), np.fmin(self.high, high), np.zeros(len(low))))

    def with_label(self, i: int, sign: float) -> LabelBox:
        """The part of the box in which point i has the label ``sign``, +1 or -1."""
        low, high = self.low.copy(), self.high.copy()
        if sign > 0:
            low[i] = max(low[i], 1.0)
        else:
            high[i] = min(high[i], -1.0)
        return LabelBox(low, high)

    @staticmethod
    def of_labels(y: Array) -> LabelBox:
        """The box of labels alone: [1, ∞) for +1, (-∞, -1] for -1, the whole line where the label is 0."""
        return LabelBox(np.where(y > 0, 1.0, -np.inf), np.where(y < 0, -1.0, np.inf))
