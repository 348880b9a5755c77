"""The course: every lesson has its page, its sheet, its key and its slides."""

import json
import re
from pathlib import Path

import pytest

from convex_tsvm.verification.statements.course import LESSONS, lesson

pytestmark = pytest.mark.papers

DOCS = Path(__file__).parents[1] / "docs"


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
    assert f"slides <../slides/lesson{one.number}.html>" in text
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


@pytest.mark.parametrize("one", LESSONS, ids=lambda one: f"lesson {one.number}")
def test_slides_have_what_the_lesson_has(one, monkeypatch):
    """Each formula, picture, point and question of the page, and no markup of its source."""
    monkeypatch.syspath_prepend(str(DOCS))
    from slides import slides_of

    text = (DOCS / "course" / f"lesson{one.number}.rst").read_text(encoding="utf-8")
    title, slides = slides_of(text)
    assert title == f"Lesson {one.number}: {one.title}"
    whole = "".join(slides)
    assert whole.count("<img ") == text.count(".. figure::") >= 1
    assert whole.count(r"\[") == text.count(".. math::")
    questions = text.split("To ask\n")[1].split("Pages\n")[0]
    assert whole.count("class=question") == whole.count("class='answer later'") == len(re.findall("(?m)^- ", questions))
    assert whole.count("<li>") == len(re.findall("(?m)^- ", text.split("To ask\n")[0]))
    assert "``" not in whole
    assert ":math:" not in whole
    assert ":doc:" not in whole
    assert max(map(len, slides)) < 1800  # more would not go on a slide
