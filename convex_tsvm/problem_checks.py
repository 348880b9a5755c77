"""Checks of what a problem is made of: points, labels, and a kernel matrix."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .points import LinearPoints
from .validation import canonical, is_sparse

Array = NDArray[np.float64]


def check_psd(K: Array, tol: float = 1e-8) -> None:
    """Raise ValueError unless K, shape (n, n), is symmetric and positive semidefinite up to rounding.

    Entries may differ by ``tol`` times the largest one, and eigenvalues be below 0 by n times as much.
    """
    scale = float(np.abs(K).max()) or 1.0
    if np.abs(K - K.T).max() > tol * scale:
        raise ValueError(f"kernel matrix is not symmetric: entries differ by up to {np.abs(K - K.T).max():.3g}")
    try:
        np.linalg.cholesky(K + tol * scale * len(K) * np.eye(len(K)))
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(K)[0])
        raise ValueError(
            f"kernel matrix is not positive semidefinite: its least eigenvalue is {least:.3g}; it must be >= 0"
        ) from None


def check_points(X: Any) -> Any:
    """The points, as floats that cannot be written to; a ValueError says what is wrong with them."""
    if isinstance(X, LinearPoints):
        return X
    if is_sparse(X):
        X = canonical(sp.csr_matrix(X, dtype=np.float64, copy=True))
        values = X.data
        for array in (X.data, X.indices, X.indptr):
            array.setflags(write=False)
    else:
        try:
            X = values = np.array(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"X must be an array of numbers: {error}") from None
        if X.ndim != 2:
            raise ValueError(f"X has shape {X.shape}; it must be 2-dimensional, (n, d)")
        X.setflags(write=False)
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"X has shape {X.shape}; it needs at least one point and one feature")
    if not np.isfinite(values).all():
        raise ValueError("X contains NaN or infinity; every entry must be a finite number")
    return X


def check_labels(y: ArrayLike, n: int, balance: Any) -> Array:
    """The labels of n points; a ValueError if they are none, or of one class though the balance needs both."""
    try:
        labels = np.array(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("y must be an array of +1, -1 and 0 (unknown)") from None
    if labels.shape != (n,):
        raise ValueError(f"y has shape {labels.shape}; X has {n} points, so it must be ({n},)")
    if np.isnan(labels).any() or np.isinf(labels).any():
        raise ValueError("y contains NaN or infinity; an unknown label is 0")
    if not np.isin(labels, (-1, 0, 1)).all():
        other = labels[~np.isin(labels, (-1, 0, 1))][0]
        raise ValueError(f"y contains {other:g}; labels must be +1, -1, or 0 where unknown")
    if balance is None:
        return labels  # a class, or both, may be without labels; a formulation that cannot do with that says so
    if (labels == 0).any() and balance is not None and not isinstance(balance, str):
        return labels  # the balance says how large the classes are
    or_balance = "or balance must be a number, such as 0.0, or ('exact', 0.5), or None"
    if not labels.any():
        raise ValueError(f"y has no labelled point; both +1 and -1 must occur, {or_balance}")
    for sign in (1, -1):
        if not (labels == sign).any():
            raise ValueError(
                f"y has one class only: no point is labelled {sign:+d}; both +1 and -1 must occur, {or_balance}"
            )
    return labels
