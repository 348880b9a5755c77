"""``warm_start=True``: a fit begins where the one before has ended."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from test_interruption import moons

import convex_tsvm as ct

ESTIMATORS = [
    ct.TransductiveSVC(),
    ct.TransductiveSVC(solver="cvxpy", balance="labeled"),
    ct.TransductiveSVC(method="switching", loss="hinge", balance="labeled"),
    ct.TransductiveSVC(method="gradient", loss="exp", balance="labeled"),
    ct.TransductiveSVC(method="newton", loss="flat", balance="labeled"),
    ct.TransductiveSVC(balance=("exact", 0.5)),
    ct.LinearTransductiveSVC(),
    ct.LinearTransductiveSVC(method="cccp", positive_fraction="labeled"),
    ct.CompactMarginClassifier(balance="labeled"),
    ct.RelativeMarginClassifier(),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_second_fit_has_nothing_left_to_do(estimator):
    X, y, _ = moons(60)
    clf = clone(estimator).set_params(warm_start=True).fit(X, y)
    before, labels = clf.solutions_[0], clf.transduction_
    clf.fit(X, y)
    assert clf.objective_ <= before.objective * (1 + 1e-3)
    assert clf.n_iter_ <= before.n_iter
    np.testing.assert_array_equal(clf.transduction_, labels)
    inner = [sum(step.n_inner for step in one.history) for one in (clf.solutions_[0], before)]
    assert inner[0] <= inner[1]


def test_it_begins_where_the_other_ended():
    """From labels that no cold start finds: both are minima, and a fit stays in the one that it is given."""
    X, y, _ = moons(60)
    cold = ct.TransductiveSVC(C=1.0).fit(X, y)
    followed = ct.TransductiveSVC(C=0.1, warm_start=True).fit(X, y)
    again = clone(followed).set_params(C=1.0).fit(X, y)
    np.testing.assert_allclose(again.transduction_scores_, cold.transduction_scores_)
    own = ct.cccp(cold.solutions_[0].formulation, cold.solutions_[0].problem, start=followed.solutions_[0])
    followed.set_params(C=1.0).fit(X, y)
    assert followed.objective_ == pytest.approx(own.objective)


def test_several_classes_have_their_own_starts():
    X, y, _ = moons(90)
    y[:12] = np.resize([0, 1, 2], 12)
    clf = ct.TransductiveSVC(warm_start=True, n_jobs=2).fit(X, y)
    scores, steps = clf.transduction_scores_, clf.n_iter_
    clf.fit(X, y)
    np.testing.assert_allclose(clf.transduction_scores_, scores, atol=1e-2)
    assert (clf.n_iter_, steps > 1) == (1, True)


@pytest.mark.parametrize(
    "make",
    [
        partial(ct.TransductiveSVC, balance="labeled"),
        partial(ct.LinearTransductiveSVC, positive_fraction="labeled"),
        pytest.param(ct.TransductiveSVC, marks=pytest.mark.slow),
        pytest.param(ct.LinearTransductiveSVC, marks=pytest.mark.slow),
    ],
)
def test_other_points_or_features_are_a_cold_start(make):
    X, y, _ = moons(60)
    wide = np.column_stack([X, X[:, 0] ** 2])
    for other, labels in ((X[:50], y[:50]), (wide, y)):
        warm = make(warm_start=True).fit(X, y).fit(other, labels)
        np.testing.assert_array_equal(warm.decision_function(other), make().fit(other, labels).decision_function(other))
    names = np.where(y < 0, "?", np.where(y > 0, "b", "a"))
    renamed = make(warm_start=True).fit(X, y).set_params(unlabeled="?").fit(X, names)
    np.testing.assert_array_equal(renamed.decision_function(X), make().fit(X, y).decision_function(X))


def test_another_method_goes_on_from_the_same_outputs():
    X, y, _ = moons(60)
    clf = ct.TransductiveSVC(warm_start=True).fit(X, y)
    for method, loss in (("gradient", "exp"), ("switching", "hinge"), ("newton", "flat"), ("cccp", "ramp")):
        clf.set_params(method=method, loss=loss).fit(X, y)
        assert clf.status_ == "converged"
