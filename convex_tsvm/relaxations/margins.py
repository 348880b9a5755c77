"""The SVM for given label vectors: margins are inner products of outputs and labels."""

from __future__ import annotations

import numpy as np

from ..kernels import GramRows
from ..problem import Array
from ..solvers.dual import DualProblem
from ..solvers.flat import flatten
from ..solvers.working_sets import solve_dual
from .labelling import Labelling


def margin_svm(
    search: Labelling, kernel: Array, offset: Array | float = 0.0, *, start: Array | None = None, tol: float = 1e-8
) -> tuple[float, Array]:
    """Least ½ αᵀ Q α + Σ c_i ℓ(t_i) with margins t = Q α + o, and its α >= 0.

    Parameters
    ----------
    search : Labelling
        For ℓ and c.
    kernel : array, shape (n, n)
        Q = G ∘ Γ.
    offset : array, shape (n,), or float
        o.
    start : array, shape (n,), optional
        α to start from.
    tol : float
        On the margins.
    """
    n = search.n
    dual = DualProblem(
        flatten((search.loss,)), np.zeros(n, dtype=np.intp), search.cost, np.zeros(n), GramRows(kernel), offset
    )
    point = solve_dual(dual, gamma=start, tol=tol, block_size=n + 1)
    alpha = np.maximum(dual.gamma(point.s), 0.0)
    value = 0.5 * float(alpha @ kernel @ alpha) + float(search.cost @ _inside(search, point.h))
    return value, alpha


def _inside(search: Labelling, margins: Array) -> Array:
    """Losses of margins, which a solver may leave outside a domain by its tolerance."""
    return search.loss(np.clip(margins, *search.loss.domain))
