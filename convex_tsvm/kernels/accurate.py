"""Kernel matrices with a bound on their rounding errors, from which proven bounds are made.

Every matrix here comes with numbers η and s such that |G̃_ij - G_ij| <= η s_i s_j, for the G of exact arithmetic on the
points as they are given; and |G_ij| <= s_i s_j.  In the linear space the points themselves are kept, moved to where the
formulation has its origin, with a bound δ_i on how far each is from where exact arithmetic would put it.  Then
‖Σ γ_i x_i‖ is known to Σ |γ_i| δ_i, which is much closer than what η says of γᵀ G γ where terms of the sum cancel.

ε is the spacing of floating-point numbers at 1.  A rounded sum of k products is off by at most k ε/2 times the sum of
the products' sizes, in whatever order they are added; constants here are at least twice as large as that requires.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ..deadline import in_background
from ..ties import eigenvectors
from ..validation import is_sparse
from .deformed import DeformedKernel
from .distances import EPS, SMALL_ERROR, scaled_differences, squared_distances
from .functions import RBF, Kernel, Linear, Polynomial, Precomputed, dense
from .rows import CentredRows, GramRows, Indices, KernelRows
from .types import Array, Points

#: Sparse points are made dense, so that they can be moved, if they then have at most this many entries.
MOST_DENSE_ENTRIES = 10**8


@dataclass(frozen=True, eq=False)
class AccurateGram:
    """A symmetric kernel matrix G̃, shape (n, n), with the ``error`` η and the ``scale`` s, shape (n,), of this module.

    In the linear space ``points``, shape (n, d), are those whose inner products G̃ holds, and ``moved`` is δ, shape
    (n,).  ``lift`` was added to the diagonal of a matrix that was given, so that it is surely positive semidefinite.
    """

    matrix: Array
    error: float
    scale: Array
    points: Points = None
    moved: Array | None = None
    lift: float = 0.0

    @property
    def n(self) -> int:
        return len(self.matrix)

    def most_square(self, gamma: Array) -> float:
        """A number that γᵀ G γ does not exceed in exact arithmetic."""
        size = float(np.abs(gamma) @ self.scale)
        if self.points is None:
            return float(gamma @ (self.matrix @ gamma)) + (self.error + (2 * self.n + 8) * EPS) * size * size
        w, error = self._combined(gamma)
        length = float(np.linalg.norm(w)) * (1 + (len(w) + 4) * EPS) + error
        return length * length * (1 + 4 * EPS)

    def image(self, gamma: Array) -> tuple[Array, Array]:
        """G γ as computed, and how far each entry may be off, both of shape (n,)."""
        if self.points is None:
            size = float(np.abs(gamma) @ self.scale)
            return self.matrix @ gamma, (self.error + (self.n + 4) * EPS) * size * self.scale
        w, error = self._combined(gamma)
        length = float(np.linalg.norm(w)) * (1 + len(w) * EPS)
        reach = np.sqrt(np.maximum(np.diag(self.matrix), 0.0)) * (1 + 1e-9) + np.asarray(self.moved)
        off = reach * (error + (len(w) + 4) * EPS * length) + np.asarray(self.moved) * (length + error)
        return np.asarray(self.points @ w).ravel(), np.asarray(off)

    def _combined(self, gamma: Array) -> tuple[Array, float]:
        """Σ γ_i x_i as computed, and a bound on its distance from the exact sum."""
        used = np.flatnonzero(gamma)
        points, share = self.points[used], gamma[used]
        w = np.asarray(points.T @ share).ravel()
        sizes = np.asarray(abs(points).T @ np.abs(share)).ravel()
        rounding = (len(used) + 2) * EPS * float(np.linalg.norm(sizes))
        return w, rounding + float(np.abs(share) @ self.moved[used]) * (1 + EPS)  # type: ignore[index]

    @property
    def most_diagonal(self) -> Array:
        """Numbers that the entries of G's diagonal do not exceed, shape (n,)."""
        return np.maximum(np.diag(self.matrix), 0.0) + (self.error + 2 * EPS) * self.scale**2


@dataclass(frozen=True, eq=False)
class Projected:
    """Kernel and offsets under the constraint that the mean output of some points is c and there is no bias.

    Then w is c φ̄ / ‖φ̄‖² and a part orthogonal to the mean φ̄ of these points, whose kernel is ``gram``.  ``offset``,
    shape (n,), is c <φ̄, φ_i> / ‖φ̄‖², and ``square`` is c² / ‖φ̄‖², each with how far it may be off.
    """

    gram: AccurateGram
    offset: Array
    offset_error: Array
    square: float
    square_error: float


class NoMeanError(ValueError):
    """Raised where the mean of some points is zero, or so close to zero that rounding hides its direction."""


def entry_error(kernel: Kernel, X: Points) -> tuple[float, Array]:
    """η and s with |k̃ - k| <= η s_i s_j and |k| <= s_i s_j, without computing more than the diagonal."""
    if isinstance(kernel, DeformedKernel):
        error, most = kernel.bound(X)
        return error, np.sqrt(np.maximum(most, 0.0)) * (1 + 1e-9)
    scale = np.sqrt(np.maximum(kernel.diag(X), 0.0)) * (1 + 1e-9)
    if isinstance(kernel, RBF):
        return _relative_error(kernel, X) + SMALL_ERROR, scale
    known = isinstance(kernel, (Linear, Polynomial, Precomputed))
    return _relative_error(kernel, X) if known else 16 * X.shape[0] * EPS, scale


def _relative_error(kernel: Kernel, X: Points) -> float:
    """η of kernel values; those of an RBF kernel are taken to be computed from differences of points.

    In an RBF kernel it bounds the error of exp(-t) for a scaled squared distance t, as t exp(-t) < 1/2.  In a
    polynomial kernel γ x·z + coef0 is off by at most (d + 3) ε (γ ‖x‖ ‖z‖ + coef0), which the power multiplies by the
    degree.  Values of a kernel function, or of a matrix that is given, are taken as they are: 2 ε.
    """
    d = X.shape[1]
    if isinstance(kernel, Linear):
        return (d + 6) * EPS
    if isinstance(kernel, RBF):
        return (d + 8) * EPS
    return kernel.degree * (d + 8) * EPS if isinstance(kernel, Polynomial) else 2 * EPS


def plain_gram(kernel: Kernel, X: Points) -> AccurateGram:
    """The matrix of k(x_i, x_j); ValueError if it overflows."""
    if isinstance(kernel, Linear):
        return _of_points(X, np.zeros(X.shape[0]))
    if isinstance(kernel, RBF):
        matrix = np.exp(-_distances(kernel, X))
        return AccurateGram(matrix, _distance_error(kernel, X), np.ones(X.shape[0]))
    matrix = np.asarray(X, dtype=float) if isinstance(kernel, Precomputed) else KernelRows(kernel, X).full()
    if not np.isfinite(matrix).all():
        raise ValueError(f"kernel={kernel!r} overflows at these points; scale them")
    matrix = (matrix + matrix.T) / 2
    lift = 0.0
    if not isinstance(kernel, Polynomial):
        # The entries are exact by definition.  If they are not positive semidefinite, as rounding may leave them, the
        # missing multiple of the identity is added.
        values = scipy.linalg.eigvalsh(matrix, check_finite=False)
        lift = max(0.0, 20 * len(matrix) * EPS * float(np.abs(values).max(initial=0.0)) - float(values[0]))
        matrix = matrix + lift * np.eye(len(matrix))
    scale = np.sqrt(np.maximum(np.diag(matrix), 0.0)) * (1 + 1e-9)
    return AccurateGram(matrix, _relative_error(kernel, X), scale, lift=lift)


def shifted_gram(kernel: Kernel, X: Points) -> AccurateGram:
    """A kernel matrix for a free bias: in a linear space the origin is then moved to the mean of the points.

    It stays where it is for sparse points that are too large to be made dense.
    """
    if not isinstance(kernel, Linear) or _too_large(X):
        return plain_gram(kernel, X)
    points = dense(X)
    near = points - points.mean(axis=0)
    # The computed mean is an exact origin, whether or not it is the exact mean: each difference is rounded once.
    return _of_points(near, EPS * np.linalg.norm(near, axis=1))


def centred_gram(kernel: Kernel, X: Points, members: Indices) -> AccurateGram:
    """The kernel with its origin at the mean of some points (chapelle2008 eq. 13)."""
    if isinstance(kernel, Linear) and not _too_large(X):
        points = dense(X)
        near = points - points[members].mean(axis=0)
        mean = near[members].mean(axis=0)
        centred = near - mean
        spread = float(np.linalg.norm(np.abs(near[members]).mean(axis=0)))
        moved = EPS * (np.linalg.norm(near, axis=1) + np.linalg.norm(centred, axis=1) + (len(members) + 4) * spread)
        return _of_points(centred, moved)
    if isinstance(kernel, RBF):
        # k - 1 has the same centred matrix, and keeps its digits where points are near each other: the error of expm1
        # is relative to its value, and the one taken here is larger.
        values = np.expm1(-_distances(kernel, X))
        error, size = _distance_error(kernel, X), float(np.sqrt(np.abs(values).max(initial=0.0)))
        scale, lift = np.full(X.shape[0], size), 0.0
    else:
        plain = plain_gram(kernel, X)
        values, error, scale, lift = plain.matrix, plain.error, plain.scale, plain.lift
    centred = CentredRows(GramRows(values), members).full()
    error += (len(members) + 10) * EPS
    return AccurateGram((centred + centred.T) / 2, error * (1 + 1e-9), scale + scale[members].mean(), lift=lift)


def projected_gram(kernel: Kernel, X: Points, members: Indices, target: float) -> Projected:
    """The kernel without the direction of the mean of some points, whose mean output is to be ``target``.

    NoMeanError is raised if that mean is zero as far as floating point can tell.
    """
    if isinstance(kernel, Linear) and not _too_large(X):
        return _projected_points(dense(X), members, target)
    plain = plain_gram(kernel, X)
    weights = np.zeros(plain.n)
    weights[members] = 1 / len(members)
    return without_direction(plain, weights, target)


def without_direction(gram: AccurateGram, weights: Array, target: float) -> Projected:
    """A kernel without the direction of φ̄ = Σ weights_i φ_i, whose output is to be ``target``; weights >= 0.

    NoMeanError is raised if ‖φ̄‖² is zero as far as floating point can tell.
    """
    mean = gram.matrix @ weights
    square, size = float(weights @ mean), float(weights @ gram.scale)
    error = gram.error + (gram.n + 8) * EPS
    # ‖φ̄‖² is known to a share of error κ², for κ = Σ weights_i s_i / ‖φ̄‖ >= 1.
    if not square > 0 or error * size**2 > 0.01 * square:
        raise NoMeanError("the mean of the points is zero as far as floating point can tell")
    kappa = 1.1 * size / float(np.sqrt(square))
    matrix = gram.matrix - np.outer(mean, mean) / square
    root = 1.1 * float(np.sqrt(square))
    return Projected(
        AccurateGram((matrix + matrix.T) / 2, 1.1 * error * (1 + kappa) ** 2, gram.scale, lift=gram.lift),
        offset=target * mean / square,
        offset_error=1.1 * abs(target) * gram.scale / root * error * (kappa + kappa**2) * 1.3,
        square=target**2 / square,
        square_error=1.1 * target**2 / square * (error * kappa**2 + 4 * EPS),
    )


def _projected_points(X: Array, members: Indices, target: float) -> Projected:
    mean = X[members].mean(axis=0)
    square, d = float(mean @ mean), X.shape[1]
    spread = float(np.linalg.norm(np.abs(X[members]).mean(axis=0)))
    # How far the mean may be off, relative to its length.
    off = (len(members) + 4) * EPS * spread / np.sqrt(square) if square > 0 else np.inf
    if not off < 0.01:
        raise NoMeanError("the mean of the points is zero as far as floating point can tell")
    share = (X @ mean) / square
    lengths = np.linalg.norm(X, axis=1)
    error = (2 * d + 8) * EPS + 4 * off
    points = X - np.outer(share, mean)
    return Projected(
        _of_points(points, lengths * error),
        offset=target * share,
        offset_error=abs(target) * lengths / np.sqrt(square) * error,
        square=target**2 / square,
        square_error=target**2 / square * error,
    )


def _of_points(points: Points, moved: Array) -> AccurateGram:
    matrix = dense(points @ points.T)
    if not np.isfinite(matrix).all():
        raise ValueError("inner products of the points overflow; scale the points")
    error = _relative_error(Linear(), points)
    lengths = np.sqrt(np.maximum(np.diag(matrix), 0.0)) * (1 + 1e-9)
    return AccurateGram((matrix + matrix.T) / 2, error, lengths + moved / error, points, moved)


def _distances(kernel: RBF, X: Points) -> Array:
    if is_sparse(X):
        # Sparse points too large to be made dense: their distances have a small absolute error, not a relative one.
        if _too_large(X):
            return squared_distances(X, X, kernel.gamma)
        X = X.toarray()
    with np.errstate(over="ignore", under="ignore"):
        return scaled_differences(X, X, kernel.gamma)


def _distance_error(kernel: RBF, X: Points) -> float:
    """η of exp(-t) with the t of :func:`_distances`."""
    return _relative_error(kernel, X) + (SMALL_ERROR if _too_large(X) else 0.0)


def _too_large(X: Points) -> bool:
    return bool(is_sparse(X) and X.shape[0] * X.shape[1] > MOST_DENSE_ENTRIES)


def kernel_factor(kernel: Array, tol: float = 1e-13) -> Array:
    """Z with Z Zᵀ = K, by rule, without eigenvalues below ``tol`` times the largest."""
    # NumPy's function is used, as SciPy's keeps all other threads from running, and with them Ctrl-C from working.
    values, basis = in_background(np.linalg.eigh, kernel)
    values, basis = eigenvectors(values, basis, max(1, int(np.sum(values > tol * max(values[-1], 1e-300)))))
    return np.asarray(basis * np.sqrt(np.maximum(values, 0.0)))
