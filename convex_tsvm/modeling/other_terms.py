"""What an objective has besides losses and a sum over weights: as a function of weights and a bias, with planes below.

These are additions, of which some may be differences of convex terms, and a regularizer that is no sum over weights.
"""

from typing import Any

import cvxpy as cp
import numpy as np

from ..formulations import Formulation
from ..formulations.groups import slope_of
from ..problem import Array
from .expressions import added_terms, sizes_of, sum_of, written


class OtherTerms:
    """Convex terms less convex ones, of a point θ: weights along some axes, and then the bias, where it is free.

    Parameters
    ----------
    formulation : Formulation
    X : array, shape (n, d)
        Points from their centre, along the axes.
    axes, centre : array, shape (d, d) and (d,)
    offset : float
        What is added to all outputs.
    free : bool
        Whether the bias is free.
    bend, kink : array, shape (n_theta,)
        The regularizer is Σ ½ bend_j θ_j² + kink_j |θ_j|; all are 0 if it is no such sum.

    Raises
    ------
    ValueError
        If an addition has constraints, nothing says what a difference is never below, or nothing bounds a weight or
        the bias.
    """

    #: By how much ends are wider than a solver says, relatively.
    wider = 1e-4

    def __init__(
        self, formulation: Formulation, X: Array, axes: Array, centre: Array, offset: float, free: bool,
        bend: Array, kink: Array,
    ) -> None:  # fmt: skip
        n, d, additions = *X.shape, formulation.additions
        self.w, self.b, self.f = self._variables = cp.Variable(d), cp.Variable(), cp.Variable(n)
        # (w, b, f) of θ: matrices, and what they are at θ = 0.
        ones = np.ones((1, int(free)))
        self._maps = [
            np.hstack([axes, 0 * ones.repeat(d, axis=0)]),
            np.hstack([-centre @ axes, ones[0]])[None],
            np.hstack([X, ones.repeat(n, axis=0)]),
        ]
        self._at_zero = [np.zeros(d), np.array([offset]), np.full(n, offset)]
        terms, limits = added_terms(additions, self.w, self.b, self.f)
        if limits:
            raise ValueError(f"additions={list(additions)!r}: boxes of weights take terms, and no constraints")
        self._minus: list[Any] = []
        own, least = [], 0.0  # convex terms that are no part of a difference, and what differences are never below
        self._differences = []
        for one, term in zip(additions, terms, strict=True):
            if one.minus is None:
                own.append(term)
            elif one.least is None:
                raise ValueError(f"addition {one.name!r}: searches must be told what it is never below, by least=...")
            else:
                least += one.least
                self._minus.append(one.minus(self.f))
                self._differences.append((one.name, one.least, term - self._minus[-1]))
        if not (bend.any() or kink.any()):
            term, limits = written(formulation.regularizer, self.w)
            if limits:
                raise ValueError(f"regularizer={formulation.regularizer!r}: boxes of weights know no constraints on w")
            terms, own = [*terms, term], [*own, term]
        self._convex = terms
        theta = cp.Variable(len(bend))
        charged = 0.5 * (bend @ cp.square(theta)) + kink @ cp.abs(theta)
        self._room, self._direction = cp.Parameter(), cp.Parameter(len(bend))
        bounding, limits = sum_of([charged, *own]) + least, []
        for one, matrix, at_zero in zip(self._variables, self._maps, self._at_zero, strict=True):
            limits.append(cp.vec(one, order="C") == matrix @ theta + at_zero)
        floor = float(cp.Problem(cp.Minimize(bounding), limits).solve(solver=cp.CLARABEL))
        limits = [bounding <= self._room, *limits]
        self._extent = cp.Problem(cp.Maximize(self._direction @ theta), limits)
        #: Whether terms change with the bias, and have to bound it; else the losses do.
        self.bounds_bias = free and not self._is_flat()
        far = self.reach(floor + 1 + abs(floor)) if np.isfinite(floor) else np.full(len(bend), np.inf)
        if np.isinf(far[: d + self.bounds_bias]).any():
            raise ValueError(
                "boxes of weights need all weights, and a bias that additions are about, to be bounded by the "
                "regularizer and by additions that are no differences; with fit_intercept=False and a constant feature "
                "for the bias it is bounded"
            )

    def _is_flat(self) -> bool:
        """Whether no term changes with the bias near and far: a convex one that is flat somewhere only rises beyond."""
        rng, n = np.random.default_rng(0), self._direction.size
        for theta in rng.normal(size=(8, n)) * np.geomspace(0.1, 100, 8)[:, None]:
            for part in (self._convex, self._minus):
                here, moves = self._value(part, theta), np.outer([1.0, -1.0, 1e4, -1e4], np.eye(n)[-1])
                if any(abs(self._value(part, theta + move) - here) > 1e-6 * (1 + abs(here)) for move in moves):
                    return False
        return True

    def charged(self, theta: Array) -> float:
        """The convex terms at a point."""
        return self._value(self._convex, theta)

    def at(self, theta: Array) -> tuple[float, Array]:
        """The terms at a point, and a subgradient: that of the convex terms less that of those subtracted.

        A ValueError says if a difference is below what it is said to be never below.
        """
        value = self._whole(theta)
        return value, self._plane(self._convex, theta)[1] - self._plane(self._minus, theta)[1]

    def below(self, low: Array, high: Array, theta: Array) -> tuple[float, Array, float]:
        """Constant and slopes of a plane below the terms in a box, and the terms at the point where tangents touch.

        What is subtracted is above its tangent by no more than at a corner of the box, as it is convex.  Errors are
        those of :meth:`at`.
        """
        value = self._whole(theta)
        (constant, slopes), (subtracted, down) = self._plane(self._convex, theta), self._plane(self._minus, theta)
        above = 0.0
        if self._minus:
            for corner in np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(len(low), -1).T:
                above = max(above, self._value(self._minus, corner) - subtracted - float(down @ corner))
        return constant - subtracted - above, slopes - down, value

    def _whole(self, theta: Array) -> float:
        """All terms at a point, which no difference may be too low at."""
        value = self._value(self._convex, theta) - self._value(self._minus, theta)
        for name, least, term in self._differences:
            found = float(term.value)
            if found < least - 1e-6 * (1 + abs(least)):
                raise ValueError(f"addition {name!r}: least={least!r}, but it is {found:.6g} at some weights")
        return value

    def reach(self, room: float) -> Array:
        """Sizes that no coordinate of a point exceeds at which the terms are at most ``room``; infinite for none."""
        self._room.value = room + self.wider * abs(room) + 1e-9
        return sizes_of(self._extent, self._direction) * (1 + self.wider)

    def _value(self, terms: list[Any], theta: Array) -> float:
        """The sum of some terms at a point, which the variables then have."""
        for one, matrix, at_zero in zip(self._variables, self._maps, self._at_zero, strict=True):
            one.value = (matrix @ theta + at_zero).reshape(one.shape)
        return float(sum(np.sum(term.value) for term in terms))

    def _plane(self, terms: list[Any], theta: Array) -> tuple[float, Array]:
        """Constant and slopes of a tangent of their sum at a point, or next to one where CVXPY knows no slope."""
        constant, slopes = 0.0, np.zeros(len(theta))
        for term in terms:
            for near in (0.0, 1e-9, 1e-6):  # relative to 1 and to the point
                at = theta + near * (1 + np.abs(theta)) * np.linspace(0.5, 1.0, len(theta))
                value, found = self._value([term], at), self._grad(term)
                if found is not None:
                    break
            else:
                raise ValueError(f"CVXPY knows no slope of {term} at some weights; norm_inf(w) has one as max(abs(w))")
            constant, slopes = constant + value - float(found @ at), slopes + found
        return constant, slopes

    def _grad(self, term: Any) -> Array | None:
        """A subgradient of a term where the variables are, by θ; None if CVXPY knows none."""
        parts = [slope_of(term, one) for one in self._variables]
        if any(part is None or not np.isfinite(part).all() for part in parts):
            return None
        return np.asarray(sum(part @ matrix for part, matrix in zip(parts, self._maps, strict=True)))
