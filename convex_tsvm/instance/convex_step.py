"""One convex problem: the step that CCCP, label switching, annealing or a supervised SVM hands to a solver.

    min over w, b   R(w) + Σ over terms [ c ℓ_k(f_i) + β f_i ],   f_i = w·Φ(x_i) + b,
    mean of f over U = c₀,   lower <= A f <= upper

with convex losses ℓ_k; a point may have several terms, whose sum is its loss ψ_i.  For R(w) = ½ ‖w‖² the dual has one
variable γ_i per point, one, γ₀, for the balance constraint, and one, μ_k, for each further row of A:

    max   -½ aᵀ K a + c₀ γ₀ - Σ_i ψ_i*(-γ_i) - Σ_k max(-μ_k lower_k, -μ_k upper_k),
    a = γ + (γ₀ / U) 1_U + Aᵀ μ,   Σ_i a_i = 0,

where w = Σ_i a_i Φ(x_i), and the last equation belongs to the free bias b.  This is collobert2006 eq. 25-27 with
γ = α̃ and γ₀ = α̃₀, for any convex loss and any rows.  Solvers take and return what is here, and every value in a
:class:`StepSolution` is recomputed from the dual variables with nothing but the kernel.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..formulations.regularizers import ElasticNet, Regularizer
from ..kernels import entry_error
from ..kernels.distances import EPS
from ..losses import PLQ, Convex, WeightedSums
from ..problem import Array, Problem
from .rows import OutputRows

#: Dual constraints violated by no more than this, relative to Σ |γ|, are met up to rounding.
ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class ConvexStep:
    """A convex problem whose losses are separate for each point.

    A term is a loss, its cost and a slope, for one point.  By default there is one for each point, in order.

    Parameters
    ----------
    problem : Problem
        Points and kernel.
    losses : tuple of PLQ or ConvexLoss
        The distinct convex losses ℓ_k, as functions of the output f.
    kind : int array, shape (m,)
        Which loss each term is.
    cost : array, shape (m,)
        c >= 0; terms with zero cost take no part.
    slope : array, shape (m,)
        β, slope of the linear part (the tangent of a concave part); zero where the cost is.
    target : float or None
        c₀ of the balance constraint, None for no such constraint.
    fit_intercept : bool
        Whether there is a free bias b (otherwise b = 0).
    regularizer : {"l2", "l1"} or ElasticNet
        R: ½ ‖w‖², ‖w‖₁ (Fung and Mangasarian's S3VM; its dual has ‖Σ a_i x_i‖_∞ <= 1 in place of the quadratic
        term) or both; other than "l2" in the linear space.
    names : tuple of str, optional
        What the points with each loss are called in CVXPY problems; their numbers by default.
    point : int array, shape (m,), optional
        The point of each term; term i is for point i by default.
    rows : OutputRows, optional
        Linear constraints on outputs other than the balance.
    """

    problem: Problem
    losses: tuple[Convex, ...]
    kind: NDArray[np.intp]
    cost: Array
    slope: Array
    target: float | None = None
    fit_intercept: bool = True
    regularizer: Regularizer = "l2"
    names: tuple[str, ...] = ()
    point: NDArray[np.intp] | None = None
    rows: OutputRows | None = None

    def __post_init__(self) -> None:
        if np.any(self.cost < 0) or np.any(self.slope[self.cost == 0] != 0):
            raise ValueError("cost must be >= 0, and slope must be 0 where cost is")

    def replace(self, **changes: object) -> ConvexStep:
        """The same step with some fields changed."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    @property
    def members(self) -> NDArray[np.intp]:
        """The points whose mean output a balance constraint fixes."""
        return members_of(self.problem)

    @property
    def n_rows(self) -> int:
        """Number of constraints on outputs other than the balance."""
        return 0 if self.rows is None else len(self.rows)

    @cached_property
    def point_cost(self) -> Array:
        """Sum of the costs of each point's terms, shape (n,); a point where it is zero takes no part."""
        return self._per_point(self.cost)

    @cached_property
    def point_slope(self) -> Array:
        """Sum of the slopes of each point's terms, shape (n,)."""
        return self._per_point(self.slope)

    @cached_property
    def groups(self) -> list[tuple[Convex | WeightedSums, NDArray[np.intp], tuple[int, ...]]]:
        """The points with a cost, by the kinds of their terms: ψ_i is point cost times this loss plus the slope.

        Points with one term pay one loss; of those with several each has a sum of its own.
        """
        if self.point is None:
            found = [(k, np.flatnonzero((self.kind == k) & (self.cost > 0))) for k in range(len(self.losses))]
            return [(self.losses[k], where, (k,)) for k, where in found if len(where)]
        n, kinds = self.problem.n, len(self.losses)
        table = np.bincount(self.point * kinds + self.kind, self.cost, n * kinds).reshape(n, kinds)
        # A point's kinds as one number: sorting numbers is faster than sorting rows.
        codes, first, which = np.unique((table > 0) @ (1 << np.arange(kinds)), return_index=True, return_inverse=True)
        groups: list[tuple[Convex | WeightedSums, NDArray[np.intp], tuple[int, ...]]] = []
        for number in range(len(codes)):
            members, where = np.flatnonzero(table[first[number]] > 0), np.flatnonzero(which == number)
            if len(members) == 1:
                groups.append((self.losses[members[0]], where, (int(members[0]),)))
            elif len(members):
                losses = [loss for loss in (self.losses[k] for k in members) if isinstance(loss, PLQ)]
                if len(losses) < len(members):
                    raise ValueError("a point with several terms must pay piecewise linear-quadratic losses")
                weights = table[np.ix_(where, members)] / self.point_cost[where, None]
                groups.append((WeightedSums(losses, weights), where, tuple(members.tolist())))
        return groups

    def loss_value(self, f: Array) -> float:
        """Σ ψ_i(f_i); outputs outside a domain count at its end (:meth:`infeasibility` says how far out)."""
        f = self._into_domain(f)
        total = float(self.point_slope @ f)
        for loss, where, _ in self.groups:
            total += float(self.point_cost[where] @ loss(f[where]))
        return total

    def conjugate_value(self, gamma: Array) -> float:
        """Σ ψ_i*(-γ_i), for γ inside its domain (see :meth:`clip`)."""
        total = 0.0
        for loss, where, s in self._scaled(gamma):
            total += float(self.point_cost[where] @ loss.conjugate()(s))
        return total

    def bounds(self) -> tuple[Array, Array]:
        """Ends of the interval in which each γ_i may lie."""
        lower, upper = np.zeros(self.problem.n), np.zeros(self.problem.n)
        for loss, where, _ in self.groups:
            lower[where], upper[where] = loss.conjugate().domain
        with np.errstate(invalid="ignore"):
            ends = [np.where(self.point_cost > 0, self.point_cost * end, 0.0) for end in (upper, lower)]
        return -self.point_slope - ends[0], -self.point_slope - ends[1]

    def clip(self, gamma: Array) -> Array:
        """γ moved into its domain."""
        least, most = self.bounds()
        return np.clip(gamma, least, most)

    def violation(self, gamma: Array, f: Array) -> Array:
        """How far each (f_i, γ_i) is from optimal, in units of f: |f_i - prox_ℓ(f_i + s_i)|, s_i the scaled -γ_i.

        Zero exactly where -γ_i is a subgradient of ψ_i at f_i; unlike the distance to ∂ψ_i* it is continuous, so
        that it is also meaningful for the nearly optimal points of an interior-point solver.
        """
        result = np.zeros(len(gamma))
        for loss, where, s in self._scaled(gamma):
            result[where] = np.abs(f[where] - loss.prox(f[where] + s))
        return result

    def infeasibility(self, f: Array) -> Array:
        """Distance of each output from the domain of its loss."""
        return np.abs(f - self._into_domain(f))

    def _into_domain(self, f: Array) -> Array:
        inside = f.copy()
        for loss, where, _ in self.groups:
            if not loss.is_finite:
                inside[where] = np.clip(f[where], *loss.domain)
        return inside

    def _per_point(self, values: Array) -> Array:
        return values if self.point is None else np.bincount(self.point, values, self.problem.n).astype(float)

    def _scaled(self, gamma: Array) -> Iterator[tuple[Convex | WeightedSums, NDArray[np.intp], Array]]:
        """-γ as slopes of the unscaled losses, kept inside the domain of their conjugates against rounding."""
        for loss, where, _ in self.groups:
            s = (-gamma[where] - self.point_slope[where]) / self.point_cost[where]
            yield loss, where, np.clip(s, *loss.conjugate().domain)


@dataclass(frozen=True, eq=False)
class StepSolution:
    """A point of a convex step with its certificate, recomputed from the dual variables.

    Attributes
    ----------
    step : ConvexStep
    gamma : array, shape (n,)
        Dual variables of the points.
    gamma0 : float
        Multiplier of the balance constraint (α₀ in collobert2006).
    multipliers : array, shape (number of rows,)
        μ, multipliers of the other constraints on outputs.
    bias : float
        b.
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
        By how much the dual constraints fail: |Σ a| for a free bias, ‖Σ a_i x_i‖_∞ - 1 for the 1-norm.
    doubt : float
        What rounding may have added to the dual value; of kernel values in single precision, as far as was measured.
    output_doubt : float
        What rounding of kernel values in double precision may do to an output.
    status : {"optimal", "inaccurate", "max_iter", "interrupted", "time_limit"}
    n_iter : int
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

    def judged(self, tol: float) -> StepSolution:
        """The same with the status that its recomputed figures allow: "optimal" only if they are within ``tol``.

        The gap and the constraints count as they are.  A solver that closes the gap may leave violations of optimality
        conditions that cost next to nothing; ten times as much of these is let pass, what rounding of the kernel may do
        to outputs included.
        """
        # Rounding of outputs is paid for at every point.
        gap = self.gap + float(self.step.point_cost.sum()) * self.output_doubt / self._gap_scale
        met = gap <= tol and self.kkt + self.output_doubt <= 10 * tol and self.primal_infeasibility <= tol
        return self if met or self.status != "optimal" else dataclasses.replace(self, status="inaccurate")

    @property
    def lower_bound(self) -> float | None:
        """The dual value less what rounding may have added, if the dual constraints are met; else it bounds nothing.

        Multipliers of zero prove something as well, and that without rounding.
        """
        if self.dual_infeasibility > ROUNDING * (1 + float(np.abs(self.gamma).sum())):
            return None
        step, none = self.step, np.zeros(len(self.gamma))
        nothing = -step.conjugate_value(none) if (step.clip(none) == 0).all() and not step.n_rows else -np.inf
        dual = self.dual
        if self.status != "optimal" and step.regularizer == "l2" and self.weights is None:
            # A solver that gave up has outputs that carry the rounding of all its steps.
            a = self.coefficients
            dual += self.regularization - 0.5 * float(a @ step.problem.apply_kernel(a))
        proven = dual - self.doubt
        return max(proven if np.isfinite(proven) else -np.inf, nothing - 1e-12 * abs(nothing))

    @property
    def coefficients(self) -> Array:
        """a, the expansion w = Σ a_i Φ(x_i), shape (n,)."""
        return expansion(self.step, self.gamma, self.gamma0, self.multipliers)


def same_points(problem: Problem, other: Problem) -> bool:
    """Whether two problems have the same points, kernel, unlabelled points and points whose mean is constrained.

    Signs of labels, costs and the mean asked for may differ.
    """
    if other is problem:
        return True
    if other.X is not problem.X or other.kernel != problem.kernel:
        return False
    return np.array_equal(other.unlabeled, problem.unlabeled) and np.array_equal(
        other.balance_points, problem.balance_points
    )


def members_of(problem: Problem) -> NDArray[np.intp]:
    """The points whose mean output a balance constraint on a problem would fix."""
    return problem.balance_points


def check_same_points(problem: Problem, step: ConvexStep) -> None:
    """Raise ValueError if a step is about other points than those a solver was made for."""
    if not same_points(problem, step.problem):
        raise ValueError(
            f"step is about {step.problem!r}, but the solver was made for {problem!r}; make a solver for each problem"
        )


class StepSolver(Protocol):
    """What solves convex steps that differ in slopes, costs, terms and balance only."""

    def solve(self, step: ConvexStep, start: StepSolution | None = None) -> StepSolution:
        """Solve one step, from ``start`` where that helps."""
        ...


def mean_row(step: ConvexStep) -> sp.csr_array:
    """The coefficients of the mean output that a balance constraint fixes, shape (1, n)."""
    members = step.members
    shape = (1, step.problem.n)
    row = (np.full(len(members), 1 / len(members)), (np.zeros(len(members), int), members))
    return sp.csr_array(sp.coo_array(row, shape=shape))  # a point that is there several times has one entry


def expansion(step: ConvexStep, gamma: Array, gamma0: float, multipliers: Array) -> Array:
    """Coefficients of w over the points: γ, γ₀ spread over the points of the balance, μ over those of each row."""
    coefficients = gamma.copy()
    if gamma0:
        np.add.at(coefficients, step.members, gamma0 / len(step.members))
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
    problem, rows, given = step.problem, step.rows, gamma
    gamma = step.clip(gamma)
    multipliers = np.zeros(step.n_rows) if multipliers is None else multipliers
    if rows is not None:
        multipliers = rows.clip(multipliers)
    # What the rows take of the free bias.
    taken = 0.0 if rows is None else float(multipliers @ rows.bias)
    if step.target is None:
        gamma0 = 0.0
        if step.fit_intercept:
            gamma = sum_to(-taken, gamma, *step.bounds())
    elif step.fit_intercept:
        gamma0 = -float(gamma.sum()) - taken
    a = expansion(step, gamma, gamma0, multipliers)
    infeasible = 0.0
    if step.regularizer == "l2" and weights is not None:
        # A primal point of its own: what it lacks of Σ a_i x_i is in the duality gap.
        pull, outputs = problem.combination(a), problem.linear_outputs(weights)
        regularization, conjugate = 0.5 * float(weights @ weights), 0.5 * float(pull @ pull)
    elif step.regularizer == "l2":
        outputs = problem.apply_kernel(a) if applied is None else applied + _repaired(step, gamma, given)
        regularization = conjugate = 0.5 * float(a @ outputs)
    elif isinstance(step.regularizer, ElasticNet):
        pull = problem.combination(a)
        weights, conjugate = step.regularizer.weights(pull), step.regularizer.conjugate(pull)
        outputs, regularization = problem.linear_outputs(weights), step.regularizer.value(weights)
    else:
        if weights is None:
            raise ValueError("weights are needed for regularizer='l1'")
        # A dual point must satisfy ‖Σ a_i x_i‖_∞ <= 1; an inexact one is reported, not repaired.
        infeasible = max(0.0, float(np.abs(problem.X.T @ a).max()) - 1.0)
        outputs, regularization, conjugate = problem.X @ weights, float(np.abs(weights).sum()), 0.0
    if not step.fit_intercept:
        bias = 0.0
    elif step.target is not None:
        bias = step.target - float(outputs[step.members].mean())
    outputs = outputs + bias
    miss = float(step.infeasibility(outputs).max(initial=0.0))
    kkt = float(step.violation(gamma, outputs).max(initial=0.0))
    dual = -conjugate + gamma0 * (step.target or 0.0) - step.conjugate_value(gamma)
    if step.target is not None:
        miss = max(miss, abs(float(outputs[step.members].mean()) - step.target))
    if rows is not None and len(rows):
        miss = max(miss, float(rows.infeasibility(outputs).max()))
        kkt = max(kkt, float(rows.violation(multipliers, outputs).max()))
        dual -= rows.conjugate_value(multipliers)
    equality = abs(float(gamma.sum()) + gamma0 + taken) if step.fit_intercept else 0.0
    doubt, output_doubt = 1e-9 * abs(dual), 0.0
    if step.regularizer == "l2":
        doubt, output_doubt = _doubts(step, a, gamma, gamma0, outputs, rounding, equality)
        if weights is not None:
            # Outputs are products with w itself, not sums over the points.
            norms = np.sqrt(2 * regularization * step.problem.kernel.diag(step.problem.X).max())
            output_doubt = (step.problem.X.shape[1] + 4) * EPS * float(norms)
    return StepSolution(
        step=step,
        gamma=gamma,
        gamma0=gamma0,
        multipliers=multipliers,
        bias=bias,
        weights=weights,
        outputs=outputs,
        regularization=regularization,
        primal=regularization + step.loss_value(outputs),
        dual=dual,
        kkt=kkt + rounding,
        primal_infeasibility=miss,
        dual_infeasibility=max(equality, infeasible),
        doubt=doubt,
        output_doubt=output_doubt,
        **report,  # type: ignore[arg-type]
    )


def _repaired(step: ConvexStep, gamma: Array, given: Array) -> Array | float:
    """What the repair of γ adds to outputs that were computed before it, where it is more than rounding of γ."""
    moved = np.where(np.abs(gamma - given) > 1e-13 * np.abs(given).max(initial=0.0), gamma - given, 0.0)
    if not moved.any():
        return 0.0
    centred = step.target is not None and step.fit_intercept
    return step.problem.apply_kernel(expansion(step, moved, -float(moved.sum()) if centred else 0.0, np.zeros(0)))


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
    gamma, negligible = gamma.copy(), 0.01 * ROUNDING * float(np.abs(gamma).sum())
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
