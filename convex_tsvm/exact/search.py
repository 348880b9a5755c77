"""Branch and bound over the labels of the unlabelled points (Bennett and Demiriz 1998; chapelle2008 §3.1).

The tree is searched in dives: some nodes below an open one, depth first, then the next open one.  Dives from different
nodes are independent of each other, so they may run in parallel; what they found is put together in a fixed order, so
that a search depends on nothing but its arguments, but for limits on time, and for the shares of time of the contest
between cheap and strong bounds, which an argument replaces by a number of nodes.
"""

from __future__ import annotations

import copy
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import joblib
import numpy as np

from ..deadline import time_left, until, within
from ..formulations import Formulation
from ..notice import warn
from ..parallel import one_blas_thread
from ..problem import Problem
from ..relaxations import LowerBoundBuilder
from ..relaxations.builder import check_solver
from ..relaxations.relaxation import Rules
from ..solution import relative_gap
from ..table import BRANCHING, STRATEGIES
from ..validation import finite, integer, new_file, one_of
from .contest import Contest
from .dive import Dive, dive
from .examine import Examiner
from .files import load_search, save_search
from .incumbent import FIRST_IDLE, Incumbent
from .state import Progress, State
from .tree import Node, OpenNodes, Record, claimed

#: Nodes of one dive.
DIVE = {"best": 1, "hybrid": 32, "depth": 32}

#: Number of dives given out at a time for every parallel job, as some dives take much longer than others.
DIVES_PER_JOB = 4

#: Restarts without success after which a search for better labels ends: the search before the tree, that before bounds
#: that take seconds, and that after these have left many nodes.
IDLE_RESTARTS = (FIRST_IDLE, 20, 300)

#: The first number of restarts where the relaxation's own rounds are sources of labels, each of them.
IDLE_WHERE_BOUNDS_ROUND = 5

#: Share of the time that goes to restarts while cheap and strong bounds share the rest, and the least seconds of them.
LABELS_SHARE, LABELS_SLICE = 0.1, 0.5

#: Number of nodes with bounds that take seconds after which better labels are looked for once more, as many more of
#: such nodes are likely to follow.
SLOW_NODES = 64

#: Share of the time left that a search for better labels may take; for those after the first, of the time so far, too.
SHARE_FOR_LABELS = 0.3

#: The smallest relative gap that bounds in double precision can be asked for.
LEAST_GAP = 1e-8


class BranchAndBound:
    """Exact search for the labels of the unlabelled points.

    Parameters
    ----------
    formulation : Formulation
        With hinge or squared hinge, and the loss min(ℓ(f), ℓ(-f)) for unlabelled points.  Any balance: none, linear,
        exact (chapelle2008 eq. 3), or of the targets.
    problem : Problem
    bounds : {"auto", "svm", "sdp", "signs"}, default "auto"
        The strongest bound that a node may get.  "svm": the SVM of the labels known, as published (chapelle2008 §3.1).
        "sdp": the relaxation in Γ.  "signs": the relaxation of the squared hinge with products of outputs and of their
        signs, and cuts of both, by a low-rank method; made at the root, and as a convex quadratic for nodes below it.
        "auto" is "signs" for the squared hinge and "sdp" for the hinge.
    strategy : {"hybrid", "best", "depth"}, default "hybrid"
        Which open node is next: the one with the least bound, or the last one; "hybrid" dives from the one with the
        least bound.
    branching : {"auto", "gain", "correlation", "worst", "ambiguity", "confidence"}, default "auto"
        Which point is branched on: the one for which the bounds of both halves rise most ("gain"), or that of the
        better half ("worst"); the one whose output says most about the others in an SDP relaxation ("correlation"); the
        least sure; the surest (as published).  "auto" computes the bounds of both halves of some points where the
        relaxation has signs; else it is "worst" where that closes the node in a few levels, otherwise "correlation".
    gap : float, default 1e-6
        Relative gap between objective and bound at which nodes are closed.
    patience : int, optional
        Nodes that are looked at with the SVM's bound alone, before the search begins anew with stronger ones, if these
        get further at the root than that tree.  By default the tree and the root get shares of the time until one of
        them is done, so that a search is not the same on every machine, but its result is, to the gap; for relaxations
        that cannot be interrupted it is half as many nodes as SVMs were solved to find first labels.
    refresh : int, "auto" or None, default "auto"
        Levels after which a node gets a relaxation of its own; with None only the root does.  "auto": where the
        multipliers at hand would take too many levels to close the node.
    solver : {"auto", "native", "sdpa", "scs", "clarabel"}, default "auto"
        Of the relaxation "sdp".
    max_nodes : int, optional
    time_limit : float, optional
        Seconds, those before a checkpoint included.
    n_jobs : int, optional
        Dives in parallel, by joblib: its context managers choose the backend.
    checkpoint : path, optional
        A file for the search: it is written every ``checkpoint_every`` seconds, and taken up if it is there.
    checkpoint_every : float, default 30
    certificate : bool, default True
        Whether to keep what proves the bounds.
    callback : callable, optional
        Called with :class:`Progress` after every dive.

    Attributes
    ----------
    state : State
    status : {"optimal", "inaccurate", "infeasible", "node_limit", "time_limit", "interrupted"}
        "optimal": the gap asked for is proven (one below 10⁻⁸ counts as 10⁻⁸: bounds in double precision hold, and
        therefore end a little below the optimum).  "inaccurate": nothing is open any more, but rounding keeps the
        bounds from a gap like that.  "infeasible": no labelling meets the balance.

    Examples
    --------
    >>> X = np.array([[-2.0], [-1.8], [-0.2], [1.0], [1.5], [2.0]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], balance=None)
    >>> search = ct.BranchAndBound(ct.s3vm(balance=None), problem, gap=1e-4).run()
    >>> search.status
    'optimal'
    """

    def __init__(
        self,
        formulation: Formulation,
        problem: Problem,
        *,
        bounds: str = "auto",
        strategy: str = "hybrid",
        branching: str = "auto",
        gap: float = 1e-6,
        patience: int | None = None,
        refresh: int | str | None = "auto",
        solver: str = "auto",
        max_nodes: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: float = 30.0,
        certificate: bool = True,
        callback: Callable[[Progress], None] | None = None,
    ) -> None:
        began = time.perf_counter()
        self.strategy = one_of("strategy", strategy, tuple(STRATEGIES))
        self.branching = one_of("branching", branching, tuple(BRANCHING))
        solver = check_solver(solver)
        self.rules = Rules(
            gap=finite("gap", gap, least=0, below=1),
            refresh=refresh if refresh is None or refresh == "auto" else integer("refresh", refresh, least=1),
            keep_proofs=bool(certificate),
        )
        self.time_limit = None if time_limit is None else finite("time_limit", time_limit, above=0)
        with one_blas_thread(), within(self.time_limit):
            self.builder = LowerBoundBuilder(formulation, problem, relaxation="svm", solver=solver, gap=self.rules.gap)
            self.model = self.builder.model
            self._svm = self.model.svm  # raises ValueError where exact search is not possible
            self.builder.use(bounds, argument="bounds", searched=True)
        self._setup = time.perf_counter() - began
        self.patience = None if patience is None else integer("patience", patience, least=0)
        self.max_nodes = None if max_nodes is None else integer("max_nodes", max_nodes, least=1)
        self.n_jobs = int(joblib.effective_n_jobs(n_jobs))
        self.checkpoint = None if checkpoint is None else new_file("checkpoint", checkpoint)
        self.checkpoint_every = finite("checkpoint_every", checkpoint_every, above=0)
        self.callback = callback
        self.status = "optimal"
        self.state = State()
        self.incumbent = Incumbent(self.model)
        self._heap, self._closed = self._queue([]), np.inf
        self._contest: Contest | None = None
        self._labels_seconds, self._began_bounds, self._seconds_before = 0.0, 0.0, 0.0

    @property
    def options(self) -> dict[str, Any]:
        """What a checkpoint must have been made with, as a search is taken up only with the same."""
        return {
            "bounds": self.builder.relaxation,
            "branching": self.branching,
            "gap": self.rules.gap,
            "refresh": self.rules.refresh,
            "solver": self.builder.solver,
            "keep_proofs": self.rules.keep_proofs,
        }

    @property
    def lower_bound(self) -> float:
        """No labelling is below it.

        What the incumbent excludes it excludes from the gap on: the bound does not get nearer to the objective.
        """
        return self._bound(claimed((node.bound for node in self.state.open), self.state.objective))

    def _bound(self, still: float) -> float:
        state = self.state
        if not np.isfinite(state.objective):
            # Without an incumbent the bound is that of the tree alone, which proves nothing before its first node.
            proven = min(self._closed, still) if state.records else -np.inf
            return proven if proven < np.inf else state.svm_bound
        return min(self._closed, still, self.rules.cutoff(state.objective))

    def run(self) -> BranchAndBound:
        """Search until nothing is open, or a limit or Ctrl-C stops it; then ``state`` and ``status`` say what is known.

        Raises
        ------
        ValueError
            If the checkpoint is of another search, or no such file.
        """
        began, deadline = time.perf_counter(), np.inf
        if self.checkpoint is not None and os.path.exists(self.checkpoint):
            self.state = load_search(self.checkpoint, self)
        if self.time_limit is not None:
            deadline = time.time() + self.time_limit - self._setup - self.state.seconds
        deadline = min(deadline, time.time() + time_left())  # or the deadline around the search
        # BLAS threads that wait for a core in use by another process make products a hundred times slower.
        with one_blas_thread(), until(deadline):
            return self._run(began, deadline)

    def _run(self, began: float, deadline: float) -> BranchAndBound:
        due, self._seconds_before = began + self.checkpoint_every, self.state.seconds
        if self.state.n_nodes == 0:
            self.state.open = [Node(self.model.root())]
        self._heap = self._queue(self.state.open)
        self._closed = _least_closed(self.state.records)
        self.model.multipliers = self.state.multipliers
        self.incumbent = Incumbent(self.model, self.state.objective, self.state.labels, self.state.gamma)
        self.state.unfinished &= self._competes and len(self.state.records) == 1
        try:
            if self.state.n_nodes == 0:
                self.begin()
            self._began_bounds = time.perf_counter()
            while len(self._heap):
                self.state.seconds = self._seconds_before + time.perf_counter() - began
                self.status = self.limit(deadline)
                if self.status != "optimal":
                    break
                interrupted = self._turn(deadline)
                self.state.seconds = self._seconds_before + time.perf_counter() - began
                self.tell()
                if interrupted:
                    self.status = "interrupted"
                    break
                if self.checkpoint is not None and time.perf_counter() > due:
                    self.state.open = self._heap.all()
                    due = time.perf_counter()
                    self._save()
                    # Writing a large tree takes seconds: at most about a twentieth of the time goes to it.
                    due += max(self.checkpoint_every, 21 * (time.perf_counter() - due))
        except KeyboardInterrupt:
            self.status = "interrupted"
            self.keep_incumbent()
        if self.status != "optimal":
            self._end_contest()
        self.state.open = self._heap.all()
        self.state.seconds = self._seconds_before + time.perf_counter() - began
        if self.status == "optimal":
            self.status = self._ending()
        if self.checkpoint is not None:
            self._save()
        return self

    def _turn(self, deadline: float) -> bool:
        """What is next; whether it was interrupted."""
        if self._competes:
            if self._labels_seconds < LABELS_SHARE * (time.perf_counter() - self._began_bounds):
                self.look_for_labels(deadline)
            return self.step(deadline) if self.state.is_decided else self.compete(deadline)
        return self.strengthen(deadline) if self.is_out_of_patience() else self.step(deadline)

    def look_for_labels(self, deadline: float) -> None:
        """Some restarts of the search for labels, beside bounds: better labels make all of these stronger.

        Parameters
        ----------
        deadline : float
            Time of the clock at which to stop, in seconds.
        """
        state, began = self.state, time.perf_counter()
        with until(min(deadline, time.time() + max(LABELS_SLICE, LABELS_SHARE * self._labels_seconds))):
            self.incumbent.restart(1, seed=state.n_searches)
        state.n_searches += 1
        self._labels_seconds += time.perf_counter() - began
        self.keep_incumbent()

    @property
    def _competes(self) -> bool:
        """Whether the tree and the root compete by time: where the root's bounds can be interrupted, by default."""
        return self.builder.resumable and self.patience is None

    def _save(self) -> None:
        """Write the checkpoint; a disk that is full must not end a search that has run for hours."""
        if self.checkpoint is None:
            return
        try:
            save_search(self.checkpoint, self._if_it_stopped_now())
        except OSError as error:
            warn(f"checkpoint={str(self.checkpoint)!r} could not be written: {error}")

    def _if_it_stopped_now(self) -> BranchAndBound:
        """The search with its contest decided, on which this one does not depend, as a file has one tree."""
        if self._contest is None or self.state.is_decided:
            return self
        stopped = copy.copy(self)
        stopped.state = replace(self.state)
        stopped._end_contest()
        stopped.state.open = stopped._heap.all()
        return stopped

    def _ending(self) -> str:
        """The status of a search that has no open node left."""
        if not np.isfinite(self.state.objective):
            return "infeasible" if self.model.root().is_empty or self.model.svm.hard else "inaccurate"
        gap = relative_gap(self.state.objective, self.lower_bound)
        if gap <= max(self.rules.gap, LEAST_GAP) * (1 + 1e-6):
            return "optimal"
        warn(
            f"bounds that hold in double precision end {gap:.2g} below the objective: kernel values times costs are "
            "too large for more; scale the points or lower C",
        )
        return "inaccurate"

    def begin(self) -> None:
        """The root, and first labels."""
        point = self._svm.solve(self.model.search.y)
        self.state.svm_bound = self.state.root_bound = point.value
        with until(time.time() + SHARE_FOR_LABELS * time_left()):
            idle = IDLE_WHERE_BOUNDS_ROUND if self.builder.resumable else IDLE_RESTARTS[0]
            self.incumbent.begin(point.outputs + point.bias, idle)
        self.state.n_searches, self.state.n_first = 1, self._svm.n_solved
        self.keep_incumbent()
        self.state.settled = self.builder.relaxation == "svm"

    def is_out_of_patience(self) -> bool:
        """Whether the SVM's bound alone has been given its chance, or the root's better bounds have."""
        state = self.state
        if not state.settled:
            return state.n_nodes >= self._patience
        return state.strong and state.n_searches < len(IDLE_RESTARTS) and len(state.records) >= SLOW_NODES

    @property
    def _patience(self) -> int:
        return self.state.n_first // 2 if self.patience is None else self.patience

    def strengthen(self, deadline: float) -> bool:
        """Better labels, which make all bounds stronger, and the root with more than the SVM's bound.

        If that is above the bound of the tree so far, the search begins anew with it, otherwise it goes on as before.
        Where it has come to many nodes of that kind, better labels are looked for once more, for longer.

        Parameters
        ----------
        deadline : float
            Time of the clock at which to stop, in seconds.

        Returns
        -------
        bool
            Whether it was interrupted.
        """
        state, root, n_before = self.state, Node(self.model.root()), len(self.state.multipliers)
        best = state.objective
        with until(time.time() + min(SHARE_FOR_LABELS * time_left(), SHARE_FOR_LABELS * max(state.seconds, 1.0))):
            self.incumbent.restart(IDLE_RESTARTS[state.n_searches], seed=state.n_searches)
        state.n_searches += 1
        self.keep_incumbent()
        if state.settled and not state.objective < best:
            return False
        found = dive(self.builder, self.rules, self.branching, self.incumbent, root, True, 1, deadline)
        if found.interrupted:
            return True
        self.decide(root, found, n_before)
        return False

    def compete(self, deadline: float) -> bool:
        """A turn of the tree or of the root's better bounds, whichever has had less time.

        Once the root has got as far as it gets, it is decided which of them goes on.

        Parameters
        ----------
        deadline : float
            Time of the clock at which to stop, in seconds.

        Returns
        -------
        bool
            Whether it was interrupted.
        """
        if self._contest is None:
            self._contest = Contest(self.builder, self.rules, self.incumbent, self.state.seconds - self._seconds_before)
            if self.state.unfinished:
                self._contest.resume(self.state.records[0], self._heap.first(1)[0])
            else:
                self.model.forget(0)
        contest, began = self._contest, time.perf_counter()
        if not contest.root_is_next(self._heap.bound):
            interrupted = self.step(deadline)
            contest.tree_seconds += time.perf_counter() - began
            return interrupted
        contest.advance(deadline)
        self.keep_incumbent()
        if contest.is_decided:
            self._end_contest()
        return False

    def _end_contest(self) -> None:
        """Let what is proven of the root decide."""
        contest = self._contest
        if contest is None or contest.work is None or self.state.is_decided:
            return
        if not (contest.is_decided or contest.work.bound > self._bound(self._heap.bound)):
            return  # it is behind, but may win when the search goes on
        examiner = Examiner(self.builder, self.rules, self.branching, self.incumbent)
        seen = examiner.conclude(contest.root, contest.work)
        for child in seen.children:
            child.parent = 0
        best = (self.incumbent.objective, self.incumbent.labels, self.incumbent.gamma)
        found = Dive([seen.record], seen.children, self.model.multipliers, *best)
        self.decide(contest.root, found, contest.n_before)
        self.state.unfinished = bool(seen.children) and contest.work.unfinished and self.state.strong

    def decide(self, root: Node, found: Dive, n_before: int) -> None:
        """Begin anew with the root's better bounds if they are above those of the tree; otherwise the tree goes on.

        Parameters
        ----------
        root : Node
        found : Dive
            From the root, its only node.
        n_before : int
            Number of multipliers that there were before it.
        """
        state = self.state
        with uninterrupted():
            is_better = bool(found.records[0].bound > self._bound(self._heap.bound))
            state.settled, state.strong = True, state.strong or is_better
            if is_better:
                state.records, self._closed = [], np.inf
                self._heap = self._queue([])
                self.merge(root, found, shared=True, n_before=n_before)
                self.note_root()
            else:
                state.n_nodes += 1
                self.model.forget(n_before)
            self.keep_incumbent()

    def note_root(self) -> None:
        """Store the root's bound, and how many unlabelled points its proofs have settled, in the state."""
        state, root = self.state, self.state.records[0]
        state.root_bound = max(state.root_bound, min(root.bound, self.rules.cutoff(state.objective)))
        box = self._heap.all()[0].box if len(self._heap) else None
        known = self.model.n if box is None else int((box.labels != 0).sum()) - 1
        state.root_fixed = known - self.model.instance.problem.n_labeled

    def limit(self, deadline: float) -> str:
        """The limit that is reached, or "optimal".

        Parameters
        ----------
        deadline : float
            Time of the clock at which to stop, in seconds.
        """
        if self.max_nodes is not None and self.state.n_nodes >= self.max_nodes:
            return "node_limit"
        return "time_limit" if time.time() > deadline else "optimal"

    def step(self, deadline: float) -> bool:
        """Some dives, side by side; whether they were interrupted.

        Parameters
        ----------
        deadline : float
            Time of the clock at which to stop, in seconds.
        """
        state, dives = self.state, DIVE[self.strategy]
        if self.max_nodes is not None:
            dives = min(dives, self.max_nodes - state.n_nodes)
        if not state.settled and not self._competes:
            dives = min(dives, max(self._patience - state.n_nodes, 1))
        # The root is examined alone, as everything below depends on what it proves.
        width = DIVES_PER_JOB * self.n_jobs if state.records and self.n_jobs > 1 else 1
        nodes = self._heap.first(width)
        at_root = state.settled and not state.records
        if at_root:
            dives = 1
        n_before, rest = len(state.multipliers), (state.strong, dives, deadline)
        if len(nodes) == 1:
            found = [dive(self.builder, self.rules, self.branching, self.incumbent, nodes[0], *rest)]
        else:
            # Threads share memory: every dive gets a fork of the builder and an incumbent of its own.
            builders = [self.builder.fork(node.number) for node in nodes]
            found = joblib.Parallel(n_jobs=self.n_jobs)(
                joblib.delayed(dive)(
                    builder,
                    self.rules,
                    self.branching,
                    Incumbent(builder.model, state.objective, state.labels, state.gamma),
                    node,
                    *rest,
                )
                for builder, node in zip(builders, nodes, strict=True)
            )
        with uninterrupted():
            for _ in nodes:
                self._heap.pop()
            for node, one in zip(nodes, found, strict=True):
                self.merge(node, one, shared=len(nodes) == 1, n_before=n_before)
            self.keep_incumbent()
        if at_root and state.records:
            self.note_root()
        return any(one.interrupted for one in found)

    def merge(self, node: Node, found: Dive, *, shared: bool, n_before: int) -> None:
        """Put the records and open nodes of a dive where they belong.

        Parameters
        ----------
        node : Node
            Where the dive began.
        found : Dive
        shared : bool
            Whether the dive has worked on the search's own multipliers and incumbent, as one that runs alone does.
        n_before : int
            Number of multipliers that there were before it.
        """
        state, base = self.state, len(self.state.records)
        shift = 0
        if not shared:
            shift = len(state.multipliers) - n_before
            state.multipliers.extend(found.multipliers)
            if found.objective < self.incumbent.objective:
                self.incumbent.objective, self.incumbent.labels = found.objective, found.labels
                self.incumbent.gamma = found.gamma
        for place, record in enumerate(found.records):
            record.parent = node.parent if place == 0 else record.parent + base
            if shift:
                record.proofs = [(proof.renumbered(n_before, shift), cutoff) for proof, cutoff in record.proofs]
            state.records.append(record)
        self._closed = min(self._closed, _least_closed(found.records))
        for left in found.left:
            if found.records:
                left.parent += base
            if left.number >= n_before:
                left.number += shift
            self._heap.push(left)
        state.n_nodes += len(found.records)

    def keep_incumbent(self) -> None:
        """The incumbent as part of the state."""
        state, incumbent = self.state, self.incumbent
        state.objective, state.labels, state.gamma = incumbent.objective, incumbent.labels, incumbent.gamma

    def tell(self) -> None:
        """Progress, for the callback and the history."""
        state = self.state
        progress = Progress(
            state.n_nodes, len(self._heap), self._bound(self._heap.bound), state.objective, state.seconds
        )
        state.history.append(progress)
        if self.callback is not None:
            self.callback(progress)

    def _queue(self, nodes: list[Node]) -> OpenNodes:
        queue = OpenNodes(self.strategy == "depth")
        for node in reversed(nodes):
            queue.push(node)
        return queue


def _least_closed(records: list[Record]) -> float:
    return min((record.bound for record in records if record.variable < 0), default=np.inf)


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
