"""One dual problem whose matrix is in memory: the strategy says which of three methods is next, and it is done here."""

from __future__ import annotations

from typing import Any

from ...deadline import time_is_up
from ...problem import Array
from .._loops import descend_mixed, descend_pairs, descend_single
from .augmented import augmented
from .dual_problem import DualProblem, State
from .newton import newton
from .strategy import Effort, Reached, Strategy


def solve_in_memory(
    dual: DualProblem, state: State, tol: float, enough: float | None, strategy: Strategy
) -> State | None:
    """Solve a problem whose matrix is in memory to a violation of ``tol``; None if that takes double precision.

    Accuracy beyond ``tol`` is cheap for steps and Newton steps, and not for the augmented Lagrangian that takes over
    from them, which ends at a share of ``enough``.
    """
    n, effort = len(state.s), strategy.effort
    reached = Reached(dual, state, tol, enough, effort)
    limit = effort.least_steps + int(effort.steps_per_square * n**2)
    strategy.log.clear()
    while (choice := strategy.next(reached)).method != "none":
        state, n_steps = reached.state, 0
        if choice.method == "double precision":
            return None
        if choice.method == "steps":
            if n > effort.without_sets * effort.at_once:
                state, n_steps = _steps_by_sets(dual, state, reached.steps_tol, limit, effort)
            else:
                s, h = state.s.copy(), state.h.copy()
                loop, arguments = _compiled(dual, s, h)
                n_steps, _ = loop(*arguments, reached.steps_tol, limit)
                state = dual.state(s, h)
        elif choice.method == "newton":
            state = newton(dual, state)
        else:
            state = augmented(dual, state, reached.augmented_tol)
        reached.after(choice.method, state, n_steps)
    return reached.state


def _steps_by_sets(dual: DualProblem, state: State, tol: float, limit: int, effort: Effort) -> tuple[State, int]:
    """Compiled steps on ever new working sets, for problems larger than they go over fast; and how many sets."""
    n, total = len(state.s), 0
    for n_sets in range(effort.passes * n // effort.at_once):
        survey = dual.survey(state)
        if survey.violation <= tol or total > effort.more_by_sets * limit or time_is_up():
            return state, n_sets
        which = survey.choose(effort.at_once, tol)
        part, inside = dual.part_at(state, which)
        target = max(effort.share_of_tol * tol, effort.share_of_violation * survey.violation)
        s, h = inside.s.copy(), inside.h.copy()
        loop, arguments = _compiled(part, s, h)
        total += loop(*arguments, target, effort.passes * len(which))[0]
        state = dual.with_part(state, which, s)
    return state, n_sets + 1


def _compiled(dual: DualProblem, s: Array, h: Array) -> tuple[Any, tuple[Any, ...]]:
    """The compiled loop that changes s and h in place, and its arguments before the tolerance and the limit."""
    losses = (dual.kind, dual.cost, *dual.conjugates.derivatives)
    if dual.free_bias and dual.tied is not None:
        return descend_mixed, (dual.rows.full(), h, s, dual.tied, *losses)
    if dual.free_bias:
        return descend_pairs, (dual.rows.full(), h, s, *losses)
    return descend_single, (*dual.matrix(), h, s, *losses)
