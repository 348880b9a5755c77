"""Every page of the gallery states its claims, checks them as it runs, and draws its pictures."""

import importlib
import runpy
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.plot import save, search

EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES.parent / "docs"))
GALLERY = importlib.import_module("gallery")

#: Pages, and how many pictures each draws.
PAGES = {
    "plot_two_moons": 2,
    "plot_when_they_hurt": 1,
    "plot_losses": 2,
    "your_own_loss": 2,
    "plot_your_own_formulation": 3,
    "plot_constraints": 2,
    "plot_your_own_solver": 1,
    "plot_your_own_method": 1,
    "plot_your_own_regularizer": 1,
    "plot_your_own_relaxation": 1,
    "plot_change_the_problem": 1,
    "plot_dual_by_hand": 1,
    "plot_cccp_steps": 3,
    "plot_landscape": 2,
    "plot_smoothing": 2,
    "plot_active_sets": 2,
    "plot_derivatives": 2,
    "plot_ordinal": 2,
    "plot_bags": 1,
    "plot_positive_unlabeled": 1,
    "plot_counts": 1,
    "plot_compact_margin": 2,
    "plot_practice": 2,
    "plot_structures": 1,
    "plot_transduction": 1,
    "plot_sdp_transduction": 2,
    "plot_relaxation_gaps": 2,
    "plot_tree": 2,
    "plot_exact_search": 2,
    "plot_certificate": 2,
}


def load(name):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


#: Pages that take half a minute.
LONG = {"plot_practice"}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in PAGES])
def test_pages_keep_their_claims(name, capsys):
    """What a page asserts holds, and its pictures are as the gallery draws them: legible, and with nothing cut off."""
    with plt.rc_context():
        GALLERY.style(None, None)
        load(name)
        assert len(plt.get_fignums()) == PAGES[name]
        for number in plt.get_fignums():
            GALLERY.check(plt.figure(number), name)
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", PAGES)
def test_pages_read_as_pages(name):
    """A title, the claims, cells with a text each, something that is asserted, and a picture that is shown."""
    source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    title, line = source.splitlines()[1:3]
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert "Claim" in source.split('"""')[1]
    assert source.count("\n# %%\n") >= 3
    assert "\nassert " in source or "\n    assert " in source
    assert source.endswith("plt.show()\n")


def test_no_page_is_forgotten():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(PAGES)


def test_the_dual_by_hand_is_short_and_right():
    """Some fifty lines of NumPy find by themselves what the library finds, to 1e-8."""
    page = load("plot_dual_by_hand")
    assert max(page["differences"].values()) < 1e-8
    assert np.abs(page["b"]) > 0.01  # nothing is 0 by symmetry
    assert len(page["at"]) > 0
    assert len(page["found_by_hand"]) == 1, "one combination of pieces and kinks is optimal"
    source = (EXAMPLES / "plot_dual_by_hand.py").read_text(encoding="utf-8")
    code = source[source.index("K = np.exp") : source.index("# By the machine.")].splitlines()
    assert sum(1 for line in code if line.strip() and not line.strip().startswith(("#", '"""'))) <= 60


def test_a_small_tree_is_drawn(moons, tmp_path):
    X, _, y = moons
    keep = np.concatenate([np.flatnonzero(y), np.flatnonzero(y == 0)[:12]])
    problem = ct.Problem(X[keep], y[keep], kernel=ct.RBF(0.5), C_unlabeled=1, balance=0.0)
    solution = ct.exact_search(ct.s3vm(), problem, bounds="svm", branching="confidence")
    assert 1 < len(solution.tree) <= 200
    figure = search(solution)
    edges = figure.axes[1].lines
    assert len(edges) == len(solution.tree) - 1
    save(figure, tmp_path / "tree.png")


def test_every_page_is_part_of_the_tour():
    """The gallery cannot be built with a page that the tour does not name."""
    tour = runpy.run_path(str(EXAMPLES.parent / "docs" / "tour.py"))["TOUR"]
    assert sorted(tour) == sorted(path.stem for path in EXAMPLES.glob("*.py")) == sorted(PAGES)
