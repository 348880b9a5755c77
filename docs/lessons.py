"""The notebooks of the course: sheets and keys from the papers' statements, slides from the scripts in ``slides/``."""

import re
from pathlib import Path

from convex_tsvm.verification.statements.course import LESSONS
from convex_tsvm.verification.statements.notebook import write_notebook

SLIDES = Path(__file__).parent / "slides"


def write_lessons(folder):
    """Write the notebooks of all lessons into a folder."""
    for lesson in LESSONS:
        write_notebook(lesson.sheet(exercise=True), folder / f"lesson{lesson.number}_sheet.ipynb")
        write_notebook(lesson.sheet(exercise=False), folder / f"lesson{lesson.number}_key.ipynb")
    for script in sorted(SLIDES.glob("lesson*.py")):
        write_notebook(slides(script.read_text(encoding="utf-8")), folder / f"{script.stem}_slides.ipynb")


def slides(script):
    """A notebook of a script with ``# %%`` cells, each of which is a slide."""
    cells = []
    for place, block in enumerate(re.split(r"(?m)^# %%", script)[1:]):
        head, _, body = block.partition("\n")
        cell = {"id": f"slide-{place + 1}", "metadata": {"slideshow": {"slide_type": "slide"}}}
        if head.strip() == "[markdown]":
            cell |= {"cell_type": "markdown", "source": re.sub(r"(?m)^# ?", "", body).strip()}
        else:
            cell |= {"cell_type": "code", "source": body.strip(), "execution_count": None, "outputs": []}
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
