"""Solutions of convex steps: a point with its certificate, every figure of which is computed from dual variables."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ..kernels import entry_error
from ..kernels.distances import EPS
from ..problem import Array
from .convex_step import ConvexStep
from .space import Bias

#: Dual constraints violated by no more than this, relative to Σ |γ|, are met up to rounding.
EQUALITY_TOL = 1e-13

#: Up to this many points all figures are recomputed with the kernel function before a solution counts as converged.
RECOMPUTED = 256


@dataclass(frozen=True, eq=False)
class StepSolution:
    """A point of a convex step with its certificate, recomputed from the dual variables.

    Attributes
    ----------
    gamma : array, shape (n,)
        Dual variables of the points: -γ_i is a slope of what point i pays at its output, by which the optimal value
        rises where its loss is that of its output + δ, per unit of δ.
    gamma0 : float
        Multiplier of the balance constraint (α₀ in collobert2006): the derivative of the optimal value with respect to
        the mean output c that is asked for.
    multipliers : array, shape (number of rows,)
        μ, multipliers of the other constraints on outputs: the derivatives of the optimal value with respect to the end
        of each interval that its sum is at; >= 0 at a lower end, <= 0 at an upper one, 0 between.
    bias : float
        The bias b.
    weights : array, shape (d,), or None
        w, where it is not Σ a_i Φ(x_i) (another regularizer than ½ ‖w‖²).
    outputs : array, shape (n,)
        f_i.
    regularization : float
        R(w).
    primal, dual : float
        Values of both problems at this point; the dual one is a lower bound of the optimum.
    kkt : float
        Largest distance of a point from its optimality condition (:meth:`ConvexStep.violation`), in units of f, plus
        the rounding error that a solver in single precision measured.
    primal_infeasibility : float
        Largest distance of an output from the domain of its loss (zero unless a loss is a constraint), of the mean
        output from the c₀ it must have, or of a sum from its interval.
    dual_infeasibility : float
        By how much the dual constraints fail: |Σ a| for a free bias, and how far Σ a_i x_i is from the domain of the
        regularizer's conjugate (‖Σ a_i x_i‖_∞ - 1 for the 1-norm).
    doubt : float
        What rounding may have added to the dual value; of kernel values in single precision, as far as was measured.
    output_doubt : float
        What rounding of kernel values in double precision may do to an output.
    is_recomputed : bool
        Whether outputs are those of the kernel function itself, whatever the solver had.
    status : {"optimal", "inaccurate", "max_iter", "interrupted", "time_limit"}
    seconds, solver_seconds : float
        Whole time, and the part inside the solver itself.
    """

    step: ConvexStep
    gamma: Array
    gamma0: float
    bias: float
    weights: Array | None
    outputs: Array
    regularization: float
    primal: float
    dual: float
    kkt: float
    primal_infeasibility: float
    dual_infeasibility: float
    doubt: float = 0.0
    output_doubt: float = 0.0
    multipliers: Array = dataclasses.field(default_factory=lambda: np.zeros(0))
    is_recomputed: bool = False
    status: str = "optimal"
    n_iter: int = 0
    seconds: float = 0.0
    solver_seconds: float = 0.0

    @property
    def gap(self) -> float:
        """Duality gap, relative to the primal value or to the regularization if that is larger.

        The tangents of CCCP shift the primal value, perhaps to near zero; they do not shift the regularization.  A
        value that is small beside 1 and beside the sum of the costs counts as the smaller of these two.
        """
        return (self.primal - self.dual) / self._gap_scale

    @property
    def _gap_scale(self) -> float:
        least = min(1.0, float(self.step.point_cost.sum()))
        return max(least, abs(self.primal), self.regularization, 1e-300)

    def recomputed(self) -> StepSolution:
        """The same point with every figure computed from its dual variables, with nothing but the kernel."""
        return certify(self.step, self.gamma, self.gamma0, self.bias, self.weights, self.multipliers)

    def meets(self, tol: float) -> bool:
        """Whether the gap and the constraints are within ``tol``, and optimality conditions within ten times as much.

        A solver that closes the gap may leave violations of optimality conditions that cost next to nothing; that is
        why more of these is let pass, what rounding of the kernel may do to outputs included.
        """
        # Rounding of outputs is paid for at every point.
        gap = self.gap + float(self.step.point_cost.sum()) * self.output_doubt / self._gap_scale
        return gap <= tol and self.kkt + self.output_doubt <= 10 * tol and self.primal_infeasibility <= tol

    def judged(self, tol: float) -> StepSolution:
        """The same with the status that its figures allow: "optimal" only if it :meth:`meets` the tolerance."""
        return self if self.status != "optimal" or self.meets(tol) else dataclasses.replace(self, status="inaccurate")

    @property
    def lower_bound(self) -> float | None:
        """The dual value less what rounding may have added, if the dual constraints are met; else it bounds nothing.

        Multipliers of zero prove something as well, and that without rounding.
        """
        if self.dual_infeasibility > EQUALITY_TOL * (1 + float(np.abs(self.gamma).sum())):
            return None
        step, none = self.step, np.zeros(len(self.gamma))
        nothing = -step.conjugate_value(none) if (step.clip(none) == 0).all() and not step.n_rows else -np.inf
        dual = self.dual
        if self.status != "optimal" and step.regularizer.is_squared_norm and self.weights is None:
            # A solver that gave up has outputs that carry the rounding of all its steps.
            a = self.coefficients
            dual += self.regularization - 0.5 * float(a @ step.problem.apply_kernel(a))
        proven = dual - self.doubt
        return max(proven if np.isfinite(proven) else -np.inf, nothing - 1e-12 * abs(nothing))

    @property
    def coefficients(self) -> Array:
        """a, the expansion w = Σ a_i Φ(x_i), shape (n,)."""
        return expansion(self.step, self.gamma, self.gamma0, self.multipliers)


class StepSolver(Protocol):
    """What solves convex steps that differ in slopes, costs, terms and balance only."""

    def solve(self, step: ConvexStep, start: StepSolution | None = None) -> StepSolution:
        """Solve one step, from ``start`` where that helps."""
        ...


def expansion(step: ConvexStep, gamma: Array, gamma0: float, multipliers: Array) -> Array:
    """Coefficients of w over the points: γ, γ₀ spread over the points of the balance, μ over those of each row."""
    coefficients = step.bias_by().spread(gamma, gamma0)
    if step.rows is not None and len(multipliers):
        coefficients += step.rows.spread(multipliers)
    return coefficients


def certify(
    step: ConvexStep,
    gamma: Array,
    gamma0: float,
    bias: float,
    weights: Array | None = None,
    multipliers: Array | None = None,
    *,
    applied: Array | None = None,
    rounding: float = 0.0,
    **report: object,
) -> StepSolution:
    """Solution with every value recomputed from the dual variables (and from ``weights`` for the 1-norm).

    γ and μ are moved into their domains first, and γ such that Σ a = 0 where the bias is free, so that the dual value
    is a bound; with a balance constraint γ₀ and the bias are set so that both constraints hold exactly.

    A solver that has K a already passes it as ``applied``, with its largest error as far as it is known as
    ``rounding``, which is added to the violation that is reported.
    """
    bias_rule = step.bias_by()
    point = _dual_point(step, bias_rule, gamma, gamma0, multipliers)
    if bias_rule.with_x0 and not bias_rule.fitted and weights is None and step.regularizer.is_squared_norm:
        point, weights = _meeting_balance(step, bias_rule, point)
        applied = None
    a = expansion(step, *point)
    found = []
    for given in _primal_points(step, a, weights):
        primal = given
        if given.outputs is None:  # sums over the points, which a solver may know already
            known = None if applied is None else applied + _repaired(step, bias_rule, point.gamma, gamma)
            outputs = step.problem.apply_kernel(a) if known is None else known
            square = 0.5 * float(a @ outputs)
            primal = given._replace(outputs=outputs, regularization=square, conjugate=square)
        found.append(_solution_of(step, a, point, primal, bias, rounding, {"is_recomputed": applied is None, **report}))
    if len(found) == 1:
        return found[0]
    # Of several weights those are taken that cost least, what they miss of constraints counted at its price.
    price = 1 + float(np.abs(point.multipliers).sum() + np.abs(point.gamma).sum()) + abs(point.gamma0)
    return min(found, key=lambda one: one.primal + price * one.primal_infeasibility)


def _solution_of(
    step: ConvexStep,
    a: Array,
    point: _DualPoint,
    primal: _PrimalPoint,
    bias: float,
    rounding: float,
    report: dict[str, object],
) -> StepSolution:
    """The solution of a dual point, its coefficients a and a primal point, with all figures."""
    bias_rule, rows = step.bias_by(), step.rows
    outputs = np.asarray(primal.outputs)
    dual = point.value(step, primal.conjugate)
    bias = bias_rule.of_origin(outputs, bias)
    outputs = outputs + bias
    miss = float(step.infeasibility(outputs).max(initial=0.0))
    kkt = float(step.violation(point.gamma, outputs).max(initial=0.0))
    if step.target is not None:
        miss = max(miss, abs(bias_rule.mean(outputs) - step.target))
    if rows is not None and len(rows):
        miss = max(miss, float(rows.infeasibility(outputs).max()))
        kkt = max(kkt, float(rows.violation(point.multipliers, outputs).max()))
    equality = abs(point.total(step)) if step.fit_intercept else 0.0
    doubt, output_doubt = 1e-9 * abs(dual), 0.0
    if step.regularizer.is_squared_norm:
        doubt, output_doubt = _doubts(step, a, point.gamma, point.gamma0, outputs, rounding, equality)
        if primal.weights is not None:
            # Outputs are products with w itself, not sums over the points.
            norms = np.sqrt(2 * primal.regularization * step.problem.kernel.diag(step.problem.X).max())
            output_doubt = (step.problem.X.shape[1] + 4) * EPS * float(norms)
    return StepSolution(
        step=step,
        gamma=point.gamma,
        gamma0=point.gamma0,
        multipliers=point.multipliers,
        bias=bias,
        weights=primal.weights,
        outputs=outputs,
        regularization=primal.regularization,
        primal=primal.regularization + step.loss_value(outputs),
        dual=dual,
        kkt=kkt + rounding,
        primal_infeasibility=miss,
        dual_infeasibility=max(equality, primal.infeasibility),
        doubt=doubt,
        output_doubt=output_doubt,
        **report,  # type: ignore[arg-type]
    )


class _DualPoint(NamedTuple):
    """γ, γ₀ and μ inside their domains."""

    gamma: Array
    gamma0: float
    multipliers: Array

    def total(self, step: ConvexStep) -> float:
        """Σ a, which a bias multiplies."""
        taken = 0.0 if step.rows is None else float(self.multipliers @ step.rows.bias)
        return float(self.gamma.sum()) + self.gamma0 + taken

    def value(self, step: ConvexStep, conjugate: float) -> float:
        """The dual value, given that of the regularizer's conjugate."""
        value = -conjugate + self.gamma0 * (step.target or 0.0) - step.conjugate_value(self.gamma)
        if step.rows is not None and len(step.rows):
            value -= step.rows.conjugate_value(self.multipliers)
        return value


def _dual_point(step: ConvexStep, bias: Bias, gamma: Array, gamma0: float, multipliers: Array | None) -> _DualPoint:
    """The dual variables moved into their domains, with Σ a = 0 where the bias is free or fixed by a balance."""
    gamma = step.clip(gamma)
    multipliers = np.zeros(step.n_rows) if multipliers is None else multipliers
    taken = 0.0
    if step.rows is not None:
        multipliers = step.rows.clip(multipliers)
        taken = float(multipliers @ step.rows.bias)
    if bias.target is None:
        gamma0 = 0.0
        if bias.free:
            gamma = sum_to(-taken, gamma, *step.bounds())
    elif bias.centred:
        gamma0 = -(float(gamma.sum()) + taken)  # the multiplier that centring stands for: Σ a = 0 with it
    return _DualPoint(gamma, gamma0, multipliers)


def _meeting_balance(step: ConvexStep, bias: Bias, point: _DualPoint) -> tuple[_DualPoint, Array | None]:
    """The dual point with the γ₀ that is best for γ, at which outputs without a bias have the mean that they must have.

    In the linear space w is returned as well, moved to where it has that mean: where multipliers are large beside
    outputs, rounding keeps sums over the points from it.
    """
    problem, target = step.problem, float(step.target or 0.0)
    share = bias.spread(np.zeros(problem.n), 1.0)
    # The mean is met if no more is missing than this.
    square, room = float(share @ problem.apply_kernel(share)), 1e-10 * (1 + abs(target))
    for _ in range(2):
        missing = target - bias.mean(problem.apply_kernel(expansion(step, *point)))
        if abs(missing) <= room or not square > 0:
            break
        point = point._replace(gamma0=point.gamma0 + missing / square)
    if not problem.is_linear or not square > 0:
        return point, None
    w, mean = problem.combination(expansion(step, *point)), problem.combination(share)
    for _ in range(2):
        w = w + (target - float(mean @ w)) / float(mean @ mean) * mean
    return point, w


class _PrimalPoint(NamedTuple):
    """w, the outputs w·Φ(x_i) if they are not sums over the points, R(w), and the conjugate of R at Σ a_i Φ(x_i)."""

    weights: Array | None
    outputs: Array | None
    regularization: float = 0.0
    conjugate: float = 0.0
    infeasibility: float = 0.0  # by how much the conjugate's domain is missed


def _primal_points(step: ConvexStep, a: Array, weights: Array | None) -> list[_PrimalPoint]:
    """What the regularizer makes of a = Σ a_i Φ(x_i), and of w where a solver has one of its own: one or both."""
    problem, regularizer = step.problem, step.regularizer
    if regularizer.is_squared_norm:
        if weights is None:
            return [_PrimalPoint(None, None)]
        # A primal point of its own: what it lacks of Σ a_i x_i is in the duality gap.
        pull = problem.combination(a)
        squares = (0.5 * float(weights @ weights), 0.5 * float(pull @ pull))
        return [_PrimalPoint(weights, problem.linear_outputs(weights), *squares)]
    pull = problem.combination(a)
    # A dual point must be in the domain of R*; an inexact one is reported, not repaired.
    inside = np.asarray(regularizer.into_domain(pull), dtype=float)
    missed, conjugate = float(np.abs(pull - inside).max(initial=0.0)), float(regularizer.conjugate(inside))
    found = []
    for w in (regularizer.weights(inside), weights):
        if w is not None and np.isfinite(value := float(regularizer.value(w := np.asarray(w, dtype=float)))):
            found.append(_PrimalPoint(w, problem.linear_outputs(w), value, conjugate, missed))
    if not found:
        raise ValueError(f"regularizer={regularizer!r} is infinite, its value to be finite, at the weights of a solver")
    return found


def _repaired(step: ConvexStep, bias: Bias, gamma: Array, given: Array) -> Array | float:
    """What the repair of γ adds to outputs that were computed before it, where it is more than rounding of γ."""
    moved = np.where(np.abs(gamma - given) > 1e-13 * np.abs(given).max(initial=0.0), gamma - given, 0.0)
    if not moved.any():
        return 0.0
    gamma0 = -float(moved.sum()) if bias.centred else 0.0
    return step.problem.apply_kernel(expansion(step, moved, gamma0, np.zeros(0)))


def _doubts(
    step: ConvexStep, a: Array, gamma: Array, gamma0: float, outputs: Array, rounding: float, equality: float
) -> tuple[float, float]:
    """What rounding may have added to a dual value, and done to an output.

    By the kernel, by sums over n points, by Σ a that is not quite 0.  The value has squares that are small differences
    of large products where coefficients cancel.
    """
    error, scale = entry_error(step.problem.kernel, step.problem.X)
    n, reach, largest = len(a), float(np.abs(a) @ scale), float(np.abs(outputs).max(initial=0.0))
    squares = 0.5 * (error + (3 * n + 16) * EPS) * reach * reach + 2 * rounding * float(np.abs(a).sum())
    sums = (n + 16) * EPS * float(np.abs(gamma) @ (2 + np.abs(outputs)) + abs(gamma0 * (step.target or 0.0)))
    value = squares + 2 * sums + 4 * (equality + 4 * EPS * float(np.abs(a).sum())) * (1 + largest)
    return value, error * reach * float(scale.max(initial=0.0))


def sum_to(total: float, gamma: Array, least: Array, most: Array) -> Array:
    """γ with its sum's rounding error (or an inexact solver's) put on the variables that have most room for it."""
    gamma, negligible = gamma.copy(), 0.01 * EQUALITY_TOL * float(np.abs(gamma).sum())
    for _ in range(len(gamma)):
        excess = float(gamma.sum()) - total
        if abs(excess) <= negligible:
            break
        room = gamma - least if excess > 0 else most - gamma
        i = int(np.argmax(room))
        if room[i] <= 0:
            break
        move = float(np.sign(excess) * min(abs(excess), room[i]))
        if gamma[i] - move == gamma[i]:
            break
        gamma[i] -= move
    return gamma
