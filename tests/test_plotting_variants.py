"""Pictures of what is there in part: no labels left out, no truth, one class after another, a search without a tree."""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.data import load_data
from convex_tsvm.plot import iterations

X = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1]])
Y = np.array([-1.0, 0, 0, 0, 0, 1])


@pytest.fixture
def ax():
    return plt.subplots()[1]


def line(**options):
    """Six points on a line, of which the ends are labelled."""
    return ct.Problem(X, Y, **options)


def named(ax):
    """The labels of what a legend has."""
    return ax.get_legend_handles_labels()[1]


def test_a_loss_without_parts_is_one_line(ax):
    """A function of one's own has no parts."""
    ct.plot.loss(np.square, ax=ax)
    assert named(ax) == ["loss"]
    t, values = ax.get_lines()[0].get_data()
    np.testing.assert_allclose(values, t**2)


def test_ends_of_a_conjugate_are_marked_where_it_ends(ax):
    """The slopes of the squared hinge are all numbers below 0, those of the hinge in [-1, 0]."""
    ends = []
    for loss in (ct.squared_hinge(), ct.hinge()):
        shown = ct.plot.conjugate(loss, ax=plt.figure().add_subplot())
        ends.append([one.get_xdata()[0] for one in shown.get_lines()[1:]])
    assert ends == [[0.0], [-1.0, 0.0]]


def test_a_figure_that_pyplot_shows_is_not_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert ct.plot.save(ct.plot.loss(ct.hinge()), None) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("values", "scale"), [([0.0, 1.0], "linear"), ([0.5, 1.0], "log")], ids=["from 0", "above 0"])
def test_candidates_are_on_a_logarithmic_axis_where_they_can_be(values, scale, ax):
    y = np.array([0, 0, -1, -1, 1, 1])
    grid = {"coef0": values, "C": [1.0, 2.0]}
    search = ct.TransductiveSearchCV(ct.TransductiveSVC(kernel="poly", degree=2), grid, cv=2).fit(X, y)
    assert ct.plot.candidates(search, "coef0", ax=ax).get_xscale() == scale
    assert ax.get_xlabel() == "coef0"


def test_a_search_that_ended_before_it_branched():
    found = ct.exact_search(ct.s3vm(balance=None), line(balance=None))
    shown = [one.get_xlabel() for one in ct.plot.search(found).axes]
    assert shown[0] == "nodes"
    assert len(shown) == 3  # the tree, and what its colours mean
    assert [one.get_xlabel() for one in ct.plot.search(dataclasses.replace(found, tree=[])).axes] == ["nodes"]


def test_bounds_without_an_objective(ax):
    ct.plot.gaps({"weak": 1.0, "strong": 1.8}, ax=ax)
    assert named(ax) == ["lower bound"]
    other = ct.plot.gaps({"weak": 1.0, "strong": 1.8}, np.inf, ax=plt.figure().add_subplot())
    assert named(other) == ["lower bound"]
    assert named(ct.plot.gaps({"weak": 1.0}, 2.0, ax=plt.figure().add_subplot())) == [
        "lower bound",
        "best objective known",
    ]


def test_solutions_without_bounds_along_few_values(ax):
    """A bound that one of them lacks is not drawn, and the axis of values near each other is not logarithmic."""
    costs = [1.0, 2.0]
    along = ct.methods.cccp_path(ct.cccp_tsvm(), [line(C=10, C_unlabeled=cost) for cost in costs])
    ct.plot.path([dataclasses.replace(one, lower_bound=None) for one in along], along=costs, ax=ax)
    assert named(ax) == ["objective"]
    assert ax.get_xscale() == "linear"
    bounded = [dataclasses.replace(one, lower_bound=0.5) for one in along]
    other = ct.plot.path(bounded, along=[0.1, 10.0], ax=plt.figure().add_subplot())
    assert named(other) == ["objective", "lower bound"]
    assert other.get_xscale() == "log"


def test_iterations_where_no_truth_is_known():
    """Without a truth there is no error to draw, and no legend beside it."""
    data = load_data("two_moons")
    problem = ct.Problem(data.X, data.y, kernel=ct.RBF(0.3), C=10)
    solutions = {"SVM": ct.cccp(ct.svm(), problem), "TSVM": ct.cccp(ct.cccp_tsvm(), problem)}
    assert [len(solutions[name].history) > 1 for name in solutions] == [False, True]
    left, right = iterations(data, solutions).axes
    assert (named(left), named(right)) == (["TSVM"], ["SVM", "TSVM"])
    left, right = iterations(dataclasses.replace(data, truth=data.y), solutions).axes
    assert (named(left), named(right)) == (["TSVM"], [])
    assert left.get_legend() is not None
    assert right.get_legend() is None


def test_one_parameter_alone_has_no_legend(moons):
    X, _, y = moons
    labels = np.where(y == 0, -1, (y > 0).astype(int))
    plain = ct.TransductiveSVC(kernel="linear", C_unlabeled=None)
    search = ct.TransductiveSearchCV(plain, {"C": [1, 10]}, cv=2).fit(X, labels)
    axes = ct.plot.candidates(search, "C")
    assert axes.get_legend() is None
    assert axes.get_xlabel() == "C"
