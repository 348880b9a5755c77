"""Losses convolved with a density: what continuation narrows (chapelle2008 §4.3 and Figure 6).

The paper's density is a Gaussian, "but other smoothing functions can also be used".  Each is that of a variable z of
mean 0 and variance 1, symmetric, with closed forms of its distribution function and of its first two partial moments:
they are all that a piecewise linear-quadratic loss asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, expit, ndtr, spence

from ..validation import one_of
from .dc import Loss
from .plq import PLQ, Array

#: So many standard deviations away distribution functions and moments are what they tend to, in double precision.
FAR = 1e8


@dataclass(frozen=True)
class Smoothing:
    """A symmetric density of mean 0 and variance 1.

    Attributes
    ----------
    density : callable
    moments : callable
        Integrals of 1, u and u² times the density from -∞ to z.
    """

    density: Callable[[Array], Array]
    moments: Callable[[Array], tuple[Array, Array, Array]]


def _normal(z: Array) -> Array:
    return np.exp(-0.5 * np.square(z)) / np.sqrt(2 * np.pi)


def _normal_moments(z: Array) -> tuple[Array, Array, Array]:
    return ndtr(z), -_normal(z), ndtr(z) - z * _normal(z)


#: A logistic variable of this scale has variance 1.
LOGISTIC_SCALE = np.sqrt(3) / np.pi


def _logistic(z: Array) -> Array:
    p = expit(-np.abs(z) / LOGISTIC_SCALE)
    return p * (1 - p) / LOGISTIC_SCALE


def _logistic_moments(z: Array) -> tuple[Array, Array, Array]:
    # On the left side every term is small; the right side is its mirror image.
    x = -np.minimum(np.abs(z) / LOGISTIC_SCALE, 700.0)
    mass, soft = expit(x), np.log1p(np.exp(x))
    first = LOGISTIC_SCALE * (x * mass - soft)
    second = LOGISTIC_SCALE**2 * (x * x * mass - 2 * x * soft - 2 * spence(1 + np.exp(x)))
    return np.where(z > 0, 1 - mass, mass), first, np.where(z > 0, 1 - second, second)


def _student(z: Array) -> Array:
    return 12 * np.sqrt(2) / (2 * z * z + 4) ** 2.5


def _student_moments(z: Array) -> tuple[Array, Array, Array]:
    t = np.sqrt(2) * z  # Student's variable with four degrees of freedom has variance 2
    root = np.hypot(t, 2.0)
    q = t / root
    return 0.5 + 0.75 * q - 0.25 * q**3, -np.sqrt(8) / root**3, 0.5 * (1 + q**3)


def _uniform(z: Array) -> Array:
    return np.where(np.abs(z) < np.sqrt(3), 1 / np.sqrt(12), 0.0)


def _uniform_moments(z: Array) -> tuple[Array, Array, Array]:
    u = np.clip(z / np.sqrt(3), -1, 1)
    return 0.5 * (1 + u), np.sqrt(3) / 4 * (u * u - 1), 0.5 * (1 + u**3)


#: By name; Student's has four degrees of freedom.
SMOOTHINGS = {
    "gaussian": Smoothing(_normal, _normal_moments),
    "logistic": Smoothing(_logistic, _logistic_moments),
    "student": Smoothing(_student, _student_moments),
    "uniform": Smoothing(_uniform, _uniform_moments),
}


@dataclass(frozen=True)
class Mean:
    """The mean of a loss around each output, E ℓ(t + width · z).

    ``width`` may be an array with one number for each output that the loss is called with.
    """

    loss: Any
    width: Any
    smoothing: Smoothing

    is_smooth = True
    is_convex = False

    @property
    def name(self) -> str:
        return f"smoothed {self.loss.name}"


class Smoothed(Mean):
    """That of a finite PLQ function, in closed form."""

    def __call__(self, t: ArrayLike) -> Array:
        t = np.asarray(t, dtype=float)
        total, sd = np.zeros(np.broadcast(t, self.width).shape), self.width
        for (a, b, c), mass, first, second in self._moments(t):
            total += (a * t * t + b * t + c) * mass + (2 * a * t + b) * sd * first + a * sd * sd * second
        return total

    def derivative(self, t: ArrayLike) -> Array:
        """Slope at ``t``: the mean of the slopes around it."""
        t = np.asarray(t, dtype=float)
        total = np.zeros(np.broadcast(t, self.width).shape)
        for (a, b, _), mass, first, _ in self._moments(t):
            total += (2 * a * t + b) * mass + 2 * a * self.width * first
        return total

    def curvature(self, t: ArrayLike) -> Array:
        """Second derivative at ``t``: the mean of the curvatures around it, to which each kink adds its jump."""
        t = np.asarray(t, dtype=float)
        total = np.zeros(np.broadcast(t, self.width).shape)
        for (a, _, _), mass, _, _ in self._moments(t):
            total += 2 * a * mass
        for at, jump in zip(self.loss.breaks, self.loss.slope_jumps(), strict=True):
            total += jump * self.smoothing.density((at - t) / self.width) / self.width
        return total

    def reflect(self) -> Smoothed:
        return Smoothed(self.loss.reflect(), self.width, self.smoothing)

    def _moments(self, t: Array) -> Iterator[tuple[Any, Array, Array, Array]]:
        """Each piece with the mass, first and second moment that z has on it, seen from ``t``."""
        for piece, left, right in self.loss.spans():
            low, high = (self.smoothing.moments(np.clip((end - t) / self.width, -FAR, FAR)) for end in (left, right))
            yield piece, high[0] - low[0], high[1] - low[1], high[2] - low[2]


class SmoothedExponential(Mean):
    """That of h exp(-s t²), for other densities than a Gaussian: in closed form for the uniform one."""

    def __call__(self, t: ArrayLike) -> Array:
        return self._averaged(self._sum, self.loss, t)

    def derivative(self, t: ArrayLike) -> Array:
        return self._averaged(self.loss, self.loss.derivative, t)

    def curvature(self, t: ArrayLike) -> Array:
        return self._averaged(self.loss.derivative, self.loss.curvature, t)

    def reflect(self) -> SmoothedExponential:
        return self

    def _sum(self, t: Array) -> Array:
        """The integral of the loss up to t, but for a constant."""
        root = np.sqrt(self.loss.s)
        return np.asarray(self.loss.height * np.sqrt(np.pi) / (2 * root) * erf(root * t))

    def _averaged(self, integral: Callable[[Array], Array], values: Callable[[Array], Array], t: ArrayLike) -> Array:
        """The mean of values, or over the interval of the uniform density what their integral gains on it."""
        if self.smoothing is not SMOOTHINGS["uniform"]:
            return self._mean(values, t)
        t, half = np.asarray(t, dtype=float), np.sqrt(3) * np.asarray(self.width)
        return np.asarray((integral(t + half) - integral(t - half)) / (2 * half))

    def _mean(self, values: Callable[[Array], Array], t: ArrayLike) -> Array:
        """By trapezoids, over places of z where the density is narrow, and of the loss where it is wide.

        They converge exponentially: the loss and the densities are analytic around the real line.
        """
        t, root = np.asarray(t, dtype=float), float(np.sqrt(2 * np.max(self.loss.s)))
        widths = np.maximum(np.asarray(self.width, dtype=float), 1e-9)
        narrow, total = np.minimum(widths, 3 / root), 0.0
        v = np.linspace(-10.0, 10.0, 501)  # z = √2 sinh v reaches the tails of the densities
        weights = self.smoothing.density(np.sqrt(2) * np.sinh(v)) * np.sqrt(2) * np.cosh(v) * (v[1] - v[0])
        for z, weight in zip(np.sqrt(2) * np.sinh(v), weights, strict=True):
            total = total + weight * values(t + narrow * z)
        if (widths <= 3 / root).all():
            return np.asarray(total)
        far, u = 0.0, np.linspace(-10.0, 10.0, 101) / float(np.sqrt(2 * np.min(self.loss.s)))
        for place, value in zip(u, values(u), strict=True):
            far = far + value * self.smoothing.density((place - t) / widths) * (u[1] - u[0]) / widths
        return np.where(widths <= 3 / root, total, far)


def smoothed(loss: Loss, width: ArrayLike, smoothing: str = "gaussian") -> Any:
    """The convolution of a loss with a density (chapelle2008 §4.3 and Figure 6).

    Parameters
    ----------
    loss : PLQ, Exponential, or any loss with a method ``smoothed(width, smoothing)``
        A PLQ function must be finite everywhere.
    width : float >= 0, or array with one number for each output
        Standard deviation in units of the output; 0 leaves the loss as it is.
    smoothing : {"gaussian", "logistic", "student", "uniform"}, default "gaussian"
        The density's shape; Student's has four degrees of freedom.

    Raises
    ------
    ValueError
        If the loss is none of these, a width is negative or not finite, or there is no such density.

    Examples
    --------
    >>> [round(float(ct.losses.smoothed(ct.hinge(), 0.5, one)(1.0)), 3) for one in ("gaussian", "uniform")]
    [0.199, 0.217]
    """
    one_of("smoothing", smoothing, tuple(SMOOTHINGS))
    widths = np.asarray(width, dtype=float)
    if not (np.isfinite(widths).all() and (widths >= 0).all()):
        raise ValueError(f"width={width!r} must be finite and >= 0")
    if not widths.any():
        return loss
    if isinstance(loss, PLQ) and loss.is_finite:
        return Smoothed(loss, np.maximum(widths, 1e-9), SMOOTHINGS[smoothing])
    if callable(getattr(loss, "smoothed", None)):
        return loss.smoothed(widths, *([] if smoothing == "gaussian" else [smoothing]))  # type: ignore[attr-defined]
    raise ValueError(f"loss={loss!r} cannot be smoothed; a finite PLQ function or exponential() can")
