"""A dual whose costs are so large that multipliers cannot be found from nothing: costs rise to what they are to be.

Costs multiply the box in which multipliers are, and not the outputs at which points pay: so the points that pay, and
their shares of their costs, change little from one cost to the next, and are a start from which few steps are needed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...deadline import time_is_up
from .dual_problem import DualPoint, DualProblem
from .working_sets import solve_dual

#: Costs rise by this factor from one problem to the next, from where the largest, times the diagonal, is the second.
RISE, BEGIN_AT = 10**0.5, 1e3

#: Variables of a dual at most that is solved once for each of the costs.
MOST_VARIABLES = 5000


def solve_with_rising_costs(dual: DualProblem, options: dict[str, Any]) -> DualPoint | None:
    """Solve a dual; None if it has too many variables to be solved often, or if costs are not large.

    Options are those of :func:`solve_dual`.
    """
    largest = float((dual.cost * dual.rows.diag()).max(initial=0.0))
    if len(dual.kind) > MOST_VARIABLES or not np.isfinite(largest) or largest <= BEGIN_AT * RISE:
        return None
    shares = np.geomspace(BEGIN_AT / largest, 1.0, 1 + int(np.ceil(np.log(largest / BEGIN_AT) / np.log(RISE))))
    s, n_iter = None, 0
    for share in shares:
        part = replace(dual, cost=share * dual.cost, slope=share * dual.slope)
        point = solve_dual(part, **options | {"gamma": None if s is None else part.gamma(s)})
        s, n_iter = point.s, n_iter + point.n_iter
        if share < 1 and (point.status == "interrupted" or time_is_up()):
            return None
    point.n_iter = n_iter
    return point
