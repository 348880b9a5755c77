"""What a statement of a paper is: two sides that are computed apart from each other, and a verdict on them."""

import ast
import inspect
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from typing import Any

import numpy as np

from ...validation import one_of
from ..answers import as_code
from ..derivation import Derivation
from ..report import text_cell
from ..steps import Line, Proof, Step
from ..symbols import Total, formula

#: The papers, by their names.
PAPERS = ("collobert2006", "chapelle2008", "sindhwani2006", "debie2004", "dai2010")

#: What a function of a statement returns: a number, or an array of numbers.
Value = Any

#: A side of a statement, as a function of the quantities of a problem.
Side = Callable[[Any], Value]

#: The verdicts of :class:`Outcome`.
HOLDS, FALSE_AS_PRINTED, FAILS = "holds", "false as printed", "fails"


@dataclass(frozen=True)
class Outcome:
    """What running a statement has found.

    The verdict is "holds", "fails", or "false as printed" where the printed form fails and the corrected one holds.

    Examples
    --------
    >>> outcome = ct.papers.paper("collobert2006")[4].run()
    >>> outcome.verdict, outcome.printed_off > 0.1
    ('false as printed', True)
    """

    statement: "Statement"
    verdict: str
    computed: Value = None  # on the first of the paper's problems
    claimed: Value = None
    off: float = np.nan  # how much the sides miss each other at most, relative to the larger of 1 and their size
    printed_off: float | None = None  # the same for a printed form that is another one
    detail: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against the statement, as it is corrected."""
        return self.verdict in (HOLDS, FALSE_AS_PRINTED)

    def __str__(self) -> str:
        line = f"{self.statement.number}: {self.verdict}"
        if np.isfinite(self.off) and self.off > 0:
            line += f" (off by {self.off:.1e}, allowed {self.statement.tolerance:.0e})"
        if self.printed_off is not None:
            line += f"; as printed off by {self.printed_off:.1e}"
        return line

    def to_dict(self) -> dict[str, Any]:
        """The outcome as JSON can hold it."""
        one = self.statement
        return {
            "paper": one.paper,
            "number": one.number,
            "says": one.says,
            "verdict": self.verdict,
            "off": None if np.isnan(self.off) else self.off,
            "tolerance": one.tolerance,
            "as_printed_off": self.printed_off,
            "rests_on": list(one.rests_on),
            "detail": self.detail,
        }


@dataclass(frozen=True)
class Counterexample:
    """Where a printed form fails."""

    problem: int  # on which of the statement's problems, from 0
    entry: int | None  # at which entry of the values, if they are several
    computed: Any  # what is so
    corrected: Any  # what the corrected form says
    printed: Any  # what the printed one says, which may have another shape

    def __str__(self) -> str:
        def shown(value: Any) -> str:
            return ", ".join(f"{number + 0.0:.4g}" for number in np.atleast_1d(value))

        where = "" if self.entry is None else f"at entry {self.entry}: "
        so = f"computed {shown(self.computed)}, corrected {shown(self.corrected)}"
        return f"{where}{so}, as printed {shown(self.printed)}"


@dataclass(frozen=True)
class Statement:
    """A numbered item of a paper that can be run.

    Examples
    --------
    >>> statement = ct.papers.paper("collobert2006")[8]
    >>> statement
    collobert2006 eq. 8: The ramp loss is the difference of two hinge losses.
        R_s(z) = H_1(z) - H_s(z)
        left side    ramp(q.s)(q.z)
        right side   H(1, q.z) - H(q.s, q.z)
    >>> statement.latex()
    'R_s(z) = H_1(z) - H_s(z)'
    """

    paper: str
    number: str  # as the paper has it: "eq. 8", "Algorithm 2", "Lemma 2.1"
    computed: Side  # the left side, by the toolkit
    claimed: Side  # the right side, by the paper's formula
    left: str = ""  # LaTeX of both sides, as they are corrected
    right: str = ""
    relation: str = "="  # or "<=" or ">=", of the computed and the claimed side
    sign: str = ""  # LaTeX of the relation where it is one of claims, such as an equivalence
    tolerance: float = 1e-6  # relative to the larger of 1 and the size of the sides
    rests_on: tuple[str, ...] = ()  # numbers of the statements that it is derived from
    faults: Mapping[str, Side] = field(default_factory=dict)  # claims with a mistake, all of which must fail
    printed: Side | None = None  # the claim as it is printed, where that is false
    printed_tex: str = ""  # LaTeX of what is printed, and of the same place as it must be
    corrected_tex: str = ""
    misprint: str = ""  # what is wrong with it
    quantities: Callable[[], list[Any]] = field(default_factory=lambda: list)
    words: str = ""  # what is claimed, where ``computed`` has no docstring

    @property
    def says(self) -> str:
        """What is claimed, as a sentence."""
        return " ".join((self.words or inspect.getdoc(self.computed) or "").partition("\n\n")[0].split())

    @property
    def remark(self) -> str:
        """What else there is to say of it."""
        return " ".join((self.words or inspect.getdoc(self.computed) or "").partition("\n\n")[2].split())

    @property
    def key(self) -> str:
        """The number in letters and digits of ASCII, for file names and links."""
        words = self.number.lower().replace("β", "beta").replace("λ", "lambda").replace("∞", "infinity")
        return re.sub(r"[^a-z0-9]+", "-", words).strip("-")

    @property
    def tex(self) -> str:
        """The statement in LaTeX."""
        return f"{self.left} {self.relation_tex} {self.right}" if self.right else self.left

    @property
    def relation_tex(self) -> str:
        """The relation in LaTeX."""
        return self.sign or {"=": "=", "<=": r"\le", ">=": r"\ge"}[self.relation]

    def latex(self, *, printed: bool = False) -> str:
        """The statement in LaTeX without dollar signs; what is ``printed``, or a ValueError if that is right."""
        if printed and not self.printed_tex:
            raise ValueError(f"printed=True: {self.paper} {self.number} holds as it is printed")
        return self.printed_tex if printed else self.tex

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.tex}$"

    def __str__(self) -> str:
        lines = [f"{self.paper} {self.number}: {self.says}", f"    {self.tex}"]
        for name, code in (("left side", self.code.partition("\n")[2] or self.code), ("right side", self.claim)):
            first, *others = textwrap.dedent(code).removeprefix("return ").splitlines() or [""]
            lines += [f"    {name:12s} {first}", *(f"{'':17s}{line}" for line in others)]
        if self.printed_tex:
            lines.append(f"    {'as printed':12s} {self.printed_tex}")
        if self.misprint:
            head = f"    {'misprint':12s} "
            lines += textwrap.wrap(self.misprint, 100, initial_indent=head, subsequent_indent=" " * len(head))
        return "\n".join(lines)

    __repr__ = __str__

    @property
    def code(self) -> str:
        """The source of the left side: an expression in q, or a function."""
        return source_of(self.computed)

    @property
    def claim(self) -> str:
        """The source of the right side: an expression in q, or a function."""
        return source_of(self.claimed)

    def run(self) -> Outcome:
        """Compute both sides on the paper's problems, and compare them."""
        problems = self.quantities()
        # Of a solver's warnings there is no need: a solution that is inaccurate shows in the comparison.
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            pairs = [(self.computed(q), self.claimed(q)) for q in problems]
        off = max(self.miss(*pair) for pair in pairs)
        printed = None if self.printed is None else self.off_with(self.printed, problems)
        held = bool(off <= self.tolerance)
        verdict = HOLDS if held else FAILS
        if held and printed is not None:
            # A printed form that holds on every problem is not a misprint, so calling it one is a failure.
            verdict = FALSE_AS_PRINTED if printed > self.tolerance else FAILS
        return Outcome(self, verdict, *pairs[0], off, printed, self.misprint)

    def off_with(self, claim: Side, quantities: list[Any] | None = None) -> float:
        """By how much another right side misses what is computed at most; infinite for another shape."""
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            return max(self.miss(self.computed(q), claim(q)) for q in quantities or self.quantities())

    def counterexample(self) -> Counterexample:
        """Where the printed form misses what is computed by most; a ValueError if that is right."""
        if self.printed is None:
            raise ValueError(f"{self.paper} {self.number} holds as it is printed")
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            sides = [(self.computed(q), self.claimed(q), self.printed(q)) for q in self.quantities()]
        place = int(np.argmax([self.miss(computed, printed) for computed, _, printed in sides]))
        arrays = [np.atleast_1d(np.asarray(side, dtype=float)) for side in sides[place]]
        if self.relation == "=" and arrays[0].shape != arrays[2].shape:
            return Counterexample(place, None, *(one.ravel()[:3].tolist() for one in arrays))
        apart = np.nan_to_num(self._violation(arrays[0], arrays[2]), nan=np.inf)
        k = int(np.argmax(apart))
        values = (float(np.broadcast_to(one, apart.shape).flat[k]) for one in arrays)
        return Counterexample(place, k if apart.size > 1 else None, *values)

    def miss(self, computed: Value, claimed: Value) -> float:
        """By how much two values violate the relation, relative to the larger of 1 and their size; NaN is infinite."""
        ours, theirs = np.asarray(computed, dtype=float), np.asarray(claimed, dtype=float)
        if ours.shape != theirs.shape and (self.relation == "=" or theirs.ndim):
            return np.inf
        apart = self._violation(ours, theirs)
        with np.errstate(invalid="ignore"):
            scale = max(1.0, float(np.abs(ours).max(initial=0.0)))
            found = float(apart.max(initial=0.0)) / scale
        return np.inf if np.isnan(found) else found

    def _violation(self, ours: Any, theirs: Any) -> Any:
        """By how much the relation is violated, an entry each; NaN where there is one."""
        apart = ours - theirs
        return np.abs(apart) if self.relation == "=" else np.maximum(apart if self.relation == "<=" else -apart, 0.0)


@dataclass(frozen=True)
class Proven(Statement):
    """A numbered item that is a line of a derivation, and is proven."""

    line: tuple[int, int, Any] = (0, 1, None)  # places of a derivation, from 0, and a step, from 1; and the paper

    @property
    def step(self) -> int:
        """The step that leads to the line, from 1."""
        return self.line[1]

    @property
    def made(self) -> Derivation:
        """The derivation that it is a line of."""
        return self.line[2].derivations[self.line[0]]

    @property
    def after(self) -> Line:
        return self.made[self.step - 1].after

    @property
    def tex(self) -> str:
        return self.after.show(True)

    @property
    def code(self) -> str:
        return f"ct.papers.paper({self.paper!r}).derivations[{self.line[0]}][{self.step - 1}].after"

    @property
    def claim(self) -> str:
        return as_code(self.after.formula, not self.made.setting.balanced)

    def prove(self, wrong: Callable[[Step], Step] = lambda step: step) -> Proof:
        """The proof of the step, or of what is made of it."""
        return wrong(self.made[self.step - 1]).prove(self.made.functions, self.made.setting.points)

    def run(self) -> Outcome:
        proof = self.prove()
        return Outcome(self, HOLDS if proof.proven else FAILS, off=0.0, detail=f"{proof.how}: {proof.detail}")

    def off_with(self, claim: Side, quantities: list[Any] | None = None) -> float:
        """0.0 if another step, which is made of this one, is proven, and infinite if it is refused."""
        return 0.0 if self.prove(claim).proven else np.inf


def changed(part: str, how: Callable[[Any], Any]) -> Callable[[Step], Step]:
    """A step with another part, such as what it has "defined": a mistake that is to be refused."""
    return lambda step: replace(step, **{part: how(getattr(step, part))})


def without(k: int, times: Any = 0) -> Callable[[Step], Step]:
    """The step to the line without its k-th term, or with another multiple of it."""

    def wrong(line: Line) -> Line:
        terms = list(line.formula.terms) if isinstance(line.formula, Total) else [line.formula]
        terms[k] = times * terms[k]
        return replace(line, formula=sum(terms, formula(0)))

    return changed("after", wrong)


def unconditioned(k: int) -> Callable[[Step], Step]:
    """The step to the line without its k-th condition."""
    return changed("after", lambda line: replace(line, conditions=line.conditions[:k] + line.conditions[k + 1 :]))


class Paper:
    """A paper, and its statements; ``quantities`` makes those of the problems that they are run on.

    Examples
    --------
    >>> paper = ct.papers.paper("dai2010")
    >>> paper.title, paper["Lemma 3"].run().verdict
    ('Compact Margin Machine', 'false as printed')
    """

    def __init__(self, name: str, title: str, quantities: Callable[[], list[Any]] = list) -> None:
        self.name, self.title, self._make = name, title, quantities
        self._statements: dict[str, Statement] = {}

    @cache  # noqa: B019  # papers are there as long as the program
    def quantities(self) -> list[Any]:
        """The quantities of the problems that statements are run on; the first has six points."""
        return self._make()

    def states(
        self,
        number: str,
        left: str = "",
        right: str = "",
        *,
        says: str = "",
        computed: Side | None = None,
        **given: Any,
    ) -> Callable[[Side], Side]:
        """Add a numbered item; a decorator of the function that computes its left side, if that is not given.

        Parameters
        ----------
        number, left, right, says : str
        computed : callable, optional
        **given
            Other attributes of :class:`Statement`; ``quantities`` if the item has problems of its own.
        """

        def add(computed: Side) -> Side:
            options = {"quantities": self.quantities, "words": says, **given}
            self.add(Statement(self.name, number, computed, left=left, right=right, **options))
            return computed

        if computed is not None:
            add(computed)
        return add

    def add(self, statement: Statement) -> None:
        """Add an item; a ValueError if there is one with its number."""
        if statement.number in self._statements:
            raise ValueError(f"{self.name} has two statements {statement.number}")
        self._statements[statement.number] = statement

    @cached_property
    def derivations(self) -> tuple[Derivation, ...]:
        """What the paper derives, in proven steps."""
        module = import_module(f"{__package__}.{self.name}.derivation")
        return tuple(module.derivations())

    def cells(self, *, exercise: bool = False) -> list[dict[str, Any]]:
        """The derivations as cells of a notebook, with blanks to be filled in for an ``exercise``."""
        found = [text_cell(f"# {self.title} ({self.name})")]
        for place, derivation in enumerate(self.derivations):
            found += derivation.cells(f"ct.papers.paper({self.name!r}).derivations[{place}]", exercise=exercise)
        return found

    def proven(self, number: str, says: str, derivation: int, step: int, faults: Mapping[str, Side]) -> None:
        """Add an item that is the line after a step, counted from 1, of one of :attr:`derivations`."""
        of = (derivation, step, self)
        self.add(Proven(self.name, number, float, float, faults=faults, words=says, line=of))

    def __iter__(self) -> Iterator[Statement]:
        return iter(self._statements.values())

    def __len__(self) -> int:
        return len(self._statements)

    def __getitem__(self, number: str | int | float) -> Statement:
        """The item with a number; a bare number is an equation's."""
        wanted = f"eq. {number}" if isinstance(number, int | float) else " ".join(str(number).split())
        for one in self:
            if one.number.lower() in (wanted.lower(), f"eq. {wanted}".lower()):
                return one
        raise ValueError(f"number={number!r} must be one of {', '.join(self._statements)}")

    def run(self) -> "PaperReport":
        """Run all statements."""
        return PaperReport(self, tuple(one.run() for one in self))

    def __repr__(self) -> str:
        return f"<{self.name}: {self.title}, {len(self)} statements>"


def paper(name: str) -> Paper:
    """A paper with its numbered statements, which can be run.

    Iterate over it, take a statement by its number (``paper("collobert2006")[23]``), or ``run`` them all.

    Parameters
    ----------
    name : {"collobert2006", "chapelle2008", "sindhwani2006", "debie2004", "dai2010"}

    Examples
    --------
    >>> ct.papers.paper("collobert2006")[8].run().verdict
    'holds'
    """
    made: Paper = import_module(f".{one_of('paper', name, PAPERS)}.quantities", __package__).PAPER
    for module in ("items", "derivation"):
        import_module(f".{name}.{module}", __package__)
    return made


@dataclass(frozen=True)
class PaperReport:
    """The outcomes of all statements of a paper.

    Examples
    --------
    >>> report = ct.papers.paper("sindhwani2006").run()
    >>> report.passed, report["eq. 1.9"].verdict
    (True, 'holds')
    """

    paper: Paper
    outcomes: tuple[Outcome, ...]

    @property
    def passed(self) -> bool:
        """Whether no statement fails."""
        return not any(outcome.verdict == FAILS for outcome in self.outcomes)

    def __getitem__(self, number: str | int | float) -> Outcome:
        wanted = self.paper[number]
        return next(outcome for outcome in self.outcomes if outcome.statement is wanted)

    @property
    def counts(self) -> dict[str, int]:
        """How many statements have each verdict."""
        found = [outcome.verdict for outcome in self.outcomes]
        return {verdict: found.count(verdict) for verdict in dict.fromkeys(found)}

    @property
    def summary(self) -> str:
        """The counts as words: "30 hold, 6 are false as printed"."""
        verbs = {HOLDS: ("holds", "hold"), FALSE_AS_PRINTED: ("is false as printed", "are false as printed")}
        verbs[FAILS] = ("fails", "fail")
        return ", ".join(f"{count} {verbs[verdict][count > 1]}" for verdict, count in self.counts.items())

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON can hold it."""
        outcomes = [outcome.to_dict() for outcome in self.outcomes]
        return {"paper": self.paper.name, "title": self.paper.title, "counts": self.counts, "statements": outcomes}

    def __str__(self) -> str:
        lines = [f"{self.paper.name}: {self.paper.title}", ""]
        width = max(len(outcome.statement.number) for outcome in self.outcomes)
        for outcome in self.outcomes:
            one = outcome.statement
            lines.append(f"{one.number:{width}s}  {outcome.verdict.upper() if not outcome.passed else outcome.verdict}")
            found = str(outcome).partition(": ")[2].partition(" (")[2].replace(")", "", 1)
            for text in (one.says, found, outcome.detail):
                lines += [" " * (width + 2) + line for line in textwrap.wrap(text, 100 - width)]
        return "\n".join([*lines, "", self.summary])


def source_of(side: Side) -> str:
    """The source of a side: of a lambda the expression that it returns, of another function its code."""
    if getattr(side, "__name__", "") != "<lambda>":
        return _with_numbers(function_source(side), side)
    module, line = inspect.getmodule(side), side.__code__.co_firstlineno
    found = [node for node in _lambdas(inspect.getsource(module)) if node[0] == line] if module else []
    return _with_numbers(found[0][1], side) if found else ""


def _with_numbers(text: str, side: Side) -> str:
    """The source of a side with the numbers that it has from a function around it in the place of their names."""
    for name, value in inspect.getclosurevars(getattr(side, "func", side)).nonlocals.items():
        if isinstance(value, int | float):
            text = re.sub(rf"\b{name}\b", repr(value), text)
    return text


@cache
def _lambdas(text: str) -> list[tuple[int, str]]:
    """Lines and bodies of the lambdas in a module."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Lambda)]
    return [(node.lineno, textwrap.dedent(ast.get_source_segment(text, node.body) or "")) for node in nodes]


def function_source(function: Side) -> str:
    """The source of a function without decorators and docstring."""
    function = getattr(function, "func", function)
    text = textwrap.dedent(inspect.getsource(function))
    node = ast.parse(text).body[0]
    if not isinstance(node, ast.FunctionDef):
        return text.strip()
    body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
    lines = text.splitlines()
    head = lines[node.lineno - 1 : node.body[0].lineno - 1]
    return "\n".join([*head, *lines[body[0].lineno - 1 : node.end_lineno]])
