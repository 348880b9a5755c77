"""Lower bounds of any formulation with piecewise linear-quadratic losses, from the convex envelopes of its losses.

A piecewise linear-quadratic loss is convex between the places where its slope falls, so that to know in which of these
pieces an output is makes the loss convex, as a label does.  A box allows every output an interval; its bound is the
convex problem in which every point pays the convex envelope of its loss there, to which the regularizer may lend some
of its curvature (:mod:`.curvature`).  Where a piece is concave itself its interval is split.
"""

from dataclasses import dataclass

import numpy as np

from ...deadline import time_is_up
from ...instance import ConvexStep
from ...problem import Array
from ...validation import InfeasibleError
from ..box import Box
from ..proof import Proof, Stored
from ..region import Relaxation, Work
from .best import BestSolution
from .bound import Curved, EnvelopePoint, invertible
from .curvature import lend
from .model import OutputModel, why_no_envelopes


@dataclass(frozen=True)
class Effort:
    """How much is done for a box; ``benchmarks/exact_pieces.py`` has the searches that these were chosen by."""

    tol: float = 1e-2  # of the convex problems of nodes, in units of outputs; their bounds hold whatever it is
    # A box is bounded again, at most so many times, as long as its intervals shrink by this share in all.
    rounds: int = 4
    worth: float = 0.02
    # Curvatures are lent anew where the bound has risen so little, since they were, that more levels of the tree than
    # this would be needed to close the box.
    levels: float = 6.0
    # Those that close less than this share of what is lacking are lent half as often below, but after so many levels.
    worth_lending: float = 0.3
    patience: int = 8
    nothing: float = 1e-4  # a level that closes less than this share of what is lacking has gained nothing
    # The outputs of so many first nodes, and of one in so many after them, begin a descent.
    first: int = 16
    every: int = 16
    # Where proofs are kept a box with convex losses is bounded by the convex problem without curvatures: its tolerance,
    # and what a free bias may cost, as shares of the gap that are tried in turn: with a small one the problem is stiff.
    leaf_tol: float = 1e-10
    leaf_shares: tuple[float, ...] = (10.0, 1.0, 0.1)
    # Where no search follows, another round is worth its time if the last one left at most this share of the widths.
    worth_a_round: float = 0.98
    # How accurately curvatures are found, relative to the bound: within these limits by a share of what it lacks.
    lend_tol: tuple[float, float, float] = (1e-8, 1e-3, 0.2)


@dataclass(frozen=True, eq=False)
class EnvelopeProof(Proof):
    """Curvatures (by number) and γ, which were found to prove a bound, and the box that is left, None if not used."""

    name, has_multipliers = "envelopes", True
    number: int
    gamma: Array
    box: Box | None = None

    def apply(self, model: OutputModel, box: Box, cutoff: float) -> tuple[float, Box]:
        point = curved(model, self.number).point(box.low, box.high, self.gamma)
        return point.value, box if self.box is None else box.meet(self.box.low, self.box.high)

    def store(self) -> Stored:
        ends = () if self.box is None else (self.box.low, self.box.high)
        return Stored(np.concatenate([self.gamma, *ends]), self.number, 0.0 if self.box is None else 1.0)

    @staticmethod
    def read(stored: Stored) -> "EnvelopeProof":
        if stored.share == 0:
            return EnvelopeProof(stored.number, stored.vector)
        gamma, low, high = np.split(stored.vector, 3)
        return EnvelopeProof(stored.number, gamma, Box(low, high))


@dataclass(frozen=True, eq=False)
class Curvature:
    """Curvatures that are lent to losses, shape (n,)."""

    curvature: Array

    def store(self) -> dict[str, Array]:
        return {"curvature": self.curvature}

    @staticmethod
    def read(arrays: dict[str, Array]) -> "Curvature":
        return Curvature(arrays["curvature"])


def curved(model: OutputModel, number: int) -> Curved:
    """The convex problems for the curvatures of a number."""
    return model.made((number,), lambda: Curved(model, model.multipliers[number].curvature))


class Envelopes(Relaxation):
    """Every point pays the convex envelope of its loss over the outputs that a better solution may have.

    Which outputs these are the objective of a known solution says: ½ ‖w‖² and every loss are each at most what is left
    when all others are as low as they can be, and so is what the relaxation itself adds up.  Narrower intervals have
    higher envelopes, so that there are rounds.  ``tol`` is the tolerance of the convex problems, in units of outputs.
    """

    name, lends, about, closes, takes = "envelope", False, "outputs", True, ("max_rounds",)
    effort = Effort()

    @staticmethod
    def why_not(model: OutputModel) -> str | None:
        return why_no_envelopes(model.instance)

    def tighten(self, work: Work) -> None:
        if work.rules.alone:
            self._alone(work)
        else:
            self._at_node(work)
        if work.number >= 0:
            assert work.gamma is not None
            work.duals = {"gamma": work.gamma, "curvature": curved(work.model, work.number).curvature}
            offset = work.model.offset
            work.duals |= {"low": work.box.low + offset, "high": work.box.high + offset}

    def _alone(self, work: Work) -> None:
        """Rounds, each with curvatures of its own, and each with a descent from its outputs."""
        for turn in range(self.max_rounds + 1):
            if turn:
                work.incumbent.offer(work.model.scores(work.box, work.outputs))
            self._lend(work)
            kept = self._narrow(work, self.tol) if work.open else 0.0
            work.record(self.name, work.bound)
            if not work.open or kept > self.effort.worth_a_round or time_is_up():
                break

    def _at_node(self, work: Work) -> None:
        """Bound a box and narrow it, as long as that brings much; lend curvatures where they are stale."""
        effort, tol = self.effort, max(self.effort.tol * min(1.0, 1e3 * work.rules.gap), 1e-9)
        above = work.region.bound
        if work.number < 0:
            self._lend(work)
        for _ in range(effort.rounds):
            if not work.open or self._narrow(work, tol) >= 1 - effort.worth or time_is_up():
                break
        patience = work.memory if isinstance(work.memory, int) else 1  # the levels before curvatures may be lent anew
        if work.open and self._is_stale(work, above, patience) and not time_is_up():
            before = work.bound
            self._lend(work)
            self._narrow(work, tol)
            worth = work.bound - before >= effort.worth_lending * (work.cutoff - before)
            work.memory = 1 if worth else min(2 * patience, effort.patience)
        point = self._not_misled(work, tol) if work.open else None
        if work.open and point is not None:
            work.outputs = point.outputs
            work.split = lambda: point.split() or work.model.undecided(work.box, point.outputs)
            if work.turn < effort.first or (work.turn + 1) % effort.every == 0:
                work.offer(work.outputs, always=True)
        work.record(self.name, work.bound)

    def _not_misled(self, work: Work, tol: float) -> EnvelopePoint:
        """The dual point at hand for a box; curvatures are lent anew where old ones mislead."""
        point = self.point(work)
        if work.region.depth > work.since and point.misled and not time_is_up():
            self._lend(work)
            self._narrow(work, tol)
            point = self.point(work)
            if work.open and point.misled:
                # In a box that is narrow where losses are concave, nothing need be lent, and so nothing be taken.  If
                # that does not close it, both halves go on with the curvatures that were lent.
                before = work.number, work.gamma
                self._lend_nothing(work)
                work.number, work.gamma = before
        return point

    def point(self, work: Work) -> EnvelopePoint:
        """The dual point at hand for a box."""
        assert work.gamma is not None
        return curved(work.model, work.number).point(work.box.low, work.box.high, work.gamma)

    def _is_stale(self, work: Work, above: float, patience: int) -> bool:
        """Whether the curvatures at hand would take many levels to close a box whose parent had the bound ``above``."""
        levels, lacking = work.region.depth - work.since, work.cutoff - work.bound
        if not self.lends or levels < patience:
            return False
        gained = (work.bound - work.base) / levels
        return bool(lacking > self.effort.levels * gained or work.bound - above < self.effort.nothing * lacking)

    def _lend(self, work: Work) -> None:
        """Find curvatures for a box, accurately enough to bring its bound to the cutoff, if any do."""
        model, box, cutoff = work.model, work.box, work.cutoff
        if not self.lends:
            self._use(work, model.no_curvature(box.low, box.high, cutoff))
            return
        start = None
        if work.number >= 0 and work.gamma is not None:
            start = (curved(model, work.number).curvature, work.gamma)
        lacking = (cutoff - work.bound) / max(abs(cutoff), 1e-300) if np.isfinite(cutoff - work.bound) else 1.0
        least, most, share = self.effort.lend_tol
        d, gamma = lend(model, box.low, box.high, start, float(np.clip(share * lacking, least, most)))
        self._use(work, d, gamma)

    def _use(self, work: Work, d: Array, gamma: Array | None = None) -> None:
        """Go on with new curvatures, and with the bound that γ gives with them; with none if these prove nothing."""
        work.number = work.model.keep(Curvature(invertible(d)))
        if curved(work.model, work.number).is_singular:
            none = work.model.no_curvature(work.box.low, work.box.high, work.cutoff)
            work.model.forget(work.number)
            work.number, gamma = work.model.keep(Curvature(invertible(none))), None
        if gamma is not None:
            work.gamma = gamma
            self._prove(work, self.point(work))
        work.since, work.base = work.region.depth, work.bound

    def _prove(self, work: Work, point: EnvelopePoint) -> None:
        """Take the bound of a point, if it is better; the box stays as it is."""
        if point.value > work.bound:
            work.accept(EnvelopeProof(work.number, point.gamma), np.inf, point.value, work.box)

    def _narrow(self, work: Work, tol: float) -> float:
        """Drop outputs of solutions not below the cutoff; the share of their widths that the intervals have kept."""
        problems, box, cutoff = curved(work.model, work.number), work.box, work.cutoff
        point = problems.solve(box.low, box.high, work.gamma, tol)
        work.gamma = point.gamma
        if point.value >= cutoff:
            self._prove(work, point)
            return 0.0
        low, high = problems.consequences(point, cutoff)
        low, high = np.maximum(low, box.low), np.minimum(high, box.high)
        if (low > high).any():
            # All of the interval of one output is left out, at least.
            none = (low > high) & (np.cumsum(low > high) == 1)
            low, high = np.where(none, np.nextafter(box.high, np.inf), box.low), box.high
        smaller = work.model.without_zeros(Box(low, high), box)
        work.accept(EnvelopeProof(work.number, point.gamma, smaller), cutoff, point.value, smaller)
        if smaller.is_empty:
            return 0.0
        return float(((high - low) / np.maximum(box.high - box.low, 1e-300)).mean())

    def _lend_nothing(self, work: Work) -> None:
        """Bound a box by the convex envelopes of the losses as they are, if that is better."""
        model, shares = work.model, self.effort.leaf_shares
        for share in shares if model.free_bias else shares[:1]:
            cost = share * max(work.rules.gap, self.effort.leaf_tol)
            before = work.number, work.gamma
            none = model.no_curvature(work.box.low, work.box.high, work.cutoff, cost)
            work.number = model.keep(Curvature(invertible(none)))
            # From the γ of other curvatures the solver may be far from where it gets in its few steps.
            point = curved(model, work.number).solve(work.box.low, work.box.high, None, self.effort.leaf_tol)
            if point.value > work.bound:
                work.gamma = point.gamma
                self._prove(work, point)
            else:
                model.forget(work.number)
                work.number, work.gamma = before
            if not work.open:
                break

    def finish(self, work: Work) -> None:
        """Solve a box in which every loss is convex, so that its solution is the best one there."""
        best = work.incumbent
        assert isinstance(best, BestSolution)
        try:
            found = best.solver.solve(convex_step(work.model, work.box), None)
        except InfeasibleError:
            if not work.rules.keep_proofs:
                work.bound = max(work.bound, work.cutoff)
        else:
            best.offer_step(found)
            if not work.rules.keep_proofs and found.lower_bound is not None:
                work.bound = max(work.bound, found.lower_bound)
        if work.open and work.rules.keep_proofs:
            self._lend_nothing(work)


class LentCurvature(Envelopes):
    """The same for losses to which the regularizer lends curvature, which a semidefinite program chooses."""

    name, lends = "curvature", True


def convex_step(model: OutputModel, box: Box) -> ConvexStep:
    """The convex problem in which every output is held in its interval, where its loss is convex."""
    n, instance = model.instance.problem.n, model.uncounted
    ends = np.column_stack([box.low, box.high])[: model.n_points] + model.offset[: model.n_points, None]
    kinds, place = np.unique(np.column_stack([model.kind, ends]), axis=0, return_inverse=True)
    losses = tuple(model.kinds[int(kind)].envelope(low, high) for kind, low, high in kinds)
    kind, cost = np.zeros(n, dtype=np.intp), np.zeros(n)
    kind[model.points] = place.ravel()
    cost[model.points] = instance.cost[model.points]
    names = tuple(f"interval{k}" for k in range(len(losses)))
    return instance.envelope_step(losses, kind, cost, np.zeros(n), names)
