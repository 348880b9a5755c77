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


def solve_with_rising_costs(
    dual: DualProblem, options: dict[str, Any], *, rise: float = 10**0.5, begin_at: float = 1e3, most: int = 5000
) -> DualPoint | None:
    """Solve a dual; None if it has more variables than ``most``, as it is solved often, or if costs are not large.

    Options are those of :func:`solve_dual`.  Costs rise by the factor ``rise`` from one problem to the next, and begin
    where the largest, times the diagonal, is ``begin_at``.
    """
    largest = float((dual.cost * dual.rows.diag()).max(initial=0.0))
    if len(dual.kind) > most or not np.isfinite(largest) or largest <= begin_at * rise:
        return None
    shares = np.geomspace(begin_at / largest, 1.0, 1 + int(np.ceil(np.log(largest / begin_at) / np.log(rise))))
    s, n_iter = None, 0
    for share in shares:
        part = replace(dual, cost=share * dual.cost, slope=share * dual.slope)
        point = solve_dual(part, **options | {"gamma": None if s is None else part.gamma(s)})
        s, n_iter = point.s, n_iter + point.n_iter
        if share < 1 and (point.status == "interrupted" or time_is_up()):
            return None
    point.n_iter = n_iter
    return point
