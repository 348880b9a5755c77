"""One convex problem: the step that CCCP, label switching, annealing or a supervised SVM hands to a solver.

    min over w, b   R(w) + Σ over terms [ c ℓ_k(f_i) + β f_i ],   f_i = w·Φ(x_i) + b,
    mean of f over U = c₀,   lower <= A f <= upper

with convex losses ℓ_k; a point may have several terms, whose sum is its loss ψ_i.  For R(w) = ½ ‖w‖² the dual has one
variable γ_i per point, one, γ₀, for the balance constraint, and one, μ_k, for each further row of A:

    max   -½ aᵀ K a + c₀ γ₀ - Σ_i ψ_i*(-γ_i) - Σ_k max(-μ_k lower_k, -μ_k upper_k),
    a = γ + (γ₀ / U) 1_U + Aᵀ μ,   Σ_i a_i = 0,

where w = Σ_i a_i Φ(x_i), and the last equation belongs to the free bias b.  This is collobert2006 eq. 25-27 with
γ = α̃ and γ₀ = α̃₀, for any convex loss and any rows.  Solvers take and return what is here, and every value in a
:class:`~convex_tsvm.instance.StepSolution` is recomputed from the dual variables with nothing but the kernel.
"""

import dataclasses
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..formulations.groups import Addition
from ..formulations.regularizers import SQUARED_NORM, Regularizer
from ..losses import PLQ, Convex, Pieces, WeightedSums, conjugate_pieces
from ..problem import Array, Problem
from .rows import OutputRows
from .space import Bias, members_of


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
        β, slope of the linear part (the tangent of a concave part); without additions zero where the cost is.
    target : float or None
        c₀ of the balance constraint, None for no such constraint.
    fit_intercept : bool
        Whether there is a free bias b (otherwise b = 0).
    regularizer : Regularizer
        R; other than ½ ‖w‖² in the linear space, where the dual has R*(Σ a_i x_i) in place of the quadratic term.
    names : tuple of str, optional
        What the points with each loss are called in CVXPY problems; their numbers by default.
    point : int array, shape (m,), optional
        The point of each term; term i is for point i by default.
    rows : OutputRows, optional
        Linear constraints on outputs other than the balance.
    additions : tuple of Addition, default ()
        Convex terms and constraints that are written in CVXPY.
    shift : array, shape (n,), optional
        τ, what is subtracted from a point's output before its losses: ψ_i(f) = Σ c ℓ(f - τ_i) + β f.
    """

    problem: Problem
    losses: tuple[Convex, ...]
    kind: NDArray[np.intp]
    cost: Array
    slope: Array
    target: float | None = None
    fit_intercept: bool = True
    regularizer: Regularizer = SQUARED_NORM
    names: tuple[str, ...] = ()
    point: NDArray[np.intp] | None = None
    rows: OutputRows | None = None
    additions: tuple[Addition, ...] = ()
    shift: Array | None = None

    def __post_init__(self) -> None:
        if np.any(self.cost < 0) or (not self.additions and np.any(self.slope[self.cost == 0] != 0)):
            raise ValueError("cost must be >= 0, and slope must be 0 where cost is")

    def replace(self, **changes: object) -> "ConvexStep":
        """The same step with some fields changed."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    @property
    def members(self) -> NDArray[np.intp]:
        """The points whose mean output a balance constraint fixes."""
        return members_of(self.problem)

    def bias_by(self, way: str = "centring") -> Bias:
        """What becomes of the bias: a balance is met by "centring" or by the extra point "x0"."""
        return Bias(self.fit_intercept, self.target, self.members, way)

    @property
    def n_rows(self) -> int:
        """Number of constraints on outputs other than the balance."""
        return 0 if self.rows is None else len(self.rows)

    @property
    def constrains_outputs(self) -> bool:
        """Whether it has constraints on outputs other than a mean of f that the bias meets."""
        return bool(self.n_rows) or (self.target is not None and not self.fit_intercept)

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

    @cached_property
    def _tables(self) -> tuple[Pieces, Pieces] | None:
        """Pieces of all losses and of their conjugates.

        None if a point has several terms, or a loss is none of pieces: then points are gone through group by group.
        """
        return None if self.point is not None else _tables_of(self.losses)

    def loss_value(self, f: Array) -> float:
        """Σ ψ_i(f_i); outputs outside a domain count at its end (:meth:`infeasibility` says how far out)."""
        f = self._into_domain(f)
        total, f = float(self.point_slope @ f), self._shifted(f)
        if self._tables is not None:
            return total + float(self.cost @ self._tables[0].values(self.kind, f))
        for loss, where, _ in self.groups:
            total += float(self.point_cost[where] @ loss(f[where]))
        return total

    def conjugate_value(self, gamma: Array) -> float:
        """Σ ψ_i*(-γ_i), for γ inside its domain (see :meth:`clip`)."""
        slopes = self._unscaled(gamma)
        total = 0.0 if self.shift is None else -float((gamma + self.point_slope) @ self.shift)
        if self._tables is not None:
            return total + float(self.cost @ self._tables[1].values(self.kind, slopes))
        return sum((float(self.point_cost[at] @ loss.conjugate()(slopes[at])) for loss, at, _ in self.groups), total)

    def bounds(self) -> tuple[Array, Array]:
        """Ends of the interval in which each γ_i may lie."""
        lower, upper = self._conjugate_domain()
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
        f = self._shifted(f)
        ahead = f + self._unscaled(gamma)
        if self._tables is not None:
            return np.where(self.cost > 0, np.abs(f - self._tables[0].prox(self.kind, ahead)), 0.0)
        result = np.zeros(len(gamma))
        for loss, where, _ in self.groups:
            result[where] = np.abs(f[where] - loss.prox(ahead[where]))
        return result

    def infeasibility(self, f: Array) -> Array:
        """Distance of each output from the domain of its loss."""
        return np.abs(f - self._into_domain(f))

    def _shifted(self, f: Array) -> Array:
        """Outputs as losses see them."""
        return f if self.shift is None else f - self.shift

    def _into_domain(self, f: Array) -> Array:
        seen = self._shifted(f)
        inside = seen.copy()
        if self._tables is not None:
            least, most = self._tables[0].domain
            inside = np.clip(seen, least[self.kind], most[self.kind])
        for loss, where, _ in () if self._tables is not None else self.groups:
            if not loss.is_finite:
                inside[where] = np.clip(seen[where], *loss.domain)
        return inside if self.shift is None else f + (inside - seen)

    def _unscaled(self, gamma: Array) -> Array:
        """-γ as slopes of the unscaled losses, kept inside the domain of their conjugates against rounding."""
        cost = self.point_cost
        slopes = np.divide(-gamma - self.point_slope, cost, out=np.zeros(len(gamma)), where=cost > 0)
        return np.clip(slopes, *self._conjugate_domain())

    def _conjugate_domain(self) -> tuple[Array, Array]:
        """Ends of the domain of the conjugate of each point's unscaled loss; 0 for points that pay nothing."""
        if self._tables is not None:
            least, most = self._tables[1].domain
            return least[self.kind], most[self.kind]
        lower, upper = np.zeros(self.problem.n), np.zeros(self.problem.n)
        for loss, where, _ in self.groups:
            lower[where], upper[where] = loss.conjugate().domain
        return lower, upper

    def _per_point(self, values: Array) -> Array:
        return values if self.point is None else np.bincount(self.point, values, self.problem.n).astype(float)


@lru_cache(maxsize=64)
def _tables_of(losses: tuple[Convex, ...]) -> tuple[Pieces, Pieces] | None:
    pieces = tuple(loss for loss in losses if isinstance(loss, PLQ))
    return (Pieces.of(pieces), conjugate_pieces(pieces)) if len(pieces) == len(losses) else None


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


def check_same_points(problem: Problem, step: "ConvexStep") -> None:
    """Raise ValueError if a step is about other points than those a solver was made for."""
    if not same_points(problem, step.problem):
        raise ValueError(
            f"step is about {step.problem!r}, but the solver was made for {problem!r}; make a solver for each problem"
        )


#: What is said of a step that has no lower bound.
UNBOUNDED = (
    "the convex problem is unbounded below in the bias: no dual variables sum to zero; "
    "use a balance constraint, fit_intercept=False, or losses that charge both sides"
)


def check_bounded(step: "ConvexStep") -> None:
    """Raise ValueError if a step with a free bias and no other constraints is unbounded below."""
    if step.bias_by().free:
        least, most = (float(end.sum()) for end in step.bounds())
        room = 1e-12 * (1 + float(step.point_cost.sum()))
        if least > room or most < -room:
            raise ValueError(UNBOUNDED)


def mean_row(step: "ConvexStep") -> sp.csr_array:
    """The coefficients of the mean output that a balance constraint fixes, shape (1, n)."""
    members = step.members
    shape = (1, step.problem.n)
    row = (np.full(len(members), 1 / len(members)), (np.zeros(len(members), int), members))
    return sp.csr_array(sp.coo_array(row, shape=shape))  # a point that is there several times has one entry
