"""The state of a search: what is reported of it, and what a checkpoint stores so that it can go on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..solution import relative_gap
from .tree import Node, Record


@dataclass(frozen=True)
class Progress:
    """Where a search is.

    Attributes
    ----------
    n_nodes, n_open : int
        Nodes looked at, and still to be looked at.
    lower_bound, objective : float
    seconds : float
    """

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
    """A search that can be stopped and taken up again: the tree, what is open, and what is known.

    Attributes
    ----------
    settled, strong : bool
        Whether the choice of bounds is made, and whether it is more than those that are always asked for.
    unfinished : bool
        Whether the root's bounds were still rising when a limit stopped them; what is below it has not been looked at.
    n_searches : int
        How often better labels were looked for.
    n_first : int
        SVMs solved to find first labels.
    n_nodes : int
        Nodes examined in all, those before a new start with stronger bounds included.
    svm_bound, root_bound : float
        Bounds of the labelled points' SVM, where labels are searched for, and of the root.
    root_fixed : int
        Unlabelled points whose labels were proven at the root.
    """

    records: list[Record] = field(default_factory=list)
    open: list[Node] = field(default_factory=list)
    multipliers: list[Any] = field(default_factory=list)
    objective: float = np.inf
    settled: bool = False
    strong: bool = False
    unfinished: bool = False
    n_searches: int = 0
    n_first: int = 0
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
