"""The SVM of the labels known so far: a bound for all labellings that agree with them (chapelle2008 §3.1).

In the dual a hinge and a squared hinge differ only in their matrix and their box: with α >= 0 and γ = y ∘ α,

    max  Σ γ_i (y_i - o_i) - ½ γᵀ M γ,   hinge: M = G, α_i <= c_i;   squared hinge: M = G + Diag(1 / 2c);
                                         hard margin: M = G,

and Σ γ_i = 0 if the bias is free.  Every γ of the domain gives a bound, and says what labels and outputs a better
solution cannot have.

Bounds and ends of outputs hold for exact arithmetic on the problem as it is given: what rounding may have done to them,
and to the kernel, is taken off (see :mod:`~convex_tsvm.relaxations.rounding`).
"""

import dataclasses
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ...formulations.terms import DOMAIN_TOLERANCE
from ...instance.labelling import Labelling
from ...kernels import AccurateGram, GramRows, NoMeanError, without_direction
from ...losses import HARD_MARGIN, PLQ, hinge, squared_hinge
from ...problem import Array
from ...solvers import NativeSolver
from ...solvers.cholesky import cholesky
from ...solvers.dual import minimize_quadratic
from ...validation import InfeasibleError
from ..rounding import EPS, SAFE_ROOM, UNDERFLOW, outward, safe, zero_sum
from ..safe_bounds import svm_bound


@dataclass(frozen=True, eq=False)
class PartialPoint:
    """A dual point of the SVM of known labels; all arrays have shape (n,)."""

    value: float  # a proven bound: the dual value with the objective's constant, less what rounding may have added
    gamma: Array  # γ = y ∘ α; zero where the label is unknown; of a spread of classes its multipliers follow
    # M γ + o without the bias, and how far rounding may have moved it; for the squared hinge the outputs are the v of
    # :mod:`~convex_tsvm.relaxations.quadratic_program`.
    outputs: Array
    error: Array
    bias: float = 0.0  # a free bias at the optimum; 0 where the point is not from a solver


@dataclass(frozen=True, eq=False)
class Witness:
    """A primal point for labels of all points, which shows that an objective of ``value`` or less can be reached."""

    value: float
    gamma: Array  # w is Σ γ_i φ_i, or with targets that of :meth:`PartialSVM.coefficients_of_targets`
    mean: float = 0.0  # the mean output of the points where the bias is free, otherwise 0
    targets: Array | None = None  # v, where the sum of targets is given; their sum is right up to rounding


def is_partial(search: Labelling) -> bool:
    """Whether :class:`PartialSVM` knows the loss of a search, and every point has a cost."""
    known = any(search.loss.isclose(loss) for loss in (hinge(), squared_hinge(), HARD_MARGIN))
    return known and bool((search.cost > 0).all())


class PartialSVM:
    """The SVM of known labels, whichever points have them; the loss is the hinge, the squared hinge or a hard margin.

    ``squared`` and ``hard`` tell which; ``cap``, shape (n,), has the largest α_i, infinite for all but the hinge.
    InfeasibleError is raised if a sum of targets is asked for that cannot be reached.
    """

    def __init__(self, search: Labelling) -> None:
        self.squared = search.loss.isclose(squared_hinge())
        self.search, self.free_bias = search, search.free_bias
        self.offset, self.offset_error = search.offset, search.offset_error
        self.constant, self.constant_error = search.constant, search.constant_error
        self.hard = search.loss.isclose(HARD_MARGIN)
        unbounded = self.squared or self.hard
        self.cap = np.full(search.n, np.inf) if unbounded else search.cost
        margin = HARD_MARGIN if unbounded else hinge()
        self._losses: tuple[PLQ, ...] = (margin, margin.reflect())
        self._cached: tuple[bytes, GramRows] | None = None
        self.n_solved = 0
        #: M without its diagonal part 1 / (2 c), which is kept apart: added to a large kernel it would lose digits.
        self._gram, self._ridge = search.gram, np.zeros(search.n)
        if self.squared:
            self._ridge = 1 / (2 * search.cost)
        if search.target_sum is not None:
            self._fix_sum(search)
        self.M = self._gram.matrix + np.diag(self._ridge)
        #: Of a hard margin: a bound above it says that the labels are not separable.
        # A hard margin that is this share of the points' radius or less counts as none: the labels are not separable.
        self._most = 0.5 / (1e-6**2 * max(float(np.diag(self.M).max()), 1e-300)) if self.hard else np.inf

    def _fix_sum(self, search: Labelling) -> None:
        """Fix the sum of the targets v: M and the offsets become those of the functions whose targets have that sum."""
        kernel = search.gram
        whole = AccurateGram(
            kernel.matrix + np.diag(self._ridge), kernel.error + 2 * EPS, np.sqrt(kernel.scale**2 + self._ridge)
        )
        try:
            found = without_direction(whole, search.summed, float(search.target_sum or 0.0))
        except NoMeanError as error:
            raise InfeasibleError(f"{search.instance.balance} cannot be met: {error}") from None
        self._gram, self._ridge = found.gram, np.zeros(search.n)
        self.offset, self.offset_error = found.offset, found.offset_error
        self.constant += 0.5 * found.square
        self.constant_error += 0.5 * found.square_error + 4 * EPS * found.square

    def point(self, y: Array, gamma: Array) -> PartialPoint:
        """The dual point of a γ, which is moved into the domain first; no solver is called."""
        gamma = self._inside(y, gamma)
        return PartialPoint(self._least(gamma, y, self._most_square(gamma)), gamma, *self._outputs(gamma))

    def _inside(self, y: Array, gamma: Array) -> Array:
        """γ moved into the domain."""
        gamma = np.where(y > 0, np.clip(gamma, 0, self.cap), np.where(y < 0, np.clip(gamma, -self.cap, 0), 0.0))
        if self.free_bias:
            gamma = zero_sum(gamma, np.where(y < 0, -self.cap, 0.0), np.where(y > 0, self.cap, 0.0))
        return gamma

    def _least(self, gamma: Array, y: Array, square: float) -> float:
        """γᵀ (y - o) - ½ ``square`` + constant, or a little less."""
        linear = gamma * (y - self.offset)
        size = float(np.abs(gamma) @ (np.abs(y) + np.abs(self.offset)))
        doubt = (self.search.n + 8) * EPS * size + float(np.abs(gamma) @ self.offset_error) + self.constant_error
        value = float(linear.sum()) - 0.5 * square + self.constant
        if value - self.constant > self._most:
            return np.inf
        return safe(value - 2 * doubt - SAFE_ROOM * (size + 0.5 * square + abs(self.constant)) - UNDERFLOW)

    def _most_square(self, gamma: Array) -> float:
        """A number that γᵀ M γ does not exceed, rounding included."""
        own = float((gamma**2) @ self._ridge)
        return self._gram.most_square(gamma) + own * (1 + (self.search.n + 4) * EPS)

    def _outputs(self, gamma: Array) -> tuple[Array, Array]:
        """M γ + o, and how far rounding may have moved it, both of shape (n,)."""
        image, error = self._gram.image(gamma)
        own = self._ridge * gamma
        outputs = image + own + self.offset
        return outputs, error + self.offset_error + 4 * EPS * (np.abs(image) + np.abs(own) + np.abs(self.offset))

    def solve(self, y: Array, gamma: Array | None = None, tol: float = 1e-7) -> PartialPoint:
        """The best γ for labels ``y`` (+1, -1, 0 for unknown), from a start where one is given."""
        known = np.flatnonzero(y)
        self.n_solved += 1
        found = minimize_quadratic(
            self._known_rows(y, known),
            self._losses,
            kind=(y[known] < 0).astype(np.intp),
            cost=np.where(np.isinf(self.cap[known]), 1.0, self.cap[known]),
            offset=0.0 if self.free_bias else self.offset[known],
            sums_to_zero=self.free_bias,
            start=None if gamma is None else gamma[known],
            tol=tol,
        )
        full = np.zeros(len(y))
        full[known] = found.gamma
        bias = found.bias if self.free_bias else 0.0
        return dataclasses.replace(self.point(y, full), bias=bias)

    def objective(self, y: Array, point: PartialPoint) -> float:
        """The SVM's primal value at a dual point for labels of all points, or a little more."""
        return self.witness(y, point).value

    def witness(self, y: Array, point: PartialPoint) -> Witness:
        """A primal point for labels of all points, with the best bias or right sum, and its value rounded up."""
        if self.search.target_sum is not None:
            return self._witness_of_targets(y, point)
        outputs, error = self._gram.image(point.gamma)
        outputs, error = outputs + self.offset, error + self.offset_error
        error = error + 4 * EPS * (np.abs(outputs) + np.abs(self.offset))
        bias = self._best_bias(y, outputs) if self.free_bias else 0.0
        outputs = outputs + bias
        lacking, longer = np.maximum(1 - y * outputs + error, 0.0), 1.0
        if self.hard and lacking.max(initial=0.0) > DOMAIN_TOLERANCE:
            return Witness(np.inf, point.gamma)
        if self.hard:
            # What margins lack is made up for by a longer w and bias.
            longer += float((lacking / np.maximum(y * (outputs - self.offset) - error, 1e-3)).max())
            losses = 0.0
        else:
            losses = float((lacking**2 if self.squared else lacking) @ self.search.cost)
        gamma = longer * point.gamma
        value = self._raised(0.5 * self._gram.most_square(gamma) + losses + self.constant)
        return Witness(value, gamma, longer * float(outputs.mean()) if self.free_bias else 0.0)

    def _raised(self, value: float) -> float:
        """A sum of about n terms, raised by what rounding may have taken from it; infinite for NaN."""
        value += (self.search.n + 8) * EPS * (abs(value) + abs(self.constant)) + self.constant_error
        return np.inf if np.isnan(value) else value

    def _best_bias(self, y: Array, outputs: Array) -> float:
        """The bias that costs least: the derivative of the losses is zero there, or jumps."""
        biases = np.sort(y - outputs)
        if self.hard:  # in the middle of those that meet all margins, or miss them by the least
            least, most = (y - outputs)[y > 0].max(initial=-np.inf), (y - outputs)[y < 0].min(initial=np.inf)
            return float(np.mean([end for end in (least, most) if np.isfinite(end)]))
        lacking = np.maximum(1 - y * (outputs + biases[:, None]), 0.0)
        cost = self.search.cost
        if not self.squared:
            return float(biases[(lacking @ cost).argmin()])
        slopes = -lacking @ (cost * y)
        after = int(np.searchsorted(slopes, 0.0))
        if after in (0, len(biases)) or slopes[after] == slopes[after - 1]:
            return float(biases[min(after, len(biases) - 1)])
        share = -slopes[after - 1] / (slopes[after] - slopes[after - 1])
        return float(biases[after - 1] + share * (biases[after] - biases[after - 1]))

    def coefficients_of_targets(self, gamma: Array) -> Array:
        """a = γ + β 1 on the points of the sum, with the β that gives the targets v = (K + Diag(1 / 2c)) a that sum."""
        search, members = self.search, np.flatnonzero(self.search.summed)
        columns = np.column_stack([gamma, search.summed])
        images = search.kernel @ columns + columns / (2 * search.cost)[:, None]
        sums = images[members].sum(axis=0)
        return np.asarray(gamma + (float(search.target_sum or 0.0) - sums[0]) / sums[1] * search.summed)

    def _witness_of_targets(self, y: Array, point: PartialPoint) -> Witness:
        """Any w with targets of the right signs and sum: here w is that of γ, and the targets are those near its v.

        w = Σ a_i φ_i with a = γ + β 1 on the points of the sum, and v - f = a / 2c.
        """
        search, members = self.search, np.flatnonzero(self.search.summed)
        total, ridge = float(search.target_sum or 0.0), 1 / (2 * search.cost)
        a = self.coefficients_of_targets(point.gamma)
        outputs, error = search.gram.image(a)
        v = y * np.maximum(y * (outputs + ridge * a), 1.0)
        excess = float(v[members].sum()) - total
        movable = members[y[members] == -np.sign(excess)] if excess else members
        if len(movable) == 0:
            return Witness(np.inf, point.gamma, targets=v)
        v[movable] -= excess / len(movable)
        # Rounding leaves a part of the excess, which could be added to any one of the targets.
        left = (len(members) + 4) * EPS * (np.abs(v[members]).sum() + abs(total))
        missed = np.abs(v - outputs) + error + 4 * EPS * (np.abs(v) + np.abs(outputs)) + left
        value = 0.5 * search.gram.most_square(a) + float(search.cost @ missed**2) + search.constant
        return Witness(self._raised(value), point.gamma, targets=v)

    def rates(self, gamma: Array, where: NDArray[np.intp]) -> Array:
        """By how much the optimum rises with the square of a change of an output, for some points without a label.

        Exact as long as the same points are on their margins.  Then they are held there, and what their outputs leave
        of the variance of another, for a Gaussian process of covariance M, is the inverse of twice its rate.
        """
        gamma = gamma[: self.search.n]
        on_margin = np.flatnonzero((gamma != 0) & (np.abs(gamma) < self.cap))
        spread = np.diag(self.M)[where].copy()
        if len(on_margin):
            factor, _ = cholesky(self.M[np.ix_(on_margin, on_margin)])
            columns = np.column_stack([self.M[np.ix_(on_margin, where)], np.ones(len(on_margin))])
            columns = scipy.linalg.solve_triangular(factor, columns, lower=True, check_finite=False)
            explained, ones = columns[:, :-1], columns[:, -1]
            spread -= np.einsum("ij,ij->j", explained, explained)
            if self.free_bias:
                spread += (1 - ones @ explained) ** 2 / (ones @ ones)
        return 0.5 / np.maximum(spread, 1e-9 * np.diag(self.M)[where] + 1e-300)

    def consequences(self, y: Array, point: PartialPoint, cutoff: float) -> tuple[Array, Array]:
        """Ends of the outputs v of every solution below ``cutoff`` that has the labels ``y``.

        Squared hinge: q(v) >= value + ½ (v - f)ᵀ M⁻¹ (v - f) for the f of γ, so that |v_i - f_i| is at most
        (2 (cutoff - value) M_ii)^½; with a free bias that holds for differences of two outputs, one of which may have a
        known label.  Hinge and hard margin: a label is excluded if raising its α alone, from 0, gets the bound to the
        cutoff; the ends are then ±1 or infinite.  A label that is known already may be excluded too: then there is no
        solution.
        """
        f, error = point.outputs, point.error
        slack, variance = max(cutoff - point.value, 0.0), self._gram.most_diagonal + self._ridge * (1 + 4 * EPS)
        if self.squared and not self.free_bias:
            reach = np.sqrt(2 * slack * variance) + error
            return outward(f - reach, f + reach)
        low, high = np.full(len(y), -np.inf), np.full(len(y), np.inf)
        if self.squared:
            for sign in (1, -1):
                known = np.flatnonzero(y == sign)
                if len(known) == 0:
                    continue
                square = variance[:, None] + variance[known] - 2 * self.M[:, known]
                square += 2 * (self._gram.error + 2 * EPS) * np.outer(self._gram.scale, self._gram.scale[known])
                reach = np.sqrt(2 * slack * np.maximum(square, 0.0)) + error[:, None] + error[known]
                if sign > 0:
                    low = (1 - f[known] + f[:, None] - reach).max(axis=1)
                else:
                    high = (-1 - f[known] + f[:, None] + reach).min(axis=1)
            return outward(low, high)
        if not self.free_bias:
            diagonal = np.maximum(variance, 1e-300)
            for sign, end in ((1, high), (-1, low)):
                room = np.maximum(1 - sign * f - error - 4 * EPS, 0.0)
                step = np.minimum(room / diagonal, self.cap)
                gained = (step * room - 0.5 * diagonal * step**2) * (1 - 8 * EPS)
                end[(point.gamma[: len(y)] == 0) & (gained > slack)] = -sign
        return low, high

    def _known_rows(self, y: Array, known: NDArray[np.intp]) -> GramRows:
        key = y.tobytes()
        if self._cached is None or self._cached[0] != key:
            self._cached = (key, GramRows(self.M[np.ix_(known, known)]))
        return self._cached[1]

    def margins(self, point: PartialPoint) -> Array:
        """The outputs f, without a free bias: those of the point, less the slacks y ξ for the squared hinge."""
        slack = point.gamma / (2 * self.search.cost) if self.squared else 0.0
        return np.asarray(point.outputs - slack)


class PlainSVM:
    """The SVM of known labels for losses and costs that :class:`PartialSVM` has not: nothing about single outputs."""

    free_bias = squared = hard = False

    def __init__(self, search: Labelling) -> None:
        if search.free_bias or search.n_positive is not None or search.target_sum is not None:
            raise ValueError(
                f"labeled={search.loss!r} with {search.instance.balance} or a free bias: bounds are for hinge() and "
                "squared_hinge(), with a cost > 0 for every point"
            )
        self.search, self.n_solved = search, 0
        self._solver = NativeSolver(search.problem, tol=1e-8, precision="double")

    def point(self, y: Array, gamma: Array) -> PartialPoint:
        """The dual point of a γ; nothing is known about the error of its outputs."""
        search = self.search.fixed(y)
        outputs = search.kernel @ gamma + search.offset
        return PartialPoint(svm_bound(search, gamma), gamma, outputs, np.full(search.n, np.inf))

    def solve(self, y: Array, gamma: Array | None = None, tol: float = 1e-7) -> PartialPoint:
        self.n_solved += 1
        return self.point(y, self._solver.solve(self.search.svm(y)).gamma)

    def consequences(self, y: Array, point: PartialPoint, cutoff: float) -> tuple[Array, Array]:
        """Infinite ends for all outputs, as this SVM proves nothing about them."""
        return np.full(len(y), -np.inf), np.full(len(y), np.inf)
