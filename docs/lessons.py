"""The notebooks of the course: sheets and keys from the papers' statements."""

from convex_tsvm.verification.report import write_notebook
from convex_tsvm.verification.statements.course import LESSONS


def write_lessons(folder):
    """Write the notebooks of all lessons into a folder."""
    for lesson in LESSONS:
        write_notebook(lesson.sheet(exercise=True), folder / f"lesson{lesson.number}_sheet.ipynb")
        write_notebook(lesson.sheet(exercise=False), folder / f"lesson{lesson.number}_key.ipynb")
