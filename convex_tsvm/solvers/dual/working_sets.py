"""Working-set solver of the dual.

Working sets are chosen by violation.  The matrix of a working set is held in memory and solved as :mod:`.in_memory`
does it.  Whole kernel rows are needed only for the variables that a working set has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...deadline import time_is_up
from ...parallel import blas_threads_for
from .dual_problem import Array, DualPoint, DualProblem, Indices, State, Survey
from .in_memory import solve_in_memory
from .strategy import Strategy


@dataclass(frozen=True)
class Effort:
    """How large working sets are and how far they are solved (by ``benchmarks/speed.py`` and ``scaling.py``)."""

    # Variables of a first working set, when nothing is known yet, and the least number that is worth one.
    first: int = 1024
    least: int = 512
    # Variables in a set for each that violates or answers to changes: the rest are the next that may violate.
    ample: float = 1.5
    # A working set of some variables is solved to this share of the violation, or of the tolerance if that is more.
    part: float = 0.1
    # One of all variables, to these shares of the tolerance: the problem's own matrix, by precision, or a part of it.
    whole_double: float = 0.01
    whole_single: float = 0.1
    whole_part: float = 0.05
    refreshes: int = 10  # how often outputs are computed afresh before the status is "inaccurate"
    # Sets in a row, of some variables or of all, that may leave the least violation as it is (rounding, or a cycle).
    stalled: int = 300
    stalled_whole: int = 5
    # A violation has fallen if it is below this share of the least one before.
    fallen: float = 0.99
    fallen_whole: float = 0.5


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
    at most ``within``; without the function they always are, before they are returned as optimal.  ``strategy`` chooses
    the method inside a working set, and learns from one problem to the next.

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
    """Variables that are solved for while the others stay as they are: all variables if ``which`` is None.

    ``part`` is their problem.  It is to be solved to a violation of ``tol``, but methods that would take long for that
    may end at ``enough``, if that is given.
    """

    which: Indices | None
    part: DualProblem
    state: State
    tol: float
    enough: float | None = None


class _WorkingSets:
    """The progress of one call of :func:`solve_dual`: its current ``state``, and the ``status`` that it ends with.

    ``rounding`` is the error of the outputs as it was measured last.
    """

    effort = Effort()

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
        most = self.block_size if self.dual.rows.in_memory else min(self.effort.first, self.block_size)
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
        if self._n_refreshed == self.effort.refreshes or (self._fresh and np.isfinite(self.rounding)):
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
        effort, whole = self.effort, self._takes_all
        if self._stalled >= (effort.stalled_whole if whole else effort.stalled):
            self.status = "inaccurate"
            return True
        fallen = violation < (effort.fallen_whole if whole else effort.fallen) * self._least
        self._least, self._stalled = min(self._least, violation), 0 if fallen else self._stalled + 1
        return False

    def choose(self, survey: Survey, tol: float) -> _WorkingSet:
        dual, state, effort = self.dual, self.state, self.effort
        if self._takes_all:
            # Where the working set has all variables accuracy is cheap, so that it is solved to less than ``tol``.
            used, double = np.flatnonzero(dual.cost), dual.rows.dtype == np.float64
            if dual.rows.in_memory and 2 * len(used) > len(state.s):
                return _WorkingSet(
                    None, dual, state, (effort.whole_double if double else effort.whole_single) * tol, tol
                )
            share = effort.whole_double if double else effort.whole_part
            return _WorkingSet(used, *dual.part_at(state, used), share * tol, tol)
        unsettled = survey.n_unsettled(tol)
        ample = int(np.clip(effort.ample * unsettled, effort.least, self.block_size))
        size = effort.first if unsettled == len(state.s) else ample
        which = survey.choose(min(size, self.block_size), tol)
        return _WorkingSet(which, *dual.part_at(state, which), effort.part * max(tol, survey.violation))

    def take(self, chosen: _WorkingSet, after: State) -> bool:
        """Go to where a working set has been solved; False, with the status "inaccurate", if numbers have overflown."""
        self._fresh = False
        state = after if chosen.which is None else self.dual.with_part(self.state, chosen.which, after.s)
        if not (np.isfinite(state.s).all() and np.isfinite(state.h).all()):
            self.status = "inaccurate"
            return False
        self.state = state
        return True
