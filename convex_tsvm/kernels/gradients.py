"""Gradients of expansions Σ_j c_j k(x, z_j) at points x."""

from __future__ import annotations

from typing import Any

import numpy as np

from .functions import RBF, Linear, Polynomial
from .types import Array


def differentiable(kernel: Any) -> bool:
    """Whether a kernel has them."""
    return isinstance(kernel, Linear | RBF | Polynomial)


def gradients(kernel: Any, X: Array, Z: Array, coefficients: Array) -> list[Array]:
    """Gradients of Σ_j c_j k(x, z_j) at the rows x of X, shape (n, d), for each column c of coefficients."""
    found, times = [], kernel
    if isinstance(kernel, Polynomial):
        times = Polynomial(kernel.degree - 1, kernel.gamma, kernel.coef0) if kernel.degree > 1 else None
    K = None if isinstance(kernel, Linear) else np.ones((len(X), len(Z))) if times is None else times(X, Z)
    for c in coefficients.T:
        if K is None:
            found.append(np.tile(c @ Z, (len(X), 1)))
        elif isinstance(kernel, RBF):
            found.append(2 * kernel.gamma * (K @ (c[:, None] * Z) - (K @ c)[:, None] * X))
        else:
            found.append(kernel.degree * kernel.gamma * (K @ (c[:, None] * Z)))
    return found
