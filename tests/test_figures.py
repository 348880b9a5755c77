"""Figures in the README and the documentation are those of the kept results."""

import csv
import dataclasses
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))

import document  # noqa: E402
import results_page  # noqa: E402
from results_page import one, rows  # noqa: E402

sys.path.insert(0, str(ROOT / "benchmarks" / "papers"))  # before a benchmark that has the name of a paper
from experiment import Experiment, Figure, cells  # noqa: E402
from verdicts import PAPERS, totals, verdicts  # noqa: E402


def read(path):
    """A text with single spaces, so that lines may break anywhere."""
    return " ".join((ROOT / path).read_text(encoding="utf-8").split())


def test_the_page_of_results_is_made_of_the_kept_ones():
    assert results_page.page() == results_page.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["call", "practice", "linear", "exact"])
def test_the_figures_of_the_readme(name):
    assert results_page.highlights()[name] in read("README.md")


def practice_claims():
    """What the guide says of the defaults."""
    means = {row[""]: row for row in rows("practice", "What the defaults were chosen among")}
    sets = {row[""]: row for row in rows("practice")}
    behind = {name: row["behind ours, mean over sets ± standard error"].lstrip("+-") for name, row in means.items()}
    error = {name: row["error"] for name, row in means.items()}
    yield f"errs on {error['ours']} % of the unlabelled points"
    yield f"with its own default C = 1 on {error['SVM']} % and with C = 10 on {error['supervised']} %"
    yield f"C = 1 is {behind['C=1']} points worse, C* = C L / U {behind['C* balanced']},"
    yield f"no balance {behind['no balance']}, a ramp"
    yield f"(s = 0, annealed) {behind['s=0, annealed']}"
    yield f"annealing ({behind['annealed']}), C* = 3 in place of 1 ({behind['C*=3']})"
    yield f"C = 100 with the same C* ({behind['C=100, C*=1, annealed']}), ∇S3VM in place of CCCP"
    yield f"∇S3VM in place of CCCP ({behind['gradient']})"
    yield f"The search (below) errs on {error['ours, searched']} %, {behind['ours, searched']} less"
    yield f"the clipped loss ({error['CMM']} %;"
    better = float(error["S4VM"]) - float(error["S4VM, C=10"])
    yield f"with C = 10 it is {better:.1f} points better on average"
    yield f"the plain hinge {error['CMM, ε=1, C₃=C*, s=0']} %)"
    ahead = max((row["ours, searched"].value - row["SVM"].value, name) for name, row in sets.items())
    yield f"On no set is it more than {ahead[0]:.1f} points behind the supervised SVM ({ahead[1]})"
    means = drawn_means()
    ours, free, alone = (means["three classes, per class", name] for name in ("ours", "no balance", "SVM"))
    yield f"{ours:.1f} % error with it, {free:.1f} % without balance, {alone:.1f} % for the supervised SVM"
    random = [f"{means['three classes, at random', name]:.1f}" for name in ("ours", "no balance", "SVM")]
    yield f"with thirty labels drawn at random {random[0]}, {random[1]} and {random[2]} %"
    texts = [value for (data, name), value in means.items() if "text" in data and name == "no balance"]
    yield f"(texts: {min(texts):.0f} to {max(texts):.0f} % error)"


def drawn_means():
    """Mean errors in the kept draws of labels, by set and method."""
    found = {}
    with open(ROOT / "benchmarks" / "results" / "practice.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault((row["data"], row["method"]), []).append(float(row["error"]))
    return {key: sum(errors) / len(errors) for key, errors in found.items()}


def method_claims():
    """The table of the guide's page on methods, a line a cell."""
    columns = ("∇S3VM", "cS3VM", "Newton", "∇DA")
    review = {row[""]: row for row in rows("review", "Tables 1 and 8")}
    for data in ("g50c", "text"):
        cells = [f"{review[data][name].value:.1f}" for name in columns]
        yield " - ".join(cells)
        yield f"- {review[data]['S3VMlight'].value:.1f} - {review[data]['SVM'].value:.1f}"
    plain = {row[""]: row["no annealing"].value for row in rows("review", "Table 12")}
    yield f"it CCCP errs on g50c in {plain['g50c']:.1f} % and on text in {plain['text']:.1f} %"
    late, early = review["uspst"]["cS3VM"], review["uspst"]["S3VMlight"]
    yield f"(uspst: {late.value:.0f} %, against {early.value:.0f} % of ``"
    yield f"the paper has {late.paper:.0f} and {early.paper:.0f} %)"
    cars = [review["coil3"][name].value for name in (*columns, "CCCP", "S3VMlight")]
    graph = one(rows("review", "Table 15"), **{"": "coil3"})["LapSVM-S3VMlight, exact r"]
    yield f"six labels: {min(cars):.0f} to {max(cars):.0f} % without, {graph.value:.0f} % with the kernel"


def online_claims():
    """What the guide says of learning from one chunk after the other."""
    online = rows("online")
    text, objective = (one(online, data="text", loss="squared_hinge", what=what) for what in ("error, %", "objective"))
    few = [f"{text[name].value:.1f}" for name in ("batch", "online, 1", "online, 5", "online, 50")]
    yield f"errs on {few[0]} % in the batch, {few[1]} % after one pass of ``partial_fit``, {few[2]} % after five"
    yield f"and {few[3]} % after fifty, with an objective"
    yield f"an objective {100 * (objective['online, 50'].value / objective['batch'].value - 1):.1f} % higher"


def test_the_readme_counts_verdicts():
    facts = document.read("papers")["facts"]
    found = Counter(one["verdict"] for paper in PAPERS for one in facts[paper])
    text = " ".join(read("README.md").split())
    assert (
        f"{found['reproduced']} are reproduced, {found['differs']} differ, {found['unfinished']} are unfinished" in text
    )
    assert (
        f"and {found['not possible']} not possible; {facts['compared']} of {facts['printed']} printed figures" in text
    )
    assert (facts["compared"], facts["printed"]) == totals()


@pytest.mark.parametrize("claim", list(practice_claims()))
def test_the_figures_of_few_labels(claim):
    assert claim in read("docs/guide/few_labels.rst")


@pytest.mark.parametrize("claim", list(online_claims()))
def test_the_figures_of_chunks(claim):
    assert claim in read("docs/guide/many_points.rst")


@pytest.mark.parametrize("claim", list(method_claims()))
def test_the_figures_of_the_methods(claim):
    assert claim in read("docs/guide/methods.rst")


def test_a_row_that_is_not_there_is_an_error():
    with pytest.raises(ValueError, match="not enough values"):
        one(rows("svmlin"), data="no such set")


@pytest.mark.parametrize("path", sorted((ROOT / "benchmarks" / "results").glob("*.md")), ids=lambda path: path.stem)
def test_markdown_is_rendered_from_data(path):
    assert document.rendered(document.read(path.stem)) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("paper", PAPERS)
def test_verdicts_are_those_of_the_kept_results(paper):
    assert document.read("papers")["facts"][paper] == verdicts(paper)


@pytest.mark.parametrize(
    ("shown", "value", "error", "paper"),
    [
        ("6.3 ± 0.3 (6.7)", 6.3, 0.3, 6.7),
        ("9.4 ± 0.3 (6.3) **≠**", 9.4, 0.3, 6.3),
        ("– (6.7)", None, None, 6.7),
        ("**11.9 ± 1.0**", 11.9, 1.0, None),
        ("1.76 ×", 1.76, None, None),
        ("9.1 (T13)", 9.1, None, None),
        ("4.5e-14", 4.5e-14, None, None),
        ("converged", None, None, None),
        ("two moons", None, None, None),
        (7, 7.0, None, None),
    ],
)
def test_a_cell_has_the_numbers_behind_it(shown, value, error, paper):
    cell = document.Cell.of(shown)
    assert (cell.shown, cell.value, cell.error, cell.paper) == (str(shown), value, error, paper)
    assert document.Cell.from_json(cell.to_json()) == cell


def test_figures_are_judged(tmp_path, monkeypatch):
    monkeypatch.setattr("experiment.tables", lambda name, heading: document.tables(name, heading, folder=tmp_path))
    table = Experiment("x", "Table 12", "A claim.", lambda: cells("review", "Table 12"))
    assert table.judged().verdict == "unfinished"

    def keep(cell):
        out = document.Document("review", "A review", tmp_path)
        out.heading("Table 12: x")
        out.table("", "no annealing", "annealing")
        out.row("g50c", "8.0 ± 0.2 (7.9)", cell)
        out.save()

    keep("6.4 ± 0.3 (6.3)")
    assert table.judged().verdict == "reproduced"
    assert dataclasses.replace(table, printed=2).judged().verdict == "reproduced"
    # Whatever figures come to, fewer than the paper prints, or of fewer runs, are no verdict.
    assert dataclasses.replace(table, printed=3).judged().verdict == "unfinished"
    assert dataclasses.replace(table, printed=3, lost=1).judged().verdict == "reproduced"
    assert dataclasses.replace(table, printed=2, lost=2).judged().verdict == "not possible"
    part = Figure("all", 0.05, 0.02, agrees=False, done=0.04)
    assert dataclasses.replace(table, figures=lambda: [part]).judged().verdict == "unfinished"
    keep("9.4 ± 0.3 (6.3)")
    assert table.judged().verdict == "differs"
    assert "annealing: 9.4 ± 0.3, the paper 6.3 (differs)" in table.judged().detail
    assert dataclasses.replace(table, printed=3).judged().verdict == "unfinished"
    keep("– (6.3)")
    assert table.judged().verdict == "unfinished"
    assert "1 are not computed yet" in table.judged().detail
    assert Figure.compared("x", 5.0, 6.4, 0.1).agrees
    assert not Figure.compared("x", 5.0, 6.6, 0.1).agrees
    assert Figure.compared("x", 5.0, 6.6, 0.9).agrees
