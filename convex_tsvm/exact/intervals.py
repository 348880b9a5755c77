"""Branch and bound over intervals of outputs, for formulations that are not about labels.

A piecewise linear-quadratic loss is convex between the places where its slope falls, so that to know in which of these
pieces an output is makes the loss convex, as a label does.  A node allows every output an interval; its bound is the
convex problem in which every point pays the convex envelope of its loss there, to which the regularizer lends some of
its curvature (:mod:`~convex_tsvm.relaxations.envelopes`).  Where a piece is concave itself its interval is split.
"""

from __future__ import annotations

import heapq
import itertools
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..deadline import time_is_up, until
from ..formulations import Formulation
from ..instance import ConvexStep, Instance
from ..losses import Exponential
from ..problem import Array, Problem
from ..relaxations.envelopes.best import BestSolution
from ..relaxations.envelopes.model import EnvelopeModel, error_for, why_no_envelopes
from ..relaxations.envelopes.region import EnvelopeBounds, EnvelopeProof, IntervalRegion
from ..relaxations.relaxation import Rules
from ..validation import InfeasibleError, finite, integer
from .solution import ExactSolution
from .state import Progress
from .tree import claimed

#: Tolerance of the convex problems of nodes, in units of outputs, beside the gap: their bounds hold whatever it is.
NODE_TOL = 1e-2

#: A box is bounded again, at most so many times, as long as its intervals shrink by this share in all.
MOST_ROUNDS, WORTH = 4, 0.02

#: Curvatures are lent anew where the bound has risen so little, since they were, that more levels than this would be
#: needed to close the box.
MOST_LEVELS = 6

#: Curvatures that close less than this share of what is lacking are lent half as often below, but after so many levels.
WORTH_LENDING, MOST_PATIENCE = 0.3, 8

#: Curvatures are lent anew where a loss that is convex lacks more than this many times what any other does.
MISLED = 4.0

#: A level that closes less than this share of what is lacking has gained nothing.
NOTHING = 1e-4

#: The outputs of so many first nodes, and of one in so many after them, begin a descent; and it is told how far the
#: search is after every so many.
FIRST_NODES, IMPROVED_NODES, TOLD_NODES = 16, 16, 100

#: Where proofs are kept a leaf with convex losses is bounded by the convex problem without curvatures: its tolerance,
#: and what a free bias may cost, as shares of the gap that are tried in turn: with a small one the problem is stiff.
LEAF_TOL, LEAF_SHARES = 1e-10, (10.0, 1.0, 0.1)

#: A search is done if its bound is off by no more than this, relative to the objective.
CLOSED = 1e-9

#: An output is split no nearer to the ends of its interval than this share of it.
MARGIN = 0.1


@dataclass(order=True)
class _Node(IntervalRegion):
    """A region with its place in the tree.

    Attributes
    ----------
    number : int
        Of two nodes with the same bound the one with the lesser number is less.
    base, levels : float, int
        The bound when its curvatures were lent, and how many levels ago that was.
    above : float
        The bound of its parent.
    record : int
        Its place among the records.
    patience : int
        The levels before curvatures may be lent anew.
    """

    number: int
    base: float = field(compare=False, default=-np.inf)
    above: float = field(compare=False, default=-np.inf)
    levels: int = field(compare=False, default=0)
    patience: int = field(compare=False, default=1)
    record: int = field(compare=False, default=0)


@dataclass(frozen=True, eq=False)
class _Lacking:
    """How far each output's loss is above what the bound reckons with, at the output, and where it may be split.

    ``places`` and ``is_cut`` are those of :meth:`~convex_tsvm.relaxations.envelopes.quadratics.Quadratics.cuts`.
    """

    excess: Array
    at: Array
    places: Array
    is_cut: NDArray[np.bool_]
    can_split: NDArray[np.bool_]

    @property
    def misled(self) -> bool:
        """Whether most is lacking at outputs with convex losses, from which old curvatures take too much."""
        if not self.can_split.any():
            return False
        others = float(self.excess[~self.can_split].max(initial=0.0))
        return others > MISLED * float(self.excess[self.can_split].max())


@dataclass(eq=False)
class IntervalRecord:
    """A node of the tree as a certificate has it.

    Attributes
    ----------
    parent, sign : int
        The record of the node over it, -1 for the root; -1 for the half with lower outputs, 1 for that with higher.
    variable, place : int, float
        The output that it is split at, -1 for a leaf, and where.
    proofs : tuple of EnvelopeProof
    """

    parent: int
    sign: int
    variable: int = -1
    place: float = 0.0
    proofs: tuple[EnvelopeProof, ...] = ()

    def kept_proofs(self) -> list[EnvelopeProof]:
        """The proofs that a certificate needs: those that narrow the box, and for a leaf the last of the others."""
        last = max((k for k, proof in enumerate(self.proofs) if np.isinf(proof.cutoff)), default=-1)
        if self.variable >= 0:
            last = -1
        return [proof for k, proof in enumerate(self.proofs) if np.isfinite(proof.cutoff) or k == last]


class IntervalSearch:
    """The search; see :func:`~convex_tsvm.exact_search`, whose options about nodes and limits it has.

    Attributes
    ----------
    objective : float
        The best that was found.
    status : str
        How the search ended.
    """

    def __init__(
        self,
        formulation: Formulation,
        problem: Problem,
        *,
        gap: float = 1e-6,
        max_nodes: int | None = None,
        time_limit: float | None = None,
        callback: Callable[[Progress], None] | None = None,
        keep_proofs: bool = False,
    ) -> None:
        self.gap, self.callback = finite("gap", gap, least=0, below=1), callback
        self._rules = Rules(gap=self.gap)
        self.max_nodes = None if max_nodes is None else integer("max_nodes", max_nodes, least=1)
        self.time_limit = None if time_limit is None else finite("time_limit", time_limit, above=0)
        self.instance = Instance(formulation, problem)
        why = why_no_envelopes(self.instance)
        if why is not None:
            raise ValueError(why)
        self.best = BestSolution(self.instance)
        if not isinstance(formulation.unlabeled, Exponential):
            self.model = EnvelopeModel(self.instance)
        else:
            # The search is for the optimum of a problem that is a little below; solutions are measured by the real one.
            self.best.descend(None)
            self.model = EnvelopeModel(self.instance, error_for(self.instance, self.best.objective, self.gap))
        self.bounds = EnvelopeBounds(self.model, keep_proofs=keep_proofs)
        self.records: list[IntervalRecord] = []
        self.n_nodes, self.status = 0, "optimal"
        self.progress: list[Progress] = []
        self._waiting: list[_Node] = []
        self._least_leaf = self.root_bound = np.inf

    def run(self) -> ExactSolution:
        """Search until the gap is closed, or a limit is reached."""
        self._began, self._numbers = time.perf_counter(), itertools.count()
        deadline = np.inf if self.time_limit is None else time.time() + self.time_limit
        with until(deadline), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            try:
                self._begin()
                while self._waiting and not self._is_stopped():
                    node = self._waiting[0]
                    if self._is_open(node):
                        self._branch(node)
                    heapq.heappop(self._waiting)
            except KeyboardInterrupt:
                self.status = "interrupted"
            if self.best.point is None:
                if self.status == "interrupted":
                    raise KeyboardInterrupt
                raise InfeasibleError("no outputs meet the constraints")
        # A box with convex losses is not split further, however far its bound is off.
        if self.status == "optimal" and self.lower_bound < self._cutoff - CLOSED * abs(self.objective):
            self.status = "inaccurate"
        return self._solution()

    def _begin(self) -> None:
        """First solutions, and the root."""
        if self.best.point is None:
            self.best.descend(None)
        low, high = self.model.box(self._cutoff)
        self.root_box, self.root_cutoff = (low, high), self._cutoff
        root = _Node(-np.inf, low, high, next(self._numbers))
        self.records.append(IntervalRecord(-1, 0))
        self._examine(root)
        self.root_bound = root.bound
        self._wait(root)

    def _is_stopped(self) -> bool:
        """Whether a limit is reached."""
        if self.max_nodes is not None and self.n_nodes >= self.max_nodes:
            self.status = "node_limit"
        elif time_is_up():
            self.status = "time_limit"
        return self.status != "optimal"

    def _wait(self, node: _Node) -> None:
        """Keep a node that may have a better solution, and tell how far the search is, now and then."""
        if self._is_open(node):
            heapq.heappush(self._waiting, node)
        if self.n_nodes == 1 or self.n_nodes % TOLD_NODES == 0:
            seconds = time.perf_counter() - self._began
            reached = Progress(self.n_nodes, len(self._waiting), self.lower_bound, self.objective, seconds)
            self.progress.append(reached)
            if self.callback is not None:
                self.callback(reached)

    @property
    def objective(self) -> float:
        """The best that was found."""
        return self.best.objective

    @property
    def lower_bound(self) -> float:
        """What no solution is below."""
        # All nodes count: the first one's bound may have risen above others while it is branched on, in its place.
        waiting = claimed((node.bound for node in self._waiting), self.objective)
        return float(min(self.objective, self._cutoff, self._least_leaf, waiting))

    @property
    def _cutoff(self) -> float:
        """The bound at which a node is closed."""
        return self._rules.cutoff(self.objective)

    def _is_open(self, node: _Node) -> bool:
        return node.bound < self._cutoff

    # --- bounds -----------------------------------------------------------------------------------------------------

    def _examine(self, node: _Node) -> None:
        """Bound a node, and keep what proves it."""
        try:
            self._tighten(node)
        finally:
            self.records[node.record].proofs = node.proofs

    def _tighten(self, node: _Node) -> None:
        """Bound a node and narrow its intervals, as long as that brings much; lend curvatures where they are stale."""
        self.n_nodes += 1
        if node.curvature is None:
            self._lend(node)
        for _ in range(MOST_ROUNDS):
            if not self._bound(node):
                break
            if time_is_up():
                return
        if self._is_open(node) and self._is_stale(node) and not time_is_up():
            before = node.bound
            self._lend(node)
            self._bound(node)
            worth = node.bound - before >= WORTH_LENDING * (self._cutoff - before)
            node.patience = 1 if worth else min(2 * node.patience, MOST_PATIENCE)
        if self._is_open(node) and (self.n_nodes <= FIRST_NODES or self.n_nodes % IMPROVED_NODES == 0):
            self.best.descend(self.model.all_outputs(self.bounds.point(node).outputs))

    def _bound(self, node: _Node) -> bool:
        """Solve a node's convex problem, and narrow its box; whether that may bring more."""
        kept = self.bounds.narrow(node, self._cutoff, max(NODE_TOL * min(1.0, 1e3 * self.gap), 1e-9))
        return self._is_open(node) and kept < 1 - WORTH

    def _is_stale(self, node: _Node) -> bool:
        """Whether the curvatures at hand would take many levels to close a node."""
        if node.levels < node.patience:
            return False
        gained, lacking = (node.bound - node.base) / node.levels, self._cutoff - node.bound
        return lacking > MOST_LEVELS * gained or node.bound - node.above < NOTHING * lacking

    def _lend(self, node: _Node) -> None:
        """Find curvatures for a node's own box."""
        self.bounds.lend(node, self._cutoff)
        node.levels, node.base = 0, node.bound

    # --- branching --------------------------------------------------------------------------------------------------

    def _branch(self, node: _Node) -> None:
        """Examine both halves of a node."""
        lacking = self._lacking(node)
        if node.levels > 0 and lacking.misled:
            self._lend(node)
            self._bound(node)
            self.records[node.record].proofs = node.proofs
            lacking = self._lacking(node)
            if self._is_open(node) and lacking.misled:
                # In a box that is narrow where losses are concave, nothing need be lent, and so nothing be taken.  If
                # that does not close it, both halves go on with the curvatures that were lent.
                before = node.curvature, node.gamma
                self._lend_nothing(node)
                node.curvature, node.gamma = before
            if not self._is_open(node):
                return
        halves = self._halves(node, lacking)
        if halves is None:
            self._settle(node)
            return
        variable, place, boxes = halves
        record = self.records[node.record]
        record.variable, record.place = variable, place
        for sign, (low, high) in zip((-1, 1), boxes, strict=True):
            number, levels = next(self._numbers), node.levels + 1
            half = replace(node, number=number, low=low, high=high, above=node.bound, levels=levels, proofs=())
            half.record = len(self.records)
            self.records.append(IntervalRecord(node.record, sign))
            self._examine(half)
            self._wait(half)

    def _lacking(self, node: _Node) -> _Lacking:
        """What the bound of a node lacks at each output, and where its loss may be split."""
        point = self.bounds.point(node)
        losses = self.model.losses.within(node.low, node.high)
        at = np.clip(point.outputs, *losses.ends())
        places, is_cut = losses.cuts()
        concave = ((losses.low < losses.high) & (losses.a < 0)).any(axis=1)
        excess = np.maximum(point.functions.at(at) - point.least, 0.0)
        return _Lacking(excess, at, places, is_cut, np.asarray(is_cut.any(axis=1) | concave))

    def _halves(self, node: _Node, lacking: _Lacking) -> tuple[int, float, list[tuple[Array, Array]]] | None:
        """The output to split a node at, the place, and both boxes; None if every loss is convex in its box.

        It is the output whose loss is furthest above what the bound reckons with, split where a convex stretch of the
        loss ends, at the place nearest to the output, or inside a concave piece at the output itself.
        """
        score = np.where(lacking.can_split, lacking.excess, -1.0)
        i = int(score.argmax())
        if score[i] < 0:
            return None
        at, places, is_cut = float(lacking.at[i]), lacking.places[i], lacking.is_cut[i]
        if is_cut.any():
            place = float(places[np.where(is_cut, np.abs(places - at), np.inf).argmin()])
        else:
            room = MARGIN * (node.high[i] - node.low[i])
            place = float(np.clip(at, node.low[i] + room, node.high[i] - room))
        left, right = node.high.copy(), node.low.copy()
        left[i] = right[i] = place
        return i, place, [(node.low, left), (right, node.high)]

    def _settle(self, node: _Node) -> None:
        """Solve a node in whose box every loss is convex, so that its solution is the best one there."""
        try:
            found = self.best.solver.solve(self._step(node), None)
        except InfeasibleError:
            if not self.bounds.keep_proofs:
                return
        else:
            self.best.offer(found)
            if not self.bounds.keep_proofs:
                node.bound = max(node.bound, -np.inf if found.lower_bound is None else found.lower_bound)
        if self._is_open(node) and self.bounds.keep_proofs:
            self._lend_nothing(node)
        if self._is_open(node):
            self._least_leaf = min(self._least_leaf, node.bound)

    def _lend_nothing(self, node: _Node) -> None:
        """Bound a node by the convex envelopes of the losses as they are, if that is better."""
        for share in LEAF_SHARES if self.model.free_bias else LEAF_SHARES[:1]:
            none = self.model.no_curvature(node.low, node.high, self._cutoff, share * max(self.gap, LEAF_TOL))
            self.bounds.close(node, none, LEAF_TOL)
            if not self._is_open(node):
                break
        self.records[node.record].proofs = node.proofs

    def _step(self, node: _Node) -> ConvexStep:
        """The convex problem in which every output is held in its interval, where its loss is convex."""
        model, n = self.model, self.instance.problem.n
        ends = np.column_stack([node.low, node.high])[: model.n_points] + model.offset[: model.n_points, None]
        which = np.column_stack([model.kind, ends])
        kinds, place = np.unique(which, axis=0, return_inverse=True)
        losses = tuple(model.kinds[int(kind)].envelope(low, high) for kind, low, high in kinds)
        kind = np.zeros(n, dtype=np.intp)
        kind[model.points] = place.ravel()
        cost = np.zeros(n)
        cost[model.points] = self.instance.cost[model.points]
        names = tuple(f"interval{k}" for k in range(len(losses)))
        return self.instance.envelope_step(losses, kind, cost, np.zeros(n), names)

    # --- solutions --------------------------------------------------------------------------------------------------

    def finished_records(self) -> list[IntervalRecord]:
        """The records of the tree whose leaves are closed or wait, without what was begun below a node that waits."""
        waiting, place = {node.record for node in self._waiting}, dict[int, int]()
        found: list[IntervalRecord] = []
        for k, record in enumerate(self.records):
            if record.parent >= 0 and (record.parent not in place or record.parent in waiting):
                continue
            place[k] = len(found)
            parent = place[record.parent] if record.parent >= 0 else -1
            found.append(replace(record, parent=parent, variable=-1 if k in waiting else record.variable))
        return found

    def _solution(self) -> ExactSolution:
        assert self.best.point is not None
        return ExactSolution(
            formulation=self.instance.formulation,
            problem=self.instance.problem,
            point=self.best.point,
            objective=self.objective,
            status=self.status,
            seconds=time.perf_counter() - self._began,
            lower_bound=self.lower_bound,
            n_nodes=self.n_nodes,
            n_open=len(self._waiting),
            svm_bound=self.root_bound,
            root_bound=self.root_bound,
            progress=tuple(self.progress),
        )
