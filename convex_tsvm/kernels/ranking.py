"""Differences of points as points: what ranking is about."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..validation import canonical, is_sparse
from .functions import Kernel, Linear, make_kernel
from .rows import Indices, KernelRows, RowSource
from .types import Array, Points


@dataclass(frozen=True)
class PairKernel(Kernel):
    """(Φ(x) - Φ(z)) · (Φ(x') - Φ(z')), for pairs [x, z] of points side by side; Φ(x') alone for points.

    Parameters
    ----------
    kernel : Kernel
        That of the points.
    n_features : int
        How many features a point has; a pair has twice as many.

    Examples
    --------
    >>> kernel = ct.kernels.PairKernel(ct.Linear(), 1)
    >>> kernel(np.array([[3.0, 1.0]]), np.array([[5.0, 1.0], [0.0, 1.0]]))
    array([[ 8., -2.]])
    """

    kernel: Kernel
    n_features: int
    accepts_sparse = False

    def sides(self, X: Points) -> list[tuple[float, Points]]:
        """The points of which pairs are differences, with their signs; a ValueError if X is no pairs and no points."""
        d = self.n_features
        if X.shape[1] == d:
            return [(1.0, X)]
        if X.shape[1] != 2 * d:
            raise ValueError(f"X has {X.shape[1]} features; a point has {d}, and a pair of points {2 * d}")
        return [(1.0, X[:, :d]), (-1.0, X[:, d:])]

    def __call__(self, X: Points, Z: Points) -> Array:
        values = np.zeros((X.shape[0], Z.shape[0]))
        for sign, left in self.sides(X):
            for other, right in self.sides(Z):
                values += sign * other * self.kernel(left, right)
        return values

    def diag(self, X: Points) -> Array:
        found = np.zeros(X.shape[0])
        sides = self.sides(X)
        for _, side in sides:
            found += self.kernel.diag(side)
        if len(sides) == 2:
            left, right = sides[0][1], sides[1][1]
            parts = [slice(start, start + 64) for start in range(0, len(found), 64)]
            found -= 2 * np.concatenate([np.diag(self.kernel(left[part], right[part])) for part in parts])
        return found

    def to_dict(self) -> dict[str, Any]:
        """It is not saved: what is saved of a problem of pairs is its kernel matrix."""
        raise ValueError("kernel is one of pairs, which cannot be saved; use kernel='precomputed' or a named kernel")


class PairRows(RowSource):
    """Rows for pairs of points of which many are in several pairs: D K Dᵀ, with the kernel matrix K of the points.

    Each row of D has 1 and -1 in two places, so that products with D K Dᵀ are products with K, which is kept.
    """

    keeps = True
    error = 1e-12  # rounding of its entries, relatively

    def __init__(self, matrix: Array, first: Indices, second: Indices) -> None:
        self.matrix, self.first, self.second, self.n = matrix, first, second, len(first)

    @staticmethod
    def of(kernel: PairKernel, X: Array, *, most_bytes: int = 2**28) -> RowSource:
        """The rows of some pairs; from the kernel function where the matrix of all their points takes more bytes."""
        d = kernel.n_features
        if X.shape[1] != 2 * d:
            return KernelRows(kernel, X)
        points, which = np.unique(np.vstack([X[:, :d], X[:, d:]]), axis=0, return_inverse=True)
        if 8 * len(points) ** 2 > most_bytes:
            return KernelRows(kernel, X)
        which = which.ravel()
        return PairRows(kernel.kernel(points, points), which[: len(X)], which[len(X) :])

    def _differences(self, matrix: NDArray[Any]) -> Array:
        """Of the columns of a matrix with one for each point, those for each pair."""
        found = matrix.take(self.first, axis=-1)
        found -= matrix.take(self.second, axis=-1)
        return np.asarray(found)

    def rows(self, indices: Indices) -> Array:
        return self._differences(self.matrix[self.first[indices]] - self.matrix[self.second[indices]])

    def block(self, indices: Indices, columns: Indices) -> Array:
        return PairRows(self.matrix, self.first[columns], self.second[columns])._differences(
            self.matrix[self.first[indices]] - self.matrix[self.second[indices]]
        )

    def diag(self) -> Array:
        own = np.diag(self.matrix)
        return np.asarray(own[self.first] + own[self.second] - 2 * self.matrix[self.first, self.second])

    def combine(self, indices: Indices, coefficients: Array) -> Array:
        """Σ coefficients_k row_k, by one product with K."""
        size = len(self.matrix)
        spread = np.bincount(self.first[indices], coefficients, size)
        spread -= np.bincount(self.second[indices], coefficients, size)
        return self._differences(spread @ self.matrix)


def pairs(
    X: Any, first: ArrayLike, second: ArrayLike, kernel: str | Kernel | Callable[[Any, Any], Any] = "linear"
) -> tuple[Points, Kernel]:
    """The differences Φ(x_i) - Φ(x_j) of some points as the points of a problem, and their kernel.

    The output of a pair is f(x_i) - f(x_j), without a bias: formulations of pairs have ``fit_intercept=False``.  Labels
    say which of the two ranks higher, 0 if nobody knows.  Solutions' ``decision_function`` takes points, or pairs.

    Parameters
    ----------
    X : array, shape (n, d), or for the linear kernel sparse matrix
    first, second : int array, shape (m,)
        The indices i and j of each pair.
    kernel
        That of the points, as for :class:`~convex_tsvm.Problem`.

    Returns
    -------
    points : array, shape (m, d) for the linear kernel, else (m, 2 d)
    kernel : Kernel

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [4.0]])
    >>> points, kernel = ct.kernels.pairs(X, [1, 2, 3], [0, 1, 2], ct.RBF(2.0))
    >>> problem = ct.Problem(points, [1, 1, 1], kernel=kernel, C=10, C_unlabeled=None, balance=None)
    >>> ranking = ct.cccp(ct.Formulation(ct.hinge(), balance=None, fit_intercept=False), problem)
    >>> ranking.decision_function(X).argsort()
    array([0, 1, 2, 3])
    """
    X = canonical(X) if is_sparse(X) else np.asarray(X, dtype=float)
    if X.ndim != 2:
        raise ValueError(f"X has shape {X.shape}; it must be 2-dimensional, (n, d)")
    sides = []
    for name, given in (("first", first), ("second", second)):
        index = np.asarray(given)
        right = index.ndim == 1 and np.issubdtype(index.dtype, np.integer) and index.shape == np.shape(first)
        if not (right and len(index) and index.min() >= 0 and index.max() < X.shape[0]):
            raise ValueError(f"{name}={given!r} must be indices of the {X.shape[0]} points, as many as the other has")
        sides.append(X[index])
    if (same := np.flatnonzero(np.asarray(first) == np.asarray(second))).size:
        raise ValueError(f"pair {same[0]} is of point {index[same[0]]} with itself")
    kernel = make_kernel(kernel, X)
    if isinstance(kernel, Linear):
        return sides[0] - sides[1], kernel
    if is_sparse(X):
        raise ValueError(f"X is sparse, but pairs with kernel={kernel!r} need a dense array: X.toarray()")
    return np.hstack(sides), PairKernel(kernel, X.shape[1])
