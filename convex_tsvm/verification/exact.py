"""What a derivation claims of losses: decided for every output where they are piecewise linear-quadratic, in rational
numbers, else on a grid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..formulations.regularizers import ElasticNet, GroupLasso, NonnegativeNorm, OneNorm, Regularizer, SquaredNorm
from ..losses import PLQ, hinge
from .parameters import numbers_of, rational
from .symbols import Square, Symbol, formula, total

Ends = Any  # an end of an interval: a fraction, or an infinite number


class Piece(NamedTuple):
    """a t² + b t + c from one end to another."""

    a: Fraction
    b: Fraction
    c: Fraction
    left: Ends
    right: Ends

    def __call__(self, t: Any) -> Any:
        return (self.a * t + self.b) * t + self.c

    def slope(self, t: Any) -> Any:
        """The derivative at t, which may be an infinite end."""
        return self.b if self.a == 0 else 2 * self.a * t + self.b


@dataclass(frozen=True)
class Exact:
    """A continuous piecewise quadratic function with rational numbers, infinite outside its pieces."""

    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, loss: PLQ) -> Exact:
        """A loss with its numbers as fractions; where rounding has opened a gap between pieces it is closed."""
        given = numbers_of(loss, lambda one: [*one.edges.tolist(), *one.pieces.ravel().tolist()])
        count, pieces = len(loss.edges), list[Piece]()
        ends = given[:count]
        for k in range(count - 1):
            a, b, c = given[count + 3 * k : count + 3 * k + 3]
            piece = Piece(a, b, c, ends[k], ends[k + 1])
            if pieces:
                t: Any = ends[k]
                piece = piece._replace(c=piece.c + pieces[-1](t) - piece(t))
            pieces.append(piece)
        return cls(tuple(pieces))

    @property
    def domain(self) -> tuple[Ends, Ends]:
        """The interval where it is finite."""
        return self.pieces[0].left, self.pieces[-1].right

    def at(self, t: Any) -> Piece | None:
        """The piece that a point is in, the right one of two; None outside of the domain."""
        found = [piece for piece in self.pieces if piece.left <= t <= piece.right]
        return found[-1] if found else None

    def show(self, tex: bool, name: str = "t") -> str:
        t, rows = Symbol(name), []
        for piece in self.pieces:
            shown = total([piece.a * Square(t), piece.b * t, formula(piece.c)]).show(tex)
            ends = [(formula(end).show(tex) if abs(end) < inf else "") for end in piece[3:]]
            at_most = r" \le " if tex else " ≤ "
            where = at_most.join([ends[0], name, ends[1]][not ends[0] : 2 + bool(ends[1])])
            rows.append(f"{shown} & {where}" if tex else f"{shown} for {where}" if any(ends) else shown)
        if tex:
            whole = len(rows) == 1 and not any(abs(end) < inf for end in self.domain)
            return rows[0].split(" &")[0] if whole else r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"
        return "; ".join(rows)

    def __str__(self) -> str:
        return self.show(False)

    def __call__(self, t: Any) -> Any:
        piece = self.at(t)
        return inf if piece is None else piece(t)

    def __add__(self, other: Exact) -> Exact:
        return Exact(tuple(Piece(f.a + g.a, f.b + g.b, f.c + g.c, l, r) for f, g, l, r in common(self, other)))

    def scaled(self, factor: Any, constant: Any = 0) -> Exact:
        """The function times a number, plus a constant."""
        return Exact(tuple(Piece(p.a * factor, p.b * factor, p.c * factor + constant, *p[3:]) for p in self.pieces))

    def reflect(self) -> Exact:
        return Exact(tuple(Piece(p.a, -p.b, p.c, -p.right, -p.left) for p in self.pieces[::-1]))

    @property
    def is_convex(self) -> bool:
        """Whether slopes never fall."""
        joints = zip(self.pieces[:-1], self.pieces[1:], strict=True)
        return all(p.a >= 0 for p in self.pieces) and all(p.slope(p.right) <= q.slope(p.right) for p, q in joints)

    def merged(self) -> Exact:
        """The same with neighbours joined that are one polynomial."""
        kept: list[Piece] = []
        for piece in self.pieces:
            if kept and kept[-1][:3] == piece[:3]:
                kept[-1] = kept[-1]._replace(right=piece.right)
            else:
                kept.append(piece)
        return Exact(tuple(kept))

    def split(self, loss: PLQ) -> tuple[Exact, Exact]:
        """The convex and the concave part, with the straight line in both that those of the loss itself have."""
        _, slope, constant = numbers_of(loss, lambda one: one.split()[1].pieces[0].tolist())
        pieces = [Piece(min(self.pieces[0].a, Fraction(0)), slope, constant, -inf, self.pieces[0].right)]
        for before, piece in zip(self.pieces[:-1], self.pieces[1:], strict=True):
            a, t = min(piece.a, Fraction(0)), piece.left
            b = pieces[-1].slope(t) + min(piece.slope(t) - before.slope(t), Fraction(0)) - 2 * a * t
            made = Piece(a, b, Fraction(0), *piece[3:])
            pieces.append(made._replace(c=pieces[-1](t) - made(t)))
        concave = Exact((*pieces[:-1], pieces[-1]._replace(right=inf))).merged()
        return (self + concave.scaled(-1)).merged(), concave

    def equals(self, other: Exact) -> bool:
        """Whether both are one function: on the same domain, and with the same pieces wherever both have one."""
        return self.domain == other.domain and all(f[:3] == g[:3] for f, g, left, right in common(self, other))

    def is_below(self, other: Exact) -> bool:
        """Whether it is nowhere above another function."""
        low, high = self.domain
        if other.domain[0] < low or other.domain[1] > high:
            return False
        return all(
            never_negative(g.a - f.a, g.b - f.b, g.c - f.c, left, right) for f, g, left, right in common(self, other)
        )

    def is_least_of(self, one: Exact, other: Exact) -> bool:
        """Whether it is, everywhere, the smaller one of two functions."""
        if not (self.domain == one.domain == other.domain and self.is_below(one) and self.is_below(other)):
            return False
        for piece in self.pieces:
            for f, g, left, right in common(one, other):
                if max(left, piece.left) < min(right, piece.right) and piece[:3] not in (f[:3], g[:3]):
                    return False
        return True

    def conjugate(self) -> Exact:
        """The conjugate f*(s), the largest s t - f(t), of a convex function: its subgradients in their order."""
        found: list[Piece] = []

        def kink(t: Any, start: Ends, stop: Ends) -> None:
            if start < stop:
                found.append(Piece(Fraction(0), t, -self(t), start, stop))

        before: Ends = -inf
        for piece in self.pieces:
            start, stop = (piece.slope(end) for end in (piece.left, piece.right))
            if piece.left > -inf:
                kink(piece.left, before, start)
            if piece.a > 0:
                a, b = 1 / (4 * piece.a), piece.b / (2 * piece.a)
                found.append(Piece(a, -b, b * piece.b / 2 - piece.c, start, stop))
            before = stop
        if self.domain[1] < inf:
            kink(self.domain[1], before, inf)
        # A straight line has a single slope, a conjugate of one point.
        (a, b, c, *_) = self.pieces[0]
        return Exact(tuple(found) or (Piece(Fraction(0), Fraction(0), -c, b, b),)).merged()

    def has_conjugate(self, other: Exact) -> bool:
        """Whether another function is the conjugate of this one, which is convex.

        On each of its pieces the other function is reached at t(s), its derivative: s is then to be a subgradient of
        this function at t(s), which makes f(t) + f*(s) = s t, and f*(s) >= s t - f(t) for all other t.  Outside of the
        other's domain s t - f(t) has no upper bound.
        """
        if not self.is_convex:
            return False
        for piece in other.pieces:
            for s in samples(piece):
                t = piece.slope(s)
                own = self.at(t)
                if own is None or not self._has_subgradient(t, s) or piece(s) != s * t - own(t):
                    return False
        low, high = self.domain
        first, last = self.pieces[0], self.pieces[-1]
        least = -inf if low > -inf or first.a > 0 else first.b
        most = inf if high < inf or last.a > 0 else last.b
        return other.domain == (least, most)

    def _has_subgradient(self, t: Any, s: Any) -> bool:
        left = [p.slope(t) for p in self.pieces if p.left < t <= p.right]
        right = [p.slope(t) for p in self.pieces if p.left <= t < p.right]
        return (not left or left[0] <= s) and (not right or s <= right[0])


def common(one: Exact, other: Exact) -> list[tuple[Piece, Piece, Ends, Ends]]:
    """The pieces of two functions on the intervals where both have one."""
    found = []
    for f in one.pieces:
        for g in other.pieces:
            left, right = max(f.left, g.left), min(f.right, g.right)
            if left < right or (left == right and (len(one.pieces) == 1 or len(other.pieces) == 1)):
                found.append((f, g, left, right))
    return found


def samples(piece: Piece) -> list[Any]:
    """Three points of a piece's interval: enough to tell polynomials of degree two, and conditions that are linear."""
    left: Any = piece.left
    right: Any = piece.right
    if left == right:
        return [left]
    if left == -inf:
        left = (right if right < inf else Fraction(1)) - 2
    if right == inf:
        right = left + 2
    return [left, (left + right) / 2, right]


def never_negative(a: Fraction, b: Fraction, c: Fraction, left: Ends, right: Ends) -> bool:
    """Whether a t² + b t + c >= 0 on an interval, whose ends may be infinite."""
    for end, outward in ((left, -1), (right, 1)):
        if abs(end) == inf:
            if a < 0 or (a == 0 and b * outward < 0):
                return False
        elif (a * end + b) * end + c < 0:
            return False
    if a > 0 and left < -b / (2 * a) < right:
        return bool(4 * a * c >= b * b)
    return bool(c >= 0) if a == b == 0 else True


#: Functions of a derivation by their names: in rational numbers, or as they are given.
Functions = Mapping[str, Any]


@dataclass(frozen=True)
class Claim:
    """Something about functions, in words, and what decides it."""

    #: Outputs at which functions are compared that are not piecewise linear-quadratic, and by how much they may differ.
    grid: ClassVar[Any] = np.linspace(-4, 4, 801)
    tolerance: ClassVar[float] = 1e-8

    says: str
    names: tuple[str, ...]
    exactly: Callable[..., bool]  # of the functions, in rational numbers
    on_grid: Callable[..., Any] | None = None  # of the functions: by how much it fails at outputs of a grid

    def holds(self, functions: Functions) -> bool:
        given = [functions[name] for name in self.names]
        if self.is_exact(functions):
            return self.exactly(*given)
        assert self.on_grid is not None
        return bool(np.max(self.on_grid(*map(as_numbers, given))) <= self.tolerance)

    def is_exact(self, functions: Functions) -> bool:
        """Whether it is decided for every output."""
        return all(isinstance(functions[name], Exact) for name in self.names)


def told(known: list[Claim]) -> str:
    """What is claimed, as a sentence."""
    return "; ".join(one.says for one in known) + "."


def as_numbers(function: Any) -> Any:
    """A function of arrays."""
    if not isinstance(function, Exact):
        return function
    return lambda t: np.array([float(function(float(one))) for one in np.ravel(t)])


def is_sum(whole: str, one: str, other: str) -> Claim:
    """A function is the sum of two."""
    return Claim(
        f"{whole} = {one} + {other} for every t",
        (whole, one, other),
        lambda f, u, v: bool((u + v).equals(f)),
        lambda f, u, v: np.abs(u(Claim.grid) + v(Claim.grid) - f(Claim.grid)),
    )


def is_even_sum(whole: str, part: str, constant: Any) -> Claim:
    """ℓ(t) = r(t) + r(-t) + a constant."""
    shown = str(total([Symbol(f"{part}(t) + {part}(-t)"), formula(constant)]))
    return Claim(
        f"{whole}(t) = {shown} for every t",
        (whole, part),
        lambda f, r: bool((r + r.reflect().scaled(1, constant)).equals(f)),
        lambda f, r: np.abs(r(Claim.grid) + r(-Claim.grid) + float(constant) - f(Claim.grid)),
    )


def is_convex(name: str) -> Claim:
    """A function's slopes never fall."""
    return Claim(f"{name} is convex", (name,), lambda f: bool(f.is_convex), lambda f: -bends(f))


def is_concave(name: str) -> Claim:
    """A function's slopes never rise."""
    return Claim(f"{name} is concave", (name,), lambda f: bool(f.scaled(-1).is_convex), bends)


def bends(f: Any) -> Any:
    """Second differences on the grid."""
    return f(Claim.grid[2:]) - 2 * f(Claim.grid[1:-1]) + f(Claim.grid[:-2])


def is_hinge(name: str) -> Claim:
    """A function is the hinge loss."""
    return Claim(f"{name}(t) = max(0, 1 - t) for every t", (name,), lambda f: bool(f.equals(Exact.of(hinge()))))


def is_conjugate(name: str, conjugate: str) -> Claim:
    """A function is the conjugate of another: Fenchel and Young's inequality, and equality at each slope."""

    def off(f: Any, g: Any) -> Any:
        slopes = np.asarray(f.derivative(Claim.grid))
        return np.abs(f(Claim.grid) + g(slopes) - slopes * Claim.grid)

    return Claim(
        f"{conjugate} is the conjugate of {name}", (name, conjugate), lambda f, g: bool(f.has_conjugate(g)), off
    )


def is_below(lower: str, upper: str) -> Claim:
    """A function is nowhere above another."""
    return Claim(
        f"{lower} <= {upper} for every t",
        (lower, upper),
        lambda f, g: bool(f.is_below(g)),
        lambda f, g: f(Claim.grid) - g(Claim.grid),
    )


def coordinates(regularizer: Regularizer) -> list[Exact] | None:
    """The convex functions of one variable that R(w) is the sum of: of each weight, or of the norm of each block.

    None for another regularizer.  A block's norm is never negative; Cauchy and Schwarz's inequality has w·v at most the
    product of the norms, so that a block's conjugate is that of the function of its norm.
    """
    if isinstance(regularizer, GroupLasso):
        weights: Any = regularizer.group_weights
        return [_half_square(1, weight, least=0) for weight in weights]
    if isinstance(regularizer, NonnegativeNorm):
        return [_half_square(1, 0, least=0)]
    factors: Any = getattr(regularizer, "feature_weights", None) or (1.0,)
    if isinstance(regularizer, SquaredNorm):
        return [_half_square(factor, 0) for factor in sorted(set(factors))]
    if isinstance(regularizer, OneNorm):
        return [_half_square(0, factor) for factor in sorted(set(factors))]
    if isinstance(regularizer, ElasticNet):
        return [_half_square(1, regularizer.l1 * factor) for factor in sorted(set(factors))]
    return None


def _half_square(curvature: float, slope: float, least: float = -inf) -> Exact:
    """½ curvature t² + slope |t|, for t >= least."""
    a: Any = rational(curvature) / 2
    b: Any = rational(slope)
    right = Piece(a, b, 0 * a, 0 * a, inf)
    return Exact((right,) if least == 0 else (Piece(a, -b, 0 * a, -inf, 0 * a), right))


def conjugate(function: Any) -> Any:
    """The conjugate of a convex function."""
    return function.conjugate() if isinstance(function, Exact) else function.conjugate().__call__


def exact_or_given(loss: Any) -> Any:
    """A loss in rational numbers, or as it is if it is not piecewise linear-quadratic."""
    return Exact.of(loss) if isinstance(loss, PLQ) else loss


def by_regularizer(regularizer: Regularizer, functions: dict[str, Any]) -> Claim:
    """R(w) + R*(v) is v·w at the w that belongs to v, and no less at others: for a regularizer of one's own."""
    functions["R"] = regularizer

    def off(_: Any) -> Any:
        rng = np.random.default_rng(0)
        found = []
        for v in (regularizer.into_domain(one) for one in rng.normal(size=(20, 3))):
            w = regularizer.weights(v)
            own = [] if w is None else [abs(regularizer.value(w) + regularizer.conjugate(v) - float(v @ w))]
            others = (float(v @ u) - regularizer.value(u) for u in rng.normal(size=(5, 3)))
            found += [*own, *(other - regularizer.conjugate(v) for other in others)]
        return np.array(found)

    return Claim("R* is the conjugate of R", ("R",), lambda _: False, off)
