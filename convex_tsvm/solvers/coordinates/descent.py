"""Coordinate descent in the dual of linear problems: one dual variable at a time, with w kept up to date.

A step on γ_i needs the output of one point and changes w by a multiple of this point: 2 d operations, whatever n is
(Hsieh, Chang, Lin, Keerthi and Sundararajan 2008, as in liblinear).  Here the losses are any convex piecewise
linear-quadratic functions, for which a step is exact as well (Dai and Qiu 2023, ReHLine); a balance is met by centring;
and a free bias is kept near its last value by a square that moves along (a proximal point method).

Where few slopes are strictly between their ends, Newton steps on these *free* terms end it, to rounding if they are the
right ones: their outputs are linear functions of their slopes, so that a system of their number gives the point where
all of them are met at once.  Single steps come near to it only slowly where points resemble each other.

It is at its best where points have many features and few entries.  Where outputs of many points with few features are
to be met at a large cost, it needs thousands of visits to every point.
"""

import dataclasses
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ...deadline import time_is_up
from ...instance.convex_step import ConvexStep, check_bounded, check_same_points
from ...instance.space import Bias
from ...instance.step_solution import StepSolution, certify
from ...instance.takes import Takes
from ...kernels.functions import dense
from ...losses import conjugate_pieces
from ...notice import warn
from ...points import DensePoints, linear_points
from ...problem import Array, Problem
from ...validation import finite, integer
from ._loops import epoch_dense, epoch_sparse, shuffle


class Origin(NamedTuple):
    """Squared norms of the points and products with their mean, as a balance or a free bias has them (see _loops)."""

    norms: Array
    away: Array
    room: float
    mean: Array | None


class CoordinateDescent:
    """Solver of the convex steps of one linear problem, with points in memory.

    Parameters
    ----------
    problem : Problem
        With a linear kernel.
    tol : float > 0, default 1e-3
        Largest relative duality gap; no output is further than ten times as much from where its multiplier belongs to.
    max_iter : int, default 1000
        Limit on epochs, visits to all points that may change, for a convex step.
    progress : callable, optional
        Called as ``progress(n_iter, gap)`` after every epoch, with an estimate of the relative duality gap.
    """

    name = "coordinates"
    takes = Takes(losses="finite PLQ", constraints=False, kernels=False, products=False, targets=False)

    visit_all_every = 20  # epochs after which terms that were passed over are visited again: some were too early
    meet_free_every = 20  # epochs after which there are Newton steps on the free terms

    def __init__(
        self,
        problem: Problem,
        *,
        tol: float = 1e-3,
        max_iter: int = 1000,
        progress: Callable[[int, float], None] | None = None,
    ) -> None:
        self.takes.check_points(problem, self.name)
        self.problem, self.progress = problem, progress
        self.tol, self.max_iter = finite("tol", tol, above=0), integer("max_iter", max_iter, least=1)
        self.points: Any = linear_points(problem.X)
        points: Any = self.points
        dense = isinstance(points, DensePoints)
        self.rows: tuple[Any, ...] = (np.ascontiguousarray(points.X),) if dense else points.arrays
        self._origins: list[tuple[Bias, Origin]] = []

    def solve(self, step: ConvexStep, start: StepSolution | None = None) -> StepSolution:
        """Solve one step, from the dual variables and bias of a similar one, to a duality gap of ``tol``.

        The status is "max_iter" if the gap was not reached (which also warns), and "interrupted" or "time_limit" if
        Ctrl-C or a deadline ended it.  A ValueError says if the step has a loss that is no finite PLQ function, another
        regularizer than "l2", or constraints on outputs other than a balance with a bias.
        """
        found = self.descend(step, start)
        if found.status == "max_iter":
            warn(
                f"coordinate descent ended after {found.n_iter} epochs with a relative duality gap of {found.gap:.2g}, "
                f"and outputs {found.kkt:.2g} from optimal, for tol={self.tol:g}; raise max_iter or tol, use "
                "solver='finite_newton', or scale the points"
            )
        return found

    def descend(self, step: ConvexStep, start: StepSolution | None = None, most_visits: float = np.inf) -> StepSolution:
        """The same without a warning; it ends, with "max_iter", after so many visits to terms as well."""
        began = time.perf_counter()
        check_same_points(self.problem, step)
        self.takes.check(step, self.name)
        check_bounded(step)
        descent = Descent(self, step, start)
        # An epoch's own estimate of the gap has to reach a share of the tolerance before the gap is computed.
        goal, status = 0.7 * self.tol, "max_iter"
        while descent.n_epochs < self.max_iter:
            try:
                descent.epoch()
            except KeyboardInterrupt:
                status = "interrupted"
                break
            if self.progress is not None:
                self.progress(descent.n_epochs, descent.gap)
            if time_is_up():
                status = "time_limit"
                break
            if descent.gap <= goal and descent.violation <= 10 * self.tol:
                if descent.was_full:
                    meet_free_terms(descent)
                    found = descent.certified()
                    if found.meets(self.tol):
                        return dataclasses.replace(found, status="optimal", seconds=time.perf_counter() - began)
                    goal *= 0.5
                descent.visit_all()
                continue
            if descent.n_visits > most_visits:
                break
            if descent.n_epochs % self.meet_free_every == 0 and descent.gap <= 1:
                meet_free_terms(descent)
        found = descent.certified()
        if status == "max_iter" and found.meets(self.tol):
            status = "optimal"
        return dataclasses.replace(found, status=status, seconds=time.perf_counter() - began)

    def origin(self, bias: Bias) -> Origin:
        """What a way of treating the bias makes of the points; it is computed once for each way."""
        for known, found in self._origins:
            same = (known.free, known.centred) == (bias.free, bias.centred)
            if same and (not bias.centred or np.array_equal(known.members, bias.members)):
                return found
        norms, n = self.points.squared_norms(), self.problem.n
        found = Origin(norms, np.zeros(n), 0.0, None)
        if bias.centred:
            mean = self.points.mean(bias.members)
            away, room = self.points.times(mean), float(mean @ mean)
            found = Origin(np.maximum(norms - 2 * away + room, 0.0), away, room, mean)
        elif bias.free:
            room = float(norms.mean()) or 1.0
            found = Origin(norms + room, np.zeros(n), room, None)
        self._origins.append((bias, found))
        return found


class Descent:
    """Epochs on one step."""

    def __init__(self, solver: CoordinateDescent, step: ConvexStep, start: StepSolution | None) -> None:
        bias = step.bias_by()
        self.points, self.rows, self.step, self.is_bias_free = solver.points, solver.rows, step, bias.free
        n = step.problem.n
        used = np.flatnonzero(step.cost > 0)
        self.point = used if step.point is None else np.ascontiguousarray(step.point[used])
        self.kind, self.cost, self.slope = step.kind[used], step.cost[used], step.slope[used]
        pieces = conjugate_pieces(solver.takes.check(step, solver.name))
        self.tables = (pieces.ends, pieces.offset, pieces.rate, pieces.constant, pieces.count)
        self.origin = origin = solver.origin(bias)
        low, high = pieces.ends[:, 0], pieces.ends[np.arange(len(pieces.count)), pieces.count]
        self.s = np.clip(0.0, low[self.kind], high[self.kind])
        if start is not None and len(start.gamma) == n:
            self._start_at(start.gamma, low[self.kind], high[self.kind])
        gamma = self._gamma()
        self.u = self.points.transposed(gamma) if gamma.any() else np.zeros(self.points.shape[1])
        self.sigma, self.shift = float(gamma.sum()), 0.0
        if origin.mean is not None:
            shift = float(step.target or 0.0) - float(self.u @ origin.mean)
            self.shift = shift + self.sigma * origin.room
        elif self.is_bias_free and start is not None:
            self.shift = float(start.bias)
        # The first random number (xorshift): epochs visit terms in the same order in every run.
        self.order, self.seed = np.arange(len(used)), np.array([88172645463325252], dtype=np.uint64)
        self._visit_all_every = solver.visit_all_every
        self.n_epochs, self.n_visits, self._latest_full = 0, 0, 0
        # An estimate of the relative gap, in which terms count with the outputs they had when they were visited;
        # and the largest distance of a visited output from where its multiplier belonged to.
        self.gap, self.violation = np.inf, np.inf
        self._least, self._value = min(1.0, float(step.point_cost.sum())), 0.0
        self.visit_all()

    def _start_at(self, gamma: Array, low: Array, high: Array) -> None:
        """Slopes s whose sums are the multipliers of points, as near as their ends allow; first terms move first."""
        n = self.step.problem.n
        missing = -gamma - np.bincount(self.point, self.slope + self.cost * self.s, n)
        todo = np.arange(len(self.s))
        while len(todo):
            first = todo if self.step.point is None else todo[np.unique(self.point[todo], return_index=True)[1]]
            at = self.point[first]
            moved = np.clip(self.s[first] + missing[at] / self.cost[first], low[first], high[first])
            missing[at] -= self.cost[first] * (moved - self.s[first])
            self.s[first] = moved
            todo = np.setdiff1d(todo, first, assume_unique=True)

    def _gamma(self) -> Array:
        values = -(self.slope + self.cost * self.s)
        return np.bincount(self.point, values, self.step.problem.n).astype(float, copy=False)

    def visit_all(self) -> None:
        """Let the next epoch visit all terms, and pass none over afterwards that this epoch finds in place."""
        self._active, self._keep = len(self.order), np.inf

    def epoch(self) -> None:
        """Visit all terms that are not passed over, in random order."""
        if self.n_epochs - self._latest_full >= self._visit_all_every:
            self.visit_all()
        self.n_visits += self._active
        self.was_full = self._active == len(self.order)
        shuffle(self.order, self._active, self.seed)
        origin = self.origin
        visit = epoch_dense if isinstance(self.points, DensePoints) else epoch_sparse
        self._active, self.sigma, self.shift, violation, gap, loss, pull = visit(
            self.rows, origin.norms, origin.away, origin.room, self.tables, self.point, self.kind, self.cost,
            self.slope, self.s, self.order, self._active, self.u, self.sigma, self.shift, self._keep,
        )  # fmt: skip
        if self.is_bias_free:
            self.shift += self.sigma * origin.room
        self.n_epochs += 1
        self.violation = self._keep = violation
        if self.was_full:
            self._latest_full = self.n_epochs
            square = 0.5 * abs(pull)
            self._value = max(self._least, abs(loss + square), square)
        self.gap = gap / (self._value or 1.0)

    def certified(self) -> StepSolution:
        mean = self.origin.mean
        w = self.u.copy() if mean is None else self.u - self.sigma * mean
        bias = self.shift if self.is_bias_free else 0.0
        return certify(self.step, self._gamma(), 0.0, bias, w, n_iter=self.n_epochs)


def meet_free_terms(descent: Descent) -> None:
    """Move the slopes of the free terms to where their outputs are met, as far as no slope passes an end."""
    free, low, high, p, r = _free_terms(descent)
    # Products of more free points with each other would cost as much as several epochs over the points.
    if not 0 < len(free) <= min(100, max(32, (20 * len(descent.origin.norms)) ** 0.5)):
        return
    origin, is_free = descent.origin, descent.is_bias_free
    at, cost, s = descent.point[free], descent.cost[free], descent.s[free]
    rows, away = descent.points.take(at), origin.away[at]
    inner = dense(rows @ rows.T)
    outputs = np.asarray(rows @ descent.u).ravel() - descent.sigma * away + descent.shift
    if origin.mean is not None:
        inner = inner - away[:, None] - away[None, :] + origin.room
    total, bias, changes = descent.sigma, 0.0, np.zeros(len(free))
    left = np.arange(len(free))
    for _ in range(16):  # a step ends where a slope comes to its end, and the next does without that term
        missing = (p + r * s - outputs)[left]
        found = _solved(inner[np.ix_(left, left)], (r / cost)[left], missing, -total if is_free else None)
        if found is None:
            break
        change, rise = found
        moved = -change / cost[left]
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(moved > 0, high[left] - s[left], low[left] - s[left]) / moved
        first = int(np.argmin(np.where(moved == 0, np.inf, room)))
        t = min(1.0, float(room[first])) if moved[first] else 1.0
        change = t * change
        s[left] = np.clip(s[left] + t * moved, low[left], high[left])
        changes[left] += change
        total += float(change.sum())
        bias += t * rise
        outputs += inner[:, left] @ change + t * rise
        if t == 1.0 or len(left) == 1:
            break
        left = np.delete(left, first)
    descent.s[free] = s
    descent.u += np.asarray(rows.T @ changes).ravel()
    descent.sigma = total
    descent.shift += bias if is_free else float(changes @ (origin.room - away))


def _free_terms(descent: Descent) -> tuple[NDArray[np.intp], Array, Array, Array, Array]:
    """Free terms, the ends of their pieces, and the line of the derivative of ℓ* between these ends."""
    S, P, R, _, m = descent.tables
    s, kind = descent.s, descent.kind
    piece, is_free = np.zeros(len(s), dtype=np.intp), np.zeros(len(s), dtype=bool)
    for place in range(P.shape[1]):
        low, high = S[kind, place], S[kind, place + 1]
        margin = 1e-9 * np.minimum(high - low, 1 + np.abs(s))  # a slope this near to an end is at the end
        here = (place < m[kind]) & (s > low + margin) & (s < high - margin)
        piece[here] = place
        is_free |= here
    chosen = np.flatnonzero(is_free)
    k, j = kind[chosen], piece[chosen]
    return chosen, S[k, j], S[k, j + 1], P[k, j], R[k, j]


def _solved(inner: Array, ridge: Array, missing: Array, total: float | None) -> tuple[Array, float] | None:
    """(δ, β) with (inner + Diag(ridge)) δ + β = missing, and Σ δ = total unless that is None, when β is 0."""
    size = len(missing)
    system = np.zeros((size + (total is not None),) * 2)
    system[:size, :size] = inner
    diagonal = np.arange(size)
    # Something is added to the diagonal, since points may be there twice.
    system[diagonal, diagonal] += ridge + 1e-11 * float(np.abs(np.diag(inner)).max())
    found: Array
    if total is None:
        _, found, failed = scipy.linalg.lapack.dposv(system, missing, lower=1)
    else:
        system[:size, -1] = system[-1, :size] = 1.0
        *_, found, failed = scipy.linalg.lapack.dgesv(system, np.append(missing, total))
    if failed or not np.isfinite(found).all():
        return None
    return found[:size], 0.0 if total is None else float(found[-1])
