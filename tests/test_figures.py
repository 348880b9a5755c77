"""Figures in the README and the documentation are those of the kept results."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))

import results_page  # noqa: E402
from results_page import figure, one, rows  # noqa: E402


def read(path):
    """A text with single spaces, so that lines may break anywhere."""
    return " ".join((ROOT / path).read_text(encoding="utf-8").split())


def test_the_page_of_results_is_made_of_the_kept_ones():
    assert results_page.page() == results_page.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["practice", "linear", "exact"])
def test_the_figures_of_the_readme(name):
    assert results_page.highlights()[name] in read("README.md")


def practice_claims():
    """What the guide says of the defaults."""
    means = {row[""]: row for row in rows("practice", "## What the defaults were chosen among")}
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
    drawn = sets["three classes, per class"]
    yield f"{figure(drawn['ours'])} % error with it"
    yield f"{figure(drawn['SVM'])} % for the supervised SVM"


def method_claims():
    """The table of the guide's page on methods, a line a cell."""
    columns = ("∇S3VM", "cS3VM", "Newton", "∇DA")
    review = {row[""]: row for row in rows("review", "## Tables 1 and 8")}
    for data in ("g50c", "text"):
        cells = [f"{figure(review[data][name]):.1f}" for name in columns]
        yield " - ".join(cells)
        yield f"- {figure(review[data]['S3VMlight']):.1f} - {figure(review[data]['SVM']):.1f}"


@pytest.mark.parametrize("claim", list(practice_claims()))
def test_the_figures_of_few_labels(claim):
    assert claim in read("docs/guide/few_labels.rst")


@pytest.mark.parametrize("claim", list(method_claims()))
def test_the_figures_of_the_methods(claim):
    assert claim in read("docs/guide/methods.rst")


def test_a_row_that_is_not_there_is_an_error():
    with pytest.raises(ValueError, match="not enough values"):
        one(rows("svmlin"), data="no such set")
