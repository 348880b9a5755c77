"""Branch and bound over the convex pieces of losses, for formulations that are not about labels.

A loss is the least of its convex pieces (:func:`~convex_tsvm.convex_pieces`).  A node allows each point some of them;
its bound is the convex problem in which every point pays the envelope of what it is allowed, which is a convex step, so
that its dual value is a bound.  Where one piece is left for each point the problem is convex, and solved.
"""

from __future__ import annotations

import heapq
import itertools
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..deadline import time_is_up, until
from ..formulations import Formulation
from ..instance import ConvexStep, Instance, StepSolution
from ..kernels import centred_gram, plain_gram
from ..losses import PLQ, convex_pieces, envelope_of
from ..problem import Array, Problem
from ..solvers import NativeSolver
from ..validation import InfeasibleError, finite, integer
from .solution import ExactSolution
from .state import Progress

#: Allowed pieces of every point, as bits, shape (n,).
Allowed = NDArray[np.int64]

#: Tolerance of the convex problems of nodes, whose dual values are bounds whatever it is, and of those of one piece for
#: each point, which are to be solutions.
NODE_TOL, LEAF_TOL = 1e-4, 1e-8

#: A node is bounded again, at most so many times, after pieces were taken away.
MOST_ROUNDS = 3

#: After every so many nodes the pieces that outputs are on are tried; and it is told how far the search is.
IMPROVED_NODES, TOLD_NODES = 16, 100

#: Dual variables between the ends of a conjugate's domain at which the bound without a piece is looked for.
DUAL_VALUES = 9


@dataclass(order=True)
class _Node:
    """Some pieces for every point; of two nodes the one with the lesser bound is less.

    ``start`` is the solution of its convex problem, or of that of the node above, and ``proven`` that solution's bound.
    """

    bound: float
    number: int
    allowed: Allowed = field(compare=False)
    start: StepSolution | None = field(compare=False, default=None)
    proven: float = field(compare=False, default=-np.inf)


class _Pieces:
    """The pieces of each point's loss, and convex steps for some of them."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        problem, formulation = instance.problem, instance.formulation
        losses = {"labeled": formulation.labeled, "unlabeled": formulation.unlabeled}
        for name, loss in losses.items():
            if loss is not None and not isinstance(loss, PLQ):
                raise ValueError(f"{name}={loss!r}: exact search takes piecewise linear-quadratic losses")
        labeled, unlabeled = losses["labeled"], losses["unlabeled"]
        assert isinstance(labeled, PLQ)
        kinds = [labeled, labeled.reflect(), *([unlabeled] if isinstance(unlabeled, PLQ) else [])]
        self.of_kind = [convex_pieces(loss) for loss in kinds]
        self.losses = kinds
        self.kind = np.where(problem.y > 0, 0, np.where(problem.y < 0, 1, 2))
        self.cost = instance.cost
        if unlabeled is None:
            self.cost[problem.unlabeled] = 0.0
            self.kind[problem.unlabeled] = 0

    def all(self) -> Allowed:
        """Every piece of every point."""
        counts = np.array([len(pieces) for pieces in self.of_kind])
        return np.where(self.cost > 0, (1 << counts[self.kind]) - 1, 1).astype(np.int64)

    def envelope(self, kind: int, allowed: int) -> PLQ:
        """What a point of a kind pays at least."""
        return envelope_of([piece for k, piece in enumerate(self.of_kind[kind]) if allowed >> k & 1])

    def step(self, allowed: Allowed) -> ConvexStep:
        """The convex problem of a node."""
        codes, which = np.unique(np.column_stack([self.kind, allowed]), axis=0, return_inverse=True)
        losses = tuple(self.envelope(int(kind), int(bits)) for kind, bits in codes)
        names = tuple(f"kind{kind}_pieces{bits:b}" for kind, bits in codes)
        none = np.zeros(len(allowed))
        return self.instance.envelope_step(losses, which.ravel().astype(np.intp), self.cost, none, names)

    def values(self, outputs: Array) -> Array:
        """Each piece's value at each output, infinite where a point has no such piece; shape (n, most)."""
        most = max(len(pieces) for pieces in self.of_kind)
        found = np.full((len(outputs), most), np.inf)
        for kind, pieces in enumerate(self.of_kind):
            where = self.kind == kind
            for k, piece in enumerate(pieces):
                found[where, k] = piece(outputs[where])
        return found

    def nearest(self, outputs: Array) -> Allowed:
        """The piece that each output is on."""
        return (1 << self.values(outputs).argmin(axis=1)).astype(np.int64)


class PieceSearch:
    """The search; see :func:`~convex_tsvm.exact_search`, whose options about nodes and limits it has.

    Attributes
    ----------
    objective : float
        The best that was found.
    status : str
        How the search ended.
    """

    best: StepSolution | None = None

    def __init__(
        self,
        formulation: Formulation,
        problem: Problem,
        *,
        gap: float = 1e-6,
        max_nodes: int | None = None,
        time_limit: float | None = None,
        callback: Callable[[Progress], None] | None = None,
    ) -> None:
        self.gap, self.callback = finite("gap", gap, least=0), callback
        self.max_nodes = None if max_nodes is None else integer("max_nodes", max_nodes, least=1)
        self.time_limit = None if time_limit is None else finite("time_limit", time_limit, above=0)
        instance = Instance(formulation, problem)
        if instance.n_positive is not None or instance.target_sum is not None:
            raise ValueError(f"{instance.balance}: exact search for this formulation takes a mean output, or None")
        if formulation.regularizer != "l2":
            raise ValueError(f"regularizer={formulation.regularizer!r}: exact search is for 'l2'")
        self.instance, self.pieces = instance, _Pieces(instance)
        self.solver = NativeSolver(problem, tol=NODE_TOL)
        self.exactly = NativeSolver(problem, tol=LEAF_TOL, precision="double")
        self.objective, self.n_nodes, self.status = np.inf, 0, "optimal"
        self.progress: list[Progress] = []
        self._waiting: list[_Node] = []
        self._least_leaf = self.root_bound = np.inf
        self._diagonal = self._squares()

    def run(self) -> ExactSolution:
        """Search until the gap is closed, or a limit is reached."""
        self._began, self._numbers = time.perf_counter(), itertools.count()
        deadline = np.inf if self.time_limit is None else time.time() + self.time_limit
        with until(deadline), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            root = _Node(-np.inf, next(self._numbers), self.pieces.all())
            try:
                self._examine(root)
                self.root_bound = root.bound
                self._wait(root)
                while self._waiting and not self._is_stopped():
                    self._branch(self._waiting[0])
                    heapq.heappop(self._waiting)
            except KeyboardInterrupt:
                self.status = "interrupted"
            if self.best is None:
                if self.status == "interrupted":
                    raise KeyboardInterrupt
                raise InfeasibleError("no outputs meet the constraints")
        return self._solution()

    def _is_stopped(self) -> bool:
        """Whether a limit is reached."""
        if self.max_nodes is not None and self.n_nodes >= self.max_nodes:
            self.status = "node_limit"
        elif time_is_up():
            self.status = "time_limit"
        return self.status != "optimal"

    def _branch(self, node: _Node) -> None:
        """Examine both halves of a node; if one piece is left for every point, the problem is convex, and solved."""
        if not self._is_open(node):
            return
        halves = self._halves(node)
        if not halves:
            self._least_leaf = min(self._least_leaf, self._improve(node.allowed))
        for allowed in halves:
            half = _Node(node.bound, next(self._numbers), allowed, node.start)
            self._examine(half)
            self._wait(half)

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
    def lower_bound(self) -> float:
        """What no solution is below."""
        return float(min(self.objective, self._cutoff, self._least_leaf, *(node.bound for node in self._waiting[:1])))

    @property
    def _cutoff(self) -> float:
        """The bound at which a node is closed."""
        if not np.isfinite(self.objective):
            return np.inf
        return self.objective - self.gap * (1 - 1e-8) * abs(self.objective)

    def _is_open(self, node: _Node) -> bool:
        return node.bound < self._cutoff

    def _examine(self, node: _Node) -> None:
        """Bound a node, take pieces away that better solutions cannot have, and try its outputs as a solution."""
        self.n_nodes += 1
        for _ in range(MOST_ROUNDS):
            try:
                found = self.solver.solve(self.pieces.step(node.allowed), node.start)
            except InfeasibleError:
                node.bound = np.inf
                return
            node.start, node.proven = found, -np.inf if found.lower_bound is None else found.lower_bound
            node.bound = max(node.bound, node.proven)
            if self.n_nodes == 1 or self.n_nodes % IMPROVED_NODES == 0:
                self._improve(self.pieces.nearest(found.outputs))
            else:
                self._offer(found)
            if not self._is_open(node) or not self._exclude(node):
                return

    def _offer(self, found: StepSolution) -> None:
        """Take a solution of a step for a solution of the formulation, if it is the best so far."""
        objective = self.instance.objective(found.outputs, found.regularization)
        if objective < self.objective:
            self.objective, self.best = objective, found

    def _improve(self, allowed: Allowed) -> float:
        """Solve for one piece of each point, and for those that outputs are on then, until they stay on them.

        What is returned is the bound for the pieces that were given.
        """
        start, bound = None, -np.inf
        for _ in range(20):
            start = self.exactly.solve(self.pieces.step(allowed), start)
            bound = (start.lower_bound or -np.inf) if bound == -np.inf else bound
            self._offer(start)
            after = self.pieces.nearest(start.outputs)
            if (after == allowed).all() or time_is_up():
                break
            allowed = after
        return bound

    def _halves(self, node: _Node) -> list[Allowed]:
        """The node split at one point, with the piece that its output is on, and without it.

        It is the point for which the bound of the worse half rises most, as far as that can be told from a change of
        its own dual variable alone; where it cannot, the one whose envelope is furthest below its loss.
        """
        found = node.start
        assert found is not None
        values = self.pieces.values(found.outputs)
        bits = 1 << np.arange(values.shape[1])
        values[(node.allowed[:, None] & bits) == 0] = np.inf
        here = (1 << values.argmin(axis=1)).astype(np.int64)
        several = np.flatnonzero(((node.allowed & (node.allowed - 1)) > 0) & (self.pieces.cost > 0))
        if not len(several):
            return []
        paid = np.zeros(len(here))
        for kind, allowed in np.unique(np.column_stack([self.pieces.kind, node.allowed]), axis=0):
            where = (self.pieces.kind == kind) & (node.allowed == allowed)
            paid[where] = self.pieces.envelope(int(kind), int(allowed))(found.outputs[where])
        score = self.pieces.cost * (values.min(axis=1) - paid)
        if self._diagonal is not None:
            own = self._conjugates(node.allowed, found.gamma)
            one, rest = (self._rises(several, part, found, own) for part in (here, node.allowed & ~here))
            score[several] = np.minimum(one, rest) + 0.1 * np.maximum(one, rest) + 1e-6 * score[several]
        i = several[int(score[several].argmax())]
        with_it, without = node.allowed.copy(), node.allowed.copy()
        with_it[i], without[i] = here[i], node.allowed[i] & ~here[i]
        return [with_it, without]

    def _rises(self, where: NDArray[np.intp], allowed: Allowed, found: StepSolution, own: Array) -> Array:
        """By how much the dual value rises at least if each of some points alone is allowed other pieces."""
        rises = np.zeros(len(where))
        for kind, bits in np.unique(np.column_stack([self.pieces.kind[where], allowed[where]]), axis=0):
            mine = (self.pieces.kind[where] == kind) & (allowed[where] == bits)
            envelope = self.pieces.envelope(int(kind), int(bits))
            rises[mine] = self._rise(where[mine], envelope, found, own[where[mine]])
        return rises

    def _squares(self) -> Array | None:
        """G_ii of the dual's quadratic form where one dual variable may change alone: not where a bias is free."""
        bias, problem = self.instance.bias, self.instance.problem
        if bias.free or bias.with_x0:
            return None
        points = (problem.kernel, problem.X)
        gram = centred_gram(*points, bias.members) if bias.centred else plain_gram(*points)
        return np.asarray(gram.matrix.diagonal() * (1 + 1e-9))

    def _exclude(self, node: _Node) -> bool:
        """Take pieces away with which the bound would be at the cutoff; whether there were any.

        For any other dual variable of the point alone the dual value changes by a quadratic, so that the largest of a
        few values is a bound of the node in which the point has that piece.
        """
        found = node.start
        if found is None or self._diagonal is None or not np.isfinite(self.objective):
            return False
        excluded = np.zeros_like(node.allowed)
        own = self._conjugates(node.allowed, found.gamma)
        needed = self._cutoff - node.proven  # of the dual point that is changed, not the best bound of the node
        for kind, pieces in enumerate(self.pieces.of_kind):
            if len(pieces) == 1:
                continue
            for k, piece in enumerate(pieces):
                several = (node.allowed & (node.allowed - 1)) > 0
                where = np.flatnonzero((self.pieces.kind == kind) & (node.allowed >> k & 1 > 0) & several)
                if len(where):
                    rises = self._rise(where, piece, found, own[where])
                    excluded[where[rises > needed + 1e-9 * abs(self.objective)]] |= 1 << k
        if not excluded.any():
            return False
        node.allowed = node.allowed & ~excluded
        if (node.allowed == 0).any():
            node.bound = np.inf  # no piece of some point is left
            return False
        return True

    def _conjugates(self, allowed: Allowed, gamma: Array) -> Array:
        """Each point's ψ*(-γ) for the envelopes of a node."""
        found, cost = np.zeros(len(gamma)), self.pieces.cost
        for kind, bits in np.unique(np.column_stack([self.pieces.kind, allowed]), axis=0):
            where = np.flatnonzero((self.pieces.kind == kind) & (allowed == bits) & (cost > 0))
            conjugate = self.pieces.envelope(int(kind), int(bits)).conjugate()
            s = np.clip(-gamma[where] / cost[where], conjugate.lower, conjugate.upper)
            found[where] = cost[where] * conjugate(s)
        return found

    def _rise(self, where: NDArray[np.intp], piece: PLQ, found: StepSolution, own: Array) -> Array:
        """By how much the dual value rises at least if each of some points alone pays another convex loss."""
        assert self._diagonal is not None
        conjugate, cost = piece.conjugate(), self.pieces.cost[where]
        finite_ends = [end for end in (conjugate.lower, conjugate.upper) if np.isfinite(end)]
        low, high = (finite_ends[0], finite_ends[-1]) if finite_ends else (-1.0, 1.0)
        s = np.unique(np.concatenate([np.linspace(low, high, DUAL_VALUES), conjugate.breaks]))
        s = s[(s >= conjugate.lower) & (s <= conjugate.upper)]
        change = -np.outer(cost, s) - found.gamma[where][:, None]
        value = -change * found.outputs[where][:, None] - 0.5 * self._diagonal[where][:, None] * change**2
        value += own[:, None] - np.outer(cost, conjugate(s))
        return np.asarray(value.max(axis=1))

    def _solution(self) -> ExactSolution:
        assert self.best is not None
        return ExactSolution(
            formulation=self.instance.formulation,
            problem=self.instance.problem,
            point=self.best,
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
