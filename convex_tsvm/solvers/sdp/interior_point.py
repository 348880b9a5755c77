"""Semidefinite programs with many sparse constraints, by a primal-dual interior-point method.

    min <C, X>  s.t.  <B_k, X> - s_k = b_k,  X ⪰ 0,  s >= 0          (s_k = 0 for equations)
    max bᵀ z    s.t.  S = C - Σ z_k B_k ⪰ 0,  z >= 0                 (z_k free for equations)

Newton's method on X S = μ I, z ∘ s = μ in the form of Helmberg, Rendl, Vanderbei and Wolkowicz (1996), Kojima, Shindoh
and Hara (1997) and Monteiro (1997), with Mehrotra's (1992) predictor and corrector.  A cut has at most six entries, so
the matrix of the normal equations is a matter of some entries of X and S⁻¹; the rest is a few Cholesky factors.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ...deadline import time_left
from ...parallel import in_threads, n_threads, one_blas_thread
from ...problem import Array
from .. import _loops
from .sparse_matrices import SparseMatrices

#: The share of the way to the boundary of the cones that the predictor goes.
SHARE_TO_BOUNDARY = 0.98

#: Steps shorter than the first of these bring nothing; after the second number of them in a row the method ends.
SHORT_STEP, SHORT_STEPS = 1e-4, 3


@dataclass(eq=False)
class _Iterate:
    """A primal and a dual point inside their cones; they need not meet the constraints."""

    X: Array
    S: Array
    z: Array
    s: Array

    def moved(self, way: _Iterate, primal: float, dual: float) -> _Iterate:
        return _Iterate(self.X + primal * way.X, self.S + dual * way.S, self.z + dual * way.z, self.s + primal * way.s)


class InteriorPoint:
    """A semidefinite program with an objective <C, X>, C of shape (n, n), and the constraints ``rows``."""

    def __init__(self, C: Array, rows: SparseMatrices) -> None:
        self.C, self.rows, self.signed = C, rows, ~rows.equal
        self.n, self.m = len(C), rows.m
        self.degree = self.n + int(self.signed.sum())
        first = np.searchsorted(rows.k, np.arange(rows.m + 1))
        self._entries = (first, rows.i.astype(np.int32), rows.j.astype(np.int32), rows.f)

    def solve(
        self, tol: float, max_iter: int, start: tuple[Array, Array] | None = None, enough: float = np.inf
    ) -> tuple[Array, Array, str]:
        """Multipliers z, X, and a status, after at most ``max_iter`` steps from ``start``, X and z.

        ``tol`` is the duality gap relative to the value; constraints on X are met to 10⁻³ of its largest entry, or to
        ``tol`` if that is more.  The start should be near the central path, and need not be feasible.  A dual value of
        ``enough`` ends the steps, too.  The status is "optimal", "inaccurate", or "failed" if z is not feasible.
        """
        # Its matrices are small: threads of BLAS wait for each other, and for those of the normal equations.
        with one_blas_thread():
            return self._solve(tol, max_iter, start, enough)

    def _solve(
        self, tol: float, max_iter: int, start: tuple[Array, Array] | None, enough: float
    ) -> tuple[Array, Array, str]:
        at, idle, status, last = self._begin(start), 0, "failed", 0.0
        for _ in range(max_iter):
            lacking_dual = self.C - self.rows.combine(at.z, self.n) - at.S
            lacking = self.rows.b - self.rows.values(at.X) + at.s
            value, gap = float(self.rows.b @ at.z), float((at.X * at.S).sum() + at.z @ at.s)
            is_dual = np.abs(lacking_dual).max() <= 1e-8 * np.abs(self.C).max()
            close = gap <= tol * max(1e-3, abs(value)) and np.abs(lacking).max() <= max(1e-3, tol) * np.abs(at.X).max()
            status = "failed" if not is_dual else "optimal" if close else "inaccurate"
            if is_dual and (close or value >= enough):
                status = "optimal"
                break
            # A step is not begun that would end after the deadline.
            if last > time_left():
                break
            began = time.perf_counter()
            try:
                way, primal, dual = self._step(at, lacking, lacking_dual, gap / self.degree)
            except np.linalg.LinAlgError:
                break
            at, last = at.moved(way, primal, dual), time.perf_counter() - began
            idle = idle + 1 if min(primal, dual) < SHORT_STEP else 0
            if idle >= SHORT_STEPS:
                break
        return at.z, at.X, status

    def _begin(self, start: tuple[Array, Array] | None) -> _Iterate:
        scale = float(np.abs(np.diag(self.C)).mean()) or 1.0
        if start is None:
            X, z = 10 * np.eye(self.n), np.where(self.signed, scale, 0.0)
        else:
            X, z = start
        s = np.where(self.signed, np.maximum(self.rows.values(X) - self.rows.b, 0.1), 0.0)
        S = self.C - self.rows.combine(z, self.n)
        try:
            scipy.linalg.cholesky(S, check_finite=False)
        except np.linalg.LinAlgError:
            S = 10 * scale * np.eye(self.n)
        return _Iterate(X, S, z, s)

    def _step(self, at: _Iterate, lacking: Array, lacking_dual: Array, mu: float) -> tuple[_Iterate, float, float]:
        """A direction, and how far to go in primal and dual."""
        roots = [inverse_root(at.X), inverse_root(at.S)]
        inverse = roots[1].T @ roots[1]
        over_z = np.where(self.signed, 1 / np.where(self.signed, at.z, 1.0), 0.0)
        ratio = at.s * over_z
        solve = self._normal_equations(at.X, inverse, ratio)
        repair = _symmetric(at.X @ lacking_dual @ inverse)

        def direction(target: float, second: Array | float, second_z: Array | float) -> _Iterate:
            fixed = target * inverse - at.X - second
            ds = (target - second_z) * over_z - at.s
            dz = solve(lacking - self.rows.values(fixed - repair) + ds)
            dS = lacking_dual - self.rows.combine(dz, self.n)
            return _Iterate(fixed - _symmetric(at.X @ dS @ inverse), dS, dz, ds - ratio * dz)

        def lengths(way: _Iterate) -> tuple[float, float]:
            primal = min(longest_step(roots[0], way.X), ratio_test(at.s, way.s, self.signed))
            dual = min(longest_step(roots[1], way.S), ratio_test(at.z, way.z, self.signed))
            return primal, dual

        way = direction(0.0, 0.0, 0.0)
        primal, dual = (min(1.0, SHARE_TO_BOUNDARY * length) for length in lengths(way))
        ahead = at.moved(way, primal, dual)
        reached = float((ahead.X * ahead.S).sum() + ahead.z @ ahead.s) / self.degree
        target = min(1.0, max(0.02, max(reached, 0.0) / mu) ** 2 if min(primal, dual) > 0.1 else 0.5) * mu
        way = direction(target, _symmetric(way.X @ way.S @ inverse), way.z * way.s)
        primal, dual = lengths(way)
        share = 0.9 + 0.08 * min(primal, dual, 1.0)
        return way, min(1.0, share * primal), min(1.0, share * dual)

    def _normal_equations(self, X: Array, inverse: Array, ratio: Array) -> Callable[[Array], Array]:
        M = np.zeros((self.m, self.m))
        shares = n_threads() if self.m > 200 else 1
        in_threads(lambda k: _loops.schur_rows(X, inverse, *self._entries, k, shares, M), range(shares))
        M[np.diag_indices(self.m)] += ratio
        scale = 1 / np.sqrt(np.maximum(np.diag(M), 1e-300))
        M *= scale[:, None]
        M *= scale
        M[np.diag_indices(self.m)] += 1e-13
        factor = scipy.linalg.cho_factor(M.T, lower=True, overwrite_a=True, check_finite=False)
        return lambda rhs: scale * scipy.linalg.cho_solve(factor, scale * rhs, check_finite=False)


def _symmetric(A: Array) -> Array:
    return (A + A.T) / 2


def inverse_root(A: Array) -> Array:
    """L⁻¹ for A = L Lᵀ."""
    L = scipy.linalg.cholesky(A, lower=True, check_finite=False)
    return np.asarray(scipy.linalg.lapack.dtrtri(L, lower=1)[0])


def longest_step(root: Array, way: Array) -> float:
    """The longest step along ``way`` up to which a matrix stays positive semidefinite, from the inverse of its root."""
    least = scipy.linalg.eigvalsh(root @ way @ root.T, subset_by_index=[0, 0], check_finite=False)[0]
    return np.inf if least >= 0 else -1 / float(least)


def ratio_test(value: Array, way: Array, signed: NDArray[np.bool_] | bool = True) -> float:
    """The longest step along ``way`` up to which the signed ones of some numbers stay >= 0."""
    falls = signed & (way < 0)
    return float((-value[falls] / way[falls]).min()) if falls.any() else np.inf
