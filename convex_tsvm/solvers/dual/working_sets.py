"""Working-set solver of the dual.

Working sets are chosen by violation.  The matrix of a working set is held in memory and solved in the same way, by
smaller working sets, down to a size that compiled coordinate or pair steps go over fast.  Where accuracy is asked for,
these steps, which find out at which breakpoint of its loss each variable sits, take turns with Newton steps on the
variables between breakpoints.  Whole kernel rows are needed only for the variables that a working set has changed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...deadline import time_is_up
from ...parallel import blas_threads_for
from .._loops import descend_mixed, descend_pairs, descend_single
from .dual_problem import Array, DualPoint, DualProblem, Indices, State, Survey
from .factors import are_kept, factors_of
from .interior import interior
from .newton import newton
from .splitting import splitting

#: Violation at which coordinate steps hand over to Newton steps.
COARSE = 1e-3

#: Variables of the innermost working sets: compiled steps go over their arrays, and a step over two rows of them.
INNER = 1024

#: Variables of a first working set, when nothing is known yet; and of the smallest one that is worth its overhead.
FIRST, SMALLEST = 1024, 512

#: Working sets hold this many times what violates or answers to changes: the rest is what is next to violate.
AMPLE = 1.5

#: Working sets are solved to this fraction of the violation outside them.
INEXACT = 0.1

#: How often outputs are computed afresh before rounding is said to be in the way.
REFRESHES = 10

#: Steps before Newton steps are tried: so many, and a share of n², since these cost n³ and a step costs n.
PATIENCE, SHARE = 300, 1 / 400

#: Where steps need working sets, as many of these as 20 times the variables would fill, and 20 steps for each variable.
PASSES = 20

#: How often steps and Newton steps take turns at most.
TURNS = 50

#: How often they take turns before methods take over that need as long whatever the data are: at first, and where these
#: had to take over before; and for how many variables at least.
PATIENT_TURNS, HARD_TURNS, LEAST_HARD = 6, 1, 200

#: Up to so many variables an interior-point method is worth its systems where the rank of the matrix is not low.
DENSE = 1500

#: Working sets in a row that may leave the least violation found as it is: rounding keeps it from falling, or a cycle.
#: So many where a working set is some of the variables, and where it is all of them; and so many turns inside one.
STALLED, STALLED_WHOLE, STALLED_INSIDE = 300, 5, 10

#: A violation has fallen if it is below this share of the least one before: where a working set is some of the
#: variables, and where it is all of them, which are then solved for as far as rounding allows.
FALLEN, FALLEN_WHOLE = 0.99, 0.5


def solve_dual(
    dual: DualProblem,
    *,
    gamma: Array | None = None,
    outputs: Array | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    block_size: int = 4096,
    measure_rounding: Callable[[Array, Array], float] | None = None,
    rounding_tol: float | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> DualPoint:
    """Solve the dual to a violation of at most ``tol``.

    Parameters
    ----------
    dual : DualProblem
    gamma : array, shape (n,), optional
        Start.
    outputs : array, shape (n,), optional
        G γ + c at the start, if it is known.
    tol : float
        Largest allowed distance of an output from the subdifferential of its ψ*, in units of the output; for a
        free bias, the gap between the bounds that the points put on the bias.
    max_iter : int
        Limit on working sets solved.
    block_size : int
        Largest number of variables in a working set.
    measure_rounding : callable, optional
        From γ and outputs, how far off the outputs are.  What is off by more than ``rounding_tol`` is computed
        afresh; without it, outputs are always computed afresh before they are returned as optimal.
    rounding_tol : float, optional
        A quarter of ``tol`` by default.
    progress : callable, optional
        Called with the number of working sets solved and the violation.

    Returns
    -------
    DualPoint
        With ``status`` "optimal", "max_iter", "interrupted" (by Ctrl-C; the point is then the best one so far),
        "time_limit" if a deadline has passed (:mod:`~convex_tsvm.deadline`), or "inaccurate" if rounding keeps undoing
        what was reached, or nothing is reached any more.
    """
    rounding_tol = 0.25 * tol if rounding_tol is None else rounding_tol
    with blas_threads_for(len(dual.kind)):
        sets = _WorkingSets(dual, gamma, outputs, block_size, measure_rounding)
        n_iter, told = 0, -1
        try:
            while True:
                survey = dual.survey(sets.state)
                if progress is not None and n_iter > told:
                    progress(n_iter, survey.violation)
                    told = n_iter
                if survey.violation <= tol:
                    if sets.holds(rounding_tol):
                        break
                elif n_iter >= max_iter:
                    sets.status = "max_iter"
                    break
                elif sets.is_stopped(survey.violation):
                    break
                else:
                    chosen = sets.choose(survey, tol)
                    after = solve_in_memory(chosen.part, chosen.state, chosen.tol, chosen.enough)
                    if not sets.take(chosen, after):
                        break
                    n_iter += 1
        except KeyboardInterrupt:
            sets.status = "interrupted"
        except NeedsDouble:
            sets.status = "inaccurate"
        survey, state = dual.survey(sets.state), sets.state
        return DualPoint(state.s, state.h, survey.bias, survey.violation, sets.rounding, n_iter, sets.status)


@dataclass(eq=False)
class _WorkingSet:
    """Variables that are solved for while the others stay: all of them if ``which`` is None.

    ``part`` is solved to ``tol``, and is done with at ``enough``, if that is given.
    """

    which: Indices | None
    part: DualProblem
    state: State
    tol: float
    enough: float | None = None


class _WorkingSets:
    """What one call of :func:`solve_dual` goes through.

    Attributes
    ----------
    state : State
        The point so far.
    status : str
        How it has ended.
    rounding : float
        The error of the outputs, where it was measured last.
    """

    def __init__(
        self,
        dual: DualProblem,
        gamma: Array | None,
        outputs: Array | None,
        block_size: int,
        measure_rounding: Callable[[Array, Array], float] | None,
    ) -> None:
        self.dual, self.measure_rounding = dual, measure_rounding
        s = dual.start(gamma)
        if gamma is None or outputs is None:
            h, self._fresh = dual.outputs(s), True
        else:
            # The start may have been moved into another domain.
            moved = dual.gamma(s) - gamma
            where = np.flatnonzero(np.abs(moved) > 1e-14 * np.abs(gamma).max(initial=0.0))
            h = outputs + dual.rows.combine(where, moved[where]) if len(where) else outputs
            self._fresh = False
        self.state, self.status, self.rounding = dual.state(s, h), "optimal", 0.0
        self.block_size, self._n_refreshed = block_size, 0
        self._least, self._stalled = np.inf, 0

    @property
    def _takes_all(self) -> bool:
        """Whether every working set is all variables."""
        most = self.block_size if self.dual.rows.in_memory else min(FIRST, self.block_size)
        return int(np.count_nonzero(self.dual.cost)) <= most

    def holds(self, rounding_tol: float) -> bool:
        """Whether a violation that is small enough is one of the kernel, and not of what rounding made of it.

        If it is not, outputs are computed afresh; if that was tried too often, it is all that can be had.
        """
        if self.measure_rounding is None:
            self.rounding = 0.0 if self._fresh else np.inf
        else:
            self.rounding = self.measure_rounding(self.dual.gamma(self.state.s), self.state.h)
        if self.rounding <= rounding_tol:
            return True
        if self._n_refreshed == REFRESHES or (self._fresh and np.isfinite(self.rounding)):
            self.status = "inaccurate"
            return True
        self.state = self.dual.afresh(self.state.s)
        self._fresh, self._n_refreshed = True, self._n_refreshed + 1
        return False

    def is_stopped(self, violation: float) -> bool:
        """Whether the time is up, or working sets bring nothing any more."""
        if time_is_up():
            self.status = "time_limit"
            return True
        if self._stalled >= (STALLED_WHOLE if self._takes_all else STALLED):
            self.status = "inaccurate"
            return True
        fallen = violation < (FALLEN_WHOLE if self._takes_all else FALLEN) * self._least
        self._least, self._stalled = min(self._least, violation), 0 if fallen else self._stalled + 1
        return False

    def choose(self, survey: Survey, tol: float) -> _WorkingSet:
        """The next working set."""
        dual, state = self.dual, self.state
        if self._takes_all:
            # Accuracy is cheap where the working set is everything: more of it than asked is taken.
            used, double = np.flatnonzero(dual.cost), dual.rows.dtype == np.float64
            if dual.rows.in_memory and 2 * len(used) > len(state.s):
                return _WorkingSet(None, dual, state, (0.01 if double else 0.1) * tol, tol)
            part = dual.part(used)
            return _WorkingSet(used, part, _inside(part, state, used), (0.01 if double else 0.05) * tol, tol)
        unsettled = survey.n_unsettled(tol)
        size = FIRST if unsettled == len(state.s) else int(np.clip(AMPLE * unsettled, SMALLEST, self.block_size))
        which = survey.choose(min(size, self.block_size), tol, _luck(len(state.s)))
        part = dual.part(which)
        return _WorkingSet(which, part, _inside(part, state, which), max(0.1 * tol, INEXACT * survey.violation))

    def take(self, chosen: _WorkingSet, after: State) -> bool:
        """Go to where a working set has been solved; not if something has overflown, since that point is no good."""
        self._fresh = False
        state = after if chosen.which is None else _moved(self.dual, self.state, chosen.which, after.s)
        if not (np.isfinite(state.s).all() and np.isfinite(state.h).all()):
            self.status = "inaccurate"
            return False
        self.state = state
        return True


class NeedsDouble(Exception):
    """Steps and Newton steps do not get on, and what takes over asks for double precision."""


def _inside(part: DualProblem, state: State, which: Indices) -> State:
    """The state of a working set's own problem."""
    return part.state(state.s[which], state.h[which])


def _moved(dual: DualProblem, state: State, which: Indices, after: Array) -> State:
    """The state after the variables of a working set have changed."""
    before = state.s[which]
    moved = after != before
    where, s = which[moved], after[moved]
    return dual.move(state, where, s, state.h + dual.rows.combine(where, dual.cost[where] * (before[moved] - s)))


def solve_in_memory(dual: DualProblem, state: State, tol: float, enough: float | None = None) -> State:
    """Solve a problem whose matrix is in memory.

    Steps on single variables and on those between breakpoints find out at which breakpoint each variable sits.  Where
    classes are far from equal, or points come many times, thousands of outputs lie on a kink of their loss; these are
    too many to be found out one by one, and other methods take over.  Accuracy beyond ``tol`` is cheap for the former,
    and not for the latter, which end at half of ``enough``.
    """
    double = dual.rows.dtype == np.float64
    target = max(tol, COARSE) if double else tol
    # Solutions of a working set should have variables at breakpoints, so that others can be chosen in their place.
    least, stalled, patience = np.inf, 0, _patience(dual)
    for turn in range(TURNS):
        if enough is not None and turn == patience:
            if dual.survey(state).violation > enough:
                if not double:
                    raise NeedsDouble
                state = _solve_whole(dual, state, 0.5 * enough)
            if dual.survey(state).violation <= enough:
                return state
        if len(state.s) <= 2.5 * INNER:
            steps, state = _descend(dual, state, target, PATIENCE + int(SHARE * len(state.s) ** 2))
        else:
            steps, state = _descend_by_sets(dual, state, target)
        violation = dual.survey(state).violation
        least, stalled = (violation, 0) if violation < 0.5 * least else (least, stalled + 1)
        if (turn and steps == 0) or (not double and violation <= tol) or stalled > STALLED_INSIDE or time_is_up():
            break
        state = newton(dual, state)
        target = tol
    return state


def _patience(dual: DualProblem) -> int:
    """After how many turns other methods take over: sooner if they did before; -1 where there are none."""
    n = len(dual.kind)
    if dual.free_bias or n < LEAST_HARD:
        return -1
    turns = HARD_TURNS if dual.hard or are_kept(dual.rows) else PATIENT_TURNS
    return turns if n <= 2.5 * INNER else turns // 3  # a turn by working sets is many


def _solve_whole(dual: DualProblem, state: State, tol: float) -> State:
    """The better of the state and what methods find that take all variables at once."""
    try:
        factors = factors_of(dual.rows)
        if factors.factor is None:
            state = splitting(dual, factors, state, tol)
            if dual.survey(state).violation <= tol or len(dual.kind) > DENSE:
                return state
        found = interior(dual, factors, tol)
    except np.linalg.LinAlgError:
        return state
    return state if found is None else found


def _descend_by_sets(dual: DualProblem, state: State, tol: float) -> tuple[int, State]:
    """Compiled steps on ever new working sets, for problems larger than they go over fast; and how many sets."""
    n = len(state.s)
    for turn in range(PASSES * n // INNER):
        survey = dual.survey(state)
        if survey.violation <= tol or time_is_up():
            return turn, state
        which = survey.choose(INNER, tol, _luck(n))
        part = dual.part(which)
        target = max(0.5 * tol, INEXACT * survey.violation)
        _, after = _descend(part, _inside(part, state, which), target, PASSES * len(which))
        state = _moved(dual, state, which, after.s)
    return turn + 1, state


def _descend(dual: DualProblem, state: State, tol: float, limit: int) -> tuple[int, State]:
    """Compiled steps, and how many."""
    flat, s, h = dual.losses, state.s.copy(), state.h.copy()
    losses = (dual.kind, dual.cost, flat.S, flat.P, flat.R, flat.m)
    if dual.free_bias and dual.tied is not None:
        steps, _ = descend_mixed(dual.rows.full(), h, s, dual.tied, *losses, tol, limit)
    elif dual.free_bias:
        steps, _ = descend_pairs(dual.rows.full(), h, s, *losses, tol, limit)
    else:
        steps, _ = descend_single(*dual.matrix(), h, s, *losses, tol, limit)
    return steps, dual.state(s, h)


@functools.lru_cache(maxsize=8)
def _luck(n: int) -> Array:
    """A number in [0, 1) for every point, the same in every run."""
    return np.random.default_rng(0).random(n)
