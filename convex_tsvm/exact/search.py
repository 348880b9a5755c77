"""Branch and bound (Bennett and Demiriz 1998; chapelle2008 §3.1), over labels and over intervals of outputs alike.

The tree is searched in dives: some nodes below an open one, depth first, then the next open one.  Dives from different
nodes are independent of each other, so they may run in parallel; what they found is put together in a fixed order, so
that a search depends on nothing but its arguments, but for limits on time, and for the shares of time of the contest
between cheap and strong bounds, which an argument replaces by a number of nodes.

The search knows regions, their tree, the incumbent, time and files; what a region is and how it is bounded and split
say the builder's model and relaxations, and the branching rule.
"""

import copy
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import joblib
import numpy as np

from ..deadline import time_left, until, within
from ..formulations import Formulation
from ..instance import Instance
from ..notice import warn
from ..parallel import one_blas_thread
from ..problem import Problem
from ..relaxations import LowerBoundBuilder
from ..relaxations.envelopes.best import BestSolution
from ..relaxations.region import Rules
from ..relaxations.weights.features import is_faster
from ..solution import relative_gap
from ..table import RELAXATIONS, STRATEGIES
from ..validation import InfeasibleError, finite, integer, new_file, one_of
from .branching import Rule, rule
from .contest import Choice, uninterrupted
from .dive import Dive, Examiner
from .files import load_search, save_search
from .incumbent import BestLabels
from .tree import Node, OpenNodes, Progress, Record, State, claimed

#: Nodes of one dive.
DIVE = {"best": 1, "hybrid": 32, "depth": 32}


class BranchAndBound:
    """Exact search: for labels, or for any losses over intervals of outputs; see :func:`~convex_tsvm.exact_search`.

    Parameters
    ----------
    formulation, problem
        As for :class:`~convex_tsvm.LowerBoundBuilder`; for labels with hinge, squared hinge or a hard margin.
    bounds : str or class, default "auto"
        The strongest bound that a node may get, of ``ct.table.RELAXATIONS``.  "svm" is as published (chapelle2008
        §3.1); "signs" is made at the root, and used as a convex quadratic for nodes below it.  "auto" is "signs" for
        the squared hinge, "sdp" for the hinge, else "curvature".
    branch_on : {"auto", "weights", "points"}, default "auto"
        What nodes are about: boxes of weights and bias, for the linear kernel and few features, where n may be large
        and a certificate's tree is not; or labels or outputs of points.  "auto": weights for up to four of
        these and the bias together from 50 unlabelled points on, for five from 200, and where nothing else is there.
    strategy : str, default "auto"
        Which open node is next, as ``ct.table.STRATEGIES`` says.
    branching : str or callable, default "auto"
        Which point is branched on, as ``ct.table.BRANCHING`` says for each name ("confidence" is as published).  A
        function of :class:`~convex_tsvm.relaxations.Work` is a rule of one's own; :mod:`convex_tsvm.exact.branching`
        says what it returns.
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
    time_limit : float, optional
        Seconds, those before a checkpoint included.
    n_jobs : int, optional
        Dives in parallel, by joblib: its context managers choose the backend.
    checkpoint : path, optional
        A file for the search: it is written every ``checkpoint_every`` seconds, and taken up if it is there.
    certificate : bool, default True
        Whether to keep what proves the bounds.
    callback : callable, optional
        Called with :class:`Progress` after every dive.

    Attributes
    ----------
    status : {"optimal", "inaccurate", "infeasible", "node_limit", "time_limit", "interrupted"}
        "optimal": the gap asked for is proven (one below 10⁻⁸ counts as 10⁻⁸: bounds in double precision hold, and
        therefore end a little below the optimum).  "inaccurate": nothing is open any more, but rounding keeps the
        bounds from a gap like that, as it may where ``gap`` is below 10⁻⁷.  "infeasible": no labelling meets the
        balance.

    Examples
    --------
    >>> ct.exact.BranchAndBound(ct.s3vm(), problem, gap=1e-4).run().status
    'optimal'
    """

    def __init__(
        self,
        formulation: Formulation,
        problem: Problem,
        *,
        bounds: Any = "auto",
        branch_on: str = "auto",
        strategy: str = "auto",
        branching: str | Rule = "auto",
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
        formulation.check_classes(problem)
        one_of("strategy", strategy, tuple(STRATEGIES))
        self.branching = branching if isinstance(branching, str) else getattr(branching, "__name__", repr(branching))
        self.rules = Rules(
            gap=finite("gap", gap, least=0, below=1),
            refresh=refresh if refresh is None or refresh == "auto" else integer("refresh", refresh, least=1),
            keep_proofs=bool(certificate),
        )
        self.time_limit = None if time_limit is None else finite("time_limit", time_limit, above=0)
        with one_blas_thread(), within(self.time_limit):
            bounds = self._bounds(formulation, problem, bounds, branch_on)
            self.builder = LowerBoundBuilder(
                formulation, problem, relaxation=bounds, solver=solver, gap=self.rules.gap, searched=True
            )
            if branch_on == "points" and self.builder.about == "weights":
                why = " and ".join(str(self.builder.why_not(name)) for name in ("svm", "curvature"))
                raise ValueError(f"branch_on='points': {why}")
            self.model = self.builder.model
        self.choose = rule(branching, self.builder.about)
        default = "best" if self.builder.about == "outputs" else "hybrid"
        self.strategy = default if strategy == "auto" else strategy
        self._setup = time.perf_counter() - began
        self.patience = None if patience is None else integer("patience", patience, least=0)
        self.max_nodes = None if max_nodes is None else integer("max_nodes", max_nodes, least=1)
        self.n_jobs = int(joblib.effective_n_jobs(n_jobs))
        self.checkpoint = None if checkpoint is None else new_file("checkpoint", checkpoint)
        self.checkpoint_every = finite("checkpoint_every", checkpoint_every, above=0)
        self.callback = callback
        self.status = "optimal"
        self.state = State()
        if self.checkpoint is not None:
            self.check_file("checkpoint")
        self.incumbent: Any = BestLabels(self.model) if self.builder.is_about_labels else self.builder.incumbent()
        self.heap, self.closed = self.queue([]), np.inf
        self.choice = Choice(self)
        self.seconds_before = 0.0

    def _bounds(self, formulation: Formulation, problem: Problem, bounds: Any, branch_on: str) -> Any:
        """The bounds that are used, for what boxes are to be about."""
        one_of("branch_on", branch_on, ("auto", "weights", "points"))
        about = getattr(RELAXATIONS[bounds].load() if bounds in RELAXATIONS else bounds, "about", None)
        if about is not None and branch_on != "auto" and (about == "weights") != (branch_on == "weights"):
            raise ValueError(f"branch_on={branch_on!r}: bounds={bounds!r} are about {about}")
        if bounds != "auto" or branch_on == "points":
            return bounds
        by_default = branch_on == "auto" and self.branching == "auto"
        faster = branch_on == "weights" or (by_default and is_faster(Instance(formulation, problem)))
        return "weights" if faster else "auto"

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

    def check_file(self, argument: str) -> None:
        """Raise ValueError, which names the argument, if such a search is not written to a file."""
        why = self.model.why_no_file()
        if why is not None:
            raise ValueError(f"{argument}: {why}")

    @property
    def lower_bound(self) -> float:
        """No solution is below it; what the incumbent excludes it excludes from the gap on."""
        return self.bound(claimed((node.bound for node in self.state.open), self.state.objective))

    def bound(self, still: float) -> float:
        """The bound of the whole, where that of all open nodes is ``still``."""
        state = self.state
        if not np.isfinite(state.objective):
            # Without an incumbent the bound is that of the tree alone, which proves nothing before its first node.
            proven = min(self.closed, still) if state.records else -np.inf
            return proven if proven < np.inf else state.svm_bound
        return min(self.closed, still, self.rules.cutoff(state.objective))

    def run(self) -> "BranchAndBound":
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

    def _run(self, began: float, deadline: float) -> "BranchAndBound":
        due, self.seconds_before = began + self.checkpoint_every, self.state.seconds
        self.heap = self.queue(self.state.open)
        self.closed = least_closed(self.state.records)
        self.model.multipliers = self.state.multipliers
        self.state.unfinished &= self.choice.competes and len(self.state.records) == 1
        try:
            if self.state.n_nodes == 0:
                self.begin()
            self.choice.began = time.perf_counter()
            while len(self.heap):
                self.state.seconds = self.seconds_before + time.perf_counter() - began
                self.status = self.limit(deadline)
                if self.status != "optimal":
                    break
                interrupted = self.choice.turn(deadline)
                self.state.seconds = self.seconds_before + time.perf_counter() - began
                self.tell()
                if interrupted:
                    self.status = "interrupted"
                    break
                if self.checkpoint is not None and time.perf_counter() > due:
                    self.state.open = self.heap.all()
                    due = time.perf_counter()
                    self._save()
                    # Writing a large tree takes seconds: at most about a twentieth of the time goes to it.
                    due += max(self.checkpoint_every, 21 * (time.perf_counter() - due))
        except KeyboardInterrupt:
            self.status = "interrupted"
            self.plant()
        if self.status != "optimal":
            self.choice.end()
        self.state.open = self.heap.all()
        self.state.seconds = self.seconds_before + time.perf_counter() - began
        if self.status == "optimal":
            self.status = self._ending()
        self._save()
        return self

    def _save(self) -> None:
        """Write the checkpoint; a disk that is full must not end a search that has run for hours."""
        if self.checkpoint is None:
            return
        try:
            save_search(self.checkpoint, self._if_it_stopped_now())
        except OSError as error:
            warn(f"checkpoint={str(self.checkpoint)!r} could not be written: {error}")

    def _if_it_stopped_now(self) -> "BranchAndBound":
        """The search with its contest decided, on which this one does not depend, as a file has one tree."""
        if self.choice.work is None or self.state.is_decided:
            return self
        stopped = copy.copy(self)
        stopped.state, stopped.choice = replace(self.state), copy.copy(self.choice)
        stopped.choice.search = stopped
        stopped.choice.end()
        stopped.state.open = stopped.heap.all()
        return stopped

    def _ending(self) -> str:
        """The status of a search that has no open node left."""
        if not np.isfinite(self.state.objective):
            if not self.builder.is_about_labels:
                raise InfeasibleError("no outputs meet the constraints")
            return "infeasible" if self.model.root().is_empty or self.model.svm.hard else "inaccurate"
        gap = relative_gap(self.state.objective, self.lower_bound)
        # The smallest relative gap that bounds in double precision can be asked for.
        if gap <= max(self.rules.gap, 1e-8) * (1 + 1e-6):
            return "optimal"
        why = "kernel values times costs are too large for more; scale the points or lower C"
        if gap <= 1e-6:
            why = "solvers, and proofs in single precision, are no more accurate than that; ask for a larger gap"
        warn(f"bounds that hold in double precision end {gap:.2g} below the objective: {why}")
        return "inaccurate"

    def begin(self) -> None:
        """A first solution, and the root."""
        state = self.state
        state.settled = not self.builder.has_stronger
        state.svm_bound = state.root_bound = self.choice.first_solution()
        state.n_searches, state.n_first = 1, self.incumbent.n_solved
        self.plant()

    def plant(self) -> None:
        """Open the root, if nothing has been looked at: its box may depend on the best solution so far."""
        self.state.objective = self.incumbent.objective
        if not self.state.records and not len(self.heap):
            self.heap.push(Node(self.model.root(self.rules.cutoff(self.state.objective))))

    def note_root(self) -> None:
        """Store the root's bound, and how many unlabelled points its proofs have settled, in the state."""
        state, root = self.state, self.state.records[0]
        state.root_bound = max(state.root_bound, min(root.bound, self.rules.cutoff(state.objective)))
        problem = self.model.instance.problem
        if len(self.heap):
            left = self.heap.all()[0]
            known = int((self.model.proven(left.box) != 0).sum()) - (self.builder.is_about_labels and left.depth > 0)
        else:
            known = problem.n
        state.root_fixed = known - problem.n_labeled

    def limit(self, deadline: float) -> str:
        """The limit that is reached, or "optimal"; the deadline is a time of the clock in seconds, as below."""
        if self.max_nodes is not None and self.state.n_nodes >= self.max_nodes:
            return "node_limit"
        return "time_limit" if time.time() > deadline else "optimal"

    def examiner(
        self, builder: LowerBoundBuilder | None = None, best: BestLabels | BestSolution | None = None
    ) -> Examiner:
        """What examines nodes, for the search's own builder and incumbent or others."""
        return Examiner(builder or self.builder, self.rules, self.choose, best or self.incumbent)

    def step(self, deadline: float) -> bool:
        """Some dives, side by side; whether they were interrupted."""
        state, dives = self.state, DIVE[self.strategy]
        if self.max_nodes is not None:
            dives = min(dives, self.max_nodes - state.n_nodes)
        dives = int(min(dives, max(self.choice.patience_left(), 1)))
        # The root is examined alone, as everything below depends on what it proves.  Later every parallel job is given
        # some dives at a time, as some take much longer than others.
        nodes = self.heap.first(4 * self.n_jobs if state.records and self.n_jobs > 1 else 1)
        at_root = state.settled and not state.records
        dives = 1 if at_root else dives
        n_before, rest = len(state.multipliers), (state.strong, dives, deadline, state.n_nodes)
        if len(nodes) == 1:
            found = [self.examiner().dive(nodes[0], *rest)]
        else:
            # Threads share memory: every dive gets a fork of the builder and an incumbent of its own.  Boxes of weights
            # are looked at in compiled loops that run beside each other in threads, which share the points.
            builders = [self.builder.fork(node.number) for node in nodes]
            found = joblib.Parallel(n_jobs=self.n_jobs, prefer="threads" if self.builder.about == "weights" else None)(
                joblib.delayed(self.examiner(builder, self.incumbent.fork(builder)).dive)(node, *rest)
                for builder, node in zip(builders, nodes, strict=True)
            )
        with uninterrupted():
            for _ in nodes:
                self.heap.pop()
            for node, one in zip(nodes, found, strict=True):
                self.merge(node, one, shared=len(nodes) == 1, n_before=n_before)
            state.objective = self.incumbent.objective
        if at_root and state.records:
            self.note_root()
        return any(one.interrupted for one in found)

    def merge(self, node: Node, found: Dive, *, shared: bool, n_before: int) -> None:
        """Put records and open nodes of a dive where they belong; one that is ``shared`` has the search's own
        incumbent.
        """
        state, base = self.state, len(self.state.records)
        shift = 0
        if not shared:
            shift = len(state.multipliers) - n_before
            state.multipliers.extend(found.multipliers)
            self.incumbent.take(found.best)
        for place, record in enumerate(found.records):
            record.parent = node.parent if place == 0 else record.parent + base
            if shift:
                record.proofs = [(proof.renumbered(n_before, shift), cutoff) for proof, cutoff in record.proofs]
            state.records.append(record)
        self.closed = min(self.closed, least_closed(found.records))
        for left in found.left:
            if found.records:
                left.parent += base
            if left.number >= n_before:
                left.number += shift
            self.heap.push(left)
        state.n_nodes += len(found.records)

    def tell(self) -> None:
        """Progress, for the callback and the history; where dives are of one node, after some of them."""
        state = self.state
        since = state.n_nodes - state.history[-1].n_nodes if len(state.history) > 1 else 0
        if DIVE[self.strategy] == 1 and len(self.heap) and 0 < since < 32:
            return
        progress = Progress(state.n_nodes, len(self.heap), self.bound(self.heap.bound), state.objective, state.seconds)
        state.history.append(progress)
        if self.callback is not None:
            self.callback(progress)

    def queue(self, nodes: list[Node]) -> OpenNodes:
        """Open nodes in the order of the strategy."""
        queue = OpenNodes(self.strategy == "depth")
        for node in reversed(nodes):
            queue.push(node)
        return queue


def least_closed(records: list[Record]) -> float:
    """The least bound of the nodes that are closed."""
    return min((record.bound for record in records if record.variable < 0), default=np.inf)
