"""Operator splitting on the dual: ADMM, with one factorization for all convex steps (Boyd et al. 2011).

The outputs h = G γ + c are split from a copy z that pays the losses, and a multiplier draws both together.  One
iteration is a product with (I + penalty G)⁻¹ and the proximal map of each point's loss.  That takes some hundred
iterations however many variables are between breakpoints, and fewer from a good start.
"""

from __future__ import annotations

import numpy as np

from ...deadline import time_is_up
from .._loops import proximal_all
from .dual_problem import DualProblem, State
from .factors import Factors

#: The largest number of iterations; the number after which the violation is looked at each time; and how many looks in
#: a row may show no less of it, which happens as products are in single precision.
MOST_PRODUCTS, PRODUCTS_PER_LOOK, STALLED_LOOKS = 1000, 10, 20

#: How far beyond the new outputs the copy is drawn.
OVERRELAXATION = 1.6


def splitting(dual: DualProblem, factors: Factors, state: State, tol: float) -> State:
    """The best point found from ``state``, for a dual without a free bias and the factors of its matrix.

    Its violation is at most ``tol``, unless iterations or time ran out, or iterations brought nothing any more.
    """
    penalty = factors.penalty
    losses = (*dual.conjugates.derivatives, dual.kind, dual.cost, dual.slope)
    best, least, stalled = state, dual.survey(state).violation, 0
    s, z = state.s.copy(), np.empty(len(state.s))
    u = -dual.gamma(s) / penalty
    proximal_all(*losses, penalty, state.h + u, s, z)
    for iteration in range(1, MOST_PRODUCTS + 1):
        # h minimizes ½ aᵀ G a + penalty / 2 ‖h - (z - u)‖² over h = G a + c.
        wanted = z - u - dual.offset
        h = z - u - factors.resolvent @ wanted.astype(np.float32)
        drawn = OVERRELAXATION * h + (1 - OVERRELAXATION) * z + u
        proximal_all(*losses, penalty, drawn, s, z)
        u = drawn - z
        if iteration % PRODUCTS_PER_LOOK == 0:
            found = dual.afresh(s.copy())
            violation = dual.survey(found).violation
            stalled = 0 if violation < 0.9 * least else stalled + 1
            if violation < least:
                best, least = found, violation
            if violation <= tol or stalled > STALLED_LOOKS or time_is_up():
                break
    return best
