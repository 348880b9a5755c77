"""Piecewise linear-quadratic functions of one real variable.

A :class:`PLQ` function is a list of breakpoints and one quadratic ``a t² + b t + c`` per piece, continuous on a
closed interval and ``+inf`` outside it.  The class is closed under everything a derivation of an S3VM needs (sums,
reflections, pointwise minima and maxima, the split into a convex and a concave part, conjugates), so each of these
is written once, here, and every loss of the papers is an instance.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..validation import finite

Array = NDArray[np.float64]

#: Relative tolerance below which a jump, a slope change or a curvature counts as zero.
ZERO_TOL = 1e-10

#: A parabola whose slope changes by no more than this, relative to one and the slope, counts as its chord.
SLIVER = 1e-12


class PLQ:
    """A continuous piecewise linear-quadratic function on a closed interval.

    Parameters
    ----------
    breaks : sequence of float, shape (k,)
        Breakpoints, strictly increasing, strictly inside the domain.
    pieces : sequence of (a, b, c), shape (k + 1, 3)
        ``a t² + b t + c`` on each piece, from left to right; neighbours must agree at their breakpoint.
    domain : (float, float), default (-inf, inf)
        Where the function is finite; both ends belong to it, and may coincide.
    name : str, default ""
        How the function is called in reports.

    Raises
    ------
    ValueError
        If the breakpoints do not increase inside the domain, the shapes do not fit, a number is not finite, or
        the pieces do not meet.

    Examples
    --------
    The hinge loss max(0, 1 - t), and its conjugate, the line s on [-1, 0]:

    >>> hinge = PLQ([1], [(0, -1, 1), (0, 0, 0)])
    >>> hinge(np.array([-1.0, 0.0, 2.0]))
    array([2., 1., 0.])
    >>> hinge.conjugate()
    PLQ: t on [-1, 0]
    """

    def __init__(
        self, breaks: ArrayLike, pieces: ArrayLike, domain: tuple[float, float] = (-np.inf, np.inf), name: str = ""
    ) -> None:
        breaks = np.array(breaks, dtype=float, ndmin=1).reshape(-1)
        pieces = np.array(pieces, dtype=float, ndmin=2)
        lower, upper = float(domain[0]), float(domain[1])
        if pieces.shape != (len(breaks) + 1, 3):
            raise ValueError(
                f"pieces has shape {pieces.shape}; with {len(breaks)} breaks it must be ({len(breaks) + 1}, 3)"
            )
        if not (np.isfinite(breaks).all() and np.isfinite(pieces).all()):
            raise ValueError("breaks and pieces must be finite numbers")
        if not (lower <= upper) or lower == np.inf or upper == -np.inf:
            raise ValueError(f"domain=({lower}, {upper}) is empty; the first end must not exceed the second")
        edges = np.concatenate([[lower], breaks, [upper]])
        if len(breaks) and not (np.diff(edges) > 0).all():
            raise ValueError(f"breaks={breaks.tolist()} must increase strictly inside the domain ({lower}, {upper})")
        for k, t in enumerate(breaks):
            left, right = _polynomial(pieces[k], t), _polynomial(pieces[k + 1], t)
            scale = 1 + np.abs(pieces[k : k + 2] * [t * t, t, 1]).max()
            if abs(left - right) > 1e-7 * scale:
                raise ValueError(f"pieces {k} and {k + 1} do not meet at breaks[{k}]={t}: {left} and {right}")
        if lower == upper:
            pieces = np.array([[0.0, 0.0, _polynomial(pieces[0], lower)]])
        # Equal neighbours are merged, so that the function changes at every breakpoint.
        keep = [
            k
            for k in range(len(breaks))
            if np.abs(pieces[k] - pieces[k + 1]).max() > 1e-14 * (1 + np.abs(pieces[k : k + 2]).max())
        ]
        self.breaks: Array = breaks[keep]
        self.pieces: Array = np.vstack([pieces[:1], pieces[[k + 1 for k in keep]]])
        self.lower, self.upper = lower, upper
        self.name = name
        self.breaks.setflags(write=False)
        self.pieces.setflags(write=False)

    # --- reading a function -----------------------------------------------------------------------------------

    @property
    def edges(self) -> Array:
        """Ends of the pieces, domain ends included, shape (k + 2,)."""
        return np.concatenate([[self.lower], self.breaks, [self.upper]])

    def spans(self) -> list[tuple[Array, float, float]]:
        """Each piece with its two ends, from left to right."""
        edges = self.edges.tolist()
        return list(zip(self.pieces, edges[:-1], edges[1:], strict=True))

    @property
    def domain(self) -> tuple[float, float]:
        """The closed interval where the function is finite."""
        return self.lower, self.upper

    @property
    def is_finite(self) -> bool:
        """Whether the function is finite on the whole line."""
        return self.lower == -np.inf and self.upper == np.inf

    @property
    def is_constant(self) -> bool:
        """Whether the function is finite and has one value."""
        return self.is_finite and len(self.pieces) == 1 and not self.pieces[0, :2].any()

    @property
    def is_piecewise_linear(self) -> bool:
        """Whether no piece is curved."""
        return bool((self.pieces[:, 0] == 0).all())

    def __eq__(self, other: object) -> bool:
        """Exactly the same function, whatever its name (:meth:`isclose` allows for rounding)."""
        if not isinstance(other, PLQ):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[bytes, bytes, float, float]:
        return (self.breaks + 0.0).tobytes(), (self.pieces + 0.0).tobytes(), self.lower, self.upper

    def __call__(self, t: ArrayLike) -> Array:
        """Values at ``t``, of the same shape; ``+inf`` outside the domain."""
        t = np.asarray(t, dtype=float)
        if self.is_finite:
            return self._values(t)
        inside = (t >= self.lower) & (t <= self.upper)
        return np.where(inside, self._values(np.where(inside, t, 0.0)), np.inf)

    def _values(self, t: Array) -> Array:
        """Values inside the domain; with few pieces they are computed piece by piece, which is faster than a lookup."""
        if len(self.breaks) > 6:
            a, b, c = np.moveaxis(self.pieces[np.searchsorted(self.breaks, t, side="right")], -1, 0)
            return np.asarray((a * t + b) * t + c)
        found = _along(self.pieces[0], t)
        with np.errstate(over="ignore", invalid="ignore"):  # of pieces that are not taken
            for left, piece in zip(self.breaks.tolist(), self.pieces[1:], strict=True):
                found = np.where(t >= left, _along(piece, t), found)
        return np.asarray(found)

    def derivatives(self, t: ArrayLike) -> tuple[Array, Array]:
        """Left and right derivative at ``t``.

        At the lower (upper) end of the domain the left (right) derivative of a convex function is ``-inf``
        (``+inf``), so that ``[left, right]`` is its subdifferential everywhere in the domain.  Both have t's shape.
        """
        t = np.asarray(t, dtype=float)
        left = self.pieces[np.searchsorted(self.breaks, t, side="left")]
        right = self.pieces[np.searchsorted(self.breaks, t, side="right")]
        d_left = np.where(t <= self.lower, -np.inf, 2 * left[..., 0] * t + left[..., 1])
        d_right = np.where(t >= self.upper, np.inf, 2 * right[..., 0] * t + right[..., 1])
        return d_left, d_right

    @property
    def is_smooth(self) -> bool:
        """Whether the function is finite and has no kink."""
        return self.is_finite and not self.slope_jumps().any()

    def derivative(self, t: ArrayLike) -> Array:
        """Slope at ``t``; at a kink the mean of both."""
        left, right = self.derivatives(t)
        return (left + right) / 2

    def curvature(self, t: ArrayLike) -> Array:
        """Second derivative at ``t``; at a breakpoint that of the piece to its right."""
        return np.asarray(2 * self.pieces[np.searchsorted(self.breaks, np.asarray(t, dtype=float), side="right"), 0])

    def supergradient(self, t: ArrayLike) -> Array:
        """Slope of a tangent of a concave function at ``t``: at a kink, the supergradient nearest to zero.

        That choice is the strict inequality in collobert2006 eq. 11: a point exactly at the kink is left alone.
        """
        left, right = self.derivatives(t)
        return np.clip(0.0, np.minimum(left, right), np.maximum(left, right))

    def slope_jumps(self) -> Array:
        """Right minus left derivative at each breakpoint, with rounding noise set to zero."""
        a, b = self.pieces[:, 0], self.pieces[:, 1]
        left, right = 2 * a[:-1] * self.breaks + b[:-1], 2 * a[1:] * self.breaks + b[1:]
        jumps = right - left
        scale = 1 + np.abs(2 * a[:-1] * self.breaks) + np.abs(b[:-1]) + np.abs(2 * a[1:] * self.breaks) + np.abs(b[1:])
        return np.where(np.abs(jumps) <= ZERO_TOL * scale, 0.0, jumps)

    @cached_property
    def is_convex(self) -> bool:
        """Whether no piece bends down and no kink points up."""
        return bool((self.pieces[:, 0] >= 0).all() and (self.slope_jumps() >= 0).all())

    @property
    def is_concave(self) -> bool:
        """Whether the function is finite everywhere and its negative is convex."""
        return self.is_finite and bool((self.pieces[:, 0] <= 0).all() and (self.slope_jumps() <= 0).all())

    def minimizers(self) -> tuple[float, float, float]:
        """Least value and the ends, perhaps infinite, of the smallest interval that holds all minimizers.

        They are ``-inf, nan, nan`` for a function unbounded below.
        """
        candidates: list[tuple[float, float]] = []
        for (a, b, c), left, right in self.spans():
            for end, outward in ((left, -1.0), (right, 1.0)):
                if np.isfinite(end):
                    candidates.append((_polynomial((a, b, c), end), end))
                elif a < 0 or (a == 0 and b * outward < 0):
                    return -np.inf, np.nan, np.nan
                elif a == 0 and b == 0:
                    candidates.append((c, end))
            if a > 0 and left < -b / (2 * a) < right:
                candidates.append((c - b * b / (4 * a), -b / (2 * a)))
        value = min(v for v, _ in candidates)
        at = [t for v, t in candidates if v <= value + ZERO_TOL * (1 + abs(value))]
        return value, min(at), max(at)

    def isclose(self, other: PLQ, tol: float = 1e-8) -> bool:
        """Whether two functions agree, up to ``tol`` relative to their size, on the same domain."""
        if not np.allclose(self.domain, other.domain, rtol=tol, atol=tol):
            return False
        t = _sample(np.union1d(self.edges, other.edges), max(self.lower, other.lower), min(self.upper, other.upper))
        f, g = self(t), other(t)
        return bool(np.all(np.abs(f - g) <= tol * (1 + np.abs(f) + np.abs(g))))

    # --- making new ones --------------------------------------------------------------------------------------

    def named(self, name: str) -> PLQ:
        """The same function under another name."""
        return PLQ(self.breaks, self.pieces, self.domain, name)

    def __add__(self, other: PLQ | float) -> PLQ:
        if isinstance(other, (int, float)):
            return PLQ(self.breaks, self.pieces + np.array([0, 0, float(other)]), self.domain)
        if not isinstance(other, PLQ):
            return NotImplemented
        return _combine([self, other], lambda rows, left, right: ([], [rows[0] + rows[1]]))

    __radd__ = __add__

    def __sub__(self, other: PLQ | float) -> PLQ:
        return self + (-other)

    def __neg__(self) -> PLQ:
        return (-1.0) * self

    def __mul__(self, factor: Any) -> PLQ:
        if not isinstance(factor, (int, float)) or not np.isfinite(factor):
            raise ValueError(f"factor={factor!r}: a PLQ function is scaled by a finite number")
        if factor < 0 and not self.is_finite:
            raise ValueError(f"factor={factor}: a function that is +inf somewhere can only be scaled by factor >= 0")
        return PLQ(self.breaks, self.pieces * factor, self.domain)

    __rmul__ = __mul__

    def reflect(self) -> PLQ:
        """t → f(-t)."""
        return self._reflected

    @cached_property
    def _reflected(self) -> PLQ:
        return PLQ(-self.breaks[::-1], self.pieces[::-1] * [1, -1, 1], (-self.upper, -self.lower), self._name("{}(-t)"))

    def shift(self, distance: float) -> PLQ:
        """t → f(t - distance): the graph moved to the right."""
        a, b, c = self.pieces.T
        moved = np.column_stack([a, b - 2 * a * distance, c - b * distance + a * distance**2])
        return PLQ(self.breaks + distance, moved, (self.lower + distance, self.upper + distance))

    def maximum(self, other: PLQ | float) -> PLQ:
        """Pointwise maximum with another function or a number; its domain is the intersection of both."""
        return _combine([self, self._function(other)], _pick(np.argmax))

    def minimum(self, other: PLQ | float) -> PLQ:
        """Pointwise minimum with a function on the same domain, or with a number: where the loss is capped.

        Raises
        ------
        ValueError
            If the domains differ: the result would jump where the smaller one ends.
        """
        other = self._function(other)
        if self.domain != other.domain:
            raise ValueError(f"domains {self.domain} and {other.domain} differ: the minimum would not be continuous")
        return _combine([self, other], _pick(np.argmin))

    def _function(self, other: Any) -> PLQ:
        """A number as a constant function on the same domain."""
        if isinstance(other, PLQ):
            return other
        if isinstance(other, numbers.Real) and np.isfinite(float(other)):
            return PLQ([], [[0.0, 0.0, float(other)]], self.domain)
        raise ValueError(f"other={other!r} must be a PLQ function or a finite number")

    def split(self) -> tuple[PLQ, PLQ]:
        """Convex and concave part, ``f = convex + concave``.

        Every upward kink and every positive curvature goes to the convex part, every downward kink and every
        negative curvature to the concave one.  A linear term may sit in either; it is placed so that the concave
        part is flat where f is smallest (in the middle, if f has several minimizers), which gives the
        decompositions in print: R_s = H_1 - H_s (collobert2006 eq. 8) and
        max(0, 1-|t|)² = (max(0, 1-|t|)² + 2|t|) - 2|t| (chapelle2008 §4.1).  CCCP's steps do not depend on it.
        The concave part is finite everywhere; a bounded domain stays with the convex part.
        """
        return self._split

    @cached_property
    def _split(self) -> tuple[PLQ, PLQ]:
        curvature = np.minimum(self.pieces[:, 0], 0.0)
        falls = np.minimum(self.slope_jumps(), 0.0)
        if not curvature.any() and not falls.any():
            return self, PLQ([], [(0, 0, 0)])
        linear = np.concatenate([[0.0], np.cumsum(falls + 2 * (curvature[:-1] - curvature[1:]) * self.breaks)])
        _, first, last = self.minimizers()
        middle = 0.0 if np.isnan(first) or (first == -np.inf and last == np.inf) else (first + last) / 2
        if np.isinf(middle):
            end = 0 if middle < 0 else -1
            linear -= linear[end]
        else:
            left = np.searchsorted(self.breaks, middle, side="left")
            right = np.searchsorted(self.breaks, middle, side="right")
            linear -= np.mean([2 * curvature[k] * middle + linear[k] for k in (left, right)])
        constant = _continuous_constants(self.breaks, curvature, linear)
        concave = PLQ(self.breaks, np.column_stack([curvature, linear, constant]))
        level = concave.pieces[0 if middle < 0 else -1, 2] if np.isinf(middle) else float(concave(middle))
        concave = concave + (-float(level))
        return self + (-concave), concave

    def within(self, lower: float, upper: float) -> PLQ:
        """The function on an interval, whose ends may be infinite, and +inf outside it.

        Raises
        ------
        ValueError
            If the interval has no point of the domain.

        Examples
        --------
        >>> ct.hinge().within(0, 3)
        hinge: -t + 1 on [0, 1]; 0 on [1, 3]
        """
        lower, upper = max(float(lower), self.lower), min(float(upper), self.upper)
        if not lower <= upper:
            raise ValueError(f"the interval [{lower}, {upper}] has no point of the domain {self.domain}")
        inside = (self.breaks > lower) & (self.breaks < upper)
        first, last = np.searchsorted(self.breaks, lower, side="right"), np.searchsorted(self.breaks, upper)
        return PLQ(self.breaks[inside], self.pieces[first : max(first, last) + 1], (lower, upper), self.name)

    def envelope(self, lower: float = -np.inf, upper: float = np.inf) -> PLQ:
        """The convex envelope: the largest convex function that is nowhere above this one on an interval.

        It is the conjugate of the largest of the conjugates of the pieces, of which a concave one counts as its chord.
        Only the part of the interval that is in the domain counts.

        Raises
        ------
        ValueError
            If no line is below the function, or the interval has no point of the domain.

        Examples
        --------
        >>> ct.symmetric_ramp(-0.3).envelope(-0.3, 2)
        envelope of symmetric_ramp(-0.3): -0.538462 t + 0.538462 on [-0.3, 1]; 0 on [1, 2]
        """
        return self._envelope if (lower, upper) == (-np.inf, np.inf) else self._envelope_on(lower, upper)

    @cached_property
    def _envelope(self) -> PLQ:
        return self._envelope_on(-np.inf, np.inf)

    def _envelope_on(self, lower: float, upper: float) -> PLQ:
        part = self.within(lower, upper)
        name = self._name("envelope of {}")
        if part.is_convex:
            return part.named(name)
        conjugates: list[PLQ] = []
        for own, left, right in part.spans():
            piece, finite = own, bool(np.isfinite(left) and np.isfinite(right))
            # A sliver of a parabola is its chord, too: the slopes at its ends are one number.
            steepest = abs(own[1]) + 2 * abs(own[0]) * max(abs(left), abs(right)) if finite else np.inf
            if own[0] < 0 or (finite and own[0] * (right - left) <= SLIVER * (1 + steepest)):
                if not finite:
                    raise ValueError(f"{self!r} is not bounded below by a line: it has no convex envelope")
                ends = _polynomial(piece, left), _polynomial(piece, right)
                slope = (ends[1] - ends[0]) / (right - left)
                piece = np.array([0.0, slope, ends[0] - slope * left])
            conjugates.append(PLQ([], [piece], (left, right)).conjugate())
        if max(f.lower for f in conjugates) > min(f.upper for f in conjugates):
            raise ValueError(f"{self!r} is not bounded below by a line: it has no convex envelope")
        highest = conjugates[0]
        for other in conjugates[1:]:
            highest = highest.maximum(other)
        found = highest.conjugate()
        # The ends have gone through two conjugates, and their rounding.
        return PLQ(found.breaks, found.pieces).within(part.lower, part.upper).named(name)

    def conjugate(self) -> PLQ:
        """The convex conjugate f*(s) = sup_t (s t - f(t)), again a PLQ function; ValueError if f is not convex."""
        self._require_convex("conjugate")
        return self._conjugate

    @cached_property
    def _conjugate(self) -> PLQ:
        # Walk along the graph of the subdifferential: a kink at t becomes a line of slope t, a curved piece a
        # curved piece, and a straight piece a kink.
        spans: list[tuple[float, float, tuple[float, float, float]]] = []

        def kink(t: float, start: float, stop: float) -> None:
            spans.append((start, stop, (0.0, t, -float(self(t)))))

        if self.lower == self.upper:
            return PLQ([], [(0, self.lower, -float(self(self.lower)))])
        jumps = np.concatenate([self.slope_jumps(), [0.0]])
        for k, ((a, b, c), left, right) in enumerate(self.spans()):
            start, stop = (2 * a * left + b, 2 * a * right + b) if a > 0 else (b, b)
            if k == 0 and np.isfinite(self.lower):
                kink(self.lower, -np.inf, start)
            if a > 0:
                spans.append((start, stop, (1 / (4 * a), -b / (2 * a), b * b / (4 * a) - c)))
            if k == len(self.breaks) and np.isfinite(self.upper):
                kink(self.upper, stop, np.inf)
            elif jumps[k] > 0:
                kink(right, stop, stop + jumps[k])
        # A piece or a jump as small as rounding has no slopes of its own.
        spans = [span for span in spans if span[0] < span[1]]
        if not spans:
            return PLQ([], [(0, 0, -c)], (b, b))
        starts = [start for start, _, _ in spans]
        return PLQ(starts[1:], [piece for _, _, piece in spans], (starts[0], spans[-1][1]))

    def rounded(self, width: float) -> PLQ:
        """The Moreau envelope, min over u of f(u) + (t - u)² / (2 width): each kink becomes a parabola.

        Its slopes are those of f, each a little further out, so that the derivative at a point is a subgradient nearby;
        it is below f by at most half the width times the square of f's slope.  Of the hinge loss it is the rounded
        hinge of sindhwani2006 §1.2.4.

        Raises
        ------
        ValueError
            If the function is not convex, or ``width`` is not a positive number.
        """
        self._require_convex("rounded")
        width = finite("width", width, above=0)
        return (self.conjugate() + PLQ([], [(0.5 * width, 0.0, 0.0)])).conjugate()

    def prox(self, v: ArrayLike, step: float = 1.0) -> Array:
        """Proximal map: the minimizer of f(t) + (t - v)² / (2 step), the resolvent of ``step`` ∂f.

        Raises
        ------
        ValueError
            If the function is not convex, or ``step`` is not a positive number.
        """
        self._require_convex("prox")
        step = finite("step", step, above=0)
        v = np.asarray(v, dtype=float)
        a, b, _ = self.pieces.T
        # The minimizer stays at a kink t while v - t is in step ∂f(t): two thresholds per kink.
        kinks = self.breaks
        first = kinks + step * (2 * a[:-1] * kinks + b[:-1])
        last = kinks + step * (2 * a[1:] * kinks + b[1:])
        thresholds = np.column_stack([first, np.maximum(first, last)]).ravel()
        place = np.searchsorted(thresholds, v, side="right")
        piece = place // 2
        moved = (v - step * b[piece]) / (1 + 2 * step * a[piece])
        if len(kinks):
            moved = np.where(place % 2 == 1, kinks[np.minimum(piece, len(kinks) - 1)], moved)
        return np.clip(moved, self.lower, self.upper)

    # --- showing it -------------------------------------------------------------------------------------------

    def latex(self, variable: str = "t") -> str:
        """The function as a LaTeX ``cases`` environment, without dollars."""
        rows = []
        for piece, left, right in self.spans():
            low = f"{left:.6g} \\le " if np.isfinite(left) else ""
            high = f" \\le {right:.6g}" if np.isfinite(right) else ""
            rows.append(f"{_formula(piece, variable, power='^2')} & {low}{variable}{high}")
        if len(rows) == 1 and self.is_finite:
            return rows[0].split(" &")[0]
        return "\\begin{cases} " + " \\\\ ".join(rows) + " \\end{cases}"

    def __repr__(self) -> str:
        rows = [f"{_formula(piece, 't', '²')} on [{left:.6g}, {right:.6g}]" for piece, left, right in self.spans()]
        return f"{self.name or 'PLQ'}: " + "; ".join(rows)

    def _name(self, pattern: str) -> str:
        return pattern.format(self.name) if self.name else ""

    def _require_convex(self, operation: str) -> None:
        if not self.is_convex:
            raise ValueError(f"{operation} needs a convex function; {self!r} is not convex (split() it first)")


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


def _along(piece: Array, t: Array) -> Array:
    a, b, c = piece.tolist()
    if a == 0:
        return b * t + c if b else np.where(np.isnan(t), t, c)
    return (a * t + b) * t + c


def _polynomial(piece: Sequence[float] | Array, t: float) -> float:
    a, b, c = piece
    return float((a * t + b) * t + c)


def _combine(functions: list[PLQ], rule: Callable[[list[Array], float, float], tuple[list[float], list[Array]]]) -> PLQ:
    """Apply ``rule`` on each common piece of ``functions``; it returns inner breakpoints and the new pieces."""
    lower, upper = max(f.lower for f in functions), min(f.upper for f in functions)
    if lower > upper:
        raise ValueError(f"the domains {[f.domain for f in functions]} have no point in common")
    breaks = np.unique(np.concatenate([f.breaks for f in functions]))
    edges = np.concatenate([[lower], breaks[(breaks > lower) & (breaks < upper)], [upper]])
    new_breaks: list[float] = []
    pieces: list[Array] = []
    for left, right in zip(edges[:-1], edges[1:], strict=True):
        middle = _between(left, right)
        rows = [f.pieces[np.searchsorted(f.breaks, middle, side="right")] for f in functions]
        inner, parts = rule(rows, left, right)
        new_breaks += ([float(left)] if pieces else []) + inner
        pieces += parts
    return PLQ(new_breaks, np.array(pieces), (lower, upper))


def _pick(
    choose: Callable[[list[float]], np.intp],
) -> Callable[[list[Array], float, float], tuple[list[float], list[Array]]]:
    """Rule for :func:`_combine`: cut a piece where the two polynomials cross, then choose one on each part."""

    def rule(rows: list[Array], left: float, right: float) -> tuple[list[float], list[Array]]:
        a, b, c = rows[0] - rows[1]
        cuts = [t for t in _roots(a, b, c) if left < t < right]
        ends = [left, *cuts, right]
        parts = []
        for l, r in zip(ends[:-1], ends[1:], strict=True):
            t = _between(l, r)
            parts.append(rows[int(choose([_polynomial(row, t) for row in rows]))])
        return cuts, parts

    return rule


def _roots(a: float, b: float, c: float) -> list[float]:
    """Real roots of a t² + b t + c, increasing; double ones too, so that between roots one sign is strict."""
    if a == 0:
        return [-c / b] if b else []
    discriminant = b * b - 4 * a * c
    if discriminant < 0:
        return []
    q = -0.5 * (b + np.copysign(np.sqrt(discriminant), b))
    return sorted({q / a, c / q} if q else {0.0, -b / a})


def _between(left: float, right: float) -> float:
    if np.isfinite(left) and np.isfinite(right):
        return (left + right) / 2
    if np.isfinite(left):
        return left + 1
    return right - 1 if np.isfinite(right) else 0.0


def _continuous_constants(breaks: Array, quadratic: Array, linear: Array) -> Array:
    """Constants that make pieces with the given quadratic and linear terms meet; the first is zero."""
    steps = (quadratic[:-1] - quadratic[1:]) * breaks**2 + (linear[:-1] - linear[1:]) * breaks
    return np.concatenate([[0.0], np.cumsum(steps)])


def _sample(edges: Array, lower: float, upper: float) -> Array:
    """Points enough to tell two PLQ functions with breakpoints among ``edges`` apart."""
    finite = edges[np.isfinite(edges)]
    if len(finite) == 0:
        finite = np.zeros(1)
    finite = np.concatenate([[finite[0] - 3], finite, [finite[-1] + 3]])
    inner = [finite[:-1] + f * np.diff(finite) for f in (0.0, 1 / 3, 2 / 3)]
    t = np.concatenate([*inner, finite[-1:]])
    return t[(t >= lower) & (t <= upper)]


def _formula(piece: Iterable[float], variable: str, power: str) -> str:
    terms: list[str] = []
    for value, factor in zip(piece, (variable + power, variable, ""), strict=True):
        if value == 0:
            continue
        size = "" if factor and abs(value) == 1 else f"{abs(value):.6g}"
        sign = ("-" if value < 0 else "") if not terms else (" - " if value < 0 else " + ")
        terms.append(sign + " ".join(part for part in (size, factor) if part))
    return "".join(terms) or "0"
