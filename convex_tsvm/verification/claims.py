"""What a derivation claims of losses: decided exactly where they are piecewise linear-quadratic, else on a grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np

from ..formulations.regularizers import ElasticNet, GroupLasso, NonnegativeNorm, OneNorm, Regularizer, SquaredNorm
from ..losses import PLQ, hinge
from .exact import Exact, Piece
from .parameters import rational
from .symbols import Symbol, formula, total

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
        """Whether it is so."""
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
