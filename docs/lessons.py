"""The notebooks of the course: sheets and keys from the papers' statements."""

from convex_tsvm.verification.report import write_notebook
from convex_tsvm.verification.statements.course import LESSONS


def write_lessons(folder, *first, kernel="python3"):
    """Write the notebooks of all lessons into a folder, with these cells after the title of each, for a kernel."""
    for lesson in LESSONS:
        for name, exercise in (("sheet", True), ("key", False)):
            title, *cells = lesson.sheet(exercise=exercise)
            write_notebook([title, *first, *cells], folder / f"lesson{lesson.number}_{name}.ipynb", kernel)
