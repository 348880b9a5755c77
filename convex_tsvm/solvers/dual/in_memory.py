"""One dual problem whose matrix is in memory: the strategy says which of three methods is next, and it is done here."""

from __future__ import annotations

from ...deadline import time_is_up
from .._loops import descend_mixed, descend_pairs, descend_single
from .augmented import augmented
from .dual_problem import DualProblem, State
from .newton import newton
from .strategy import Reached, Strategy

# Chosen by benchmarks/speed.py.

#: Variables that compiled steps go over at once: a step passes over two rows of so many.
AT_ONCE = 1024

#: A matrix of up to this many times as many variables is gone over without working sets.
WITHOUT_SETS = 2.5

#: Steps before a Newton step is tried: so many, and a share of n², since it costs n³ and a step costs n.
LEAST_STEPS, STEPS_PER_SQUARE = 300, 1 / 400

#: Where steps need working sets: how many times all variables are gone over at most, and steps for each variable; and
#: how many times as many steps there may be before a Newton step as where they need none.
MOST_PASSES, MORE_BY_SETS = 20, 3

#: Working sets are solved to this share of the violation outside them, and of the violation that is wanted.
SHARE_OF_VIOLATION, SHARE_OF_TOL = 0.1, 0.5


def solve_in_memory(
    dual: DualProblem, state: State, tol: float, enough: float | None, strategy: Strategy
) -> State | None:
    """Solve a problem whose matrix is in memory to a violation of ``tol``; None if that takes double precision.

    Accuracy beyond ``tol`` is cheap for steps and Newton steps, and not for the augmented Lagrangian that takes over
    from them, which ends at a share of ``enough``.
    """
    reached = Reached(dual, state, tol, enough)
    take_steps = _steps_by_sets if len(state.s) > WITHOUT_SETS * AT_ONCE else _steps
    limit = LEAST_STEPS + int(STEPS_PER_SQUARE * len(state.s) ** 2)
    strategy.log.clear()
    while (choice := strategy.next(reached)).method != "none":
        state, n_steps = reached.state, 0
        if choice.method == "double precision":
            return None
        if choice.method == "steps":
            state, n_steps = take_steps(dual, state, reached.steps_tol, limit)
        elif choice.method == "newton":
            state = newton(dual, state)
        else:
            state = augmented(dual, state, reached.augmented_tol)
        reached.after(choice.method, state, n_steps)
    return reached.state


def _steps_by_sets(dual: DualProblem, state: State, tol: float, limit: int) -> tuple[State, int]:
    """Compiled steps on ever new working sets, for problems larger than they go over fast; and how many sets."""
    n, total = len(state.s), 0
    for n_sets in range(MOST_PASSES * n // AT_ONCE):
        survey = dual.survey(state)
        if survey.violation <= tol or total > MORE_BY_SETS * limit or time_is_up():
            return state, n_sets
        which = survey.choose(AT_ONCE, tol)
        part, inside = dual.part_at(state, which)
        target = max(SHARE_OF_TOL * tol, SHARE_OF_VIOLATION * survey.violation)
        after, n_steps = _steps(part, inside, target, MOST_PASSES * len(which))
        total += n_steps
        state = dual.with_part(state, which, after.s)
    return state, n_sets + 1


def _steps(dual: DualProblem, state: State, tol: float, limit: int) -> tuple[State, int]:
    """Compiled steps, and how many."""
    s, h = state.s.copy(), state.h.copy()
    losses = (dual.kind, dual.cost, *dual.conjugates.derivatives)
    if dual.free_bias and dual.tied is not None:
        steps, _ = descend_mixed(dual.rows.full(), h, s, dual.tied, *losses, tol, limit)
    elif dual.free_bias:
        steps, _ = descend_pairs(dual.rows.full(), h, s, *losses, tol, limit)
    else:
        steps, _ = descend_single(*dual.matrix(), h, s, *losses, tol, limit)
    return dual.state(s, h), steps
