"""Points of whatever kind, as points that are asked for products only."""

from __future__ import annotations

from typing import Any

from .memory import in_memory
from .protocol import LinearPoints


def linear_points(X: Any) -> LinearPoints:
    """An array or a sparse matrix as points that are asked for products only; nothing is copied that need not be.

    Parameters
    ----------
    X : array, sparse matrix, Dask array or LinearPoints, shape (n, d)
        Of 32 or 64-bit floating-point numbers; others are converted.  Sparse rows that are not sorted, or hold a column
        twice, are copied.

    Raises
    ------
    ValueError
        If X is not two-dimensional, is empty, or holds NaN or infinity.
    """
    if isinstance(X, LinearPoints):
        return X
    if hasattr(X, "dask") and hasattr(X, "to_delayed"):
        from .partitioned import DaskPoints  # Dask is an extra

        return DaskPoints.of(X)
    return in_memory(X)
