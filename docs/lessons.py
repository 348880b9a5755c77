"""The notebooks of the course: sheets and keys from the papers' statements, slides from the scripts in ``slides/``."""

import re
from pathlib import Path

from convex_tsvm.verification.report import code_cell, text_cell, write_notebook
from convex_tsvm.verification.statements.course import LESSONS

SLIDES = Path(__file__).parent / "slides"


def write_lessons(folder):
    """Write the notebooks of all lessons into a folder."""
    for lesson in LESSONS:
        write_notebook(lesson.sheet(exercise=True), folder / f"lesson{lesson.number}_sheet.ipynb")
        write_notebook(lesson.sheet(exercise=False), folder / f"lesson{lesson.number}_key.ipynb")
    for script in sorted(SLIDES.glob("lesson*.py")):
        write_notebook(slides(script.read_text(encoding="utf-8")), folder / f"{script.stem}_slides.ipynb")


def slides(script):
    """The cells of a script with ``# %%`` marks, each of which is a slide."""
    cells = []
    for block in re.split(r"(?m)^# %%", script)[1:]:
        head, _, body = block.partition("\n")
        is_text = head.strip() == "[markdown]"
        cell = text_cell(re.sub(r"(?m)^# ?", "", body).strip()) if is_text else code_cell(body.strip())
        cells.append(cell | {"metadata": {"slideshow": {"slide_type": "slide"}}})
    return cells
