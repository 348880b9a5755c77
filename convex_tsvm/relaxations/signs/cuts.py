"""Inequalities for outputs v outside (-1, 1) and their signs b, and the rows that they are in the matrix of products.

X stands for x xᵀ with x = [1; v; b]: row 0 is the constant, row 1 + i the output of point i, and the rows after these
are the signs of the points whose label is open.  A known label is a constant: in place of its sign it has row 0, with
the label as a factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...problem import Array
from ...solvers import _loops
from ...solvers.sdp import SparseMatrices

Indices = NDArray[np.intp]

#: Most triangle inequalities that are looked at in one round before the worst are chosen.
MOST_SEEN = 200_000


@dataclass(frozen=True, eq=False)
class SignCuts:
    """Triangle inequalities of signs, and products of a margin with a sum of signs.

    In both an index 0 stands for the constant, whose sign is 1, and an index j > 0 for the sign of point j - 1.
    """

    # In columns indices i, j, k and signs s, t:  s b_i b_j + t b_i b_k + s t b_j b_k >= -1, an inequality of the cut
    # polytope (Deza and Laurent 1997), as of three signs two are equal.
    triangles: Indices
    # In columns a point i, an index j and a sign s:  (|v_i| - 1) (1 + s b_i b_j) >= 0, which is
    # v_i b_i + s v_i b_j - 1 - s b_i b_j >= 0.
    margins: Indices

    @staticmethod
    def none() -> SignCuts:
        return SignCuts(np.zeros((0, 5), dtype=np.intp), np.zeros((0, 3), dtype=np.intp))

    @property
    def m(self) -> int:
        """Number of cuts."""
        return len(self.triangles) + len(self.margins)

    def names(self) -> list[bytes]:
        """A key for every cut, its row of numbers as bytes: triangles first, then margins."""
        return [row.tobytes() for row in (*self.triangles, *self.margins)]

    def take(self, chosen: NDArray[np.bool_]) -> SignCuts:
        """The cuts chosen by a boolean array, shape (m,), triangles first."""
        return SignCuts(self.triangles[chosen[: len(self.triangles)]], self.margins[chosen[len(self.triangles) :]])

    def join(self, other: SignCuts) -> SignCuts:
        """The cuts of both sets, without duplicates."""
        return SignCuts(
            np.unique(np.vstack([self.triangles, other.triangles]), axis=0),
            np.unique(np.vstack([self.margins, other.margins]), axis=0),
        )


def gaps_of(total: float | None, count: int) -> tuple[float, float]:
    """How far a sum of ``count`` signs is below and above a number at least, if it is not that number; else 0 and 0."""
    if total is None:
        return 0.0, 0.0
    below = 2 * np.floor((total + count) / 2) - count
    return float(total - below), float(below + 2 - total)


class Layout:
    """Which rows of X are what, for the labels that are known; a point whose label is open has a row for its sign."""

    def __init__(self, labels: Array) -> None:
        self.labels = labels
        self.open = np.flatnonzero(labels == 0)
        self.n, self.u = len(labels), len(self.open)
        self.N = 1 + self.n + self.u
        #: Row and factor of the sign with the index 0 to n.
        self.row = np.zeros(1 + self.n, dtype=np.intp)
        self.row[1 + self.open] = 1 + self.n + np.arange(self.u)
        self.factor = np.concatenate([[1.0], np.where(labels == 0, 1.0, labels)])

    def rows(self, cuts: SignCuts) -> SparseMatrices:
        """Cuts as constraints <row, X> >= b."""
        i, j, k, s, t = cuts.triangles.T
        a, b, c = self.row[i], self.row[j], self.row[k]
        f, g, h = self.factor[i], self.factor[j], self.factor[k]
        triangles = SparseMatrices.make([(a, b, s * f * g), (a, c, t * f * h), (b, c, s * t * g * h)], -np.ones(len(i)))
        i, j, s = cuts.margins.T
        a, b, f, g = self.row[1 + i], self.row[j], self.factor[1 + i], self.factor[j]
        margins = SparseMatrices.make([(1 + i, a, f), (1 + i, b, s * g), (a, b, -s * f * g)], np.ones(len(i)))
        return SparseMatrices.stack([triangles, margins])

    def arcs(self, low: Array, high: Array) -> SparseMatrices:
        """v² is below a chord for each sign, between ends with low <= -1 and high >= 1, for all open points.

        ½ (1 + h)(v + v b) - ½ h (1 + b) + ½ (l - 1)(v - v b) + ½ l (1 - b) - v² >= 0, which is (h - v)(v - 1) where
        b = 1 and (v - l)(-1 - v) where b = -1.
        """
        l, h = low[self.open], high[self.open]
        zero, v, b = np.zeros(self.u, dtype=np.intp), 1 + self.open, self.row[1 + self.open]
        return SparseMatrices.make(
            [(zero, v, (h + l) / 2), (v, b, (2 + h - l) / 2), (zero, b, -(h + l) / 2), (v, v, -1.0)], (h - l) / 2
        )

    def counted(self, members: Indices, total: float | None) -> SparseMatrices:
        """What follows from a sum of outputs, because the sum of their signs is a whole number; one row, or none.

        Σ v = s over the members, and Σ b is one of the whole numbers of their parity.  Let s - p and s + q be those
        next to s.  Where Σ b >= s + q, the margins |v| - 1 of the negative ones add up to q or more; where Σ b <= s - p
        those of the positive ones to p or more.  Either way (mixed-integer rounding, Nemhauser and Wolsey 1990)

            p Σ (|v| - 1) (1 - b) / 2 + q Σ (|v| - 1) (1 + b) / 2 >= p q.
        """
        p, q = gaps_of(total, len(members))
        # A sum of outputs that is nearer to a possible sum of signs says nothing of use.
        if not min(p, q) > 1e-3:
            members = members[:0]
        one, zero = np.ones(len(members)), np.zeros(len(members), dtype=np.intp)
        row, factor = self.row[1 + members], self.factor[1 + members]
        turn = (q - p) / 2
        i = np.concatenate([zero, zero, np.minimum(row, 1 + members)])
        j = np.concatenate([1 + members, row, np.maximum(row, 1 + members)])
        f = np.concatenate([turn * one, -turn * factor, factor])
        m = int(len(members) > 0)
        return SparseMatrices(np.zeros(len(i), dtype=np.intp), i, j, f, np.full(m, len(members) + p * q))

    def own_margins(self) -> SignCuts:
        """(|v_i| - 1)(1 ± b_i) >= 0 of all open points, which are always there."""
        zero = np.zeros(self.u, dtype=np.intp)
        return SignCuts(
            SignCuts.none().triangles, np.vstack([np.column_stack([self.open, zero, zero + s]) for s in (1, -1)])
        )

    def violated(self, X: Array, most: int, tol: float = 1e-3) -> SignCuts:
        """The cuts that X violates most, up to ``most`` of each kind."""
        return SignCuts(self._violated_triangles(X, most, tol), self._violated_margins(X, most, tol))

    def _violated_triangles(self, X: Array, most: int, tol: float) -> Indices:
        index = np.concatenate([[0], 1 + self.open])
        B = np.ascontiguousarray(X[np.ix_(self.row[index], self.row[index])])
        found, value = np.empty((MOST_SEEN, 5), dtype=np.int64), np.empty(MOST_SEEN)
        limit, count = -tol, 0
        for _ in range(20):
            count = _loops.triangles_below(B, limit, found, value)
            if count <= MOST_SEEN:
                break
            # Too many: only those that are further off than a part of what was seen.
            limit = float(np.quantile(value, min(0.5, MOST_SEEN / (2 * count))))
        count = min(count, MOST_SEEN)
        worst = np.argsort(value[:count], kind="stable")[:most]
        cuts = found[worst].astype(np.intp)
        cuts[:, :3] = index[cuts[:, :3]]
        return cuts

    def _violated_margins(self, X: Array, most: int, tol: float) -> Indices:
        index = np.concatenate([[0], 1 + self.open])
        points = np.arange(self.n)
        row, factor = self.row[1:], self.factor[1:]
        size = factor * X[1 + points, row]  # v_i b_i
        with_others = X[1 : 1 + self.n][:, self.row[index]]  # v_i b_j
        signs = factor[:, None] * X[row][:, self.row[index]]  # b_i b_j
        found, values = [], []
        for s in (1, -1):
            value = size[:, None] - 1 + s * (with_others - signs)
            value[self.open, 1 + np.arange(self.u)] = 0.0  # a point with itself
            worst = np.argpartition(value, min(most, value.size - 1), axis=None)[:most]
            worst = worst[value.ravel()[worst] < -tol]
            i, j = np.divmod(worst, len(index))
            found.append(np.column_stack([i, index[j], np.full(len(i), s)]))
            values.append(value.ravel()[worst])
        order = np.argsort(np.concatenate(values), kind="stable")[:most]
        return np.vstack(found)[order].astype(np.intp)
