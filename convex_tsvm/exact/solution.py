"""What an exact search returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..solution import Solution
from .state import Progress
from .tree import Record


@dataclass(frozen=True, eq=False, repr=False)
class ExactSolution(Solution):
    """The best solution found, with a bound that none is below; its step is the SVM trained on its labels.

    Of a search over intervals it is a step of the concave-convex procedure, or a convex problem in a box.

    Attributes
    ----------
    status : {"optimal", "inaccurate", "node_limit", "time_limit", "interrupted"}
        As in :class:`~convex_tsvm.exact.BranchAndBound`.
    n_nodes, n_open : int
        Nodes looked at, and left open.
    svm_bound, root_bound : float
        Bounds of the labelled points' SVM, and of the root.
    root_fixed : int
        Unlabelled points whose labels were proven at the root.
    progress : tuple of Progress
    tree : tuple of Record

    Examples
    --------
    >>> X = np.array([[-2.0], [-1.8], [-0.2], [1.0], [1.5], [2.0]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], balance=None)
    >>> solution = ct.exact_search(ct.s3vm(balance=None), problem, gap=1e-6)
    >>> solution
    ExactSolution(objective=0.4695122, status='optimal', n_iter=3, n=6)
    >>> solution.n_open, solution.gap <= 1e-6
    (0, True)
    """

    n_nodes: int = 0
    n_open: int = 0
    svm_bound: float = -np.inf
    root_bound: float = -np.inf
    root_fixed: int = 0
    progress: tuple[Progress, ...] = ()
    tree: tuple[Record, ...] = ()

    def __str__(self) -> str:
        nodes = f"{self.n_nodes} nodes, {self.n_open} left open; {self.root_fixed} labels proven at the root"
        return f"{super().__str__()}\n{nodes}"

    @property
    def n_iter(self) -> int:
        """Number of nodes."""
        return self.n_nodes
