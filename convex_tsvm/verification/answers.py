"""Grades of answers: a formula that somebody has written as code, tried at random points, with the kind of mistake."""

import inspect
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import CodeType
from typing import Any, ClassVar

import numpy as np

from ..validation import integer
from .exact import Exact
from .steps import Lemma
from .symbols import Applied, Dot, Formula, Number, Point, Product, Quotient, Square, Sum, Symbol, Total


@dataclass(frozen=True)
class Grade:
    """What there is to say of an answer.

    Examples
    --------
    >>> grade = ct.derive(ct.formulations.svm(), "dual").grade(1, lambda q: 2.0)
    >>> grade.right, bool(grade)
    (False, False)
    """

    right: bool
    reason: str

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return f"{'right' if self.right else 'not right'}: {self.reason}"

    __repr__ = __str__


def python_name(symbol: str) -> str:
    """What a symbol or a function is called in code: "alpha_tilde" for α̃, "ell_L_conjugate" for ℓ_L*."""
    marks = {"TILDE": "_tilde", "CIRCUMFLEX ACCENT": "_hat", "MACRON": "_bar", "ASTERISK": "_conjugate"} | {"ZERO": "0"}
    found = ""
    for letter in unicodedata.normalize("NFD", symbol.replace("λ", "lam").replace("ℓ", "ell").replace(" ", "_")):
        if letter.isascii() and (letter.isalnum() or letter == "_"):
            found += letter
            continue
        kind = re.sub("COMBINING |SUPERSCRIPT |GREEK (SMALL|CAPITAL) LETTER ", "", unicodedata.name(letter))
        found += marks.get(kind, kind.capitalize() if letter.isupper() else kind.lower())
    return found


class Quantities:
    """What an answer is a function of: the symbols of a derivation as arrays, its sets, and its functions."""

    #: What symbols of a formulation's derivation mean.
    meanings: ClassVar[Mapping[str, str]] = {
        "w": "weights of the features",
        "b": "the bias",
        "x": "points, a row each",
        "y": "labels",
        "C": "costs",
        "c": "the mean output that the balance asks for",
        "β": "costs times slopes of the concave part, where the tangents touch",
        "t⁰": "outputs where the tangents touch",
        "k": "what does not depend on w and b",
        "ξ": "slacks",
        "α": "multipliers",
        "ν": "multipliers of what is not negative",
        "μ": "multipliers of upper bounds",
        "K": "kernel values",
        "Γ": "the label matrix",
    }

    def __init__(self, derivation: Any, point: Point) -> None:
        start = 0 if derivation.setting.balanced else 1
        for name, members in point.sets.items():
            setattr(self, name, np.array([one - start * (name != "D") for one in members], dtype=np.intp))
        everywhere = [*([0] if start == 0 else []), *point.sets["I"]]
        for symbol in symbols_of(derivation):
            # Letters a and b number features, and others points.
            ranges = [point.sets["D"] if one in ("a", "b") else everywhere for one in symbol.indices]
            found = [np.array(symbol[one].value(point), dtype=float) for one in itertools.product(*ranges)]
            value = np.array(found).reshape(*map(len, ranges), *np.shape(found[0])) if ranges else found[0]
            setattr(self, python_name(symbol.name), value)
        for name in derivation.functions:
            setattr(
                self, python_name(name), np.vectorize(lambda t, name=name: float(point.apply(name, t)), otypes=[float])
            )


def described(derivation: Any) -> Iterator[str]:
    """What each of the quantities ``q`` is: symbols, with their shapes at a random point, sets, and functions.

    What is not of a formulation has a legend that says what its symbols mean.
    """
    q = Quantities(derivation, next(random_points(derivation, derivation.steps[-1].defined)))
    codes = [as_code(line.formula, False) for line in (derivation.first, *(step.after for step in derivation.steps))]
    symbols = {python_name(symbol.name): symbol.name for symbol in symbols_of(derivation)}
    for name, symbol in symbols.items():
        shape = np.shape(getattr(q, name))
        first = next((k for k, code in enumerate(codes) if re.search(rf"q\.{name}\b", code)), 0)
        meaning = "" if derivation.setting.legend else q.meanings.get(symbol, "")
        since = f"from step {first} on" if first else ""
        said = ", ".join(filter(None, (symbol, meaning, since)))
        yield f"`q.{name}`: {said} ({f'an array, shape {shape}' if shape else 'a number'})"
    for name in sorted(set(re.findall(r" in q\.(\w)\b", " ".join(codes))) - set(symbols)):
        yield f"`q.{name}`: the set {name}, as indices of arrays (an array, shape {getattr(q, name).shape})"
    for name in derivation.functions:
        yield f"`q.{python_name(name)}(t)`: {name} (a function of numbers and arrays)"


def as_code(formula: Formula, from_one: bool) -> str:
    """A formula as code of quantities q, which are arrays; points are numbered from 1 if there is no x_0."""

    def code(one: Formula) -> str:
        return as_code(one, from_one)

    if isinstance(formula, Number):
        number = formula.number
        return str(number.numerator) if number.denominator == 1 else f"({float(number)!r})"
    if isinstance(formula, Symbol):
        if formula.name in ("|F|", "|U|"):
            return f"len(q.{formula.name[1]})"
        own = ", ".join(one if isinstance(one, str) else str(one - from_one) for one in formula.indices)
        return f"q.{python_name(formula.name)}" + (f"[{own}]" if own else "")
    if isinstance(formula, Sum):
        return f"sum({code(formula.of)} for {formula.index} in q.{formula.over})"
    if isinstance(formula, Total):
        return "(" + " + ".join(map(code, formula.terms)) + ")"
    if isinstance(formula, Product):
        factors = [code(Number(formula.factor))] if formula.factor != 1 else []
        return " * ".join([*factors, *map(code, formula.factors)])
    if isinstance(formula, Quotient):
        return f"({code(formula.above)}) / ({code(formula.below)})"
    if isinstance(formula, Square):
        return f"np.sum(({code(formula.of)}) ** 2)"
    if isinstance(formula, Dot):
        return f"({code(formula.one)}) @ ({code(formula.other)})"
    assert isinstance(formula, Applied)
    return f"q.{python_name(formula.name)}({code(formula.of)})"


def symbols_of(derivation: Any) -> list[Symbol]:
    """The symbols of all lines, one of each name."""
    found: dict[str, Symbol] = {}
    for step in derivation.steps:
        for formula in (step.before.formula, step.after.formula, *(meant for _, meant in step.defined.values())):
            for one in formula.walk():
                if isinstance(one, Symbol) and one.name not in ("|F|", "|U|"):
                    found.setdefault(one.name, one)
    return list(found.values())


def grade(derivation: Any, k: int, answer: Callable[[Any], Any], reveal: bool, seed: int | None) -> Grade:
    """See :meth:`Derivation.grade`."""
    integer("k", k, least=1, most=len(derivation))
    if not callable(answer):
        raise ValueError(f"answer={answer!r} must be a function of the quantities q")
    step = derivation[k - 1]
    points = list(random_points(derivation, step.defined, seed))
    wanted = np.array([float(step.after.formula.value(point)) for point in points])
    found = answered(answer, [Quantities(derivation, point) for point in points], [()] * len(points))
    if isinstance(found, Grade):
        return found
    got = np.array(found)
    if all(apart(one, right) <= 1e-9 for one, right in zip(got, wanted, strict=True)):  # up to rounding
        return Grade(True, f"equal at {len(points)} random points")
    mistake = _mistake(derivation, k, points, got, wanted)
    code = re.sub(r" in q\.\w", "", as_code(step.after.formula, False))  # without the sets of sums
    return Grade(False, mistake or hint(answer, code, got, wanted, reveal))


def apart(value: Any, right: Any) -> float:
    """By how much two values differ, relative to the larger of 1 and their size; equal infinities do not."""
    with np.errstate(invalid="ignore"):
        between = np.where(value == right, 0.0, np.abs(value - right))
    finite = np.abs(right[np.isfinite(right)]) if np.ndim(right) else np.abs(right)
    return float(np.max(between, initial=0.0)) / max(1.0, float(np.max(finite, initial=0.0)))


def hint(answer: Any, code: str, got: Any, wanted: Any, reveal: bool) -> str:
    """What helps on with an answer: quantities of the formula's code that it has not, or where it is too large.

    With ``reveal`` it is the value that the answer misses by most.
    """
    got, wanted = np.atleast_1d(got), np.atleast_1d(wanted)
    if reveal:
        k = int(np.argmax(np.abs(got - wanted)))
        return f"it is {got.flat[k]:.6g}{'' if got.size == 1 else f' at entry {k}'}, and should be {wanted.flat[k]:.6g}"
    known = names_used(answer)
    missing = [f"q.{name}" for name in dict.fromkeys(re.findall(r"\bq\.(\w+)", code)) if name not in known]
    if missing and inspect.isfunction(answer):
        return f"the formula depends on {', '.join(missing)}, and the answer does not"
    large, small = int((got > wanted).sum()), int((got < wanted).sum())
    said = [f"too {how} at {count}" for how, count in (("large", large), ("small", small)) if count]
    return f"it is {' and '.join(said)} of {got.size} values; reveal=True says by how much"


def names_used(answer: Any, callers: tuple[Any, ...] = ()) -> set[str]:
    """Names in the code of a function, and in that of the functions that it calls."""
    if not inspect.isfunction(answer) or answer in callers:
        return set()
    codes = [answer.__code__]
    for code in codes:  # those of functions inside it are added as they are found
        codes += [one for one in code.co_consts if isinstance(one, CodeType)]
    variables = inspect.getclosurevars(answer)
    called = (*variables.nonlocals.values(), *variables.globals.values())
    return {name for code in codes for name in code.co_names}.union(
        *(names_used(one, (*callers, answer)) for one in called)
    )


def answered(answer: Any, quantities: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> list[Any] | Grade:
    """What an answer is for each of some quantities, in these shapes, or the grade of one that is not."""
    found = []
    for q, shape in zip(quantities, shapes, strict=True):
        try:
            given = answer(q) if callable(answer) else answer
            if given is ... or given is None:
                return Grade(False, "not filled in yet")
            value = np.asarray(given, dtype=float)
        except Exception as error:  # an answer that raises anything is a wrong answer
            return Grade(False, f"the answer raises {type(error).__name__}: {error}")
        if value.shape != shape:
            return Grade(False, f"the answer has shape {value.shape}; it must be {shape or 'one number'}")
        found.append(value)
    return found


def random_points(derivation: Any, defined: Any, seed: int | None = None) -> Iterator[Point]:
    """Points with numbers of ordinary size, values of functions, and multipliers where conjugates are finite."""
    drawn = [] if seed is None else [integer("seed", seed, least=0)]
    setting = derivation.setting
    functions = {name: lambda _, t, f=function: float(f(t)) for name, function in derivation.functions.items()}
    # Numbers of labelled points, of others, and of features; not those of the proofs.
    sizes = ((2, 2, 3), (3, 1, 2), (2, 4, 2))
    for (number, (known, unknown, dimension)), trial in itertools.product(enumerate(sizes), range(8)):
        rng, count = np.random.default_rng([*drawn, number, trial]), known + unknown if setting.free_labels else known
        signs = tuple(int(sign) for sign in rng.choice((-1, 1), size=count))
        point = setting.point(known, unknown, dimension, signs, partial(rng.normal))
        for i in point.sets["I"]:
            point.values["C", i] = abs(point.values.get(("C", i), rng.uniform(0.5, 2)))
            point.values["α", i] = _in_domain(derivation, point, i, rng)
        for name, i in itertools.product(setting.shares, point.sets["I"]):
            point.values[name, i] = float(rng.uniform(0.1, 0.9))
        if "α" in defined:  # it has a meaning there, and no value of its own
            point.values = {key: value for key, value in point.values.items() if key[0] != "α"}
        yield replace(point, defined=defined, functions=functions)


def _in_domain(derivation: Any, point: Point, i: int, rng: Any) -> float:
    """A multiplier α_i at which -C u*(-α / C) is finite for what the point pays."""
    over = "L" if i in point.sets["L"] else "U"
    for name in (f"u_{over}*", f"ℓ_{over}*", f"e_{over}*", "r*"):
        conjugate = derivation.functions.get(name)
        if isinstance(conjugate, Exact):
            low, high = (max(-2.0, min(2.0, float(end))) for end in conjugate.domain)
            return -point.values["C", i] * float(rng.uniform(low, high))
    return float(rng.normal())


def _mistake(derivation: Any, k: int, points: list[Point], got: Any, wanted: Any) -> str:
    """The kind of mistake: a term's sign or factor, a missing one, one that is 0 at the optimum only; or ""."""
    if not np.isfinite(got).all():
        return (
            "the answer is not finite where the formula is" if np.isfinite(wanted).all() else "it is infinite elsewhere"
        )
    formula = derivation[k - 1].after.formula
    terms: list[tuple[str, Formula]] = [
        (str(one), one) for one in (formula.terms if isinstance(formula, Total) else (formula,))
    ]
    own = len(terms)
    for step in derivation.steps:
        if step.lemma is Lemma.LAGRANGIAN:
            terms += [(str(one.times(f)), one.times(f)) for one, f in zip(step.dropped, step.multipliers, strict=False)]
    try:
        values = np.array([[float(one.value(point)) for _, one in terms] for point in points])
    except (ArithmeticError, KeyError, TypeError, ValueError):
        values = np.array([[float(one.value(point)) for _, one in terms[:own]] for point in points])
    difference = got - wanted
    scale = np.abs(values).max(axis=0) + 1e-300
    for columns in (range(own), range(values.shape[1])):
        part = values[:, list(columns)] / scale[list(columns)]
        found, *_ = np.linalg.lstsq(part, difference, rcond=None)
        if np.abs(part @ found - difference).max() <= 1e-7 * (1 + np.abs(wanted).max()):
            by = found / scale[list(columns)]
            kept = [n for n in columns if abs(by[n]) > 1e-6]
            return _said([terms[n][0] for n in kept], [float(by[n]) for n in kept], own, kept)
    relation = derivation[k - 1].relation
    before = np.array([float(derivation[k - 1].before.formula.value(point)) for point in points])
    sign = {"<=": 1.0, ">=": -1.0}.get(relation, np.nan)
    if (sign * (got - before) >= -1e-9).all():  # up to rounding
        return "it is a bound, too, but another one than the lemma gives"
    return ""


def _said(names: list[str], factors: list[float], own: int, places: list[int]) -> str:
    """A mistake in words, from the multiples of terms that an answer has too much of."""
    said = []
    for name, factor, place in zip(names, factors, places, strict=True):
        if place >= own:
            said.append(f"differs by {factor:.4g} times {name}, which is 0 at the optimum only")
        elif abs(factor + 1) < 1e-6:
            said.append(f"{name} is missing")
        elif abs(factor + 2) < 1e-6:
            said.append(f"{name} has the wrong sign")
        else:
            said.append(f"{name} has the factor {1 + factor:.4g}")
    return "; ".join(said)
