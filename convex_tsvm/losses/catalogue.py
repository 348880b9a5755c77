"""The losses of the five papers, each a PLQ function of the output t (of y t, for labelled points).

H_s(t) = max(0, s - t) is the hinge at s, R_s = H_1 - H_s the ramp; a loss of |t| is for unlabelled points.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import ParamSpec

import numpy as np
from numpy.typing import ArrayLike

from ..validation import finite
from .plq import PLQ, Array

P = ParamSpec("P")


def _kept(make: Callable[P, PLQ]) -> Callable[P, PLQ]:
    """The same object for the same arguments, so that what is derived from a loss is derived once; it knows them."""

    def made(*args: P.args, **kwargs: P.kwargs) -> PLQ:
        loss = make(*args, **kwargs)
        given = inspect.signature(make).bind(*args, **kwargs)
        given.apply_defaults()
        loss.made_by = (make.__name__, given.arguments)
        return loss

    kept = lru_cache(maxsize=64, typed=True)(made)

    @wraps(make)
    def function(*args: P.args, **kwargs: P.kwargs) -> PLQ:
        try:
            return kept(*args, **kwargs)  # type: ignore[arg-type]
        except TypeError:  # what has no hash is no number, as the function says itself
            return make(*args, **kwargs)

    return function


def remade(loss: PLQ, **changes: float) -> PLQ:
    """A loss of the catalogue with other numbers."""
    if loss.made_by is None:
        raise ValueError(f"{loss!r} does not come from the catalogue, and its numbers have no names")
    name, given = loss.made_by
    made: PLQ = globals()[name](**given | changes)
    return made


@_kept
def hinge(s: float = 1.0) -> PLQ:
    """Hinge loss H_s(t) = max(0, s - t); s = 1 is the SVM's (collobert2006 §2, eq. 1).

    Examples
    --------
    >>> ct.hinge()(np.array([-1.0, 0.0, 2.0]))
    array([2., 1., 0.])
    >>> ct.hinge().conjugate()
    PLQ: t on [-1, 0]
    """
    s = finite("s", s)
    return PLQ([s], [(0, -1, s), (0, 0, 0)], name="hinge" if s == 1 else f"hinge({s:g})")


@_kept
def huber_hinge(width: float = 0.1) -> PLQ:
    """The hinge loss with its kink rounded to a parabola from 1 - ``width`` to 1 (sindhwani2006 §1.2.4).

    It has a slope everywhere, so that finite Newton steps and the smooth primal take it.

    Examples
    --------
    >>> ct.losses.huber_hinge(0.5)(np.array([0.0, 0.5, 0.75]))
    array([0.75  , 0.25  , 0.0625])
    """
    return hinge().rounded(finite("width", width, above=0)).named(f"huber_hinge({width:g})")


@_kept
def squared_hinge() -> PLQ:
    """Squared hinge loss max(0, 1 - t)² (chapelle2008 eq. 2 with p = 2).

    Examples
    --------
    >>> ct.squared_hinge()(np.array([-1.0, 0.0, 2.0]))
    array([4., 1., 0.])
    """
    return PLQ([1], [(1, -2, 1), (0, 0, 0)], name="squared_hinge")


@_kept
def epsilon_insensitive(epsilon: float) -> PLQ:
    """ε-insensitive loss max(0, |t| - ε), ε >= 0 (the compactness term of dai2010 eq. 8).

    Examples
    --------
    >>> ct.losses.epsilon_insensitive(0.5)(np.array([-2.0, 0.3, 1.0]))
    array([1.5, 0. , 0.5])
    """
    epsilon = finite("epsilon", epsilon, least=0)
    if epsilon == 0:
        return PLQ([0], [(0, -1, 0), (0, 1, 0)], name="epsilon_insensitive(0)")
    pieces = [(0, -1, -epsilon), (0, 0, 0), (0, 1, -epsilon)]
    return PLQ([-epsilon, epsilon], pieces, name=f"epsilon_insensitive({epsilon:g})")


@_kept
def pinball(share: float) -> PLQ:
    """Pinball loss of an output less its target: -share t below 0, (1 - share) t above (Koenker and Bassett 1978).

    With it the best function has a share of the targets below it, in (0, 1).

    Examples
    --------
    >>> ct.losses.pinball(0.9)(np.array([-1.0, 1.0])).round(2)
    array([0.9, 0.1])
    """
    share = finite("share", share, above=0, below=1)
    return PLQ([0], [(0, -share, 0), (0, 1 - share, 0)], name=f"pinball({share:g})")


@_kept
def ramp(s: float) -> PLQ:
    """Ramp loss R_s(t) = min(1 - s, max(0, 1 - t)) = H_1(t) - H_s(t), s < 1 (collobert2006 eq. 8).

    Examples
    --------
    >>> ct.ramp(0.0)(np.array([-3.0, 0.5, 2.0]))
    array([1. , 0.5, 0. ])
    """
    s = finite("s", s, below=1)
    return PLQ([s, 1], [(0, 0, 1 - s), (0, -1, 1), (0, 0, 0)], name=f"ramp({s:g})")


@_kept
def symmetric_hinge() -> PLQ:
    """Symmetric hinge loss H_1(|t|) = max(0, 1 - |t|) (collobert2006 eq. 1).

    Examples
    --------
    >>> ct.symmetric_hinge()(np.array([-2.0, 0.0, 0.5]))
    array([0. , 1. , 0.5])
    """
    return symmetric_ramp(0.0).named("symmetric_hinge")


@_kept
def symmetric_ramp(s: float) -> PLQ:
    """Symmetric ramp loss min(1 + s, max(0, 1 - |t|)), -1 < s <= 0 (collobert2006 Figure 1).

    R_s(t) + R_s(-t), the loss in collobert2006 eq. 2-3, is this function plus the constant 1 - s; leaving the
    constant out makes objectives comparable between losses.  The plateau is from s to -s.

    Examples
    --------
    >>> ct.symmetric_ramp(s=-0.3)(np.array([-2.0, 0.0, 0.5]))
    array([0. , 0.7, 0.5])
    """
    s = _plateau(s)
    breaks = [-1, s, -s, 1] if s else [-1, 0, 1]
    sides = [(0, 1, 1), (0, 0, 1 + s), (0, -1, 1)] if s else [(0, 1, 1), (0, -1, 1)]
    return PLQ(breaks, [(0, 0, 0), *sides, (0, 0, 0)], name=f"symmetric_ramp({s:g})")


@_kept
def two_slope_symmetric_ramp(s: float, slope: float) -> PLQ:
    """Symmetric ramp whose plateau is tilted: slope 1 where |s| < |t| < 1, ``slope`` in [0, 1] where |t| < |s|.

    max(0, 1 - |t|) for |t| >= |s|, and 1 + s + slope (|s| - |t|) inside; proposed and not tried in collobert2006
    §4.3.  ``slope`` = 0 is the symmetric ramp, 1 the symmetric hinge; s is in (-1, 0].

    Examples
    --------
    >>> ct.losses.two_slope_symmetric_ramp(s=-0.5, slope=0.2)(np.array([-2.0, 0.0, 0.5]))
    array([0. , 0.6, 0.5])
    """
    s = _plateau(s)
    slope = finite("slope", slope, least=0, most=1)
    if s == 0:
        return symmetric_hinge()
    top = 1 + s - slope * s
    pieces = [(0, 0, 0), (0, 1, 1), (0, slope, top), (0, -slope, top), (0, -1, 1), (0, 0, 0)]
    return PLQ([-1, s, 0, -s, 1], pieces, name=f"two_slope_symmetric_ramp({s:g}, {slope:g})")


@_kept
def symmetric_squared_hinge() -> PLQ:
    """Squared hinge loss of unlabelled points, max(0, 1 - |t|)² (chapelle2008 eq. 5, Figure 2).

    Examples
    --------
    >>> ct.losses.symmetric_squared_hinge()(np.array([-2.0, 0.0, 0.5]))
    array([0.  , 1.  , 0.25])
    """
    return PLQ([-1, 0, 1], [(0, 0, 0), (1, 2, 1), (1, -2, 1), (0, 0, 0)], name="symmetric_squared_hinge")


@_kept
def flat_newton(plateau: float = 0.25, bend: float = 0.25) -> PLQ:
    """Continuously differentiable loss of unlabelled points with a flat middle (chapelle2008 §4.4, Figure 7).

    Even; equal to 1 for |t| <= p (``plateau``), zero for |t| >= 1, and in between a straight descent joined to the
    two flat parts by parabolas of width d (``bend``): the derivative is -m clip(min(|t| - p, 1 - |t|) / d, 0, 1)
    sign(t) with m = 1 / (1 - p - d).  The paper shows the shape in a picture and prints no constants, so both
    widths are parameters.

    Parameters
    ----------
    plateau : float in [0, 1)
        Half the width of the flat middle.
    bend : float > 0, at most (1 - plateau) / 2
        Width of each parabola.

    Examples
    --------
    >>> ct.losses.flat_newton(plateau=0.25, bend=0.25)(np.array([0.0, 0.25, 1.0, 2.0]))
    array([1., 1., 0., 0.])
    """
    p = finite("plateau", plateau, least=0, below=1)
    d = finite("bend", bend, above=0, most=(1 - p) / 2)
    m = 1 / (1 - p - d)
    k = m / (2 * d)
    # The right half of the derivative: 0 | -2k (t - p) | -m | 2k (t - 1) | 0, integrated from the right end.
    foot = (k, -2 * k, k)
    straight = (0.0, -m, k * d * d + m * (1 - d))
    shoulder = (-k, 2 * k * p, 1 - k * p * p)
    right = PLQ(
        *([p, p + d, 1 - d, 1], [(0, 0, 1), shoulder, straight, foot, (0, 0, 0)])
        if p + d < 1 - d
        else ([p, p + d, 1], [(0, 0, 1), shoulder, foot, (0, 0, 0)])
    )
    return right.reflect().minimum(right).named(f"flat_newton({p:g}, {d:g})")


@_kept
def tube(epsilon: float, weight: float = 1.0) -> PLQ:
    """Compactness weight · max(0, |t| - ε), or for an infinite weight the constraint |t| <= ε (dai2010 eq. 8-9).

    Parameters
    ----------
    epsilon : float >= 0, > 0 if the weight is infinite
        Half the width of the tube in which outputs are free.
    weight : float >= 0 or inf, default 1.0

    Examples
    --------
    >>> ct.losses.tube(2.0, weight=0.5)(np.array([-4.0, 0.0, 3.0]))
    array([1. , 0. , 0.5])
    """
    if weight != np.inf:
        return finite("weight", weight, least=0) * epsilon_insensitive(epsilon)
    epsilon = finite("epsilon", epsilon, above=0)
    return indicator(-epsilon, epsilon)


@_kept
def relaxed_compact_hinge(epsilon: float, weight: float = 1.0) -> PLQ:
    """Relaxed compact ε-hinge loss max(0, 1 - t) + weight max(0, |t| - ε) (dai2010 §3, ℓ₁').

    Parameters
    ----------
    epsilon : float >= 0
        Half the width of the tube in which outputs are free.
    weight : float >= 0 or inf
        C₃ / C₁ in the paper; inf is the hard form, |t| <= ε.

    Examples
    --------
    >>> ct.losses.relaxed_compact_hinge(epsilon=2.0, weight=0.5)(np.array([0.0, 1.5, 4.0]))
    array([1., 0., 1.])
    """
    loss = hinge() + tube(epsilon, weight)
    return loss.named(f"relaxed_compact_hinge({epsilon:g}, {weight:g})")


@_kept
def relaxed_compact_symmetric_hinge(epsilon: float, weight: float = 1.0, s: float = 0.0) -> PLQ:
    """Relaxed compact ε-symmetric hinge loss max(0, 1 - |t|) + weight max(0, |t| - ε) (dai2010 §3, ℓ₂').

    Parameters
    ----------
    epsilon : float >= 0
        Half the width of the tube in which outputs are free.
    weight : float >= 0 or inf
        C₃ / C₂ in the paper; inf is the hard form, |t| <= ε.
    s : float in (-1, 0], default 0
        δ in the concave part of dai2010 Algorithm 1: clips the symmetric hinge as in the symmetric ramp.

    Examples
    --------
    >>> ct.losses.relaxed_compact_symmetric_hinge(epsilon=2.0, weight=0.5)(np.array([-4.0, 0.0, 1.5]))
    array([1., 1., 0.])
    """
    loss = symmetric_ramp(s) + tube(epsilon, weight)
    return loss.named(f"relaxed_compact_symmetric_hinge({epsilon:g}, {weight:g}, {s:g})")


@_kept
def zero() -> PLQ:
    """The loss that charges nothing."""
    return PLQ([], [(0, 0, 0)], name="zero")


def _plateau(s: float) -> float:
    s = finite("s", s)
    if not -1 < s <= 0:
        raise ValueError(f"s={s!r} must be in (-1, 0]")
    return s + 0.0


def indicator(lower: float, upper: float) -> PLQ:
    """Zero on [lower, upper], whose ends may be infinite, and +inf outside: a constraint written as a loss.

    Examples
    --------
    >>> ct.losses.indicator(-1, 1)(np.array([-2.0, 0.0, 1.0]))
    array([inf,  0.,  0.])
    """
    return PLQ([], [(0, 0, 0)], (lower, upper), name=f"indicator[{lower:g}, {upper:g}]")


#: The loss of a hard margin, t >= 1.
HARD_MARGIN = indicator(1, np.inf)


@dataclass(frozen=True)
class BetterLabel:
    """min(ℓ(t), ℓ(-t)) for a loss ℓ that is infinite somewhere; :func:`better_label` makes it.

    The outputs that are allowed have a gap between the labels, so that it is no PLQ function, and has no convex and
    concave part: methods that search for labels take it, and those that follow tangents or slopes do not.
    """

    loss: PLQ  # ℓ, what a point with the label +1 pays

    @property
    def name(self) -> str:
        return f"better label of {self.loss.name or 'a loss'}"

    def __repr__(self) -> str:
        return self.name

    def __call__(self, t: ArrayLike) -> Array:
        t = np.asarray(t, dtype=float)
        return np.asarray(np.minimum(self.loss(t), self.loss(-t)))

    def reflect(self) -> "BetterLabel":
        return self


def better_label(loss: PLQ) -> PLQ | BetterLabel:
    """The loss of a point whose label is to be found: min(ℓ(t), ℓ(-t)), where ℓ is what the label +1 pays.

    It is a BetterLabel where ℓ is infinite somewhere, as for the hard margin.

    Examples
    --------
    >>> print(ct.losses.better_label(ct.hinge()))
    better label of hinge: 0 on [-inf, -1]; t + 1 on [-1, 0]; -t + 1 on [0, 1]; 0 on [1, inf]
    >>> ct.losses.better_label(ct.losses.indicator(1, np.inf))(np.array([-1.0, 0.5, 3.0]))
    array([ 0., inf,  0.])
    """
    if not loss.is_finite:
        return BetterLabel(loss)
    return loss.minimum(loss.reflect()).named(f"better label of {loss.name or 'a loss'}")
