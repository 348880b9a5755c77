"""What multipliers of the inequalities with signs make of the objective: a convex quadratic in outputs and signs.

Every inequality holds for v outside (-1, 1) in a box and b = sign v, so that Lagrange's function is nowhere above the
objective there; and since b² = 1, its multiplier may have either sign.  The quadratic form must be positive
semidefinite in v and the signs together.  Multipliers of a solver make it so nearly; :func:`repaired` does the rest.

The least value of the quadratic in the box is a bound, and it need not be found: since a convex function is above its
tangents, any point gives a bound by arithmetic alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from ...kernels import GramRows
from ...losses import hinge
from ...problem import Array
from ...solvers.dual import minimize_quadratic
from ...solvers.sdp import SparseMatrices
from ..box import labels_of
from ..quadratic_program import OutputSpace
from ..rounding import EPS, SAFE_ROOM, UNDERFLOW, outward, safe
from ..safe_bounds import least_eigenvalue
from .cuts import Layout, SignCuts

#: What the repair adds to the diagonal for outputs, relative to what it adds for signs.  For a sign it costs as much as
#: it adds, for an output about the square of half the width of its ends.
WEIGHT_OF_OUTPUTS = 3e-3


@dataclass(frozen=True, eq=False)
class SignMultipliers:
    """Multipliers of what holds for outputs and signs in a box; all are >= 0 but those of b² = 1."""

    # Labels that were known when they were made, 0 for the points that have a sign.  They may be used in boxes that
    # leave these points no other label.
    labels: Array
    square: Array  # of (high - v)(v - low) >= 0
    unit: Array  # of 1 - b² = 0; it and the one after it are zero for points without a sign
    # Of the chord for each sign (``Layout.arcs``), with the ends that it was made for, since its quadratic form depends
    # on them: low <= -1 and high >= 1.  It holds in any smaller box.
    arc: Array
    arc_low: Array
    arc_high: Array
    cuts: SignCuts
    weights: Array
    count: float = 0.0  # of what follows from a sum of outputs (``Layout.counted``)

    def store(self) -> dict[str, Any]:
        parts = ("labels", "square", "unit", "arc", "arc_low", "arc_high", "weights")
        return {
            **{name: getattr(self, name) for name in parts},
            "triangles": self.cuts.triangles.astype(np.int32).ravel(),
            "margins": self.cuts.margins.astype(np.int32).ravel(),
            "count": np.array([self.count]),
        }

    @staticmethod
    def read(arrays: dict[str, Any]) -> SignMultipliers:
        rest = dict(arrays)
        cuts = SignCuts(
            rest.pop("triangles").astype(np.intp).reshape(-1, 5), rest.pop("margins").astype(np.intp).reshape(-1, 3)
        )
        return SignMultipliers(**{**rest, "count": float(rest["count"][0])}, cuts=cuts)

    def without_zeros(self) -> SignMultipliers:
        """The same without cuts whose multiplier is zero."""
        used = self.weights > 0
        return replace(self, cuts=self.cuts.take(used), weights=self.weights[used])

    def hold_in(self, low: Array, high: Array) -> bool:
        """Whether the labels and the ends of the arcs are those of a box that contains this one."""
        known, arcs = self.labels != 0, self.arc > 0
        return bool(
            (labels_of(low, high)[known] == self.labels[known]).all()
            and (self.arc_low[arcs] <= low[arcs]).all()
            and (self.arc_high[arcs] >= high[arcs]).all()
        )

    def scaled(self, factor: float) -> SignMultipliers:
        """Multipliers times a factor in [0, 1]."""
        parts = ("square", "unit", "arc", "weights", "count")
        return replace(self, **{name: factor * getattr(self, name) for name in parts})

    def lifted(self, amount: float, outputs: float = WEIGHT_OF_OUTPUTS) -> SignMultipliers:
        """The quadratic form with ``amount`` more on the diagonal for signs, and a share of it for outputs."""
        return replace(
            self,
            unit=self.unit + amount * (self.labels == 0),
            square=self.square + outputs * amount,
        )


class SignQuadratic:
    """xᵀ A x + 2 bᵀ x + c: q with multipliers of inequalities with signs, x the outputs and the signs of open points.

    If the multipliers leave A indefinite, they are lifted until it is not; b and c depend on the box.
    """

    def __init__(self, space: OutputSpace, multipliers: SignMultipliers) -> None:
        self.space = space
        self.layout = layout = Layout(multipliers.labels)
        n, N = layout.n, layout.N
        z, open_ = multipliers, layout.open
        counted = layout.counted(np.flatnonzero(space.search.summed), space.search.target_sum)
        rows = SparseMatrices.stack([layout.rows(z.cuts), layout.arcs(z.arc_low, z.arc_high), counted])
        weights = np.concatenate([z.weights, z.arc[open_], np.full(counted.m, z.count)])
        own = rows.combine(weights, N)
        S = -own
        S[: n + 1, : n + 1] += space.C
        # The rest is diagonal.
        S[1 + np.arange(n), 1 + np.arange(n)] += z.square
        signs = layout.row[1 + open_]
        S[signs, signs] += z.unit[open_]
        self._fixed_linear, self._fixed = S[0, 1:].copy(), float(rows.b @ weights) + float(S[0, 0])
        A = S[1:, 1:]
        factor = np.abs(rows.f) * np.abs(weights)[rows.k]
        total = float(factor.sum() + np.abs(rows.b) @ np.abs(weights))
        total += float((z.square + np.abs(z.unit)).sum())
        # An entry is a sum of terms of several cuts, and each addition may round it.
        self._share = (4 * n + 32) * EPS
        self._size_of_fixed = total
        self.rounding = self._share * (float(np.linalg.norm(space.C)) + float(np.linalg.norm(own)) + total)
        room = 2 * (space.doubt + self.rounding)
        self.A, lift = repaired(A, n, room if np.isfinite(room) else 0.0)
        self.multipliers = z.lifted(lift)

    def ends(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Ends of all variables, shape (N,), in a box of outputs."""
        labels = labels_of(low, high)[self.layout.open]
        return (
            np.concatenate([low, np.where(labels > 0, 1.0, -1.0)]),
            np.concatenate([high, np.where(labels < 0, -1.0, 1.0)]),
        )

    def outputs_from(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Ends of the outputs, shape (n,), from ends of all variables."""
        n, open_ = self.layout.n, self.layout.open
        least, most = low[:n].copy(), high[:n].copy()
        negative, positive = open_[high[n:] < 1], open_[low[n:] > -1]
        most[negative] = np.minimum(most[negative], -1.0)
        least[positive] = np.maximum(least[positive], 1.0)
        return least, most

    def terms(self, low: Array, high: Array) -> tuple[Array, float]:
        """b and c in a box of outputs."""
        z, open_, n = self.multipliers, self.layout.open, self.layout.n
        linear, constant = self._fixed_linear.copy(), self.space.constant + self._fixed
        linear[:n] -= z.square * (low + high) / 2
        constant += float(z.square @ (low * high)) - float(z.unit[open_].sum())
        return linear, constant

    def _given(self, ends: Array) -> float:
        """The sum of the sizes of what multipliers add to b and c, for outputs up to ``ends`` in size."""
        z = self.multipliers
        given = float(z.square @ ends**2 + np.abs(z.unit).sum())
        return given + 2 * self._size_of_fixed * float(1 + ends.max(initial=0.0))

    def bound(self, low: Array, high: Array, x: Array) -> float:
        """What the tangent at ``x`` says, which may be any point: no solution with outputs in the box is below it."""
        least, most = self.ends(low, high)
        b, c = self.terms(low, high)
        image = self.A @ x
        slope = 2 * (image + b)
        lowest = np.minimum(slope * (least - x), slope * (most - x)).sum()
        value = float(c + x @ image + 2 * b @ x + lowest)
        return safe(value - self._doubt(least, most, x, b))

    def _doubt(self, least: Array, most: Array, x: Array, b: Array) -> float:
        """A number that the bound is to be lowered by: twice what rounding may have added to it, and some room."""
        space, n = self.space, self.space.search.n
        ends = np.maximum(np.abs(least), np.abs(most))
        far = np.maximum(ends[:n], np.abs(x[:n])) + np.abs(space.search.offset)
        # Of q itself: its inverse, its linear terms and its constant.
        doubt = space.doubt * float(far @ far) + 2 * float(space.linear_error @ ends[:n]) + space.constant_error
        # Of the terms: what multipliers give times ends or their products, added up.
        given = self._given(ends[:n])
        doubt += 4 * self._share * (given + abs(space.constant) + abs(space.search.constant))
        # Of the quadratic form and the evaluation of the tangent.
        size = np.abs(self.A) @ np.abs(x) + np.abs(b)
        evaluated = float(size @ (4 * np.abs(x) + 2 * ends)) + 2 * float(np.abs(b) @ ends)
        doubt += self.rounding * float(ends @ ends) + (len(x) + 8) * EPS * evaluated
        return 2 * doubt + SAFE_ROOM * (given + abs(space.constant) + float(np.abs(x) @ size)) + UNDERFLOW

    def minimize(self, low: Array, high: Array, start: Array | None = None, tol: float = 1e-7) -> Array:
        """x that minimizes the quadratic in the box, shape (N,)."""
        least, most = self.ends(low, high)
        b, _ = self.terms(low, high)
        free = np.flatnonzero(most > least)
        x = least.copy()
        rows = self._rows
        if len(free) < len(x):
            b = b + self.A @ np.where(most > least, 0.0, x)
            rows = GramRows(2 * self.A[np.ix_(free, free)])
        scale = float(np.abs(np.diag(self.A)).max(initial=0.0))
        if start is not None and len(start) != len(x):
            start = None  # a search that is taken up again has the outputs alone
        found = minimize_quadratic(
            rows,
            # max(0, -t): with costs and slopes for each variable, its dual is the problem in a box.
            (hinge().shift(-1),),
            cost=(most - least)[free],
            slope=-least[free],
            offset=2 * b[free],
            start=None if start is None else np.clip(start, least, most)[free],
            tol=tol * max(scale, 1e-300),
            max_iter=20,
        )
        x[free] = np.clip(found.gamma, least[free], most[free])
        return x

    def consequences(self, low: Array, high: Array, x: Array, cutoff: float) -> tuple[float, Array, Array]:
        """The bound at ``x``, and ends of the outputs of every solution in the box that is below ``cutoff``.

        The quadratic is above its tangent at x by (· - x)ᵀ A (· - x): an ellipsoid, whose box is closed-form.
        """
        bound = self.bound(low, high, x)
        least, most = self.ends(low, high)
        far = np.maximum(np.abs(least - x), np.abs(most - x))
        radius = (max(cutoff - bound, 0.0) + self._lift * float(far @ far)) * (1 + SAFE_ROOM)
        reach = np.sqrt(radius * self.spread)
        nearest, farthest = outward(x - reach, x + reach)
        return bound, *self.outputs_from(np.maximum(least, nearest), np.minimum(most, farthest))

    @cached_property
    def _rows(self) -> GramRows:
        return GramRows(2 * self.A)

    @property
    def _lift(self) -> float:
        """A multiple of the identity that makes A safe to invert."""
        # What is added to the quadratic form before it is inverted, relative to its largest entry.
        return (2.0**-30) * float(np.abs(np.diag(self.A)).max(initial=0.0))

    @cached_property
    def spread(self) -> Array:
        """Diagonal of the lifted A's inverse, or more: what a unit of bound lets a variable move, squared."""
        n = len(self.A)
        lifted = self.A + self._lift * np.eye(n)
        inverse = scipy.linalg.cho_solve(scipy.linalg.cho_factor(lifted), np.eye(n))
        error = float(np.linalg.norm(inverse @ lifted - np.eye(n)))
        error += (n + 8) * EPS * float(np.linalg.norm(np.abs(inverse) @ np.abs(lifted)))
        if not error < 0.5:
            return np.full(n, np.inf)
        spread = np.maximum(np.diag(inverse), 0.0) + 2 * error / (1 - error) * np.linalg.norm(inverse, axis=1)
        # Relative room that is added to the diagonal of the inverse, in which errors of the form are larger.
        return np.asarray(spread * (1 + 2e-3))


def repaired(A: Array, n: int, room: float) -> tuple[Array, float]:
    """A with enough on its diagonal to be positive semidefinite with ``room`` besides, and how much that is for signs.

    For outputs, the first n rows, it is :data:`WEIGHT_OF_OUTPUTS` of that.
    """
    weight = np.ones(len(A))
    weight[:n] = WEIGHT_OF_OUTPUTS
    if _is_positive(A, room):
        return A, 0.0
    root = 1 / np.sqrt(weight)
    scaled = A * root * root[:, None]
    scaled[np.diag_indices(len(A))] -= room * root**2
    lift = max(0.0, -least_eigenvalue(scaled) * (1 + 1e-9))
    while True:
        made = A.copy()
        made[np.diag_indices(len(A))] += lift * weight
        if _is_positive(made, room):
            return made, lift
        lift = max(2 * lift, room, 1e-15 * float(np.abs(np.diag(A)).max(initial=0.0)))


def _is_positive(A: Array, room: float) -> bool:
    """Whether A less ``room`` on its diagonal is positive semidefinite for certain.

    A Cholesky factorization in floating point that succeeds with a little more taken off shows it (Rump 2006).
    """
    n = len(A)
    lower = room * (1 + 1e-9) + 2 * (n + 2) * EPS * float(np.abs(np.diag(A)).sum())
    shifted = A.copy()
    shifted[np.diag_indices(n)] -= lower
    try:
        scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return False
    return True
