"""Lower bounds over boxes of weights and bias: what points pay is above a plane that touches its convex envelope.

Over a box every output is in an interval that is known in closed form, and each point pays at least the convex envelope
of its loss there.  A tangent plane of the sum of these, and the regularizer, have a least value over the box in closed
form, and so has the part of the box in which they are below a cutoff.  No bound needs anything of points whose interval
lies in one piece of their loss but the sum of their quadratics, which parts of the box take over.
"""

from dataclasses import dataclass

import numpy as np

from ...deadline import time_is_up
from ...problem import Array
from ..box import Box
from ..proof import Proof, Stored
from ..region import Relaxation, Work
from .best import BestWeights
from .features import why_no_planes
from .model import Combination, Touched, Undecided, WeightModel


@dataclass(frozen=True, eq=False)
class PlaneProof(Proof):
    """Where planes touch, shape (k, n), or (k, n + 1) with their prices, their weights, and the box left, if any."""

    name = "planes"
    at: Array
    weights: Array
    box: Box | None = None

    def apply(self, model: WeightModel, box: Box, cutoff: float) -> tuple[float, Box]:
        n = model.n
        touched = [model.touch(box, np.clip(at[:n], box.low, box.high), model.begin, at[n:]) for at in self.at]
        bound = model.combined(box, touched, self.weights).bound
        return bound, box if self.box is None else box.meet(self.box.low[:n], self.box.high[:n])

    def store(self) -> Stored:
        ends: list[Array] = []
        if self.box is not None:
            more = np.zeros(self.at.shape[1] - len(self.box.low))  # where points have prices
            ends = [self.box.low, more, self.box.high, more]
        return Stored(np.concatenate([self.at.ravel(), self.weights, *ends]), len(self.at), float(self.box is not None))

    @staticmethod
    def read(stored: Stored) -> "PlaneProof":
        k, sides = stored.number, 2 if stored.share else 0
        n = (len(stored.vector) - k) // (k + sides)
        at, weights, ends = np.split(stored.vector, [k * n, k * n + k])
        return PlaneProof(at.reshape(k, n), weights, Box(*np.split(ends, 2)) if sides else None)


class TangentPlanes(Relaxation):
    """Tangent planes of the envelopes of losses over boxes of weights and bias, for the linear space."""

    name, about, closes, takes = "weights", "weights", True, ("max_rounds",)
    most = 40  # planes for a box
    #: Where the first plane touches, as a share of the box: in the middle, as at w = 0, many losses may have kinks, and
    #: rounding would choose which of their slopes the plane has.
    first = 0.51

    @staticmethod
    def why_not(model: WeightModel) -> str | None:
        return why_no_planes(model.instance)

    def tighten(self, work: Work) -> None:
        model = work.model
        undecided = work.memory if isinstance(work.memory, Undecided) else model.begin
        at = work.box.low + self.first * (work.box.high - work.box.low)
        for turn in range(self.max_rounds if work.rules.alone else 2):
            # The first plane narrows the box, those that follow are for what is left.
            touched, planes = self._touch(work, at, undecided, 1 if turn == 0 else self.most)
            undecided, at = touched[-1].undecided, touched[-1].at
            if work.rules.alone:
                work.record(self.name, work.bound)
            if not work.open or time_is_up():
                break
            at = np.clip(0.5 * (at + planes.lowest), work.box.low, work.box.high)
        work.outputs, work.memory = at, undecided
        # Where an objective in the box is no further from its bound than rounding may be, halves are no better.
        if work.open and touched[-1].objective - work.bound > 4 * planes.doubt:
            work.split = lambda: _widest(work.box, touched[-1].spread)

    def _touch(self, work: Work, at: Array, undecided: Undecided, most: int) -> tuple[list[Touched], Combination]:
        """Planes that touch at a point and, as long as they may close the box, at others; their proof is taken."""
        model, touched, left = work.model, list[Touched](), undecided
        while True:
            touched.append(model.touch(work.box, at, left))
            left = touched[0].undecided
            best = work.incumbent
            if touched[-1].objective < best.objective and isinstance(best, BestWeights):
                best.consider(at)
            planes = model.combined(work.box, touched)
            lowest = min(touched, key=lambda other: other.relaxed)
            # Where envelopes are below the cutoff no planes close the box.
            hopeful = planes.bound < work.cutoff <= lowest.relaxed
            if len(touched) == most or not hopeful or time_is_up():
                break
            at = np.clip(0.5 * (lowest.at + planes.lowest), work.box.low, work.box.high)
        used, cutoff = planes.weights > 0, work.cutoff
        at, weights = np.array([[*one.at, *one.price] for one in touched])[used], planes.weights[used]
        if planes.bound >= cutoff:
            work.accept(PlaneProof(at, weights), np.inf, planes.bound, work.box)
        else:
            box = model.narrowed(work.box, planes, cutoff)
            work.accept(PlaneProof(at, weights, box), cutoff, planes.bound, box)
        return touched, planes


def _widest(box: Box, spread: Array) -> tuple[int, float] | None:
    """The coordinate with which outputs of undecided points vary most, and the middle of its interval."""
    middle = 0.5 * (box.low + box.high)
    widths = np.where((box.low < middle) & (middle < box.high), box.high - box.low, 0.0)
    i = int((widths * spread).argmax()) if (widths * spread).any() else int(widths.argmax())
    return (i, float(middle[i])) if widths[i] > 0 else None
