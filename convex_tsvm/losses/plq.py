"""Piecewise linear-quadratic functions of one real variable.

A :class:`PLQ` function is a list of breakpoints and one quadratic ``a t² + b t + c`` per piece, continuous on a
closed interval and ``+inf`` outside it.  The class is closed under everything a derivation of an S3VM needs (sums,
reflections, pointwise minima and maxima, the split into a convex and a concave part, conjugates), so each of these
is written once, here, and every loss of the papers is an instance.
"""

from __future__ import annotations

import numbers
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..validation import finite
from . import polynomials

Array = NDArray[np.float64]

#: Relative tolerance below which a jump, a slope change or a curvature counts as zero.
ZERO_TOL = 1e-10

#: A parabola whose slope changes by no more than this, relative to one and the slope, counts as its chord.
SLIVER = 1e-12


class PLQ:
    """A continuous piecewise linear-quadratic function on a closed interval.

    A ValueError says if the breakpoints do not increase inside the domain, the shapes do not fit, a number is not
    finite, or the pieces do not meet.

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

    Examples
    --------
    The hinge loss max(0, 1 - t), and its conjugate, the line s on [-1, 0]:

    >>> hinge = PLQ([1], [(0, -1, 1), (0, 0, 0)])
    >>> hinge(np.array([-1.0, 0.0, 2.0]))
    array([2., 1., 0.])
    >>> hinge.conjugate()
    PLQ: t on [-1, 0]
    """

    #: The name of the function of the catalogue that made it, and its arguments.
    made_by: tuple[str, dict[str, Any]] | None = None

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
        polynomials.check_meeting(breaks, pieces)
        if lower == upper:
            pieces = np.array([[0.0, 0.0, polynomials.polynomial(pieces[0], lower)]])
        keep = polynomials.changing(breaks, pieces)
        self.breaks: Array = breaks[keep]
        self.pieces: Array = np.vstack([pieces[:1], pieces[[k + 1 for k in keep]]])
        self.lower, self.upper = lower, upper
        self.name = name
        self.breaks.setflags(write=False)
        self.pieces.setflags(write=False)

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
        found = polynomials.along(self.pieces[0], t)
        with np.errstate(over="ignore", invalid="ignore"):  # of pieces that are not taken
            for left, piece in zip(self.breaks.tolist(), self.pieces[1:], strict=True):
                found = np.where(t >= left, polynomials.along(piece, t), found)
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
                    candidates.append((polynomials.polynomial((a, b, c), end), end))
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
        lower, upper = max(self.lower, other.lower), min(self.upper, other.upper)
        t = polynomials.sample(np.union1d(self.edges, other.edges), lower, upper)
        f, g = self(t), other(t)
        return bool(np.all(np.abs(f - g) <= tol * (1 + np.abs(f) + np.abs(g))))

    def named(self, name: str) -> PLQ:
        """The same function under another name."""
        return PLQ(self.breaks, self.pieces, self.domain, name)

    def __add__(self, other: PLQ | float) -> PLQ:
        if not isinstance(other, PLQ | int | float):
            return NotImplemented
        other = self._function(other)
        return PLQ(*polynomials.combine([self, other], lambda rows, left, right: ([], [rows[0] + rows[1]])))

    __radd__ = __add__

    def __sub__(self, other: PLQ | float) -> PLQ:
        return self + (-other)

    def __neg__(self) -> PLQ:
        return (-1.0) * self

    def __mul__(self, factor: Any) -> PLQ:
        if not isinstance(factor, (int, float)) or not np.isfinite(factor):
            raise ValueError(f"factor={factor!r}: a PLQ function is scaled by a finite number")
        if factor < 0 and not self.is_finite:
            raise ValueError(f"factor={factor} must be at least 0 for a function that is +inf somewhere")
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
        return PLQ(*polynomials.combine([self, self._function(other)], polynomials.pick(np.argmax)))

    def minimum(self, other: PLQ | float) -> PLQ:
        """Pointwise minimum with a function on the same domain, or with a number: where the loss is capped.

        A ValueError says if the domains differ: the result would jump where the smaller one ends.
        """
        other = self._function(other)
        if self.domain != other.domain:
            raise ValueError(f"domains {self.domain} and {other.domain} differ: the minimum would not be continuous")
        return PLQ(*polynomials.combine([self, other], polynomials.pick(np.argmin)))

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
        pieces = polynomials.concave_part(self)
        if pieces is None:
            return self, PLQ([], [(0, 0, 0)])
        concave = PLQ(self.breaks, pieces)
        return self + (-concave), concave

    def within(self, lower: float, upper: float) -> PLQ:
        """The function on an interval, whose ends may be infinite, and +inf outside it.

        A ValueError says if the interval has no point of the domain.

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
        Only the part of the interval that is in the domain counts.  A ValueError says if no line is below the function,
        or the interval has no point of the domain.

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
                ends = polynomials.polynomial(piece, left), polynomials.polynomial(piece, right)
                slope = (ends[1] - ends[0]) / (right - left)
                piece = np.array([0.0, slope, ends[0] - slope * left])
            conjugates.append(PLQ([], [piece], (left, right)).conjugate())
        if max(f.lower for f in conjugates) > min(f.upper for f in conjugates):
            raise ValueError(f"{self!r} is not bounded below by a line: it has no convex envelope")
        found = reduce(PLQ.maximum, conjugates).conjugate()
        # The ends have gone through two conjugates, and their rounding.
        return PLQ(found.breaks, found.pieces).within(part.lower, part.upper).named(name)

    def conjugate(self) -> PLQ:
        """The convex conjugate f*(s) = sup_t (s t - f(t)), again a PLQ function; ValueError if f is not convex."""
        self._require_convex("conjugate")
        return self._conjugate

    @cached_property
    def _conjugate(self) -> PLQ:
        return PLQ(*polynomials.conjugate(self))

    def rounded(self, width: float) -> PLQ:
        """The Moreau envelope, min over u of f(u) + (t - u)² / (2 width): each kink becomes a parabola.

        Its slopes are those of f, each a little further out, so that the derivative at a point is a subgradient nearby;
        it is below f by at most half the width times the square of f's slope.  Of the hinge loss it is the rounded
        hinge of sindhwani2006 §1.2.4.  A ValueError says if the function is not convex, or ``width`` is not a positive
        number.
        """
        self._require_convex("rounded")
        width = finite("width", width, above=0)
        return (self.conjugate() + PLQ([], [(0.5 * width, 0.0, 0.0)])).conjugate()

    def prox(self, v: ArrayLike, step: float = 1.0) -> Array:
        """Proximal map: the minimizer of f(t) + (t - v)² / (2 step), the resolvent of ``step`` ∂f.

        A ValueError says if the function is not convex, or ``step`` is not a positive number.
        """
        self._require_convex("prox")
        return polynomials.prox(self, np.asarray(v, dtype=float), finite("step", step, above=0))

    def latex(self, variable: str = "t") -> str:
        """The function as a LaTeX ``cases`` environment, without dollars."""
        rows = []
        for piece, left, right in self.spans():
            low = f"{left:.6g} \\le " if np.isfinite(left) else ""
            high = f" \\le {right:.6g}" if np.isfinite(right) else ""
            rows.append(f"{polynomials.formula(piece, variable, power='^2')} & {low}{variable}{high}")
        if len(rows) == 1 and self.is_finite:
            return rows[0].split(" &")[0]
        return "\\begin{cases} " + " \\\\ ".join(rows) + " \\end{cases}"

    def __repr__(self) -> str:
        rows = [
            f"{polynomials.formula(piece, 't', '²')} on [{left:.6g}, {right:.6g}]"
            for piece, left, right in self.spans()
        ]
        return f"{self.name or 'PLQ'}: " + "; ".join(rows)

    def _name(self, pattern: str) -> str:
        return pattern.format(self.name) if self.name else ""

    def _require_convex(self, operation: str) -> None:
        if not self.is_convex:
            raise ValueError(f"{operation} needs a convex function; {self!r} is not convex (split() it first)")
