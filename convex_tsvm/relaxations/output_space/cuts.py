"""Inequalities for V = v vᵀ and v outside (-1, 1)ⁿ, in a box: what is added to the SDP relaxation in v-space.

X = [[1, vᵀ], [v, V]] has the constant as row 0; point i is row i + 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...deadline import time_is_up
from ...problem import Array
from ...solvers.sdp.sparse_matrices import SparseMatrices

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Cuts:
    """Products of two ends of outputs, and triangle inequalities."""

    # In columns i, j, and which ends a and b of v_i and v_j (0 low, 1 high): (v_i - a)(v_j - b) >= 0 if both are low
    # or both are high, and <= 0 otherwise (RLT: reformulation and linearization).
    products: Indices
    # In columns rows i, j, k of X and signs s, t:  X_ii + X_jj + X_kk + s X_ij + t X_ik + s t X_jk >= 2.  The left
    # side is ½ Σ (w_a + w_b)² for w = ± v, and two of three numbers outside (-1, 1) share a sign; one of them may be
    # X's constant 1.
    triangles: Indices

    @staticmethod
    def none() -> Cuts:
        """No cuts."""
        return Cuts(np.zeros((0, 4), dtype=np.intp), np.zeros((0, 5), dtype=np.intp))

    @property
    def m(self) -> int:
        """Number of cuts."""
        return len(self.products) + len(self.triangles)

    def are_valid(self, n: int) -> bool:
        """Whether all indices, ends and signs are possible for n points; other numbers could exclude solutions."""
        i, ends = self.products[:, :2], self.products[:, 2:]
        rows, signs = self.triangles[:, :3], self.triangles[:, 3:]
        return bool(
            ((i >= 0) & (i < n)).all()
            and np.isin(ends, (0, 1)).all()
            and ((rows >= 0) & (rows <= n)).all()
            and np.isin(signs, (-1, 1)).all()
        )

    def names(self) -> list[bytes]:
        """A key for every cut, its row of numbers as bytes: products first, then triangles."""
        return [row.tobytes() for row in (*self.products, *self.triangles)]

    def take(self, chosen: NDArray[np.bool_]) -> Cuts:
        """The cuts chosen by a boolean array, shape (m,), products first."""
        return Cuts(self.products[chosen[: len(self.products)]], self.triangles[chosen[len(self.products) :]])

    def join(self, other: Cuts) -> Cuts:
        """The cuts of both sets, without duplicates."""
        return Cuts(
            np.unique(np.vstack([self.products, other.products]), axis=0),
            np.unique(np.vstack([self.triangles, other.triangles]), axis=0),
        )

    def product_terms(self, low: Array, high: Array) -> tuple[Array, Array, Array]:
        """For every product the sign of its inequality (1 for >=, -1 for <=), and its two ends in a box."""
        i, j, first, second = self.products.T
        sign = np.where(first == second, 1.0, -1.0)
        return sign, np.where(first == 1, high[i], low[i]), np.where(second == 1, high[j], low[j])

    def rows(self, low: Array, high: Array) -> SparseMatrices:
        """The cuts as constraints <row, X> >= b, in a box with finite ends."""
        i, j = self.products[:, 0], self.products[:, 1]
        sign, a, b = self.product_terms(low, high)
        zero = np.zeros(len(i), dtype=int)
        products = SparseMatrices.make(
            [(i + 1, j + 1, sign), (zero, j + 1, -sign * a), (zero, i + 1, -sign * b)], -sign * a * b
        )
        i, j, k, s, t = self.triangles.T
        triangles = SparseMatrices.make(
            [(i, i, 1.0), (j, j, 1.0), (k, k, 1.0), (i, j, s), (i, k, t), (j, k, s * t)], np.full(len(i), 2.0)
        )
        return SparseMatrices.stack([products, triangles])


def unit_row() -> SparseMatrices:
    """X_00 <= 1: with it no multiplier is free, which solvers prefer; the relaxation is the same."""
    return SparseMatrices.make([(np.array([0]), np.array([0]), -1.0)], [-1.0])


def diagonal_rows(points: Indices) -> SparseMatrices:
    """V_ii >= 1."""
    return SparseMatrices.make([(points + 1, points + 1, 1.0)], np.ones(len(points)))


def chord_rows(low: Array, high: Array) -> SparseMatrices:
    """V_ii <= (low_i + high_i) v_i - low_i high_i: the chord of the square.

    It is much stronger than V_ii <= max(low_i², high_i²), and with V_ii >= v_i² it implies low_i <= v_i <= high_i.
    """
    i, zero = np.arange(len(low)) + 1, np.zeros(len(low), dtype=int)
    return SparseMatrices.make([(zero, i, low + high), (i, i, -1.0)], low * high)


def violated_products(X: Array, low: Array, high: Array, most: int, tol: float = 1e-3) -> Indices:
    """The products of ends that are most violated, as in :class:`Cuts`."""
    v, V = X[0, 1:], X[1:, 1:]
    i, j = np.triu_indices(len(v), 1)
    slacks, ends = [], ((0, 0), (1, 1), (0, 1), (1, 0))
    for first, second in ends:
        a, b = (high if first else low)[i], (high if second else low)[j]
        slacks.append((1 if first == second else -1) * (V[i, j] - a * v[j] - b * v[i] + a * b))
    slack = np.concatenate(slacks)
    worst = np.argsort(slack)[:most]
    worst = worst[slack[worst] < -tol]
    kind, place = np.divmod(worst, len(i))
    return np.column_stack([i[place], j[place], np.array(ends)[kind].reshape(-1, 2)]).astype(np.intp)


def violated_triangles(X: Array, most: int, tol: float = 1e-3) -> Indices:
    """The triangle inequalities that are most violated, as in :class:`Cuts`; at a deadline, of those seen so far."""
    n = len(X)
    found: list[Array] = []
    n_found, limit, d = 0, -tol, np.diag(X)
    for first in range(n - 2):
        if time_is_up():
            break
        rest = np.arange(first + 1, n)
        own, pairs = X[first, rest], X[np.ix_(rest, rest)]
        base = d[first] + d[rest][:, None] + d[rest] - 2
        for s in (1, -1):
            for t in (1, -1):
                value = base + s * own[:, None] + t * own + s * t * pairs
                a, b = np.nonzero(value < limit)
                a, b = a[a < b], b[a < b]
                if len(a) == 0:
                    continue
                full = np.full(len(a), first)
                block = [value[a, b], full, rest[a], rest[b], np.full(len(a), s), np.full(len(a), t)]
                found.append(np.column_stack(block))
                n_found += len(a)
        if n_found > 4 * most:
            best = _worst(found, most)
            found, n_found, limit = [best], len(best), min(limit, float(best[:, 0].max()))
    if not found:
        return np.zeros((0, 5), dtype=np.intp)
    return _worst(found, most)[:, 1:].astype(np.intp)


def _worst(found: list[Array], most: int) -> Array:
    every = np.vstack(found)
    return every[np.argsort(every[:, 0], kind="stable")[:most]]
