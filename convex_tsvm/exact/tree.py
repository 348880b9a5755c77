"""The search tree as it is kept: nodes, what is proven at them, and which are still open."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ..relaxations.proof import Proof
from ..relaxations.region import Region


def claimed(bounds: Iterable[float], objective: float) -> float:
    """What is claimed of open nodes with these bounds; infinite if there is none."""
    least = min(bounds, default=np.inf)
    size = max(abs(least), abs(objective) if np.isfinite(objective) else 0.0)
    # Of the bounds of nodes that are still open this share of the objective is not claimed: the rigorous check of a
    # certificate, whose rounding is directed, proves some 10⁻⁹ of it less than the search, and a claim to the last
    # digit would be refused.
    return float(least - 1e-7 * size) if np.isfinite(least) else float(least)


@dataclass(eq=False)
class Node(Region):
    """A region with its place in the tree.

    ``parent`` is the number of the record that was branched, -1 at the root, and ``sign`` is -1 in its lower half and
    +1 in its upper one: the label that the point has here, in a search for labels.
    """

    parent: int = -1
    sign: int = 0


@dataclass(eq=False)
class Record:
    """What is kept of a node that has been examined; parent and sign are those of the :class:`Node`.

    ``variable`` is the output that is branched on here, -1 if the node is closed, and ``place`` where it is split; each
    of the proofs comes with the cutoff that it was made for.
    """

    parent: int
    sign: int
    variable: int
    bound: float
    proofs: list[tuple[Proof, float]] = field(default_factory=list)
    place: float = 0.0


class OpenNodes:
    """Open nodes in the order in which they are to be examined.

    If ``depth_first`` the last one pushed comes first, otherwise the one with the least bound.
    """

    def __init__(self, depth_first: bool) -> None:
        self.depth_first = depth_first
        self._heap: list[tuple[tuple[float, float], int, Node]] = []
        self._count = 0

    def push(self, node: Node) -> None:
        """Add a node."""
        self._count += 1
        key = (-float(self._count), 0.0) if self.depth_first else (node.bound, -float(node.depth))
        heapq.heappush(self._heap, (key, self._count, node))

    def first(self, count: int) -> list[Node]:
        """The next ``count`` nodes, which are not removed."""
        if count == 1:
            return [entry[2] for entry in self._heap[:1]]
        return [entry[2] for entry in heapq.nsmallest(count, self._heap, key=lambda entry: entry[:2])]

    def pop(self) -> Node:
        """Remove and return the next node."""
        return heapq.heappop(self._heap)[2]

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def bound(self) -> float:
        """The least bound of all open nodes; infinite if there are none."""
        if self._heap and not self.depth_first:
            return self._heap[0][2].bound
        return min((entry[2].bound for entry in self._heap), default=np.inf)

    def all(self) -> list[Node]:
        """All open nodes, in the order in which they would be popped."""
        return [entry[2] for entry in sorted(self._heap, key=lambda entry: entry[:2])]
