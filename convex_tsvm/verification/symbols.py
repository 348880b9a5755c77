"""Formulas that print themselves, and have an exact value wherever their symbols have one.

What is printed is what is evaluated, so that a proof is about the line that a reader sees.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from .parameters import Parametric


def vector(entries: Iterable[Any]) -> Any:
    """An array of numbers of whatever kind, such as fractions."""
    return np.array(list(entries), dtype=object)


@dataclass
class Point:
    """Where formulas are evaluated: a value for every symbol, drawn when it is first asked for."""

    #: Numbers of a proof are integers of so many bits: a polynomial of degree d that is not zero is zero at random ones
    #: with probability at most d / 2^bits (Schwartz and Zippel).
    bits: ClassVar[int] = 120

    sets: Mapping[str, Sequence[int]] = field(default_factory=dict)  # members of the sets that sums run over
    dimension: int = 2  # of vectors
    draw: Callable[[], Any] = field(default_factory=lambda: numbers(0))  # makes a number
    # Names of symbols, or a name with its indices, to a pair of indices and the formula that they stand for.
    defined: Mapping[Any, tuple[tuple[str, ...], Formula]] = field(default_factory=dict)
    # Functions by names, of a point and an argument; others are free symbols, one for every argument.
    functions: Mapping[str, Callable[[Point, Any], Any]] = field(default_factory=dict)
    values: dict[Any, Any] = field(default_factory=dict)
    index: dict[str, int] = field(default_factory=dict)

    def of(self, symbol: Symbol) -> Any:
        """The value of a symbol at the indices that are bound."""
        indices = [self.index[i] if isinstance(i, str) else i for i in symbol.indices]
        key = (symbol.name, *(sorted(indices) if symbol.is_symmetric else indices))
        if key not in self.values:
            meant = self.defined.get(key, self.defined.get(symbol.name))
            if meant is not None:
                names, formula = meant
                bound: dict[str, Any] = dict(zip(names, key[1:], strict=False))  # none of a single symbol
                self.values[key] = formula.value(self.within(bound))
            elif symbol.is_vector:
                self.values[key] = vector(self.draw() for _ in range(self.dimension))
            else:
                self.values[key] = self.draw()
        return self.values[key]

    def within(self, index: Mapping[str, int]) -> Point:
        """The same point with indices bound."""
        inner = object.__new__(Point)
        inner.__dict__ = {**self.__dict__, "index": {**self.index, **index}}
        return inner

    def apply(self, name: str, argument: Any) -> Any:
        """The value of a function, or of the symbol that stands for it there."""
        if name in self.functions:
            return self.functions[name](self, argument)
        key = name, tuple(argument) if isinstance(argument, np.ndarray) else argument
        if key not in self.values:
            self.values[key] = self.draw()
        return self.values[key]


def numbers(seed: int) -> Callable[[], int]:
    """Random integers of ``bits`` bits and either sign."""
    rng = random.Random(seed)
    return lambda: rng.randrange(1, 2**Point.bits) * rng.choice((-1, 1))


class Formula:
    """A number or a vector, as a formula of symbols."""

    #: How tightly it binds: 1 a sum, 2 a product, 3 what needs no brackets.
    level = 3

    def value(self, point: Point) -> Any:
        """The value at a point: an integer, a fraction, or a vector of them."""
        raise NotImplementedError

    def show(self, tex: bool) -> str:
        """As text, or as LaTeX."""
        raise NotImplementedError

    def parts(self) -> tuple[Formula, ...]:
        """The formulas that it is made of: those among its attributes."""
        own = (one if isinstance(one, tuple) else (one,) for one in vars(self).values())
        return tuple(part for ones in own for part in ones if isinstance(part, Formula))

    def walk(self) -> Iterator[Formula]:
        """The formula, and all that it is made of."""
        yield self
        for part in self.parts():
            yield from part.walk()

    def symbols(self) -> set[str]:
        """Names of all symbols and functions in it."""
        return {one.name for one in self.walk() if isinstance(one, Symbol | Applied)}

    def bracketed(self, tex: bool, level: int) -> str:
        """With brackets, if it binds less tightly than what it stands in."""
        shown = self.show(tex)
        if self.level >= level:
            return shown
        return rf"\left({shown}\right)" if tex else f"({shown})"

    def __str__(self) -> str:
        return self.show(False)

    def __add__(self, other: Any) -> Formula:
        return total([self, formula(other)])

    def __radd__(self, other: Any) -> Formula:
        return total([formula(other), self])

    def __sub__(self, other: Any) -> Formula:
        return self + -formula(other)

    def __rsub__(self, other: Any) -> Formula:
        return formula(other) + -self

    def __neg__(self) -> Formula:
        return -1 * self

    def __mul__(self, other: Any) -> Formula:
        return product([self, formula(other)])

    def __rmul__(self, other: Any) -> Formula:
        return product([formula(other), self])

    def __truediv__(self, other: Any) -> Formula:
        return Quotient(self, formula(other))


@dataclass(frozen=True, eq=False)
class Number(Formula):
    """A rational number."""

    number: Fraction

    def value(self, point: Point) -> Any:
        return self.number if self.number.denominator > 1 else self.number.numerator

    def show(self, tex: bool) -> str:
        if isinstance(self.number, Parametric):
            return self.number.shown(tex)
        return ("-" if self.number < 0 else "") + _shown(abs(self.number), tex)

    @property
    def level(self) -> int:  # type: ignore[override]
        if isinstance(self.number, Parametric):
            return 1 if len(self.number.form) > 1 or min(self.number.form.values()) < 0 else 2
        return 1 if self.number < 0 else 3


def _shown(size: Fraction, tex: bool) -> str:
    """A positive number: a fraction, the root of one, or digits."""
    if size.denominator > Parametric.most_denominator:
        square = Fraction(float(size) ** 2).limit_denominator(100)
        if abs(float(square) ** 0.5 - float(size)) <= Parametric.rounding * max(1.0, float(size)):
            return rf"\sqrt{{{_shown(square, tex)}}}" if tex else f"√({square})"
        return f"{float(size):.12g}"
    above, below = size.numerator, size.denominator
    if below == 1:
        return str(above)
    return rf"\tfrac{{{above}}}{{{below}}}" if tex else {"1/2": "½", "1/4": "¼"}.get(str(size), str(size))


@dataclass(frozen=True, eq=False)
class Symbol(Formula):
    """A named quantity, perhaps with indices, such as α_i; with ``[...]`` the same with others."""

    name: str
    tex: str = ""
    indices: tuple[str | int, ...] = ()
    is_vector: bool = False
    is_symmetric: bool = False  # whether the order of indices does not matter

    def __getitem__(self, indices: Any) -> Symbol:
        return replace(self, indices=indices if isinstance(indices, tuple) else (indices,))

    def value(self, point: Point) -> Any:
        return point.of(self)

    def show(self, tex: bool) -> str:
        below = "".join(map(str, self.indices))
        if not below:
            return self.tex or self.name if tex else self.name
        return f"{self.tex or self.name}_{{{below}}}" if tex else f"{self.name}_{below}"


@dataclass(frozen=True, eq=False)
class Total(Formula):
    """A sum of some terms."""

    terms: tuple[Formula, ...]
    level = 1

    def value(self, point: Point) -> Any:
        return sum(term.value(point) for term in self.terms)

    def show(self, tex: bool) -> str:
        shown = self.terms[0].show(tex)
        for term in self.terms[1:]:
            text = term.show(tex)
            shown += f" - {text[1:]}" if text.startswith("-") else f" + {text}"
        return shown


@dataclass(frozen=True, eq=False)
class Product(Formula):
    """A number times some factors."""

    factor: Fraction
    factors: tuple[Formula, ...]
    level = 2

    def value(self, point: Point) -> Any:
        found: Any = self.factor if self.factor.denominator > 1 else self.factor.numerator
        for one in self.factors:
            found = found * one.value(point)
        return found

    def show(self, tex: bool) -> str:
        parametric = isinstance(self.factor, Parametric)
        is_minus = max(self.factor.form.values()) < 0 if isinstance(self.factor, Parametric) else self.factor < 0
        sign, size = ("-", -self.factor) if is_minus else ("", self.factor)
        shown = [] if size == 1 and not parametric else [Number(size).bracketed(tex, 2)]
        # A sum in front of other factors would seem to run over them.
        last = len(self.factors) - 1
        for k, one in enumerate(self.factors):
            shown.append(one.bracketed(tex, 3 if isinstance(one, Sum) and k < last else 2))
        return sign + (r"\," if tex else " ").join(shown)


@dataclass(frozen=True, eq=False)
class Quotient(Formula):
    """One formula divided by another."""

    above: Formula
    below: Formula
    level = 2

    def value(self, point: Point) -> Any:
        below = self.below.value(point)
        above = self.above.value(point)
        if type(above) is type(below) is int and above % below == 0:
            return above // below
        return above * (1 / below if isinstance(below, float) else Fraction(1, below))

    def show(self, tex: bool) -> str:
        if tex:
            return rf"\frac{{{self.above.show(tex)}}}{{{self.below.show(tex)}}}"
        return f"{self.above.bracketed(tex, 2)} / {self.below.bracketed(tex, 3)}"


@dataclass(frozen=True, eq=False)
class Square(Formula):
    """The square of a number, or the squared norm of a vector."""

    of: Formula

    def value(self, point: Point) -> Any:
        value = self.of.value(point)
        return value @ value if isinstance(value, np.ndarray) else value * value

    def show(self, tex: bool) -> str:
        if is_vector(self.of):
            return rf"\lVert {self.of.show(tex)} \rVert^2" if tex else f"‖{self.of.show(tex)}‖²"
        simple = isinstance(self.of, Symbol)
        inner = self.of.show(tex) if simple else self.of.bracketed(tex, 4)
        return f"{inner}^2" if tex else f"{inner}²"


@dataclass(frozen=True, eq=False)
class Dot(Formula):
    """The inner product of two vectors."""

    one: Formula
    other: Formula
    level = 2

    def value(self, point: Point) -> Any:
        return self.one.value(point) @ self.other.value(point)

    def show(self, tex: bool) -> str:
        one, other = (part.bracketed(tex, 3) for part in (self.one, self.other))
        return rf"{one} \cdot {other}" if tex else f"{one}·{other}"


@dataclass(frozen=True, eq=False)
class Sum(Formula):
    """The sum of a formula over the members of a set, to which an index is bound."""

    index: str
    over: str
    of: Formula
    level = 2

    def value(self, point: Point) -> Any:
        return sum(self.of.value(point.within({self.index: member})) for member in point.sets[self.over])

    def show(self, tex: bool) -> str:
        if isinstance(self.of, Product) and self.of.factor < 0 and not isinstance(self.of.factor, Parametric):
            return "-" + Sum(self.index, self.over, -self.of).show(tex)  # the sign in front
        inner = self.of.bracketed(tex, 2)
        return rf"\sum_{{{self.index} \in {self.over}}} {inner}" if tex else f"Σ_{{{self.index}∈{self.over}}} {inner}"


@dataclass(frozen=True, eq=False)
class Applied(Formula):
    """The value of a function, such as a loss."""

    name: str
    tex: str
    of: Formula

    def value(self, point: Point) -> Any:
        return point.apply(self.name, self.of.value(point))

    def show(self, tex: bool) -> str:
        inner = self.of.show(tex)
        return rf"{self.tex or self.name}\left({inner}\right)" if tex else f"{self.name}({inner})"


def is_vector(of: Formula) -> bool:
    """Whether a formula is a vector."""
    if isinstance(of, Symbol):
        return of.is_vector
    if isinstance(of, Total | Product | Sum):
        return any(is_vector(part) for part in of.parts())
    return False


def formula(value: Any) -> Formula:
    """A formula, or a number as one."""
    if isinstance(value, Formula):
        return value
    return Number(value if isinstance(value, Parametric) else Fraction(value))


def is_nothing(term: Formula) -> bool:
    """Whether a term is zero, as a number or as a sum of zeros."""
    return is_nothing(term.of) if isinstance(term, Sum) else isinstance(term, Number) and is_zero(term.number)


def is_zero(number: Fraction) -> bool:
    """Whether a number is zero, whatever the parameters."""
    return number == 0 and not isinstance(number, Parametric)


def total(terms: Iterable[Formula]) -> Formula:
    """The sum of some terms, those that are zero left out and sums among them taken apart."""
    flat: list[Formula] = []
    for term in terms:
        flat += term.terms if isinstance(term, Total) else [term]
    flat = [term for term in flat if not is_nothing(term)]
    return flat[0] if len(flat) == 1 else Total(tuple(flat)) if flat else Number(Fraction(0))


def product(factors: Iterable[Formula]) -> Formula:
    """The product of some factors, with their numbers in front; a number goes into a sum of terms."""
    number, flat = Fraction(1), list[Formula]()
    for one in factors:
        if isinstance(one, Number):
            number = number * one.number
        elif isinstance(one, Product):
            number = number * one.factor
            flat += one.factors
        else:
            flat.append(one)
    if not flat or is_zero(number):
        return Number(number)
    if len(flat) == 1 and isinstance(flat[0], Total) and number == -1:
        return total(product([Number(number), term]) for term in flat[0].terms)
    if len(flat) == 1 and number == 1:
        return flat[0]
    return Product(number, tuple(flat))
