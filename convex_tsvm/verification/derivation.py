"""A derivation: its lines, the steps between them, their proofs, and grades of answers to them."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, ClassVar, Self

from .answers import Grade, as_code, described, grade
from .dual import applied
from .exact import Exact, Functions
from .report import code_cell, plain, text_cell
from .steps import Chain, Line, Proof, Setting, Step
from .symbols import Symbol


@dataclass(frozen=True)
class ProvenDerivation:
    """What proving every step has found.

    Examples
    --------
    >>> report = ct.derive(ct.formulations.svm(), "dual").prove()
    >>> report.proven, report.steps[-1].how
    (True, 'exact')
    """

    title: str
    steps: tuple[Proof, ...]  # for each step whether it is ``proven``, ``how``, and the ``detail``
    seconds: float

    @property
    def proven(self) -> bool:
        """Whether every step is proven, and none only compared with numbers."""
        return all(step.proven and step.how != "numbers" for step in self.steps)

    @property
    def passed(self) -> bool:
        """Whether no step has failed."""
        return all(step.proven for step in self.steps)

    def __str__(self) -> str:
        lines = [f"{self.title}: {'proven' if self.proven else 'holds' if self.passed else 'NOT PROVEN'}"]
        for number, step in enumerate(self.steps, 1):
            lines.append(f"{'ok  ' if step.proven else 'FAIL'} {number}. {step.how}: {step.detail}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Derivation:
    """Lines that follow from a formulation, and the lemma that leads to each.

    Examples
    --------
    >>> derivation = ct.derive(ct.formulations.svm(), "dual")
    >>> print(derivation[-1].after)
    max over α of -½ Σ_{i∈L} Σ_{j∈L} y_i α_i y_j α_j K_ij + Σ_{i∈L} α_i
        where α_i ≥ 0 for i∈L, C_i ≥ α_i for i∈L, Σ_{i∈L} y_i α_i = 0
    """

    #: How lines are related, in LaTeX.
    relations: ClassVar[Mapping[str, str]] = {"=": "=", ">=": r"\ge", "<=": r"\le", "~": r"\sim"}

    title: str
    first: Line  # where it begins
    steps: tuple[Step, ...]  # each with its ``lemma``, ``why`` it applies, and the line ``after`` it
    functions: Functions  # the losses, their parts and conjugates, by the names that lines have for them
    setting: Setting

    @classmethod
    def of(cls, title: str, chain: Chain, sources: Sequence[str] = ()) -> Self:
        """What has been derived, with the places where a paper has its lines."""
        made = cls(title, chain.problem, tuple(chain.steps), dict(chain.functions), chain.setting)
        return made.cited(*sources)

    def cited(self, *sources: str) -> Self:
        """The same with the places where a paper has its lines, in their order, "" where it has none."""
        steps = [replace(step, source=source) for step, source in zip(self.steps, sources, strict=False)]
        return replace(self, steps=(*steps, *self.steps[len(steps) :]))

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __getitem__(self, k: int) -> Step:
        return self.steps[k]

    def prove(self) -> ProvenDerivation:
        """Prove every step: of all losses, for every output; of all points, labels, weights and multipliers.

        Losses are compared as rational functions.  Identities are compared at random integers, not at optima, for
        several numbers of points; the probability that a false one passes is stated, and below 1e-30.
        """
        began = time.perf_counter()
        proofs = tuple(step.prove(self.functions, self.setting.points) for step in self.steps)
        return ProvenDerivation(self.title, proofs, time.perf_counter() - began)

    def grade(self, k: int, answer: Callable[[Any], Any], *, reveal: bool = False, seed: int | None = None) -> Grade:
        """Grade an answer to the k-th step, counted from 1: the formula of the line after it.

        The grade is true if the answer is right; if not it prints what kind of mistake there is, or a hint.

        Parameters
        ----------
        k : int
        answer : callable
            Of quantities ``q``, which it is given at random points, feasible and infeasible: arrays ``q.alpha``,
            ``q.y``, ``q.K`` and so on over the points, x_0 first where there is a balance; index arrays ``q.L``,
            ``q.U``, ``q.F``, ``q.I``, ``q.J`` of the sets; and functions such as ``q.ell_L(t)``.  It returns the value
            of the line.
        reveal : bool
            Whether a value that the answer misses is shown, in place of a hint.
        seed : int, optional
            Draws other points than everybody has.

        Examples
        --------
        >>> dual = ct.derive(ct.formulations.svm(), "dual")
        >>> dual.grade(len(dual), lambda q: q.alpha.sum() + 0.5 * (q.y * q.alpha) @ q.K @ (q.y * q.alpha))
        not right: -½ Σ_{i∈L} Σ_{j∈L} y_i α_i y_j α_j K_ij has the wrong sign
        """
        return grade(self, k, answer, reveal, seed)

    @property
    def legend(self) -> str:
        """What the sets are."""
        if self.setting.legend:
            return self.setting.legend
        if not self.setting.unlabeled:
            return "L: labelled points, of which each costs C_i."
        copies = ", once with y_i = 1 and once with y_i = -1, and F: each once" if self.setting.copies else ""
        mean = "; J: these and the mean x_0 of the unlabelled points" if self.setting.balanced else ""
        costs = "C_i is C of a labelled point, C* of another."
        return f"L: labelled points; U: unlabelled ones{copies}; I: both{mean}. {costs}"

    def __str__(self) -> str:
        functions = (f"{name}(t) = {one}" for name, one in self.functions.items() if isinstance(one, Exact))
        lines = [self.title, "=" * len(self.title), self.legend, *functions, "", f"{self.first}"]
        for number, step in enumerate(self.steps, 1):
            source = f" [{step.source}]" if step.source else ""
            lines.append(f"{number}. {step.lemma.title}{source}: {step.why}")
            lines.append(f"  {step.relation} {step.after}")
        return "\n".join(lines)

    def functions_in_latex(self) -> list[str]:
        """The losses, their parts and conjugates in LaTeX."""
        known = [(name, one) for name, one in self.functions.items() if isinstance(one, Exact)]
        return [f"{applied(name, Symbol('t')).show(True)} = {one.show(True)}" for name, one in known]

    def latex(self) -> str:
        """The derivation as LaTeX: paragraphs and displayed formulas, without a preamble."""
        return "\n\n".join(self._laid_out(as_text, r"\textbf{{{}.}} {}", r"\[ {} \]", "{}"))

    def shown(self) -> list[tuple[str, str, str]]:
        """For each step its number and lemma, why it applies, and its line in LaTeX."""
        return [
            (
                f"{number}. {step.lemma.title}" + (f" ({step.source})" if step.source else ""),
                step.why,
                f"{self.relations[step.relation]} {step.after.show(True)}",
            )
            for number, step in enumerate(self.steps, 1)
        ]

    def _repr_markdown_(self) -> str:
        """The derivation for notebooks."""
        return "\n\n".join([f"### {self.title}", *self._laid_out(str, "**{}.** {}", "$$ {} $$", "{}")])

    def html(self) -> str:
        """The derivation as HTML, with formulas for MathJax."""
        rows = self._laid_out(escape, "<p><b>{}.</b> {}</p>", r"<p>\[ {} \]</p>", "<p>{}</p>", escape)
        return f"<section><h3>{escape(self.title)}</h3>{''.join(rows)}</section>"

    def _laid_out(
        self, words: Callable[[str], str], step: str, formula: str, text: str, tex: Callable[[str], str] = str
    ) -> list[str]:
        """The legend, the formulas of functions and of the first line, and each step's words and formula."""
        parts = [text.format(words(self.legend))]
        parts += [formula.format(tex(one)) for one in (*self.functions_in_latex(), self.first.show(True))]
        for head, why, shown in self.shown():
            parts += [step.format(words(head), words(why)), formula.format(tex(shown))]
        return parts

    def cells(self, made: str, *, exercise: bool = False) -> list[dict[str, Any]]:
        """The cells of a notebook: a step each, and after it its formula as code, or, in an ``exercise``, a blank.

        ``made`` is the code that makes the derivation.
        """
        found = [text_cell(f"# {self.title}\n\n{self.legend}\n\n$$ {self.first.show(True)} $$")]
        if exercise:
            head = "Quantities, with shapes at the first of the random points that answers are tried at:\n"
            found.append(text_cell("\n".join([head, *(f"- {one}" for one in described(self))])))
        found.append(code_cell(f"import numpy as np\nimport convex_tsvm as ct\n\nderivation = {made}"))
        for number, (step, (head, why, formula)) in enumerate(zip(self.steps, self.shown(), strict=True), 1):
            shown = rf"{self.relations[step.relation]}\;?" if exercise else formula
            lemma = step.lemma.says.replace("*", r"\*")
            found.append(text_cell(f"## {head}\n\n> {lemma}\n\n{why}\n\n$$ {shown} $$"))
            answer = "..." if exercise else as_code(step.after.formula, not self.setting.balanced)
            code = f"def answer(q):\n    return {answer}\n\n\nderivation.grade({number}, answer)"
            found.append(code_cell(code))
        return found


def as_text(words: str) -> str:
    """Words with symbols, as LaTeX outside of formulas."""

    def indexed(found: re.Match[str]) -> str:
        name = found[1].replace("ℓ", r"\ell").replace("t⁰", r"\,t^0")
        below = found[2].strip("{}").replace("∈", r" \in ")
        letter = plain(name).strip("$") if not name.startswith("\\") else name
        return f"${letter}_{{{below}}}$"

    parts = re.split(r"(\w[⁰̃]?_(?:\{[^}]*\}|[A-Za-z0-9]+))", words)
    return "".join(re.sub(r"(\w[⁰̃]?)_(\S+)", indexed, one) if k % 2 else plain(one) for k, one in enumerate(parts))
