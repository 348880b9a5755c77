"""One node: bounds from the cheapest to the strongest until it is closed, then a branching."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..deadline import time_is_up, time_left
from ..problem import Array
from ..relaxations.output_space.convexified import Multipliers
from ..relaxations.output_space.cuts import Cuts
from ..relaxations.output_space.tightening import RELAXATIONS, SHARES, Stall, Tightening
from .branching import LEVELS, Candidates, rule
from .incumbent import Incumbent
from .model import SearchModel
from .proofs import DirectionsProof, Proof
from .tree import Node, Record

#: Rounds of cuts at the root, at most.
ROUNDS = 30


@dataclass(frozen=True)
class Options:
    """How nodes are treated.

    Attributes
    ----------
    bounds : {"svm", "sdp", "box", "rlt", "triangles"}
        The strongest bound.
    branching : str
    gap : float
        Relative gap at which a node is closed.
    refresh : int, "auto" or None
        Levels below which the multipliers of an ancestor are replaced by a node's own.
    solver : str
        Of SDPs.
    keep_proofs : bool
    """

    bounds: str = "triangles"
    branching: str = "auto"
    gap: float = 1e-6
    refresh: int | str | None = "auto"
    solver: str = "auto"
    keep_proofs: bool = True

    def cutoff(self, objective: float) -> float:
        """What a node must reach to be closed, at an objective that is known to be reached.

        It is nearer to the objective than ``gap`` by a hundred millionth part, so that rounding does not leave the gap
        that is reported above the one that was asked for.
        """
        return objective - self.gap * (1 - 1e-8) * abs(objective) if np.isfinite(objective) else np.inf


@dataclass(eq=False)
class Examined:
    """What came of a node: its record, and its halves if it is still open."""

    record: Record
    children: list[Node] = field(default_factory=list)


class Examiner:
    """Looks at nodes.

    Parameters
    ----------
    model : SearchModel
    options : Options
    incumbent : Incumbent
    """

    def __init__(self, model: SearchModel, options: Options, incumbent: Incumbent) -> None:
        self.model, self.options, self.incumbent = model, options, incumbent
        self.level = RELAXATIONS.index(options.bounds)
        self.choose = rule(options.branching)

    @property
    def cutoff(self) -> float:
        """What a node must reach to be closed."""
        return self.options.cutoff(self.incumbent.objective)

    def examine(self, node: Node, *, strong: bool) -> Examined:
        """Close a node or branch; ``strong`` allows more than the SVM's bound."""
        return _Visit(self, node).run(strong)


class _Visit:
    """One node on its way."""

    def __init__(self, examiner: Examiner, node: Node) -> None:
        self.examiner, self.model, self.node = examiner, examiner.model, node
        self.box, self.bound = node.box, node.bound
        self.gamma, self.v = node.gamma, node.v
        self.number, self.since, self.base = node.number, node.since, node.base
        self.proofs: list[tuple[Proof, float]] = []
        self.outputs: Array = np.zeros(self.model.n)
        self.rates: Callable[[], Array]
        self.correlation: Array | None = None

    def run(self, strong: bool) -> Examined:
        """Bounds one after the other."""
        self.svm()
        if self.open and strong:
            level = self.examiner.level
            if self.model.has_quadratic and level >= RELAXATIONS.index("box"):
                self.quadratic()
            elif self.model.has_matrix and level >= RELAXATIONS.index("sdp"):
                self.matrix()
            if self.open and len(self.box.unknown) == 0:
                self.svm()
        children = self.branch() if self.open and len(self.box.unknown) else []
        variable = self.variable if children else -1
        record = Record(self.node.parent, self.node.sign, variable, self.bound, self.proofs)
        return Examined(record, children)

    @property
    def open(self) -> bool:
        """Whether a better solution may be in the box."""
        return not self.box.is_empty and self.bound < self.examiner.cutoff

    def prove(self, proof: Proof) -> bool:
        """Take what a proof gives; whether it settles a label or closes the node."""
        cutoff = self.examiner.cutoff
        bound, box = proof.apply(self.model, self.box, cutoff)
        n_before = len(self.box.unknown)
        narrower = (box.low > self.box.low + 1e-9).any() or (box.high < self.box.high - 1e-9).any()
        if bound <= self.bound and not narrower:
            return False
        if self.examiner.options.keep_proofs:
            self.proofs.append((proof, cutoff))
        self.bound, self.box = max(self.bound, bound), box
        if box.is_empty:
            self.bound = max(self.bound, cutoff)
        return not self.open or len(box.unknown) < n_before

    def svm(self) -> None:
        """The SVM of the labels known, again as long as it settles labels."""
        while True:
            proof, point = self.model.prove_by_svm(self.box, self.gamma)
            self.gamma, self.outputs = point.gamma, point.outputs + point.bias
            if len(self.box.unknown) == 0:
                self.examiner.incumbent.offer(self.box.labels)
            settled = self.prove(proof)
            if not (settled and self.open) or time_is_up():
                break
        if self.open:
            self.rates = lambda: self.model.svm.rates(point.gamma, self.box.unknown)
            self.offer(self.outputs)

    def offer(self, scores: Array) -> None:
        """Round a relaxation's point now and then: it costs more than a bound."""
        if self.node.depth % 4 == 0:
            self.examiner.incumbent.offer(np.where(self.box.labels != 0, self.box.labels, scores))

    def quadratic(self) -> None:
        """Convex quadratics of multipliers that are there, then of multipliers made for this node."""
        if not self.box.is_bounded:
            return
        if self.number >= 0:
            self.reuse()
        if self.open and self.is_stale() and not time_is_up():
            self.relax()

    def is_stale(self) -> bool:
        """Whether the multipliers are to be replaced by ones for this node."""
        refresh, levels = self.examiner.options.refresh, self.node.depth - self.since
        if self.number < 0:
            return True
        if levels == 0 or refresh is None:
            return False
        if isinstance(refresh, int):
            return levels >= refresh
        # With them a node costs next to nothing, but below this one there may be too many.
        gained, lacking = (self.bound - self.base) / levels, self.examiner.cutoff - self.bound
        return lacking > LEVELS * gained

    def reuse(self) -> None:
        """Multipliers of an ancestor."""
        for _ in range(20):
            proof = self.model.prove_by_quadratic(self.box, self.number, 1.0, self.v)
            v = proof.v.astype(float)
            settled = self.prove(proof)
            if not (settled and self.open) or time_is_up():
                break
        self.v = v
        if self.open:
            quadratic = self.model.convexified(self.number, 1.0)
            self.rates = lambda: quadratic.rates(self.box.low, self.box.high, v, self.box.unknown)
            self.outputs = v
            self.offer(v)

    def relax(self) -> None:
        """The SDP relaxation in this box; at the root with rounds of cuts."""
        options, model, incumbent = self.examiner.options, self.model, self.examiner.incumbent
        at_root = self.number < 0
        if at_root:
            self.directions()
        tightening = Tightening(
            model.space,
            solver=options.solver,
            cuts_per_round=model.n if at_root else model.n // 2,
            relaxation=options.bounds,
        )
        cuts = Cuts.none() if at_root else model.multipliers[self.number].cuts
        stall, last = Stall(self.box.low, self.box.high, self.bound), 0.0
        for _ in range(ROUNDS if at_root else 1):
            began = time.time()
            # A round is not begun that would end after the deadline.
            if not self.open or last > time_left() or time_is_up():
                break
            turn = tightening.relax(self.box.low, self.box.high, cuts, self.examiner.cutoff)
            last = time.time() - began
            if turn.status == "failed":
                break
            cuts = turn.kept
            if not time_is_up():
                cuts = cuts.join(tightening.fresh(turn.X, self.box.low, self.box.high))
            self.take(turn.multipliers.carried(cuts), turn.scores)
            self.since, self.base, self.correlation = self.node.depth, self.bound, turn.correlation()
            incumbent.offer(np.where(self.box.labels != 0, self.box.labels, turn.scores), thorough=at_root)
            if not self.open or stall.after(self.bound, self.box.low, self.box.high, self.examiner.cutoff):
                break

    def take(self, multipliers: Multipliers, scores: Array) -> None:
        """What new multipliers, and shares of them, prove."""
        number = self.model.add(multipliers)
        self.number = number
        v: Array | None = np.clip(scores, self.box.low, self.box.high)
        for share in SHARES:
            proof = self.model.prove_by_quadratic(self.box, number, share, v)
            v = proof.v.astype(float)
            if share == 1:
                self.v = v
            self.prove(proof)
            if not self.open or time_is_up():
                return
        # The box may be smaller now, and with it the quadratic larger.
        self.reuse()

    def directions(self) -> None:
        """Ends of all outputs by the SVM, as long as that settles labels."""
        if self.model.svm.free_bias:
            return
        while self.open and not time_is_up():
            y = self.box.labels
            point = self.model.svm.solve(y, self.gamma)
            settled = self.prove(DirectionsProof(self.model.svm.directions(y, point, self.examiner.cutoff)))
            if not (settled and self.open):
                return
            self.svm()

    def matrix(self) -> None:
        """The relaxation in Γ, for the hinge."""
        if len(self.box.unknown) < 5 or time_is_up():
            return
        proof, scores = self.model.prove_by_matrix(self.box)
        self.prove(proof)
        if self.open:
            self.outputs = scores
            self.offer(scores)

    def branch(self) -> list[Node]:
        """The two halves, the likelier label first."""
        unknown = self.box.unknown
        self.variable = self.examiner.choose(
            Candidates(unknown, self.outputs, self.rates, self.examiner.cutoff - self.bound, self.correlation)
        )
        likely = 1 if self.outputs[self.variable] >= 0 else -1
        children = []
        for sign in (likely, -likely):
            box = self.model.count(self.box.with_label(self.variable, sign))
            child = Node(
                box=box,
                depth=self.node.depth + 1,
                bound=self.bound,
                sign=sign,
                gamma=self.gamma,
                v=self.v,
                number=self.number,
                since=self.since,
                base=self.base,
            )
            children.append(child)
        return children
