"""Arithmetic that cannot err on the wrong side: balls of double precision, and matrices in balls of Arb's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

EPS = 2.0**-52  # twice the largest relative error of one operation
MORE = 1 + 1e-10  # covers the rounding of radii, which are short sums of products of numbers >= 0
TINY = 1e-300  # covers underflow
BITS = 192  # of the balls of Arb's


class Refused(Exception):
    """The file does not prove what it claims."""


def demand(condition: Any, message: str) -> None:
    """Refuse the file unless a condition holds."""
    if not condition:
        raise Refused(message)


class Ball:
    """An array of numbers, each within ``rad`` of ``mid``; the result of an operation holds every possible result.

    A sum of k products, in whatever order it is added, is within (k + 1) EPS/2 of the sum of their sizes, relatively.
    """

    __array_ufunc__ = None  # numpy leaves operators to this class

    def __init__(self, mid: Any, rad: Any = 0.0) -> None:
        self.mid = np.asarray(mid, dtype=np.float64)
        self.rad = np.asarray(rad, dtype=np.float64) if np.ndim(mid) == np.ndim(rad) else np.full(np.shape(mid), rad)
        self.size = np.abs(self.mid) + self.rad

    @staticmethod
    def of(value: Any) -> Ball:
        """A ball as it is, and numbers as balls of radius 0."""
        return value if isinstance(value, Ball) else Ball(value)

    @staticmethod
    def rounded(mid: Any, rad: Any, size: Any) -> Ball:
        """A ball around a rounded result: ``rad`` comes from the operands, and ``size`` EPS covers the rounding."""
        return Ball(mid, (rad + EPS * size) * MORE + TINY)

    @staticmethod
    def exact(matrix: Any) -> Ball:
        """Balls that hold those of a matrix of Arb's; refused if numbers are not finite in double precision."""
        from flint import arb

        mid = np.array([float(x.mid()) for x in matrix.entries()])
        demand(np.isfinite(mid).all(), "numbers leave the range of double precision")
        rad = [float((x - arb(m)).abs_upper()) for x, m in zip(matrix.entries(), mid.tolist(), strict=True)]
        shape = (matrix.nrows(), -1) if matrix.ncols() > 1 else (-1,)
        return Ball(mid.reshape(shape), np.array(rad).reshape(shape) * MORE + TINY)

    def __add__(self, other: Any) -> Ball:
        other = Ball.of(other)
        mid = self.mid + other.mid
        return Ball.rounded(mid, self.rad + other.rad, np.abs(mid))

    def __neg__(self) -> Ball:
        return Ball(-self.mid, self.rad)

    def __sub__(self, other: Any) -> Ball:
        return self + -Ball.of(other)

    def __rsub__(self, other: Any) -> Ball:
        return Ball.of(other) - self

    def __mul__(self, other: Any) -> Ball:
        other = Ball.of(other)
        mid = self.mid * other.mid
        return Ball.rounded(mid, self.size * other.rad + self.rad * np.abs(other.mid), np.abs(mid))

    __radd__, __rmul__ = __add__, __mul__

    def __matmul__(self, other: Any) -> Ball:
        other, k = Ball.of(other), self.mid.shape[-1]
        rad = self.size @ other.rad if other.rad.any() else 0.0
        if self.rad.any():
            rad = rad + self.rad @ np.abs(other.mid)
        return Ball.rounded(self.mid @ other.mid, rad, (k + 4) * (self.size @ other.size))

    def __getitem__(self, where: Any) -> Ball:
        return Ball(self.mid[where], self.rad[where])

    def sum(self) -> Ball:
        size = float(np.abs(self.mid).sum())
        return Ball.rounded(math.fsum(self.mid.ravel().tolist()), float(self.rad.sum()), size)

    def per(self, index: Any, n: int, times: float) -> Ball:
        """For every index below n the sum of the entries that have it, which are ``times`` at most."""
        size = np.bincount(index, np.abs(self.mid), n)
        return Ball.rounded(np.bincount(index, self.mid, n), np.bincount(index, self.rad, n), times * size)

    @property
    def low(self) -> Any:
        """Lower ends: no number in the balls is below them."""
        return np.nextafter(self.mid - self.rad, -np.inf)

    @property
    def high(self) -> Any:
        """Upper ends: no number in the balls is above them."""
        return np.nextafter(self.mid + self.rad, np.inf)


def column(values: Any) -> Any:
    """Numbers as a column of Arb's balls."""
    from flint import arb_mat

    return arb_mat([[float(value)] for value in values])


def placed(shape: Any, *parts: tuple[Any, Ball]) -> Ball:
    """Zeros but for parts: where each of them is, and its balls."""
    mid, rad = np.zeros(shape), np.zeros(shape)
    for where, part in parts:
        mid[where], rad[where] = part.mid, part.rad
    return Ball(mid, rad)


def circles(A: Ball) -> Any:
    """Lower ends of Gershgorin's circles of a symmetric matrix: it has no eigenvalue below the least of them."""
    return np.diag(A.low) - (A.size.sum(axis=1) - np.diag(A.size)) * MORE


def above(A: Any, L: Any) -> float:
    """A lower bound of the eigenvalues of A: L Lᵀ has none below 0, and Gershgorin's circles bound those of A - L Lᵀ.

    The difference is in balls of Arb's; where L is nearly a Cholesky factor, it has little off its diagonal.
    """
    from flint import arb_mat

    factor = arb_mat(L.tolist())
    return float(circles(Ball.exact(arb_mat(A.tolist()) - factor * factor.transpose())).min() - TINY)


def definite(K: Any, ball: Ball) -> bool:
    """Whether a matrix of Arb's is proven positive semidefinite; ``ball`` holds it in double precision.

    A Cholesky factor in double precision is wrong by a multiple of n EPS of the largest entry.  So the matrix is
    factored after a shift of that size, and where that proves nothing, as for a least eigenvalue below it, Z K Zᵀ is
    bounded in Arb's arithmetic: with the inverse Z of a factor it is near the identity.
    """
    from flint import arb_mat

    n, largest = len(ball.mid), float(np.diag(ball.mid).max())
    try:
        L = np.linalg.cholesky(ball.mid - (2 * norm(ball.rad) + 4 * n * EPS * largest) * np.eye(n))
        if above(ball.mid, L) >= norm(ball.rad):
            return True
        Z = arb_mat(np.linalg.inv(np.linalg.cholesky(ball.mid)).tolist())
    except np.linalg.LinAlgError:
        return False
    return bool((circles(Ball.exact(Z * K * Z.transpose())) > 0).all())


def norm(off: Any) -> float:
    """An upper bound of the absolute eigenvalues of any symmetric matrix whose absolute entries are at most ``off``."""
    return float(off.sum(axis=1).max()) * MORE


def floor(B: Ball, share: float) -> float:
    """A lower bound of the eigenvalues of a symmetric matrix that is about a share of the least one."""
    part = share * float(np.linalg.eigvalsh(B.mid)[0])
    R = np.linalg.cholesky(B.mid - part * np.eye(len(B.mid)))
    return float(circles(B - Ball(R) @ R.T).min())


def counted(low: Any, high: Any, points: Any, labels: Any, fewest: int, most: int, edge: float) -> Any:
    """Ends of outputs after labels of points are counted, beyond an edge for those that follow; else empty."""
    positive, possible, rest = (labels > 0).sum(), (labels >= 0).sum(), points[labels == 0]
    if positive > most or possible < fewest:
        return np.full(len(low), np.inf), np.full(len(low), -np.inf)
    low, high = low.copy(), high.copy()
    if positive == most:
        high[rest] = np.minimum(high[rest], -edge)
    elif possible == fewest:
        low[rest] = np.maximum(low[rest], edge)
    return low, high


def halved(box: Any, i: int, place: float, sign: int, name: str) -> Any:
    """Ends of the half of a box with one of its variables, which are called by a name, below or above a place."""
    demand(math.isfinite(place), f"{name} {i} is split at {place}")
    low, high = box[0].copy(), box[1].copy()
    if sign < 0:
        high[i] = min(high[i], place)
    else:
        low[i] = max(low[i], place)
    return low, high


def reflected(loss: Any) -> Any:
    """The table (from, to, a, b, c) of a loss of minus the output."""
    return (loss[::-1] * [-1, -1, 1, -1, 1])[:, [1, 0, 2, 3, 4]]


def kept(made: dict[Any, Any], key: Any, make: Any, most: int) -> Any:
    """What was made before under a key, or is made now; the first of more than ``most`` is forgotten."""
    if key not in made:
        if len(made) > most:
            del made[next(iter(made))]
        made[key] = make()
    return made[key]
