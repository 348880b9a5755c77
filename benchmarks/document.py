"""Results as data: a benchmark's tables as JSON, and the Markdown that is rendered from it and from nothing else.

A file ``results/NAME.json`` has a title, where it was computed, blocks (headings, text, tables, pictures) in their
order, and facts by name.  A cell of a table has what is shown, and the numbers behind it: the value, its standard
error, and the paper's.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"

#: A number, perhaps with its standard error and, in brackets, the paper's.
_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_FIGURE = re.compile(rf"({_NUMBER}|–)(?: ?± ?({_NUMBER}))?(?: \(({_NUMBER})\))?(?: ?[^\d\s].*)?")


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    shown : str
        As it is rendered.
    value, error, paper : float or None
        The number, its standard error, and the paper's number.
    """

    shown: str
    value: float | None = None
    error: float | None = None
    paper: float | None = None

    @classmethod
    def of(cls, given: Any) -> Cell:
        """A cell of a number, of a text that begins with one, or of any other text."""
        if isinstance(given, Cell):
            return given
        if isinstance(given, int | float) and not isinstance(given, bool):
            return cls(str(given), float(given))
        match = _FIGURE.fullmatch(str(given).strip().removesuffix(" **≠**").strip("*"))
        if match is None:
            return cls(str(given))
        value, error, paper = (None if part in (None, "–") else float(part) for part in match.groups())
        return cls(str(given), value, error, paper)

    def to_json(self) -> Any:
        """What JSON keeps: a text where there are no numbers."""
        numbers = {key: value for key, value in asdict(self).items() if value is not None}
        return numbers if len(numbers) > 1 else self.shown

    @classmethod
    def from_json(cls, kept: Any) -> Cell:
        """The reverse."""
        return cls(kept) if isinstance(kept, str) else cls(**kept)


class Document:
    """What a benchmark has found, in the order in which it is to be read.

    Every call of :meth:`save` writes ``NAME.json`` and ``NAME.md``; a program that is interrupted leaves what it has.
    """

    def __init__(self, name: str, title: str, folder: Path = RESULTS) -> None:
        self.name, self.folder, self.began = name, folder, time.perf_counter()
        self.blocks: list[dict[str, Any]] = [{"heading": title, "level": 1}]
        self.facts: dict[str, Any] = {}

    def heading(self, words: str, level: int = 2) -> None:
        """A heading."""
        self.blocks.append({"heading": words, "level": level})

    def text(self, *lines: str) -> None:
        """A paragraph; its lines stay as they are."""
        self.blocks.append({"text": "\n".join(lines)})

    def picture(self, words: str, name: str) -> None:
        """A picture in the folder of results."""
        self.blocks.append({"picture": name, "text": words})

    def table(self, *heads: str) -> None:
        """Begin a table."""
        self.blocks.append({"heads": list(heads), "rows": []})

    def row(self, *cells: Any) -> None:
        """A row of the last table."""
        self.blocks[-1]["rows"].append([Cell.of(cell).to_json() for cell in cells])

    def save(self) -> Path:
        """Write both files; the path of the Markdown."""
        self.folder.mkdir(exist_ok=True)
        kept = {"facts": self.facts, "blocks": self.blocks}
        (self.folder / f"{self.name}.json").write_text(_json(kept), encoding="utf-8")
        path = self.folder / f"{self.name}.md"
        path.write_text(rendered(kept), encoding="utf-8")
        return path


def _json(kept: dict[str, Any]) -> str:
    """JSON with a line for every block and every row of a table."""
    blocks = []
    for block in kept["blocks"]:
        if "rows" in block:
            rows = ",\n    ".join(json.dumps(row, ensure_ascii=False) for row in block["rows"])
            heads = json.dumps(block["heads"], ensure_ascii=False)
            blocks.append(f'{{"heads": {heads}, "rows": [\n    {rows}\n  ]}}')
        else:
            blocks.append(json.dumps(block, ensure_ascii=False))
    facts = json.dumps(kept["facts"], ensure_ascii=False)
    return f'{{"facts": {facts},\n "blocks": [\n  ' + ",\n  ".join(blocks) + "\n ]}\n"


def rendered(kept: dict[str, Any]) -> str:
    """The Markdown of a document."""
    parts = []
    for block in kept["blocks"]:
        if "heading" in block:
            parts.append("#" * block["level"] + " " + block["heading"])
        elif "picture" in block:
            parts.append(f"![{block['text']}]({block['picture']})")
        elif "heads" in block:
            lines = [block["heads"], ["---"] * len(block["heads"])]
            lines += [[Cell.from_json(cell).shown for cell in row] for row in block["rows"]]
            shown = ["| " + " | ".join(line) + " |" for line in lines]
            shown[1] = shown[1].replace(" ", "")
            parts.append("\n".join(shown))
        else:
            parts.append(block["text"])
    return "\n\n".join(parts) + "\n"


def read(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    """A document as it was saved."""
    kept: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return kept


def tables(name: str, heading: str = "", column: str = "", folder: Path = RESULTS) -> list[list[dict[str, Cell]]]:
    """The tables under headings that begin with some words and that have a column, each as rows by column.

    A head that is there twice has " (2)" after it the second time.
    """
    found, under = [], ""
    for block in read(name, folder)["blocks"]:
        under = block.get("heading", under)
        if "heads" in block and under.startswith(heading) and (not column or column in block["heads"]):
            heads = block["heads"]
            heads = [head if head not in heads[:k] else f"{head} (2)" for k, head in enumerate(heads)]
            found.append([dict(zip(heads, map(Cell.from_json, row), strict=True)) for row in block["rows"]])
    return found
