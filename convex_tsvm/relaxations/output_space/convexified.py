"""What multipliers of valid inequalities make of the objective: a convex quadratic, and a bound at every point.

With multipliers >= 0 of inequalities that hold for V = v vᵀ in a box, Lagrange's function q_z(v) is nowhere in the box
above q(v).  With those of an SDP relaxation it is convex, and its least value in the box is that relaxation's bound (a
quadratic convex reformulation).  For a smaller box, with more labels known, the inequalities are stronger, so the same
multipliers serve a whole search tree, where every node is a convex quadratic program with one matrix; and since a
convex function is above its tangents, any point v gives a bound by arithmetic alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ...kernels import GramRows
from ...losses import hinge
from ...problem import Array
from ...solvers.cholesky import cholesky
from ...solvers.dual import minimize_quadratic
from ..rounding import EPS, SAFE_ROOM, UNDERFLOW, outward, safe
from ..safe_bounds import least_eigenvalue
from .cuts import Cuts
from .quadratic_program import OutputSpace

#: What is added to the quadratic form before it is inverted, relative to its largest entry.
LIFT = 2.0**-30

#: Relative room that is added to the diagonal of the inverse, in which errors of the form are larger.
INVERSE_ROOM = 2e-3

#: max(0, -t): with costs and slopes for each variable, its dual is the problem in a box.
_SIDES = (hinge().shift(-1),)


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


class Convexified:
    """q with multipliers.

    Parameters
    ----------
    space : OutputSpace
    multipliers : Multipliers
        If they leave the quadratic form indefinite, those of the diagonal are lowered, and then those of the chords
        raised, until it is not; ``multipliers`` holds what is used.

    Attributes
    ----------
    A : array, shape (n, n)
        The quadratic form, positive semidefinite.
    rounding : float
        Norm of what rounding may have done to it.
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

    def bound(self, low: Array, high: Array, v: Array) -> float:
        """What the tangent at ``v`` says, which may be any point: no solution with outputs in the box is below it."""
        b, c = self.terms(low, high)
        image = self.A @ v
        slope = 2 * (image + b)
        least = np.minimum(slope * (low - v), slope * (high - v)).sum()
        value = float(c + v @ image + 2 * b @ v + least)
        return safe(value - self._doubt(low, high, v, b))

    def _doubt(self, low: Array, high: Array, v: Array, b: Array) -> float:
        """A number that the bound is to be lowered by: twice what rounding may have added to it, and some room."""
        space, z, n = self.space, self.multipliers, len(v)
        ends = np.maximum(np.abs(low), np.abs(high))
        far = np.maximum(ends, np.abs(v)) + np.abs(space.search.offset)
        # Of q itself: its inverse, its linear terms and its constant.
        doubt = space.doubt * float(far @ far) + 2 * float(space.linear_error @ ends) + space.constant_error
        # Of the terms: what multipliers give times ends or their products, added up.
        i, j = z.cuts.products[:, 0], z.cuts.products[:, 1]
        weight = z.weights[: len(i)]
        given = float(
            z.diagonal.sum() + z.chord @ ends**2 + z.weights[len(i) :].sum() * 6 + weight @ (ends[i] * ends[j])
        )
        doubt += 4 * self._share * (given + abs(space.constant) + abs(space.search.constant))
        # Of the quadratic form and the evaluation of the tangent.
        size = np.abs(self.A) @ np.abs(v) + np.abs(b)
        evaluated = float(size @ (4 * np.abs(v) + 2 * ends)) + 2 * float(np.abs(b) @ ends)
        doubt += self.rounding * float(ends @ ends) + (n + 8) * EPS * evaluated
        return 2 * doubt + SAFE_ROOM * (given + abs(space.constant) + float(np.abs(v) @ size)) + UNDERFLOW

    def minimize(self, low: Array, high: Array, start: Array | None = None, tol: float = 1e-7) -> Array:
        """v that minimizes q_z in the box."""
        b, _ = self.terms(low, high)
        scale = float(np.abs(np.diag(self.A)).max(initial=0.0))
        found = minimize_quadratic(
            self._rows,
            _SIDES,
            cost=high - low,
            slope=-low,
            offset=2 * b,
            start=None if start is None else np.clip(start, low, high),
            tol=tol * max(scale, 1e-300),
            max_iter=20,
        )
        return np.clip(found.gamma, low, high)

    def consequences(self, low: Array, high: Array, v: Array, cutoff: float) -> tuple[float, Array, Array]:
        """The bound at ``v``, and ends of the outputs of every solution in the box that is below ``cutoff``.

        q_z is above its tangent at v by (· - v)ᵀ A (· - v): an ellipsoid, whose box is closed-form.
        """
        bound = self.bound(low, high, v)
        far = np.maximum(np.abs(low - v), np.abs(high - v))
        radius = (max(cutoff - bound, 0.0) + self._lift * float(far @ far)) * (1 + SAFE_ROOM)
        reach = np.sqrt(radius * self.spread)
        nearest, farthest = outward(v - reach, v + reach)
        return bound, np.maximum(low, nearest), np.minimum(high, farthest)

    def rates(self, low: Array, high: Array, v: Array, where: NDArray[np.intp]) -> Array:
        """By how much the least value in the box rises with the square of a change of an output, for some points.

        As long as the outputs at their ends stay there and the others do not get there, but for the output itself.
        """
        near = 1e-6 * (high - low)
        free = np.flatnonzero((v > low + near) & (v < high - near))
        place = np.full(len(v), -1)
        place[free] = np.arange(len(free))
        factor, _ = cholesky(self.A[np.ix_(free, free)])
        at_end = where[place[where] < 0]
        columns = np.hstack([np.eye(len(free)), self.A[np.ix_(free, at_end)]])
        columns = scipy.linalg.solve_triangular(factor, columns, lower=True, check_finite=False)
        squares = np.einsum("ij,ij->j", columns, columns)
        rates = np.empty(len(v))
        rates[free] = 1 / squares[: len(free)]
        rates[at_end] = np.maximum(np.diag(self.A)[at_end] - squares[len(free) :], 0.0)
        return np.asarray(rates[where])

    @cached_property
    def _rows(self) -> GramRows:
        return GramRows(2 * self.A)

    @property
    def _lift(self) -> float:
        """A multiple of the identity that makes A safe to invert."""
        return LIFT * float(np.abs(np.diag(self.A)).max(initial=0.0))

    @cached_property
    def spread(self) -> Array:
        """Diagonal of the lifted A's inverse, or more: what a unit of bound lets an output move, squared."""
        n = len(self.A)
        lifted = self.A + self._lift * np.eye(n)
        inverse = scipy.linalg.cho_solve(scipy.linalg.cho_factor(lifted), np.eye(n))
        error = float(np.linalg.norm(inverse @ lifted - np.eye(n)))
        error += (n + 8) * EPS * float(np.linalg.norm(np.abs(inverse) @ np.abs(lifted)))
        if not error < 0.5:
            return np.full(n, np.inf)
        spread = np.maximum(np.diag(inverse), 0.0) + 2 * error / (1 - error) * np.linalg.norm(inverse, axis=1)
        return np.asarray(spread * (1 + INVERSE_ROOM))
