"""Some nodes below an open one, depth first: the unit of work that parallel jobs share out."""

from __future__ import annotations

from dataclasses import dataclass

from ..deadline import time_is_up, until
from ..problem import Array
from ..relaxations import LowerBoundBuilder
from ..relaxations.output_space.convexified import Multipliers
from ..relaxations.relaxation import Rules
from .examine import Examiner
from .incumbent import Incumbent
from .tree import Node, Record


@dataclass(eq=False)
class Dive:
    """What came of a dive: records and nodes left open (parents counted from the first record, but for that one's own),
    multipliers made, and the incumbent after it.
    """

    records: list[Record]
    left: list[Node]
    multipliers: list[Multipliers]
    objective: float
    labels: Array | None
    gamma: Array | None
    interrupted: bool = False


def dive(
    builder: LowerBoundBuilder,
    rules: Rules,
    branching: str,
    incumbent: Incumbent,
    node: Node,
    strong: bool,
    n_nodes: int,
    deadline: float,
) -> Dive:
    """Look at up to ``n_nodes`` nodes from one on, depth first."""
    with until(deadline):
        return _dive(Examiner(builder, rules, branching, incumbent), node, strong, n_nodes)


def _dive(examiner: Examiner, node: Node, strong: bool, n_nodes: int) -> Dive:
    model, incumbent = examiner.builder.model, examiner.incumbent
    n_before = len(model.multipliers)
    records: list[Record] = []
    stack, interrupted = [node], False
    # A relaxation takes as long as many nodes: with one, the dive has had its share.
    while stack and len(records) < n_nodes and len(model.multipliers) == n_before:
        if records and time_is_up():
            break
        try:
            seen = examiner.examine(stack[-1], strong=strong)
        except KeyboardInterrupt:
            interrupted = True
            break
        stack.pop()
        for child in reversed(seen.children):
            child.parent = len(records)
            stack.append(child)
        records.append(seen.record)
    best = (incumbent.objective, incumbent.labels, incumbent.gamma)
    return Dive(records, stack, model.multipliers[n_before:], *best, interrupted)
