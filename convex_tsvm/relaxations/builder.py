"""Lower bounds of a formulation on a problem: of the whole, and of every node of exact search."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..deadline import TimeIsUp, time_is_up
from ..formulations import Formulation
from ..instance import Instance
from ..instance.labelling import Labelling
from ..instance.step_solution import StepSolution
from ..losses import PLQ
from ..problem import Array, Problem
from ..table import RELAXATIONS, relaxation_named
from ..validation import InfeasibleError, finite, integer, one_of
from .bound_model import BoundModel
from .box import LabelBox
from .envelopes.best import BestSolution
from .envelopes.model import OutputModel, error_for, trivial_bound
from .label_matrix.label_matrix import check_solver
from .label_model import LabelModel, RoundedLabels
from .region import Bound, Incumbent, Region, Relaxation, Rules, Stage, Work
from .svm.partial_svm import PartialSVM
from .weights.best import BestWeights
from .weights.model import WeightModel

#: Points up to which there are bounds about labels and outputs: a matrix of so many takes 0.8 GB.
MOST_POINTS = 10_000

if TYPE_CHECKING:
    from ..modeling.printing import ReadableProblem


class LowerBoundBuilder:
    """Relaxations of one formulation on one problem, also with further labels known.

    Exact search asks one of these for the bound of every node, and ``bound`` for that of the root.  A relaxation is
    about labels or about outputs; before one that does not close boxes itself, one that does is asked.

    Parameters
    ----------
    formulation : Formulation
        Either one about labels, with the loss min(ℓ(f), ℓ(-f)) for unlabelled points and any balance: none, linear,
        exact (chapelle2008 eq. 3), or of the targets.  Or, for the relaxations by envelopes, any piecewise
        linear-quadratic losses, constraints on outputs, and a mean output or none.
    relaxation : str or class, optional
        "auto" or a name of ``ct.table.RELAXATIONS``.  "svm": the points without a label pay nothing (chapelle2008
        §3.1).  "sdp": the relaxation of debie2004 §2, with the class balance of chapelle2008 §3.4 where the number of
        labels is prescribed; not for a free bias without a balance, nor for a balance of the targets.  "signs",
        for the squared hinge, has products of outputs and of their signs in place of labels, in a box of outputs that
        the incumbent proves, with triangle inequalities of signs and products
        of margins with sums of signs: by far the strongest, and by a low-rank method also the fastest.
        "envelope": every point pays the convex envelope of its loss over the outputs that the incumbent leaves it.
        "curvature": the same after the regularizer has lent curvature to the losses, as a semidefinite program says.
        "weights", for the linear kernel: planes below the losses over boxes of weights and bias, whatever n is.
        A subclass of :class:`~convex_tsvm.relaxations.Relaxation` is one of one's own.
        "auto" is the strongest that there is for the problem; by default it is "sdp" where there is one, but
        for a number of labels beside a free bias, else "curvature", else "svm".
    solver : {"auto", "native", "sdpa", "scs", "clarabel"}, default "auto"
        For the relaxation "sdp", which our low-rank method solves with "auto" and "native"; the others have their own.
    tol : float, default 1e-4
        Relative accuracy of the relaxation "sdp" at the root; below it ten times less.
    gap : float, optional
        Relative gap between the incumbent and the bound at which to stop; ``tol`` by default.
    max_rounds : int, default 30
        Rounds of cuts at the root.
    searched : bool, default False
        Whether it is for a search: then labels are searched for under a balance alone, of hinge losses with a cost > 0,
        label matrices are about uncounted labels, and errors call the relaxation "bounds".

    Attributes
    ----------
    relaxation : str
        The one that is used.

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
        searched: bool = False,
    ) -> None:
        self.instance = Instance(formulation, problem)
        self.tol = finite("tol", tol, above=0)
        self.gap = self.tol if gap is None else finite("gap", gap, least=0, below=1)
        self.solver = check_solver(solver)
        self._options: dict[str, Any] = {
            "solver": self.solver,
            "tol": self.tol,
            "max_rounds": integer("max_rounds", max_rounds, least=0),
        }
        self._models: dict[str, BoundModel | str] = {}
        self._searched = searched
        # With links, and with counted labels beside a free bias, label matrices take a conic solver and much time; and
        # they leave out what links say about outputs.
        by_default = ["curvature", "svm"] if formulation.constraints else ["sdp", "curvature", "weights", "svm"]
        if self.instance.n_positive is not None and formulation.fit_intercept:
            by_default = by_default[-3:]
        self.use(self._first(by_default) if relaxation is None else relaxation)

    def use(self, relaxation: str | type[Relaxation]) -> None:
        """Choose the strongest relaxation that is asked from now on, as for the class.

        Raises
        ------
        ValueError
            If there is none of that name, or not for the problem.
        """
        argument = "bounds" if self._searched else "relaxation"
        if not isinstance(relaxation, str):
            self._use_own(relaxation, argument)
            return
        asked = relaxation_named(argument, relaxation)
        one_of(argument, asked, ("auto", *RELAXATIONS))
        try:
            # Relaxations that "auto" chooses from, the strongest first: the first one that exists for the problem.
            # The same for a search, which goes by labels where it can.
            last = ("svm", "curvature") if self._searched else ("curvature", "svm")
            name = self._first(("signs", "sdp", *last, "weights")) if asked == "auto" else asked
            why = self.why_not(name)
        except TimeIsUp:
            name, why = "svm", None  # to see whether there is a stronger one takes the inverse of a matrix
        if why is not None:
            others = " and ".join(repr(other) for other in RELAXATIONS if self.why_not(other) is None)
            if others:
                raise ValueError(f"{argument}={relaxation!r}: {why}.  There are {others}")
            given = f"{argument}={relaxation!r}: {why}; " if asked == "weights" else ""
            plain = not self.instance.formulation.additions and self.instance.formulation.regularizer.is_squared_norm
            weights = "" if plain or given else f"; nor over boxes of weights, since {self.why_not('weights')}"
            raise ValueError(
                f"{given}there is no relaxation: not by labels, since {self.why_not('svm')}; nor by envelopes, since "
                f"{self.why_not('envelope')}{weights}"
            )
        self._chain(name, RELAXATIONS[name].load())

    def _use_own(self, relaxation: Any, argument: str) -> None:
        """Choose a relaxation that is none of the table."""
        if not (isinstance(relaxation, type) and issubclass(relaxation, Relaxation)):
            names = ", ".join(("auto", *RELAXATIONS))
            raise ValueError(f"{argument}={relaxation!r} must be one of {names}, or a subclass of Relaxation")
        lacking = ", ".join(sorted(relaxation.__abstractmethods__))
        why = f"it lacks {lacking}" if lacking else self._why_not_about(relaxation)
        if why is not None:
            raise ValueError(f"{argument}={relaxation.__name__}: {why}")
        self._chain(relaxation.__name__, relaxation)

    def _chain(self, name: str, kind: type[Relaxation]) -> None:
        """Ask a relaxation, after one that closes boxes, if it does not do so itself."""
        self.relaxation, self.about = name, kind.about
        # What closes boxes that cannot be split, by what they are about.
        closes = {"labels": "svm", "outputs": "curvature", "weights": "weights"}[kind.about]
        closing = kind if kind.closes else RELAXATIONS[closes].load()
        self._closing: Relaxation = closing(**self._options)
        self._strong: Relaxation | None = None if kind.closes else kind(**self._options)

    def _first(self, names: Iterable[str]) -> str:
        """The first one that exists for the problem; else "svm", whose absence is then explained."""
        return next((name for name in names if self.why_not(name) is None), "svm")

    def why_not(self, name: str) -> str | None:
        """Why there is no relaxation of that name, or None if there is."""
        if name == "signs" and self.solver not in ("auto", "native"):
            return f"solver={self.solver!r} does not solve it: it has a low-rank method of its own"
        return self._why_not_about(RELAXATIONS[name].load())

    def _why_not_about(self, kind: type[Relaxation]) -> str | None:
        """Why a relaxation is none for the problem, or for a search, or None if it is."""
        model = self._model(kind.about)
        if isinstance(model, str):
            return model
        if self._searched and isinstance(model, LabelModel):
            if self.instance.formulation.constraints:
                return (
                    f"constraints={self.instance.formulation.constraints!r}: searches for labels know the balance "
                    "only; those about outputs take constraints"
                )
            if not isinstance(model.known, PartialSVM):
                return "searches for labels are for the hinge, the squared hinge and a hard margin, with a cost > 0"
            if kind is RELAXATIONS["sdp"].load() and model.search.n_positive is not None:
                return f"{model.instance.balance}: searches take a linear balance beside label matrices"
        return kind.why_not(model)

    def _model(self, about: str) -> BoundModel | str:
        """What bounds about labels or outputs are computed with, or why there are none."""
        if about not in self._models:
            n = self.instance.problem.n
            try:
                if about != "weights" and n > MOST_POINTS:
                    raise ValueError(f"{n} points: bounds about {about} take matrices, for {MOST_POINTS} at most")
                if about == "labels":
                    self._models[about] = LabelModel(self.instance.formulation, self.instance.problem, links=True)
                elif about == "weights":
                    self._models[about] = WeightModel(self.instance)
                else:
                    self._models[about] = self._output_model()
            except InfeasibleError:
                raise
            except ValueError as error:
                self._models[about] = str(error)
        return self._models[about]

    def _output_model(self) -> OutputModel:
        if all(isinstance(loss, PLQ) for loss in self.instance.formulation.losses):
            return OutputModel(self.instance)
        # Bounds are of a problem that is a little below; solutions are measured by the real one.
        OutputModel(self.instance)  # raises ValueError before a solution is looked for
        best = BestSolution(self.instance)
        best.begin()
        # The gap that minorants of smooth losses are made for, where a smaller one is asked for.
        gap = self.gap if self._searched else max(self.gap, 1e-3)
        return OutputModel(self.instance, error_for(self.instance, best.objective, gap))

    @property
    def model(self) -> Any:
        """What bounds are computed with: a BoundModel; ValueError if there is none."""
        found = self._model(self.about)
        if isinstance(found, str):
            raise ValueError(found)
        return found

    @property
    def search(self) -> Labelling:
        """The formulation on the problem as a search for labels; ValueError if it is none."""
        found = self._model("labels")
        if isinstance(found, str):
            raise ValueError(found)
        return cast(LabelModel, found).search

    @property
    def resumable(self) -> bool:
        """Whether the strongest relaxation goes on where it ran out of time."""
        return self._strong is not None and self._strong.resumable

    @property
    def has_stronger(self) -> bool:
        """Whether there is more to ask than what closes boxes."""
        return self._strong is not None

    @property
    def is_about_labels(self) -> bool:
        """Whether the relaxation that is used is one about labels, and not about outputs."""
        return self.about == "labels"

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
        model = self.model
        if isinstance(model, LabelModel):
            y = model.search.y if labels is None else model.search.fixed(labels).y
            best: Any = RoundedLabels(model, y, upper, upper_labels) if incumbent is None else incumbent
        else:
            for name, given in (("labels", labels), ("incumbent", incumbent)):
                if given is not None:
                    raise ValueError(f"{name}: relaxation={self.relaxation!r} is not about labels; only upper is taken")
            y = self.instance.problem.y
            best = self.incumbent(upper)
        status, work, rules = "optimal", None, Rules(gap=self.gap, alone=True)
        try:
            if not np.isfinite(best.objective):
                best.begin()
            box = (
                model.count(LabelBox.of_labels(y)) if self.is_about_labels else model.root(rules.cutoff(best.objective))
            )
            region = Region(box, bound=trivial_bound(self.instance))
            work = Work(model, region, best, rules, callback)
            self._examine(work, strong=True)
            # Statuses of solvers, from the best to the worst.
            status = max(
                (stage.status for stage in work.stages),
                key=("optimal", "time_limit", "inaccurate", "failed").index,
                default="optimal",
            )
            if time_is_up() and status == "optimal":
                status = "time_limit"
        except KeyboardInterrupt:
            status = "interrupted"
        return self._found(work, best, upper_labels, status, y)

    def _found(self, work: Work | None, best: Any, upper_labels: Array | None, status: str, y: Array) -> Bound:
        """What is known after work, or an interruption, which may have come before there was any."""
        model, labels = self.model, getattr(best, "labels", None)
        if work is None:
            trivial = trivial_bound(self.instance)
            return Bound(trivial, np.nan, best.objective, labels, np.zeros(len(y)), y, {}, (), status)
        scores = model.scores(work.box, work.outputs)
        return Bound(
            # What the incumbent excludes it excludes from the gap on.
            value=min(work.bound, work.cutoff),
            relaxed=work.stages[-1].relaxed if work.stages else np.nan,
            upper=best.objective,
            labels=upper_labels if labels is None else labels,
            scores=np.clip(scores, -1, 1) if self.is_about_labels else scores,
            proven=np.where(y != 0, y, model.proven(work.box)),
            duals=work.duals,
            stages=tuple(work.stages),
            status=status if work.open or status == "interrupted" else "optimal",
            proofs=tuple(work.proofs),
        )

    def examine(
        self, region: Region, incumbent: Incumbent, rules: Rules, *, strong: bool = True, turn: int = 0
    ) -> Work:
        """Bounds of a region, a node of exact search, from the cheapest to the strongest, until it is closed.

        More than what closes boxes is asked for only if ``strong``; ``turn`` says how many regions the search has
        worked on before. The work has the smaller box, its bound, and their proofs.
        """
        work = Work(self.model, region, incumbent, rules, turn=turn)
        self._examine(work, strong)
        return work

    def _examine(self, work: Work, strong: bool) -> None:
        if work.box.is_empty:
            work.bound = max(work.bound, work.cutoff)
        if not work.open:
            return
        self._closing.tighten(work)
        if strong and self._strong is not None and work.open:
            self._strong.tighten(work)
            # It was open before the stronger relaxation, and may be closed by it.
            if work.open and self.is_about_labels and len(work.box.unknown) == 0:  # type: ignore[redundant-expr]
                self._closing.finish(work)

    def incumbent(self, upper: float = np.inf) -> Any:
        """What keeps the best solution where boxes are about weights or outputs."""
        if self.about == "weights":
            return BestWeights(self.model, upper)
        return BestSolution(self.instance, upper, error=self.model.error)

    def finish(self, work: Work) -> None:
        """Close a box that is open and cannot be split, after :meth:`examine`."""
        self._closing.finish(work)

    def fork(self, number: int) -> LowerBoundBuilder:
        """One for work beside others: they share what none changes, and have the multipliers of a number."""
        other = copy.copy(self)
        other._models = {self.about: self.model.fork(number)}
        return other

    def evaluate(self, labels: Array) -> tuple[float, StepSolution]:
        """The objective of the SVM for labels of all points, +1 and -1 of shape (n,), and that SVM.

        A ValueError says if the relaxation is not about labels.
        """
        if not self.is_about_labels:
            raise ValueError(f"relaxation={self.relaxation!r} is about {self.about}, and not about labels")
        found: tuple[float, StepSolution] = self.model.evaluate(labels)
        return found

    def primal(self) -> ReadableProblem:
        """The relaxation in the label matrix as a ``cvxpy.Problem`` to read: it prints itself, and has ``latex()``.

        Raises
        ------
        ValueError
            If ``relaxation`` is not "sdp": "svm" is an SVM, and the others are made anew in every round.
        """
        return self._written().ReducedSDP(self.search).problem

    def dual(self) -> ReadableProblem:
        """The dual of :meth:`primal`, with the same value and errors: every feasible point of it is a lower bound."""
        return self._written().DualSDP(self.search).problem

    def _written(self) -> Any:
        """Where the relaxation is written as a CVXPY problem."""
        if self.relaxation != "sdp":
            raise ValueError(f"relaxation={self.relaxation!r} must be 'sdp' to be written as a CVXPY problem")
        from ..modeling import label_matrix

        return label_matrix
