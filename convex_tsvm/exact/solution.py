"""Exact search as one call, and what it returns."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..deadline import unlimited
from ..formulations import Formulation
from ..notice import warn
from ..problem import Array, Problem
from ..solution import Expansion, Point, Solution
from ..solvers import NativeSolver
from ..validation import InfeasibleError, new_file
from .files import save_search
from .search import BranchAndBound
from .state import Progress
from .tree import Record


@dataclass(frozen=True, eq=False, repr=False)
class ExactSolution(Solution):
    """The best labelling found, with a bound that no labelling is below; its step is the SVM trained on its labels.

    Attributes
    ----------
    status : {"optimal", "inaccurate", "node_limit", "time_limit", "interrupted"}
        As in :class:`~convex_tsvm.BranchAndBound`.
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
    >>> import numpy as np, convex_tsvm as ct
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
    InfeasibleError
        (a ValueError) If no labelling meets the balance.
    FileNotFoundError
        If the folder of a file is not there.
    OSError
        If a file cannot be written, found out before the search.  What goes wrong after it is a warning.

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
    if search.status == "infeasible":
        raise InfeasibleError(f"{search.model.instance.balance} cannot be met: no labelling of the points has it")
    if search.status == "interrupted":
        warn("interrupted: the best labels so far are returned, with a bound that holds")
    if certificate is not None:
        try:
            save_search(certificate, search)
        except OSError as error:
            warn(f"certificate={os.fspath(certificate)!r} could not be written: {error}")
    return solution_of(search)


def solution_of(search: BranchAndBound) -> ExactSolution:
    """The solution of a search that has run."""
    state, instance = search.state, search.model.instance
    labels = state.labels if state.labels is not None else search.model.rounded(np.zeros(search.model.n))
    objective = state.objective if state.labels is not None else search.incumbent.evaluate(labels)[0]
    with unlimited():
        point = _trained(search, labels)
    return ExactSolution(
        formulation=instance.formulation,
        problem=instance.problem,
        point=point,
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


def _trained(search: BranchAndBound, labels: Array) -> Point:
    """The SVM for labels of all points."""
    model = search.model
    if model.search.target_sum is None:
        return NativeSolver(model.instance.problem, tol=1e-7, precision="double").solve(model.instance.svm(labels))
    # The function of the targets v: ridge regression of v with costs c, whose coefficients solve (K + D) a = v.
    problem, gamma = model.instance.problem, model.svm.solve(labels, tol=1e-9).gamma
    a = model.svm.coefficients_of_targets(gamma)
    outputs = problem.apply_kernel(a)
    return Expansion(outputs, a, bias=0.0, regularization=0.5 * float(a @ outputs))
