"""Every example states its claim, and keeps it."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.plotting import SMALL_TREE, plot_search, save_figure

EXAMPLES = Path(__file__).parents[1] / "examples"


def load(name):
    return runpy.run_path(str(EXAMPLES / name))


def test_two_moons(tmp_path):
    errors = load("plot_two_moons.py")["two_moons"](tmp_path / "moons.png")
    assert errors["TSVM"] < errors["SVM"] / 3
    assert (tmp_path / "moons.png").stat().st_size > 10_000


#: Pages of cells, which check their claims as they run: page, and how many pictures it draws.
CELLS = {"cccp_steps": 3, "dual_by_hand": 1, "when_they_hurt": 1, "certificate": 2}


@pytest.mark.parametrize("name", CELLS)
def test_pages_keep_their_claims(name, capsys):
    load(f"plot_{name}.py")
    assert len(plt.get_fignums()) == CELLS[name]
    assert capsys.readouterr().out


def test_the_dual_by_hand_is_short_and_right():
    """At most thirty lines of NumPy find again what the library finds, to 1e-8."""
    page = load("plot_dual_by_hand.py")
    assert max(page["differences"].values()) < 1e-8
    assert np.abs(page["b"]) > 0.01  # nothing is 0 by symmetry
    assert len(page["at"]) > 0
    source = (EXAMPLES / "plot_dual_by_hand.py").read_text(encoding="utf-8")
    code = source[source.index("K = np.exp") : source.index("# Which points are at kinks")].splitlines()
    assert sum(1 for line in code if line.strip() and not line.strip().startswith(("#", '"""'))) <= 30


def test_your_own_loss(capsys):
    for computed, expected in load("your_own_loss.py")["your_own_loss"](show=True).values():
        assert computed == pytest.approx(expected, rel=1e-6)
    out = capsys.readouterr().out
    assert "checks passed" in out
    assert "FAIL" not in out


def test_losses(tmp_path):
    below, expected = load("plot_losses.py")["losses"](tmp_path / "losses.png")["surrogate below loss"]
    assert below == pytest.approx(expected, abs=1e-12)


def test_sdp_transduction(tmp_path):
    figures = load("plot_sdp_transduction.py")["sdp_transduction"](tmp_path / "figure1.png")
    assert figures["errors"] == 0
    assert figures["labels within 0.05 of 1 or -1"] >= 0.9
    assert 0 <= figures["gap"] < 0.01
    assert (tmp_path / "figure1.png").stat().st_size > 10_000


def test_smoothing(tmp_path):
    figures = load("plot_smoothing.py")["smoothing"](tmp_path / "smoothing.png")
    assert figures["minima"][0.0] == pytest.approx(0.98, abs=0.01)
    assert figures["from one start alone"] == pytest.approx(-1.19, abs=0.01)
    assert figures["cold"] < 1e-3
    assert (tmp_path / "smoothing.png").stat().st_size > 10_000


def test_transduction(tmp_path):
    figures = load("plot_transduction.py")["transduction"](tmp_path / "transduction.png", draws=16)
    assert figures["correlation"] < 0
    assert figures["transductive"] < figures["inductive"]
    assert (tmp_path / "transduction.png").stat().st_size > 10_000


def test_relaxation_gaps(tmp_path):
    for gaps in load("plot_relaxation_gaps.py")["relaxation_gaps"](tmp_path / "gaps.png").values():
        found = list(gaps.values())
        assert all(tighter <= looser + 1e-7 for looser, tighter in zip(found[:-1], found[1:], strict=True))
        assert found[-1] < 0.05 < found[0]


def test_compact_margin(tmp_path):
    errors = load("plot_compact_margin.py")["compact_margin"](tmp_path / "compact.png")
    assert errors["CMM"] == 0 < errors["RMM"] < 1 / 3 < min(errors["SVM"], errors["TSVM"])
    assert (tmp_path / "compact.png").stat().st_size > 10_000


def test_constraints(tmp_path):
    errors, multipliers = load("plot_constraints.py")["constraints"](tmp_path / "links.png")
    assert errors["with two links"] == 0
    assert errors["TSVM"] > 0.2
    assert np.abs(multipliers).min() > 1e-3
    assert (tmp_path / "links.png").stat().st_size > 10_000


def test_no_example_is_forgotten():
    known = {
        "two_moons",
        "losses",
        "sdp_transduction",
        "relaxation_gaps",
        "exact_search",
        "compact_margin",
        "constraints",
        "smoothing",
        "transduction",
        "practice",
        *CELLS,
    }
    assert {path.name for path in EXAMPLES.glob("*.py")} == {"your_own_loss.py", *(f"plot_{name}.py" for name in known)}


def test_exact_search(tmp_path):
    figures, gap = load("plot_exact_search.py")["distances"](tmp_path / "search.png")
    assert gap <= 1.1e-4
    assert figures["exact search"] == (pytest.approx(0, abs=1e-6), 0)
    assert all(excess > 0.5 for name, (excess, _) in figures.items() if name != "exact search")
    assert (tmp_path / "search.png").stat().st_size > 10_000


def test_a_small_tree_is_drawn(moons, tmp_path):
    X, _, y = moons
    keep = np.concatenate([np.flatnonzero(y), np.flatnonzero(y == 0)[:12]])
    problem = ct.Problem(X[keep], y[keep], kernel=ct.RBF(0.5), C_unlabeled=1, balance=0.0)
    solution = ct.exact_search(ct.s3vm(), problem, bounds="svm", branching="confidence")
    assert 1 < len(solution.tree) <= SMALL_TREE
    figure = plot_search(solution)
    edges = figure.axes[1].lines
    assert len(edges) == len(solution.tree) - 1
    save_figure(figure, tmp_path / "tree.png")


@pytest.mark.filterwarnings("ignore:class")
def test_practice(tmp_path, capsys):
    found = load("plot_practice.py")["practice"](tmp_path / "practice.png")
    assert found["shares"] > found["labeled"] + 0.05
    assert found["search"] > found["labeled"] + 0.05
    curve = found["curve"]
    assert curve.errors[0].mean() < curve.supervised_errors[0].mean() - 0.05
    assert "as if drawn per class" in capsys.readouterr().out
    for name in ("practice.png", "practice_search.png", "practice_learning.png"):
        assert (tmp_path / name).stat().st_size > 10_000
