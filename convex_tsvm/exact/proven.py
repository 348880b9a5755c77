"""What is proven of single labels: which of them all labellings within a share of the best objective have."""

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..deadline import time_is_up
from ..notice import warn
from ..problem import Array
from ..relaxations import LowerBoundBuilder
from ..relaxations.box import LabelBox
from ..relaxations.region import Work
from ..validation import finite, new_file
from .branching import _outputs, automatic
from .dive import Examiner
from .files import save_search
from .incumbent import BestLabels
from .prove import prove_certificate
from .search import BranchAndBound

#: Objectives count as within a share of the best one up to this much more, relatively: what solvers leave of them.
TIES = 1e-6


@dataclass(frozen=True, eq=False)
class ProvenLabels:
    """Labels that every labelling below a threshold has, and for each other one a labelling that has it otherwise.

    Attributes
    ----------
    labels : array, shape (n,)
        +1 or -1 where all labellings whose objective is below the threshold have it (labels given among them), else 0.
    witnesses, objectives : arrays, shapes (k, n) and (k,)
        Labellings that are within the threshold, up to a millionth, and their objectives; each has some label otherwise
        than the best one.
    witness : int array, shape (n,)
        The row of the best of the ``witnesses`` that has a point's label otherwise; -1 where there is none: its label
        is proven, or nothing is known of it because the search was stopped.
    best : array, shape (n,)
        The labels of the solution that was asked.
    slack, threshold : float
        The share of the objective that labellings may be above the best one, and (1 + slack) times its objective.
    status : {"optimal", "node_limit", "time_limit", "interrupted"}
        "optimal": every label is proven or has a witness.
    n_nodes, seconds : int and float
        What that took.

    Examples
    --------
    >>> proven = ct.exact_search(ct.s3vm(), problem).proven(slack=0.01)
    >>> proven.labels.astype(int).tolist(), len(proven.witnesses)
    ([-1, -1, -1, 1, 1, 1], 0)
    """

    labels: Array
    witnesses: Array
    objectives: Array
    witness: Any
    best: Array
    slack: float
    threshold: float
    status: str
    n_nodes: int
    seconds: float

    @property
    def open(self) -> Any:
        """Indices of the points whose labels are not proven, shape (m,)."""
        return np.flatnonzero(self.labels == 0)

    def query(self) -> int | None:
        """The point whose label to ask for: the best witness gives it the other label; None if all are proven.

        Of the points that the same witness labels otherwise it is the first; points without a witness come last.
        """
        if not len(self.open):
            return None
        objectives = np.append(self.objectives, np.inf)
        return int(self.open[objectives[self.witness[self.open]].argmin()])

    def __str__(self) -> str:
        witnessed = int((self.witness >= 0).sum())
        return (
            f"{int((self.labels != 0).sum())} of {len(self.labels)} labels are the same in every labelling below "
            f"{self.threshold:.8g}\n{witnessed} are otherwise in one of {len(self.witnesses)} witnesses, "
            f"{len(self.open) - witnessed} undecided\n{self.status} after {self.n_nodes} nodes, {self.seconds:.3g} s"
        )


class Witnesses(BestLabels):
    """Labellings below a threshold that were come across, for each point the best that has its label otherwise.

    ``open`` is where there is none yet, shape (n,); ``rows`` are labels, their objectives and what proves these.
    """

    near = 1.0  # labellings above the threshold by this share of what it is above the best objective may be improved

    def __init__(self, model: Any, objective: float, labels: Array, gamma: Any, threshold: float) -> None:
        super().__init__(model, objective, labels, gamma)
        self.reference, self.threshold = labels, threshold
        self.rows: list[tuple[Array, float, Array]] = []
        self.least, self.which = np.full(model.n, np.inf), np.full(model.n, -1)
        self._turned: dict[int, tuple[Array, float, Array]] = {}  # labellings with one label turned, that may be better
        self._held = -1  # the label that two-opt search leaves as it is

    @property
    def open(self) -> Any:
        """Points without a witness whose label is not given, as a mask."""
        return (self.which < 0) & (self.model.search.y == 0)

    def evaluate(self, labels: Array, gamma: Array | None = None) -> tuple[float, Array]:
        objective, gamma = super().evaluate(labels, gamma)
        if objective <= self.threshold + TIES * abs(self.threshold):
            self.note(labels, objective, gamma)
        return objective, gamma

    def note(self, labels: Array, objective: float, gamma: Array) -> None:
        """Keep a labelling if it is the best so far that has some label otherwise."""
        better = (labels != self.reference) & (objective < self.least)
        if better.any():
            self.rows.append((labels.copy(), objective, gamma.copy()))
            self.least[better], self.which[better] = objective, len(self.rows) - 1

    def begin(self, idle: int = 20) -> float:
        """Turn each label in turn, and let the others follow; the bound of the SVM of known labels."""
        model, svm = self.model, self.model.svm
        assert self.gamma is not None
        margins = svm.margins(svm.point(self.reference, self.gamma))
        for i in model.search.unknown[np.argsort(np.abs(margins[model.search.unknown]), kind="stable")]:
            if time_is_up():
                break
            if self.which[i] < 0:
                self._turn(int(i), margins)
        self.restart(idle)
        return svm.solve(model.search.y).value

    def restart(self, idle: int, seed: int = 0) -> None:
        """Improve labellings with one label turned that are not far above the threshold, each once, that one held."""
        near = self.threshold + max(self.near * (self.threshold - self.objective), TIES * abs(self.threshold))
        for i, found in sorted(self._turned.items(), key=lambda item: item[1][1]):
            if time_is_up():
                return
            if self.which[i] < 0 and found[1] <= near:
                del self._turned[i]
                self._held = i
                self.two_opt(*found, exchanges=False)
                self._held = -1

    def _neighbours(self, *arguments: Any, **options: Any) -> list[tuple[int, ...]]:
        return [turned for turned in super()._neighbours(*arguments, **options) if self._held not in turned]

    def _turn(self, i: int, margins: Array) -> None:
        """Labels with one turned that its SVM agrees with but for that one, as long as they get better."""
        last, gamma, labels = np.inf, self.gamma, None
        while True:
            forced = margins.copy()
            forced[i] = -self.reference[i] * (1 + np.abs(margins).max())
            changed = self.model.rounded(forced)
            if labels is not None and (changed == labels).all():
                return
            labels = changed
            objective, gamma = self.evaluate(labels, gamma)
            if objective < last:
                self._turned[i] = labels, objective, gamma
            if self.which[i] >= 0 or not objective < last or time_is_up():
                return
            last, margins = objective, self.model.svm.margins(self.model.svm.point(labels, gamma))

    def is_enough(self, box: LabelBox) -> bool:
        """Whether all labels in a box that have no witness are those of the best solution."""
        where = self.open
        return not box.is_empty and bool((box.labels[where] == self.reference[where]).all())

    def fork(self, builder: LowerBoundBuilder) -> "Witnesses":
        other = Witnesses(builder.model, self.objective, self.reference, self.gamma, self.threshold)
        other.least, other.which = self.least.copy(), self.which.copy()
        return other

    @property
    def best(self) -> tuple[Any, ...]:
        return *super().best, self.rows

    def take(self, best: tuple[Any, ...]) -> None:
        for row in best[3]:
            self.note(*row)

    def store(self) -> dict[str, Array]:
        """The solution's labels, those that are proven, and the witnesses with what proves their objectives."""
        svm, none = self.model.svm, np.zeros(self.model.n)
        kept = [self.rows[k] for k in np.unique(self.which[self.which >= 0])]
        found = [svm.witness(labels, svm.point(labels, gamma)) for labels, _, gamma in kept]
        parts: dict[str, list[Any]] = {
            "labels": [labels for labels, _, _ in kept],
            "gamma": [one.gamma for one in found],
            "targets": [none if one.targets is None else one.targets for one in found],
        }
        arrays = {f"witness_{name}": np.array(rows).reshape(len(kept), self.model.n) for name, rows in parts.items()}
        arrays |= {"witness_mean": np.array([one.mean for one in found], dtype=float)}
        return super().store() | arrays | {"proven_threshold": np.array([self.threshold])}


class ProvingSearch(BranchAndBound):
    """A search below a threshold: a node is closed if nothing in it is, or if labels without a witness are known."""

    def __init__(self, solution: Any, slack: float, **options: Any) -> None:
        options = {"certificate": False} | options
        super().__init__(solution.formulation, solution.problem, branch_on="points", **options)
        if not self.builder.is_about_labels or self.model.svm.hard:
            raise ValueError(
                "labels are proven of formulations whose exact search is for labels, with slacks: bounds="
                f"{self.builder.relaxation!r} are about {self.builder.about}"
            )
        objective, gamma = BestLabels(self.model).evaluate(solution.labels)
        threshold = objective + slack * abs(objective)
        self.rules = replace(self.rules, threshold=threshold)
        self.incumbent = Witnesses(self.model, objective, solution.labels, gamma, threshold)
        self.choose = self._choose

    def _choose(self, work: Work) -> tuple[int, float] | None:
        """The surest of the labels that are to be proven; where one of these is turned, as in any search."""
        incumbent, box = self.incumbent, work.box
        open_ = incumbent.open
        if (open_ & (box.labels == -incumbent.reference)).any() or not open_[box.unknown].any():
            return automatic(work)
        agree = incumbent.reference[box.unknown] * _outputs(work)
        rise = work.rates() * np.maximum(1 + agree, 0.0) ** 2
        return int(box.unknown[np.where(open_[box.unknown], rise, -np.inf).argmax()]), 0.0

    def examiner(self, builder: LowerBoundBuilder | None = None, best: Any = None) -> Examiner:
        found = super().examiner(builder, best)
        return replace(found, is_enough=found.incumbent.is_enough)

    def _ending(self) -> str:
        return "optimal"

    @property
    def proven(self) -> Array:
        """The labels that are proven by now, 0 elsewhere."""
        labels = np.where(self.incumbent.open, self.incumbent.reference, self.model.search.y)
        for node in self.state.open:
            labels = np.where(node.box.labels == labels, labels, self.model.search.y)
        return np.asarray(labels if self.state.records or not self.state.open else self.model.search.y)


def proven_labels(
    solution: Any, slack: float, certificate: str | os.PathLike[str] | None = None, **options: Any
) -> ProvenLabels:
    """What :meth:`ExactSolution.proven` returns."""
    slack = finite("slack", slack, least=0)
    path = None if certificate is None else new_file("certificate", certificate)
    search = ProvingSearch(solution, slack, certificate=path is not None, **options)
    if path is not None:
        search.check_file("certificate")
    search.run()
    incumbent, proven = search.incumbent, search.proven
    status = search.status if (proven[incumbent.open] != 0).all() or search.status != "optimal" else "inaccurate"
    if path is not None:
        save_search(path, search, proven=proven)
        verdict = prove_certificate(path)
        if not verdict.holds:
            warn(f"certificate={os.fspath(path)!r} was written, but does not prove its claim: {verdict.problem}")
            status = "inaccurate"
    used, places = np.unique(incumbent.which, return_inverse=True)
    rows = [incumbent.rows[k] for k in used if k >= 0]
    return ProvenLabels(
        labels=proven,
        witnesses=np.array([labels for labels, _, _ in rows]).reshape(len(rows), search.model.n),
        objectives=np.array([objective for _, objective, _ in rows]),
        witness=places - int(used[0] < 0),
        best=solution.labels,
        slack=slack,
        threshold=incumbent.threshold,
        status=status,
        n_nodes=search.state.n_nodes,
        seconds=search.state.seconds,
    )
