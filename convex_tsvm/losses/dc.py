"""Losses that are not piecewise linear-quadratic: convex ones for CVXPY, and convex plus concave parts.

A :class:`~convex_tsvm.losses.PLQ` function splits itself.  A loss that is not piecewise linear-quadratic can still
go through CCCP if its convex part is: only slopes of the concave part are ever needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, xlogy

from ..validation import finite
from .plq import PLQ, Array


@dataclass(frozen=True)
class ConvexLoss:
    """A differentiable convex loss, finite everywhere, with what CVXPY and certificates ask of it.

    A ValueError says if the derivative falls somewhere on a grid over [-5, 5].

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

    def minorant(self, error: float, reach: float = 100.0) -> PLQ:
        """The largest of some tangents: nowhere above the loss, and below it by ``error`` at most.

        Where slopes are finite and asymptotes not, or slopes are infinite, it is so for outputs up to ``reach`` only.

        Examples
        --------
        >>> loss, t = ct.losses.logistic(), np.linspace(-30, 30, 1001)
        >>> below = loss(t) - loss.minorant(0.01)(t)
        >>> bool(below.min() >= -1e-12), bool(below.max() <= 0.01)
        (True, True)
        """
        finite("error", error, above=0)
        nodes = np.linspace(-reach, reach, 3)
        # Asymptotes are tangents, too.
        ends = np.array([slope for slope in self.slopes if np.isfinite(slope)])
        lines = [line for line in zip(ends, -self.conjugate_value(ends), strict=True) if np.isfinite(line[1])]
        while True:
            slope = np.asarray(self.derivative(nodes), dtype=float)
            tangents = np.array([*zip(slope, self(nodes) - slope * nodes, strict=True), *lines])
            b, c = tangents[np.lexsort((tangents[:, 1], tangents[:, 0]))].T
            last = np.append(np.diff(b) > 1e-14 * (1 + np.abs(b[1:])), True)  # of parallel lines the highest
            b, c = b[last], c[last]
            t = (c[:-1] - c[1:]) / np.diff(b)
            missed = self(t) - (b[:-1] * t + c[:-1])
            new = t[(missed > error) & (np.abs(t) <= reach)]
            if len(new) == 0:
                return PLQ(t, np.column_stack([np.zeros(len(b)), b, c])).named(f"minorant of {self.name}")
            nodes = np.sort(np.append(nodes, new))

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


#: Convex losses: what convex steps are made of.
Convex = PLQ | ConvexLoss


@runtime_checkable
class ConcavePart(Protocol):
    """What CCCP asks of a concave part: values and slopes of tangents."""

    def __call__(self, t: ArrayLike) -> Array: ...

    def supergradient(self, t: ArrayLike) -> Array: ...

    def reflect(self) -> ConcavePart: ...


@runtime_checkable
class Loss(Protocol):
    """What a formulation asks of a loss: values, and t → -t."""

    @property
    def name(self) -> str: ...

    def __call__(self, t: ArrayLike) -> Array: ...

    def reflect(self) -> Loss: ...


@runtime_checkable
class SmoothLoss(Loss, Protocol):
    """What the smooth primal asks of a loss besides: slope and curvature."""

    def derivative(self, t: ArrayLike) -> Array: ...

    def curvature(self, t: ArrayLike) -> Array: ...


@runtime_checkable
class SplitLoss(Loss, Protocol):
    """What convex steps ask of a loss besides: its convex part, and a concave one."""

    def split(self) -> tuple[Convex, ConcavePart]: ...


@dataclass(frozen=True)
class SmoothConcave:
    """A differentiable concave function.

    Parameters
    ----------
    value, derivative : callable
        Vectorized functions of t; ``derivative`` must not increase.
    second_derivative : callable, optional
        For Newton steps of the methods on the smooth primal; by differences of the derivative if it is not given.
    expression : callable, optional
        ``expression(cvxpy, t)`` is the function of a CVXPY expression t, by smooth atoms, for ``Formulation.smooth``.

    Examples
    --------
    >>> loss = ct.losses.SmoothConcave(lambda t: -np.square(t), lambda t: -2 * np.asarray(t))
    >>> loss(np.array([1.0, 2.0])), loss.derivative(np.array([1.0, 2.0]))
    (array([-1., -4.]), array([-2., -4.]))
    """

    value: Callable[[Array], Array]
    derivative: Callable[[Array], Array]
    second_derivative: Callable[[Array], Array] | None = None
    expression: Callable[[Any, Any], Any] | None = None

    def __call__(self, t: ArrayLike) -> Array:
        return np.asarray(self.value(np.asarray(t, dtype=float)), dtype=float)

    def __repr__(self) -> str:
        at = ", ".join(f"{float(self(t)):.4g}" for t in (-1.0, 0.0, 1.0))
        return f"<smooth concave function, {at} at -1, 0, 1>"

    def supergradient(self, t: ArrayLike) -> Array:
        """The derivative at ``t``."""
        return np.asarray(self.derivative(np.asarray(t, dtype=float)), dtype=float)

    def curvature(self, t: ArrayLike) -> Array:
        """The second derivative at ``t``, as given or by differences."""
        t = np.asarray(t, dtype=float)
        if self.second_derivative is not None:
            return np.asarray(self.second_derivative(t), dtype=float)
        half = 1e-5  # of the width of a difference
        return (self.supergradient(t + half) - self.supergradient(t - half)) / (2 * half)

    def reflect(self) -> SmoothConcave:
        """t → g(-t)."""
        bend, written = self.second_derivative, self.expression
        return SmoothConcave(
            lambda t: self.value(-t),
            lambda t: -self.derivative(-t),
            None if bend is None else lambda t: bend(-t),
            None if written is None else lambda cvxpy, t: written(cvxpy, -t),
        )


@dataclass(frozen=True)
class DCLoss:
    """A loss that is the sum of a convex and a concave function.

    A ValueError says if a part has the wrong shape (for a smooth part: if its derivative rises somewhere on a grid over
    [-5, 5]).

    Parameters
    ----------
    convex : PLQ or ConvexLoss
        The convex part; with one that is not piecewise linear-quadratic convex steps go through CVXPY.
    concave : PLQ or SmoothConcave
        The concave part.
    name : str, default "dc loss"
        How the loss is called in reports.

    Examples
    --------
    >>> convex, concave = ct.ramp(0.0).split()
    >>> loss = ct.losses.DCLoss(convex, ct.losses.SmoothConcave(concave, concave.derivative))
    >>> loss(np.array([-3.0, 0.5, 2.0]))
    array([1. , 0.5, 0. ])
    """

    convex: Convex
    concave: ConcavePart
    name: str = "dc loss"

    def __post_init__(self) -> None:
        given: Any = self.convex
        if not isinstance(given, (PLQ, ConvexLoss)) or not given.is_convex:
            raise ValueError(f"convex={self.convex!r} must be a convex PLQ function or a ConvexLoss")
        if isinstance(self.concave, PLQ):
            if not self.concave.is_concave:
                raise ValueError(f"concave={self.concave!r} must be a concave PLQ function, finite everywhere")
            return
        slopes = self.concave.supergradient(np.linspace(-5, 5, 1001))
        if not np.isfinite(slopes).all() or np.diff(slopes).max() > 1e-8 * (1 + np.abs(slopes).max()):
            raise ValueError("concave: its derivative must be finite and must not increase")

    def __call__(self, t: ArrayLike) -> Array:
        return self.convex(t) + self.concave(t)

    @property
    def is_finite(self) -> bool:
        """Whether it is finite everywhere."""
        return self.convex.is_finite

    def derivative(self, t: ArrayLike) -> Array:
        """Slope at ``t``; at a kink the mean of both, or a slope of the concave part."""
        t = np.asarray(t, dtype=float)
        return np.asarray(self.convex.derivative(t) + self.concave.supergradient(t))

    def curvature(self, t: ArrayLike) -> Array:
        """Second derivative at ``t``, without that of kinks; ValueError if the concave part has none."""
        bend = getattr(self.concave, "curvature", None)
        if bend is None:
            raise ValueError(f"{self.name}: its concave part has no curvature, which Newton steps need")
        return np.asarray(self.convex.curvature(np.asarray(t, dtype=float)) + bend(t))

    def split(self) -> tuple[Convex, ConcavePart]:
        """The two parts as given."""
        return self.convex, self.concave

    def reflect(self) -> DCLoss:
        """t → f(-t)."""
        return DCLoss(self.convex.reflect(), self.concave.reflect(), f"{self.name}(-t)")
