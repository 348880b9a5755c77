"""Dives: an open node and some nodes below it are examined depth first, as one unit of work of parallel jobs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..deadline import time_is_up, until
from ..relaxations import LowerBoundBuilder
from ..relaxations.region import Rules, Work
from .branching import Rule, choice
from .tree import Node, Record


@dataclass(eq=False)
class Dive:
    """The result of a dive; parents are numbers of its own records, but for that of the node where it began."""

    records: list[Record]
    left: list[Node]
    multipliers: list[Any]
    best: tuple[Any, ...]
    interrupted: bool = False


@dataclass(eq=False)
class Examiner:
    """Examines nodes with the bounds, rules, branching rule and incumbent of a search."""

    builder: LowerBoundBuilder
    rules: Rules
    choose: Rule
    incumbent: Any
    is_enough: Callable[[Any], bool] | None = None  # whether a box may be left as it is, whatever its bound is

    def conclude(self, node: Node, work: Work) -> tuple[Record, list[Node]]:
        """The node's record, from what was proven of it, and its halves, the likelier one first, if it is open."""
        enough = self.is_enough is not None and work.open and self.is_enough(work.box)
        chosen = choice(self.choose, work) if work.open and not enough else None
        if work.open and chosen is None and not enough:
            self.builder.finish(work)
        variable, place = (-1, 0.0) if chosen is None else chosen
        record = Record(node.parent, node.sign, variable, work.bound, work.proofs, place)
        if chosen is None:
            return record, []
        boxes, likely = work.model.halves(work.box, variable, place), 1 if work.outputs[variable] >= place else -1
        halves = [(work.region_left(boxes[sign > 0], node.depth + 1), sign) for sign in (likely, -likely)]
        return record, [
            Node(**vars(left) | {"unfinished": False, "progress": None}, sign=sign) for left, sign in halves
        ]

    def dive(self, node: Node, strong: bool, n_nodes: int, deadline: float, turn: int) -> Dive:
        """Examine a node and nodes below it, up to ``n_nodes`` in all, depth first, until the deadline.

        ``strong`` allows more than what closes nodes, and ``turn`` says how many nodes were looked at before.
        """
        model = self.builder.model
        n_before = len(model.multipliers)
        records: list[Record] = []
        stack, interrupted = [node], False
        with until(deadline):
            # A dive ends with the first multipliers made in it, which take as long as many other nodes.
            while stack and len(records) < n_nodes and len(model.multipliers) == n_before:
                if records and time_is_up():
                    break
                now = turn + len(records)
                try:
                    if self.is_enough is not None and self.is_enough(stack[-1].box):
                        work = Work(model, stack[-1], self.incumbent, self.rules)
                    else:
                        work = self.builder.examine(stack[-1], self.incumbent, self.rules, strong=strong, turn=now)
                    record, children = self.conclude(stack[-1], work)
                except KeyboardInterrupt:
                    interrupted = True
                    break
                stack.pop()
                for child in reversed(children):
                    child.parent = len(records)
                    stack.append(child)
                records.append(record)
        return Dive(records, stack, model.multipliers[n_before:], self.incumbent.best, interrupted)
