"""Working-set solver of the dual.

Working sets are chosen by violation.  The matrix of a working set is held in memory, where three methods take turns.
Whole kernel rows are needed only for the variables that a working set has changed.

*Steps* on single variables (or pairs of them) find out at which breakpoint of its loss each variable sits; a *Newton*
step solves for the variables between breakpoints.  These two take turns, and are fast as long as few outputs lie on a
kink of their loss.  Where classes are far from equal thousands do, which are too many to be found out one by one: then
the *augmented* Lagrangian takes over, whose Newton steps find the breakpoints of all variables at once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...deadline import time_is_up
from ...kernels import GramRows
from ...losses import PLQ, Pieces, conjugate_pieces
from ...parallel import blas_threads_for
from .._loops import descend_pairs, descend_single
from .augmented import augmented, newton
from .dual_problem import Array, DualPoint, DualProblem, Indices, State, Survey


@dataclass(frozen=True)
class Effort:
    """When methods take turns (by ``benchmarks/corners.py``), and how many compiled steps a turn has (``speed.py``)."""

    # Violation, in units of the outputs, at which the first steps end: Newton steps are faster from there on.
    first_tol: float = 1e-3
    # Turns of steps and Newton steps at most, and turns in a row that may bring nothing (rounding, or a cycle).
    turns: int = 50
    stalled: int = 10
    fallen: float = 0.5  # a turn has brought something if the violation is below this share of the least one before
    # Turns in a row that bring nothing after which the augmented Lagrangian takes over, on a solver's first problems.
    useless: int = 3
    # Variables below which it does not, as turns are not long there, unless costs are so large that they fail.
    least_for_augmented: int = 200
    # Where it ends, as a share of the violation that is enough: the duality gap is to be small as well.
    augmented_share: float = 0.2
    # Steps before a Newton step is tried, besides a share of n², since it costs n³ and a step costs n.
    least_steps: int = 300
    steps_per_square: float = 1 / 400  # this share


class Strategy:
    """What a solver has learnt about its problems.

    Where the augmented Lagrangian had to take over on a problem, the next is taken to be as hard.
    """

    effort = Effort()

    def __init__(self) -> None:
        self.is_hard = False
        self.least_for_augmented = self.effort.least_for_augmented

    def hands_over(self, n: int, turn: int, stalled: int, before: bool = False) -> bool:
        """Whether the augmented Lagrangian is to take over n variables: if the last turns were of no use, and once."""
        is_tried = turn > 0 if self.is_hard else stalled >= self.effort.useless
        return is_tried and n >= self.least_for_augmented and not before


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
    within: float = 0.0,
    progress: Callable[[int, float], None] | None = None,
    strategy: Strategy | None = None,
) -> DualPoint:
    """Solve the dual to a violation of at most ``tol``, starting at γ = ``gamma`` (with ``outputs`` G γ + c, if known).

    The violation is the largest distance of an output from the subdifferential of its ψ*, in units of the output; for a
    free bias, the gap between the bounds that the points put on the bias.  At most ``max_iter`` working sets of at most
    ``block_size`` variables are solved; ``progress`` is called with their number and the violation.

    ``measure_rounding`` tells from γ and outputs how far off the outputs are.  Outputs that are off by more than
    ``rounding_tol``, by default a quarter of ``tol``, are computed afresh, unless that and the violation together are
    at most ``within``; without the function they always are, before they are returned as optimal.  ``strategy`` says
    when methods take turns inside a working set, and learns from one problem to the next.

    The status is "optimal", "max_iter", "interrupted" by Ctrl-C, "time_limit" if a deadline has passed, or "inaccurate"
    if rounding keeps undoing what was reached, or working sets do not lower the violation any more; the point is then
    the one after the last working set.
    """
    rounding_tol = 0.25 * tol if rounding_tol is None else rounding_tol
    strategy = Strategy() if strategy is None else strategy
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
                    if sets.holds(max(rounding_tol, within - survey.violation)):
                        break
                elif n_iter >= max_iter:
                    sets.status = "max_iter"
                    break
                elif sets.is_stopped(survey.violation):
                    break
                else:
                    chosen = sets.choose(survey, tol)
                    after = solve_in_memory(chosen.part, chosen.state, chosen.tol, chosen.enough, strategy)
                    if after is None:
                        sets.status = "inaccurate"
                        break
                    if not sets.take(chosen, after):
                        break
                    n_iter += 1
        except KeyboardInterrupt:
            sets.status = "interrupted"
        survey, state = dual.survey(sets.state), sets.state
        return DualPoint(state.s, state.h, survey.bias, survey.violation, sets.rounding, n_iter, sets.status)


@dataclass(eq=False)
class _WorkingSet:
    """Variables that are solved for while the others stay as they are."""

    which: Indices | None  # None for all variables
    part: DualProblem  # their problem
    state: State
    tol: float  # the violation to which it is to be solved
    enough: float | None = None  # the one at which methods may end that would take long for that


class _WorkingSets:
    """The progress of one call of :func:`solve_dual`: its current ``state``, and the ``status`` that it ends with.

    ``rounding`` is the error of the outputs as it was measured last.
    """

    # How large working sets are and how far they are solved, by ``benchmarks/speed.py`` and ``scaling.py``.
    # Variables of a first working set, when nothing is known yet, and the least number that is worth one.
    first = 1024
    least = 512
    # Variables in a set for each that violates or answers to changes: the rest are the next that may violate.
    ample = 1.5
    # A working set of some variables is solved to this share of the violation, or of the tolerance if that is more.
    part = 0.1
    # One of all variables, to these shares of the tolerance: the problem's own matrix, by precision, or a part of it.
    whole_double = 0.01
    whole_single = 0.1
    whole_part = 0.05
    refreshes = 10  # how often outputs are computed afresh before the status is "inaccurate"
    # Sets in a row, of some variables or of all, that may leave the least violation as it is (rounding, or a cycle).
    stalled = 300
    stalled_whole = 5
    # A violation has fallen if it is below this share of the least one before.
    fallen = 0.99
    fallen_whole = 0.5

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
        """Whether every working set has all variables that cost something."""
        most = self.block_size if self.dual.rows.in_memory else min(self.first, self.block_size)
        return int(np.count_nonzero(self.dual.cost)) <= most

    def holds(self, rounding_tol: float) -> bool:
        """Whether to end at a violation that is small enough: only if rounding has not changed the outputs too much.

        If it has, outputs are computed afresh, and the answer is no.  If that was done too often, or outputs that are
        afresh are measured to be wrong, the answer is yes, with the status "inaccurate".
        """
        if self.measure_rounding is None:
            self.rounding = 0.0 if self._fresh else np.inf
        else:
            self.rounding = self.measure_rounding(self.dual.gamma(self.state.s), self.state.h)
        if self.rounding <= rounding_tol:
            return True
        if self._n_refreshed == self.refreshes or (self._fresh and np.isfinite(self.rounding)):
            self.status = "inaccurate"
            return True
        self.state = self.dual.state(self.state.s, self.dual.outputs(self.state.s))
        self._fresh, self._n_refreshed = True, self._n_refreshed + 1
        return False

    def is_stopped(self, violation: float) -> bool:
        """Whether the time is up, or working sets do not lower the violation any more; sets the status."""
        if time_is_up():
            self.status = "time_limit"
            return True
        whole = self._takes_all
        if self._stalled >= (self.stalled_whole if whole else self.stalled):
            self.status = "inaccurate"
            return True
        fallen = violation < (self.fallen_whole if whole else self.fallen) * self._least
        self._least, self._stalled = min(self._least, violation), 0 if fallen else self._stalled + 1
        return False

    def choose(self, survey: Survey, tol: float) -> _WorkingSet:
        dual, state = self.dual, self.state
        if self._takes_all:
            # Where the working set has all variables accuracy is cheap, so that it is solved to less than ``tol``.
            used, double = np.flatnonzero(dual.cost), dual.rows.dtype == np.float64
            if dual.rows.in_memory and 2 * len(used) > len(state.s):
                return _WorkingSet(None, dual, state, (self.whole_double if double else self.whole_single) * tol, tol)
            share = self.whole_double if double else self.whole_part
            return _WorkingSet(used, *dual.part_at(state, used), share * tol, tol)
        unsettled = survey.n_unsettled(tol)
        ample = int(np.clip(self.ample * unsettled, self.least, self.block_size))
        size = self.first if unsettled == len(state.s) else ample
        which = survey.choose(min(size, self.block_size), tol)
        return _WorkingSet(which, *dual.part_at(state, which), self.part * max(tol, survey.violation))

    def take(self, chosen: _WorkingSet, after: State) -> bool:
        """Go to where a working set has been solved; False, with the status "inaccurate", if numbers have overflown."""
        self._fresh = False
        state = after if chosen.which is None else self.dual.with_part(self.state, chosen.which, after.s)
        if not (np.isfinite(state.s).all() and np.isfinite(state.h).all()):
            self.status = "inaccurate"
            return False
        self.state = state
        return True


def solve_in_memory(
    dual: DualProblem, state: State, tol: float, enough: float | None, strategy: Strategy
) -> State | None:
    """Solve a problem whose matrix is in memory to a violation of ``tol``; None if that takes double precision.

    Accuracy beyond ``tol`` is cheap for steps and Newton steps, and not for the augmented Lagrangian that takes over
    from them, once for a problem: it ends at a share of ``enough``, and is not begun where that is met.
    """
    n, effort, double = len(state.s), strategy.effort, dual.rows.dtype == np.float64
    limit = effort.least_steps + int(effort.steps_per_square * n**2)
    least, stalled, is_handed_over = np.inf, 0, False
    for turn in range(effort.turns):
        if strategy.hands_over(n, turn, stalled, is_handed_over):
            is_handed_over = True
            state, is_enough = _handed_over(dual, state, tol, enough, strategy)
            if is_enough:
                break
            if not double and enough is not None:
                return None  # the augmented Lagrangian was not enough, and what is next needs digits
        # At first steps go no further than Newton steps need it.  In single precision solutions of a working set are to
        # have variables at breakpoints, so that others can be chosen in their place.
        wanted = tol if turn or not double else max(tol, effort.first_tol)
        s, h = state.s.copy(), state.h.copy()
        loop, arguments = _compiled(dual, s, h)
        n_steps, _ = loop(*arguments, wanted, limit)
        state = dual.state(s, h)
        violation = dual.survey(state).violation
        least, stalled = (violation, 0) if violation < effort.fallen * least else (least, stalled + 1)
        none_moves, is_enough = turn > 0 and n_steps == 0, not double and violation <= tol
        if none_moves or is_enough or stalled > effort.stalled or time_is_up():
            break
        state = newton(dual, state)  # for the variables between breakpoints
    return state


def _handed_over(
    dual: DualProblem, state: State, tol: float, enough: float | None, strategy: Strategy
) -> tuple[State, bool]:
    """The state where the augmented Lagrangian ends, and whether its violation is small enough."""
    most = tol if enough is None else enough
    if dual.survey(state).violation > most:
        strategy.is_hard = True
        state = augmented(dual, state, tol if enough is None else strategy.effort.augmented_share * enough)
    return state, dual.survey(state).violation <= most


def _compiled(dual: DualProblem, s: Array, h: Array) -> tuple[Any, tuple[Any, ...]]:
    """The compiled loop that changes s and h in place, and its arguments before the tolerance and the limit."""
    losses = (dual.kind, dual.cost, *dual.conjugates.derivatives)
    if dual.free_bias:
        return descend_pairs, (dual.rows.full(), h, s, dual.tied, *losses)
    return descend_single, (*dual.matrix(), h, s, *losses)


@dataclass(frozen=True)
class Minimum:
    """Where a quadratic program has its minimum: γ, and the outputs M γ + offset, both of shape (n,)."""

    gamma: Array
    outputs: Array
    bias: float  # the multiplier of Σ γ = 0, if that is a constraint
    violation: float  # how far from optimal the point is, in units of the outputs


def minimize_quadratic(
    matrix: GramRows,
    losses: tuple[PLQ, ...] | Pieces,
    *,
    cost: Array,
    kind: NDArray[np.intp] | None = None,
    slope: Array | None = None,
    offset: Array | float = 0.0,
    sums_to_zero: NDArray[np.bool_] | bool = False,
    start: Array | None = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> Minimum:
    """Minimize ½ γᵀ M γ + Σ offset_i γ_i + Σ ψ_i*(-γ_i) with ψ_i(t) = cost_i ℓ_kind(i)(t) + slope_i t.

    M is symmetric and positive semidefinite, shape (n, n); ``losses`` are convex, or the pieces of their conjugates.
    Every variable has the first of them and the slope 0 by default.  A loss max(0, -t) makes a box, 0 <= γ_i <= cost_i
    moved by -slope_i; an indicator makes a half-line; ``sums_to_zero`` adds the constraint Σ γ = 0, over all or
    some variables.  ``tol`` and ``max_iter`` are those of :func:`~convex_tsvm.solvers.solve_dual`.  Ctrl-C
    raises KeyboardInterrupt, as the program is a part of something else, to which an unfinished point is of no use.
    """
    n = len(cost)
    if n == 0:
        return Minimum(np.zeros(0), np.zeros(0), 0.0, 0.0)
    dual = DualProblem(
        conjugates=losses if isinstance(losses, Pieces) else conjugate_pieces(losses),
        kind=np.zeros(n, dtype=np.intp) if kind is None else kind,
        cost=cost,
        slope=np.zeros(n) if slope is None else slope,
        rows=matrix,
        offset=offset,
        tied=np.full(n, sums_to_zero),
    )
    point = solve_dual(dual, gamma=start, tol=tol, max_iter=max_iter, block_size=n + 1)
    if point.status == "interrupted":
        raise KeyboardInterrupt
    return Minimum(dual.gamma(point.s), point.h, point.bias, point.violation)
