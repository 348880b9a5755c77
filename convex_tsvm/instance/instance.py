"""A formulation on a problem: balance, bias, feature space and constraints settled once, for everything above.

What a balance means depends on what the formulation balances (outputs or targets), on what the problem asks for (a
mean, a number of positive labels, nothing) and on whether there are unlabelled points.  Here that becomes plain facts:
a mean output ``target``, a number ``n_positive`` of labels, a sum ``target_sum`` of targets, or None for each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..formulations import Formulation
from ..formulations.constraints import mean_of
from ..formulations.formulation import Kind
from ..kernels import RBF
from ..losses import PLQ, Convex
from ..problem import Array, Problem
from ..ties import ZERO_OUTPUT, is_positive, rounded
from .convex_step import ConvexStep
from .rows import OutputRows
from .space import Bias

if TYPE_CHECKING:
    import cvxpy as cp

    from ..modeling import StepModel


@dataclass(frozen=True, eq=False)
class Instance:
    """A formulation on a problem.

    Outputs, labels, probabilities of labels +1 (``positive``) and costs are arrays of shape (n,).  Costs are those of
    the problem where none are given, and ``regularization`` is R(w).  A ValueError says if the problem lacks something
    that the formulation needs, and an InfeasibleError, which is one, if no function meets the constraints, which it
    names.

    Attributes
    ----------
    target : float or None
        The mean output that the members of the balance must have, if a mean is constrained.  For a prescribed number
        of positive labels it is the mean of these labels: where a search for the right mean begins.
    n_positive : int or None
        Number of unlabelled points that must be labelled +1, if that is prescribed.
    target_sum : float or None
        What the targets v = f + y ξ of the members must sum to, if they are balanced in place of outputs.
    rows : OutputRows or None
        The formulation's other constraints on outputs.

    Examples
    --------
    >>> instance = ct.Instance(ct.cccp_tsvm(), problem)
    >>> instance.objective(np.array([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0]), 0.5)
    0.5
    """

    formulation: Formulation
    problem: Problem

    def __post_init__(self) -> None:
        object.__setattr__(self, "formulation", self.formulation.placed(self.problem))
        self.formulation.check(self.problem)
        if self.formulation.groups:
            object.__setattr__(self, "problem", self.formulation.ungrouped(self.problem))
        # A bias meets any one mean, and so does a function of an RBF kernel, whose means are never zero.
        meets_means = self.formulation.fit_intercept or isinstance(self.problem.kernel, RBF)
        if self.rows is not None or (self.target is not None and not meets_means):
            self._all_rows.check_feasible(self.problem, self.formulation.fit_intercept)

    @property
    def target(self) -> float | None:
        return self.problem.balance_target if self.formulation.balance == "linear" else None

    @property
    def n_positive(self) -> int | None:
        return self.problem.positive_count if self.formulation.balance == "linear" else None

    @property
    def target_sum(self) -> float | None:
        if self.formulation.balance != "targets" or self.problem.balance_target is None:
            return None
        return self.problem.balance_target * len(self.members)

    @property
    def members(self) -> NDArray[np.intp]:
        """The points whose mean, or sum of targets, a balance is about."""
        return self.problem.balance_points

    @property
    def bias(self) -> Bias:
        """What becomes of the bias."""
        return Bias(self.formulation.fit_intercept, self.target, self.members)

    @cached_property
    def rows(self) -> OutputRows | None:
        if not self.formulation.constraints:
            return None
        return OutputRows.of(self.formulation.constraints, self.problem)

    @property
    def balance(self) -> str:
        """The balance as the problem asks for it, for messages."""
        return f"balance={self.problem.balance!r}"

    @property
    def asks_for_a_number(self) -> bool:
        """Whether the problem prescribes a number of positive labels, whatever the formulation makes of it."""
        return self.problem.positive_count is not None

    @cached_property
    def shift(self) -> Array | None:
        """What is subtracted from the output of each point before its loss, shape (n,): targets; None if nothing is."""
        return self.formulation.shift(self.problem)

    def without_targets(self) -> Instance:
        """The same with losses that are moved to the targets of their points (:meth:`Formulation.without_targets`)."""
        return self if self.shift is None else Instance(self.formulation.without_targets(self.problem), self.problem)

    def with_mean(self, mean: float) -> Instance:
        """The instance under a linear balance constraint with this mean."""
        return Instance(self.formulation, self.problem.replace(balance=mean))

    def by_mean(self) -> Instance:
        """The same with a balance that convex steps take: a mean in place of a number, none in place of targets."""
        formulation = self.formulation
        if formulation.balance == "targets":
            formulation = dataclasses.replace(formulation, balance=None)
        return Instance(formulation, self.problem.by_mean())

    def replaced(self, formulation: Formulation) -> Instance:
        """The instance of another formulation; without a balance where a number of labels is prescribed.

        A mean output of c is another thing than a share of labels, and would exclude solutions.
        """
        if self.n_positive is not None:
            formulation = dataclasses.replace(formulation, balance=None)
        return Instance(formulation, self.problem)

    @property
    def positive_share(self) -> float:
        """The share of positive labels that is asked for, or a half."""
        if self.n_positive is not None:
            return self.n_positive / self.problem.n_unlabeled
        return 0.5

    def dense_rows(self) -> Iterator[tuple[Array, float, float]]:
        """Every linear constraint on outputs as (coefficients, lower, upper), that of a mean first."""
        rows = self._all_rows
        yield from zip(rows.A.toarray(), rows.lower.tolist(), rows.upper.tolist(), strict=True)

    def paying(self) -> Iterator[tuple[Kind, NDArray[np.intp]]]:
        """The kinds of points that pay a loss, with those that have a cost."""
        cost = self.cost
        for number, kind in enumerate(self.formulation.by_kind):
            where = np.flatnonzero((self._kinds == number) & (cost > 0))
            if kind.loss is not None and len(where):
                yield kind, where

    # --- views of it: convex steps ----------------------------------------------------------------------------------

    def step(self, outputs: Array | None = None, cost: Array | None = None) -> ConvexStep:
        """The convex problem in which every concave part is replaced by its tangent at ``outputs``.

        Without these it takes no tangents, which leaves the convex parts.
        """
        cost = self.cost if cost is None else np.array(cost, dtype=float)
        if self.formulation.unlabeled is None:
            cost[self._kinds == 2] = 0.0
        slope = np.zeros(self.problem.n) if outputs is None else self.tangents(outputs, cost)
        losses = tuple(convex for convex, _ in self.formulation.parts)
        names = tuple(kind.name for kind in self.formulation.by_kind)
        return self.envelope_step(losses, self._kinds, cost, slope, names).replace(shift=self.shift)

    def svm(self, labels: Array, cost: Array | None = None) -> ConvexStep:
        """The step of the SVM with the labelled points' loss for labels of all points, 0 for those that pay nothing."""
        cost = np.where(labels == 0, 0.0, self.problem.cost if cost is None else cost)
        kind, slope, names = (labels < 0).astype(np.intp), np.zeros(len(cost)), ("positive", "negative")
        return self.envelope_step(self._label_losses, kind, cost, slope, names).replace(target=self._label_target)

    def envelope_step(
        self, losses: tuple[Convex, ...], kind: NDArray[np.intp], cost: Array, slope: Array, names: tuple[str, ...]
    ) -> ConvexStep:
        """The convex problem in which each point pays a loss of its own: a bound if none is above the formulation's.

        The losses are convex; ``kind`` says which of them each point pays, and ``names`` what CVXPY problems call them.
        """
        formulation = self.formulation
        self.check_outputs()
        if formulation.balance == "targets":
            raise ValueError("balance='targets' is for relaxations and exact search; convex steps know 'linear'")
        return ConvexStep(
            self.problem,
            losses,
            kind,
            cost,
            slope,
            target=self.target,
            fit_intercept=formulation.fit_intercept,
            regularizer=formulation.regularizer,
            names=names,
            rows=self.rows,
            additions=formulation.additions,
        )

    def weighted_svm(self, positive: Array) -> ConvexStep:
        """The step of the SVM in which a point pays both labels' losses, by the probability that its label is +1.

        Each uncertain point has two terms; one whose label is as good as certain has one (chapelle2008 eq. 7).
        """
        least = 1e-6  # Less probable labels are as good as excluded.
        positive = np.where(positive < least, 0.0, np.where(positive > 1 - least, 1.0, positive))
        both = np.flatnonzero((positive > 0) & (positive < 1))
        points = np.arange(self.problem.n)
        point = np.concatenate([points, both])
        kind = np.concatenate([(positive == 0).astype(np.intp), np.ones(len(both), dtype=np.intp)])
        share = np.concatenate([np.where(positive == 0, 1.0, positive), 1 - positive[both]])
        cost, slope = self.problem.cost[point] * share, np.zeros(len(point))
        step = self.envelope_step(self._label_losses, kind, cost, slope, ("positive", "negative"))
        return step.replace(point=point, target=self._label_target)

    def tangents(self, outputs: Array, cost: Array) -> Array:
        """β, shape (n,): cost times the slope of each concave part at a point's output (collobert2006 eq. 11)."""
        slope, given = np.zeros(self.problem.n), outputs
        outputs = outputs if self.shift is None else outputs - self.shift
        outputs = np.where(np.abs(outputs) <= ZERO_OUTPUT, 0.0, outputs)  # at a kink rounding does not choose the side
        for k, (_, concave) in enumerate(self.formulation.parts):
            if isinstance(concave, PLQ) and not concave.pieces.any():
                continue
            where = (self._kinds == k) & (cost > 0)
            slope[where] = cost[where] * concave.supergradient(outputs[where])
        return slope - self.formulation.subtracted(given)[1] if self.formulation.subtracts else slope

    def tangents_at_zero(self, outputs: Array, cost: Array) -> float:
        """What the tangents at some outputs are at f = 0, with their costs: the constant of a surrogate."""
        constant = -float(self.tangents(outputs, cost) @ outputs) - self.formulation.subtracted(outputs)[0]
        outputs = outputs if self.shift is None else outputs - self.shift
        for k, (_, concave) in enumerate(self.formulation.parts):
            where = (self._kinds == k) & (cost > 0)
            constant += float(cost[where] @ np.asarray(concave(outputs[where])))
        return constant

    def made_of_tangents(self, step: ConvexStep) -> bool:
        """Whether a step is the formulation with its concave parts replaced by tangents."""
        return step.point is None and np.array_equal(step.kind, self._kinds)

    # --- views of it: values ----------------------------------------------------------------------------------------

    @property
    def cost(self) -> Array:
        """C, C* or the cost of its group of every point, as a new array."""
        return self.formulation.costs(self.problem)

    def scaled_cost(self, scale: float) -> Array:
        """The costs with C* times a factor, shape (n,)."""
        cost = self.cost
        cost[self._kinds == 2] *= scale
        return cost

    def objective(self, outputs: Array, regularization: float, cost: Array | None = None) -> float:
        """The formulation's own, non-convex objective at given outputs and R(w)."""
        return self.formulation.objective(self.problem, outputs, regularization, cost)

    def label_losses(self, outputs: Array) -> tuple[Array, Array]:
        """What each point would pay for the label +1 and for -1, unscaled, each of shape (n,)."""
        positive, negative = self._label_losses
        return positive(outputs), negative(outputs)

    def best_labels(self, outputs: Array) -> Array:
        """The labels that outputs cost least with, shape (n,): as given; signs, or a given number of positive ones.

        For a loss that never increases, the points with the largest outputs are those that gain most by +1.
        """
        labels = np.where(self.problem.y != 0, self.problem.y, np.where(is_positive(outputs), 1.0, -1.0))
        if self.n_positive is not None:
            labels[self.problem.unlabeled] = largest(outputs[self.problem.unlabeled], self.n_positive)
        return labels

    def labelled_objective(
        self, outputs: Array, regularization: float, labels: Array, cost: Array | None = None
    ) -> float:
        """The objective of outputs and labels: every point pays the loss of the label it has (chapelle2008 eq. 1)."""
        cost = self.problem.cost if cost is None else cost
        spread = self.formulation.class_spread
        spreads = 0.0 if spread is None else float(spread.of_labels(outputs, labels))
        return regularization + self.total(self.losses_of_labels(outputs, labels), cost) + spreads

    def losses_of_labels(self, outputs: Array, labels: Array) -> Array:
        """What each point pays for the label it has, unscaled, shape (n,)."""
        return self._label_losses[0](labels * outputs)

    def total(self, losses: Array, cost: Array) -> float:
        """Σ cost_i losses_i, with what unlabelled points pay beyond the losses of their better labels."""
        constant = self._label_constant and self._label_constant * float(cost[self.problem.unlabeled].sum())
        return float(cost @ losses) + constant

    def check_outputs(self) -> None:
        """Raise ValueError if the formulation is no function of outputs alone, but one of labels, too."""
        if self.formulation.class_spread is not None:
            self.formulation.class_spread.function(None, None, None)

    # --- views of it: CVXPY -----------------------------------------------------------------------------------------

    def primal(self, outputs: Array | None = None) -> cp.Problem:
        """The convex step as a ``cvxpy.Problem`` in w, b and f (see :meth:`Formulation.primal`)."""
        from ..modeling import PrimalModel

        return self._touching(PrimalModel(self.step(outputs)), outputs)

    def dual(self, outputs: Array | None = None, balance_by: str = "centring") -> cp.Problem:
        """The dual of :meth:`primal` in γ, as a ``cvxpy.Problem`` (see :meth:`Formulation.dual`)."""
        from ..modeling import DualModel

        return self._touching(DualModel(self.step(outputs), balance_by), outputs)

    def smooth(self, outputs: Array | None = None) -> cp.Problem:
        """The formulation as a smooth CVXPY problem (see :meth:`Formulation.smooth`)."""
        from ..modeling.smooth_model import SmoothModel

        return SmoothModel(self, outputs).problem

    def _touching(self, model: StepModel, outputs: Array | None) -> cp.Problem:
        """The model's problem, with the constant of the tangents if there are any."""
        return model.problem if outputs is None else model.touching(self.tangents_at_zero(outputs, self.cost))

    # ------------------------------------------------------------------------------------------------------------------

    @property
    def _label_target(self) -> float | None:
        """The mean output that an SVM for given labels must have: none where the number of labels is prescribed."""
        return None if self.n_positive is not None else self.target

    @cached_property
    def _label_losses(self) -> tuple[Convex, Convex]:
        loss = self.formulation.labeled
        if not getattr(loss, "is_convex", False):
            raise ValueError(f"labeled={loss!r} must be convex: its SVM for given labels is the problem to be solved")
        return loss, loss.reflect()  # type: ignore[return-value]

    @cached_property
    def _label_constant(self) -> float:
        """What an unlabelled point pays beyond the loss of its better label."""
        return 0.0 if self.formulation.unlabeled is None else self.formulation.label_loss()[1]

    @property
    def ungrouped(self) -> NDArray[np.intp]:
        """The unlabelled points that are in no group."""
        return np.flatnonzero(self._kinds == 2)

    @cached_property
    def _kinds(self) -> NDArray[np.intp]:
        return self.formulation.kinds(self.problem)

    @property
    def _all_rows(self) -> OutputRows:
        """The rows with that of the balance first."""
        constraints = self.formulation.constraints
        if self.target is not None and self.n_positive is None:
            constraints = (mean_of(self.members, self.target, self.problem.n), *constraints)
        return OutputRows.of(constraints, self.problem)


def largest(values: Array, count: int) -> Array:
    """+1 for the ``count`` largest values, of equal ones the first, and -1 for the others, shape (n,)."""
    if count in (0, len(values)):
        return np.full(len(values), 1.0 if count else -1.0)
    values = rounded(values)
    edge = np.partition(values, len(values) - count)[len(values) - count]
    found = np.where(values > edge, 1.0, -1.0)
    ties = np.flatnonzero(values == edge)
    found[ties[: count - int((found > 0).sum())]] = 1.0
    return found
