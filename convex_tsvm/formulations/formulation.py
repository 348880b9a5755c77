"""A formulation: what is minimized, written once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..convex_step import ConvexStep
from ..losses import PLQ, ConcavePart, Loss, zero
from ..problem import Array, Problem
from ..validation import one_of

if TYPE_CHECKING:
    import cvxpy as cp


#: By how much an output may fail a constraint that is written as a loss.
DOMAIN_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Formulation:
    """½ ‖w‖² + Σ_labeled C_i ℓ(y_i f(x_i)) + Σ_unlabeled C*_i ℓ*(f(x_i)), under a balance constraint.

    Parameters
    ----------
    labeled : PLQ or DCLoss
        Loss ℓ of y f(x) for labelled points.
    unlabeled : PLQ, DCLoss or None
        Loss ℓ* of f(x) for unlabelled points; None charges them nothing, which is a supervised SVM.
    balance : {"linear", "targets", None}, default "linear"
        "linear": the mean of f over the unlabelled points is the problem's ``balance_target``.  "targets": the mean of
        v = f + y ξ is, the outputs with their slacks (Bai and Yan 2016), for the squared hinge without a bias; known to
        relaxations and to exact search only, since a sum over slacks is no sum of losses.
    fit_intercept : bool, default True
        Whether f has a bias.
    regularizer : {"l2", "l1"}, default "l2"
        "l1" is ‖w‖₁, for the linear space.
    name : str
        Shown in reports.

    Examples
    --------
    >>> import numpy as np, convex_tsvm as ct
    >>> problem = ct.Problem(np.array([[-1.0], [-0.8], [0.9], [1.0]]), [-1, 0, 0, 1], C=10)
    >>> model = ct.Formulation(labeled=ct.hinge(), unlabeled=ct.symmetric_ramp(s=-0.3))
    >>> model.dual(problem).is_dcp(dpp=True)
    True
    """

    labeled: Loss
    unlabeled: Loss | None = None
    balance: str | None = "linear"
    fit_intercept: bool = True
    regularizer: str = "l2"
    name: str = ""

    def __post_init__(self) -> None:
        for field in ("labeled", "unlabeled"):
            loss = getattr(self, field)
            if not isinstance(loss, Loss) and not (field == "unlabeled" and loss is None):
                raise ValueError(f"{field}={loss!r} must be a PLQ or DCLoss")
        if self.balance not in ("linear", "targets", None):
            raise ValueError(f"balance={self.balance!r} must be 'linear', 'targets' or None")
        one_of("regularizer", self.regularizer, ("l2", "l1"))

    @property
    def is_convex(self) -> bool:
        """Whether every loss is convex, so that one step solves the problem."""
        losses = [self.labeled] if self.unlabeled is None else [self.labeled, self.unlabeled]
        return all(isinstance(loss, PLQ) and loss.is_convex for loss in losses)

    @property
    def has_finitely_many_tangents(self) -> bool:
        """Whether every concave part is piecewise linear: CCCP then stops after finitely many steps."""
        return all(getattr(concave, "is_piecewise_linear", False) for _, concave in self._parts)

    def supervised(self) -> Formulation:
        """The same formulation without the unlabelled points' losses, and so without a balance of their targets."""
        balance = None if self.balance == "targets" else self.balance
        name = f"supervised part of {self.name}" if self.name else ""
        return replace(self, unlabeled=None, balance=balance, name=name)

    def envelope(self) -> Formulation | None:
        """A convex formulation that is nowhere above this one: unlabelled points pay the convex envelope of their loss.

        For a TSVM that is a constant, which leaves the SVM of the labelled points.  None if the loss of the labelled
        points is not convex, or that of the unlabelled ones not piecewise linear-quadratic and bounded below.
        """
        if not (isinstance(self.labeled, PLQ) and self.labeled.is_convex):
            return None
        if self.unlabeled is None:
            return self
        if not isinstance(self.unlabeled, PLQ) or np.isinf(self.unlabeled.minimizers()[0]):
            return None
        name = f"convex envelope of {self.name}" if self.name else ""
        return replace(self, unlabeled=self.unlabeled.envelope(), name=name)

    def check(self, problem: Problem) -> None:
        """Raise ValueError if ``problem`` lacks something that the formulation needs."""
        if self.unlabeled is not None:
            if problem.n_unlabeled == 0:
                raise ValueError("y has no unlabelled point, but the formulation has a loss for unlabelled points")
            if not problem.cost[problem.unlabeled].all():
                raise ValueError("C_unlabeled=None, but the formulation has a loss for unlabelled points")
        if self.balance is not None and problem.n_unlabeled and problem.balance_target is None:
            raise ValueError(
                f"balance=None in the problem, but the formulation has balance={self.balance!r}; "
                "give the problem a balance or the formulation balance=None"
            )
        least, most = self._parts[2][0].domain
        if self.balance == "linear" and problem.n_unlabeled and not least <= (problem.balance_target or 0.0) <= most:
            raise ValueError(
                f"balance: the mean output {problem.balance_target:g} of the unlabelled points is not in "
                f"[{least:g}, {most:g}], where their loss keeps every output; there is no solution"
            )
        if self.regularizer == "l1" and not problem.is_linear:
            raise ValueError("regularizer='l1' needs kernel='linear'")

    def step(self, problem: Problem, outputs: Array | None = None, cost: Array | None = None) -> ConvexStep:
        """The convex problem in which every concave part is replaced by its tangent.

        Parameters
        ----------
        problem : Problem
        outputs : array, shape (n,), optional
            f at which the tangents are taken; None takes none, which leaves the convex parts.
        cost : array, shape (n,), optional
            In place of the problem's costs.
        """
        self.check(problem)
        if self.balance == "targets":
            raise ValueError("balance='targets' is for relaxations and exact search; convex steps know 'linear'")
        cost = problem.cost.copy() if cost is None else np.array(cost, dtype=float)
        if self.unlabeled is None:
            cost[problem.unlabeled] = 0.0
        slope = np.zeros(problem.n) if outputs is None else self.tangents(problem, outputs, cost)
        target = problem.balance_target if self.balance == "linear" else None
        losses = tuple(convex for convex, _ in self._parts)
        kind = self._kinds(problem)
        names = ("positive", "negative", "unlabeled")
        return ConvexStep(problem, losses, kind, cost, slope, target, self.fit_intercept, self.regularizer, names)

    def tangents(self, problem: Problem, outputs: Array, cost: Array) -> Array:
        """β_i: cost times the slope of the concave part of point i's loss at its output (collobert2006 eq. 11)."""
        slope, kind = np.zeros(problem.n), self._kinds(problem)
        for k, (_, concave) in enumerate(self._parts):
            if isinstance(concave, PLQ) and not concave.pieces.any():
                continue
            where = (kind == k) & (cost > 0)
            slope[where] = cost[where] * concave.supergradient(outputs[where])
        return slope

    def loss_values(self, problem: Problem, outputs: Array) -> Array:
        """Unscaled loss of every point, shape (n,).

        An output outside the domain of a loss (a constraint) by no more than ``DOMAIN_TOLERANCE`` counts as at its
        end, since no solver meets a constraint exactly.
        """
        values = np.zeros(problem.n)
        known, unknown = problem.labeled, problem.unlabeled
        values[known] = _value(self.labeled, problem.y[known] * outputs[known])
        if self.unlabeled is not None:
            values[unknown] = _value(self.unlabeled, outputs[unknown])
        return values

    def objective(self, problem: Problem, outputs: Array, regularization: float, cost: Array | None = None) -> float:
        """The formulation's own, non-convex objective at given outputs and ½ ‖w‖² (or ‖w‖₁)."""
        cost = problem.cost if cost is None else cost
        return regularization + float(cost @ self.loss_values(problem, outputs))

    def primal(self, problem: Problem, outputs: Array | None = None) -> cp.Problem:
        """The convex step as a ``cvxpy.Problem`` in w (or its expansion a), b and the outputs f.

        Without ``outputs`` it is the convex part of the formulation; with them the tangents at those outputs are
        added.  Costs, tangents and the balance are parameters, named so.
        """
        from ..modeling import PrimalModel

        return PrimalModel(self.step(problem, outputs)).problem

    def dual(self, problem: Problem, outputs: Array | None = None, *, balance_by: str = "centring") -> cp.Problem:
        """The dual of :meth:`primal` as a ``cvxpy.Problem`` in γ; both have the same value.

        ``balance_by`` is "centring" (chapelle2008 eq. 13) or "x0" (collobert2006 eq. 27).
        """
        from ..modeling import DualModel

        return DualModel(self.step(problem, outputs), balance_by).problem

    @cached_property
    def _parts(self) -> list[tuple[PLQ, ConcavePart]]:
        """(convex, concave) of the loss of f for y = +1, for y = -1, and for unlabelled points."""
        unlabeled = zero() if self.unlabeled is None else self.unlabeled
        convex, concave = self.labeled.split()
        return [(convex, concave), (convex.reflect(), concave.reflect()), unlabeled.split()]

    @staticmethod
    def _kinds(problem: Problem) -> NDArray[np.intp]:
        return np.where(problem.y > 0, 0, np.where(problem.y < 0, 1, 2)).astype(np.intp)


def _value(loss: Loss, t: Array) -> Array:
    convex, _ = loss.split()
    if convex.is_finite:
        return loss(t)
    inside = np.clip(t, *convex.domain)
    return loss(np.where(np.abs(t - inside) <= DOMAIN_TOLERANCE, inside, t))
