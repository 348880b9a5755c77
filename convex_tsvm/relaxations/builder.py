"""Lower bounds for an S3VM whose labels are known in part: for a whole problem, and for every node of exact search."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..deadline import time_is_up
from ..formulations import Formulation
from ..instance.step_solution import StepSolution
from ..problem import Array, Problem
from ..solution import relative_gap
from ..solvers import NativeSolver
from ..solvers.sdp.sparse_sdp import check_solver
from ..table import RELAXATIONS
from ..validation import finite, integer, one_of
from .box import Box
from .model import BoundModel
from .proofs import Proof
from .relaxation import Incumbent, Region, Relaxation, Rules, Stage, Work

if TYPE_CHECKING:
    from ..modeling.printing import ReadableProblem

#: Relaxations that "auto" chooses from, the strongest first: the first one that exists for the problem.
STRONGEST = ("triangles", "sdp", "svm")

#: Statuses of solvers, from the best to the worst.
SEVERITY = ("optimal", "inaccurate", "failed")


@dataclass(frozen=True, eq=False)
class Bound:
    """A lower bound of an S3VM's optimum, and what was found on the way.

    Attributes
    ----------
    value : float
        A proven lower bound of the formulation's optimum over all labellings that agree with the labels given; or, if
        ``upper`` was given and is smaller, of that.
    relaxed : float
        The value of the last relaxation as its solver left it: no bound.
    upper : float
        The least objective known.
    labels : array, shape (n,), or None
        Labels whose SVM has that objective.
    scores : array, shape (n,)
        Labels before thresholding, as the last relaxation has them.
    proven : array, shape (n,)
        Labels that every solution better than ``upper`` must have; 0 where that is not known.
    duals : dict of arrays
        The dual variables behind the last relaxation's bound: "gamma" of the SVM; "alpha" and "multipliers" of the SDP
        (:func:`~convex_tsvm.relaxations.transduction_bound`); "diagonal", "chord" and "weights" (of the cuts) of a
        relaxation in v-space, and the "A" ⪰ 0 of the convex quadratic that they make of the objective.
    stages : tuple of Stage
    status : {"optimal", "inaccurate", "failed", "interrupted"}
        The worst of the solvers' ("optimal" also if the gap is closed); the bound holds whatever it is.
    proofs : tuple of (Proof, float)
        What proves the value, one step after the other, each with the cutoff that it was made for: a certificate of
        exact search stores the same.

    Examples
    --------
    >>> import numpy as np, convex_tsvm as ct
    >>> X = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], kernel=ct.RBF(1.0), C=10)
    >>> bound = ct.LowerBoundBuilder(ct.s3vm(), problem).bound()
    >>> bound.status, bool(bound.value <= bound.upper)
    ('optimal', True)
    >>> bound.gap < 0.01
    True
    >>> print(str(bound).splitlines()[2])
    6 of 6 labels are known or proven
    """

    value: float
    relaxed: float
    upper: float
    labels: Array | None
    scores: Array
    proven: Array
    duals: dict[str, Array] = field(repr=False)
    stages: tuple[Stage, ...] = field(repr=False)
    status: str = "optimal"
    proofs: tuple[tuple[Proof, float], ...] = field(default=(), repr=False)

    @property
    def gap(self) -> float:
        """(upper - value) / upper."""
        return relative_gap(self.upper, self.value)

    def __repr__(self) -> str:
        return f"Bound(value={self.value:.8g}, upper={self.upper:.8g}, gap={self.gap:.2g}, status={self.status!r})"

    def __str__(self) -> str:
        proven = int((self.proven != 0).sum())
        lines = [
            f"no labelling is below {self.value:.8g}",
            f"the best one known has {self.upper:.8g} (gap {100 * self.gap:.2f} %)",
            f"{proven} of {len(self.proven)} labels are known or proven",
        ]
        lines += [
            f"{stage.name}: {stage.bound:.8g} after {stage.seconds:.2g} s ({stage.status})" for stage in self.stages
        ]
        return "\n".join(lines)


class LowerBoundBuilder:
    """Relaxations of one formulation on one problem, for any labels known besides.

    Exact search asks one of these for the bound of every node, and ``bound`` for that of the root.

    Parameters
    ----------
    formulation : Formulation
        With the loss min(ℓ(f), ℓ(-f)) for unlabelled points.  Any balance: none, linear, exact (chapelle2008 eq. 3), or
        of the targets.
    problem : Problem
    relaxation : {"auto", "svm", "sdp", "box", "rlt", "triangles"}, default "sdp"
        "svm": the points without a label pay nothing (chapelle2008 §3.1).  "sdp": the relaxation of debie2004 §2; there
        is none with a free bias, nor for an exact balance or one of the targets.  The others, for the squared hinge,
        have products of outputs in place of labels, and add one after the other: ends for every output that the
        incumbent proves, with the chord of the square above it; products of these ends (RLT); shifted triangle
        inequalities.
        "auto" is the strongest that there is for the problem.
    solver : {"auto", "native", "sdpa", "scs", "clarabel"}, default "auto"
        For the relaxations from "box" on.
    tol : float, default 1e-4
        Relative accuracy of the relaxation "sdp" at the root; below it ten times less.
    gap : float, optional
        Relative gap between the incumbent and the bound at which to stop; ``tol`` by default.
    max_rounds : int, default 30
        Rounds of cuts at the root.
    cuts_per_round : int, optional
        Of each kind; n by default.

    Attributes
    ----------
    model : BoundModel
        What bounds are computed with.
    search : Labelling
        The formulation on the problem as a search for labels.

    Raises
    ------
    ValueError
        If the formulation cannot be relaxed, or an argument is not as stated.

    Examples
    --------
    >>> import numpy as np, convex_tsvm as ct
    >>> X = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], kernel=ct.RBF(1.0), C=10)
    >>> builder = ct.LowerBoundBuilder(ct.s3vm(), problem, relaxation="sdp")
    >>> bound = builder.bound()
    >>> solution = ct.cccp(ct.s3vm(), problem)
    >>> bool(bound.value <= solution.objective)
    True
    >>> print(str(builder.primal()).splitlines()[0])
    minimize    ½ τ + Cᵀ max(0, 1 - t)²
    """

    def __init__(
        self,
        formulation: Formulation,
        problem: Problem,
        *,
        relaxation: str = "sdp",
        solver: str = "auto",
        tol: float = 1e-4,
        gap: float | None = None,
        max_rounds: int = 30,
        cuts_per_round: int | None = None,
    ) -> None:
        self.model = BoundModel(formulation, problem)
        self.search = self.model.search
        self.tol = finite("tol", tol, above=0)
        self.gap = self.tol if gap is None else finite("gap", gap, least=0, below=1)
        self.solver = check_solver(solver)
        self._options = {
            "solver": self.solver,
            "tol": self.tol,
            "max_rounds": integer("max_rounds", max_rounds, least=0),
            "cuts_per_round": None if cuts_per_round is None else integer("cuts_per_round", cuts_per_round, least=0),
        }
        self._known: Relaxation = RELAXATIONS["svm"].load()(**self._options)
        self.use(relaxation)

    def use(self, relaxation: str, argument: str = "relaxation") -> None:
        """Choose the strongest relaxation that is asked from now on.

        Parameters
        ----------
        relaxation : str
            As for the class.
        argument : str, default "relaxation"
            The name by which an error calls it.

        Raises
        ------
        ValueError
            If there is none of that name, or not for the problem.
        """
        one_of(argument, relaxation, ("auto", *RELAXATIONS))
        self.relaxation = self._available(STRONGEST)[0] if relaxation == "auto" else relaxation
        kind = RELAXATIONS[self.relaxation].load()
        why = kind.why_not(self.model)
        if why is not None:
            others = " and ".join(repr(other) for other in self._available(RELAXATIONS))
            raise ValueError(f"{argument}={relaxation!r}: {why}.  There are {others}")
        self._strong: Relaxation | None = None if self.relaxation == "svm" else kind(**self._options)

    def _available(self, names: Iterable[str]) -> list[str]:
        """The names whose relaxations exist for the problem, in their order."""
        return [name for name in names if RELAXATIONS[name].load().why_not(self.model) is None]

    def bound(
        self,
        labels: Array | None = None,
        *,
        upper: float = np.inf,
        upper_labels: Array | None = None,
        incumbent: Incumbent | None = None,
        callback: Callable[[Stage], None] | None = None,
    ) -> Bound:
        """The bound for given labels.

        Parameters
        ----------
        labels : array, shape (n,), optional
            +1, -1, or 0 for unknown; the problem's own labels by default.
        upper, upper_labels : float and array, optional
            An objective that is known to be reached, and the labels that reach it.
        incumbent : Incumbent, optional
            What makes labels of a relaxation's point, and keeps the best; by default signs are labels, and ``upper`` is
            the objective to begin with.
        callback : callable, optional
            Called with every stage.

        Raises
        ------
        ValueError
            If labels are not as stated or contradict the problem's.
        """
        y = self.model.search.y if labels is None else self.model.search.fixed(labels).y
        best = incumbent if incumbent is not None else RoundedLabels(self, upper, upper_labels)
        region = Region(self.model.count(Box.of_labels(y)))
        work = Work(self.model, region, best, Rules(gap=self.gap), callback)
        try:
            if not np.isfinite(best.objective):
                # Without an incumbent the SVM of the known labels gives the first labels.
                point = self.model.known.solve(y)
                best.offer(np.where(y != 0, y, point.outputs + point.bias))
            self._examine(work, strong=True)
            status = max((stage.status for stage in work.stages), key=SEVERITY.index, default="optimal")
            if time_is_up() and status == "optimal":
                status = "inaccurate"
        except KeyboardInterrupt:
            status = "interrupted"
        labels_there = np.where(work.box.low > work.box.high, y, work.box.labels)
        return Bound(
            value=min(work.bound, best.objective),
            relaxed=work.stages[-1].relaxed if work.stages else np.nan,
            upper=best.objective,
            labels=getattr(best, "labels", None),
            scores=np.where(labels_there == 0, np.clip(work.outputs, -1, 1), labels_there),
            proven=labels_there,
            duals=work.duals,
            stages=tuple(work.stages),
            status=status if work.open or status == "interrupted" else "optimal",
            proofs=tuple(work.proofs),
        )

    def examine(self, region: Region, incumbent: Incumbent, rules: Rules, *, strong: bool = True) -> Work:
        """Bounds of a region, from the cheapest to the strongest, until it is closed.

        Parameters
        ----------
        region : Region
            A node of exact search.
        incumbent : Incumbent
        rules : Rules
        strong : bool, default True
            Whether more than the SVM's bound is asked for.

        Returns
        -------
        Work
            The smaller box, its bound, and their proofs.
        """
        work = Work(self.model, region, incumbent, rules)
        self._examine(work, strong)
        return work

    def _examine(self, work: Work, strong: bool) -> None:
        self._known.tighten(work)
        if strong and self._strong is not None and work.open:
            self._strong.tighten(work)
            if work.open and len(work.box.unknown) == 0:
                self._known.tighten(work)

    def fork(self, number: int) -> LowerBoundBuilder:
        """One for work beside others: they share what none of them changes, and have the multipliers of a node.

        Parameters
        ----------
        number : int
            Of these multipliers; -1 for none.
        """
        other = copy.copy(self)
        other.model = self.model.fork(number)
        return other

    def evaluate(self, labels: Array) -> tuple[float, StepSolution]:
        """The objective of the SVM for labels of all points, and that SVM.

        Parameters
        ----------
        labels : array, shape (n,)
            +1 and -1.

        Returns
        -------
        float, StepSolution
        """
        solution = self._solver.solve(self.search.svm(labels))
        return self.search.objective(solution), solution

    def primal(self) -> ReadableProblem:
        """The relaxation in the label matrix as a ``cvxpy.Problem`` to read: it prints itself, and has ``latex()``.

        Returns
        -------
        cvxpy.Problem
            Of :class:`~convex_tsvm.modeling.label_matrix.ReducedSDP`.

        Raises
        ------
        ValueError
            If ``relaxation`` is not "sdp": "svm" is an SVM, and those from "box" on are made anew in every round.
        """
        from ..modeling.label_matrix import ReducedSDP

        self._check_written()
        return ReducedSDP(self.search).problem

    def dual(self) -> ReadableProblem:
        """The dual of :meth:`primal`, with the same value: every feasible point of it is a lower bound.

        Returns
        -------
        cvxpy.Problem
            Of :class:`~convex_tsvm.modeling.label_matrix.DualSDP`.

        Raises
        ------
        ValueError
            As of :meth:`primal`.
        """
        from ..modeling.label_matrix import DualSDP

        self._check_written()
        return DualSDP(self.search).problem

    def _check_written(self) -> None:
        if self.relaxation != "sdp":
            raise ValueError(f"relaxation={self.relaxation!r} must be 'sdp' to be written as a CVXPY problem")

    @cached_property
    def _solver(self) -> NativeSolver:
        return NativeSolver(self.search.problem, tol=1e-8, precision="double")


class RoundedLabels:
    """Keeps the best labels that were made by rounding scores; ``labels`` is None before any were found."""

    def __init__(self, builder: LowerBoundBuilder, objective: float = np.inf, labels: Array | None = None) -> None:
        self.builder, self.objective, self.labels = builder, objective, labels

    def offer(self, scores: Array, *, thorough: bool = False) -> bool:
        """Round scores to labels and keep them if their SVM is the best so far; whether they were kept."""
        model = self.builder.model
        search, labels = model.search, model.rounded(scores)
        if search.n_positive is not None or search.target_sum is not None:
            objective = model.svm.objective(labels, model.svm.solve(labels, tol=1e-9))
        else:
            objective, solution = self.builder.evaluate(labels)
            # The signs of the outputs may be other labels than those the SVM was trained with, and better ones.
            labels = np.where(search.y != 0, search.y, np.where(solution.outputs >= 0, 1.0, -1.0))
        if objective >= self.objective:
            return False
        self.objective, self.labels = objective, labels
        return True
