"""Semidefinite programs with many sparse inequalities, approximately, by a factor of low rank.

    min <C, X>  s.t.  <B_k, X> >= b_k,  X_ii = 1 for some rows i,  X ⪰ 0

X = R Rᵀ with some tens of columns (Burer and Monteiro 2003).  The inequalities are in an augmented Lagrangian with
multipliers z >= 0, which is minimized over R by L-BFGS on the spheres of the rows with X_ii = 1; the first row is fixed
to a unit vector.  A step costs as much as one product of C with R and one pass over the entries of the B_k, where the
interior-point method factors a matrix of one row per constraint.  What comes out is neither feasible nor optimal, but
its multipliers are good: a bound that holds is made of them afterwards (see
:mod:`~convex_tsvm.relaxations.signs.quadratic`), and they are where the next problem begins, when constraints have
come and gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ..deadline import time_is_up
from ..problem import Array
from . import _loops


@dataclass(frozen=True, eq=False)
class SparseMatrices:
    """Constraints <B_k, X> >= b_k on a symmetric matrix X: the left side sums f X_ij over the entries (i, j, f) of B_k.

    Entries have i <= j and are sorted by constraint k.
    """

    k: NDArray[np.intp]
    i: NDArray[np.intp]
    j: NDArray[np.intp]
    f: Array
    b: Array

    @property
    def m(self) -> int:
        """Number of constraints."""
        return len(self.b)

    @staticmethod
    def make(entries: Sequence[tuple[ArrayLike, ArrayLike, ArrayLike]], b: ArrayLike) -> SparseMatrices:
        """Constraints with equally many entries: each of ``entries`` is (i, j, f), with arrays of one per constraint.

        Numbers in place of arrays are those of all constraints.
        """
        b = np.atleast_1d(np.asarray(b, dtype=float))
        m, width = len(b), len(entries)
        i, j, f = (
            np.column_stack([np.broadcast_to(np.asarray(entry[part]), m) for entry in entries]).ravel()
            for part in range(3)
        )
        k = np.repeat(np.arange(m), width)
        return SparseMatrices(k, np.minimum(i, j), np.maximum(i, j), f.astype(float), b)

    @staticmethod
    def stack(parts: list[SparseMatrices]) -> SparseMatrices:
        starts = np.cumsum([0, *(part.m for part in parts)])[:-1]
        columns = ((part.k + start, part.i, part.j, part.f, part.b) for part, start in zip(parts, starts, strict=True))
        return SparseMatrices(*map(np.concatenate, zip(*columns, strict=True)))

    def values_of_factor(self, R: Array) -> Array:
        """<B_k, R Rᵀ> of every constraint, from the entries that are used alone."""
        products = np.einsum("ij,ij->i", R[self.i], R[self.j])
        return np.asarray(np.bincount(self.k, self.f * products, minlength=self.m), dtype=float)

    def combine(self, z: Array, n: int) -> Array:
        """Σ z_k B_k."""
        half = np.zeros((n, n))
        np.add.at(half, (self.i, self.j), z[self.k] * self.f / 2)
        return half + half.T


@dataclass(frozen=True, eq=False)
class LowRankPoint:
    """A point of the low-rank method."""

    R: Array  # shape (N, r): X is R Rᵀ
    z: Array  # shape (m,): multipliers of the inequalities
    # Multipliers of X_ii = 1, shape (N,), of either sign, 0 for rows without that constraint; that of the first row
    # makes (C - Σ z_k B_k - Diag(unit)) R zero there.
    unit: Array
    value: float  # <C, X> with the penalty; no bound
    violation: float  # the largest violation of an inequality, relative to the norm of B_k


class LowRankSDP:
    """A semidefinite program in X, shape (N, N), whose C is zero but for its first rows and columns.

    C, shape (c, c), is the leading block of the objective; its first row and column are those of the fixed row.
    ``rows`` are inequalities on X, and ``unit`` the rows i with X_ii = 1; the first row, 0, is one besides.
    """

    def __init__(self, C: Array, rows: SparseMatrices, N: int, unit: NDArray[np.intp]) -> None:
        self.C, self.rows, self.N = C, rows, N
        pairs, self._pair = np.unique(rows.i.astype(np.int64) * N + rows.j, return_inverse=True)
        self._i, self._j = np.divmod(pairs, N)
        # The symmetric matrix with a weight for each pair, on the diagonal twice that; its entries have their pairs.
        ends, others = np.concatenate([self._i, self._j]), np.concatenate([self._j, self._i])
        order = np.argsort(ends, kind="stable")
        starts, self._of_entry = np.searchsorted(ends[order], np.arange(N + 1)), order % len(pairs)
        self._weighted = sparse.csr_array((np.empty(len(ends)), others[order], starts), shape=(N, N))
        squares = rows.f**2 * np.where(rows.i == rows.j, 1.0, 0.5)
        self._norm = np.sqrt(np.maximum(np.bincount(rows.k, squares, rows.m), 1e-300))
        self._f, self._b = rows.f / self._norm[rows.k], rows.b / self._norm
        self._is_unit = np.zeros(N, dtype=bool)
        self._is_unit[unit] = True
        self._value = np.empty(len(pairs))
        self.scale = float(np.abs(np.diag(C)[1:]).mean())

    def solve(
        self, R: Array, z: Array, *, outer: int, inner: int, sigma: float = 1.0, tol: float = 1e-6
    ) -> LowRankPoint:
        """Improve a factor R, shape (N, r), and multipliers z: ``outer`` updates of z, ``inner`` L-BFGS steps for each.

        ``sigma`` is the weight of the penalty, relative to the mean diagonal entry of C for B_k of norm 1; ``tol`` the
        norm of the gradient at which the steps end, relative to that entry times √N.
        """
        weight, z = sigma * self.scale, z * self._norm
        R = self._retracted(R)
        for _ in range(outer):
            R, value, new, unit = self._minimize(R, z, weight, tol * self.scale * np.sqrt(self.N), inner)
            z = new
            if time_is_up():
                break
        slack = self.rows.values_of_factor(R) - self.rows.b
        violation = float(np.maximum(-slack / self._norm, 0.0).max(initial=0.0))
        return LowRankPoint(R, z / self._norm, unit, value, violation)

    def _retracted(self, R: Array) -> Array:
        """R with the rows on their spheres and the first one a unit vector."""
        norm = np.where(self._is_unit, np.sqrt(np.einsum("ij,ij->i", R, R)), 1.0)
        R = R / np.maximum(norm, 1e-300)[:, None]
        R[0] = 0.0
        R[0, 0] = 1.0
        return R

    def _evaluate(self, R: Array, z: Array, sigma: float) -> tuple[float, Array, Array, Array]:
        """The augmented Lagrangian, its gradient along the spheres, new multipliers, and those of X_ii = 1."""
        _loops.products_of_pairs(R, self._i, self._j, self._value)
        slack = np.bincount(self.rows.k, self._f * self._value[self._pair], len(z)) - self._b
        new = np.maximum(z - sigma * slack, 0.0)
        value = float(new @ new - z @ z) / (2 * sigma)
        head = R[: len(self.C)]
        image = self.C @ head
        value += float(np.vdot(image, head))
        G = np.zeros_like(R)
        G[: len(self.C)] = 2 * image
        weight = np.bincount(self._pair, self._f * new[self.rows.k], len(self._value))
        self._weighted.data[:] = weight[self._of_entry]
        G -= self._weighted @ R
        radial = np.einsum("ij,ij->i", G, R)
        radial[1:] *= self._is_unit[1:]
        G -= radial[:, None] * R
        G[0] = 0.0
        return value, G, new, radial / 2

    def _preconditioner(self, R: Array, new: Array, unit: Array, sigma: float) -> tuple[Array, Array]:
        """Inverses of about the second derivative: a matrix for the rows of C, numbers for the others."""
        # For every row about the trace of the penalty's second derivative.
        c, square, i, j = len(self.C), np.einsum("ij,ij->i", R, R), self.rows.i, self.rows.j
        weight = np.where(new > 0, sigma, 0.0)[self.rows.k] * self._f**2
        curvature = np.bincount(i, weight * square[j] * np.where(i == j, 4.0, 1.0), self.N)
        curvature += np.bincount(j, weight * square[i] * (i != j), self.N)
        block = 2 * self.C[1:, 1:] + np.diag(curvature[1:c] + 1e-3 * self.scale)
        try:
            factor = scipy.linalg.cholesky(block, lower=True, check_finite=False)
            inverse = scipy.linalg.lapack.dpotri(factor, lower=1)[0]
            inverse = np.tril(inverse) + np.tril(inverse, -1).T
        except np.linalg.LinAlgError:
            # Rounding has left C far from semidefinite.
            inverse = np.diag(1 / np.maximum(np.abs(np.diag(block)), 1e-300))
        # The other rows have at least some curvature here, a share of the mean diagonal entry of C.
        rest = np.maximum(curvature[c:] - 2 * unit[c:], 0.05 * self.scale)
        return inverse, 1 / rest

    def _minimize(self, R: Array, z: Array, sigma: float, tol: float, steps: int) -> tuple[Array, float, Array, Array]:
        """Steps of preconditioned L-BFGS on the augmented Lagrangian: R, its value, and new multipliers."""
        value, G, new, unit = self._evaluate(R, z, sigma)
        inverse, rest = self._preconditioner(R, new, unit, sigma)
        c = len(self.C)

        def apply(D: Array, R: Array) -> Array:
            found = np.empty_like(D)
            found[0] = 0.0
            np.matmul(inverse, D[1:c], out=found[1:c])
            np.multiply(rest[:, None], D[c:], out=found[c:])
            radial = np.einsum("ij,ij->i", found[c:], R[c:])
            found[c:] -= radial[:, None] * R[c:]
            return found

        history: list[tuple[Array, Array, float]] = []
        scale = 0.5
        for k in range(steps):
            if np.vdot(G, G) <= tol**2:
                break
            way = _two_loops(G, history, lambda D, R=R, scale=scale: scale * apply(D, R))
            slope = np.vdot(way, G)
            if not slope < 0:
                history, way = [], -0.5 * apply(G, R)
                slope = np.vdot(way, G)
            length = 1.0
            for _ in range(12):
                R_new = self._retracted(R + length * way)
                value_new, G_new, new, unit_new = self._evaluate(R_new, z, sigma)
                if value_new <= value + 1e-4 * length * slope + 1e-13 * abs(value):
                    break
                length *= 0.4
            else:
                break
            step, change = R_new - R, G_new - G
            product = float(np.vdot(step, change))
            if product > 1e-10 * np.sqrt(np.vdot(step, step) * np.vdot(change, change)):
                history = [*history[-7:], (step, change, 1 / product)]
                if k < 5:  # later the scale is known, and learning it takes a product with the preconditioner
                    scale = product / max(float(np.vdot(change, apply(change, R_new))), 1e-300)
            R, value, G, unit = R_new, value_new, G_new, unit_new
        _, _, new, unit = self._evaluate(R, z, sigma)
        return R, value, new, unit


def _two_loops(G: Array, history: list[tuple[Array, Array, float]], apply: object) -> Array:
    """The direction of L-BFGS: minus an approximate inverse of the second derivative, times the gradient."""
    way, shares = G.copy(), []
    for step, change, rate in reversed(history):
        share = rate * np.vdot(step, way)
        shares.append(share)
        way -= share * change
    way = apply(way)  # type: ignore[operator]
    for (step, change, rate), share in zip(history, reversed(shares), strict=True):
        way += (share - rate * np.vdot(change, way)) * step
    return -way
