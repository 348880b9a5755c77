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
    stands_for : int
        How many printed figures it is made of, such as two for a ratio.
    done : float
        The share of the paper's sample that ours is of.
    """

    where: str
    theirs: float
    ours: float
    error: float = 0.0
    agrees: bool | None = None
    stands_for: int = 1
    done: float = 1.0

    @classmethod
    def compared(cls, where: str, theirs: float, ours: float, error: float = 0.0, points: float = POINTS) -> Figure:
        """A figure that agrees if it is within two standard errors or so many points."""
        fits = abs(ours - theirs) <= max(2 * error, points) + TENTH
        return cls(where, theirs, ours, error, None if np.isnan(ours) else bool(fits))

    def __str__(self) -> str:
        ours = "not computed" if np.isnan(self.ours) else f"{self.ours:.4g}" + f" ± {self.error:.2g}" * (self.error > 0)
        mark = {True: "", False: " (differs)", None: ""}[self.agrees]
        return f"{self.where}: {ours}, the paper {self.theirs:g}{mark}"


#: What goes on with what is unfinished.
GOES_ON = "`make papers-compute` goes on"


@dataclass(frozen=True)
class Verdict:
    """What is said of a table or figure, one of four words, and why.

    "reproduced": all figures are compared and agree.  "differs": all are, and some do not agree.  "unfinished": some
    are not compared, or on fewer runs than the paper's, whatever they come to.  "not possible": the data cannot be had.
    """

    verdict: str
    detail: str


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper.

    Attributes
    ----------
    paper, number, says : str
        ``says`` is what the paper claims by it, and how ours is another, if it is.
    figures : callable
        Returns a list of :class:`Figure`; of a table all of whose data are lost those of what stands in its place.
    printed, lost : int
        How many figures the paper prints in it, 0 for a picture, and how many of these are of data that cannot be had.
    """

    paper: str
    number: str
    says: str
    figures: Callable[[], list[Figure]]
    printed: int = 0
    lost: int = 0

    def counts(self) -> tuple[int, int]:
        """How many printed figures are compared, on samples as large as the paper's, and how many there are."""
        try:
            known = [one for one in self.figures() if not np.isnan(one.ours) and one.done >= 1]
        except FileNotFoundError:
            known = []
        return (0 if self.lost == self.printed else sum(one.stands_for for one in known)), self.printed

    def judged(self) -> Verdict:
        """The verdict by the kept results."""
        try:
            found = self.figures()
        except FileNotFoundError as error:
            return Verdict("unfinished", f"{error.filename} is missing; {GOES_ON}")
        known = [one for one in found if not np.isnan(one.ours)]
        decided = [one for one in known if one.agrees is not None]
        differing = [one for one in decided if not one.agrees]
        said = [f"{len(decided) - len(differing)} of {len(decided)} figures agree" if decided else "none to be decided"]
        n_known, n_printed = sum(one.stands_for for one in known), self.printed - self.lost
        whole = len(known) == len(found) if not n_printed else n_known >= n_printed
        if self.printed and n_printed:
            said.append(f"{n_known} of {n_printed} that the paper prints are compared")
        elif not whole:
            said.append(f"{len(found) - len(known)} are not computed yet")
        if self.lost:
            said.append(f"{self.lost} that it prints are of data that cannot be had")
        parts = sorted({one.done for one in known if one.done < 1})
        if parts:
            said.append(f"{parts[0]:.0%} of the paper's sample")
        word = "not possible" if self.printed and not n_printed else "differs" if differing else "reproduced"
        if word != "not possible" and (parts or not whole):
            word = "unfinished"
            said.append(GOES_ON)
        return Verdict(word, "; ".join([*said, *map(str, differing)]))


#: All of them, in the order of the papers.
EXPERIMENTS: list[Experiment] = []


def experiment(
    paper: str, number: str, printed: int = 0, lost: int = 0
) -> Callable[[Callable[[], list[Figure]]], Callable[[], list[Figure]]]:
    """Decorator: the function returns the figures of a table or figure, and its docstring says what is claimed.

    ``printed`` is how many figures the paper has in it, if it is no picture, and ``lost`` how many cannot be computed.
    """

    def add(figures: Callable[[], list[Figure]]) -> Callable[[], list[Figure]]:
        says = " ".join((figures.__doc__ or "").split())
        EXPERIMENTS.append(Experiment(paper, number, says, figures, printed, lost))
        return figures

    return add


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
