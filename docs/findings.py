"""Pages of what was found in the papers, from findings.toml, with the numbers of the statements that decide."""

import textwrap
import tomllib
from pathlib import Path

from convex_tsvm.verification.statements import paper

FOUND = tomllib.loads((Path(__file__).parent / "findings.toml").read_text(encoding="utf-8"))


def of(kind, name=None):
    """The findings of a kind, in one paper or in all."""
    return [one for one in FOUND["finding"] if one["kind"] == kind and name in (None, one["paper"])]


def write_findings(folder):
    """Write a page for each paper, and what the page above them includes: kinds, texts and how many there are."""
    (folder / "findings.inc").write_text(head(), encoding="utf-8")
    for name, said in FOUND["papers"].items():
        title = f"{said['authors']} ({said['year']})"
        text = f"{title}\n{'=' * len(title)}\n\n{said['title']}.\n\n"
        text += "".join(entry(one) for one in FOUND["finding"] if one["paper"] == name)
        (folder / f"{name}_findings.rst").write_text(text, encoding="utf-8")


def head():
    """What the kinds mean, and a table of papers with the numbers of each kind."""
    text = "".join(f"- **{kind}** ({len(of(kind))}): {means}.\n" for kind, means in FOUND["kinds"].items())
    text += "\n.. list-table::\n   :header-rows: 1\n\n"
    rows = [["paper", "text that was read", *FOUND["kinds"]]]
    for name, said in FOUND["papers"].items():
        counts = [str(len(of(kind, name)) or "") for kind in FOUND["kinds"]]
        rows.append(
            [
                f":doc:`{said['authors']} ({said['year']}) </statements/{name}_findings>`: {said['title']}",
                f"``{name}.txt``, {said['text']}",
                *counts,
            ]
        )
    for row in rows:
        text += "".join(f"   {' ' if k else '*'} - {cell}".rstrip() + "\n" for k, cell in enumerate(row))
    return text


def entry(one):
    """A finding: its passages, what is wrong and what is right, and the numbers where a statement decides."""
    heading = f"{one['place']}: {one['kind']}"
    text = f"{heading}\n{'-' * len(heading)}\n\n"
    for quote in one["quotes"]:
        lines = textwrap.wrap(quote, 100, break_long_words=False, break_on_hyphens=False)
        text += ".. code-block:: none\n\n" + textwrap.indent("\n".join(lines), "   ") + "\n\n"
    text += one["says"].replace("\\", "\\\\").replace("*", "\\*").replace("|", "\\|").replace("_", "\\_") + "\n\n"
    if "statement" in one:
        made = paper(one["paper"])[one["statement"]]
        text += f":ref:`Run <{made.paper}-{made.key}>`"
        text += f": {made.counterexample()}.\n\n" if made.printed is not None else ".\n\n"
    return text
