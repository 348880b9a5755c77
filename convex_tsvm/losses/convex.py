"""Convex losses that are not piecewise linear-quadratic: for CVXPY, since the native solver takes PLQ ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, xlogy

from .plq import PLQ, Array


@dataclass(frozen=True)
class ConvexLoss:
    """A differentiable convex loss, finite everywhere, with what CVXPY and certificates ask of it.

    Parameters
    ----------
    value, derivative, curvature : callable
        Vectorized functions of the output t: the loss and its first two derivatives; the first must not decrease.
    conjugate_value : callable
        Vectorized ℓ*(s), finite for s strictly between ``slopes``.
    slopes : (float, float)
        The infimum and the supremum of the derivative, possibly infinite.
    expression : callable
        ``expression(cvxpy, t)`` is the loss of a CVXPY expression t, with atoms of the module ``cvxpy``.
    name : str, default "convex loss"
        How the loss is called in reports.
    conjugate_expression : callable, optional
        ``conjugate_expression(cvxpy, u, c)`` is c ℓ*(u / c), of CVXPY expressions u and c >= 0, jointly convex: with it
        there is the dual, too.  c is a parameter, by which CVXPY's rules allow no division: atoms such as ``rel_entr``
        take both.

    Raises
    ------
    ValueError
        If the derivative falls somewhere on a grid over [-5, 5].

    Examples
    --------
    >>> round(float(ct.losses.logistic()(0.0)), 4)
    0.6931
    """

    value: Callable[[Array], Array]
    derivative: Callable[[Array], Array]
    curvature: Callable[[Array], Array]
    conjugate_value: Callable[[Array], Array]
    slopes: tuple[float, float]
    expression: Callable[[Any, Any], Any]
    name: str = "convex loss"
    conjugate_expression: Callable[[Any, Any, Any], Any] | None = None

    #: These have the meaning of PLQ's properties of the same names.
    is_convex = True
    is_smooth = True
    is_finite = True
    is_piecewise_linear = False
    domain = (-np.inf, np.inf)

    def __repr__(self) -> str:
        return self.name

    def __post_init__(self) -> None:
        slopes = np.asarray(self.derivative(np.linspace(-5, 5, 1001)), dtype=float)
        if not np.isfinite(slopes).all() or np.diff(slopes).min() < -1e-8 * (1 + np.abs(slopes).max()):
            raise ValueError(f"{self.name}: its derivative must be finite and must not decrease")

    def __call__(self, t: ArrayLike) -> Array:
        return np.asarray(self.value(np.asarray(t, dtype=float)), dtype=float)

    def split(self) -> tuple[ConvexLoss, PLQ]:
        """The loss itself, and no concave part."""
        return self, PLQ([], [(0, 0, 0)])

    def reflect(self) -> ConvexLoss:
        """t → ℓ(-t)."""
        (low, high), written = self.slopes, self.conjugate_expression
        return ConvexLoss(
            value=lambda t: self.value(-t),
            derivative=lambda t: -np.asarray(self.derivative(-t)),
            curvature=lambda t: self.curvature(-t),
            conjugate_value=lambda s: self.conjugate_value(-s),
            slopes=(-high, -low),
            expression=lambda cvxpy, t: self.expression(cvxpy, -t),
            name=f"{self.name}(-t)",
            conjugate_expression=None if written is None else lambda cvxpy, u, c: written(cvxpy, -u, c),
        )

    def conjugate(self) -> ConvexConjugate:
        """ℓ*."""
        return ConvexConjugate(self)

    def prox(self, v: ArrayLike) -> Array:
        """Minimizer of ℓ(t) + (t - v)² / 2, by 80 bisections: t + ℓ'(t) rises."""
        v = np.asarray(v, dtype=float)
        reach = np.abs(np.asarray(self.derivative(v), dtype=float)) + 1e-300
        low, high = v - reach, v + reach
        for _ in range(80):
            middle = (low + high) / 2
            above = middle + self.derivative(middle) > v
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return np.asarray((low + high) / 2)


class ConvexConjugate:
    """The conjugate ℓ* of a convex loss; its domain is taken to be the closed interval of the loss's slopes."""

    def __init__(self, loss: ConvexLoss) -> None:
        self._loss = loss
        self.domain = self.lower, self.upper = loss.slopes

    def __call__(self, s: ArrayLike) -> Array:
        return np.asarray(self._loss.conjugate_value(np.asarray(s, dtype=float)), dtype=float)


def logistic() -> ConvexLoss:
    """Logistic loss log(1 + exp(-t)), for labelled points: what logistic regression pays.

    Examples
    --------
    >>> ct.losses.logistic()(np.array([0.0, 30.0])).round(4)
    array([0.6931, 0.    ])
    """
    return ConvexLoss(
        value=lambda t: np.logaddexp(0.0, -t),
        derivative=lambda t: -expit(-t),
        curvature=lambda t: expit(t) * expit(-t),
        conjugate_value=lambda s: np.asarray(xlogy(-s, -s) + xlogy(1 + s, 1 + s), dtype=float),
        slopes=(-1.0, 0.0),
        expression=lambda cvxpy, t: cvxpy.logistic(-t),
        name="logistic",
        # With α = -u in [0, c]: α log(α / c) + (c - α) log((c - α) / c).
        conjugate_expression=lambda cvxpy, u, c: cvxpy.rel_entr(-u, c) + cvxpy.rel_entr(c + u, c),
    )
