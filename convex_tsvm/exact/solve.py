"""Exact search as one call: over labels, over intervals of outputs, or over boxes of weights and bias."""

import itertools
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..deadline import unlimited
from ..formulations import Formulation
from ..notice import warn
from ..problem import Array, Problem
from ..relaxations import LabelModel
from ..relaxations.box import LabelBox
from ..solution import Solution
from ..validation import InfeasibleError, new_file
from .files import save_search
from .prove import prove_certificate
from .proven import ProvenLabels, proven_labels
from .search import BranchAndBound
from .tree import Progress, Record


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

    Examples
    --------
    >>> solution = ct.exact_search(ct.s3vm(), problem)
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

    def proven(
        self, slack: float = 0.01, *, certificate: str | os.PathLike[str] | None = None, **options: Any
    ) -> ProvenLabels:
        """Which labels are the same in every labelling whose objective is within a share of this one's.

        Parameters
        ----------
        slack : float >= 0
            The share; 0 asks whether other labels are as good.
        certificate : path, optional
            A file for what proves each of them, and for the witnesses of the others.
        **options
            ``bounds``, ``max_nodes``, ``time_limit``, ``n_jobs`` and ``callback`` of
            :class:`~convex_tsvm.exact.BranchAndBound`.

        Raises
        ------
        ValueError
            If the formulation's search is not one for labels, or an argument is not as stated.
        """
        return proven_labels(self, slack, certificate, **options)


def exact_search(
    formulation: Formulation,
    problem: Problem,
    *,
    certificate: str | os.PathLike[str] | None = None,
    **options: Any,
) -> ExactSolution:
    """The solution with the least objective, by branch and bound (chapelle2008 §3.1).

    Where unlabelled points pay min(ℓ(f), ℓ(-f)) of the hinge, the squared hinge or a hard margin, and there are no
    constraints but a balance, it is a search over labels. For any other piecewise linear-quadratic losses, such as the
    ramp of :func:`~convex_tsvm.cccp_tsvm` and the compact margin machine, also of labelled points and with constraints
    on outputs, it is a search over intervals of outputs: each node's bound is the convex problem with the convex
    envelopes of the losses on their intervals (:meth:`~convex_tsvm.losses.PLQ.envelope`), to which the regularizer
    lends curvature. In place of exp(-s t²) it is over a PLQ function that is below it by a share of ``gap`` at most.
    With the linear kernel or a polynomial, and few features, both may instead be a search over boxes of the weights and
    the bias, whose nodes cost no more than the points undecided in them (``branch_on``): for a hundred thousand points.

    Parameters
    ----------
    problem : Problem
        For a search over intervals its balance is a mean output or None.
    certificate : path, optional
        A file for what proves the bound; not for exp(-s t²).  It is checked as soon as it is
        written (:func:`~convex_tsvm.prove_certificate`): if it is refused, a warning says why, and the status is
        "inaccurate" in place of "optimal".
    **options
        Of :class:`~convex_tsvm.exact.BranchAndBound`.

    Raises
    ------
    ValueError
        If the formulation is not of that kind, or an option is not as stated.
    InfeasibleError
        (a ValueError) If no labelling meets the balance, none has a hard margin, or no outputs meet the constraints.
    FileNotFoundError
        If the folder of a file is not there.
    OSError
        If a file cannot be written, found out before the search.  What goes wrong after it is a warning.

    Examples
    --------
    >>> solution = ct.exact_search(ct.s3vm(), problem)
    >>> solution.status, solution.labels.astype(int).tolist()
    ('optimal', [-1, -1, -1, 1, 1, 1])
    """
    if certificate is not None:
        certificate = new_file("certificate", certificate)
    options.setdefault("certificate", certificate is not None or options.get("checkpoint") is not None)
    search = BranchAndBound(formulation, problem, **options)
    if certificate is not None:
        search.check_file("certificate")
    search.run()
    if search.status == "infeasible":
        if search.model.svm.hard:
            raise InfeasibleError("no labelling of the points has a hard margin under these constraints; use a loss")
        raise InfeasibleError(f"{search.model.instance.balance} cannot be met: no labelling of the points has it")
    solution = solution_of(search)
    if search.status == "interrupted":
        warn("interrupted: the best solution so far is returned, with a bound that holds")
    return solution if certificate is None else _certified(solution, certificate, search)


def _certified(solution: ExactSolution, path: Path, search: BranchAndBound) -> ExactSolution:
    """Write a certificate and have it checked: "optimal" is no status of what the checker refuses."""
    name = f"certificate={os.fspath(path)!r}"
    try:
        save_search(path, search)
        verdict = prove_certificate(path)
    except OSError as error:
        warn(f"{name} could not be written: {error}")
    except ImportError as error:
        warn(f"{name} was written, but not checked: {error}")
    except KeyboardInterrupt:
        warn(f"{name} was written, but not checked: interrupted")
    else:
        if not verdict.holds:
            why = "; ".join(str(verdict).removeprefix("NOT PROVEN: ").splitlines())  # with the kinds passed over
            warn(f"{name} was written, but does not prove its claim: {why}")
            if solution.status == "optimal":
                return replace(solution, status="inaccurate")
    return solution


def solution_of(search: BranchAndBound) -> ExactSolution:
    """The solution of a search that has run."""
    state, instance = search.state, search.model.instance
    with unlimited():
        point, labels, objective = search.incumbent.solution(stopped=search.status in ("time_limit", "interrupted"))
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
        svm_bound=state.svm_bound if search.builder.is_about_labels else state.root_bound,
        root_bound=state.root_bound,
        root_fixed=state.root_fixed,
        progress=tuple(state.history),
        tree=tuple(state.records),
    )


def brute_force(formulation: Formulation, problem: Problem) -> tuple[float, Array]:
    """The least objective over all labellings, and the labelling that has it.

    Parameters
    ----------
    formulation, problem
        As for :class:`~convex_tsvm.exact.BranchAndBound`, with up to 20 unlabelled points.

    Raises
    ------
    ValueError
        If there are more.

    Examples
    --------
    >>> objective, labels = ct.brute_force(ct.s3vm(), problem)
    >>> labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    model = LabelModel(formulation, problem)
    svm = model.svm
    unknown = model.search.unknown
    if len(unknown) > 20:
        raise ValueError(f"the problem has {len(unknown)} unlabelled points; brute force goes through up to 20")
    best, best_labels = np.inf, model.search.y.copy()
    for signs in itertools.product((1.0, -1.0), repeat=len(unknown)):
        labels = model.search.y.copy()
        labels[unknown] = signs
        if model.count(LabelBox.of_labels(labels)).is_empty:
            continue
        value = svm.objective(labels, svm.solve(labels, tol=1e-9))
        if value < best:
            best, best_labels = value, labels
    return best, best_labels
