"""A course of eight lessons: what is shown, and the statements of the papers that a class fills in and has graded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...validation import integer
from ..cells import text_cell
from ..derivation import Derivation
from .notebook import cells
from .statement import Statement


@dataclass(frozen=True)
class Lesson:
    """A lesson's title, and what its sheet is of: numbers of statements by paper, or derivations of a paper.

    Examples
    --------
    >>> from convex_tsvm.verification.statements.course import lesson
    >>> lesson(4).title, len(lesson(4).derivations)
    ('The dual of a step', 2)
    """

    number: int
    title: str
    # Papers and numbers of their statements, or places among their derivations, counted from 0.
    items: tuple[tuple[str, str | int], ...]

    @property
    def statements(self) -> list[Statement]:
        """The statements of the sheet, in their order."""
        from . import paper

        return [paper(name)[number] for name, number in self.items if isinstance(number, str)]

    @property
    def derivations(self) -> list[tuple[str, Derivation]]:
        """The derivations of the sheet, each after the code that makes it."""
        from . import paper

        places = [(name, place) for name, place in self.items if isinstance(place, int)]
        return [
            (f"ct.papers.paper({name!r}).derivations[{place}]", paper(name).derivations[place])
            for name, place in places
        ]

    def sheet(self, *, exercise: bool) -> list[dict[str, Any]]:
        """The cells of the lesson's sheet, or, without ``exercise``, of the key to it."""
        kind = "sheet" if exercise else "answer key"
        task = "Fill in what is left out, as a function of the quantities `q`, and run the cell: it is graded."
        found = [text_cell(f"# Lesson {self.number}: {self.title} ({kind})\n\n{task if exercise else ''}".rstrip())]
        if self.statements:
            found += cells(self.statements, exercise=exercise)
        for made, derivation in self.derivations:
            found += derivation.cells(made, exercise=exercise)
        return found


#: The lessons, in their order.
_SHEETS: tuple[tuple[Any, ...], ...] = (
    (
        "What points without labels tell",
        ("chapelle2008", "eq. 2", "eq. 1", "eq. 3", "eq. 5", "Figure 2"),
        ("collobert2006", "eq. 1", "eq. 4"),
    ),
    (
        "Losses and their two parts",
        ("collobert2006", "eq. 8", "Figure 2", "Figure 1"),
        ("chapelle2008", "Figure 5"),
        ("sindhwani2006", "Figure 1.1"),
    ),
    (
        "The concave-convex procedure",
        ("collobert2006", "eq. 11", "Appendix A, β"),
        ("chapelle2008", "§4.1, effective loss"),
        ("collobert2006", 0),
    ),
    ("The dual of a step", ("collobert2006", 1, 2)),
    ("Annealing, and Newton's method in the primal", ("chapelle2008", 0, 1, 3)),
    ("A hundred thousand points: least squares on active sets", ("sindhwani2006", 0, 1, 2)),
    ("A relaxation, and bounds that hold", ("debie2004", 0, 1)),
    ("A formulation of one's own, and its optimum", ("dai2010", 0, 1)),
)
LESSONS = tuple(
    Lesson(number, title, tuple((name, item) for name, *items in sheet for item in items))
    for number, (title, *sheet) in enumerate(_SHEETS, 1)
)


def lesson(number: int) -> Lesson:
    """A lesson by its number; a ValueError if there is none of that number."""
    if integer("lesson", number, least=1) > len(LESSONS):
        raise ValueError(f"lesson={number} must be at most {len(LESSONS)}")
    return LESSONS[number - 1]
