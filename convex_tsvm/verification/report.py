"""A derivation checked line by line: claims, figures, tolerances; and cells of notebooks."""

import hashlib
import json
import re
import unicodedata
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Check:
    """One claim with the figure that decides it.

    Examples
    --------
    >>> check = ct.papers.Check("half", "2 · ½ = 1", "arithmetic", value=abs(2 * 0.5 - 1), tolerance=1e-12)
    >>> check.passed
    True
    """

    name: str  # short, stable for programs
    claim: str  # as a sentence
    source: str  # paper and equation
    value: float  # by how much the claim fails; zero would be exact
    tolerance: float
    detail: str = ""  # figures behind the value

    @property
    def passed(self) -> bool:
        """Whether the value is within its tolerance (never for NaN)."""
        return bool(self.value <= self.tolerance)


@dataclass(frozen=True)
class Report:
    """All checks of a formulation on a problem.

    Examples
    --------
    >>> report = ct.verify(ct.cccp_tsvm(), problem)
    >>> report.passed, len(report.checks) > 10
    (True, True)
    """

    title: str
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    def __getitem__(self, name: str) -> Check:
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(f"{name!r}; the checks are {', '.join(check.name for check in self.checks)}")

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON can hold it."""
        checks = [{**asdict(check), "passed": check.passed} for check in self.checks]
        return {"title": self.title, "passed": self.passed, "checks": checks}

    def _repr_html_(self) -> str:
        """The report as a table, for notebooks."""
        rows = []
        for check in self.checks:
            verdict = "holds" if check.passed else "<b>fails</b>"
            cells = (escape(check.claim), escape(check.source), f"{check.value:.1e}", f"{check.tolerance:.0e}", verdict)
            rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        heads = "".join(f"<th>{head}</th>" for head in ("claim", "source", "off by", "allowed", ""))
        caption = f"<caption>{escape(self.title)}: {self._verdict}</caption>"
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

    def latex(self) -> str:
        """The report as a LaTeX ``tabular``: claim, source, by how much it fails, what is allowed, verdict."""
        rows = []
        for check in self.checks:
            figures = (_power_of_ten(check.value), _power_of_ten(check.tolerance))
            verdict = "holds" if check.passed else r"\textbf{fails}"
            rows.append(" & ".join((plain(check.claim), plain(check.source), *figures, verdict)))
        head = " & ".join(("claim", "source", "off by", "allowed", ""))
        body = " \\\\\n".join(rows)
        return f"\\begin{{tabular}}{{p{{7cm}}p{{4cm}}lll}}\n{head} \\\\ \\hline\n{body}\n\\end{{tabular}}"

    @property
    def _verdict(self) -> str:
        count = sum(check.passed for check in self.checks)
        return f"{count} of {len(self.checks)} checks passed"

    def __str__(self) -> str:
        lines = [self.title, "=" * len(self.title)]
        for number, check in enumerate(self.checks, 1):
            mark = "ok  " if check.passed else "FAIL"
            source = f"   [{check.source}]" if check.source else ""
            lines.append(f"{mark} {number}. {check.claim}{source}")
            lines.append(f"        off by {check.value:.1e} (allowed {check.tolerance:.0e})")
            lines += [f"        {line}" for line in check.detail.splitlines()]
        lines.append(self._verdict)
        return "\n".join(lines)


#: Symbols of claims as LaTeX formulas; Greek letters, powers, indices and accents are treated elsewhere.
_FORMULAS = {
    **{"<=": r"\le", ">=": r"\ge", "⪰": r"\succeq", "≻": r"\succ", "±": r"\pm", "←": r"\leftarrow", "∈": r"\in"},
    **{"½": r"\tfrac12", "‖": r"\Vert", "Σ": r"\sum", "ε": r"\varepsilon", "∇": r"\nabla", "∞": r"\infty"},
    **{"√": r"\surd", "·": r"\cdot", "∘": r"\circ", "𝒜": r"\mathcal{A}", "ℓ": r"\ell"},
    **{"ᵀ": r"^\top", "†": r"^\dagger", "*": r"^*"},
}
#: What needs a LaTeX command in text.
_TEX = {"\\": r"\textbackslash{}", "^": r"\^{}", "§": r"\S"} | {character: "\\" + character for character in "&%#_{}"}
_TEX |= {symbol: f"${command}$" for symbol, command in _FORMULAS.items()}

#: LaTeX commands of combining accents, which follow their letter in Unicode.
_ACCENTS = {"\N{COMBINING TILDE}": "tilde", "\N{COMBINING CIRCUMFLEX ACCENT}": "hat", "\N{COMBINING MACRON}": "bar"}


def plain(text: str) -> str:
    """Text with mathematical symbols as LaTeX that has ASCII characters only."""
    symbols = "|".join(map(re.escape, sorted(_TEX, key=len, reverse=True)))
    return re.sub(rf"(.)([{''.join(_ACCENTS)}])|{symbols}|[^\x00-\x7f]", _as_latex, text)


def _as_latex(found: re.Match[str]) -> str:
    if found[1]:
        return rf"$\{_ACCENTS[found[2]]}{{{_letter(found[1])}}}$"
    symbol = found[0]
    if symbol in _TEX:
        return _TEX[symbol]
    kind, _, code = unicodedata.decomposition(symbol).partition(" ")
    if kind in ("<super>", "<sub>"):
        raised = chr(int(code, 16)).replace("\N{MINUS SIGN}", "-")
        return f"${'^' if kind == '<super>' else '_'}{raised}$"
    return f"${_letter(symbol)}$"


def _letter(character: str) -> str:
    """An ASCII letter unchanged, or the LaTeX command of a Greek one."""
    if character.isascii():
        return character
    size, _, name = unicodedata.name(character).removeprefix("GREEK ").partition(" LETTER ")
    name = name.replace("LAMDA", "LAMBDA")
    return "\\" + (name.capitalize() if size == "CAPITAL" else name.lower())


def _power_of_ten(value: float) -> str:
    """A figure with two digits, 1.2·10⁻⁹, as LaTeX."""
    digits, _, exponent = f"{value:.1e}".partition("e")
    return rf"${digits} \cdot 10^{{{int(exponent)}}}$" if exponent and value else f"${digits}$"


def text_cell(text: str) -> dict[str, Any]:
    """A cell of Markdown."""
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def code_cell(text: str) -> dict[str, Any]:
    """A cell of Python that has not been run."""
    return {"cell_type": "code", "metadata": {}, "source": text, "execution_count": None, "outputs": []}


def write_notebook(cells: list[dict[str, Any]], path: str | Path, kernel: str = "python3") -> None:
    """Write cells to a file; ValueError if its name does not end in .ipynb."""
    if Path(path).suffix != ".ipynb":
        raise ValueError(f"{str(path)!r} must end in .ipynb")
    spec = {"display_name": "Python 3", "language": "python", "name": kernel}
    named = [{"id": cell_name(place, cell), **cell} for place, cell in enumerate(cells)]
    contents = {"cells": named, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}
    Path(path).write_text(json.dumps(contents, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def cell_name(place: int, cell: dict[str, Any]) -> str:
    """A cell's identifier, which the format requires to be another for each: its place, and a hash of its text."""
    return f"{place}-{hashlib.sha256(cell['source'].encode()).hexdigest()[:12]}"
