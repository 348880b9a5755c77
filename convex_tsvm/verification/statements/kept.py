"""Tables and figures of the papers as statements: the paper's figures beside those that benchmarks have kept."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .statement import ABSENT, DIFFERS, MEASURED, NOT_BUILT, Outcome, Paper, Statement

#: Two figures agree that are within two standard errors of ours, or within so many points (the review's own rounding
#: is to a tenth of a point).
POINTS, ROUNDED = 1.5, 0.05

#: "6.3 ± 0.3 (6.7)", with a mark behind it or none; "– (6.7)" where ours is not computed yet.
CELL = re.compile(r"^(?P<ours>[\d.]+|–)(?: ± (?P<error>[\d.]+))? \((?P<theirs>[\d.]+)\)")


@dataclass(frozen=True)
class Figure:
    """A figure of a paper beside ours.

    Attributes
    ----------
    where : str
        Row and column.
    theirs, ours : float
        NaN where ours is not computed.
    error : float
        Standard error of ours; 0 where it is one number.
    agrees : bool or None
        Whether they do; None where that is not to be decided, as for seconds on other machines.
    """

    where: str
    theirs: float
    ours: float
    error: float = 0.0
    agrees: bool | None = None

    @classmethod
    def compared(cls, where: str, theirs: float, ours: float, error: float = 0.0, points: float = POINTS) -> Figure:
        """A figure that agrees if it is within two standard errors or so many points."""
        fits = abs(ours - theirs) <= max(2 * error, points) + ROUNDED
        return cls(where, theirs, ours, error, None if np.isnan(ours) else bool(fits))

    def __str__(self) -> str:
        ours = (
            "not computed" if np.isnan(self.ours) else f"{self.ours:g}" + (f" ± {self.error:g}" if self.error else "")
        )
        mark = {True: "", False: " (differs)", None: ""}[self.agrees]
        return f"{self.where}: {ours}, the paper {self.theirs:g}{mark}"


def folder() -> Path | None:
    """Where benchmarks keep their results: ``CONVEX_TSVM_RESULTS``, or beside the package in a checkout."""
    named = os.environ.get("CONVEX_TSVM_RESULTS")
    found = Path(named) if named else Path(__file__).parents[3] / "benchmarks" / "results"
    return found if found.is_dir() else None


class AbsentError(Exception):
    """A file of results is not there."""


def text(name: str) -> str:
    """A kept file."""
    where = folder()
    if where is None or not (where / name).exists():
        raise AbsentError(f"{name} is not at hand; it is in benchmarks/results of a checkout (CONVEX_TSVM_RESULTS=…)")
    return (where / name).read_text(encoding="utf-8")


def tables(name: str, heading: str, column: str = "") -> Iterator[tuple[list[str], list[list[str]]]]:
    """Heads and rows of the tables under headings of a Markdown file that begin with some words, and have a column."""
    for part in re.split(r"^## ", text(name), flags=re.MULTILINE):
        if not part.startswith(heading):
            continue
        for block in re.findall(r"(?:^\|.*\n)+", part + "\n", flags=re.MULTILINE):
            lines = [line.strip().removeprefix("|").removesuffix("|") for line in block.splitlines()]
            rows = [[cell.strip() for cell in line.split("|")] for line in lines]
            rows = [row for row in rows if not set("".join(row)) <= set("-| ")]
            if len(rows) > 1 and (not column or column in rows[0]):
                yield rows[0], rows[1:]


def cells(name: str, heading: str, points: float = POINTS) -> list[Figure]:
    """All cells of such tables that hold "ours ± error (the paper's)"."""
    found = []
    for head, rows in tables(name, heading):
        for row in rows:
            for column, cell in zip(head[-(len(row) - 1) :], row[1:], strict=False):
                match = CELL.match(cell)
                if match:
                    ours = np.nan if match["ours"] == "–" else float(match["ours"])
                    where = f"{row[0]}, {column}"
                    found.append(
                        Figure.compared(where, float(match["theirs"]), ours, float(match["error"] or 0), points)
                    )
    return found


def rows_of(name: str) -> list[dict[str, str]]:
    """The rows of a kept CSV file."""
    return list(csv.DictReader(text(name).splitlines()))


@dataclass(frozen=True)
class Measured(Statement):
    """A table or figure of a paper, with the figures that benchmarks have kept.

    Attributes
    ----------
    figures : callable
        Returns a list of :class:`Figure`.
    """

    figures: Callable[[], list[Figure]] = field(default_factory=lambda: list)

    def run(self, quantities: list[Any] | None = None) -> Outcome:
        """Read the kept figures, and compare them with the paper's."""
        try:
            found = self.figures()
        except AbsentError as error:
            return Outcome(self, ABSENT, detail=str(error))
        known = [one for one in found if not np.isnan(one.ours)]
        judged = [one for one in known if one.agrees is not None]
        differing = [one for one in judged if not one.agrees]
        if not known:
            return Outcome(self, ABSENT, detail="not computed yet")
        said = f"{len(judged) - len(differing)} of {len(judged)} figures agree" if judged else "nothing to be decided"
        if len(known) < len(found):
            said += f", {len(found) - len(known)} are not computed yet"
        if differing:
            said += "; " + "; ".join(str(one) for one in differing)
        theirs, ours = (np.array([getattr(one, name) for one in known]) for name in ("theirs", "ours"))
        verdict = DIFFERS if differing else MEASURED
        return Outcome(self, verdict, computed=ours, claimed=theirs, detail=said)


def measured(paper: Paper, number: str, **given: Any) -> Callable[[Callable[[], list[Figure]]], Measured]:
    """Decorator: the function returns the figures of a table or figure, and its docstring says what is claimed.

    Parameters
    ----------
    paper : Paper
    number : str
    **given
        Other attributes of :class:`Measured`.

    Returns
    -------
    callable
    """

    def add(figures: Callable[[], list[Figure]]) -> Measured:
        made = Measured(paper.name, number, figures, figures=figures, **given)  # type: ignore[arg-type]
        paper.add(made)
        return made

    return add


def not_built(paper: Paper, number: str, says: str, why: str) -> None:
    """Add an item that nothing stands for, and why."""

    def item(q: Any) -> None:
        return None

    item.__doc__ = f"{says}\n\n{why}"
    paper.add(Statement(paper.name, number, item))


__all__ = ["NOT_BUILT", "AbsentError", "Figure", "Measured", "cells", "measured", "not_built", "rows_of", "tables"]
