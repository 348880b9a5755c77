"""How a search comes to its bounds: the root with strong ones beside the tree with cheap ones.

Both get shares of the time until one is done; or the tree gets so many nodes, and then the root with strong bounds.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..deadline import time_left, until
from ..relaxations.proof import Proof
from ..relaxations.region import Work
from .dive import Dive
from .tree import Node


@dataclass(frozen=True)
class Schedule:
    """Who gets how much time, in seconds and shares, as the searches of ``benchmarks/exact_defaults.py`` chose it."""

    # What the tree has for itself at least, and for every point without a label besides, as the first slice of the
    # root's takes as long.
    head_start: float = 1.0
    head_start_a_point: float = 0.01
    # The least slice of the root's, and the share of the time that it has had, if that is more.
    least_slice: float = 1.0
    slice_share: float = 0.25
    # The least time of the tree, relative to the root's: once its gap to the incumbent is so many times that of it.
    tree_share: float = 0.1
    # Restarts without success after which a search for better labels ends: the search before the tree, that before
    # bounds that take seconds, and that after these have left many nodes.
    idle_restarts: tuple[int, ...] = (20, 20, 300)
    idle_where_bounds_round: int = 5  # the first of them where the relaxation's rounds are sources of labels themselves
    # What goes to restarts while cheap and strong bounds share the rest, and the least of them.
    labels_share: float = 0.1
    labels_slice: float = 0.5
    slow_nodes: int = 64  # with bounds that take seconds, after which better labels are looked for: as many will follow
    # Of the time left, that a search for better labels may take; for those after the first, of the time so far, too.
    share_for_labels: float = 0.3


class Choice:
    """What a search does next, until it is decided which bounds it goes on with, whose time began at ``began``.

    Where the tree and the root compete, the root is examined in slices of time: ``work`` is what the last one found,
    and before them there were ``n_before`` multipliers.
    """

    schedule = Schedule()

    def __init__(self, search: Any) -> None:
        self.search, self.began = search, time.perf_counter()
        self.root: Node | None = None
        self.work: Work | None = None
        self.head_start = self.root_seconds = self.tree_seconds = self.labels_seconds = 0.0
        self.n_before, self._proven = 0, list[tuple[Proof, float]]()

    @property
    def competes(self) -> bool:
        """Whether the tree and the root compete by time: where the root's bounds can be interrupted, by default."""
        return self.search.builder.resumable and self.search.patience is None

    def turn(self, deadline: float) -> bool:
        """What is next; whether it was interrupted."""
        search = self.search
        if self.competes:
            if self.labels_seconds < self.schedule.labels_share * (time.perf_counter() - self.began):
                self.look_for_labels(deadline)
            return search.step(deadline) if search.state.is_decided else self.compete(deadline)
        return self.strengthen(deadline) if self.is_out_of_patience() else search.step(deadline)

    def first_solution(self) -> float:
        """Find one; a bound that comes of it."""
        search, schedule = self.search, self.schedule
        idle = schedule.idle_where_bounds_round if search.builder.resumable else schedule.idle_restarts[0]
        with until(time.time() + schedule.share_for_labels * time_left()):
            return search.incumbent.begin(idle)

    def look_for_labels(self, deadline: float) -> None:
        """Some restarts of the search for labels, beside bounds: better labels make all of these stronger."""
        search, began = self.search, time.perf_counter()
        seconds = max(self.schedule.labels_slice, self.schedule.labels_share * self.labels_seconds)
        with until(min(deadline, time.time() + seconds)):
            search.incumbent.restart(1, seed=search.state.n_searches)
        search.state.n_searches += 1
        self.labels_seconds += time.perf_counter() - began
        search.state.objective = search.incumbent.objective

    def patience_left(self) -> float:
        """Nodes that are still to be looked at with cheap bounds alone, before it is decided which bounds are taken."""
        state, patience = self.search.state, self.search.patience
        if state.settled or self.competes:
            return np.inf
        return (state.n_first // 2 if patience is None else patience) - state.n_nodes

    def is_out_of_patience(self) -> bool:
        """Whether cheap bounds alone have been given their chance, or the root's better bounds have."""
        state = self.search.state
        if not state.settled:
            return self.patience_left() <= 0
        restarts, nodes = self.schedule.idle_restarts, self.schedule.slow_nodes
        return state.strong and state.n_searches < len(restarts) and len(state.records) >= nodes

    def strengthen(self, deadline: float) -> bool:
        """Better labels, for more than cheap bounds, and these at the root; whether it was interrupted."""
        search, state = self.search, self.search.state
        root, best = Node(search.model.root(search.rules.cutoff(state.objective))), state.objective
        n_before = len(state.multipliers)
        with until(time.time() + self.schedule.share_for_labels * min(time_left(), max(state.seconds, 1.0))):
            search.incumbent.restart(self.schedule.idle_restarts[state.n_searches], seed=state.n_searches)
        state.n_searches += 1
        state.objective = search.incumbent.objective
        if state.settled and not state.objective < best:
            return False
        found = search.examiner().dive(root, True, 1, deadline, state.n_nodes)
        if found.interrupted:
            return True
        self.decide(root, found, n_before)
        return False

    def compete(self, deadline: float) -> bool:
        """A turn of the tree or of the root's better bounds, whichever has had less time; whether it was cut off."""
        search = self.search
        if self.root is None:
            self.root = self.begin()
        if not self.root_is_next(search.heap.bound):
            began = time.perf_counter()
            interrupted = search.step(deadline)
            self.tree_seconds += time.perf_counter() - began
            return interrupted
        self.advance(self.root, deadline)
        search.state.objective = search.incumbent.objective
        if self.is_decided:
            self.end()
        return False

    def begin(self) -> Node:
        """The root, anew, or going on from its record in a checkpoint with the multipliers of one of its halves."""
        search, schedule = self.search, self.schedule
        box = search.model.root(search.rules.cutoff(search.incumbent.objective))
        if not search.state.unfinished:
            search.model.forget(0)
            per_point = schedule.head_start_a_point * len(box.unknown)
            self.head_start = max(search.state.seconds - search.seconds_before, schedule.head_start, per_point)
            return Node(box)
        record, child = search.state.records[0], search.heap.first(1)[0]
        self.n_before, self._proven = len(search.model.multipliers), record.proofs
        self.head_start = -np.inf  # it goes on alone
        for proof, cutoff in record.proofs:
            box = proof.apply(search.model, box, cutoff)[1]
        return Node(
            box=box, bound=record.bound, gamma=child.gamma, v=child.v, number=child.number, since=child.since,
            base=child.base, unfinished=True,
        )  # fmt: skip

    def root_is_next(self, bound: float) -> bool:
        """Whether the root has had less than its share of the time; ``bound`` is the tree's."""
        share, cutoff = 1.0, self.search.rules.cutoff(self.search.incumbent.objective)
        if self.work is not None and np.isfinite(cutoff):
            # The tree's gap falls the more slowly the smaller it is: it gets less time while it is far behind.
            ahead = (cutoff - self.work.bound) / max(cutoff - bound, 1e-300)
            share = float(np.clip(ahead, self.schedule.tree_share, 1.0)) if np.isfinite(ahead) else 1.0
        return self.tree_seconds >= self.head_start + share * self.root_seconds

    @property
    def is_decided(self) -> bool:
        """Whether the root is closed, or there is nothing more to prove of it."""
        return self.work is not None and not (self.work.open and self.work.unfinished)

    def advance(self, root: Node, deadline: float) -> None:
        """One slice of the root, a round of its relaxation at least, until a time of the clock in seconds at most."""
        search, began, before = self.search, time.perf_counter(), self.work
        region = root if before is None else before.region_left()
        region.pause_at = time.time() + max(self.schedule.least_slice, self.schedule.slice_share * self.root_seconds)
        with until(deadline):
            work = search.builder.examine(region, search.incumbent, search.rules, strong=True)
        work.proofs = [*(self._proven if before is None else before.proofs), *work.proofs]
        self.work = work
        self.root_seconds += time.perf_counter() - began

    def end(self) -> None:
        """Let what is proven of the root decide."""
        search, root, work = self.search, self.root, self.work
        if root is None or work is None or search.state.is_decided:
            return
        if not (self.is_decided or work.bound > search.bound(search.heap.bound)):
            return  # it is behind, but may win when the search goes on
        record, children = search.examiner().conclude(root, work)
        for child in children:
            child.parent = 0
        found = Dive([record], children, search.model.multipliers, search.incumbent.best)
        self.decide(root, found, self.n_before)
        search.state.unfinished = bool(children) and work.unfinished and search.state.strong

    def decide(self, root: Node, found: Dive, n_before: int) -> None:
        """Begin anew with a dive from the root, its only node, if that is above the tree's bound."""
        search, state = self.search, self.search.state
        with uninterrupted():
            is_better = bool(found.records[0].bound > search.bound(search.heap.bound))
            state.settled, state.strong = True, state.strong or is_better
            if is_better:
                state.records, search.closed = [], np.inf
                search.heap = search.queue([])
                search.merge(root, found, shared=True, n_before=n_before)
                search.note_root()
            else:
                state.n_nodes += 1
                search.model.forget(n_before)
            state.objective = search.incumbent.objective


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back Ctrl-C until the block is left, as a block that is half done would leave an incomplete tree."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
