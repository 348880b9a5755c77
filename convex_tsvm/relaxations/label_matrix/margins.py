"""The SVM for given label vectors: margins are inner products of outputs and labels."""

from __future__ import annotations

import numpy as np

from ...instance.labelling import Labelling
from ...kernels import GramRows
from ...problem import Array
from ...solvers.dual import minimize_quadratic


def margin_svm(
    search: Labelling, label_matrix: Array, signs: Array | float, *, start: Array | None = None, tol: float = 1e-8
) -> tuple[float, Array]:
    """Least ½ αᵀ Q α + Σ c_i ℓ(t_i) with Q = G ∘ Γ and margins t = Q α + o ∘ g, and its α >= 0.

    Parameters
    ----------
    search : Labelling
        For ℓ, c, G and o.
    label_matrix : array, shape (n, n)
        Γ.
    signs : array, shape (n,), or float
        g, the labels before thresholding; without offsets it has no influence.
    start : array, shape (n,), optional
        α to start from.
    tol : float
        On the margins.
    """
    kernel = search.kernel * label_matrix
    point = minimize_quadratic(
        GramRows(kernel), (search.loss,), cost=search.cost, offset=search.offset * signs, start=start, tol=tol
    )
    alpha = np.maximum(point.gamma, 0.0)
    value = 0.5 * float(alpha @ kernel @ alpha) + float(search.cost @ _inside(search, point.outputs))
    return value, alpha


def _inside(search: Labelling, margins: Array) -> Array:
    """Losses of margins, which a solver may leave outside a domain by its tolerance."""
    return search.loss(np.clip(margins, *search.loss.domain))
