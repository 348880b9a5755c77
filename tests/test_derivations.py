"""The papers' derivations: every step proven, its formula as code right, and a mistake in it refused."""

import json

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.verification.answers import as_code
from convex_tsvm.verification.statements import PAPERS

pytestmark = pytest.mark.papers

ALL = [(name, place) for name in PAPERS for place in range(len(ct.papers.paper(name).derivations))]


@pytest.mark.parametrize(("name", "place"), ALL)
def test_every_step_is_proven_and_its_code_is_right(name, place):
    made = ct.papers.paper(name).derivations[place]
    report = made.prove()
    assert report.proven, report
    assert 1 <= len(made) <= 14
    for number, step in enumerate(made, 1):
        code = as_code(step.after.formula, not made.setting.balanced)
        assert made.grade(number, eval(f"lambda q: {code}", {"np": np})), (number, code)
        if step.before.formula is not step.after.formula:
            grade = made.grade(number, eval(f"lambda q: 1 + {code}", {"np": np}))
            assert not grade


def test_papers_say_where_their_lines_are():
    for name in PAPERS:
        made = ct.papers.paper(name).derivations
        assert len(made) >= 2
        assert any(step.source for one in made for step in one)


@pytest.mark.parametrize("name", PAPERS)
def test_notebooks_run_and_sheets_leave_the_answers_out(name):
    paper = ct.papers.paper(name)
    names = {}
    for cell in paper.cells():
        if cell["cell_type"] == "code":
            body, _, last = cell["source"].rpartition("\n\n")
            exec(body, names)
            if "grade" in last:
                assert eval(last, names), cell["source"]
            else:
                exec(last, names)
    sheet = paper.cells(exercise=True)
    blanks = [cell["source"] for cell in sheet if "def answer" in cell["source"]]
    assert len(blanks) == sum(map(len, paper.derivations))
    assert all("return ..." in cell for cell in blanks)
    names = {}
    for cell in sheet:
        if cell["cell_type"] == "code":
            body, _, last = cell["source"].rpartition("\n\n")
            exec(body, names)
            if "grade" in last:
                assert eval(last, names).reason == "not filled in yet"
            else:
                exec(last, names)
    text = json.dumps(sheet, ensure_ascii=False)
    told = "".join(cell["source"] for cell in sheet).replace("\\*", "*")
    for one in paper.derivations:
        assert all(f"> {step.lemma.says}\n" in told for step in one)
        last = one[-1].after.show(True)
        assert json.dumps(last)[1:-1] not in text or one[-1].before is one[-1].after or len(one) == 1
