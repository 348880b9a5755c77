"""Numbers that know what they are of the parameters of a loss, so that a derivation shows 1 - s where s is -0.3."""

import inspect
import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from numbers import Rational
from typing import Any, ClassVar

import numpy as np

from ..losses import PLQ, catalogue

Monomial = tuple[str, ...]  # names of parameters, () for 1


class Parametric(Fraction):
    """A rational number that is a polynomial of parameters."""

    #: How parameters of losses are written, and their letters in LaTeX.
    symbols: ClassVar[Mapping[str, str]] = dict(
        zip(("epsilon", "weight", "slope", "width", "plateau", "bend"), "ελmδpd", strict=True)
    )
    letters: ClassVar[Mapping[str, str]] = {"ε": r"\varepsilon", "λ": r"\lambda", "δ": r"\delta"}
    #: Denominators up to this are tried for the numbers of a loss: 0.7 is 7/10, and a third is found in 0.333….
    most_denominator: ClassVar[int] = 10_000
    #: How far a number of a loss may be from such a fraction, relative to the larger of 1 and its size: rounding.
    rounding: ClassVar[float] = 4e-16

    form: dict[Monomial, Fraction]

    @classmethod
    def of(cls, value: Any, form: Mapping[Monomial, Any]) -> Fraction:
        """The number with its polynomial; a fraction if that is a constant."""
        kept = {names: Fraction(factor) for names, factor in form.items() if factor}
        if set(kept) <= {()}:
            return Fraction(value)
        made = cls(value)
        made.form = kept
        return made

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Rational):
            return float(self) + other if isinstance(other, float) else NotImplemented
        form: Any = Counter(self.form)
        form.update(_form(other))
        return Parametric.of(Fraction(self) + Fraction(other), form)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Rational):
            return float(self) * other if isinstance(other, float) else NotImplemented
        form: Any = Counter()
        for (one, a), (two, b) in itertools.product(self.form.items(), _form(other).items()):
            form[tuple(sorted(one + two))] += a * b
        return Parametric.of(Fraction(self) * Fraction(other), form)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __sub__(self, other: Any) -> Any:
        return self + -1 * other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __truediv__(self, other: Any) -> Any:
        return self * (1 / Fraction(other)) if type(other) in (int, Fraction) else Fraction(self) / other

    def shown(self, tex: bool) -> str:
        """The polynomial as it is written, such as "1 - s"."""
        letters = self.letters if tex else {}
        text = ""
        for names, factor in sorted(self.form.items(), key=lambda item: (item[1] < 0, len(item[0]))):
            size = "" if abs(factor) == 1 and names else str(abs(factor))
            sign = " - " if factor < 0 else " + "
            text += (sign if text else sign.strip().removeprefix("+")) + " ".join(
                [size, *(letters.get(name, name) for name in names)]
            ).strip()
        return text


def _form(number: Any) -> dict[Monomial, Fraction]:
    return number.form if isinstance(number, Parametric) else {(): Fraction(number)}


def rational(x: float) -> Any:
    """A number as a fraction: a simple one if it is that up to rounding, or else exactly the one of its bits."""
    if np.isinf(x):
        return x
    near = Fraction(x).limit_denominator(Parametric.most_denominator)
    return near if abs(float(near) - x) <= Parametric.rounding * max(1.0, abs(x)) else Fraction(x)


def numbers_of(loss: PLQ, read: Callable[[PLQ], Any], samples: int = 16, share: float = 0.2) -> list[Any]:
    """Numbers that are read off a loss, as polynomials of its parameters where they are of degree two at most.

    The loss is made again with so many other parameters, which differ by up to a ``share``; a polynomial that gives all
    the numbers read off is what is meant.
    """
    found = [rational(x) for x in read(loss)]
    if loss.made_by is None:
        return found
    name, given = loss.made_by
    make = getattr(catalogue, name)
    usual = {name: one.default for name, one in inspect.signature(make).parameters.items()}
    names = [name for name, value in given.items() if np.isfinite(value) and value != usual[name]]
    rng, rows, columns = np.random.default_rng(0), [], []
    for _ in range(samples):
        moved = given | {name: given[name] * (1 + share * rng.uniform(-1, 1)) for name in names}
        try:
            other = read(catalogue.remade(loss, **moved))
        except ValueError:
            return found
        if len(other) != len(found):
            return found
        rows.append(other)
        columns.append([float(moved[name]) for name in names])
    powers: list[tuple[int, ...]] = [(), *((k,) for k in range(len(names)))]
    powers += itertools.combinations_with_replacement(range(len(names)), 2)
    at = np.array(columns).reshape(samples, -1)
    values = np.array([[np.prod(row[list(power)]) for power in powers] for row in at])
    with np.errstate(invalid="ignore"):
        read_off = np.array(rows)
        factors = np.linalg.lstsq(values, np.where(np.isfinite(read_off), read_off, 0.0), rcond=None)[0]
    for k in range(len(found)):
        simple = [Fraction(float(factor)).limit_denominator(24) for factor in factors[:, k]]
        exact = np.array([float(one) for one in simple])
        if np.isfinite(read_off[:, k]).all() and np.abs(values @ exact - read_off[:, k]).max() <= 1e-12:
            form = {tuple(sorted(Parametric.symbols.get(names[i], names[i]) for i in power)): factor
                    for power, factor in zip(powers, simple, strict=True)}  # fmt: skip
            parameters = {Parametric.symbols.get(name, name): rational(float(given[name])) for name in names}
            value = sum((factor * _value(own, parameters) for own, factor in form.items()), Fraction(0))
            found[k] = Parametric.of(value, form)
    return found


def _value(names: Monomial, parameters: Mapping[str, Any]) -> Any:
    value: Any = Fraction(1)
    for name in names:
        value = value * parameters[name]
    return value
