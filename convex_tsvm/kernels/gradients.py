"""Gradients of expansions Σ_j c_j k(x, z_j) at points x."""

from __future__ import annotations

from typing import Any

import numpy as np

from .functions import RBF, Linear, Polynomial
from .types import Array


def differentiable(kernel: Any) -> bool:
    """Whether a kernel has them."""
    return isinstance(kernel, Linear | RBF | Polynomial)


def gradients(kernel: Any, X: Array, Z: Array, coefficients: Array, K: Array | None = None) -> list[Array]:
    """Gradients of Σ_j c_j k(x, z_j) at the rows x of X, shape (n, d), for each row c of coefficients.

    ``K`` are the kernel's values, shape (n, m), if they are known.
    """
    if isinstance(kernel, Linear):
        return [np.tile(c @ Z, (len(X), 1)) for c in coefficients]
    if isinstance(kernel, RBF):
        K = kernel(X, Z) if K is None else K
        return [2 * kernel.gamma * (K @ (c[:, None] * Z) - (K @ c)[:, None] * X) for c in coefficients]
    slope = kernel.degree * kernel.gamma * (kernel.gamma * (X @ Z.T) + kernel.coef0) ** (kernel.degree - 1)
    return [slope @ (c[:, None] * Z) for c in coefficients]
