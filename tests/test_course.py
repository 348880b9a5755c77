"""The course: every lesson has its page, its sheet and its key; slides are a cell each, and run."""

import json
import re
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

from convex_tsvm.verification.statements.course import LESSONS, lesson

pytestmark = pytest.mark.papers

DOCS = Path(__file__).parents[1] / "docs"
SLIDES = sorted((DOCS / "slides").glob("lesson*.py"))


@pytest.mark.parametrize("one", LESSONS, ids=lambda one: f"lesson {one.number}")
def test_a_lesson_has_a_page(one):
    text = (DOCS / "course" / f"lesson{one.number}.rst").read_text(encoding="utf-8")
    assert text.startswith(f"Lesson {one.number}: {one.title}\n")
    parts = ("**Aims.**", "**Needs**", "What is shown\n", "What the class should see\n", "To ask\n", "Pages\n")
    for part, after in zip(parts, (*parts[1:], None), strict=True):
        # What stands under it, up to the next one: not the heading alone.
        assert text.count(part) == 1, part
        under = text.split(part)[1].split(after)[0] if after else text.split(part)[1]
        assert len(re.findall(r"\w+", under)) >= (2 if part in ("**Needs**", "Pages\n") else 20), part
    questions = text.split("To ask\n")[1].split("Pages\n")[0]
    assert re.search(r"(?m)^- .*\?", questions)
    for name in (f"lesson{one.number}_sheet.ipynb", f"lesson{one.number}_key.ipynb"):
        assert name in text
    assert (f"lesson{one.number}_slides.ipynb" in text) == (DOCS / "slides" / f"lesson{one.number}.py").exists()
    assert text.count(".. math::") >= 1
    assert text.count(".. figure::") >= 1
    assert 5 <= len(one.statements) + sum(len(derivation) for _, derivation in one.derivations) <= 22


def test_sheets_do_not_import_the_key():
    for one in LESSONS:
        text = json.dumps(one.sheet(exercise=True))
        assert "import *" not in text
        assert "_key" not in text


def test_lessons_are_numbered():
    assert [one.number for one in LESSONS] == list(range(1, 9))
    for number, said in ((0, "lesson=0"), (9, "lesson=9 must be an integer from 1 to 8")):
        with pytest.raises(ValueError, match=said):
            lesson(number)


@pytest.mark.parametrize("script", SLIDES, ids=lambda path: path.stem)
def test_slides_are_a_cell_each_and_run(script, monkeypatch):
    mpl.use("Agg")
    monkeypatch.syspath_prepend(str(DOCS))
    from lessons import slides

    made = slides(script.read_text(encoding="utf-8"))
    assert len(made) >= 12
    names = {}
    for cell in made:
        assert cell["metadata"]["slideshow"]["slide_type"] == "slide"
        if cell["cell_type"] == "code":
            assert len(cell["source"].splitlines()) <= 12, "a slide has room for a dozen lines"
            exec(cell["source"], names)
        else:
            assert len(cell["source"].splitlines()) <= 15
            assert not re.search(r"(?m)^#\s*$", cell["source"])
    sys.modules.pop("lessons", None)


def test_there_are_two_sets_of_slides():
    assert len(SLIDES) == 2
