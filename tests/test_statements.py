"""Every numbered item of the five papers: what is claimed, run; and each with mistakes planted in it, found."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.cli import main
from convex_tsvm.verification.relaxation import paper_checks
from convex_tsvm.verification.statements import PAPERS
from convex_tsvm.verification.statements.course import cells, helpers, solution
from convex_tsvm.verification.statements.statement import FALSE_AS_PRINTED, HOLDS, Proven

pytestmark = pytest.mark.papers

#: What the papers number: equations, algorithms and other statements, figures and tables.
NUMBERED = {
    "collobert2006": [*(f"eq. {k}" for k in range(1, 28)), "Algorithm 1", "Algorithm 2"]
    + [f"Figure {k}" for k in range(1, 10)]
    + [f"Table {k}" for k in range(1, 7)],
    "chapelle2008": [*(f"eq. {k}" for k in range(1, 19)), *(f"Algorithm {k}" for k in range(1, 7))]
    + [f"Figure {k}" for k in range(1, 11)]
    + [f"Table {k}" for k in range(1, 16)],
    "sindhwani2006": [f"eq. 1.{k}" for k in range(1, 10)]
    + [f"Figure 1.{k}" for k in range(1, 7)]
    + [f"Table 1.{k}" for k in range(1, 8)],
    "debie2004": [f"eq. {k}" for k in range(1, 12)]
    + [f"Proposition {k}" for k in ("2.1", "2.2", "2.3", "4.1")]
    + ["Lemma 2.1", "Corollary 2.1", "Lemma 2.2", "Figure 1"],
    "dai2010": [f"eq. {k}" for k in range(1, 10)]
    + ["Proposition 1", "Algorithm 1", "Lemma 2", "Lemma 3", "Corollary 4", "Figure 1", "Table 1"],
}

ALL = [(name, one) for name in PAPERS for one in ct.papers.paper(name)]
KEPT = json.loads((Path(__file__).parents[1] / "benchmarks" / "results" / "papers.json").read_text(encoding="utf-8"))
EXPERIMENTS = KEPT["facts"]
FAULTS = [(name, one, fault) for name, one in ALL for fault in one.faults]
MISPRINTS = [(name, one) for name, one in ALL if one.printed is not None]
#: Tables and figures of experiments; nothing else may be without a check.
EXPERIMENT = re.compile(r"(Table|Figure) [\d.]+$|§5, areas|§4.3, annealing|§5.5, 420|§2.4 and §3, complexity")


def named(value):
    """Readable names of the cases."""
    return value if isinstance(value, str) else getattr(value, "number", None)


def test_every_numbered_item_is_there():
    assert sum(len(numbers) for numbers in NUMBERED.values()) == 150
    for name, numbers in NUMBERED.items():
        checked, measured = {one.number for one in ct.papers.paper(name)}, {one["number"] for one in EXPERIMENTS[name]}
        assert set(numbers) <= checked | measured, name
        assert not checked & measured
        assert len({one.key for one in ct.papers.paper(name)}) == len(ct.papers.paper(name))
    print(f"{len(ALL)} items with a check, {len(FAULTS)} planted faults, {len(MISPRINTS)} misprints")


@pytest.mark.parametrize(("name", "one"), ALL, ids=named)
def test_a_statement_holds_as_it_is_corrected(name, one):
    outcome = one.run()
    assert outcome.verdict == (HOLDS if one.printed is None else FALSE_AS_PRINTED), outcome
    assert one.faults, "a statement without a planted fault may be one that cannot fail"
    assert one.says
    assert one.tex


@pytest.mark.parametrize(("name", "one", "fault"), FAULTS, ids=named)
def test_a_planted_fault_is_found(name, one, fault):
    assert one.off_with(one.faults[fault]) > 10 * one.tolerance


def test_what_has_no_check_is_an_experiment_and_says_why():
    for name in PAPERS:
        for one in EXPERIMENTS[name]:
            assert EXPERIMENT.match(one["number"]), (name, one["number"])
            assert one["says"], (name, one["number"])
            assert one["verdict"] in ("reproduced", "differs", "unfinished", "not possible")
            assert one["detail"]


def test_statements_rest_on_statements_and_not_on_themselves():
    for name in PAPERS:
        paper = ct.papers.paper(name)
        below = {one.number: set(one.rests_on) for one in paper}
        for number, rests_on in below.items():
            for other in rests_on:
                assert paper[other].number == other, (name, number, other)
        while below:
            free = {number for number, rests_on in below.items() if not rests_on & set(below)}
            assert free, f"{name}: {sorted(below)} rest on each other"
            below = {number: rests_on for number, rests_on in below.items() if number not in free}


NUMERIC = [(name, one) for name, one in ALL if not isinstance(one, Proven)]


@pytest.mark.parametrize(("name", "one"), NUMERIC, ids=named)
def test_answers_are_graded(name, one):
    """The right side is right, as a function and as a student would write it, and known mistakes are named."""
    assert ct.papers.grade(name, one.number, one.claimed), one.number
    for fault, wrong in one.faults.items():
        grade = ct.papers.grade(name, one.number, wrong)
        assert not grade, (one.number, fault)
    assert ct.papers.grade(name, one.number, lambda q: ...).reason == "not filled in yet"


@pytest.mark.parametrize(("name", "one"), NUMERIC, ids=named)
def test_the_key_to_a_sheet_is_right(name, one):
    """What is printed as right side says all that it needs, also of a function that states several items."""
    names = {"np": np}
    for side in (*helpers(one), one.computed):
        names |= inspect.getmodule(side).__dict__
    exec(compile(solution(one), "key.ipynb", "exec"), names)
    assert ct.papers.grade(one.paper, one.number, names["answer"])


def test_an_equation_that_is_proven_is_graded_at_points_that_are_not_optimal():
    def dual(q):
        a = q.y * (q.alpha - q.beta)
        return -0.5 * a @ q.K @ a + q.alpha[q.I].sum() + q.alpha[0] * q.c + q.k

    assert ct.papers.grade("collobert2006", 25, dual)
    slackness = lambda q: (q.alpha * (q.y * (q.x @ q.w + q.b) - 1 + q.xi))[q.I].sum()  # noqa: E731
    grade = ct.papers.grade("collobert2006", 25, lambda q: dual(q) + 7 * slackness(q))
    assert not grade
    assert "which is 0 at the optimum only" in grade.reason


def test_a_grade_has_a_reason():
    def beyond(t, s):
        return np.maximum(0, s - t)

    def right(q):
        return beyond(q.z, 1) - beyond(q.z, q.s)

    assert "right: off by" in str(ct.papers.grade("collobert2006", 8, right))
    cases = [
        (lambda q: -right(q), "it has the wrong sign"),
        (lambda q: 2 * right(q), "it is 2 times what it should be"),
        (lambda q: right(q) + 0.5, "it differs by the constant 0.5"),
        (lambda q: right(q)[:3], "the answer has shape (3,); it must be (17,)"),
        (lambda q: q.nothing, "the answer raises AttributeError"),
        (lambda q: right(q) * np.nan, "the answer is not finite"),
        (lambda q: right(q) + np.eye(17)[2], "it is too large at 1 of 17 values; reveal=True"),
        (lambda q: beyond(q.z, 1), "the formula depends on q.s, and the answer does not"),
        (right(ct.papers.paper("collobert2006").quantities()[0]) - np.eye(17)[2], "too small at 1 of 17"),
    ]
    for answer, reason in cases:
        grade = ct.papers.grade("collobert2006", 8, answer)
        assert not grade
        assert reason in grade.reason, grade
        assert "should be " not in grade.reason, "a hint comes before a number"
    grade = ct.papers.grade("collobert2006", 8, lambda q: right(q) + np.eye(17)[2], reveal=True)
    assert re.search(r"it is \S+ at entry 2, and should be \S+", grade.reason)
    assert (
        "that is what the paper prints"
        in ct.papers.grade("collobert2006", 4, ct.papers.paper("collobert2006")[4].printed).reason
    )
    # A value in place of a function is graded on the problem of six points.
    assert ct.papers.grade("collobert2006", 8, right(ct.papers.paper("collobert2006").quantities()[0]))
    for number in (99, "eq. 99", "Figure 8"):
        with pytest.raises(ValueError, match="must be one of"):
            ct.papers.grade("collobert2006", number, 0.0)
    with pytest.raises(ValueError, match="paper='collobert'"):
        ct.papers.paper("collobert")


def test_a_sheet_has_no_answers():
    one = ct.papers.paper("collobert2006")[8]
    text = json.dumps(cells([one], exercise=True), ensure_ascii=False)
    assert "import *" not in text
    assert "H(1, q.z)" not in text
    assert "return ...  # the right-hand side" in text


def test_the_command_line_runs_a_paper(capsys, tmp_path):
    assert main(["verify", "--paper", "sindhwani2006"]) == 0
    printed = capsys.readouterr().out
    assert "eq. 1.9" in printed
    assert "false as printed" in printed
    assert main(["verify", "--paper", "dai2010", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["paper"] == "dai2010"
    assert len(found["statements"]) == len(ct.papers.paper("dai2010"))
    sheet = tmp_path / "sheet.ipynb"
    assert main(["verify", "--paper", "debie2004", "--exercise", str(sheet)]) == 0
    assert json.loads(sheet.read_text())["nbformat"] == 4
    for arguments, said in (
        (["verify"], "DATA is missing"),
        (["verify", "--paper", "nobody1999"], "paper='nobody1999' must be"),
        (["verify", "two_moons", "--paper", "dai2010"], "--paper has problems of its own"),
        (["verify", "two_moons", "--exercise", "x.ipynb"], "say which with --paper or --lesson"),
        (["verify", "--paper", "dai2010", "--exercise", str(tmp_path / "x.txt")], "must end in .ipynb"),
        (["verify", "--paper", "all", "--exercise", str(tmp_path / "x.ipynb")], "a notebook is of one paper"),
    ):
        assert main(arguments) == 2
        assert said in capsys.readouterr().err


def test_a_statement_that_fails_is_said_to(monkeypatch):
    """The verdict comes from running: with a wrong loss in the toolkit eq. 8 fails."""
    monkeypatch.setattr("convex_tsvm.verification.statements.collobert2006.items.ramp", lambda s: ct.hinge())
    outcome = ct.papers.paper("collobert2006")[8].run()
    assert outcome.verdict == "fails"
    assert not outcome.passed


def test_verify_runs_the_statements_that_concern_a_formulation(moons):
    X, _, y = moons
    y[np.flatnonzero(y < 0)[0]] = 0  # with as many labels of both classes the balance is 0, doubled or not
    problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=3)
    report = ct.verify(ct.cccp_tsvm(-0.2), problem)
    assert report.passed, str(report)
    assert {"collobert2006 eq. 4", "collobert2006 eq. 11"} <= {check.name for check in report.checks}
    broken = ct.verify(ct.cccp_tsvm(-0.2), problem, as_printed="collobert2006 eq. 4")
    assert [check.name for check in broken.checks if not check.passed] == ["collobert2006 eq. 4"]
    assert "as printed" in broken["collobert2006 eq. 4"].source
    with pytest.raises(ValueError, match=r"as_printed='collobert2006 eq\. 5' must be a misprint"):
        ct.verify(ct.cccp_tsvm(), problem, as_printed=["collobert2006 eq. 5"])
    other = ct.verify(ct.svm(), problem, as_printed="collobert2006 eq. 4")
    assert not other["collobert2006 eq. 4"].passed
    assert "not about this formulation" in other["collobert2006 eq. 4"].detail


MISPRINTS = [f"{one.paper} {one.number}" for name in PAPERS for one in ct.papers.paper(name) if one.printed is not None]


@pytest.mark.parametrize("balanced", [True, False])
def test_every_misprint_shows(moons, balanced):
    """Through verify, on two moons: each fails there, or says that it cannot be seen and fails where it can."""
    X, _, y = moons
    if not balanced:
        y[np.flatnonzero(y < 0)[0]] = 0
    problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=3)
    for model in (ct.cccp_tsvm(), ct.s3vm()):
        report = ct.verify(model, problem, as_printed=MISPRINTS)
        for name in MISPRINTS:
            check = report[name]
            assert not check.passed, name
            assert "as printed" in check.source
    unseen = report["collobert2006 eq. 4"].detail
    assert "own problem it fails" in unseen


@pytest.mark.parametrize(
    ("model", "options", "number"),
    [
        (ct.s3vm(), {"kernel": ct.RBF(0.5)}, "chapelle2008 eq. 4"),
        (ct.s3vm(), {}, "sindhwani2006 eq. 1.5"),
        (ct.cccp_tsvm(0.0, balance=None, fit_intercept=False), {"C_unlabeled": 3.0}, "debie2004 Proposition 2.2"),
        (ct.compact_margin(1.1, 0.5, 1.0), {"C_unlabeled": 1.5}, "dai2010 Algorithm 1"),
    ],
)
def test_each_paper_is_about_some_formulations(model, options, number, moons):
    X, _, y = moons
    problem = ct.Problem(X, y, C=3, **options)
    found = {check.name: check for check in paper_checks(model, problem)}
    assert number in found
    assert all(check.passed for check in found.values()), [str(c) for c in found.values() if not c.passed]
    about = {name.split()[0] for name in found}
    assert not {check.name.split()[0] for check in paper_checks(ct.cccp_tsvm(), problem)} & about
    # Other costs within a class, and constraints, are not what the papers have.
    uneven = problem.replace(C=np.linspace(1, 2, problem.n_labeled))
    assert number.startswith("sindhwani") or not list(paper_checks(model, uneven))


def test_points_that_no_solver_of_cvxpy_takes_fail_and_say_so(moons):
    X, _, y = moons
    report = ct.verify(ct.s3vm(), ct.Problem(1e3 * X + 1e4, y, C=2))
    assert not report.passed
    assert any("Scale the points" in check.detail for check in report.checks)


def test_papers_are_loaded_when_they_are_asked_for():
    name = "convex_tsvm.verification.statements.dai2010"
    code = f"import sys, convex_tsvm as ct; ct.verify; print({name!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("number", range(1, 9))
def test_a_lesson_has_a_sheet_and_a_key(number, tmp_path, capsys):
    sheet, key = tmp_path / "sheet.ipynb", tmp_path / "key.ipynb"
    assert main(["verify", "--lesson", str(number), "--exercise", str(sheet), "--derivation", str(key)]) == 0
    made = [json.loads(path.read_text(encoding="utf-8"))["cells"] for path in (sheet, key)]
    assert "answer key" in made[1][0]["source"]
    for cells_of, right in zip(made, (False, True), strict=True):
        names, graded = {}, 0
        for cell in cells_of:
            if cell["cell_type"] == "code":
                body, _, last = cell["source"].rpartition("\n\n")
                exec(body, names)
                if "grade(" in last:
                    # As it is handed out, a cell runs, and says that it is not filled in yet.
                    assert bool(eval(last, names)) == right, cell["source"]
                    graded += 1
                else:
                    exec(last, names)
        assert graded >= 5


def test_a_lesson_that_is_not_there_is_said_to_be(capsys):
    for arguments, said in (
        (["verify", "--lesson", "9", "--exercise", "x.ipynb"], "lesson=9 must be an integer from 1 to 8"),
        (["verify", "--lesson", "3"], "say where the sheet goes"),
        (["verify", "two_moons", "--lesson", "3"], "problems of its own"),
        (["verify", "--lesson", "3", "--exercise", "x.ipynb", "--seed", "3"], "seed=3 is for the problems of --grade"),
        (["verify", "--lesson", "3", "--exercise", "x.ipynb", "--grade", "y.ipynb"], "--lesson with --grade"),
        (["verify", "two_moons", "--grade", "y.ipynb"], "grade"),
    ):
        assert main(arguments) == 2
        assert said in capsys.readouterr().err
