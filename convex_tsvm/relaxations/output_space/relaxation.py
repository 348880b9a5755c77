"""The relaxations in v-space as bounds of boxes: at the root with rounds of cuts, below it with multipliers at hand."""

from __future__ import annotations

import time

import numpy as np

from ...deadline import time_is_up, time_left
from ...problem import Array
from ..known_labels import settle_labels
from ..label_matrix.relaxation import LabelMatrix
from ..model import BoundModel
from ..proofs import DirectionsProof, QuadraticProof, single
from ..relaxation import Relaxation, Work
from .convexified import Multipliers
from .cuts import Cuts
from .tightening import MULTIPLIER_FACTORS, Relaxed, Stall, Tightening

#: Multipliers of a box above are kept if they are likely to close a box within so many levels of the tree, which
#: takes about as long as one SDP relaxation.
LEVELS_KEPT = 8

#: How often the same multipliers are applied to a box, at most, as long as they settle labels.
TURNS = 20


class Boxes(Relaxation):
    """The SDP relaxation in a box of proven ends, with the chord above the square of every output.

    Subclasses add cuts in rounds: ``products`` of ends (RLT), and shifted ``triangles`` inequalities.
    """

    name = "box"
    products = triangles = False

    @staticmethod
    def why_not(model: BoundModel) -> str | None:
        if not model.known.squared:
            return f"labeled={model.search.loss!r}: relaxations in v-space are for the squared hinge, with a cost > 0"
        return None if model.has_quadratic else "kernel and costs are too far apart in size: scale points or lower C"

    def tighten(self, work: Work) -> None:
        if not work.box.is_bounded:
            return
        if work.number >= 0:
            self._reuse(work)
        if work.open and self._is_stale(work) and not time_is_up():
            self._relax(work)

    def _is_stale(self, work: Work) -> bool:
        """Whether new multipliers are to be computed for this box."""
        refresh, levels = work.rules.refresh, work.region.depth - work.since
        if work.number < 0:
            return True
        if levels == 0 or refresh is None:
            return False
        if isinstance(refresh, int):
            return levels >= refresh
        # The old multipliers cost almost nothing per box, but may need too many boxes below this one.
        gained, lacking = (work.bound - work.base) / levels, work.cutoff - work.bound
        return lacking > LEVELS_KEPT * gained

    def _reuse(self, work: Work) -> None:
        """Prove what the multipliers of a box above prove here, as long as they settle labels."""
        for _ in range(TURNS):
            proof = _quadratic(work, work.number, 1.0, work.v)
            v = proof.v.astype(float)
            settled = work.prove(proof)
            if not (settled and work.open) or time_is_up():
                break
        work.v = v
        if work.open:
            quadratic = work.model.convexified(work.number, 1.0)
            work.rates = lambda: quadratic.rates(work.box.low, work.box.high, v, work.box.unknown)
            work.outputs = v
            work.offer(v)

    def _relax(self, work: Work) -> None:
        """The SDP relaxation in this box; at the root with rounds of cuts."""
        model = work.model
        at_root = work.number < 0
        if at_root:
            self._ends(work)
        tightening = Tightening(
            model.space,
            solver=self.solver,
            cuts_per_round=self._cuts(model.n, at_root),
            products=self.products,
            triangles=self.triangles,
        )
        cuts = Cuts.none() if at_root else model.multipliers[work.number].cuts
        stall, last, status = Stall(work.box.low, work.box.high, work.bound), 0.0, "optimal"
        for _ in range(self.max_rounds if at_root else 1):
            began = time.time()
            # A round that takes as long as the last one must end before the deadline.
            if not work.open or last > time_left() or time_is_up():
                break
            turn, n_cuts = tightening.relax(work.box.low, work.box.high, cuts, work.cutoff), cuts.m
            last, status = time.time() - began, turn.status
            if turn.status == "failed":
                work.record(self.name, turn.value, n_cuts, turn.status)
                break
            cuts = turn.kept
            if not time_is_up():
                cuts = cuts.join(tightening.fresh(turn.X, work.box.low, work.box.high))
            work.outputs = turn.scores
            self._take(work, turn, cuts)
            work.since, work.base, work.correlation = work.region.depth, work.bound, turn.correlation()
            work.offer(turn.scores, thorough=at_root, always=True)
            work.record(self.name if n_cuts else "box", turn.value, n_cuts, turn.status)
            if not work.open or stall.after(work.bound, work.box.low, work.box.high, work.cutoff):
                break
        if at_root and status != "optimal" and work.open and LabelMatrix.why_not(model) is None:
            # The solver for label matrices is another one, and may succeed where that of the SDP has failed.
            LabelMatrix(tol=self.tol).tighten(work)

    def _cuts(self, n: int, at_root: bool) -> int:
        most = n if self.cuts_per_round is None else self.cuts_per_round
        return most if at_root else most // 2

    def _take(self, work: Work, turn: Relaxed, cuts: Cuts) -> None:
        """Keep new multipliers, and prove what they and shares of them prove."""
        multipliers: Multipliers = turn.multipliers.carried(cuts)
        work.number = number = work.model.add(multipliers)
        work.duals = {"diagonal": turn.multipliers.diagonal, "chord": turn.multipliers.chord}
        work.duals |= {"weights": turn.multipliers.weights, "A": work.model.convexified(number, 1.0).A}
        v: Array | None = np.clip(turn.scores, work.box.low, work.box.high)
        for share in MULTIPLIER_FACTORS:
            proof = _quadratic(work, number, share, v)
            v = proof.v.astype(float)
            if share == 1:
                work.v = v
            work.prove(proof)
            if not work.open or time_is_up():
                return
        # In a box that has become smaller the same multipliers give a larger quadratic.
        self._reuse(work)

    @staticmethod
    def _ends(work: Work) -> None:
        """Prove ends of all outputs by the SVM of the known labels, again as long as that settles labels."""
        svm = work.model.svm
        if svm.free_bias:
            return
        while work.open and not time_is_up():
            y = work.box.labels
            point = svm.solve(y, work.gamma)
            settled = work.prove(DirectionsProof(svm.directions(y, point, work.cutoff)))
            if not (settled and work.open):
                return
            settle_labels(work)


class Products(Boxes):
    """As :class:`Boxes`, with products of ends (RLT) added in rounds."""

    name = "rlt"
    products = True


class Triangles(Products):
    """As :class:`Products`, with shifted triangle inequalities added in rounds, too."""

    name = "triangles"
    triangles = True


def _quadratic(work: Work, number: int, share: float, start: Array | None) -> QuadraticProof:
    """The minimum of a share of kept multipliers' convex quadratic in the box."""
    v = work.model.convexified(number, share).minimize(work.box.low, work.box.high, start)
    return QuadraticProof(number, share, single(v))
