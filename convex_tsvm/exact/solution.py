"""Exact search as one call, and what it returns."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..convex_step import ConvexStep, StepSolution
from ..formulations import Formulation
from ..losses import PLQ
from ..problem import Array, Problem
from ..relaxations.labelling import svm_of_labels
from ..solution import Solution
from ..solvers import NativeSolver
from ..validation import new_file
from .files import save_search
from .search import BranchAndBound
from .state import Progress
from .tree import Record


@dataclass(frozen=True, eq=False)
class ExactSolution(Solution):
    """The best labelling found, with a bound that no labelling is below; its step is the SVM trained on its labels.

    Attributes
    ----------
    status : {"optimal", "node_limit", "time_limit", "interrupted"}
    given_labels : array, shape (n,)
        The labelling itself; where a number of positive labels is asked for, outputs may have other signs.
    n_nodes, n_open : int
        Nodes looked at, and left open.
    svm_bound, root_bound : float
        Bounds of the labelled points' SVM, and of the root.
    root_fixed : int
        Unlabelled points whose labels were proven at the root.
    progress : tuple of Progress
    tree : tuple of Record
    """

    given_labels: Array | None = None
    n_nodes: int = 0
    n_open: int = 0
    svm_bound: float = -np.inf
    root_bound: float = -np.inf
    root_fixed: int = 0
    progress: tuple[Progress, ...] = ()
    tree: tuple[Record, ...] = ()

    @property
    def labels(self) -> Array:
        """The labelling, shape (n,)."""
        return super().labels if self.given_labels is None else self.given_labels

    @property
    def n_iter(self) -> int:
        """Number of nodes."""
        return self.n_nodes


def exact_search(
    formulation: Formulation,
    problem: Problem,
    *,
    certificate: str | os.PathLike[str] | None = None,
    **options: Any,
) -> ExactSolution:
    """The labelling with the least objective, by branch and bound (chapelle2008 §3.1).

    Parameters
    ----------
    formulation : Formulation
        With hinge or squared hinge, and the loss min(ℓ(f), ℓ(-f)) for unlabelled points.
    problem : Problem
    certificate : path, optional
        A file for what proves the bound, to be checked by :func:`~convex_tsvm.verify_certificate`.
    **options
        Of :class:`~convex_tsvm.BranchAndBound`.

    Raises
    ------
    ValueError
        If the formulation is not of that kind, or an option is not as stated.
    FileNotFoundError
        If the folder of a file is not there.
    OSError
        If a file cannot be written.

    Examples
    --------
    >>> import numpy as np, convex_tsvm as ct
    >>> X = np.array([[-2.0], [-1.8], [-0.2], [1.0], [1.5], [2.0]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], C=1, balance=None)
    >>> solution = ct.exact_search(ct.s3vm(balance=None), problem)
    >>> solution.status, solution.labels.astype(int).tolist()
    ('optimal', [-1, -1, 1, 1, 1, 1])
    """
    if certificate is not None:
        certificate = new_file("certificate", certificate)
    options.setdefault("certificate", certificate is not None or options.get("checkpoint") is not None)
    search = BranchAndBound(formulation, problem, **options).run()
    if certificate is not None:
        save_search(certificate, search)
    return solution_of(search)


def solution_of(search: BranchAndBound) -> ExactSolution:
    """The solution of a search that has run."""
    state, formulation, problem = search.state, search.model.search.formulation, search.model.search.problem
    labels = state.labels if state.labels is not None else search.incumbent.round(np.zeros(problem.n))
    objective = state.objective if state.labels is not None else search.incumbent.evaluate(labels)[0]
    return ExactSolution(
        formulation=formulation,
        problem=problem,
        step=_trained(search, labels),
        objective=objective,
        status=search.status,
        seconds=state.seconds,
        lower_bound=min(search.lower_bound, objective),
        given_labels=labels,
        n_nodes=state.n_nodes,
        n_open=len(state.open),
        svm_bound=state.svm_bound,
        root_bound=state.root_bound,
        root_fixed=state.root_fixed,
        progress=tuple(state.history),
        tree=tuple(state.records),
    )


def _trained(search: BranchAndBound, labels: Array) -> StepSolution:
    """The SVM for labels of all points."""
    formulation, problem = search.model.search.formulation, search.model.search.problem
    if formulation.balance == "targets":
        return _with_balanced_targets(search, labels)
    if search.model.search.n_positive is not None:
        formulation = replace(formulation, balance=None)
    return NativeSolver(problem, tol=1e-7, precision="double").solve(svm_of_labels(formulation, problem, labels))


def _with_balanced_targets(search: BranchAndBound, labels: Array) -> StepSolution:
    """The classifier of the targets v: ridge regression of v, with costs c."""
    model = search.model
    problem, cost, v = model.search.problem, model.search.cost, model.svm.solve(labels, tol=1e-9).outputs
    step = ConvexStep(
        problem,
        losses=(PLQ([], [[1.0, 0.0, 0.0]]),),
        kind=np.zeros(problem.n, dtype=np.intp),
        cost=cost,
        slope=-2 * cost * v,
        target=None,
        fit_intercept=False,
    )
    return NativeSolver(problem, tol=1e-7, precision="double").solve(step)
