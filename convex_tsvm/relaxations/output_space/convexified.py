"""What multipliers of valid inequalities make of the objective: a convex quadratic, and a bound at every point.

With multipliers >= 0 of inequalities that hold for V = v vᵀ in a box, Lagrange's function q_z(v) is nowhere in the box
above q(v).  With those of an SDP relaxation it is convex, and its least value in the box is that relaxation's bound (a
quadratic convex reformulation).  For a smaller box, with more labels known, the inequalities are stronger, so the same
multipliers serve a whole search tree, where every node is a convex quadratic program with one matrix; and since a
convex function is above its tangents, any point v gives a bound by arithmetic alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...problem import Array
from ..convex_quadratic import ConvexQuadratic
from ..rounding import EPS
from ..safe_bounds import least_eigenvalue
from .cuts import Cuts
from .quadratic_program import OutputSpace


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Multipliers >= 0 of V_ii >= 1 and of the chords, shape (n,) each, and of cuts, ``weights`` of shape (cuts.m,)."""

    diagonal: Array
    chord: Array
    cuts: Cuts
    weights: Array

    def are_valid(self) -> bool:
        """Whether no multiplier is negative and every cut is a valid inequality; only then do they give a bound."""
        parts = (self.diagonal, self.chord, self.weights)
        return all(bool((part >= 0).all()) for part in parts) and self.cuts.are_valid(len(self.diagonal))

    def carried(self, cuts: Cuts) -> Multipliers:
        """The same multipliers for another set of cuts; a cut that was not there before has the multiplier 0."""
        weights = dict(zip(self.cuts.names(), self.weights, strict=True))
        new = np.array([weights.get(name, 0.0) for name in cuts.names()])
        return Multipliers(self.diagonal, self.chord, cuts, new)

    def scaled(self, factor: float) -> Multipliers:
        """All multipliers times a factor in [0, 1]; with 0 they leave q as it is."""
        return Multipliers(factor * self.diagonal, factor * self.chord, self.cuts, factor * self.weights)


class Convexified(ConvexQuadratic):
    """q with multipliers.

    Parameters
    ----------
    space : OutputSpace
    multipliers : Multipliers
        If they leave the quadratic form indefinite, those of the diagonal are lowered, and then those of the chords
        raised, until it is not; ``multipliers`` holds what is used.

    """

    def __init__(self, space: OutputSpace, multipliers: Multipliers) -> None:
        self.space = space
        n = len(space.C) - 1
        cuts, weights = multipliers.cuts, multipliers.weights
        n_products = len(cuts.products)
        pairs = np.zeros((n, n))
        sign, _, _ = cuts.product_terms(np.zeros(n), np.zeros(n))
        i, j = cuts.products[:, 0], cuts.products[:, 1]
        np.add.at(pairs, (i, j), sign * weights[:n_products] / 2)
        triangles = Cuts(Cuts.none().products, cuts.triangles).rows(np.zeros(n), np.zeros(n))
        own = triangles.combine(weights[n_products:], n + 1)
        self._linear, self._constant = -own[0, 1:], 2 * float(weights[n_products:].sum()) - own[0, 0]
        A = space.C[1:, 1:] - pairs - pairs.T - own[1:, 1:]
        A[np.diag_indices(n)] += multipliers.chord - multipliers.diagonal
        # An entry is a sum of terms of several cuts, and each addition may round it.
        total = float(weights.sum() + multipliers.chord.sum() + multipliers.diagonal.sum())
        self._share = (4 * n + 32) * EPS
        size = float(np.linalg.norm(space.C)) + float(np.linalg.norm(pairs)) + float(np.linalg.norm(own)) + total
        self.rounding = self._share * size
        # The room covers the rounding errors of q and of the form, so that the exact form is positive semidefinite.
        room = 2 * (space.doubt + self.rounding)
        lacking = max(0.0, (room if np.isfinite(room) else 0.0) - least_eigenvalue(A))
        lowered = np.minimum(multipliers.diagonal, lacking)
        A[np.diag_indices(n)] += lacking
        self.A = A
        self.multipliers = Multipliers(
            multipliers.diagonal - lowered, multipliers.chord + (lacking - lowered), cuts, weights
        )

    def terms(self, low: Array, high: Array) -> tuple[Array, float]:
        """b and c of q_z(v) = vᵀ A v + 2 bᵀ v + c in a box."""
        z, n = self.multipliers, len(low)
        i, j = z.cuts.products[:, 0], z.cuts.products[:, 1]
        sign, first, second = z.cuts.product_terms(low, high)
        weight = sign * z.weights[: len(i)]
        b = self.space.C[0, 1:] + self._linear - z.chord * (low + high) / 2
        b = b + (np.bincount(j, weight * first, n) + np.bincount(i, weight * second, n)) / 2
        c = self.space.constant + self._constant + float(z.diagonal.sum()) + float(z.chord @ (low * high))
        return b, c - float(weight @ (first * second))

    def _given(self, ends: Array) -> float:
        z = self.multipliers
        i, j = z.cuts.products[:, 0], z.cuts.products[:, 1]
        weight = z.weights[: len(i)]
        return float(
            z.diagonal.sum() + z.chord @ ends**2 + z.weights[len(i) :].sum() * 6 + weight @ (ends[i] * ends[j])
        )
