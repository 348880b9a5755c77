"""Where a bound by envelopes lacks most, and where a box is split for it to rise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...problem import Array
from .bound import EnvelopePoint


@dataclass(frozen=True, eq=False)
class Lacking:
    """How far each output's loss is above what the bound reckons with, at the output, and where it may be split.

    ``places`` and ``is_cut`` are those of :meth:`~convex_tsvm.relaxations.envelopes.quadratics.Quadratics.cuts`.
    """

    outputs: Array
    excess: Array
    at: Array
    low: Array
    high: Array
    places: Array
    is_cut: NDArray[np.bool_]
    can_split: NDArray[np.bool_]

    @staticmethod
    def of(point: EnvelopePoint) -> Lacking:
        """What the bound of a dual point lacks in its box."""
        low, high = point.box
        losses = point.losses
        at = np.clip(point.outputs, *losses.ends())
        places, is_cut = losses.cuts()
        concave = ((losses.low < losses.high) & (losses.a < 0)).any(axis=1)
        excess = np.maximum(point.functions.at(at) - point.least, 0.0)
        return Lacking(point.outputs, excess, at, low, high, places, is_cut, np.asarray(is_cut.any(axis=1) | concave))

    @property
    def misled(self) -> bool:
        """Whether most is lacking at outputs with convex losses, from which old curvatures take too much."""
        if not self.can_split.any():
            return False
        others = float(self.excess[~self.can_split].max(initial=0.0))
        # Curvatures mislead where a loss that is convex lacks more than this many times what any other does.
        return others > 4.0 * float(self.excess[self.can_split].max())

    def split(self) -> tuple[int, float] | None:
        """The output to split at, and the place; None if every loss is convex in its interval.

        It is the output whose loss is furthest above what the bound reckons with, split where a convex stretch of the
        loss ends, at the place nearest to the output, or inside a concave piece at the output itself.
        """
        score = np.where(self.can_split, self.excess, -1.0)
        i = int(score.argmax())
        if score[i] < 0:
            return None
        at, places, is_cut = float(self.at[i]), self.places[i], self.is_cut[i]
        if is_cut.any():
            return i, float(places[np.where(is_cut, np.abs(places - at), np.inf).argmin()])
        # An output is split no nearer to the ends of its interval than this share of it.
        room = 0.1 * (self.high[i] - self.low[i])
        return i, float(np.clip(at, self.low[i] + room, self.high[i] - room))
