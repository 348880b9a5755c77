"""A convex step as CVXPY problems: the primal in w and b, the dual in γ.

Everything that changes between CCCP steps is a ``cvxpy.Parameter`` (costs, tangents, the balance c), and every
problem follows CVXPY's rules for parameters (DPP), so it is compiled once and then only solved.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..instance.convex_step import ConvexStep, mean_row
from ..kernels import CentredRows, GramRows, RowSource, RowsWithSums, kernel_factor
from ..kernels.functions import dense
from ..losses import PLQ, Convex, ConvexLoss
from ..problem import Array
from .expressions import (
    AddedPoint,
    added_point,
    added_terms,
    conjugate_segments,
    loss_expression,
    sum_of,
    values_of,
    written,
)
from .printing import ReadableProblem


@dataclass
class Group:
    """The terms with one loss: their points' places among the active points, and their costs as parameters."""

    name: str
    loss: Convex
    terms: NDArray[np.intp]
    where: NDArray[np.intp]
    cost: cp.Parameter
    inverse_cost: cp.Parameter | None = None


class StepModel(ABC):
    """A compiled CVXPY problem for all steps that share points, losses and constraints.

    Only points that pay something enter the problem: where the cost is zero the dual variable is zero.
    """

    problem: cp.Problem

    def __init__(self, step: ConvexStep) -> None:
        # The points in it; an addition may be about points that pay nothing.
        self.active = np.arange(step.problem.n) if step.additions else np.flatnonzero(step.point_cost > 0)
        self.slope = cp.Parameter(len(self.active), name="slope")
        self.target = None if step.target is None else cp.Parameter(name="target")
        self.rows = None if step.rows is None or not len(step.rows) else step.rows
        names = step.names or tuple(str(k) for k in range(len(step.losses)))
        place = np.zeros(step.problem.n, dtype=np.intp)
        place[self.active] = np.arange(len(self.active))
        point = np.arange(step.problem.n) if step.point is None else step.point
        self.groups = []
        for k, (name, loss) in enumerate(zip(names, step.losses, strict=True)):
            terms = np.flatnonzero((step.kind == k) & (step.cost > 0))
            if len(terms):
                cost = cp.Parameter(len(terms), nonneg=True, name=f"cost_{name}")
                self.groups.append(Group(name, loss, terms, place[point[terms]], cost))
        self.build(step)
        self.set(step)

    @abstractmethod
    def build(self, step: ConvexStep) -> None:
        """Make ``self.problem``."""

    def readable(self, objective: cp.Minimize | cp.Maximize, constraints: list[cp.Constraint]) -> cp.Problem:
        """The problem, which knows the names of the kinds of points."""
        return ReadableProblem(objective, constraints, parts={group.name: group.where for group in self.groups})

    def touching(self, constant: float) -> cp.Problem:
        """The problem with the constant of its tangents, so that its value is that of a surrogate of the objective."""
        shift = cp.Parameter(name="constant", value=constant)
        objective = type(self.problem.objective)(self.problem.objective.args[0] + shift)
        return self.readable(objective, list(self.problem.constraints))

    def extended(self, step: ConvexStep, source: RowSource, with_x0: bool) -> Array:
        """The matrix of the active points and, after them, of x₀ and of the points that constraints are about."""
        sums = ([mean_row(step)] if with_x0 else []) + ([] if self.rows is None else [self.rows.A])
        points = self.active
        if sums:
            source = RowsWithSums(source, sp.vstack(sums))
            points = np.append(points, np.arange(step.problem.n, source.n))
        matrix = source.rows(points)[:, points]
        return (matrix + matrix.T) / 2

    @abstractmethod
    def recover(self) -> dict[str, Any]:
        """The arguments of ``certify`` from the solved problem, γ for the active points only."""

    def set(self, step: ConvexStep) -> None:
        self.slope.value = step.point_slope[self.active]
        if self.target is not None:
            self.target.value = step.target
        for group in self.groups:
            cost = step.cost[group.terms]
            group.cost.value = cost
            if group.inverse_cost is not None:
                group.inverse_cost.value = 1 / cost


class PrimalModel(StepModel):
    """min R(w) + Σ c_i ℓ(f_i) + β_i f_i with f = X w + b, or f = K a + b and ‖w‖² = aᵀ K a.

    The balance constraint is written as in the papers, mean of f over the unlabelled points = c.
    """

    def build(self, step: ConvexStep) -> None:
        self.f = cp.Variable(len(self.active), name="f")
        self.allowed: list[cp.Constraint] = []
        self.b: cp.Expression = cp.Variable(name="b") if step.fit_intercept else cp.Constant(0.0)
        mean, sums, outputs, regularizer = self._linear(step) if step.problem.is_linear else self._kernel(step)
        self.definition = self.f - (outputs + self.b) == 0
        constraints = [self.definition]
        objective = regularizer + self.slope @ self.f
        constraints += self.allowed
        for group in self.groups:
            f = self.f[group.where]
            if step.shift is not None and (shift := step.shift[self.active[group.where]]).any():
                f = f - cp.Constant(shift, name=f"target_{group.name}")
            value, domain = loss_expression(group.loss, f)
            objective = objective + group.cost @ value
            constraints += domain
        self.balance = None
        if self.target is not None:
            self.balance = cp.Constant(mean, name="mean") @ self.w + self.b == self.target
            constraints.append(self.balance)
        self.ends: list[tuple[NDArray[np.intp], float, cp.Constraint]] = []
        if self.rows is not None:
            lower, upper = self.rows.lower, self.rows.upper
            values = cp.Constant(sums, name="A") @ self.w + cp.Constant(self.rows.bias, name="sums") * self.b
            # Interior-point solvers want neither equations that follow from others nor equations as two inequalities.
            known = [np.append(mean, float(step.fit_intercept))] if self.target is not None else []
            equal = np.flatnonzero(lower == upper)
            kept = equal[_independent(known, np.column_stack([sums, self.rows.bias * step.fit_intercept])[equal])]
            if len(kept):
                self.ends.append((kept, -1.0, values[kept] == cp.Constant(lower[kept], name="lower")))
            for name, end, sign in (("lower", lower, 1.0), ("upper", upper, -1.0)):
                where = np.flatnonzero(np.isfinite(end) & (lower < upper))
                if len(where):
                    bound = cp.Constant(end[where], name=name)
                    self.ends.append((where, sign, sign * values[where] >= sign * bound))
        terms, limits = self.added = added_terms(step.additions, self.w, self.b, self.f)
        objective = sum_of([objective, *terms])
        self.problem = self.readable(cp.Minimize(objective), constraints + [one for _, _, one in self.ends] + limits)
        self._keeps_weights = not step.regularizer.is_squared_norm

    def _linear(self, step: ConvexStep) -> tuple[Array, Array, cp.Expression, cp.Expression]:
        """The mean over the points of the balance and the sums of constraints as rows of w; outputs and regularizer."""
        X, balanced = step.problem.X, step.members
        self.w = cp.Variable(X.shape[1], name="w")
        mean = np.asarray(X[balanced].mean(axis=0)).ravel() if len(balanced) else np.zeros(X.shape[1])
        sums = np.zeros((0, X.shape[1])) if self.rows is None else dense(self.rows.A @ X)
        outputs = cp.Constant(X[self.active], name="X") @ self.w
        regularizer, self.allowed = written(step.regularizer, self.w)
        return mean, sums, outputs, regularizer

    def _kernel(self, step: ConvexStep) -> tuple[Array, Array, cp.Expression, cp.Expression]:
        """The same in terms of a: w = Σ a_i Φ(x_i) over the points, their mean and the sums of constraints."""
        self.allowed = []
        if step.additions:
            return self._expansion(step)
        with_x0, count = self.target is not None, len(self.active)
        G = self.extended(step, GramRows(step.problem.gram), with_x0)
        if self.rows is None:
            whole, name = ("K_x0", "K_points") if with_x0 else ("K", "K")
            self.w, coordinates = cp.Variable(len(G), name="a"), G
            regularizer = 0.5 * cp.quad_form(self.w, cp.psd_wrap(cp.Constant(G, name=whole)))
        else:
            # Constraints need well-conditioned coordinates: w in an orthogonal basis of the span, G = Z Zᵀ.
            coordinates, name = kernel_factor(G, 1e-12), "Z"
            self.w = cp.Variable(coordinates.shape[1], name="w")
            regularizer = 0.5 * cp.sum_squares(self.w)
        mean = coordinates[count] if with_x0 else np.zeros(coordinates.shape[1])
        outputs = cp.Constant(coordinates[:count], name=name) @ self.w
        return mean, coordinates[count + with_x0 :], outputs, regularizer

    def _expansion(self, step: ConvexStep) -> tuple[Array, Array, cp.Expression, cp.Expression]:
        """The same for additions, which know the coefficients of all points and no others."""
        K, members = step.problem.gram, step.members
        self.w = cp.Variable(len(K), name="a")
        mean = K[members].mean(axis=0) if self.target is not None else np.zeros(len(K))
        sums = np.zeros((0, len(K))) if self.rows is None else np.asarray(self.rows.A @ K)
        regularizer = 0.5 * cp.quad_form(self.w, cp.psd_wrap(cp.Constant(K, name="K")))
        return mean, sums, cp.Constant(K, name="K") @ self.w, regularizer

    def point(self, step: ConvexStep, **report: Any) -> AddedPoint:
        w, b = np.asarray(self.w.value, dtype=float), float(self.b.value)
        return added_point(step, w, b, values_of(*self.added), **report)

    def recover(self) -> dict[str, Any]:
        """γ is the multiplier of the definition of f, -γ₀ that of the balance constraint, μ those of the others."""
        multipliers = None if self.rows is None else np.zeros(len(self.rows))
        for where, sign, constraint in self.ends:
            multipliers[where] += sign * np.asarray(constraint.dual_value, dtype=float)  # type: ignore[index]
        return {
            "gamma": np.asarray(self.definition.dual_value, dtype=float),
            "gamma0": 0.0 if self.balance is None else -float(self.balance.dual_value),
            "bias": float(self.b.value),
            "weights": np.asarray(self.w.value, dtype=float) if self._keeps_weights else None,
            "multipliers": multipliers,
        }


class DualModel(StepModel):
    """max -½ γᵀ G γ - c Σ γ_i - Σ ψ_i*(-γ_i), each conjugate as bounded variables (``conjugate_segments``).

    ``balance_by="centring"`` has G centred on the unlabelled points and no equality constraint; ``"x0"`` has the
    extra point x₀ with its multiplier γ₀ and Σ γ_i + γ₀ = 0.
    """

    def __init__(self, step: ConvexStep, balance_by: str = "centring") -> None:
        if step.additions:
            raise ValueError(f"additions={list(step.additions)!r}: their dual is not known; there is the primal")
        self.bias = step.bias_by(balance_by)
        super().__init__(step)

    def build(self, step: ConvexStep) -> None:
        self.gamma = cp.Variable(len(self.active), name="gamma")
        self.gamma0 = cp.Variable(1, name="gamma0") if self.bias.with_x0 else None
        terms: list[cp.Expression] = []
        constraints = self._conjugates(step, terms)
        self.mu: cp.Expression | None = None if self.rows is None else self._multipliers(terms)
        total = self._total()
        self.definition: cp.Constraint | None = None
        if step.regularizer.is_squared_norm:
            terms.append(self._quadratic(step))
        else:
            v = cp.Variable(step.problem.X.shape[1], name="v")
            self.definition = v - self._pull(step, total) == 0
            conjugate, domain = step.regularizer.conjugate_expression(cp, v)
            constraints += [self.definition, *domain]
            terms.append(-conjugate)
        if self.bias.centred:
            terms.append(-(self.target * total))
        elif self.gamma0 is not None:
            terms.append(self.target * self.gamma0[0])
        self.equality = total == 0 if self.bias.free else None
        if self.equality is not None:
            constraints.append(self.equality)
        self.problem = self.readable(cp.Maximize(sum_of(terms)), constraints)

    def _total(self) -> cp.Expression:
        """Σ a: what the free bias, or with centring the fixed one, is multiplied with."""
        total = cp.sum(self.gamma)
        if self.gamma0 is not None:
            total = total + self.gamma0[0]
        if self.rows is not None:
            total = total + cp.Constant(self.rows.bias, name="sums") @ self.mu
        return total

    def _quadratic(self, step: ConvexStep) -> cp.Expression:
        """-½ ‖Σ a_i Φ(x_i)‖², of the dual variables of all points: those with losses, x₀, and those of constraints."""
        rows: RowSource = GramRows(step.problem.gram)
        if self.bias.centred:
            rows = CentredRows(rows, step.members)
        # Centred or with x₀, the matrix is another one than that of the kernel function, and is called otherwise.
        name = "K_centred" if self.bias.centred else "K_x0" if self.bias.with_x0 else "K"
        if self.rows is not None:
            name = "K_centred_sums" if self.bias.centred else "K_sums"
        matrix = cp.Constant(self.extended(step, rows, self.bias.with_x0), name=name)
        parts = [part for part in (self.gamma, self.gamma0, self.mu) if part is not None]
        every = cp.hstack(parts) if len(parts) > 1 else self.gamma
        return -0.5 * cp.quad_form(every, cp.psd_wrap(matrix))

    def _pull(self, step: ConvexStep, total: cp.Expression) -> cp.Expression:
        """Σ a_i x_i, in the linear space."""
        X = step.problem.X
        pull = cp.Constant(X[self.active].T, name="Xᵀ") @ self.gamma
        if self.rows is not None:
            pull = pull + (self.rows.A @ X).T @ self.mu
        if self.target is None:
            return pull
        mean = cp.Constant(np.asarray(X[step.members].mean(axis=0)).ravel(), name="mean")
        return pull - total * mean if self.gamma0 is None else pull + self.gamma0[0] * mean

    def _multipliers(self, terms: list[cp.Expression]) -> cp.Expression:
        """μ as a difference of pulls at finite ends; adds -max(-μ lower, -μ upper) to ``terms``."""
        assert self.rows is not None
        mu: cp.Expression = cp.Constant(np.zeros(len(self.rows)))
        equal = self.rows.lower == self.rows.upper
        if equal.any():
            where = np.flatnonzero(equal)
            free = cp.Variable(len(where), name="mu_equal")
            terms.append(cp.Constant(self.rows.lower[where], name="lower") @ free)
            mu = mu + cp.Constant(_places(where, len(self.rows)), name="places") @ free
        for name, end, sign in (("lower", self.rows.lower, 1.0), ("upper", self.rows.upper, -1.0)):
            where = np.flatnonzero(np.isfinite(end) & ~equal)
            if len(where):
                pull = cp.Variable(len(where), nonneg=True, name=f"mu_{name}")
                terms.append(sign * (cp.Constant(end[where], name=name) @ pull))
                mu = mu + sign * (cp.Constant(_places(where, len(self.rows)), name="places") @ pull)
        return mu

    def _conjugates(self, step: ConvexStep, terms: list[cp.Expression]) -> list[cp.Constraint]:
        """Add every -Σ ψ*(-γ) to ``terms``; returns the constraints that tie γ to the bounded variables."""
        constraints: list[cp.Constraint] = []
        if step.shift is not None:
            target = step.shift[self.active]
            terms.append(cp.Constant(target, name="target") @ (self.gamma + self.slope))
        several = len(np.unique(np.concatenate([group.where for group in self.groups]))) < sum(
            len(group.where) for group in self.groups
        )
        whole: list[cp.Expression] = [-self.slope]
        for group in self.groups:
            parts = self._conjugate(group, terms, constraints)
            if several:
                # The conjugate of a sum of losses is the best way to share γ among them.
                whole.append(_places(group.where, len(self.active)) @ sum_of(parts))
            else:
                constraints.append(self.gamma[group.where] == sum_of([*parts, -self.slope[group.where]]))
        if several:
            constraints.append(self.gamma == sum_of(whole))
        return constraints

    def _conjugate(
        self, group: Group, terms: list[cp.Expression], constraints: list[cp.Constraint]
    ) -> list[cp.Expression]:
        """Add -Σ c ℓ*(-γ / c) of a group to ``terms``; returns the bounded variables that γ is the sum of.

        ``alpha_…_plus`` raises γ and ``alpha_…_minus`` lowers it.  For labelled points that is the α of an SVM; for
        the two kinks of a symmetric ramp's convex part they are C* minus the α of the labels -1 and +1 in
        collobert2006, who counts from slope -C* where we count from 0.
        """
        where, cost = group.where, group.cost
        if not isinstance(group.loss, PLQ):
            return [self._written_conjugate(group, group.loss, terms)]
        anchor, value, segments = conjugate_segments(group.loss)
        if any(segment.rate for segment in segments):
            # DPP allows no division by a parameter, so 1 / c is one of its own.
            group.inverse_cost = cp.Parameter(len(where), nonneg=True, name=f"1/{cost.name()}")
        if value:
            terms.append(-value * cp.sum(cost))
        parts: list[cp.Expression] = [-anchor * cost] if anchor else []
        for number, (sign, start, rate, length) in enumerate(segments):
            alike = sum(segment.sign == sign for segment in segments)
            name = f"alpha_{group.name}_{'minus' if sign > 0 else 'plus'}" + (f"_{number}" if alike > 1 else "")
            alpha = cp.Variable(len(where), nonneg=True, name=name)
            parts.insert(0, -alpha if sign > 0 else alpha)
            gain = -sign * start
            if gain:
                terms.append(cp.sum(alpha) if gain == 1 else gain * cp.sum(alpha))
            if rate:
                terms.append(-0.5 * rate * (group.inverse_cost @ cp.square(alpha)))
            if np.isfinite(length):
                constraints.append(alpha <= (cost if length == 1 else length * cost))
        return parts or [cp.Constant(np.zeros(len(where)))]

    def _written_conjugate(self, group: Group, loss: ConvexLoss, terms: list[cp.Expression]) -> cp.Expression:
        """The same for a loss that brings its conjugate as an expression."""
        if loss.conjugate_expression is None:
            raise ValueError(
                f"{loss.name}: the dual needs its conjugate as a CVXPY expression (conjugate_expression); "
                "use form='primal'"
            )
        u = cp.Variable(len(group.where), name=f"u_{group.name}")
        terms.append(-cp.sum(loss.conjugate_expression(cp, u, group.cost)))
        return -u

    def recover(self) -> dict[str, Any]:
        """The bias is the multiplier of Σ a = 0 (with centring it follows from the balance), w that of v."""
        return {
            "gamma": np.asarray(self.gamma.value, dtype=float),
            "gamma0": 0.0 if self.gamma0 is None else float(self.gamma0.value[0]),
            "bias": 0.0 if self.equality is None else float(self.equality.dual_value),
            "weights": None if self.definition is None else -np.asarray(self.definition.dual_value, dtype=float),
            "multipliers": None if self.mu is None else np.asarray(self.mu.value, dtype=float),
        }


def structure(step: ConvexStep) -> tuple[Any, ...]:
    """What two steps on the same points must share for one compiled problem to serve both."""
    kinds = np.where(step.cost > 0, step.kind, -1)
    points = None if step.point is None else step.point.tobytes()
    rows = None if step.rows is None else step.rows.key
    kept = (step.target is None, step.fit_intercept, step.regularizer, step.additions, rows)
    return (step.losses, kinds.tobytes(), points, None if step.shift is None else step.shift.tobytes(), *kept)


def _places(where: NDArray[np.intp], n: int) -> sp.csr_array:
    """The matrix that puts entries in their places, shape (n, len(where))."""
    return sp.csr_array((np.ones(len(where)), (where, np.arange(len(where)))), shape=(n, len(where)))


def _independent(known: list[Array], rows: Array) -> NDArray[np.intp]:
    """The rows that are no combinations of ``known`` ones and of those before them."""
    basis: list[Array] = []
    kept = []
    for number, row in enumerate([*known, *rows]):
        rest = row.astype(float)
        for _ in range(2):  # once more, for what rounding left
            for direction in basis:
                rest = rest - (direction @ rest) * direction
        if np.linalg.norm(rest) > 1e-9 * np.linalg.norm(row):
            basis.append(rest / np.linalg.norm(rest))
            kept.append(number - len(known))
    return np.array([number for number in kept if number >= 0], dtype=np.intp)
