"""Examining one node: bounds that may close it, and otherwise a point to branch on."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..relaxations import LowerBoundBuilder
from ..relaxations.relaxation import Rules, Work
from .branching import Candidates, rule
from .incumbent import Incumbent
from .tree import Node, Record


@dataclass(eq=False)
class Examined:
    """The result of examining a node: its record, and its two halves if it is still open."""

    record: Record
    children: list[Node] = field(default_factory=list)


class Examiner:
    """Examines nodes with the bounds, rules, branching rule and incumbent of a search."""

    def __init__(self, builder: LowerBoundBuilder, rules: Rules, branching: str, incumbent: Incumbent) -> None:
        self.builder, self.rules, self.incumbent = builder, rules, incumbent
        self.choose = rule(branching)

    def examine(self, node: Node, *, strong: bool) -> Examined:
        """Close a node or branch; ``strong`` allows more than the SVM's bound."""
        return self.conclude(node, self.builder.examine(node, self.incumbent, self.rules, strong=strong))

    def conclude(self, node: Node, work: Work) -> Examined:
        """The node's record, from what was proven of it, and its halves if it is open."""
        variable, children = -1, list[Node]()
        if work.open and len(work.box.unknown):
            variable, children = self.branch(node, work)
        return Examined(Record(node.parent, node.sign, variable, work.bound, work.proofs), children)

    def branch(self, node: Node, work: Work) -> tuple[int, list[Node]]:
        """The point that is branched on, and the two halves, the likelier label first."""
        leaning, lacking = work.outputs if work.signs is None else work.signs, work.cutoff - work.bound
        variable = self.choose(
            Candidates(work.box.unknown, leaning, work.rates, lacking, work.correlation, work.halves)
        )
        likely = 1 if work.outputs[variable] >= 0 else -1
        children = [
            Node(
                box=work.model.count(work.box.with_label(variable, sign)),
                depth=node.depth + 1,
                bound=work.bound,
                gamma=work.gamma,
                v=work.v,
                number=work.number,
                since=work.since,
                base=work.base,
                factor=work.factor,
                sign=sign,
            )
            for sign in (likely, -likely)
        ]
        return variable, children
