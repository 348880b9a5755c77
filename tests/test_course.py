"""The course: every lesson has its page, its sheet, its key and its slides."""

import json
import re
from pathlib import Path

import pytest

from convex_tsvm.cli import main
from convex_tsvm.verification.report import write_notebook
from convex_tsvm.verification.statements.course import LESSONS, grade, lesson
from convex_tsvm.verification.statements.statement import paper

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


def filled(one, path, change=lambda place, source: source):
    """A sheet as a student who knows the key hands it in, but for what is changed; returns how many answers it has."""
    blank, key = (one.sheet(exercise=exercise) for exercise in (True, False))
    blanks, codes = ([cell for cell in cells if cell["cell_type"] == "code"] for cells in (blank, key))
    write_notebook(blank, path)
    contents = json.loads(path.read_text(encoding="utf-8"))
    handed_in = [cell for cell in contents["cells"] if cell["cell_type"] == "code"]
    places = [k for k, cell in enumerate(blanks) if "def answer(" in cell["source"]]
    for k, (cell, right) in enumerate(zip(handed_in, codes, strict=True)):
        cell["source"] = change(places.index(k), right["source"]) if k in places else right["source"]
    path.write_text(json.dumps(contents), encoding="utf-8")
    return len(places)


@pytest.mark.parametrize("one", LESSONS, ids=lambda one: f"lesson {one.number}")
def test_right_answers_are_right_on_hidden_problems(one, tmp_path):
    """Those of the key, on problems that no sheet shows; and the cells of a sheet have names of their own."""
    count = filled(one, tmp_path / "sheet.ipynb")
    names = [cell["id"] for cell in json.loads((tmp_path / "sheet.ipynb").read_text(encoding="utf-8"))["cells"]]
    assert len(set(names)) == len(names)
    for seed in (None, 1, 2):
        marks = one.marks(tmp_path / "sheet.ipynb", seed)
        assert len(marks) == count >= 5
        assert [(name, grade.reason) for name, grade in marks if not grade] == []


def test_values_of_the_problems_in_the_sheet_are_wrong_on_hidden_ones():
    """A table of the known values is right in the sheet; on a hidden problem it is not."""
    for name, number in (("collobert2006", "eq. 1"), ("chapelle2008", "eq. 5"), ("sindhwani2006", "Figure 1.1")):
        statement = paper(name)[number]
        known = {len(q.y): statement.claimed(q) for q in statement.quantities()}
        table = lambda q, known=known: known[len(q.y)]  # noqa: E731
        assert grade(name, number, table)
        assert not grade(name, number, table, seed=5)


@pytest.mark.parametrize("number", ["eq. 8", 25], ids=["a statement", "a line of a derivation"])
def test_seeds_are_numbers_from_0(number):
    for seed in (-1, 0.5, "exam"):
        with pytest.raises(ValueError, match=f"seed={seed!r} must be an integer"):
            grade("collobert2006", number, lambda q: 0.0, seed=seed)


def test_sheets_are_graded_by_the_command_line(tmp_path, capsys):
    """What a student breaks is that student's; the others' grades stay."""
    good, bad, other = (tmp_path / f"{name}.ipynb" for name in ("good", "bad", "other"))
    one = lesson(2)
    count = filled(one, good)
    calls = [f"\nct.papers.grade({item.paper!r}, {item.number!r}, answer)" for item in one.statements]
    broken = {1: "raise ValueError('no idea')", 3: "nothing = 1", 2: "def answer(q):\n    return np.zeros((3, 17))"}
    broken[4] = "import sys\nanswer = ct.papers.Grade(True, 'mine is right')\nsys.exit()"
    broken = {place: source + calls[place] for place, source in broken.items()}
    filled(one, bad, broken.get)
    assert main(["verify", "--lesson", "2", "--grade", str(good), str(bad), "--seed", "3"]) == 0
    text = capsys.readouterr().out
    assert f"good.ipynb: {count} of {count} right" in text
    assert f"bad.ipynb: {count - 4} of {count} right" in text
    for said in (
        "the cell raises ValueError: no idea",
        "the cell raises NameError: name 'answer' is not defined",
        "q.z, q.s, and the answer does not",
        "SystemExit",
    ):
        assert text.count(said) == 1
    other.write_text("{}", encoding="utf-8")
    for argument, said in ((other, "is not a notebook"), (tmp_path / "none.ipynb", "is not a notebook")):
        assert main(["verify", "--lesson", "2", "--grade", str(argument)]) == 2
        assert said in capsys.readouterr().err
    assert {mark.reason for _, mark in lesson(1).marks(good)} == {"no cell grades it"}


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
