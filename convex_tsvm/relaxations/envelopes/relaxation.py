"""Lower bounds of any formulation with piecewise linear-quadratic losses, from the convex envelopes of its losses."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ...deadline import share_of_time, time_is_up
from ...instance import Instance
from ...problem import Array
from ..bound import Bound
from ..relaxation import Rules, Stage
from .best import BestSolution
from .model import EnvelopeModel, error_for, trivial_bound, why_no_envelopes
from .region import EnvelopeBounds, IntervalRegion

#: Another round is worth its time where the last one left at most this share of the intervals' widths.
WORTH_A_ROUND = 0.98

#: The first descent may take one part in so many of the time.
FIRST_DESCENT = 4

#: The gap that minorants of smooth losses are made for, where a smaller one is asked for.
GAP_OF_MINORANTS = 1e-3


class EnvelopeRelaxation:
    """Every point pays the convex envelope of its loss over the outputs that a better solution may have.

    Which outputs these are the objective of a known solution says: ½ ‖w‖² and every loss are each at most what is left
    when all others are as low as they can be, and so is what the relaxation itself adds up.  Narrower intervals have
    higher envelopes, so that there are rounds, until the relative gap between the solution known and the bound is at
    most ``gap``.  ``tol`` is the tolerance of the convex problems, in units of outputs.
    """

    name, lends = "envelope", False

    def __init__(self, instance: Instance, *, gap: float, tol: float, max_rounds: int) -> None:
        self.instance, self.gap, self.tol, self.max_rounds = instance, gap, tol, max_rounds

    @staticmethod
    def why_not(instance: Instance) -> str | None:
        """Why there is none for the formulation or the problem of an instance, or None if there is."""
        return why_no_envelopes(instance)

    def bound(self, upper: float = np.inf, callback: Callable[[Stage], None] | None = None) -> Bound:
        """The bound of the formulation, with ``upper``, an objective that is reached; else CCCP's steps find one."""
        self._best, self._rules = BestSolution(self.instance, upper), Rules(gap=self.gap)
        stages: list[Stage] = []
        status = "optimal"
        self._known = trivial_bound(self.instance)
        region = IntervalRegion(self._known, np.zeros(0), np.zeros(0))
        try:
            if not np.isfinite(upper):
                with share_of_time(FIRST_DESCENT):
                    self._best.descend(None)
            error = error_for(self.instance, self._best.objective, max(self.gap, GAP_OF_MINORANTS))
            self.model = EnvelopeModel(self.instance, error)
            self.bounds = EnvelopeBounds(self.model)
            region.low, region.high = self.model.box(self._cutoff)
            for _ in range(self.max_rounds + 1):
                began = time.perf_counter()
                kept = self._round(region)
                if region.bound < self._cutoff and time_is_up():
                    status = "time_limit"
                # The box leaves out solutions that are not below the cutoff: nothing above it is known of those.
                self._known = max(self._known, min(region.bound, self._cutoff))
                stage = Stage(
                    self.name,
                    self._known,
                    region.bound,
                    0,
                    int((self._proven(region) != 0).sum()),
                    time.perf_counter() - began,
                    status,
                )
                stages.append(stage)
                if callback is not None:
                    callback(stage)
                if region.bound >= self._cutoff or kept > WORTH_A_ROUND or status != "optimal":
                    break
                self._best.descend(self._all_outputs(region))
        except KeyboardInterrupt:
            status = "interrupted"
        return self._found(region, stages, status)

    @property
    def _cutoff(self) -> float:
        return self._rules.cutoff(self._best.objective)

    def _round(self, region: IntervalRegion) -> float:
        """One convex problem for new curvatures; the share of the intervals' widths that is left."""
        if self.lends:
            self.bounds.lend(region, self._cutoff)
            if region.bound >= self._cutoff:
                return 0.0
        else:
            region.curvature = self.model.no_curvature(region.low, region.high, self._cutoff)
        return self.bounds.narrow(region, self._cutoff, self.tol)

    def _all_outputs(self, region: IntervalRegion) -> Array:
        """Outputs of all points of the problem, as the last convex problem has them."""
        if region.gamma is None:
            return np.zeros(self.instance.problem.n)
        return self.model.all_outputs(self.bounds.point(region).outputs)

    def _proven(self, region: IntervalRegion) -> Array:
        """Labels given, or signs of all outputs that a better solution may have; 0 where they have both."""
        model, proven = self.model, self.instance.problem.y.copy()
        low, high = model.outputs(region.low), model.outputs(region.high)
        signs = np.where(low > 0, 1.0, np.where(high < 0, -1.0, 0.0))
        proven[model.points] = np.where(proven[model.points] != 0, proven[model.points], signs)
        return proven

    def _found(self, region: IntervalRegion, stages: list[Stage], status: str) -> Bound:
        duals: dict[str, Array] = {}
        if region.gamma is not None and region.curvature is not None:
            duals = {"gamma": region.gamma, "curvature": self.bounds.curved(region.curvature).curvature}
            duals |= {"low": region.low + self.model.offset, "high": region.high + self.model.offset}
        y = self.instance.problem.y
        outputs = None if self._best.point is None else self._best.point.outputs
        return Bound(
            value=self._known,
            relaxed=self._known,
            upper=self._best.objective,
            labels=None if outputs is None else np.where(y != 0, y, np.where(outputs >= 0, 1.0, -1.0)),
            scores=self._all_outputs(region),
            proven=self._proven(region) if len(region.low) else y,
            duals=duals,
            stages=tuple(stages),
            status=status,
        )


class CurvatureRelaxation(EnvelopeRelaxation):
    """The same for losses to which the regularizer lends curvature, which a semidefinite program chooses."""

    name, lends = "curvature", True
