"""Exact search as one call: over labels where the formulation is about labels, else over intervals of outputs."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..deadline import unlimited
from ..formulations import Formulation
from ..losses import HARD_MARGIN, Exponential, hinge, squared_hinge
from ..notice import warn
from ..problem import Array, Problem
from ..solution import Expansion, Point
from ..solvers import NativeSolver
from ..validation import InfeasibleError, new_file
from .files import save_search
from .interval_files import save_interval_search
from .intervals import IntervalSearch
from .rigorous import check_certificate
from .search import BranchAndBound
from .solution import ExactSolution


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
    envelopes of the losses on their intervals (:meth:`~convex_tsvm.PLQ.envelope`), to which the regularizer lends
    curvature. In place of exp(-s t²) it is over a PLQ function that is below it by a share of ``gap`` at most.

    Parameters
    ----------
    formulation : Formulation
    problem : Problem
        For a search over intervals its balance is a mean output or None.
    certificate : path, optional
        A file for what proves the bound; not for exp(-s t²) nor for a hard margin.  It is checked as soon as it is
        written (:func:`~convex_tsvm.check_certificate`): if it is refused, a warning says why, and the status is
        "inaccurate" in place of "optimal".
    **options
        Of :class:`~convex_tsvm.BranchAndBound`; a search over intervals has ``gap``, ``max_nodes``, ``time_limit`` and
        ``callback`` of them.

    Raises
    ------
    ValueError
        If the formulation is not of that kind, or an option is not as stated.
    InfeasibleError
        (a ValueError) If no labelling meets the balance, or none has a hard margin.
    FileNotFoundError
        If the folder of a file is not there.
    OSError
        If a file cannot be written, found out before the search.  What goes wrong after it is a warning.

    Examples
    --------
    >>> X = np.array([[-2.0], [-1.8], [-0.2], [1.0], [1.5], [2.0]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], C=1, balance=None)
    >>> solution = ct.exact_search(ct.s3vm(balance=None), problem)
    >>> solution.status, solution.labels.astype(int).tolist()
    ('optimal', [-1, -1, 1, 1, 1, 1])
    """
    why_not = _why_not_by_labels(formulation)
    if why_not is not None:
        return _by_intervals(formulation, problem, {"certificate": certificate, **options}, why_not)
    if formulation.label_loss()[0].isclose(HARD_MARGIN):
        for name, file in (("certificate", certificate), ("checkpoint", options.get("checkpoint"))):
            if file is not None:
                raise ValueError(f"{name}: there are no files of searches for a hard margin")
    if certificate is not None:
        certificate = new_file("certificate", certificate)
    options.setdefault("certificate", certificate is not None or options.get("checkpoint") is not None)
    search = BranchAndBound(formulation, problem, **options).run()
    if search.status == "infeasible":
        if search.model.svm.hard:
            raise InfeasibleError("no labelling of the points has a hard margin under these constraints; use a loss")
        raise InfeasibleError(f"{search.model.instance.balance} cannot be met: no labelling of the points has it")
    if search.status == "interrupted":
        warn("interrupted: the best labels so far are returned, with a bound that holds")
    return _certified(solution_of(search), certificate, lambda path: save_search(path, search))


def _certified(solution: ExactSolution, path: Path | None, save: Callable[[Path], None]) -> ExactSolution:
    """Write a certificate and have it checked: "optimal" is no status of what the checker refuses."""
    if path is None:
        return solution
    name = f"certificate={os.fspath(path)!r}"
    try:
        save(path)
        verdict = check_certificate(path)
    except OSError as error:
        warn(f"{name} could not be written: {error}")
    except ImportError as error:
        warn(f"{name} was written, but not checked: {error}")
    except KeyboardInterrupt:
        warn(f"{name} was written, but not checked: interrupted")
    else:
        if not verdict.holds:
            warn(f"{name} was written, but does not prove its claim: {verdict.problem}")
            return dataclasses.replace(solution, status="inaccurate") if solution.status == "optimal" else solution
    return solution


#: Options of a search for labels that one over intervals does not have, as they are if nothing is asked.
_OF_LABELS = {
    "bounds": "auto",
    "strategy": "hybrid",
    "branching": "auto",
    "solver": "auto",
    "n_jobs": None,
    "checkpoint": None,
}


def _why_not_by_labels(formulation: Formulation) -> str | None:
    """Why a formulation is no search for labels, or None if it is one."""
    if formulation.constraints:
        return "it has constraints on outputs"
    try:
        loss, _ = formulation.label_loss()
    except ValueError as error:
        return str(error)
    if not any(loss.isclose(known) for known in (hinge(), squared_hinge(), HARD_MARGIN)):
        return f"searches for labels are for the hinge, the squared hinge and the hard margin, not {loss!r}"
    return None


def _by_intervals(formulation: Formulation, problem: Problem, options: dict[str, Any], why_not: str) -> ExactSolution:
    own = {name: value for name, value in options.items() if name not in (*_OF_LABELS, "certificate")}
    certificate = options["certificate"]
    if certificate is not None:
        certificate = new_file("certificate", certificate)
        if formulation.groups:
            raise ValueError(f"groups={list(formulation.groups)!r}: a certificate knows labelled and unlabelled points")
        if isinstance(formulation.unlabeled, Exponential):
            raise ValueError(
                "a certificate is of piecewise linear-quadratic losses, which "
                f"unlabeled={formulation.unlabeled!r} is not: its search is over a function that is a little below"
            )
    for name, default in _OF_LABELS.items():
        if options.get(name, default) not in (default, None):
            asked = f"{name}={options[name]!r} is for searches for labels"
            raise ValueError(f"{asked}, and this formulation is none: {why_not}")
    search = IntervalSearch(formulation, problem, **own, keep_proofs=certificate is not None)
    solution = search.run()
    if solution.status == "interrupted":
        warn("interrupted: the best solution so far is returned, with a bound that holds")
    return _certified(solution, certificate, lambda path: save_interval_search(path, search))


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
        stopped = search.status in ("time_limit", "interrupted")
        solver = NativeSolver(model.instance.problem, tol=1e-3 if stopped else 1e-7, precision="double")
        return solver.solve(model.instance.svm(labels))
    # The function of the targets v: ridge regression of v with costs c, whose coefficients solve (K + D) a = v.
    problem, gamma = model.instance.problem, model.svm.solve(labels, tol=1e-9).gamma
    a = model.svm.coefficients_of_targets(gamma)
    outputs = problem.apply_kernel(a)
    return Expansion(outputs, a, bias=0.0, regularization=0.5 * float(a @ outputs))
