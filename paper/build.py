"""Builds both documents:  python paper/build.py [--update]   (pip install pypandoc_binary typst)

Figures and tables are made anew, every ``{{name}}`` is replaced by its number, table or reference, pandoc writes Typst
with the citations in it, and typst makes paper/_build/paper.pdf and paper/_build/report.pdf.  Nothing is downloaded.

``paper.md`` must be readable by the journal as it is: its numbers are written out, each with its name in a comment
after it, as in 314<!--exact.scip_40-->.  The build fails where one is not what the results say; ``--update`` writes
what they say.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BUILT = HERE / "_build"
BIBLIOGRAPHY = HERE / "paper.bib"

#: A name in a text, and a number with its name after it.
NAME = re.compile(r"\{\{([^{}]+)\}\}")
MARKED = re.compile(r"(\S+?)<!--([a-z][\w.]*)-->")

#: A heading of the first level with its name; those without a number are not counted.
HEADING = re.compile(r"^# (?P<title>[^{\n]*?) *(?:\{(?P<rest>[^}]*)\})?$", re.MULTILINE)

#: A picture with its name, which may be referred to.
PICTURE = re.compile(r"!\[.*?\]\((?P<path>[^)]*?)\)(?:\{#fig:(?P<name>\w+)[^}]*\})?", re.DOTALL)


class Unknown(KeyError):
    """A text has a name that nothing belongs to."""


@dataclass(frozen=True)
class Source:
    """A document: its Markdown, the PDF's name, and what pandoc's template has to know of its looks."""

    path: Path
    name: str
    variables: dict[str, Any]


#: Of both documents.
PAGE = {"papersize": "a4", "margin": {"x": "2.1cm", "y": "2cm"}, "link-citations": True}

SOURCES = (
    Source(HERE / "paper.md", "paper", PAGE | {"fontsize": "10.5pt"}),
    Source(HERE / "report" / "report.md", "report", PAGE | {"fontsize": "10pt", "section-numbering": "1.1"}),
)

#: Names of symbols that Typst has renamed since the version that pandoc writes for.
RENAMED = {"times.circle": "times.o", "plus.circle": "plus.o"}

#: Both documents' looks, beyond what pandoc's template asks for.
LOOKS = r"""
#set par(justify: true)
// Pandoc's name of a symbol that Typst has renamed.
#let sect = sym.inter
#show math.equation: set block(breakable: true)
#show heading: set block(above: 1.2em, below: 0.7em)
#show figure.where(kind: table): set figure.caption(position: top)
#set figure(gap: 0.7em, placement: auto)
#show figure.caption: set text(size: 0.85em)
#show table: set text(size: 0.8em)
#show table: set par(justify: false, leading: 0.9em)
#set table(inset: (x: 4pt, y: 3.7pt), stroke: none)
#show link: set text(fill: rgb("#1f5fa8"))
"""


def references(text: str) -> dict[str, str]:
    """What figures, tables and sections are called, by ``fig:``, ``tab:`` and ``sec:`` with their names."""
    pictures = [found["name"] for found in PICTURE.finditer(text) if found["name"]]
    shown = [name.removeprefix("table.") for name in NAME.findall(text) if name.startswith("table.")]
    found = {f"fig:{name}": f"Figure {k}" for k, name in enumerate(pictures, 1)}
    found |= {f"tab:{name}": f"Table {k}" for k, name in enumerate(shown, 1)}
    counted = [heading for heading in HEADING.finditer(text) if heading["rest"] != "-"]
    return found | {
        heading["rest"].replace("#sec-", "sec:"): f"Section {k}"
        for k, heading in enumerate(counted, 1)
        if heading["rest"]
    }


def resolved(text: str, numbers: dict[str, str], tables: dict[str, str]) -> str:
    """A text with everything that it names in its place; :class:`Unknown` for a name that there is not."""
    known = numbers | {f"table.{name}": shown for name, shown in tables.items()} | references(text)

    def put(found: re.Match[str]) -> str:
        if found[1] not in known:
            raise Unknown(f"{{{{{found[1]}}}}} is no number, table or figure")
        return known[found[1]]

    return NAME.sub(put, text)


def outdated(text: str, numbers: dict[str, str]) -> list[tuple[str, str, str]]:
    """Numbers written out that are not what the results say: name, written, right."""
    found = []
    for written, name in MARKED.findall(text):
        if name not in numbers:
            raise Unknown(f"<!--{name}--> is no number")
        shown = written.lstrip("([")
        if shown != numbers[name]:
            found.append((name, shown, numbers[name]))
    return found


def updated(text: str, numbers: dict[str, str]) -> str:
    """The text with the numbers that the results say."""

    def put(found: re.Match[str]) -> str:
        opening = found[1][: len(found[1]) - len(found[1].lstrip("(["))]
        return f"{opening}{numbers[found[2]]}<!--{found[2]}-->"

    return MARKED.sub(put, text)


def build(source: Source, numbers: dict[str, str], tables: dict[str, str]) -> Path:
    """Make the PDF of a document."""
    import pypandoc
    import typst

    text = source.path.read_text(encoding="utf-8")
    wrong = outdated(text, numbers)
    if wrong:
        raise SystemExit("\n".join(f"{source.path.name}: {name} is {right}, not {was}" for name, was, right in wrong))
    made = BUILT / f"{source.name}.md"
    made.write_text(MARKED.sub(r"\1", resolved(text, numbers, tables)), encoding="utf-8")
    looks = BUILT / "looks.typ"
    looks.write_text(LOOKS, encoding="utf-8")
    # The journal's front matter has authors in a form of its own, which pandoc's template does not know.
    names = re.findall(r'^  - name: "(.*)"$', text.partition("affiliations:")[0], re.MULTILINE)
    looked = BUILT / "looks.json"
    looked.write_text(json.dumps(source.variables | ({"author": names} if names else {})), encoding="utf-8")
    arguments = [
        "--citeproc", f"--bibliography={BIBLIOGRAPHY}", "--standalone", f"--include-in-header={looks}",
        f"--metadata-file={looked}", f"--resource-path={source.path.parent}", "--columns=400",
    ]  # fmt: skip
    typ = pypandoc.convert_file(str(made), "typst", format="markdown", extra_args=arguments)
    for before, now in RENAMED.items():
        typ = typ.replace(before, now)
    typ = re.sub("∥([^∥]+)∥", r"norm(\1)", typ)  # as a relation it would have its square above it
    # Pandoc looks for pictures from where it is, and Typst from where its file is.
    typ = typ.replace("../images/", "images/").replace('"images/', f'"{os.path.relpath(HERE, BUILT)}/images/')
    (BUILT / f"{source.name}.typ").write_text(typ, encoding="utf-8")
    pdf = BUILT / f"{source.name}.pdf"
    typst.compile(str(BUILT / f"{source.name}.typ"), output=str(pdf), root=str(HERE))
    return pdf


def main() -> None:
    """Figures, tables, and both documents."""
    parser = argparse.ArgumentParser(description="builds paper.pdf and report.pdf in paper/_build")
    parser.add_argument("--update", action="store_true", help="write the results' numbers into paper.md first")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    import figures
    import tables

    BUILT.mkdir(exist_ok=True)
    numbers, shown = tables.numbers(), tables.tables()
    (BUILT / "tables").mkdir(exist_ok=True)
    for name, text in shown.items():
        (BUILT / "tables" / f"{name}.md").write_text(text, encoding="utf-8")
    paper = SOURCES[0].path
    if options.update:
        paper.write_text(updated(paper.read_text(encoding="utf-8"), numbers), encoding="utf-8")
    figures.draw()
    for source in SOURCES:
        print(build(source, numbers, shown))


if __name__ == "__main__":
    main()
