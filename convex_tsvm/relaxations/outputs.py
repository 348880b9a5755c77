"""The SDP relaxation in v-space, for the squared hinge (Bai and Yan 2016; Piccialli, Schwiddessen and Sudoso 2024).

With slacks signed as their points, v = f + y ξ, and f minimized out, the S3VM is

    min q(v) = ½ (v - o)ᵀ (G + D)⁻¹ (v - o),  y_i v_i >= 1 (known labels),  v_i² >= 1 (unknown),  D_ii = 1 / (2 c_i),

and V stands for v vᵀ: V ⪰ v vᵀ, V_ii >= 1.  X = [[1, vᵀ], [v, V]] has the constant as row 0; point i is row i + 1.
The value is that of the relaxation in Γ (debie2004 §2, chapelle2008 §3.4); but here a product of two outputs is at
hand, and with it the cuts below.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..losses import squared_hinge
from ..problem import Array
from .labelling import Labelling
from .safe import least_eigenvalue
from .sparse_sdp import Rows


class OutputSpace:
    """The S3VM as a quadratic program in v.

    Attributes
    ----------
    C : array, shape (1 + n, 1 + n)
        q(v) = <C, [1; v] [1; v]ᵀ>.
    inverse : array, shape (n, n)
        G + D.
    """

    def __init__(self, search: Labelling) -> None:
        if not search.loss.isclose(squared_hinge()):
            raise ValueError(f"labeled={search.loss!r}: relaxations in v-space are for the squared hinge")
        if not (search.cost > 0).all():
            raise ValueError("relaxations in v-space need a cost > 0 for every point")
        self.search, n = search, search.n
        self.inverse = search.kernel + np.diag(1 / (2 * search.cost))
        half = scipy.linalg.cho_solve(scipy.linalg.cho_factor(self.inverse), np.eye(n)) / 2
        half = (half + half.T) / 2
        linear = -half @ search.offset
        self.C = np.block([[np.array([[-search.offset @ linear]]), linear[None]], [linear[:, None], half]])

    def value(self, v: Array) -> float:
        """q(v), with the constant of the objective."""
        x = np.concatenate([[1.0], v])
        return float(x @ self.C @ x) + self.search.constant

    def cutoff_box(self, upper: float) -> tuple[Array, Array]:
        """Ends of v_i over q(v) <= upper: an ellipsoid's box."""
        reach = np.sqrt(np.maximum(2 * (upper - self.search.constant), 0.0) * np.diag(self.inverse))
        return self.search.offset - reach, self.search.offset + reach


def settle(low: Array, high: Array, y: Array) -> tuple[Array, Array]:
    """A box without (-1, 1): known labels, and unknown ones that one end settles."""
    low, high = low.copy(), high.copy()
    low[(y > 0) | (low > -1)] = np.maximum(low[(y > 0) | (low > -1)], 1.0)
    high[(y < 0) | (high < 1)] = np.minimum(high[(y < 0) | (high < 1)], -1.0)
    return low, high


def base_rows(n: int, y: Array) -> Rows:
    """X_00 = 1; y_i v_i >= 1 for known labels; V_ii >= 1 for the others."""
    known, unknown = np.flatnonzero(y), np.flatnonzero(y == 0)
    parts = [Rows.make([(np.array([0]), np.array([0]), 1.0)], [1.0], equal=True)]
    if len(known):
        parts.append(Rows.make([(np.zeros(len(known), int), known + 1, y[known])], np.ones(len(known))))
    if len(unknown):
        parts.append(Rows.make([(unknown + 1, unknown + 1, 1.0)], np.ones(len(unknown))))
    return Rows.stack(parts)


def box_rows(low: Array, high: Array) -> Rows:
    """Low_i <= v_i <= high_i, and V_ii <= (low_i + high_i) v_i - low_i high_i: the chord of the square.

    The chord is much stronger than V_ii <= max(low_i², high_i²).
    """
    i = np.arange(len(low)) + 1
    zero = np.zeros(len(low), dtype=int)
    return Rows.stack(
        [
            Rows.make([(zero, i, 1.0)], low),
            Rows.make([(zero, i, -1.0)], -high),
            Rows.make([(zero, i, low + high), (i, i, -1.0)], low * high),
        ]
    )


def violated_products(X: Array, low: Array, high: Array, most: int, tol: float = 1e-3) -> Rows | None:
    """Products of two bounds (RLT: reformulation and linearization), the most violated ones.

    (v_i - low_i)(v_j - low_j) >= 0, (high_i - v_i)(high_j - v_j) >= 0, (v_i - low_i)(high_j - v_j) >= 0.
    """
    v, V = X[0, 1:], X[1:, 1:]
    i, j = np.triu_indices(len(v), 1)
    families: list[tuple[Array, Array, Array, int]] = []
    for left, right, sign in ((low, low, 1), (high, high, 1), (low, high, -1), (high, low, -1)):
        # sign (V_ij - left_i v_j - right_j v_i + left_i right_j) >= 0
        slack = sign * (V[i, j] - left[i] * v[j] - right[j] * v[i] + left[i] * right[j])
        families.append((slack, left, right, sign))
    slacks = np.concatenate([family[0] for family in families])
    worst = np.argsort(slacks)[:most]
    worst = worst[slacks[worst] < -tol]
    if len(worst) == 0:
        return None
    parts = []
    for k, (_, left, right, sign) in enumerate(families):
        own = worst[(worst >= k * len(i)) & (worst < (k + 1) * len(i))] - k * len(i)
        if len(own):
            a, b = i[own], j[own]
            zero = np.zeros(len(own), dtype=int)
            ones = np.full(len(own), float(sign))
            entries = [(a + 1, b + 1, ones), (zero, b + 1, -sign * left[a]), (zero, a + 1, -sign * right[b])]
            parts.append(Rows.make(entries, -sign * left[a] * right[b]))
    return Rows.stack(parts)


def violated_triangles(X: Array, most: int, tol: float = 1e-3) -> Rows | None:
    """V_ii + V_jj + V_kk + s V_ij + t V_ik + s t V_jk >= 2, the most violated ones.

    The left side is ½ Σ (w_a + w_b)² for w = ± v, and two of three numbers outside (-1, 1) share a sign.  The constant
    may be one of the three.
    """
    n = len(X)
    found: list[tuple[float, int, int, int, int, int]] = []
    d = np.diag(X)
    for first in range(n - 2):
        rest = np.arange(first + 1, n)
        own = X[first, rest]
        pairs = X[np.ix_(rest, rest)]
        base = d[first] + d[rest][:, None] + d[rest] - 2
        for s in (1, -1):
            for t in (1, -1):
                value = base + s * own[:, None] + t * own + s * t * pairs
                a, b = np.nonzero(np.triu(value < -tol, 1))
                if len(a) > most:
                    keep = np.argpartition(value[a, b], most)[:most]
                    a, b = a[keep], b[keep]
                found += [(value[p, q], first, rest[p], rest[q], s, t) for p, q in zip(a, b, strict=True)]
        if len(found) > 4 * most:
            found = sorted(found)[:most]
    if not found:
        return None
    i, j, k, s, t = np.array(sorted(found)[:most])[:, 1:].astype(int).T
    entries = [(i, i, 1.0), (j, j, 1.0), (k, k, 1.0), (i, j, s), (i, k, t), (j, k, s * t)]
    return Rows.make(entries, np.full(len(i), 2.0))


def ellipsoid_box(S: Array, slack: float, most: Array) -> tuple[Array, Array]:
    """Ends of v_i over [1; v]ᵀ S [1; v] <= slack, for S ⪰ 0 and v_i² <= most_i.

    What the SDP's multipliers prove: the objective is at least their value plus [1; v]ᵀ S [1; v], so that a point as
    good as the incumbent lies in this ellipsoid; all ends for one factorization.
    """
    A, a = S[1:, 1:], S[0, 1:]
    lift = max(0.0, 1e-9 * float(np.abs(A).max()) - least_eigenvalue(A))
    factor = scipy.linalg.cho_factor(A + lift * np.eye(len(A)))
    inverse = scipy.linalg.cho_solve(factor, np.eye(len(A)))
    centre = -inverse @ a
    radius = max(slack + lift * float(most.sum()) - float(S[0, 0]) - float(a @ centre), 0.0)
    reach = np.sqrt(radius * np.diag(inverse))
    return centre - reach, centre + reach
