"""Convex quadratics below an objective: what multipliers of valid inequalities make of it, and a bound at every point.

With multipliers >= 0 of inequalities that hold for all solutions with outputs in a box, Lagrange's function is nowhere
among them above the objective.  Where it is convex, its least value in the box is a bound, and it need not be found:
since a convex function is above its tangents, any point gives a bound by arithmetic alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ..kernels import GramRows
from ..losses import hinge
from ..problem import Array
from ..solvers.cholesky import cholesky
from ..solvers.dual import minimize_quadratic
from .rounding import EPS, SAFE_ROOM, UNDERFLOW, outward, safe

if TYPE_CHECKING:
    from .quadratic_program import OutputSpace

#: max(0, -t): with costs and slopes for each variable, its dual is the problem in a box.
_SIDES = (hinge().shift(-1),)


class ConvexQuadratic(ABC):
    """xᵀ A x + 2 bᵀ x + c, whose variables x are the n outputs v, and then others if a subclass has any.

    A subclass says which ends x has in a box of outputs, and what b and c are there.
    """

    space: OutputSpace
    A: Array  # the quadratic form, positive semidefinite
    rounding: float  # norm of what rounding may have done to it
    #: Relative rounding error of a sum of multipliers.
    _share: float

    @abstractmethod
    def terms(self, low: Array, high: Array) -> tuple[Array, float]:
        """b and c in a box of outputs."""

    @abstractmethod
    def _given(self, ends: Array) -> float:
        """The sum of the sizes of what multipliers add to b and c, for outputs up to ``ends`` in size."""

    def ends(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Ends of all variables, shape (N,), in a box of outputs."""
        return low, high

    def outputs_from(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Ends of the outputs, shape (n,), from ends of all variables."""
        return low, high

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
            _SIDES,
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

    def rates(self, low: Array, high: Array, x: Array, where: NDArray[np.intp]) -> Array:
        """By how much the least value in the box rises with the square of a change of a variable, for some of them.

        As long as the variables at their ends stay there and the others do not get there, but for the one itself.
        """
        least, most = self.ends(low, high)
        near = 1e-6 * (most - least)
        free = np.flatnonzero((x > least + near) & (x < most - near))
        place = np.full(len(x), -1)
        place[free] = np.arange(len(free))
        factor, _ = cholesky(self.A[np.ix_(free, free)])
        at_end = where[place[where] < 0]
        columns = np.hstack([np.eye(len(free)), self.A[np.ix_(free, at_end)]])
        columns = scipy.linalg.solve_triangular(factor, columns, lower=True, check_finite=False)
        squares = np.einsum("ij,ij->j", columns, columns)
        rates = np.empty(len(x))
        rates[free] = 1 / squares[: len(free)]
        rates[at_end] = np.maximum(np.diag(self.A)[at_end] - squares[len(free) :], 0.0)
        return np.asarray(rates[where])

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
