"""A box of outputs with its bound: how the bound rises, and the box becomes smaller."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...problem import Array
from .bound import Curved, EnvelopePoint
from .curvature import lend
from .model import EnvelopeModel

#: How accurately curvatures are found, relative to the bound: within these limits by a share of what it lacks.
LEAST_LEND_TOL, MOST_LEND_TOL, SHARE_LACKING = 1e-8, 1e-3, 0.2

#: So many numbers in matrices of convex problems are kept at most, for regions that come again.
MOST_KEPT = 20_000_000


@dataclass(frozen=True, eq=False)
class EnvelopeProof:
    """What proves a region's bound, or a smaller box: curvatures, γ, the cutoff, and the box after it."""

    curvature: Array
    gamma: Array
    cutoff: float
    low: Array
    high: Array


class EnvelopeBounds:
    """What bounds regions: the model, and the convex problems of the curvatures that were used last.

    With ``keep_proofs`` regions collect the proofs of what is known of them.
    """

    def __init__(self, model: EnvelopeModel, *, keep_proofs: bool = False) -> None:
        self.model, self.keep_proofs = model, keep_proofs
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

    def lend(self, region: IntervalRegion, cutoff: float) -> None:
        """Find curvatures for a region's box, accurately enough to bring its bound to the cutoff, if any do."""
        start = None
        if region.curvature is not None and region.gamma is not None:
            start = (self.curved(region.curvature).curvature, region.gamma)
        lacking = (cutoff - region.bound) / max(abs(cutoff), 1e-300) if np.isfinite(cutoff - region.bound) else 1.0
        tol = float(np.clip(SHARE_LACKING * lacking, LEAST_LEND_TOL, MOST_LEND_TOL))
        region.curvature, region.gamma = lend(self.model, region.low, region.high, start, tol)
        value = self.point(region).value
        if value > region.bound:
            region.bound = value
            self._prove(region, np.inf, region.low, region.high)

    def point(self, region: IntervalRegion) -> EnvelopePoint:
        """The dual point at hand for a region's box."""
        assert region.curvature is not None
        assert region.gamma is not None
        return self.curved(region.curvature).point(region.low, region.high, region.gamma)

    def narrow(self, region: IntervalRegion, cutoff: float, tol: float) -> float:
        """Solve the convex problem to a tolerance, and drop outputs of solutions that are not below the cutoff.

        What comes is the share of their widths that the intervals have kept on average; 0 if no solution is left.
        """
        assert region.curvature is not None
        curved = self.curved(region.curvature)
        point = curved.solve(region.low, region.high, region.gamma, tol)
        region.gamma = point.gamma
        if point.value >= cutoff:
            region.bound = point.value
            self._prove(region, np.inf, region.low, region.high)
            return 0.0
        low, high = curved.consequences(point, cutoff)
        low, high = np.maximum(low, region.low), np.minimum(high, region.high)
        if (low > high).any():
            # All of the interval of one output is left out, at least.
            none = (low > high) & (np.cumsum(low > high) == 1)
            low, high = np.where(none, np.nextafter(region.high, np.inf), region.low), region.high
            self._prove(region, cutoff, low, high)
            region.bound = np.inf
            return 0.0
        region.bound = max(region.bound, point.value)
        self._prove(region, cutoff, low, high)
        width = np.maximum(region.high - region.low, 1e-300)
        kept = float(((high - low) / width).mean())
        region.low, region.high = low, high
        return kept

    def close(self, region: IntervalRegion, curvature: Array, tol: float) -> None:
        """Bound a region by the convex problem of other curvatures, whose box stays as it is."""
        # From the γ of other curvatures the solver may be far from where it gets in its few steps.
        point = self.curved(curvature).solve(region.low, region.high, None, tol)
        if point.value > region.bound:
            region.curvature, region.gamma, region.bound = curvature, point.gamma, point.value
            self._prove(region, np.inf, region.low, region.high)

    def _prove(self, region: IntervalRegion, cutoff: float, low: Array, high: Array) -> None:
        if self.keep_proofs:
            assert region.curvature is not None
            assert region.gamma is not None
            region.proofs = (*region.proofs, EnvelopeProof(region.curvature, region.gamma, cutoff, low, high))


@dataclass(order=True)
class IntervalRegion:
    """An interval for every output; of two regions the one with the lesser bound is less."""

    bound: float  # no solution in the box that is better than the incumbent has an objective below it
    low: Array = field(compare=False)  # ends of outputs
    high: Array = field(compare=False)
    # Those of the last convex problem.
    curvature: Array | None = field(compare=False, default=None, kw_only=True)
    gamma: Array | None = field(compare=False, default=None, kw_only=True)
    # Proofs of what is known of it beyond the region that it was split from.
    proofs: tuple[EnvelopeProof, ...] = field(compare=False, default=(), kw_only=True)
