"""Squared distances whose last digits are right wherever the points are."""

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ..validation import canonical, is_sparse
from .types import Array, Points

#: ε, the spacing of floating-point numbers at 1; the relative error of every operation is at most half of it.
EPS = float(np.finfo(float).eps)

#: Largest error of a scaled squared distance for which it may be computed from inner products.
SMALL_ERROR = 1e-13

#: :func:`_halves` rounds the high part of every entry to a multiple of about this share of the longest row.
LOW = 2.0**-24


def squared_distances(X: Points, Z: Points, scale: float) -> Array:
    """scale ‖x - z‖² of every pair, shape (len(X), len(Z)).

    Inner products are the fast way to it, but ‖x‖² + ‖z‖² - 2 x·z loses the digits that ‖x‖² has before those of the
    distance.  They are used, from a common origin, only where that loss is below 10⁻¹³; otherwise differences are
    taken coordinate by coordinate, so that every distance has a relative error of (d + 3) ε, and equal points have 0.
    """
    with np.errstate(over="ignore", under="ignore"):
        if is_sparse(X) or is_sparse(Z):
            return _of_sparse(canonical(sp.csr_matrix(X)), canonical(sp.csr_matrix(Z)), scale)
        X, Z = np.asarray(X, dtype=float), np.asarray(Z, dtype=float)
        origin = Z.mean(axis=0)
        X_moved, Z_moved = X - origin, Z - origin
        left, right = (np.einsum("ij,ij->i", points, points) for points in (X_moved, Z_moved))
        if not _loses(left, right, X.shape[1], scale):
            return scale * _from_products(left, right, X_moved @ Z_moved.T)
        return np.asarray(scaled_differences(X, Z, scale))


def scaled_differences(X: Array, Z: Array, scale: float) -> Array:
    """scale ‖x - z‖², coordinate by coordinate; of coordinates whose squares overflow, a power of two is taken out."""
    largest = max(float(np.abs(X).max(initial=0.0)), float(np.abs(Z).max(initial=0.0)))
    if 1e-100 < largest < 1e100 or largest == 0:
        return np.asarray(scale * cdist(X, Z, "sqeuclidean"))
    power = int(np.frexp(largest)[1])
    squares = cdist(np.ldexp(X, -power), np.ldexp(Z, -power), "sqeuclidean")
    return np.asarray(np.ldexp(scale * squares, 2 * power))


def _loses(left: Array, right: Array, d: int, scale: float) -> bool:
    reach = float(np.sqrt(left.max(initial=0.0)) + np.sqrt(right.max(initial=0.0)))
    return not scale * reach**2 * (d + 8) * EPS <= SMALL_ERROR


def _from_products(left: Array, right: Array, products: Array) -> Array:
    products *= -2
    products += left[:, None]
    products += right
    return np.maximum(products, 0.0, out=products)


def _of_sparse(X: sp.csr_matrix, Z: sp.csr_matrix, scale: float) -> Array:
    left, right = sparse_squared_norms(X), sparse_squared_norms(Z)
    longest = int(max(np.diff(X.indptr).max(initial=0), np.diff(Z.indptr).max(initial=0)))
    if not _loses(left, right, longest, scale):
        return scale * _from_products(left, right, (X @ Z.T).toarray())
    if not _loses(left, right, int(longest**1.5 * LOW) + 4, scale):
        (X_high, X_low), (Z_high, Z_low) = (_halves(points, norms) for points, norms in ((X, left), (Z, right)))
        left, right = (
            sparse_squared_norms(high) + _row_sums((high + points).multiply(low))
            for points, high, low in ((X, X_high, X_low), (Z, Z_high, Z_low))
        )
        products = (X_high @ Z_high.T).toarray()
        products += (X_high @ Z_low.T + X_low @ Z.T).toarray()
        return scale * _from_products(left, right, products)
    total = np.zeros((X.shape[0], Z.shape[0]))
    used = np.union1d(np.unique(X.indices), np.unique(Z.indices))
    left_columns, right_columns = X.tocsc()[:, used], Z.tocsc()[:, used]
    step = 2048  # columns that are made dense at a time
    for start in range(0, len(used), step):
        part = slice(start, start + step)
        total += scaled_differences(left_columns[:, part].toarray(), right_columns[:, part].toarray(), scale)
    return total


def _halves(X: sp.csr_matrix, squared_norms: Array) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """High and low digits of all entries, whose sum they are.

    The high ones are multiples of 2⁻²⁴ times a power of two that no row's length is above.  Inner products of such rows
    are multiples of 2⁻⁴⁸ times the powers, and by Cauchy's inequality no partial sum is above these: double precision
    rounds none of them.  The low digits are below half a multiple, and so is what is rounded in sums with them.
    """
    unit = np.ldexp(LOW, int(np.frexp(np.sqrt(squared_norms.max(initial=0.0)))[1]))
    high = X.copy()
    high.data = np.rint(X.data / unit) * unit
    return high, X - high


def sparse_squared_norms(X: sp.csr_matrix) -> Array:
    """‖x‖² of every row."""
    return _row_sums(X.multiply(X))


def _row_sums(X: sp.csr_matrix) -> Array:
    return np.asarray(X.sum(axis=1), dtype=float).ravel()
