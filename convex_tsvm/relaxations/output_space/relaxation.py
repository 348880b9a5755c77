"""The relaxations in v-space as bounds of boxes: at the root with rounds of cuts, below it with multipliers at hand."""

from __future__ import annotations

import time

import numpy as np

from ...deadline import time_is_up, time_left
from ...problem import Array
from ..kept import KeptMultipliers
from ..label_matrix.relaxation import LabelMatrix
from ..proofs import QuadraticProof, single
from ..relaxation import Work
from .convexified import Convexified, Multipliers
from .cuts import Cuts
from .tightening import MULTIPLIER_FACTORS, Relaxed, Stall, Tightening


class Boxes(KeptMultipliers):
    """The SDP relaxation in a box of proven ends, with the chord above the square of every output.

    Subclasses add cuts in rounds: ``products`` of ends (RLT), and shifted ``triangles`` inequalities.
    """

    name = "box"
    products = triangles = False

    def quadratic(self, work: Work) -> Convexified:
        return work.model.convexified(work.number, 1.0)

    def proof(self, work: Work, x: Array) -> QuadraticProof:
        return QuadraticProof(work.number, 1.0, single(x))

    def relax(self, work: Work) -> None:
        """The SDP relaxation in this box; at the root with rounds of cuts."""
        model = work.model
        at_root = work.number < 0
        if at_root:
            self.prove_ends(work)
        tightening = Tightening(
            model.space,
            solver=self.solver,
            cuts_per_round=self._cuts(model.n, at_root),
            products=self.products,
            triangles=self.triangles,
        )
        above = None if at_root else model.multipliers[work.number]
        cuts = above.cuts if isinstance(above, Multipliers) else Cuts.none()
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
            # An offered point may have closed it.
            if not work.open or stall.after(  # type: ignore[redundant-expr]
                work.bound, work.box.low, work.box.high, work.cutoff
            ):
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
        self.reuse(work)


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
