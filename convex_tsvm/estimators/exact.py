"""Exact search as a scikit-learn classifier."""

from __future__ import annotations

import os
from typing import Any

from ..exact import ExactSolution, exact_search
from ..formulations import LOSSES, Formulation
from ..problem import Problem
from ..solution import Solution
from ..validation import one_of
from .labels import Labels
from .parameters import estimator, stated
from .relaxed import LabellingTransduction


@estimator
class ExactTransductiveSVC(LabellingTransduction):
    """Transductive SVM whose labels are optimal, by branch and bound (Chapelle et al. 2008, §3.1).

    For some hundred points, and as long as it takes; limits on time or nodes and Ctrl-C leave the best labels found and
    a bound that holds.

    Time grows exponentially in the worst case.  What counts is how much the classes overlap, not the number of points:
    two moons of 200 points take seconds, and as many points of heart disease more than ten minutes.

    ``balance=("exact", r)`` is the constraint on labels itself (eq. 3).

    Parameters
    ----------
    loss : {"squared_hinge", "hinge", "hard_margin", "ramp", "flat", "exp"} or Formulation
        The last three and other formulations are searched over intervals of outputs
        (:func:`~convex_tsvm.exact_search`), for some forty to eighty points.
    balance_of : {"outputs", "targets"}
        What a mean is fixed of: f, or v = f + y ξ, the outputs with their slacks (Bai and Yan 2016; squared hinge,
        ``fit_intercept=False``).
    bounds : str
        The strongest bound of a node, as in :class:`~convex_tsvm.exact.BranchAndBound`.
    branch_on : {"auto", "weights", "points"}
        What nodes are about; "weights" is for the linear kernel and few features.
    strategy : str
        Which node is next.
    branching : str
        Which point is branched on.
    gap : float >= 0
        The relative gap at which the search ends.
    max_nodes : int
        The number of nodes after which it ends.
    solver : str
        What solves semidefinite relaxations, as in :class:`~convex_tsvm.exact.BranchAndBound`.
    checkpoint : path
        The file that the search is saved to while it runs, and goes on from; for two classes.
    certificate : path
        The file that what proves the bound is written to; for two classes.
    slack : float >= 0 or None
        With a number, ``proven_`` says which labels are the same in every labelling whose objective is within this
        share of the best (:meth:`~convex_tsvm.exact.ExactSolution.proven`); for two classes, and one more search.
    n_jobs : int
        Classes learned at the same time (joblib); for two classes, so many dives into the tree.

    Attributes
    ----------
    status_ : {"converged", "inaccurate", "node_limit", "time_limit", "interrupted"}
        "converged": the gap asked for is proven.
    objective_ : float
        Of the best labels found.
    lower_bound_, gap_ : float or None
        No labels have an objective below it, and the relative gap; for two classes.
    n_iter_ : int
        Nodes.
    history_ : list of Progress
    proven_ : bool array, shape (n,)
        Whether a point's class in ``transduction_`` is proven, or given; with ``slack``.

    Examples
    --------
    >>> clf = ct.ExactTransductiveSVC(kernel="linear").fit(X, [0, -1, -1, -1, -1, 1])
    >>> clf.transduction_, bool(clf.gap_ <= 1e-6)
    (array([0, 0, 0, 1, 1, 1]), True)
    """

    loss: str | Formulation = "squared_hinge"
    s: float = -0.3
    balance: Any = "auto"
    balance_of: str = "outputs"
    fit_intercept: bool = True
    bounds: str = "auto"
    branch_on: str = "auto"
    strategy: str = "auto"
    branching: str = "auto"
    gap: float = 1e-6
    max_nodes: int | None = None
    time_limit: float | None = None
    solver: str = "auto"
    slack: float | None = None
    checkpoint: str | os.PathLike[str] | None = None
    certificate: str | os.PathLike[str] | None = None

    def _formulation(self, problem: Problem) -> Formulation:
        if not isinstance(self.loss, Formulation):
            one_of("loss", self.loss, LOSSES)
        formulation = stated(self.loss, problem, s=self.s, fit_intercept=self.fit_intercept)
        one_of("balance_of", self.balance_of, ("outputs", "targets"))
        return formulation.balancing_targets() if self.balance_of == "targets" else formulation

    def _solve(self, formulation: Formulation, problems: dict[str, Problem]) -> list[Solution]:
        if len(problems) > 1 and (self.checkpoint is not None or self.certificate is not None):
            raise ValueError(f"checkpoint and certificate are for two classes; there are {len(problems)} to learn")
        return super()._solve(formulation, problems)

    def _label(self, formulation: Formulation, name: str, problem: Problem) -> ExactSolution:
        names = ("bounds", "branch_on", "strategy", "branching", "gap", "max_nodes", "time_limit", "solver", "n_jobs")
        files = {"checkpoint": self.checkpoint, "certificate": self.certificate}
        with self._status(lambda: f"class {name}") as progress:
            tell = None if progress is None else lambda reached: progress.tell(str(reached))
            own = {name: getattr(self, name) for name in names}
            return exact_search(formulation, problem, **own, **files, callback=tell)

    def _store(self, labels: Labels, solutions: list[Solution]) -> None:
        super()._store(labels, solutions)
        if len(labels.classes) == 2 and isinstance(solutions[0], ExactSolution):
            self.history_: Any = list(solutions[0].progress)
            if self.slack is not None:
                proven = solutions[0].proven(self.slack, time_limit=self.time_limit, n_jobs=self.n_jobs)
                self.proven_ = proven.labels != 0
