"""A kernel matrix as inner products of finite vectors."""

from __future__ import annotations

import numpy as np

from ..deadline import in_background
from ..ties import eigenvectors
from .types import Array


def kernel_factor(kernel: Array, tol: float = 1e-13) -> Array:
    """Z with Z Zᵀ = K, by rule, without eigenvalues below ``tol`` times the largest."""
    # NumPy's function is used, as SciPy's keeps all other threads from running, and with them Ctrl-C from working.
    values, basis = in_background(np.linalg.eigh, kernel)
    values, basis = eigenvectors(values, basis, max(1, int(np.sum(values > tol * max(values[-1], 1e-300)))))
    return np.asarray(basis * np.sqrt(np.maximum(values, 0.0)))
