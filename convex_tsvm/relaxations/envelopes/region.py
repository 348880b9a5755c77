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


@dataclass(order=True)
class IntervalRegion:
    """An interval for every output; of two regions the one with the lesser bound is less.

    Attributes
    ----------
    bound : float
        No solution in the box that is better than the incumbent has an objective below it.
    low, high : array, shape (n,)
        Ends of outputs.
    curved : Curved or None
        The convex problems for the curvatures at hand.
    point : EnvelopePoint or None
        The last solution of such a problem.
    """

    bound: float
    low: Array = field(compare=False)
    high: Array = field(compare=False)
    curved: Curved | None = field(compare=False, default=None, kw_only=True)
    point: EnvelopePoint | None = field(compare=False, default=None, kw_only=True)

    def lend(self, model: EnvelopeModel) -> None:
        """Find curvatures for this box."""
        start = None
        if self.curved is not None and self.point is not None:
            start = (self.curved.curvature, self.point.gamma)
        curvature, gamma = lend(model, self.low, self.high, start, LEND_TOL)
        self.curved = Curved(model, curvature)
        self.point = self.curved.point(self.low, self.high, gamma)
        self.bound = max(self.bound, self.point.value)

    def narrow(self, cutoff: float, tol: float) -> float:
        """Solve the convex problem to a tolerance, and drop outputs of solutions that are not below the cutoff.

        Returns
        -------
        float
            The share of their widths that the intervals have kept on average; 0 if no solution is left.
        """
        assert self.curved is not None
        self.point = self.curved.solve(self.low, self.high, None if self.point is None else self.point.gamma, tol)
        self.bound = max(self.bound, self.point.value)
        if self.bound >= cutoff:
            return 0.0
        low, high = self.curved.consequences(self.point, cutoff)
        if (low > high).any():
            self.bound = np.inf
            return 0.0
        width = np.maximum(self.high - self.low, 1e-300)
        kept = float(((high - low) / width).mean())
        self.low, self.high = low, high
        return kept
