"""The dual solver for quadratic programs of other origin: bounds of exact search, margins, boxes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernels import GramRows
from ...losses import PLQ, conjugate_pieces
from .dual_problem import Array, DualProblem
from .working_sets import solve_dual


@dataclass(frozen=True)
class Minimum:
    """Where a quadratic program has its minimum: γ, and the outputs M γ + offset, both of shape (n,).

    ``bias`` is the multiplier of Σ γ = 0, if that is a constraint, and ``violation`` says how far from optimal the
    point is, in units of the outputs.
    """

    gamma: Array
    outputs: Array
    bias: float
    violation: float


def minimize_quadratic(
    matrix: GramRows,
    losses: tuple[PLQ, ...],
    *,
    cost: Array,
    kind: NDArray[np.intp] | None = None,
    slope: Array | None = None,
    offset: Array | float = 0.0,
    sums_to_zero: bool = False,
    start: Array | None = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> Minimum:
    """Minimize ½ γᵀ M γ + Σ offset_i γ_i + Σ ψ_i*(-γ_i) with ψ_i(t) = cost_i ℓ_kind(i)(t) + slope_i t.

    M is symmetric and positive semidefinite, shape (n, n); ``losses`` are convex.  Every variable has the first of them
    and the slope 0 by default.  A loss max(0, -t) makes a box, 0 <= γ_i <= cost_i moved by -slope_i; an indicator makes
    a half-line; ``sums_to_zero`` adds the constraint Σ γ = 0.  ``tol`` and ``max_iter`` are those of
    :func:`~convex_tsvm.solvers.solve_dual`.  Ctrl-C raises KeyboardInterrupt, as the program is a part of something
    else, to which an unfinished point is of no use.
    """
    n = len(cost)
    if n == 0:
        return Minimum(np.zeros(0), np.zeros(0), 0.0, 0.0)
    dual = DualProblem(
        conjugates=conjugate_pieces(losses),
        kind=np.zeros(n, dtype=np.intp) if kind is None else kind,
        cost=cost,
        slope=np.zeros(n) if slope is None else slope,
        rows=matrix,
        offset=offset,
        free_bias=sums_to_zero,
    )
    point = solve_dual(dual, gamma=start, tol=tol, max_iter=max_iter, block_size=n + 1)
    if point.status == "interrupted":
        raise KeyboardInterrupt
    return Minimum(dual.gamma(point.s), point.h, point.bias, point.violation)
