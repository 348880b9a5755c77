"""Lower bounds for an S3VM whose labels are known in part: for a whole problem, and for every node of exact search."""

from __future__ import annotations

import copy
import importlib.util
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..deadline import TimeIsUp, time_is_up
from ..formulations import Formulation
from ..instance import Instance
from ..instance.labelling import Labelling
from ..instance.step_solution import StepSolution
from ..problem import Array, Problem
from ..solvers import NativeSolver
from ..table import INTERVAL_RELAXATIONS, RELAXATIONS, SDP_SOLVERS, relaxation_named
from ..validation import InfeasibleError, finite, integer, one_of
from .bound import Bound
from .box import Box
from .envelopes.best import MOST_MISSED
from .envelopes.model import trivial_bound
from .envelopes.relaxation import EnvelopeRelaxation
from .model import BoundModel
from .relaxation import Incumbent, Region, Relaxation, Rules, Stage, Work

if TYPE_CHECKING:
    from ..modeling.printing import ReadableProblem

#: Relaxations that "auto" chooses from, the strongest first: the first one that exists for the problem.
STRONGEST = ("signs", "sdp", "curvature", "svm")

#: All of them.
ALL = (*RELAXATIONS, *INTERVAL_RELAXATIONS)

#: What is asked for by default, the first one that exists for the problem.
BY_DEFAULT = ("sdp", "curvature", "svm")

#: Statuses of solvers, from the best to the worst.
SEVERITY = ("optimal", "time_limit", "inaccurate", "failed")


class LowerBoundBuilder:
    """Relaxations of one formulation on one problem, for any labels known besides.

    Exact search asks one of these for the bound of every node, and ``bound`` for that of the root.

    Parameters
    ----------
    formulation : Formulation
        Either one about labels, with the loss min(ℓ(f), ℓ(-f)) for unlabelled points and any balance: none, linear,
        exact (chapelle2008 eq. 3), or of the targets.  Or, for the relaxations by envelopes, any piecewise
        linear-quadratic losses, constraints on outputs, and a mean output or none.
    problem : Problem
    relaxation : {"auto", "svm", "sdp", "signs", "envelope", "curvature"} or class, optional
        "svm": the points without a label pay nothing (chapelle2008 §3.1).  "sdp": the relaxation of debie2004 §2, with
        the class balance of chapelle2008 §3.4 where the number of labels is prescribed; there is none with a free bias,
        nor for a balance of the targets.  "signs", for the squared hinge, has products of outputs and of their signs in
        place of labels, in a box of outputs that the incumbent proves, with triangle inequalities of signs and products
        of margins with sums of signs: by far the strongest, and by a low-rank method also the fastest.
        "envelope": every point pays the convex envelope of its loss over the outputs that the incumbent leaves it.
        "curvature": the same after the regularizer has lent curvature to the losses, as a semidefinite program says.
        A subclass of :class:`~convex_tsvm.relaxations.Relaxation` is one of one's own.
        "auto" is the strongest that there is for the problem; by default it is "sdp" where there is one, else
        "curvature", else "svm".
    solver : {"auto", "native", "sdpa", "scs", "clarabel"}, default "auto"
        For the relaxation "sdp", which our low-rank method solves with "auto" and "native"; the others have their own.
    tol : float, default 1e-4
        Relative accuracy of the relaxation "sdp" at the root; below it ten times less.
    gap : float, optional
        Relative gap between the incumbent and the bound at which to stop; ``tol`` by default.
    max_rounds : int, default 30
        Rounds of cuts at the root.
    cuts_per_round : int, optional
        Of each kind; 3 n by default.

    Attributes
    ----------
    relaxation : str
        The one that is used.
    model : BoundModel
        What bounds about labels are computed with; ValueError for a formulation that is not about labels.
    search : Labelling
        The formulation on the problem as a search for labels.

    Raises
    ------
    ValueError
        If the formulation cannot be relaxed, or an argument is not as stated.

    Examples
    --------
    >>> builder = ct.LowerBoundBuilder(ct.s3vm(), problem, relaxation="sdp")
    >>> bound = builder.bound()
    >>> solution = ct.cccp(ct.s3vm(), problem)
    >>> bool(bound.value <= solution.objective)
    True
    >>> print(str(builder.primal()).splitlines()[0])
    minimize    ½ τ + Cᵀ max(0, 1 - t)²

    The ramp is not about labels:

    >>> bound = ct.LowerBoundBuilder(ct.cccp_tsvm(-0.3), problem).bound()
    >>> bound.stages[0].name, bound.gap < 0.01
    ('curvature', True)
    """

    def __init__(
        self,
        formulation: Formulation,
        problem: Problem,
        *,
        relaxation: str | type[Relaxation] | None = None,
        solver: str = "auto",
        tol: float = 1e-4,
        gap: float | None = None,
        max_rounds: int = 30,
        cuts_per_round: int | None = None,
    ) -> None:
        self.instance = Instance(formulation, problem)
        self._model: BoundModel | str
        try:
            self._model = BoundModel(formulation, problem, links=True)
        except InfeasibleError:
            raise
        except ValueError as error:
            # The formulation is not about labels; why, is told where that is asked for.
            self._model = str(error)
        self.tol = finite("tol", tol, above=0)
        self.gap = self.tol if gap is None else finite("gap", gap, least=0, below=1)
        self.solver = check_solver(solver)
        self._options: dict[str, Any] = {
            "solver": self.solver,
            "tol": self.tol,
            "max_rounds": integer("max_rounds", max_rounds, least=0),
            "cuts_per_round": None if cuts_per_round is None else integer("cuts_per_round", cuts_per_round, least=0),
        }
        self._known: Relaxation = RELAXATIONS["svm"].load()(**self._options)
        # With links the relaxation in label matrices takes a conic solver, and leaves out what they say about outputs.
        by_default = BY_DEFAULT[1:] if formulation.constraints else BY_DEFAULT
        self.use(self._first(by_default) if relaxation is None else relaxation)

    def use(self, relaxation: str | type[Relaxation], argument: str = "relaxation", *, searched: bool = False) -> None:
        """Choose the strongest relaxation that is asked from now on.

        Parameters
        ----------
        relaxation : str or subclass of Relaxation
            As for the class.
        argument : str, default "relaxation"
            The name by which an error calls it.
        searched : bool, default False
            Whether it is for a search, whose proofs are about labels, and in label matrices about uncounted ones.

        Raises
        ------
        ValueError
            If there is none of that name, or not for the problem.
        """
        self._strong: Relaxation | None = None
        self._intervals: EnvelopeRelaxation | None = None
        if not isinstance(relaxation, str):
            self._use_own(relaxation, argument, searched)
            return
        try:
            self._use_named(relaxation, argument, searched)
        except TimeIsUp:
            self.relaxation = "svm"  # to see whether there is a stronger one takes the inverse of a matrix

    def _use_named(self, relaxation: str, argument: str, searched: bool) -> None:
        """Choose a relaxation of the table."""
        relaxation = relaxation_named(argument, relaxation)
        one_of(argument, relaxation, ("auto", *RELAXATIONS, *(() if searched else INTERVAL_RELAXATIONS)))
        if searched and self.search.formulation.constraints:
            raise ValueError(
                f"constraints={self.search.formulation.constraints!r}: searches for labels know the balance only; "
                "exact_search() searches over intervals of outputs"
            )
        counted = searched and self.search.n_positive is not None
        left_out = (*INTERVAL_RELAXATIONS, *(("sdp",) if counted else ())) if searched else ()
        self.relaxation = relaxation
        if relaxation == "auto":
            self.relaxation = self._first(name for name in STRONGEST if name not in left_out)
        why = self._why_not(self.relaxation)
        if self.relaxation in left_out:
            why = f"{self.search.instance.balance}: searches take a linear balance beside label matrices"
        if why is not None:
            kept = (name for name in ALL if name not in left_out)
            others = " and ".join(repr(name) for name in kept if self._why_not(name) is None)
            if others:
                raise ValueError(f"{argument}={relaxation!r}: {why}.  There are {others}")
            raise ValueError(
                f"there is no relaxation: not by labels, since {why}; nor by envelopes, since "
                f"{self._why_not('envelope')}"
            )
        if self.relaxation in INTERVAL_RELAXATIONS:
            options = {"gap": self.gap, "tol": self.tol, "max_rounds": self._options["max_rounds"]}
            self._intervals = INTERVAL_RELAXATIONS[self.relaxation].load()(self.instance, **options)
        elif self.relaxation != "svm":
            self._strong = RELAXATIONS[self.relaxation].load()(**self._options)

    def _use_own(self, relaxation: Any, argument: str, searched: bool) -> None:
        """Choose a relaxation that is none of the table."""
        if not (isinstance(relaxation, type) and issubclass(relaxation, Relaxation)):
            raise ValueError(f"{argument}={relaxation!r} must be one of {', '.join(ALL)}, or a subclass of Relaxation")
        if searched:
            raise ValueError(
                f"{argument}={relaxation.__name__}: exact search keeps proofs of the table's relaxations only"
            )
        why = relaxation.why_not(self.model)
        if why is not None:
            raise ValueError(f"{argument}={relaxation.__name__}: {why}")
        self.relaxation, self._strong = relaxation.__name__, relaxation(**self._options)

    def _first(self, names: Iterable[str]) -> str:
        """The first one that exists for the problem; else "svm", whose absence is then explained."""
        return next((name for name in names if self._why_not(name) is None), "svm")

    def _why_not(self, name: str) -> str | None:
        """Why there is no relaxation of that name, or None if there is."""
        if name in INTERVAL_RELAXATIONS:
            why: str | None = INTERVAL_RELAXATIONS[name].load().why_not(self.instance)
        elif name == "signs" and self.solver not in ("auto", "native"):
            why = f"solver={self.solver!r} does not solve it: it has a low-rank method of its own"
        else:
            model = self._model
            why = model if isinstance(model, str) else RELAXATIONS[name].load().why_not(model)
        return why

    @property
    def model(self) -> BoundModel:
        """What bounds about labels are computed with; ValueError for a formulation that is not about labels."""
        if isinstance(self._model, str):
            raise ValueError(self._model)
        return self._model

    @property
    def search(self) -> Labelling:
        """The formulation on the problem as a search for labels; ValueError if it is none."""
        return self.model.search

    @property
    def resumable(self) -> bool:
        """Whether the strongest relaxation goes on where it ran out of time."""
        return self._strong is not None and self._strong.resumable

    @property
    def is_about_labels(self) -> bool:
        """Whether the relaxation that is used is one about labels, and not by envelopes."""
        return self._intervals is None

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
            If labels are not as stated or contradict the problem's; or are given to a relaxation by envelopes.
        """
        if self._intervals is not None:
            for name, given in (("labels", labels), ("incumbent", incumbent)):
                if given is not None:
                    raise ValueError(f"{name}: relaxation={self.relaxation!r} is not about labels; only upper is taken")
            found = self._intervals.bound(upper, callback)
            return replace(found, labels=upper_labels) if found.labels is None else found
        y = self.model.search.y if labels is None else self.model.search.fixed(labels).y
        best = incumbent if incumbent is not None else RoundedLabels(self, upper, upper_labels)
        region = Region(self.model.count(Box.of_labels(y)), bound=trivial_bound(self.instance))
        work = Work(self.model, region, best, Rules(gap=self.gap), callback)
        try:
            if not np.isfinite(best.objective):
                # Without an incumbent the SVM of the known labels gives the first labels.
                point = self.model.known.solve(y)
                best.offer(np.where(y != 0, y, point.outputs + point.bias))
            self._examine(work, strong=True)
            status = max((stage.status for stage in work.stages), key=SEVERITY.index, default="optimal")
            if time_is_up() and status == "optimal":
                status = "time_limit"
        except KeyboardInterrupt:
            status = "interrupted"
        labels_there = np.where(work.box.low > work.box.high, y, work.box.labels)
        return Bound(
            # What the incumbent excludes it excludes from the gap on.
            value=min(work.bound, work.cutoff),
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
            # It was open before the stronger relaxation, and may be closed by it.
            if work.open and len(work.box.unknown) == 0:  # type: ignore[redundant-expr]
                self._known.tighten(work)

    def fork(self, number: int) -> LowerBoundBuilder:
        """One for work beside others: they share what none of them changes, and have the multipliers of a node.

        Parameters
        ----------
        number : int
            Of these multipliers; -1 for none.
        """
        other = copy.copy(self)
        other._model = self.model.fork(number)
        return other

    def evaluate(self, labels: Array) -> tuple[float, StepSolution]:
        """The objective of the SVM for labels of all points, and that SVM.

        Parameters
        ----------
        labels : array, shape (n,)
            +1 and -1.
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
            If ``relaxation`` is not "sdp": "svm" is an SVM, and the others are made anew in every round.
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


def check_solver(solver: str) -> str:
    """The name of a solver of the relaxation in label matrices; a ValueError if there is none, or it is not there."""
    one_of("solver", solver, ("auto", *SDP_SOLVERS))
    packages = {"sdpa": "sdpap", "scs": "scs", "clarabel": "clarabel"}
    if solver in packages and importlib.util.find_spec(packages[solver]) is None:
        raise ValueError(f"solver={solver!r} is not installed; solver='native' is always there")
    return solver


class RoundedLabels:
    """Keeps the best labels that were made by rounding scores; ``labels`` is None before any were found."""

    def __init__(self, builder: LowerBoundBuilder, objective: float = np.inf, labels: Array | None = None) -> None:
        self.builder, self.objective, self.labels = builder, objective, labels

    def offer(self, scores: Array, *, thorough: bool = False) -> bool:
        """Round scores to labels and keep them if their SVM is the best so far; whether they were kept."""
        model = self.builder.model
        search, labels = model.search, model.rounded(scores)
        if search.formulation.constraints or not (search.cost > 0).all():
            # The SVM that bounds leaves out what links say about outputs, and is for points that cost something.
            objective, solution = self.builder.evaluate(labels)
            missed = solution.primal_infeasibility > MOST_MISSED * (1 + float(np.abs(solution.outputs).max()))
            objective, outputs = np.inf if missed else objective, solution.outputs
        else:
            point = model.svm.solve(labels, tol=1e-9)
            objective, outputs = model.svm.objective(labels, point), model.svm.margins(point) + point.bias
        if not (model.known.hard or search.n_positive is not None or search.target_sum is not None):
            # The signs of the outputs may be other labels than those the SVM was trained with, and better ones.
            labels = np.where(search.y != 0, search.y, np.where(outputs >= 0, 1.0, -1.0))
        if objective >= self.objective:
            return False
        self.objective, self.labels = objective, labels
        return True
