"""Tables and figures of the papers: the paper's figures beside those that benchmarks have kept, and a verdict."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from document import RESULTS, Cell, tables

#: Two figures agree that are within two standard errors of ours, or within so many points (and the review's own
#: rounding, which is to a tenth of a point).
POINTS, TENTH = 1.5, 0.05


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
        fits = abs(ours - theirs) <= max(2 * error, points) + TENTH
        return cls(where, theirs, ours, error, None if np.isnan(ours) else bool(fits))

    def __str__(self) -> str:
        ours = "not computed" if np.isnan(self.ours) else f"{self.ours:.4g}" + f" ± {self.error:.2g}" * (self.error > 0)
        mark = {True: "", False: " (differs)", None: ""}[self.agrees]
        return f"{self.where}: {ours}, the paper {self.theirs:g}{mark}"


@dataclass(frozen=True)
class Verdict:
    """What is said of a table or figure: "measured", "measured: differs", "not built" or "no results", and why."""

    verdict: str
    detail: str


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper.

    Attributes
    ----------
    paper, number, says : str
        ``says`` is what the paper claims by it, and how ours is another, if it is.
    figures : callable or None
        Returns a list of :class:`Figure`; None for what is not built.
    why : str
        Why it is not built.
    printed : int or None
        How many figures the paper prints in it; None for a picture.
    """

    paper: str
    number: str
    says: str
    figures: Callable[[], list[Figure]] | None
    why: str = ""
    printed: int | None = None

    def judged(self) -> Verdict:
        """The verdict by the kept results."""
        if self.figures is None:
            return Verdict("not built", self.why)
        try:
            found = self.figures()
        except FileNotFoundError as error:
            return Verdict("no results", f"{error.filename} is missing")
        known = [one for one in found if not np.isnan(one.ours)]
        decided = [one for one in known if one.agrees is not None]
        differing = [one for one in decided if not one.agrees]
        if not known:
            return Verdict("no results", "not computed yet")
        said = (
            f"{len(decided) - len(differing)} of {len(decided)} figures agree" if decided else "nothing to be decided"
        )
        if self.printed is not None:
            said += f"; {len(known)} of the {self.printed} that the paper prints are compared"
        elif len(known) < len(found):
            said += f", {len(found) - len(known)} are not computed yet"
        if differing:
            said += "; " + "; ".join(str(one) for one in differing)
        return Verdict("measured: differs" if differing else "measured", said)


#: All of them, in the order of the papers.
EXPERIMENTS: list[Experiment] = []


def experiment(
    paper: str, number: str, printed: int | None = None
) -> Callable[[Callable[[], list[Figure]]], Callable[[], list[Figure]]]:
    """Decorator: the function returns the figures of a table or figure, and its docstring says what is claimed.

    ``printed`` is how many figures the paper has in it, if it is no picture.
    """

    def add(figures: Callable[[], list[Figure]]) -> Callable[[], list[Figure]]:
        says = " ".join((figures.__doc__ or "").split())
        EXPERIMENTS.append(Experiment(paper, number, says, figures, printed=printed))
        return figures

    return add


def not_built(paper: str, number: str, says: str, why: str) -> None:
    """Add an item that nothing stands for, and why."""
    EXPERIMENTS.append(Experiment(paper, number, says, None, why))


def cells(name: str, heading: str, points: float = POINTS) -> list[Figure]:
    """All cells of the tables under a heading that have a figure of the paper."""
    found = []
    for rows in tables(name, heading):
        for row in rows:
            label = next(iter(row.values())).shown
            for column, cell in list(row.items())[1:]:
                if cell.paper is not None:
                    ours = np.nan if cell.value is None else cell.value
                    found.append(Figure.compared(f"{label}, {column}", cell.paper, ours, cell.error or 0.0, points))
    return found


def rows_under(name: str, heading: str = "", column: str = "") -> Iterator[dict[str, Cell]]:
    """The rows of the tables under headings that begin with some words and that have a column."""
    for rows in tables(name, heading, column):
        yield from rows


def runs_of(name: str) -> list[dict[str, str]]:
    """The rows of a kept CSV file."""
    with (RESULTS / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
