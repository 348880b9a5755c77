"""Losses that are not piecewise linear-quadratic but smooth: exponential, and annealed.

Annealing is an operation, as smoothing is: it takes a loss and a number that says how much, and gives one with value,
slope and curvature in closed form, which is the loss as it was when that number is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit

from ..validation import finite
from .dc import DCLoss, SmoothConcave
from .plq import PLQ, Array
from .smoothing import SMOOTHINGS, SmoothedExponential

#: The curvature of exp(-s t²) is at most this times s, and that is at t² = 3 / (2 s).
STEEPEST = 4 * np.exp(-1.5)


@dataclass(frozen=True)
class Exponential:
    """h exp(-s t²), the smooth loss of unlabelled points of ∇S3VM (see :func:`exponential`); h is ``height``.

    s and h may be arrays with one number for each output that the loss is called with.
    """

    s: Any
    height: Any = 1.0
    name: str = "exponential"

    #: Methods ask a loss whether it is free of kinks, and whether it is convex.
    is_smooth = True
    is_convex = False

    def __call__(self, t: ArrayLike) -> Array:
        t = np.asarray(t, dtype=float)
        return np.asarray(self.height * np.exp(-self.s * t * t))

    def derivative(self, t: ArrayLike) -> Array:
        t = np.asarray(t, dtype=float)
        return np.asarray(-2 * self.s * t * self(t))

    def curvature(self, t: ArrayLike) -> Array:
        t = np.asarray(t, dtype=float)
        return np.asarray((4 * self.s**2 * t * t - 2 * self.s) * self(t))

    def reflect(self) -> Exponential:
        return self

    def split(self) -> tuple[PLQ, SmoothConcave]:
        """The least parabola that makes the rest concave, and the rest: what CCCP asks for."""
        k = 0.5 * STEEPEST * self.s * self.height
        concave = SmoothConcave(lambda t: self(t) - k * t * t, lambda t: self.derivative(t) - 2 * k * t)
        return PLQ([], [(k, 0.0, 0.0)]), concave

    def minorant(self, error: float) -> PLQ:
        """A PLQ function that is below it by ``error`` at most, and nowhere above it.

        It interpolates on cells by parabolas, which miss it by its third derivative, is zero far out, and is lowered by
        as much as it may be above.

        A ValueError says if s or h is an array.

        Examples
        --------
        >>> loss, t = ct.losses.exponential(), np.linspace(-3, 3, 1001)
        >>> below = loss(t) - loss.minorant(0.01)(t)
        >>> bool(below.min() >= 0), bool(below.max() <= 0.01)
        (True, True)
        """
        if np.ndim(self.s) or np.ndim(self.height):
            raise ValueError(f"{self.name} is several losses, one for each output; a minorant is of one")
        half = 0.5 * finite("error", error, above=0)
        # Half of what may be missed is kept for the ends, where it is cut off, and for rounding.
        far = float(np.sqrt(np.log(max(4 * self.height / half, 2.0)) / self.s))
        # The third derivative of exp(-x² / 2) is at most 1.381, and |x (x - 1) (x + 1)| at most 0.385 for |x| <= 1.
        third = 1.381 * float(2 * self.s) ** 1.5 * self.height
        radius = (0.5 * half / (third * 0.385 / 6)) ** (1 / 3)
        n_cells = 2 * int(np.ceil(far / (2 * radius)))
        nodes = np.linspace(-far, far, 2 * n_cells + 1)
        values = self(nodes)
        values[0] = values[-1] = 0.0
        left, middle, right = values[:-2:2], values[1:-1:2], values[2::2]
        m, r = nodes[1:-1:2], nodes[1] - nodes[0]
        a, slope = (left - 2 * middle + right) / (2 * r * r), (right - left) / (2 * r)
        inner = np.column_stack([a, slope - 2 * a * m, middle - slope * m + a * m * m])
        pieces = np.vstack([np.zeros((1, 3)), inner, np.zeros((1, 3))])
        return (PLQ(nodes[::2], pieces) + (-half)).named(f"minorant of {self.name}")

    def smoothed(self, width: ArrayLike, smoothing: str = "gaussian") -> Any:
        """Its convolution with a density: with a Gaussian exponential again, with others by quadrature."""
        if smoothing != "gaussian":
            return SmoothedExponential(self, np.maximum(width, 1e-6), SMOOTHINGS[smoothing])
        spread = 1 + 2 * self.s * np.square(np.asarray(width, dtype=float))
        return Exponential(self.s / spread, self.height / np.sqrt(spread), f"smoothed {self.name}")


def exponential(s: float = 5.0) -> Exponential:
    """Loss exp(-s t²) of unlabelled points (chapelle2008 eq. 14 and Figure 5).

    s = 5 stands beside the squared hinge loss (chapelle2008 §4.2), s = 3 is what Chapelle and Zien (2005) used
    (collobert2006 §3, Figure 1).  s must be positive.

    Examples
    --------
    >>> ct.losses.exponential()(0.0)
    array(1.)
    """
    s = finite("s", s, above=0)
    return Exponential(s, name=f"exponential({s:g})")


@dataclass(frozen=True)
class Annealed:
    """What an unlabelled point pays when its label is a probability at a temperature (see :func:`annealed`)."""

    loss: PLQ
    temperature: float
    shift: float = 0.0

    is_smooth = True
    is_convex = False

    @property
    def name(self) -> str:
        return f"{self.loss.name} at temperature {self.temperature:g}"

    def probability(self, t: ArrayLike) -> Array:
        """p(t), the best probability of the label +1 (chapelle2008 eq. 8)."""
        return np.asarray(expit(-self._excess(np.asarray(t, dtype=float))))

    def __call__(self, t: ArrayLike) -> Array:
        t = np.asarray(t, dtype=float)
        # The loss of the label -1, less what the choice between both labels gains.
        return np.asarray(self.loss(-t) + self.temperature * log_expit(self._excess(t)))

    def derivative(self, t: ArrayLike) -> Array:
        """Slope at ``t``: that of both labels' losses, with p held where it is best (chapelle2008 §3.3)."""
        t = np.asarray(t, dtype=float)
        p = self.probability(t)
        return np.asarray(p * self.loss.derivative(t) - (1 - p) * self.loss.derivative(-t))

    def curvature(self, t: ArrayLike) -> Array:
        """Second derivative at ``t``: p moves as well, which lowers it."""
        t = np.asarray(t, dtype=float)
        p, apart = self.probability(t), self.loss.derivative(t) + self.loss.derivative(-t)
        bend = p * self.loss.curvature(t) + (1 - p) * self.loss.curvature(-t)
        return np.asarray(bend - p * (1 - p) / self.temperature * apart**2)

    def reflect(self) -> Annealed:
        return Annealed(self.loss.reflect(), self.temperature, self.shift)

    def _excess(self, t: Array) -> Array:
        """By how many temperatures the label +1 costs more than -1."""
        return np.asarray((self.loss(t) - self.loss(-t) - self.shift) / self.temperature)


def annealed(loss: Any, temperature: float, shift: float = 0.0) -> Annealed:
    """min over p of p ℓ(t) + (1 - p) ℓ(-t) - shift p - temperature H(p) (chapelle2008 eq. 8-9, Figure 4).

    Parameters
    ----------
    loss : PLQ
        ℓ, what the label +1 costs at an output; -1 costs ℓ(-t).
    temperature : float > 0
        T in units of C*.  At 0 the loss would be min(ℓ(t), ℓ(-t)).
    shift : float, default 0.0
        ν, the multiplier of a balance of the probabilities, in units of C*.
    """
    if not isinstance(loss, PLQ) or not loss.is_finite:
        raise ValueError(f"loss={loss!r} must be a PLQ function, finite everywhere")
    return Annealed(loss, finite("temperature", temperature, above=0), finite("shift", shift))


def without_convex_kinks(loss: Any, width: float) -> Any:
    """A loss that a descent can follow: each kink that opens upwards becomes a parabola about as wide as ``width``.

    Kinks that open downwards stay: no minimum is at one.  Losses without kinks are returned as they are.
    """
    if isinstance(loss, DCLoss) and isinstance(loss.convex, PLQ):
        smooth = without_convex_kinks(loss.convex, width)
        return loss if smooth is loss.convex else DCLoss(smooth, loss.concave, f"rounded {loss.name}")
    if not isinstance(loss, PLQ) or not loss.is_finite or not (loss.slope_jumps() > 0).any():
        return loss
    convex, concave = loss.split()
    return (convex.rounded(width) + concave).named(f"rounded {loss.name}")
