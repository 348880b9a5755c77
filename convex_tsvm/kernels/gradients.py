"""Gradients of expansions Σ_j c_j k(x, z_j) at points x, of linear, Gaussian and polynomial kernels."""

from typing import Any

import numpy as np

from .functions import RBF, Linear
from .types import Array


def gradients(kernel: Any, X: Array, Z: Array, coefficients: Array, K: Array | None = None) -> list[Array]:
    """Gradients of Σ_j c_j k(x, z_j) at the rows x of X, shape (n, d), for each row c of coefficients.

    ``K`` are the kernel's values, shape (n, m), if they are known.
    """
    if isinstance(kernel, Linear):
        return [np.tile(c @ Z, (len(X), 1)) for c in coefficients]
    found = [np.empty(X.shape) for _ in coefficients]
    size = max(1, 2**23 // max(len(Z), 1))  # rows that are computed at once
    for part in (slice(start, start + size) for start in range(0, len(X), size)):
        if isinstance(kernel, RBF):
            values = kernel(X[part], Z) if K is None else K[part]
        else:
            values = (kernel.gamma * (X[part] @ Z.T) + kernel.coef0) ** (kernel.degree - 1)
        for own, c in zip(found, coefficients, strict=True):
            own[part] = values @ (c[:, None] * Z)
            if isinstance(kernel, RBF):
                own[part] -= (values @ c)[:, None] * X[part]
            own[part] *= 2 * kernel.gamma if isinstance(kernel, RBF) else kernel.degree * kernel.gamma
    return found
