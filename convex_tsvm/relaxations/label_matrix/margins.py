"""The SVM for given label vectors: margins are inner products of outputs and labels."""

from __future__ import annotations

import numpy as np

from ...instance.labelling import Labelling
from ...kernels import GramRows
from ...problem import Array
from ...solvers.dual.dual_problem import DualProblem
from ...solvers.dual.flat_losses import flatten
from ...solvers.dual.working_sets import solve_or_stop


def margin_svm(
    search: Labelling, gamma: Array, signs: Array | float, *, start: Array | None = None, tol: float = 1e-8
) -> tuple[float, Array]:
    """Least ½ αᵀ Q α + Σ c_i ℓ(t_i) with Q = G ∘ Γ and margins t = Q α + o ∘ g, and its α >= 0.

    Parameters
    ----------
    search : Labelling
        For ℓ, c, G and o.
    gamma : array, shape (n, n)
        Γ.
    signs : array, shape (n,), or float
        g, the labels before thresholding; without offsets it has no influence.
    start : array, shape (n,), optional
        α to start from.
    tol : float
        On the margins.
    """
    n, kernel = search.n, search.kernel * gamma
    dual = DualProblem(
        losses=flatten((search.loss,)),
        kind=np.zeros(n, dtype=np.intp),
        cost=search.cost,
        slope=np.zeros(n),
        rows=GramRows(kernel),
        offset=search.offset * signs,
    )
    point = solve_or_stop(dual, gamma=start, tol=tol, block_size=n + 1)
    alpha = np.maximum(dual.gamma(point.s), 0.0)
    value = 0.5 * float(alpha @ kernel @ alpha) + float(search.cost @ _inside(search, point.h))
    return value, alpha


def _inside(search: Labelling, margins: Array) -> Array:
    """Losses of margins, which a solver may leave outside a domain by its tolerance."""
    return search.loss(np.clip(margins, *search.loss.domain))
