"""Lower bounds for an S3VM whose labels are known in part: what branch and bound asks for."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..formulations import Formulation
from ..instance.convex_step import StepSolution
from ..instance.labelling import Labelling, check_relaxable, labelling
from ..problem import Array, Problem
from ..solution import relative_gap
from ..solvers import NativeSolver
from ..validation import finite, integer, one_of
from .label_matrix.low_rank import solve_low_rank
from .output_space.cuts import Cuts
from .output_space.quadratic_program import OutputSpace, labels_of, settle
from .output_space.tightening import RELAXATIONS, Round, Tightening
from .partial_svm import PartialSVM
from .safe_bounds import svm_bound

if TYPE_CHECKING:
    from ..modeling.printing import ReadableProblem


@dataclass(frozen=True)
class Stage:
    """One relaxation on the way to a bound.

    Attributes
    ----------
    name : str
    bound : float
        The safe bound known after it.
    relaxed : float
        Its value as the solver left it: no bound.
    n_cuts, n_fixed : int
        Cuts in it; labels that are proven, those given included.
    seconds : float
    status : str
    """

    name: str
    bound: float
    relaxed: float
    n_cuts: int
    n_fixed: int
    seconds: float
    status: str


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
        What proves the last relaxation's bound: "gamma" of the SVM; "alpha" and "multipliers" of the SDP
        (:func:`~convex_tsvm.relaxations.transduction_bound`); "diagonal", "chord" and "weights" (of the cuts) of a
        relaxation in v-space, and the "A" ⪰ 0 of the convex quadratic that they make of the objective.
    stages : tuple of Stage
    status : {"optimal", "inaccurate", "failed", "interrupted"}
        Of the last solver ("optimal" also if the gap is closed); the bound holds whatever it is.

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
    2 of 6 labels are known or proven
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

    Parameters
    ----------
    formulation : Formulation
        With the loss min(ℓ(f), ℓ(-f)) for unlabelled points.
    problem : Problem
    relaxation : {"svm", "sdp", "box", "rlt", "triangles"}, default "sdp"
        "svm": the points without a label pay nothing (chapelle2008 §3.1).  "sdp": the relaxation of debie2004 §2.  The
        others, for the squared hinge, add to it, one after the other: ends for every output that the incumbent proves,
        with the chord of the square above it; products of these ends (RLT); shifted triangle inequalities.
    solver : {"auto", "native", "sdpa", "scs", "clarabel"}, default "auto"
        For the relaxations from "box" on.
    tol : float, default 1e-4
        Relative accuracy of the relaxations, and gap at which to stop.
    max_rounds : int, default 10
        Rounds of cuts.
    cuts_per_round : int, optional
        3 n by default, for each kind.

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
        max_rounds: int = 10,
        cuts_per_round: int | None = None,
    ) -> None:
        self.search = labelling(formulation, problem)
        check_relaxable(self.search)
        self.relaxation = one_of("relaxation", relaxation, RELAXATIONS)
        self.solver, self.tol = solver, finite("tol", tol, above=0)
        self.max_rounds = integer("max_rounds", max_rounds, least=0)
        self.cuts_per_round = 3 * problem.n if cuts_per_round is None else cuts_per_round
        self._svm = NativeSolver(problem, tol=1e-8, precision="double")
        if RELAXATIONS.index(relaxation) > RELAXATIONS.index("sdp"):
            self._space  # noqa: B018  # complains now, not in the middle

    def bound(
        self,
        labels: Array | None = None,
        *,
        upper: float = np.inf,
        upper_labels: Array | None = None,
        callback: Callable[[Stage], None] | None = None,
    ) -> Bound:
        """The bound for given labels.

        Parameters
        ----------
        labels : array, shape (n,), optional
            +1, -1, or 0 for unknown; the problem's own labels by default.
        upper, upper_labels : float and array, optional
            An objective that is known to be reached, and the labels that reach it.
        callback : callable, optional
            Called with every stage.

        Raises
        ------
        ValueError
            If labels are not as stated or contradict the problem's.
        """
        search = self.search if labels is None else self.search.fixed(labels)
        run = _Bounding(self, search, upper, upper_labels, callback)
        return run.run(self.relaxation)

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
        solution = self._svm.solve(self.search.svm(labels))
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

    def tightening(self, level: int) -> Tightening:
        """Rounds of the relaxations from "box" on.

        Parameters
        ----------
        level : int
            The place of the strongest one in ``RELAXATIONS``.

        Returns
        -------
        Tightening
        """
        return Tightening(
            self._space,
            solver=self.solver,
            cuts_per_round=self.cuts_per_round,
            relaxation=RELAXATIONS[level],
        )

    @cached_property
    def _space(self) -> OutputSpace:
        return OutputSpace(self.search)

    @cached_property
    def _partial(self) -> PartialSVM:
        return PartialSVM(self.search)


class _Bounding:
    """One call of :meth:`LowerBoundBuilder.bound`."""

    def __init__(
        self,
        builder: LowerBoundBuilder,
        search: Labelling,
        upper: float,
        labels: Array | None,
        callback: Callable[[Stage], None] | None,
    ) -> None:
        self.builder, self.search, self.callback = builder, search, callback
        self.upper, self.labels = upper, labels
        self.value, self.relaxed, self.scores = -np.inf, np.nan, search.y.copy()
        self.proven, self.status = search.y.copy(), "optimal"
        self.stages: list[Stage] = []
        self.duals: dict[str, Array] = {}

    @property
    def closed(self) -> bool:
        """Whether the gap is small enough."""
        return self.upper - self.value <= self.builder.tol * abs(self.upper)

    def run(self, relaxation: str) -> Bound:
        """One relaxation after the other, up to the one asked for, as long as there is a gap."""
        level = RELAXATIONS.index(relaxation)
        try:
            self.svm()
            if level >= 1 and len(self.search.unknown) and not self.closed:
                self.sdp()
            if level >= 2 and len(self.search.unknown) and not self.closed:
                self.cuts(level)
            if self.closed:
                self.status = "optimal"  # whatever the last solver thinks of its own accuracy
        except KeyboardInterrupt:
            self.status = "interrupted"
        return Bound(
            value=min(self.value, self.upper),
            relaxed=self.relaxed,
            upper=self.upper,
            labels=self.labels,
            scores=self.scores,
            proven=self.proven,
            duals=self.duals,
            stages=tuple(self.stages),
            status=self.status,
        )

    def svm(self) -> None:
        """The SVM on the labels known."""
        began = time.perf_counter()
        point = self.builder._svm.solve(self.search.svm(self.search.y))
        self.duals = {"gamma": point.gamma}
        self.scores = np.where(self.search.y == 0, np.clip(point.outputs, -1, 1), self.search.y)
        self.try_labels(point.outputs)
        bound = svm_bound(self.search, point.gamma)
        self.record("svm", bound, point.primal + self.search.loss_constant, 0, point.status, began)

    def sdp(self) -> None:
        """The relaxation of debie2004 §2."""
        began = time.perf_counter()
        point = solve_low_rank(self.search, tol=self.builder.tol)
        self.duals = {"alpha": point.alpha, "multipliers": point.multipliers}
        self.scores = self.search.y.copy()
        self.scores[self.search.unknown] = point.scores
        self.try_labels(self.scores)
        status = "optimal" if point.status == "optimal" else "inaccurate"
        self.record("sdp", point.bound, point.value, 0, status, began)

    def cuts(self, level: int) -> None:
        """The relaxation in v-space, with what the incumbent proves and rounds of cuts."""
        low, high = self.box()
        if (low > high).any():
            self.value = max(self.value, self.upper)
            return
        tightening = self.builder.tightening(level)
        cuts, began = Cuts.none(), time.perf_counter()
        for turn in tightening.rounds(low, high, cuts, self.upper, 1 + self.builder.max_rounds):
            self.keep(turn, level, began)
            if self.closed:
                return
            began = time.perf_counter()

    def box(self) -> tuple[Array, Array]:
        """What the incumbent excludes, by the SVM alone."""
        partial, known = self.builder._partial, self.search.y
        low, high, y = np.full(self.search.n, -np.inf), np.full(self.search.n, np.inf), known
        while True:
            point = partial.solve(y)
            boxes = [(low, high), partial.consequences(y, point, self.upper)]
            boxes.append(partial.directional_box(y, partial.directions(y, point, self.upper), self.upper))
            lows, highs = zip(*boxes, strict=True)
            low, high = settle(np.max(lows, axis=0), np.min(highs, axis=0), y)
            if (low > high).any() or (labels_of(low, high) == y).all():
                self.proven = np.where(low > high, known, labels_of(low, high))
                return low, high
            y = labels_of(low, high)

    def keep(self, turn: Round, level: int, began: float) -> None:
        """Record what a round of cuts found."""
        z = turn.convexified.multipliers
        self.duals = {"diagonal": z.diagonal, "chord": z.chord, "weights": z.weights, "A": turn.convexified.A}
        self.try_labels(turn.relaxed.scores)
        if turn.is_empty:
            # No point is better than the incumbent.
            self.value = max(self.value, self.upper)
        else:
            self.proven = labels_of(turn.low, turn.high)
        self.scores = np.where(self.proven == 0, np.clip(turn.relaxed.scores, -1, 1), self.proven)
        name = "box" if turn.n_cuts == 0 else "rlt" if level == 3 else "triangles"
        self.record(name, turn.bound, turn.relaxed.value, turn.n_cuts, turn.relaxed.status, began)

    def try_labels(self, scores: Array) -> None:
        """Make labels of scores; keep them if their SVM is the best so far."""
        labels = np.where(self.search.y != 0, self.search.y, np.where(scores >= 0, 1.0, -1.0))
        objective, solution = self.builder.evaluate(labels)
        # The outputs may prefer other labels than those they were trained with.
        if objective < self.upper:
            given = self.search.problem.y
            own = np.where(solution.outputs >= 0, 1.0, -1.0)
            self.upper, self.labels = objective, np.where(given != 0, given, own)

    def record(self, name: str, bound: float, relaxed: float, n_cuts: int, status: str, began: float) -> None:
        """Keep the best bound: every one of them holds."""
        self.value, self.relaxed, self.status = max(self.value, bound), relaxed, status
        n_fixed = int((self.proven != 0).sum())
        stage = Stage(name, self.value, relaxed, n_cuts, n_fixed, time.perf_counter() - began, status)
        self.stages.append(stage)
        if self.callback is not None:
            self.callback(stage)
