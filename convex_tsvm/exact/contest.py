"""The root with strong bounds beside the tree with cheap ones: both get shares of the time, until one is done."""

from __future__ import annotations

import time

import numpy as np

from ..deadline import until
from ..relaxations import LowerBoundBuilder
from ..relaxations.proofs import Proof
from ..relaxations.relaxation import Rules, Work
from .incumbent import Incumbent
from .tree import Node, Record

#: Seconds that the tree has for itself at least, for every point without a label, too, as the first slice of the root's
#: takes as long; and the least ones of a slice.
HEAD_START, HEAD_START_A_POINT, SLICE = 1.0, 0.01, 1.0

#: The least time of the tree, relative to the root's: once its gap to the incumbent is so many times that of the root.
TREE_SHARE = 0.1

#: A slice of the root's is this share of the time that it has had, if that is more.
SLICE_SHARE = 0.25


class Contest:
    """The root of a search, examined in slices of time.

    Parameters
    ----------
    builder : LowerBoundBuilder
    rules : Rules
    incumbent : Incumbent
    head_start : float
        Seconds that the tree has before the first slice.

    Attributes
    ----------
    root_seconds, tree_seconds : float
        What either has had.
    work : Work or None
        What is proven of the root.
    n_before : int
        Number of multipliers that there were before it.
    """

    def __init__(self, builder: LowerBoundBuilder, rules: Rules, incumbent: Incumbent, head_start: float) -> None:
        self.builder, self.rules, self.incumbent = builder, rules, incumbent
        self.root = Node(builder.model.root())
        self.head_start = max(head_start, HEAD_START, HEAD_START_A_POINT * len(self.root.box.unknown))
        self.work: Work | None = None
        self.root_seconds = self.tree_seconds = 0.0
        self.n_before, self._proven = 0, list[tuple[Proof, float]]()

    def resume(self, record: Record, child: Node) -> None:
        """Go on from the root's record in a checkpoint, before anything below it is looked at.

        Parameters
        ----------
        record : Record
        child : Node
            One of its halves, which has the root's multipliers.
        """
        box = self.root.box
        for proof, cutoff in record.proofs:
            box = proof.apply(self.builder.model, box, cutoff)[1]
        self.root = Node(
            box=box, bound=record.bound, gamma=child.gamma, v=child.v, number=child.number, since=child.since,
            base=child.base, unfinished=True,
        )  # fmt: skip
        self.n_before, self._proven = len(self.builder.model.multipliers), record.proofs
        self.head_start = -np.inf  # it goes on alone

    def root_is_next(self, bound: float) -> bool:
        """Whether the root has had less than its share of the time.

        Parameters
        ----------
        bound : float
            Of the tree.
        """
        share, cutoff = 1.0, self.rules.cutoff(self.incumbent.objective)
        if self.work is not None and np.isfinite(cutoff):
            # The tree's gap falls the more slowly the smaller it is: it gets less time while it is far behind.
            ahead = (cutoff - self.work.bound) / max(cutoff - bound, 1e-300)
            share = float(np.clip(ahead, TREE_SHARE, 1.0)) if np.isfinite(ahead) else 1.0
        return self.tree_seconds >= self.head_start + share * self.root_seconds

    @property
    def is_decided(self) -> bool:
        """Whether the root is closed, or there is nothing more to prove of it."""
        return self.work is not None and not (self.work.open and self.work.unfinished)

    def advance(self, deadline: float) -> None:
        """One slice of the root, a round of its relaxation at least.

        Parameters
        ----------
        deadline : float
            Time of the clock at which to stop, in seconds.
        """
        began, before = time.perf_counter(), self.work
        region = self.root if before is None else before.region_left()
        region.pause_at = time.time() + max(SLICE, SLICE_SHARE * self.root_seconds)
        with until(deadline):
            work = self.builder.examine(region, self.incumbent, self.rules, strong=True)
        work.proofs = [*(self._proven if before is None else before.proofs), *work.proofs]
        self.work = work
        self.root_seconds += time.perf_counter() - began
