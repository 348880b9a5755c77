"""Bounds of boxes for one vector of lent curvatures: a convex problem for each box, and what it proves.

Everything rests on one inequality, for any γ and any outputs g in the box (see :mod:`.curvature`):

    J >= -½ γᵀ M γ + ½ (g_i - ĝ_i)² / M_ii + Σ_j q_j(g_j),

    M = L B⁻¹ Lᵀ,    ĝ = M γ,    q_j(t) = φ_j(t) + ½ d_j t² + γ_j t.

With the least value of each q_j it is the bound.  With q_i as it is, for one i, it says which g_i a solution can have
that is below a cutoff, and how far the bound rises at least where g_i is held to a part of its interval.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ...kernels import GramRows
from ...problem import Array
from ...solvers.dual.working_sets import minimize_quadratic
from ..rounding import EPS, SAFE_ROOM, UNDERFLOW, outward, safe
from ..safe_bounds import least_eigenvalue
from .model import OutputModel
from .quadratics import Quadratics


def invertible(curvature: Array) -> Array:
    """Curvatures that leave a matrix of the regularizer that can be inverted, from those at the limit."""
    return curvature * (1 - 1e-5)


@dataclass(frozen=True, eq=False)
class EnvelopePoint:
    """A dual point for a box."""

    value: float  # a lower bound of the objective in the box
    gamma: Array  # γ
    outputs: Array  # ĝ = M γ
    functions: Quadratics  # q_j on its interval
    least: Array  # their least values
    terms: Array  # the sizes of what q_j adds to φ_j, at the ends of the box
    box: tuple[Array, Array]  # its ends
    losses: Quadratics  # φ_j on its interval

    @cached_property
    def inside(self) -> Array:
        """The outputs, or the nearest ones whose losses are finite."""
        return np.clip(self.outputs, *self.losses.ends())

    @cached_property
    def excess(self) -> Array:
        """How far each output's loss is above what the bound reckons with, at the output."""
        return np.maximum(self.functions.at(self.inside) - self.least, 0.0)

    @cached_property
    def can_split(self) -> NDArray[np.bool_]:
        """Whether a convex stretch of a loss ends in the box, or a piece of it is concave."""
        concave = (self.losses.low < self.losses.high) & (self.losses.a < 0)
        return np.asarray(self.losses.cuts()[1].any(axis=1) | concave.any(axis=1))

    @property
    def misled(self) -> bool:
        """Whether most is lacking at outputs with convex losses, from which old curvatures take too much."""
        if not self.can_split.any():
            return False
        others = float(self.excess[~self.can_split].max(initial=0.0))
        # Curvatures mislead where a loss that is convex lacks more than this many times what any other does.
        return others > 4.0 * float(self.excess[self.can_split].max())

    def split(self) -> tuple[int, float] | None:
        """The output with the largest excess of those that can be split, and the place; None if all losses are convex.

        It is where a convex stretch of the loss ends, nearest to the output, or inside a concave piece at the output.
        """
        score = np.where(self.can_split, self.excess, -1.0)
        i = int(score.argmax())
        if score[i] < 0:
            return None
        at, (places, is_cut) = float(self.inside[i]), (part[i] for part in self.losses.cuts())
        if is_cut.any():
            return i, float(places[np.where(is_cut, np.abs(places - at), np.inf).argmin()])
        low, high = (float(end[i]) for end in self.box)
        # An output is split no nearer to the ends of its interval than this share of it.
        room = 0.1 * (high - low)
        return i, float(np.clip(at, low + room, high - room))


class Curved:
    """The convex problems of boxes, for given curvatures d with I - Lᵀ D L ≻ 0."""

    def __init__(self, model: OutputModel, curvature: Array) -> None:
        self.model, self.curvature = model, curvature
        L = model.factor
        self._form = model.form(curvature)
        self._factor = scipy.linalg.cho_factor(self._form, lower=True)
        half = scipy.linalg.solve_triangular(self._factor[0], L.T, lower=True)
        self.M = half.T @ half
        # Outputs are taken to vary by no less than the root of this.
        self.diagonal = np.maximum(np.diag(self.M), 1e-100) * (1 + SAFE_ROOM)
        least = least_eigenvalue(self._form)
        #: Whether rounding leaves it open that what is left of the regularizer is positive definite: nothing is proven.
        self.is_singular, self._least = least <= 0, max(least, 1e-300)
        self._rows = GramRows(self.M)

    def solve(self, low: Array, high: Array, gamma: Array | None = None, tol: float = 1e-4) -> EnvelopePoint:
        """The best γ for a box with finite ends, from a start where one is given, to ``tol`` in units of outputs."""
        n, none = self.model.n, np.zeros(self.model.n)
        conjugates = self.model.losses.within(low, high).plus(0.5 * self.curvature, none, none).conjugates()
        best = minimize_quadratic(
            self._rows, conjugates, cost=np.ones(n), kind=np.arange(n), start=gamma, tol=tol, max_iter=10
        ).gamma
        if not np.isfinite(best).all():
            # In a box without width rounding may leave the solver nothing: any γ bounds, that of no multipliers at all.
            best = none if gamma is None else gamma
        return self.point(low, high, best)

    def point(self, low: Array, high: Array, gamma: Array) -> EnvelopePoint:
        """The bound that a γ gives for a box; no solver is called."""
        losses = self.model.losses.within(low, high)
        functions = losses.plus(0.5 * self.curvature, gamma, np.zeros(len(gamma)))
        least = functions.least()[0].min(axis=1)
        square = self._most_square(gamma)
        size = float(np.abs(least).sum()) + 0.5 * square
        # Of each minimum: its terms are a few products, at the ends of the box at most.
        far = np.maximum(np.abs(low), np.abs(high))
        terms = 0.5 * np.abs(self.curvature) * far**2 + np.abs(gamma) * far
        doubt = 16 * EPS * (float(terms.sum()) + size) + (self.model.n + 8) * EPS * size
        value = float(least.sum()) - 0.5 * square - 2 * doubt - SAFE_ROOM * size - UNDERFLOW
        return EnvelopePoint(safe(value), gamma, self.M @ gamma, functions, least, terms, (low, high), losses)

    def consequences(self, point: EnvelopePoint, cutoff: float) -> tuple[Array, Array]:
        """Ends of the outputs of solutions in the point's box below ``cutoff``, or beyond it; low > high for none."""
        # q_i + ½ (· - ĝ_i)² / M_ii
        rate = 0.5 / self.diagonal
        around = point.functions.plus(rate, -2 * rate * point.outputs, rate * point.outputs**2)
        lacking = max(cutoff - point.value, 0.0)
        room = SAFE_ROOM * (point.terms + np.abs(point.least) + lacking)
        low, high = around.below(point.least + lacking + room)
        none = low > high
        low, high = outward(np.where(none, 0.0, low), np.where(none, 0.0, high))
        return np.where(none, np.inf, low), np.where(none, -np.inf, high)

    def _most_square(self, gamma: Array) -> float:
        """A number that γᵀ M γ does not exceed, rounding included.

        For any w, pᵀ B⁻¹ p = wᵀ p + wᵀ r + rᵀ B⁻¹ r with r = p - B w.
        """
        L = self.model.factor
        p = L.T @ gamma
        w = scipy.linalg.cho_solve(self._factor, p)
        r = p - self._form @ w
        n = len(p) + len(gamma)
        error = (n + 8) * EPS
        sizes = np.abs(L.T) @ np.abs(gamma) + np.abs(self._form) @ np.abs(w)
        square = float(w @ p) + float(np.abs(w) @ (np.abs(r) + error * sizes))
        left = float(np.linalg.norm(r)) + error * float(np.linalg.norm(sizes))
        square += left**2 / self._least
        return square + error * float(np.abs(w) @ np.abs(p))
