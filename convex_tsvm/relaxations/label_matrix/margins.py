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

    Γ is ``label_matrix``, shape (n, n), and g is ``signs``, shape (n,), the labels before thresholding, which count
    only where there are offsets o.  ``start`` is an α to start from; ``tol`` is a tolerance on the margins.
    """
    kernel = search.kernel * label_matrix
    point = minimize_quadratic(
        GramRows(kernel), (search.loss,), cost=search.cost, offset=search.offset * signs, start=start, tol=tol
    )
    alpha = np.maximum(point.gamma, 0.0)
    value = 0.5 * float(alpha @ kernel @ alpha) + float(search.cost @ _inside(search, point.outputs))
    return value, alpha


def _inside(search: Labelling, margins: Array) -> Array:
    """Losses of margins; a margin that is outside the loss's domain by the solver's tolerance is moved into it."""
    return search.loss(np.clip(margins, *search.loss.domain))
