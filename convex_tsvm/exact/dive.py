"""Dives: an open node and some nodes below it are examined depth first, as one unit of work of parallel jobs."""

from __future__ import annotations

from dataclasses import dataclass

from ..deadline import time_is_up, until
from ..problem import Array
from ..relaxations import LowerBoundBuilder
from ..relaxations.relaxation import Rules
from ..relaxations.signs.quadratic import SignMultipliers
from .examine import Examiner
from .incumbent import Incumbent
from .tree import Node, Record


@dataclass(eq=False)
class Dive:
    """The result of a dive: its records, the nodes left open, the multipliers made, and the incumbent after it.

    Parents are numbers of the dive's own records, except that of the node where it began.
    """

    records: list[Record]
    left: list[Node]
    multipliers: list[SignMultipliers | None]
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
    """Examine a node and nodes below it, up to ``n_nodes`` in all, depth first, until the deadline."""
    with until(deadline):
        return _dive(Examiner(builder, rules, branching, incumbent), node, strong, n_nodes)


def _dive(examiner: Examiner, node: Node, strong: bool, n_nodes: int) -> Dive:
    model, incumbent = examiner.builder.model, examiner.incumbent
    n_before = len(model.multipliers)
    records: list[Record] = []
    stack, interrupted = [node], False
    # A dive ends with the first relaxation made in it, which takes as long as many other nodes.
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
