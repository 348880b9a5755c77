"""The search as it is kept: its tree, what is proven at nodes, which are still open, and what a file has of it."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..relaxations.proof import Proof
from ..relaxations.region import Region
from ..solution import relative_gap


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
    """A region with the number of the record that was branched, of which it is the lower (-1) or upper half (+1)."""

    parent: int = -1
    sign: int = 0


@dataclass(eq=False)
class Record:
    """What is kept of a node that has been examined; a proof has the cutoff that it was made for."""

    parent: int
    sign: int
    variable: int
    bound: float
    proofs: list[tuple[Proof, float]] = field(default_factory=list)
    place: float = 0.0


class OpenNodes:
    """Open nodes: the last one pushed comes first if ``depth_first``, otherwise the one with the least bound."""

    def __init__(self, depth_first: bool) -> None:
        self.depth_first = depth_first
        self._heap: list[tuple[tuple[float, float], int, Node]] = []
        self._count = 0

    def push(self, node: Node) -> None:
        self._count += 1
        key = (-float(self._count), 0.0) if self.depth_first else (node.bound, -float(node.depth))
        heapq.heappush(self._heap, (key, self._count, node))

    def first(self, count: int) -> list[Node]:
        """The next ``count`` nodes, which are not removed."""
        if count == 1:
            return [entry[2] for entry in self._heap[:1]]
        return [entry[2] for entry in heapq.nsmallest(count, self._heap, key=lambda entry: entry[:2])]

    def pop(self) -> Node:
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


@dataclass(frozen=True)
class Progress:
    """Where a search is: nodes looked at and still open, what no solution is below, the best one, and seconds."""

    n_nodes: int
    n_open: int
    lower_bound: float
    objective: float
    seconds: float

    @property
    def gap(self) -> float:
        """(objective - lower bound) / objective."""
        return relative_gap(self.objective, self.lower_bound)

    def __str__(self) -> str:
        return (
            f"{self.n_nodes} nodes, {self.n_open} open, objective {self.objective:.6g}, "
            f"lower bound {self.lower_bound:.6g}, gap {self.gap:.2%}"
        )


@dataclass(eq=False)
class State:
    """A search that can be stopped and taken up again: the tree, what is open, and what is known."""

    records: list[Record] = field(default_factory=list)
    open: list[Node] = field(default_factory=list)
    multipliers: list[Any] = field(default_factory=list)
    objective: float = np.inf
    settled: bool = False  # whether the choice of bounds is made
    strong: bool = False  # whether it is more than those that are always asked for
    unfinished: bool = False  # whether the root's were still rising when a limit stopped them
    n_searches: int = 0  # for better labels
    n_first: int = 0  # SVMs solved to find first ones
    n_nodes: int = 0
    seconds: float = 0.0
    svm_bound: float = -np.inf
    root_bound: float = -np.inf
    root_fixed: int = 0
    history: list[Progress] = field(default_factory=list)

    #: Names of what a file has of it as plain numbers.
    NUMBERS = (
        "objective", "settled", "strong", "unfinished", "n_searches", "n_first", "n_nodes", "seconds", "svm_bound",
        "root_bound", "root_fixed",
    )  # fmt: skip

    @property
    def is_decided(self) -> bool:
        """Whether the choice of bounds is made, and the root's are not to rise further before it is branched."""
        return self.settled and not self.unfinished
