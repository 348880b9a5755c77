"""Newton steps on the dual variables between breakpoints, and on the augmented Lagrangian of the primal.

Those on the augmented Lagrangian are semismooth (Yin and Li 2019; Li, Sun and Toh 2018).  The outputs h = G a + c are
split from a copy z that pays the losses, and the dual variables γ are the multipliers of h = z.  With a penalty σ on
the difference the losses become smooth: of the outputs v = h - γ/σ they are

    min_z ψ(z) + σ/2 (z - v)²,

whose derivative is -γ⁺, the multiplier that comes next.  Each γ⁺ is found by Newton steps in the coefficients a (and in
a free bias), on systems with a row for each point whose copy sits on a kink.  The ridge 1/σ on their diagonals keeps
them from being singular, so that single precision is enough.  The kinks that points sit on are so found for all points
at once, where steps on single variables would find them one by one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ...deadline import time_is_up
from ...kernels.rows import Rows
from .._loops import proximal_all
from ..cholesky import cholesky
from .dual_problem import Array, DualProblem, Indices, State


def newton(dual: DualProblem, state: State, max_steps: int = 2) -> State:
    """Newton steps on the variables strictly between breakpoints.

    The matrix of ``dual`` must be in memory.  While steps pass breakpoints there are at most ``max_steps``: coordinate
    steps find the breakpoints for less.

    A step that would pass a breakpoint is cut short at the first one.
    """
    cost, s, h = dual.cost, state.s.copy(), state.h.copy()
    for _ in range(max_steps):
        low, rate, room_up, high, _, room_down = dual.locate(s)
        free = np.flatnonzero((low == high) & (room_up > 0) & (room_down > 0))
        if len(free) == 0:
            break
        residual, up, down = low[free] - h[free], room_up[free], room_down[free]
        rows = dual.rows.full() if len(free) == len(s) else dual.rows.rows(free)
        H = rows.copy() if len(free) == len(s) else rows[:, free]
        H[np.diag_indices_from(H)] += rate[free].astype(H.dtype)
        tied = dual.tied[free].astype(float)
        try:
            direction = _direction(H, residual, tied, np.minimum(up, down))
        except np.linalg.LinAlgError:
            break  # coordinate steps go on without

        with np.errstate(divide="ignore", invalid="ignore"):
            limit = np.where(direction > 0, up, down) / np.abs(direction)
        limit[direction == 0] = np.inf
        length = min(1.0, float(limit.min()))
        change, blocked = length * direction, limit <= length * (1 + 1e-12)
        moved = h + change @ rows
        if not (np.isfinite(moved).all() and np.isfinite(change).all()):
            break  # the matrix has lost its digits, and such a step is none
        s[free] -= change / cost[free]
        for i in free[blocked]:  # to the nearest breakpoint
            ends = dual.conjugates.ends[dual.kind[i]]
            s[i] = ends[np.nanargmin(np.abs(np.where(np.isfinite(ends), ends, np.nan) - s[i]))]
        h = moved
        if not blocked.any():
            break
    return dual.state(s, h)


def _direction(H: Rows, residual: Array, tied: Array, room: Array) -> Array:
    """Solve H d = residual, with Σ d = 0 over the variables that a free bias ties (1 in ``tied``, 0 for the others).

    H is overwritten.  The sum is kept by expressing everything relative to the variable with most room (x₀, where
    there is one, which turns H into the centred matrix).  A singular H gets a small ridge: its null space is then
    searched far out, up to the first breakpoint, as it should be, since the dual is linear along it.
    """
    if not tied.any():
        return _solve(H, residual)
    reference = int(np.argmax(np.where(tied > 0, room, -np.inf)))
    row = H[reference].copy()
    if tied.all():
        H -= row - row[reference]
        H -= row[:, None]
    else:
        H -= np.outer(tied, row - row[reference] * tied)
        H -= np.outer(row, tied)
    H[reference], H[:, reference] = 0.0, 0.0
    # Its own row and column are zero now; any number on the diagonal will do.
    H[reference, reference] = H.diagonal().max() or 1.0
    direction = _solve(H, residual - residual[reference] * tied)
    direction[reference] -= tied @ direction
    return direction


def _solve(H: Rows, residual: Array) -> Array:
    right = residual.astype(H.dtype)
    return np.asarray(scipy.linalg.cho_solve(cholesky(H, overwrite=True), right, check_finite=False), dtype=float)


Solve = Callable[[Array], Array]


def augmented(dual: DualProblem, state: State, tol: float) -> State:
    """The best point found from ``state``, for a dual whose matrix is in memory.

    Its violation is at most ``tol``, unless multipliers or time ran out, or brought nothing any more.
    """
    search = _Search(dual, state)
    best, least, stalled = state, dual.survey(state).violation, 0
    wanted = search.share_of_last * min(1.0, least)
    for _ in range(search.multipliers):
        is_found = search.find(max(wanted, search.share_of_wanted * tol))
        found = search.feasible()
        violation = dual.survey(found).violation
        stalled = 0 if violation < 0.5 * least else stalled + 1
        if violation < least:
            best, least = found, violation
        # A multiplier that rounding keeps from being found is worth another only if it was better than the last.
        most = search.stalled if is_found else 1
        if violation <= tol or stalled >= most or not np.isfinite(violation) or time_is_up():
            break
        wanted = search.share_of_last * violation
        search.go_on(found)
    return best


@dataclass
class _Inside:
    """Coefficients a and a bias b, with G a + b: what a multiplier is searched in."""

    a: Array
    b: float
    h: Array


class _Search:
    """The search for the next multiplier, for ever new ones and ever larger penalties."""

    # How far multipliers and the steps to each of them are taken.
    # The first penalty, and the largest one by precision, each times the mean of the diagonal.
    first = 60.0
    last_single = 5e3
    last_double = 1e7
    # Multipliers at most, and how many in a row may leave the violation above half of the least one.
    multipliers = 40
    stalled = 4
    # Newton steps for one multiplier at most, and trials of the length of a step.
    steps = 40
    halvings = 20
    # What a multiplier may be off by in an output: shares of the violation that the last left, and of the tolerance.
    share_of_last = 0.1
    share_of_wanted = 0.2
    slope_left = 0.3  # a step ends where the slope along it is below this share of that at its beginning

    def __init__(self, dual: DualProblem, state: State) -> None:
        self.dual, self.rows = dual, dual.rows
        self.losses = (*dual.conjugates.derivatives, dual.kind, dual.cost, dual.slope)
        size = max(float(self.rows.diag().mean()), 1e-300)
        last = self.last_double if self.rows.dtype == np.float64 else self.last_single
        self.last_sigma, self.sigma = last / size, self.first / size
        self.tied = dual.tied.astype(float)
        # It is 0 for all variables; those outside a part have the rest of it.
        self.sum = float(self.tied @ dual.gamma(state.s))
        # Outputs may hold what variables outside the problem add: they are known as changes of the first ones only.
        self.begun = state
        self.s, self.z = state.s.copy(), np.empty(len(state.s))
        self._begin(state)

    def _begin(self, state: State) -> None:
        bias = self.dual.survey(state).bias if self.dual.free_bias else 0.0
        self.gamma = self.dual.gamma(state.s)
        self.at = _Inside(self.gamma.copy(), bias, state.h + bias * self.tied)

    def go_on(self, found: State) -> None:
        """Take the multiplier that was found, and a larger penalty."""
        self._begin(found)
        # The fewer steps the last multiplier took, the more the penalty grows.
        growth = 10.0 if self.n_steps <= 3 else 4.0 if self.n_steps <= 6 else 2.0
        self.sigma = min(growth * self.sigma, max(self.sigma, self.last_sigma))

    def times(self, a: Array) -> Array:
        """G a, of coefficients of which many may be 0."""
        used = np.flatnonzero(a)
        return self.rows.combine(used, a[used])

    def next_gamma(self, h: Array) -> Array:
        """γ⁺ at outputs h."""
        proximal_all(*self.losses, self.sigma, h - self.gamma / self.sigma, self.s, self.z)
        return self.dual.gamma(self.s)

    def find(self, wanted: float) -> bool:
        """Find the next multiplier, up to a change of outputs by ``wanted``; whether that was possible."""
        most = self.steps
        for self.n_steps in range(most):
            residual = self.at.a - self.next_gamma(self.at.h)
            if np.abs(residual).max() <= wanted * self.sigma and np.abs(self.times(residual)).max() <= wanted:
                return True
            if time_is_up() or not self._step(residual):
                return False
        return False

    def feasible(self) -> State:
        """The state at γ⁺."""
        self.next_gamma(self.at.h)
        s = self._balanced(self.s) if self.dual.free_bias else self.s.copy()
        return self.dual.state(s, self.begun.h + self.times(self.dual.gamma(s) - self.dual.gamma(self.begun.s)))

    def _balanced(self, s: Array) -> Array:
        """s with Σ γ as it was: what is missing is spread over variables between breakpoints, so that the others stay.

        The first s where they have no room for that.
        """
        low, _, room_up, high, _, room_down = self.dual.locate(s)
        lack = self.sum - float(self.tied @ self.dual.gamma(s))
        room = np.where((low == high) & (room_up > 0) & (room_down > 0), room_up if lack > 0 else room_down, 0.0)
        room = np.minimum(room, abs(lack)) * self.tied
        if 0.5 * float(room.sum()) > abs(lack):
            return s - lack * room / float(room.sum()) / np.where(self.dual.cost > 0, self.dual.cost, 1.0)
        return self.begun.s

    def _step(self, residual: Array) -> bool:
        """One Newton step; False if rounding does not allow it."""
        low, rate, room_up, high, _, room_down = self.dual.locate(self.s)
        kink = np.flatnonzero((low == high) & (room_up > 0) & (room_down > 0))
        change = -residual
        change[kink] = 0.0
        moved = self.times(change)
        shift = 0.0
        if len(kink):
            ridge = rate[kink] + 1.0 / self.sigma
            H = self.rows.block(kink, kink)
            H[np.diag_indices_from(H)] += ridge.astype(H.dtype)
            solve = _factored(H)
            if solve is None:
                return False
            change[kink] = solve(-ridge * residual[kink] - moved[kink])
            shift = self._shift(kink, change, solve)
            on_kinks = np.zeros_like(change)
            on_kinks[kink] = change[kink]
            moved = moved + self.times(on_kinks)
        moved = moved + shift * self.tied
        if not np.isfinite(moved).all():
            return False
        share, at = self._share(change, shift, moved), self.at
        if share == 0:
            return False
        self.at = _Inside(at.a + share * change, at.b + share * shift, at.h + share * moved)
        return True

    def _shift(self, kink: Indices, change: Array, solve: Solve) -> float:
        """The change of the bias after which Σ γ⁺ is as it was in the model; ``change`` is corrected for it."""
        tied = self.tied[kink]
        if not tied.any():
            return 0.0
        per_unit = solve(-tied)
        lack = float(self.tied @ (self.at.a + change)) - self.sum
        shift = -lack / float(tied @ per_unit)
        change[kink] += shift * per_unit
        return shift

    def _share(self, change: Array, shift: float, moved: Array) -> float:
        """How much of a step is taken: until what it lowers is nearly flat along it; 0 if it does not lower it."""

        def slope(share: float) -> float:
            at = self.at
            after = self.next_gamma(at.h + share * moved)
            inner = moved - shift * self.tied
            return float(inner @ (at.a + share * change) - moved @ after)

        first = slope(0.0)
        low, high, share = 0.0, 1.0, 1.0
        if first < 0:
            for _ in range(self.halvings):
                here = slope(share)
                if abs(here) <= self.slope_left * abs(first) or (share == 1.0 and here < 0):
                    return share
                low, high = (share, high) if here < 0 else (low, share)
                share = 0.5 * (low + high)
        return low


def _factored(H: Rows) -> Solve | None:
    """A function that solves H x = q, from H's Cholesky factor; None if H is not positive definite."""
    try:
        factor = scipy.linalg.cho_factor(H.T, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    return lambda q: np.asarray(scipy.linalg.cho_solve(factor, q.astype(H.dtype), check_finite=False), dtype=float)
