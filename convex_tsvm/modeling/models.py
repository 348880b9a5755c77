"""A convex step as CVXPY problems: the primal in w and b, the dual in γ.

Everything that changes between CCCP steps is a ``cvxpy.Parameter`` (costs, tangents, the balance c), and every
problem follows CVXPY's rules for parameters (DPP), so it is compiled once and then only solved.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from ..convex_step import ConvexStep
from ..kernels import CentredRows, GramRows, RowsWithMean
from ..losses import PLQ
from .expressions import conjugate_segments, loss_expression, total

Array = NDArray[np.float64]


@dataclass
class Group:
    """The points that pay one loss: their places among the active points, and their costs as parameters."""

    name: str
    loss: PLQ
    where: NDArray[np.intp]
    cost: cp.Parameter
    inverse_cost: cp.Parameter | None = None


class StepModel(ABC):
    """A compiled CVXPY problem for all steps that share points, losses and constraints.

    Only points that pay something enter the problem: where the cost is zero the dual variable is zero.

    Attributes
    ----------
    problem : cvxpy.Problem
    active : int array
        The points in it.
    """

    problem: cp.Problem

    def __init__(self, step: ConvexStep) -> None:
        self.active = np.flatnonzero(step.cost > 0)
        self.slope = cp.Parameter(len(self.active), name="slope")
        self.target = None if step.target is None else cp.Parameter(name="target")
        kinds = step.kind[self.active]
        names = step.names or tuple(str(k) for k in range(len(step.losses)))
        groups = [
            (name, loss, np.flatnonzero(kinds == k))
            for k, (name, loss) in enumerate(zip(names, step.losses, strict=True))
        ]
        self.groups = [
            Group(name, loss, where, cp.Parameter(len(where), nonneg=True, name=f"cost_{name}"))
            for name, loss, where in groups
            if len(where)
        ]
        self.build(step)
        self.set(step)

    @abstractmethod
    def build(self, step: ConvexStep) -> None:
        """Make ``self.problem``."""

    @abstractmethod
    def recover(self) -> dict[str, Any]:
        """The arguments of ``certify`` from the solved problem, γ for the active points only."""

    def set(self, step: ConvexStep) -> None:
        """Set every parameter to the values of ``step``."""
        cost = step.cost[self.active]
        self.slope.value = step.slope[self.active]
        if self.target is not None:
            self.target.value = step.target
        for group in self.groups:
            group.cost.value = cost[group.where]
            if group.inverse_cost is not None:
                group.inverse_cost.value = 1 / cost[group.where]


class PrimalModel(StepModel):
    """min ½ ‖w‖² + Σ c_i ℓ(f_i) + β_i f_i with f = X w + b, or f = K a + b and ‖w‖² = aᵀ K a.

    The balance constraint is written as in the papers, mean of f over the unlabelled points = c.
    """

    def build(self, step: ConvexStep) -> None:
        """Make ``self.problem``."""
        self.f = cp.Variable(len(self.active), name="f")
        self.b: cp.Expression = cp.Variable(name="b") if step.fit_intercept else cp.Constant(0.0)
        outputs, mean, regularizer = self._linear(step) if step.problem.is_linear else self._kernel(step)
        self.definition = self.f - (outputs + self.b) == 0
        constraints = [self.definition]
        objective = regularizer + self.slope @ self.f
        for group in self.groups:
            value, domain = loss_expression(group.loss, self.f[group.where])
            objective = objective + group.cost @ value
            constraints += domain
        self.balance = None
        if self.target is not None:
            self.balance = mean + self.b == self.target
            constraints.append(self.balance)
        self.problem = cp.Problem(cp.Minimize(objective), constraints)
        self._keeps_weights = step.regularizer == "l1"

    def _linear(self, step: ConvexStep) -> tuple[cp.Expression, cp.Expression, cp.Expression]:
        """Outputs without bias, their mean over the points of the balance, and the regularizer, in terms of w."""
        X, balanced = step.problem.X, step.problem.balance_points
        self.w = cp.Variable(X.shape[1], name="w")
        mean = np.asarray(X[balanced].mean(axis=0)).ravel() @ self.w if len(balanced) else cp.Constant(0.0)
        regularizer = cp.norm1(self.w) if step.regularizer == "l1" else 0.5 * cp.sum_squares(self.w)
        return X[self.active] @ self.w, mean, regularizer

    def _kernel(self, step: ConvexStep) -> tuple[cp.Expression, cp.Expression, cp.Expression]:
        """The same in terms of a: w = Σ a_i Φ(x_i) over the points and, under balance, their mean."""
        problem, count = step.problem, len(self.active)
        if self.target is None:
            G = problem.gram[np.ix_(self.active, self.active)]
        else:
            points = np.append(self.active, problem.n)
            G = RowsWithMean(GramRows(problem.gram), problem.balance_points).rows(points)[:, points]
        self.w = cp.Variable(len(G), name="a")
        return G[:count] @ self.w, G[-1] @ self.w, 0.5 * cp.quad_form(self.w, cp.psd_wrap(G))

    def recover(self) -> dict[str, Any]:
        """γ is the multiplier of the definition of f, -γ₀ that of the balance constraint."""
        return {
            "gamma": np.asarray(self.definition.dual_value, dtype=float),
            "gamma0": 0.0 if self.balance is None else -float(self.balance.dual_value),
            "bias": float(self.b.value),
            "weights": np.asarray(self.w.value, dtype=float) if self._keeps_weights else None,
        }


class DualModel(StepModel):
    """max -½ γᵀ G γ - c Σ γ_i - Σ ψ_i*(-γ_i), each conjugate as bounded variables (``conjugate_segments``).

    ``balance_by="centring"`` has G centred on the unlabelled points and no equality constraint; ``"x0"`` has the
    extra point x₀ with its multiplier γ₀ and Σ γ_i + γ₀ = 0.
    """

    def __init__(self, step: ConvexStep, balance_by: str = "centring") -> None:
        self.by_centring = step.target is not None and balance_by == "centring" and step.fit_intercept
        super().__init__(step)

    def build(self, step: ConvexStep) -> None:
        """Make ``self.problem``."""
        problem, active = step.problem, self.active
        with_x0 = self.target is not None and not self.by_centring
        size = len(active) + with_x0
        self.gamma = cp.Variable(size, name="gamma")
        constraints: list[cp.Constraint] = []
        terms: list[cp.Expression] = []
        for group in self.groups:
            constraints += self._conjugates(group, terms)
        self.box: list[cp.Constraint] | None = None
        if step.regularizer == "l1":
            mean = 0 if self.target is None else np.asarray(problem.X[problem.balance_points].mean(axis=0)).ravel()
            X = problem.X[active]
            w = X.T @ self.gamma[: len(active)] + (self.gamma[-1] * mean if with_x0 else 0)
            if self.by_centring:
                w = w - cp.sum(self.gamma) * mean
            self.box = [w <= 1, -w <= 1]
            constraints += self.box
        else:
            terms.append(-0.5 * cp.quad_form(self.gamma, cp.psd_wrap(self._matrix(step, with_x0))))
        self.equality = None
        if self.by_centring:
            terms.append(-(self.target * cp.sum(self.gamma)))
        elif with_x0:
            terms.append(self.target * self.gamma[-1])
        if step.fit_intercept and not self.by_centring:
            self.equality = cp.sum(self.gamma) == 0
            constraints.append(self.equality)
        self.problem = cp.Problem(cp.Maximize(total(terms)), constraints)

    def _conjugates(self, group: Group, terms: list[cp.Expression]) -> list[cp.Constraint]:
        """Add -Σ ψ*(-γ) of a group to ``terms``; returns the constraints that tie γ to the bounded variables.

        ``alpha_…_plus`` raises γ and ``alpha_…_minus`` lowers it.  For labelled points that is the α of an SVM; for
        the two kinks of a symmetric ramp's convex part they are C* minus the α of the labels -1 and +1 in
        collobert2006, who counts from slope -C* where we count from 0.
        """
        where, cost = group.where, group.cost
        anchor, value, segments = conjugate_segments(group.loss)
        if any(segment.rate for segment in segments):
            # DPP allows no division by a parameter, so 1 / c is one of its own.
            group.inverse_cost = cp.Parameter(len(where), nonneg=True, name=f"1/{cost.name()}")
        if value:
            terms.append(-value * cp.sum(cost))
        constraints: list[cp.Constraint] = []
        parts = [-self.slope[where]] + ([-anchor * cost] if anchor else [])
        counts = {sign: sum(segment.sign == sign for segment in segments) for sign in (1, -1)}
        for number, segment in enumerate(segments):
            side = "minus" if segment.sign > 0 else "plus"
            name = f"alpha_{group.name}_{side}" + (f"_{number}" if counts[segment.sign] > 1 else "")
            alpha = cp.Variable(len(where), nonneg=True, name=name)
            parts.insert(0, -alpha if segment.sign > 0 else alpha)
            gain = -segment.sign * segment.start
            if gain:
                terms.append(cp.sum(alpha) if gain == 1 else gain * cp.sum(alpha))
            if segment.rate:
                terms.append(-0.5 * segment.rate * (group.inverse_cost @ cp.square(alpha)))
            if np.isfinite(segment.length):
                constraints.append(alpha <= (cost if segment.length == 1 else segment.length * cost))
        constraints.append(self.gamma[where] == total(parts))
        return constraints

    def _matrix(self, step: ConvexStep, with_x0: bool) -> Array:
        problem, points = step.problem, self.active
        rows = GramRows(problem.gram)
        if with_x0:
            points = np.append(points, problem.n)
            matrix = RowsWithMean(rows, problem.balance_points).rows(points)[:, points]
        elif self.by_centring:
            matrix = CentredRows(rows, problem.balance_points).rows(points)[:, points]
        else:
            matrix = rows.rows(points)[:, points]
        return (matrix + matrix.T) / 2

    def recover(self) -> dict[str, Any]:
        """The bias is the multiplier of Σ γ = 0 (with centring it follows from the balance), w that of the 1-norm."""
        gamma = np.asarray(self.gamma.value, dtype=float)
        with_x0 = len(gamma) > len(self.active)
        return {
            "gamma": gamma[: len(self.active)],
            "gamma0": float(gamma[-1]) if with_x0 else 0.0,
            "bias": 0.0 if self.equality is None else float(self.equality.dual_value),
            "weights": None if self.box is None else np.asarray(self.box[0].dual_value - self.box[1].dual_value),
        }


def structure(step: ConvexStep) -> tuple[Any, ...]:
    """What two steps on the same points must share for one compiled problem to serve both."""
    kinds = np.where(step.cost > 0, step.kind, -1)
    return (step.losses, kinds.tobytes(), step.target is None, step.fit_intercept, step.regularizer)
