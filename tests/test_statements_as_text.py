"""Statements as text: what is printed of them, of what is false as printed, and of the code of their sides."""

import functools
import re

import numpy as np
import pytest

from convex_tsvm.verification.report import plain
from convex_tsvm.verification.statements.course import LESSONS, bare, quantities_of, solution
from convex_tsvm.verification.statements.statement import Outcome, Paper, PaperReport, function_source, source_of

pytestmark = pytest.mark.papers


def squares():
    """A paper of two statements: one that holds, and one whose printed form has another shape."""
    paper = Paper("nobody2000", "Squares", lambda: [np.arange(3.0), np.arange(4.0)])

    @paper.states("eq. 1", "q^2", "q q", claimed=lambda q: q * q)
    def square(q):
        """A square is a product."""
        return q**2

    @paper.states(
        "eq. 2",
        "2 q",
        "q + q",
        claimed=lambda q: q + q,
        printed=lambda q: q[:2],
        printed_tex="q",
        misprint="q stands there once",
    )
    def double(q):
        """Twice a number is a sum."""
        return 2 * q

    return paper


def test_what_is_right_as_printed_has_no_printed_form():
    right, wrong = squares()[1], squares()[2]
    with pytest.raises(ValueError, match=r"printed=True: nobody2000 eq\. 1 holds as it is printed"):
        right.latex(printed=True)
    with pytest.raises(ValueError, match=r"nobody2000 eq\. 1 holds as it is printed"):
        right.counterexample()
    assert wrong.latex(printed=True) == "q"


def test_a_printed_form_of_another_shape():
    """There is no entry to compare: the first of each are shown."""
    found = squares()[2].counterexample()
    assert (found.problem, found.entry) == (0, None)
    assert str(found) == "computed 0, 2, 4, corrected 0, 2, 4, as printed 0, 1"


def test_a_paper_has_a_number_once():
    paper = squares()
    with pytest.raises(ValueError, match=r"nobody2000 has two statements eq\. 1"):
        paper.add(paper[1])
    assert len(paper) == 2


def test_a_statement_as_text_has_its_misprint():
    right, wrong = map(str, squares())
    assert right.splitlines()[0] == "nobody2000 eq. 1: A square is a product."
    assert not {"as printed", "misprint"} & {line.strip()[:10].strip() for line in right.splitlines()}
    assert [line.split(maxsplit=1)[0] for line in wrong.splitlines()[2:]] == ["left", "right", "as", "misprint"]
    assert wrong.endswith("misprint     q stands there once")


def test_a_report_of_outcomes_without_figures():
    """An outcome that was not computed has a verdict, and no line about how far both sides are apart."""
    paper = squares()
    assert str(Outcome(paper[1], "fails")) == "eq. 1: fails"
    assert str(Outcome(paper[1], "holds", off=1e-9)) == "eq. 1: holds (off by 1.0e-09, allowed 1e-06)"
    text = str(PaperReport(paper, (Outcome(paper[1], "fails"), Outcome(paper[2], "holds", off=1e-9))))
    assert text.splitlines() == [
        "nobody2000: Squares",
        "",
        "eq. 1  FAILS",
        "       A square is a product.",
        "eq. 2  holds",
        "       Twice a number is a sum.",
        "       off by 1.0e-09, allowed 1e-06",
        "",
        "1 fails, 1 holds",
    ]


def test_sources_of_sides():
    """Of a lambda the expression, of a function its code, and nothing of what is not there."""
    right = squares()[1]
    assert right.claim == "q * q"
    assert source_of(right.computed) == right.code == "def square(q):\n    return q**2"
    assert function_source(functools.partial(squares)).startswith("def squares():\n    paper = Paper(")
    assert function_source(Noted).startswith("class Noted:")
    assert bare("    limit = 3\n") == "limit = 3"
    assert bare("def f(q: float) -> float:\n    return q") == "def f(q):\n    return q"


class Noted:
    """Quantities."""

    def __init__(self):
        self.a, self.b = 1.0, 2.0  # one number; another
        self.c: int = 3  # a third
        self.d = 4

    @property
    def e(self):
        """A fifth.

        Of it there is more to say.
        """


def test_quantities_and_what_is_said_of_them():
    """Comments of the lines that set them, and the first lines of docstrings."""
    assert quantities_of(Noted) == {"q.a": "One number", "q.b": "Another", "q.c": "A third", "q.e": "A fifth"}


@pytest.mark.parametrize("one", LESSONS[:3], ids=lambda one: f"lesson {one.number}")
def test_sheets_say_what_each_quantity_is(one):
    """All that an answer needs, once, with its form and an example."""
    sheet = "\n".join(cell["source"] for cell in one.sheet(exercise=True))
    for statement in one.statements:
        for name in re.findall(r"\bq\.\w+", solution(statement)):
            form = r"\((an array, |a number, |a function, |a |slice)"
            assert re.search(rf"- `{name}`: [A-Zθ½].{{8,}} {form}", sheet), name


@pytest.mark.parametrize("one", LESSONS[2:], ids=lambda one: f"lesson {one.number}")
def test_sheets_of_derivations_list_their_quantities(one):
    """All that the key's answers use, with shapes and what the symbols mean."""
    for made, derivation in one.derivations:
        sheet = "\n".join(cell["source"] for cell in derivation.cells(made, exercise=True))
        key = "\n".join(cell["source"] for cell in derivation.cells(made))
        for name in set(re.findall(r"\bq\.\w+", key)):
            assert re.search(rf"- `{name}(\(t\))?`: .{{4,}}", sheet), name


@pytest.mark.parametrize(
    ("text", "written"),
    [("x\N{COMBINING TILDE}", r"$\tilde{x}$"), ("α\N{COMBINING CIRCUMFLEX ACCENT}", r"$\hat{\alpha}$")],
    ids=["latin", "greek"],
)
def test_accents_in_latex(text, written):
    assert plain(text) == written
