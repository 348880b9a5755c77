"""A box of outputs with its bound: how the bound rises, and the box becomes smaller."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...problem import Array
from .bound import Curved, EnvelopePoint
from .curvature import lend
from .model import EnvelopeModel

#: How accurately curvatures are found, relative to the bound.
LEND_TOL = 1e-3

#: So many numbers in matrices of convex problems are kept at most, for regions that come again.
MOST_KEPT = 20_000_000


class EnvelopeBounds:
    """What bounds regions: the model, and the convex problems of the curvatures that were used last."""

    def __init__(self, model: EnvelopeModel) -> None:
        self.model = model
        self._kept: dict[int, Curved] = {}

    def curved(self, curvature: Array) -> Curved:
        """The convex problems for curvatures; the array is known by what it is, not by its entries."""
        key = id(curvature)
        made = self._kept.pop(key, None)
        if made is None or made.given is not curvature:
            made = Curved(self.model, curvature)
        self._kept[key] = made
        while len(self._kept) > max(1, MOST_KEPT // (3 * self.model.n**2)):
            del self._kept[next(iter(self._kept))]
        return made

    def lend(self, region: IntervalRegion) -> None:
        """Find curvatures for a region's box."""
        start = None
        if region.curvature is not None and region.gamma is not None:
            start = (self.curved(region.curvature).curvature, region.gamma)
        region.curvature, region.gamma = lend(self.model, region.low, region.high, start, LEND_TOL)
        region.bound = max(region.bound, self.point(region).value)

    def point(self, region: IntervalRegion) -> EnvelopePoint:
        """The dual point at hand for a region's box."""
        assert region.curvature is not None
        assert region.gamma is not None
        return self.curved(region.curvature).point(region.low, region.high, region.gamma)

    def narrow(self, region: IntervalRegion, cutoff: float, tol: float) -> float:
        """Solve the convex problem to a tolerance, and drop outputs of solutions that are not below the cutoff.

        Returns
        -------
        float
            The share of their widths that the intervals have kept on average; 0 if no solution is left.
        """
        assert region.curvature is not None
        curved = self.curved(region.curvature)
        point = curved.solve(region.low, region.high, region.gamma, tol)
        region.gamma, region.bound = point.gamma, max(region.bound, point.value)
        if region.bound >= cutoff:
            return 0.0
        low, high = curved.consequences(point, cutoff)
        if (low > high).any():
            region.bound = np.inf
            return 0.0
        width = np.maximum(region.high - region.low, 1e-300)
        kept = float(((high - low) / width).mean())
        region.low, region.high = low, high
        return kept


@dataclass(order=True)
class IntervalRegion:
    """An interval for every output; of two regions the one with the lesser bound is less.

    Attributes
    ----------
    bound : float
        No solution in the box that is better than the incumbent has an objective below it.
    low, high : array, shape (n,)
        Ends of outputs.
    curvature, gamma : array, shape (n,), or None
        Those of the last convex problem.
    """

    bound: float
    low: Array = field(compare=False)
    high: Array = field(compare=False)
    curvature: Array | None = field(compare=False, default=None, kw_only=True)
    gamma: Array | None = field(compare=False, default=None, kw_only=True)
