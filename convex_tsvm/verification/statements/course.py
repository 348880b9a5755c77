"""A course of eight lessons: what is shown, and the statements of the papers that a class fills in and has graded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...validation import integer
from .notebook import sheet
from .statement import Statement


@dataclass(frozen=True)
class Lesson:
    """A lesson's title, and the statements of its sheet: numbers by paper, or the whole derivation of one.

    Examples
    --------
    >>> from convex_tsvm.verification.statements.course import lesson
    >>> lesson(4).title, len(lesson(4).statements)
    ('The dual of a step', 16)
    """

    number: int
    title: str
    # Papers and numbers; "derivation" stands for all steps of a paper's main derivation.
    items: tuple[tuple[str, str], ...]

    @property
    def statements(self) -> list[Statement]:
        """The statements of the sheet, in their order."""
        from . import paper

        found: list[Statement] = []
        for name, number in self.items:
            made = paper(name)
            found += made.derivation if number == "derivation" else [made[number]]
        return found

    def sheet(self, *, exercise: bool) -> dict[str, Any]:
        """The contents of the lesson's sheet as a notebook, or, without ``exercise``, of the key to it."""
        kind = "sheet" if exercise else "answer key"
        return sheet(f"Lesson {self.number}: {self.title} ({kind})", self.statements, exercise=exercise)


#: The lessons, in their order.
LESSONS = (
    Lesson(
        1,
        "What points without labels tell",
        (
            ("chapelle2008", "eq. 2"),
            ("chapelle2008", "eq. 1"),
            ("chapelle2008", "eq. 3"),
            ("chapelle2008", "eq. 5"),
            ("chapelle2008", "Figure 2"),
            ("collobert2006", "eq. 1"),
            ("collobert2006", "eq. 4"),
        ),
    ),
    Lesson(
        2,
        "Losses and their two parts",
        (
            ("collobert2006", "eq. 8"),
            ("collobert2006", "Figure 2"),
            ("collobert2006", "eq. 2"),
            ("collobert2006", "Figure 1"),
            ("collobert2006", "eq. 3"),
            ("chapelle2008", "Figure 5"),
            ("sindhwani2006", "Figure 1.1"),
        ),
    ),
    Lesson(
        3,
        "The concave-convex procedure",
        (
            ("collobert2006", "eq. 9"),
            ("collobert2006", "eq. 11"),
            ("collobert2006", "eq. 7"),
            ("collobert2006", "eq. 6"),
            ("collobert2006", "eq. 5"),
            ("collobert2006", "Appendix A, β"),
            ("chapelle2008", "§4.1, effective loss"),
        ),
    ),
    Lesson(4, "The dual of a step", (("collobert2006", "derivation"),)),
    Lesson(5, "Annealing, and Newton's method in the primal", (("chapelle2008", "derivation"),)),
    Lesson(6, "A hundred thousand points: least squares on active sets", (("sindhwani2006", "derivation"),)),
    Lesson(7, "A relaxation, and bounds that hold", (("debie2004", "derivation"),)),
    Lesson(8, "A formulation of one's own, and its optimum", (("dai2010", "derivation"),)),
)


def lesson(number: int) -> Lesson:
    """A lesson by its number; a ValueError if there is none of that number."""
    if integer("lesson", number, least=1) > len(LESSONS):
        raise ValueError(f"lesson={number} must be at most {len(LESSONS)}")
    return LESSONS[number - 1]
