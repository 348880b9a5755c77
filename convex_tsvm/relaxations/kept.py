"""Relaxations whose multipliers are kept: made for one box, they give bounds of all smaller ones by arithmetic."""

from __future__ import annotations

import time
from abc import abstractmethod

from ..deadline import time_is_up
from ..problem import Array
from .convex_quadratic import ConvexQuadratic
from .known_labels import settle_labels
from .model import BoundModel
from .proofs import DirectionsProof, MultipliersProof
from .relaxation import Relaxation, Work

#: Multipliers of a box above are kept if they are likely to close a box within so many levels of the tree, which
#: takes about as long as one SDP relaxation.
LEVELS_KEPT = 8

#: How often the same multipliers are applied to a box, at most, as long as they settle labels.
TURNS = 20


class KeptMultipliers(Relaxation):
    """A relaxation in a box of proven ends: multipliers of a box above are used as long as they get on.

    Subclasses make multipliers for a box, and say what quadratic and what proof comes of them.
    """

    @staticmethod
    def why_not(model: BoundModel) -> str | None:
        if not model.known.squared:
            return f"labeled={model.search.loss!r}: relaxations in v-space are for the squared hinge, with a cost > 0"
        return None if model.has_quadratic else "kernel and costs are too far apart in size: scale points or lower C"

    def tighten(self, work: Work) -> None:
        if not work.box.is_bounded:
            return
        if work.number >= 0:
            self.reuse(work)
        if work.open and self._is_stale(work) and not time_is_up():
            self.relax(work)

    @abstractmethod
    def relax(self, work: Work) -> None:
        """Make multipliers for this box, and prove what they prove."""

    @abstractmethod
    def quadratic(self, work: Work) -> ConvexQuadratic:
        """The convex quadratic of the multipliers at hand."""

    @abstractmethod
    def proof(self, work: Work, x: Array) -> MultipliersProof:
        """What the tangent of that quadratic at a point proves."""

    def _is_stale(self, work: Work) -> bool:
        """Whether new multipliers are to be computed for this box."""
        refresh, levels = work.rules.refresh, work.region.depth - work.since
        if work.number < 0 or work.region.unfinished:
            return True
        if levels == 0 or refresh is None:
            return False
        if isinstance(refresh, int):
            return levels >= refresh
        # The old multipliers cost almost nothing per box, but may need too many boxes below this one.
        gained, lacking = (work.bound - work.base) / levels, work.cutoff - work.bound
        return lacking > LEVELS_KEPT * gained

    def reuse(self, work: Work) -> None:
        """Prove what the multipliers at hand prove in this box, as long as they settle labels."""
        quadratic = self.quadratic(work)
        for _ in range(TURNS):
            x = quadratic.minimize(work.box.low, work.box.high, work.v)
            proof = self.proof(work, x)
            x = proof.v.astype(float)
            settled = work.prove(proof)
            work.v = x
            if not (settled and work.open) or time_is_up():
                break
        if work.open:
            work.outputs = x[: work.model.n]
            self.weigh(work, x)
            work.offer(work.outputs)

    def weigh(self, work: Work, x: Array) -> None:
        """Say by how much the bound would rise with a label, from the minimizer x of the multipliers at hand."""
        quadratic = self.quadratic(work)
        work.rates = lambda: quadratic.rates(work.box.low, work.box.high, x, work.box.unknown)

    @staticmethod
    def prove_ends(work: Work) -> bool:
        """Prove ends of all outputs by the SVM of the known labels, again as long as that settles labels.

        It takes seconds, and pauses between two turns if the region says that it is time.  Returns whether it did:
        then labels are settled from which more may follow.
        """
        svm = work.model.svm
        if svm.free_bias:
            return False
        while work.open and not time_is_up():
            y = work.box.labels
            point = svm.solve(y, work.gamma)
            settled = work.prove(DirectionsProof(svm.directions(y, point, work.cutoff)))
            if not (settled and work.open):
                return False
            settle_labels(work)
            if time.time() > work.region.pause_at:
                return work.open
        return False
