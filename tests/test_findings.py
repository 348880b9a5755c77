"""What is said to be found in the papers: passages that stand there, counterexamples that run, counts that agree."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.verification.statements import PAPERS
from convex_tsvm.verification.statements.collobert2006.items import STEPS
from convex_tsvm.verification.statements.dai2010 import quantities
from convex_tsvm.verification.statements.statement import FALSE_AS_PRINTED

pytestmark = pytest.mark.papers

ROOT = Path(__file__).parents[1]

#: The texts of the papers, which are nobody's to hand out.
TEXTS = ROOT / ".." / "shared" / "papers"


def pages():
    """The module that makes pages of the findings."""
    spec = importlib.util.spec_from_file_location("findings", ROOT / "docs" / "findings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MADE = pages()
FINDINGS = MADE.FOUND["finding"]
FALSE = MADE.of("false")


def named(one):
    return f"{one['paper']} {one['place']}"


@pytest.mark.parametrize("name", PAPERS)
def test_passages_stand_in_the_text(name):
    """Letter by letter; a run of white space is as good as any other."""
    path = TEXTS / f"{name}.txt"
    if not path.exists():
        pytest.skip(f"needs the text of {name} in shared/papers beside the checkout")
    text = " ".join(path.read_text(encoding="utf-8").split())
    for one in FINDINGS:
        if one["paper"] == name:
            assert one["quotes"], one["place"]
            assert [quote for quote in one["quotes"] if " ".join(quote.split()) not in text] == [], one["place"]


def test_findings_are_whole():
    assert list(MADE.FOUND["kinds"]) == ["false", "imprecise", "slip of notation", "unreadable in our text"]
    assert set(MADE.FOUND["papers"]) == set(PAPERS)
    assert len({named(one) for one in FINDINGS}) == len(FINDINGS)
    for one in FINDINGS:
        assert set(one) - {"statement"} == {"paper", "place", "quotes", "kind", "says"}
        assert one["kind"] in MADE.FOUND["kinds"]
        assert one["says"].endswith(".")


@pytest.mark.parametrize("one", FALSE, ids=named)
def test_what_is_false_has_a_counterexample(one):
    statement = ct.papers.paper(one["paper"])[one["statement"]]
    assert statement.run().verdict == FALSE_AS_PRINTED
    found = statement.counterexample()
    assert statement.miss(np.asarray(found.computed), np.asarray(found.corrected)) <= statement.tolerance
    assert statement.miss(np.asarray(found.computed), np.asarray(found.printed)) > 100 * statement.tolerance


def test_every_printed_form_is_a_finding():
    printed = {(name, one.number) for name in PAPERS for one in ct.papers.paper(name) if one.printed is not None}
    assert printed <= {(one["paper"], one.get("statement")) for one in FINDINGS}
    assert len({(one["paper"], one["statement"]) for one in FALSE}) == len(FALSE)


def test_the_step_that_is_not_strict_is_one_of_algorithm_2():
    """From the SVM of the labelled points, and by the least value of eq. 5 under eq. 4; so are its outputs."""
    X, y = np.array([[-1.0], [1.0], [0.0], [2.0]]), [-1, 1, 0, 0]
    problem = ct.Problem(X, y, kernel=ct.Linear(), C=1.0, C_unlabeled=0.25, balance=0.0)
    before, after = STEPS[0]
    assert np.allclose(before, X[2:, 0])
    for w in np.linspace(-2, 3, 101):
        for b in np.linspace(-1, 1, 41):
            assert svm(X, w, b) >= svm(X, 1.0, 0.0) - 1e-12
    step = ct.cccp_tsvm(-0.5).on(problem).step(X[:, 0])
    found = ct.solvers.NativeSolver(problem, tol=1e-10).solve(step)
    assert np.allclose(found.outputs[2:], after, atol=1e-6)


def svm(X, w, b):
    """The objective of the SVM of the two labelled points."""
    return 0.5 * w * w + np.maximum(0, 1 + w * X[0, 0] + b) + np.maximum(0, 1 - w * X[1, 0] - b)


def test_the_balance_of_dai2010_gives_the_sizes_of_the_classes():
    """With its constraint on d the denominators are right, and r is no share of a class."""
    for q in quantities.problems():
        assert np.isclose(q.d.mean(), 2 * q.r - 1)
        assert np.isclose(q.u * (2 * q.r - 1), q.d.sum())
        assert np.isclose(2 * q.u * (1 - q.r), (1 - q.d).sum())


def test_lemma_3_bounds_what_is_above_zero():
    for q in quantities.problems():
        found = ct.papers.rademacher_complexity(q.problem, 2.0, q.C_3, n_draws=500)
        assert found.estimate > 10 * found.error > 0


#: Sentences that give a number of errors: the file, the words around the number, and which number it is.
COUNTED = (
    ("README.md", r"(\d+) places that are false, with counterexamples"),
    ("CHANGELOG.md", r"(\d+) places of the papers that are false are run"),
    ("paper/paper.md", r"(\d+)<!--errata.false-->"),
)


@pytest.mark.parametrize(("path", "words"), COUNTED)
def test_counts_agree(path, words):
    found = re.findall(words, (ROOT / path).read_text(encoding="utf-8"))
    assert found
    assert {int(number) for number in found} == {len(FALSE)}


def test_no_other_counts_are_said():
    """Numbers beside a word for errors of papers, in digits, are those above."""
    pages = [ROOT / "README.md", ROOT / "paper" / "paper.md", ROOT / "paper" / "report" / "report.md"]
    pages += [
        *(ROOT / "docs").glob("*.rst"),
        *(ROOT / "docs" / "guide").glob("*.rst"),
        *(ROOT / "docs" / "course").glob("*.rst"),
    ]
    for page in pages:
        text = " ".join(page.read_text(encoding="utf-8").split())
        for number in re.findall(r"(\d+)(?:<!--[^>]*-->)? (?:misprints|errors|places|mistakes)\b", text):
            assert int(number) == len(FALSE), (page, number)


def test_kept_runs_are_of_these_findings():
    kept = json.loads((ROOT / "paper" / "runs" / "errata.json").read_text(encoding="utf-8"))
    for name in PAPERS:
        assert [one["place"] for one in kept[name]["false"]] == [one["statement"] for one in MADE.of("false", name)]
        assert kept[name]["statements"] == len(ct.papers.paper(name))
        assert kept[name]["holds"] == kept[name]["statements"] - len(MADE.of("false", name))


def test_the_paper_with_most_is_the_one_the_course_says():
    counts = {name: len(MADE.of("false", name)) for name in PAPERS}
    assert max(counts, key=counts.get) == "dai2010"


def test_pages_have_every_finding(tmp_path):
    MADE.write_findings(tmp_path)
    head = (tmp_path / "findings.inc").read_text(encoding="utf-8")
    assert f"**false** ({len(FALSE)})" in head
    for name in PAPERS:
        text = (tmp_path / f"{name}_findings.rst").read_text(encoding="utf-8")
        assert text.count(".. code-block:: none") == sum(len(one["quotes"]) for one in FINDINGS if one["paper"] == name)
        assert text.count("as printed ") >= len(MADE.of("false", name))
    assert set(re.findall(r"statements/(\w+)_findings", (ROOT / "docs" / "papers.rst").read_text())) == set(PAPERS)
