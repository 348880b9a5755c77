"""Checking a saved search: every bound is computed again, and the leaves of its tree must cover all labellings.

This is the fast check, for a search that is trusted: it finds what is damaged or does not fit together.  It uses the
search's own code, so it cannot find mistakes in that; :mod:`convex_tsvm.checker` shares no code with the search.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checker import walked
from ..checker_intervals import IntervalCertificate
from ..persistence import DAMAGED, reading
from ..problem import Array
from ..relaxations.box import Box
from ..relaxations.model import BoundModel
from ..solution import relative_gap
from .files import problem_of, read_records, statement
from .interval_files import FORMAT_OF_INTERVALS, read_any
from .rigorous import check_flint
from .tree import Record

#: The constraint of a statement in words, with its value.
CONSTRAINTS = {
    "none": "no constraint",
    "mean": "the mean output of the unlabelled points is {:.6g}",
    "count": "{} of the unlabelled points are labelled +1",
    "targets": "the targets of the unlabelled points sum to {:.6g}",
}

#: Relative error that rounding may make in a bound or an objective.
CHECK_TOL = 1e-7


@dataclass(frozen=True)
class CertificateCheck:
    """What a check of a saved search found.

    Attributes
    ----------
    holds : bool
    problems : tuple of str
        What is wrong.
    objective, lower_bound : float
        As claimed; both recomputed where ``holds``.
    n_records, n_closed, n_open : int
        Nodes in the tree, those closed by a bound, and those still open (whose bound is their parent's).
    n_proofs : int

    Examples
    --------
    >>> import tempfile, pathlib
    >>> X = np.array([[-2.0], [-1.8], [-0.2], [1.0], [1.5], [2.0]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], balance=None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "optimum.npz")
    ...     solution = ct.exact_search(ct.s3vm(balance=None), problem, certificate=file)
    ...     check = ct.verify_certificate(file)
    >>> check.holds, check.problems, check.n_open
    (True, (), 0)
    """

    holds: bool
    problems: tuple[str, ...]
    objective: float
    lower_bound: float
    n_records: int
    n_closed: int
    n_open: int
    n_proofs: int

    @property
    def gap(self) -> float:
        """(objective - lower bound) / objective."""
        return relative_gap(self.objective, self.lower_bound)

    def __str__(self) -> str:
        found = [
            f"{'holds' if self.holds else 'DOES NOT HOLD'}: objective {self.objective:.10g}, "
            f"no labelling below {self.lower_bound:.10g} (gap {self.gap:.2e})",
            f"{self.n_records} nodes, {self.n_closed} closed by {self.n_proofs} proofs, {self.n_open} open",
        ]
        return "\n".join([*found, *self.problems])


@dataclass(frozen=True, eq=False)
class Visit:
    """What a check found at a node.

    Attributes
    ----------
    parent : int
        The node above it, -1 for the root.
    way : str
        What leads here from there.
    next : str
        What is known here, and what is branched on; "" for a leaf.
    steps : tuple of (str, float, str)
        Kind of each proof that was applied, its bound, and what it settled.
    bound : float
        The best bound of this node and of those above it.
    is_empty : bool
        Whether the proofs leave no solution below the cutoff.
    """

    parent: int
    way: str
    next: str
    steps: tuple[tuple[str, float, str], ...]
    bound: float
    is_empty: bool


def verify_certificate(path: str | os.PathLike[str]) -> CertificateCheck:
    """Check a search that was saved as a certificate or a checkpoint.

    The problem in the file is built anew (kernel, its inverse); every proof's bound is evaluated; the tree's leaves
    must cover all labellings; the incumbent's objective is evaluated.  This takes the search's own code and a tolerance
    of 10⁻⁷; :func:`~convex_tsvm.check_certificate` takes neither.

    Parameters
    ----------
    path : path
        Written by :func:`exact_search`.

    Returns
    -------
    CertificateCheck
        Whether it holds, and why not where it does not; printing it says so.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is no saved search, or is damaged.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> X = np.array([[-2.0], [-1.8], [-0.2], [1.0], [1.5], [2.0]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], balance=None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "optimum.npz")
    ...     solution = ct.exact_search(ct.s3vm(balance=None), problem, certificate=file)
    ...     ct.verify_certificate(file).holds
    True
    """
    return visited(path)[0]


def visited(path: str | os.PathLike[str]) -> tuple[CertificateCheck, list[Visit], str]:
    """Check a saved search; also returns what was found at every node, and what is asked of solutions."""
    header, arrays = read_any(path)
    if header["format"] == FORMAT_OF_INTERVALS:
        with reading(path, "a search", FORMAT_OF_INTERVALS):
            return _visited_intervals(path, header, arrays)
    try:
        formulation, problem = problem_of(header, arrays)
        records, multipliers = read_records(arrays)
        objective, lower_bound = header["objective"], header["lower_bound"]
        if not all(isinstance(number, float) for number in (objective, lower_bound)):
            raise TypeError("objective and lower bound must be numbers")
        labels, gamma = arrays["labels"], arrays["gamma"]
        opened = [(int(parent), int(sign)) for _, parent, sign, _, _ in arrays["node_numbers"].tolist()]
        model = BoundModel(formulation, problem)
        model.multipliers = multipliers
        checker = _Checker(model, records, opened, lower_bound)
        with np.errstate(all="ignore"):
            problems = [*checker.run(), *_check_incumbent(model, labels, gamma, objective)]
        stated = statement(model)
        if header["statement"] != stated:
            problems.append("the statement in the file is not that of its formulation and problem")
    except DAMAGED as error:
        raise ValueError(f"{path} is a damaged search: {error}") from error
    found = CertificateCheck(
        holds=not problems,
        problems=tuple(problems),
        objective=objective,
        lower_bound=lower_bound,
        n_records=len(records),
        n_closed=sum(record.variable < 0 for record in records),
        n_open=len(opened),
        n_proofs=sum(len(record.proofs) for record in records),
    )
    return found, checker.visits, CONSTRAINTS[stated["constraint"]].format(stated["value"])


def _visited_intervals(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, Any]
) -> tuple[CertificateCheck, list[Visit], str]:
    """A search over intervals has no other check than the rigorous one, which takes less time than the search."""
    check_flint()
    verdict, walk = walked(path, IntervalCertificate)
    variables, visits = arrays["record_variable"].tolist(), list[Visit]()
    for k, ((low, high), bound) in enumerate(walk.after if walk is not None else ()):
        parent, way, following, steps = walk.parents[k], "root", "", []
        if parent >= 0:
            side = "at most" if walk.signs[k] < 0 else "at least"
            way = f"{_named(walk, variables[parent])} is {side} {arrays['record_place'][parent]:.6g}"
        if variables[k] >= 0:
            following = f"split at {_named(walk, variables[k])}"
        for p in walk.proofs[k]:
            if p in walk.steps:
                cutoff = arrays["proof_cutoff"][p]
                steps.append(("envelopes", walk.steps[p], "-" if np.isinf(cutoff) else f"outputs below {cutoff:.8g}"))
        visits.append(Visit(parent, way, following, tuple(steps), bound, bool((low > high).any())))
    found = CertificateCheck(
        holds=verdict.holds,
        problems=() if verdict.holds else (verdict.problem,),
        objective=float(header["objective"]),
        lower_bound=float(header["lower_bound"]),
        n_records=len(variables),
        n_closed=sum(variable < 0 for variable in variables),
        n_open=0,
        n_proofs=len(arrays["proof_record"]),
    )
    return found, visits, str(header["formulation"])


def _named(walk: IntervalCertificate, variable: int) -> str:
    """An output of a search over intervals in words."""
    given = walk.formulated
    if variable < len(given.points):
        return f"the output of point {given.points[variable]}"
    row = variable - len(given.points)
    return f"the sum of constraint {row}" if row < len(given.rows) else "the bias"


class _Checker:
    """Applies the proofs of a tree's nodes from the root down, and collects what they find in ``visits``."""

    def __init__(
        self, model: BoundModel, records: list[Record], opened: list[tuple[int, int]], lower_bound: float
    ) -> None:
        self.model, self.records, self.opened, self.lower_bound = model, records, opened, lower_bound
        self.least = lower_bound - CHECK_TOL * abs(lower_bound)
        self.visits: list[Visit] = []

    def run(self) -> list[str]:
        """Everything that is wrong, in words; an empty list if the tree proves the lower bound."""
        if np.isnan(self.lower_bound):
            return ["the lower bound is not a number"]
        if not self.records:
            root = self.model.svm.point(self.model.search.y, np.zeros(self.model.n))
            return [] if root.value >= self.least else ["no node has been looked at, but a bound is claimed"]
        if not all(z is not None and z.are_valid() for z in self.model.multipliers):
            return ["a multiplier is negative, or belongs to a cut with an index, end or sign that is not allowed"]
        problems = self.shape()
        if problems:
            return problems
        after: dict[int, tuple[Box, float]] = {}
        for k, record in enumerate(self.records):
            if record.parent < 0:
                box, bound = self.model.root(), -np.inf
            else:
                above, bound = after[record.parent]
                box = self.model.count(above.with_label(self.records[record.parent].variable, record.sign))
            box, bound, wrong = self._visit(record, box, bound)
            if wrong:
                return [*problems, f"node {k}: {wrong}"]
            after[k] = (box, bound)
            if record.variable < 0 and not box.is_empty and bound < self.least:
                problems.append(f"node {k} is closed, but its bound is {bound:.10g}, less than {self.least:.10g}")
        problems += [
            f"an open node below node {parent} has the bound {after[parent][1]:.10g} only"
            for parent, _ in self.opened
            if parent >= 0 and after[parent][1] < self.least
        ]
        return problems

    def _visit(self, record: Record, box: Box, bound: float) -> tuple[Box, float, str]:
        """The box and the bound after the proofs of a node, and what is wrong with one of them ("" if nothing is)."""
        steps = []
        for proof, cutoff in record.proofs:
            if box.is_empty:
                break
            if not proof.holds_for(self.model):
                return box, bound, f"a proof by {proof.name} is not valid for this problem"
            if not cutoff >= self.least:
                return box, bound, f"a proof is about solutions below {cutoff:.10g} only"
            n_before = len(box.unknown)
            proven, box = proof.apply(self.model, box, cutoff)
            bound = max(bound, proven)
            steps.append((proof.name, proven, f"{n_before - len(box.unknown)} labels"))
        way, following, problem = "root", "", self.model.instance.problem
        if record.parent >= 0:
            way = f"point {self.records[record.parent].variable} is {record.sign:+d}"
        if record.variable >= 0 and not box.is_empty:
            known = int(np.count_nonzero(box.labels)) - problem.n_labeled
            following = f"{known} of {problem.n_unlabeled} labels known; branched on point {record.variable}"
        self.visits.append(Visit(record.parent, way, following, tuple(steps), bound, box.is_empty))
        return box, bound, ""

    def shape(self) -> list[str]:
        """What is wrong with the tree's shape: it needs one root, and two halves below every node that is branched."""
        children: dict[int, list[int]] = {}
        roots = [record.parent for record in self.records].count(-1) + sum(parent < 0 for parent, _ in self.opened)
        if roots != 1:
            return [f"the tree has {roots} roots; it must have one"]
        for k, record in enumerate(self.records):
            if record.parent >= k:
                return [f"node {k} has the parent {record.parent}, which is not an earlier node"]
            children.setdefault(record.parent, []).append(record.sign)
        for parent, sign in self.opened:
            if parent >= len(self.records):
                return [f"an open node has the parent {parent}, but the nodes are 0 to {len(self.records) - 1}"]
            children.setdefault(parent, []).append(sign)
        for k, record in enumerate(self.records):
            signs = sorted(children.get(k, []))
            if record.variable >= self.model.n or signs != ([] if record.variable < 0 else [-1, 1]):
                return [
                    f"node {k}, with variable {record.variable}, has children with the labels {signs}; a branched node "
                    "must have -1 and 1, and a closed one none"
                ]
        return []


def _check_incumbent(model: BoundModel, labels: Array, gamma: Array, objective: float) -> list[str]:
    search = model.search
    if len(labels) == 0:
        return [] if objective == np.inf else ["there is an objective, but no labelling that has it"]
    if labels.shape != (model.n,) or not np.isin(labels, (-1, 1)).all():
        return ["the incumbent's labels are not +1 or -1 for every point"]
    if ((search.y != 0) & (labels != search.y)).any():
        return ["the incumbent contradicts a given label"]
    if model.count(Box.of_labels(labels)).is_empty:
        return ["the incumbent's labels do not meet the balance constraint"]
    if gamma.shape != labels.shape:
        return [f"the incumbent's dual point has shape {gamma.shape}; it must be {labels.shape}"]
    value = model.svm.objective(labels, model.svm.point(labels, gamma))
    if not np.isfinite(objective) or not value - objective <= 10 * CHECK_TOL * abs(objective):
        return [f"the incumbent's objective is {value:.10g}, not {objective:.10g} as claimed"]
    return []
