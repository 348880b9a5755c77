"""One convex problem: the step that CCCP, label switching or a supervised SVM hands to a solver.

    min over w, b   ½ ‖w‖² + Σ_i [ c_i ℓ_{k(i)}(f_i) + β_i f_i ],   f_i = w·Φ(x_i) + b,   mean of f over U = c

with convex PLQ losses ℓ_k.  Its dual, with one variable γ_i per point and one, γ₀, for the balance constraint, is

    max over γ, γ₀   -½ aᵀ K a + c γ₀ - Σ_i ψ_i*(-γ_i),   a = γ + (γ₀ / U) 1_U,   Σ_i γ_i + γ₀ = 0,

where ψ_i = c_i ℓ_{k(i)} + β_i (·), w = Σ_i a_i Φ(x_i), and the last equation belongs to the free bias b.  This is
collobert2006 eq. 25-27 with γ = α̃ and γ₀ = α̃₀, for any convex PLQ loss.  Both solvers take and return what is
here, and every value in a :class:`StepSolution` is recomputed from γ with nothing but the kernel.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .losses import PLQ
from .problem import Array, Problem

#: Dual constraints violated by no more than this, relative to Σ |γ|, are met up to rounding.
ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class ConvexStep:
    """A convex problem with separable PLQ losses.

    Parameters
    ----------
    problem : Problem
        Points and kernel.
    losses : tuple of PLQ
        The distinct convex losses ℓ_k, as functions of the output f.
    kind : int array, shape (n,)
        Which loss each point pays.
    cost : array, shape (n,)
        c_i >= 0; points with zero cost take no part.
    slope : array, shape (n,)
        β_i, slope of the linear term (the tangent of a concave part); zero where the cost is.
    target : float or None
        c of the balance constraint, None for no such constraint.
    fit_intercept : bool
        Whether there is a free bias b (otherwise b = 0).
    regularizer : {"l2", "l1"}
        ½ ‖w‖², or ‖w‖₁ in the linear space (Fung and Mangasarian's S3VM); the dual of the latter has
        ‖Σ a_i x_i‖_∞ <= 1 in place of the quadratic term.
    names : tuple of str, optional
        What the points with each loss are called in CVXPY problems; their numbers by default.
    """

    problem: Problem
    losses: tuple[PLQ, ...]
    kind: NDArray[np.intp]
    cost: Array
    slope: Array
    target: float | None = None
    fit_intercept: bool = True
    regularizer: str = "l2"
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if np.any(self.cost < 0) or np.any(self.slope[self.cost == 0] != 0):
            raise ValueError("cost must be >= 0, and slope must be 0 where cost is")

    def replace(self, **changes: object) -> ConvexStep:
        """The same step with some fields changed."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    def loss_value(self, f: Array) -> float:
        """Σ ψ_i(f_i); outputs outside a domain count at its end (:meth:`infeasibility` says how far out)."""
        f = self._into_domain(f)
        total = float(self.slope @ f)
        for k, where in self._groups:
            total += float(self.cost[where] @ self.losses[k](f[where]))
        return total

    def conjugate_value(self, gamma: Array) -> float:
        """Σ ψ_i*(-γ_i), for γ inside its domain (see :meth:`clip`)."""
        total = 0.0
        for k, where in self._groups:
            s = self._scaled(gamma, where)
            total += float(self.cost[where] @ self.losses[k].conjugate()(s))
        return total

    def bounds(self) -> tuple[Array, Array]:
        """Ends of the interval in which each γ_i may lie."""
        domains = np.array([loss.conjugate().domain for loss in self.losses])
        used = self.cost > 0
        lower, upper = np.where(used, domains.T[:, self.kind], 0.0)
        return -self.slope - self.cost * upper, -self.slope - self.cost * lower

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
        for k, where in self._groups:
            s = self._scaled(gamma, where)
            result[where] = np.abs(f[where] - self.losses[k].prox(f[where] + s))
        return result

    def infeasibility(self, f: Array) -> Array:
        """Distance of each output from the domain of its loss."""
        return np.abs(f - self._into_domain(f))

    def _into_domain(self, f: Array) -> Array:
        inside = f.copy()
        for k, where in self._groups:
            if not self.losses[k].is_finite:
                inside[where] = np.clip(f[where], *self.losses[k].domain)
        return inside

    @cached_property
    def _groups(self) -> list[tuple[int, NDArray[np.intp]]]:
        groups = [(k, np.flatnonzero((self.kind == k) & (self.cost > 0))) for k in range(len(self.losses))]
        return [(k, where) for k, where in groups if len(where)]

    def _scaled(self, gamma: Array, where: NDArray[np.intp]) -> Array:
        """-γ as a slope of the unscaled loss, kept inside the domain of its conjugate against rounding."""
        conjugate = self.losses[self.kind[where[0]]].conjugate()
        return np.clip((-gamma[where] - self.slope[where]) / self.cost[where], conjugate.lower, conjugate.upper)


@dataclass(frozen=True, eq=False)
class StepSolution:
    """A point of a convex step with its certificate, recomputed from γ.

    Attributes
    ----------
    step : ConvexStep
    gamma : array, shape (n,)
        Dual variables.
    gamma0 : float
        Multiplier of the balance constraint (α₀ in collobert2006).
    bias : float
        b.
    weights : array, shape (d,), or None
        w, where it is not Σ a_i Φ(x_i) (1-norm).
    outputs : array, shape (n,)
        f_i.
    regularization : float
        ½ ‖w‖² or ‖w‖₁.
    primal, dual : float
        Values of both problems at this point; the dual one is a lower bound of the optimum.
    kkt : float
        Largest distance of a point from its optimality condition (:meth:`ConvexStep.violation`), in units of f, plus
        the rounding error that a solver in single precision measured.
    primal_infeasibility : float
        Largest distance of an output from the domain of its loss (zero unless a loss is a constraint), or of the
        mean output from the c it must have, if that is larger.
    dual_infeasibility : float
        By how much the dual constraints fail: |Σ γ + γ₀| for a free bias, ‖Σ a_i x_i‖_∞ - 1 for the 1-norm.
    status : {"optimal", "inaccurate", "max_iter", "interrupted"}
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
    status: str = "optimal"
    n_iter: int = 0
    seconds: float = 0.0
    solver_seconds: float = 0.0

    @property
    def gap(self) -> float:
        """Duality gap, relative to the primal value or to the regularization if that is larger.

        The tangents of CCCP shift the primal value, perhaps to near zero; they do not shift the regularization.
        """
        return (self.primal - self.dual) / max(1.0, abs(self.primal), self.regularization)

    @property
    def lower_bound(self) -> float | None:
        """The dual value, if the dual constraints are met up to rounding; otherwise it bounds nothing."""
        met = self.dual_infeasibility <= ROUNDING * (1 + float(np.abs(self.gamma).sum()))
        return self.dual if met else None

    @property
    def coefficients(self) -> Array:
        """a, the expansion w = Σ a_i Φ(x_i), shape (n,)."""
        return expansion(self.step.problem, self.gamma, self.gamma0)


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


def check_same_points(problem: Problem, step: ConvexStep) -> None:
    """Raise ValueError if a step is about other points than those a solver was made for."""
    if not same_points(problem, step.problem):
        raise ValueError(
            f"step is about {step.problem!r}, but the solver was made for {problem!r}; make a solver for each problem"
        )


class StepSolver(Protocol):
    """What solves convex steps that differ in slopes, costs and balance only."""

    def solve(self, step: ConvexStep, start: StepSolution | None = None) -> StepSolution:
        """Solve one step, from ``start`` where that helps."""
        ...


def expansion(problem: Problem, gamma: Array, gamma0: float) -> Array:
    """Coefficients of w over the points: γ, with γ₀ spread over the points whose mean is constrained."""
    coefficients = gamma.copy()
    if gamma0:
        coefficients[problem.balance_points] += gamma0 / len(problem.balance_points)
    return coefficients


def certify(
    step: ConvexStep,
    gamma: Array,
    gamma0: float,
    bias: float,
    weights: Array | None = None,
    *,
    applied: Array | None = None,
    rounding: float = 0.0,
    **report: object,
) -> StepSolution:
    """Solution with every value recomputed from the dual variables (and from ``weights`` for the 1-norm).

    γ is moved into its domain first and made to sum to zero where the bias is free, so that the dual value is a
    bound; with a balance constraint γ₀ and the bias are set so that both constraints hold exactly.

    A solver that has K a already passes it as ``applied``, with its largest error as far as it is known as
    ``rounding``, which is added to the violation that is reported.
    """
    problem = step.problem
    gamma = step.clip(gamma)
    if step.target is None:
        gamma0 = 0.0
        if step.fit_intercept:
            gamma = sum_to_zero(gamma, *step.bounds())
    elif step.fit_intercept:
        gamma0 = -float(gamma.sum())
    a = expansion(problem, gamma, gamma0)
    if step.regularizer == "l1":
        if weights is None:
            raise ValueError("weights are needed for regularizer='l1'")
        # A dual point must satisfy ‖Σ a_i x_i‖_∞ <= 1; an inexact one is reported, not repaired.
        infeasible = max(0.0, float(np.abs(problem.X.T @ a).max()) - 1.0)
        outputs, regularization, conjugate = problem.X @ weights, float(np.abs(weights).sum()), 0.0
    else:
        outputs, infeasible = problem.apply_kernel(a) if applied is None else applied, 0.0
        regularization = conjugate = 0.5 * float(a @ outputs)
    if not step.fit_intercept:
        bias = 0.0
    elif step.target is not None:
        bias = step.target - float(outputs[problem.balance_points].mean())
    outputs = outputs + bias
    miss = float(step.infeasibility(outputs).max(initial=0.0))
    if step.target is not None:
        miss = max(miss, abs(float(outputs[problem.balance_points].mean()) - step.target))
    equality = abs(float(gamma.sum()) + gamma0) if step.fit_intercept else 0.0
    return StepSolution(
        step=step,
        gamma=gamma,
        gamma0=gamma0,
        bias=bias,
        weights=weights,
        outputs=outputs,
        regularization=regularization,
        primal=regularization + step.loss_value(outputs),
        dual=-conjugate + gamma0 * (step.target or 0.0) - step.conjugate_value(gamma),
        kkt=float(step.violation(gamma, outputs).max(initial=0.0)) + rounding,
        primal_infeasibility=miss,
        dual_infeasibility=max(equality, infeasible),
        **report,  # type: ignore[arg-type]
    )


def sum_to_zero(gamma: Array, least: Array, most: Array) -> Array:
    """γ with its sum's rounding error (or an inexact solver's) put on the variables that have most room for it."""
    gamma, negligible = gamma.copy(), 0.01 * ROUNDING * float(np.abs(gamma).sum())
    for _ in range(len(gamma)):
        excess = float(gamma.sum())
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
