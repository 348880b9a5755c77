"""What a fit says to its user: labels that can be misread, points that have no say, shares that labels do not tell."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm import LinearTransductiveSVC, TransductiveSVC
from convex_tsvm.data import load_data


def three_classes(seed, per_class, n=400, shares=(0.6, 0.3, 0.1)):
    """Gaussians of 60, 30 and 10 % of the points, with ten labels a class, or thirty drawn at random."""
    random, centers = np.random.default_rng(seed), np.random.default_rng(1).standard_normal((3, 10))
    truth = random.choice(3, n, p=shares)
    X = 2.5 * (centers / np.linalg.norm(centers, axis=1)[:, None])[truth] + random.standard_normal((n, 10))
    shown = [random.permutation(np.flatnonzero(truth == k))[:10] for k in range(3)]
    shown = np.concatenate(shown) if per_class else random.permutation(n)[:30]
    y = np.full(n, -1)
    y[shown] = truth[shown]
    return X, truth, y


def accuracy(clf, truth, y):
    return np.mean(clf.transduction_[y == -1] == truth[y == -1])


@pytest.mark.parametrize("make", [TransductiveSVC, LinearTransductiveSVC])
def test_zeros_that_may_be_unknown_labels(make):
    data = load_data("two_moons")
    with pytest.warns(UserWarning, match="pass unlabeled=0"):
        make().fit(data.X, data.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = make(unlabeled=0).fit(data.X, data.y)
    assert clf.classes_.tolist() == [-1, 1]
    # Where -1 is what most points have, and the marker, 0 is a class.
    y = np.where(np.arange(200) % 9, -1, data.truth).astype(int)
    y[::27] = 0
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        make().fit(data.X, y)
    assert not any("pass unlabeled" in str(one.message) for one in told)
    with pytest.warns(UserWarning, match="pass unlabeled=-1"):
        make(unlabeled=0).fit(data.X, y)


def test_points_on_the_plateau_have_no_say():
    """Random sparse directions: all points are nearly orthogonal, and outputs are near 0."""
    random = np.random.default_rng(0)
    X = np.where(random.random((150, 1000)) < 0.03, random.random((150, 1000)), 0.0)
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.full(150, -1)
    y[:10] = np.arange(10) % 2
    with pytest.warns(UserWarning, match="have no say.*s=0"):
        clf = TransductiveSVC(kernel="linear", balance="labeled", method="cccp").fit(X, y)
    assert ct.selection.compare_supervised(clf, X, y, cv=2).acting < 0.1
    with pytest.warns(UserWarning, match="all classes have as many labels") as told:
        clf = TransductiveSVC(kernel="linear", s=0.0, balance="labeled", method="cccp").fit(X, y)
    assert len(told) == 1
    assert ct.selection.compare_supervised(clf, X, y, cv=2).acting > 0.5


def test_labels_drawn_per_class_say_nothing_of_shares():
    gains = []
    for seed in range(3):
        X, truth, y = three_classes(seed, per_class=True)
        with pytest.warns(UserWarning, match="as if drawn per class.*balance="):
            counted = TransductiveSVC(balance="labeled").fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            clf = TransductiveSVC(balance={0: 0.6, 1: 0.3, 2: 0.1}).fit(X, y)
            inferred = TransductiveSVC().fit(X, y)
        gains.append([accuracy(one, truth, y) - accuracy(counted, truth, y) for one in (clf, inferred)])
        assert accuracy(clf, truth, y) > 0.9
        assert np.abs(inferred.class_shares_ - [0.6, 0.3, 0.1]).max() < 0.15
        assert accuracy(inferred, truth, y) > accuracy(clf, truth, y) - 0.03
    assert np.min(np.mean(gains, axis=0)) > 0.05


@pytest.mark.parametrize(("each", "share", "told"), [(1, 0.05, 1), (5, 0.05, 1), (10, 0.2, 1), (5, 0.5, 0)])
def test_as_many_labels_of_each_class_where_the_supervised_svm_finds_other_shares(each, share, told):
    rng, truth = np.random.default_rng(1), (np.arange(300) < 300 * share).astype(int)
    X = rng.normal(size=(300, 2)) + np.outer(4 * truth - 2, [1, 0])
    y = np.full(300, -1)
    for k in (0, 1):
        y[np.flatnonzero(truth == k)[:each]] = k
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        TransductiveSVC(balance="labeled").fit(X, y)
    assert sum("all classes have as many labels" in str(one.message) for one in found) == told


def test_labels_drawn_at_random_say_something():
    X, _, y = three_classes(0, per_class=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TransductiveSVC().fit(X, y)


def test_labels_on_the_wrong_side():
    X, _, y = three_classes(1, per_class=False)
    with pytest.warns(UserWarning, match="are on the wrong side, where the supervised SVM does not have them"):
        TransductiveSVC(C=1, C_unlabeled="balanced", balance=None).fit(X, y)


def test_shares_are_those_of_the_classes():
    X, truth, y = three_classes(0, per_class=True)
    named = np.array(["low", "mid", "top"])
    clf = TransductiveSVC(balance={"top": 0.1, "low": 0.6, "mid": 0.3}, unlabeled="?")
    clf.fit(X, np.where(y < 0, "?", named[y]))
    same = TransductiveSVC(balance=[0.6, 0.3, 0.1]).fit(X, y)
    np.testing.assert_array_equal(clf.transduction_, named[same.transduction_])
    for solution, share in zip(same.solutions_, (0.6, 0.3, 0.1), strict=True):
        assert solution.scores[y < 0].mean() == pytest.approx(2 * share - 1, abs=1e-3)
    exact = TransductiveSVC(method="switching", loss="hinge", balance=("exact", [0.6, 0.3, 0.1])).fit(X, y)
    counts = [int((solution.labels[y < 0] > 0).sum()) for solution in exact.solutions_]
    np.testing.assert_allclose(counts, np.array([0.6, 0.3, 0.1]) * (y < 0).sum(), atol=1)
    linear = LinearTransductiveSVC(positive_fraction={0: 0.6, 1: 0.3, 2: 0.1}).fit(X, y)
    assert accuracy(linear, truth, y) > 0.8
    # For two classes a share is what a number says too.
    two = np.where(y == 2, 1, y)
    np.testing.assert_allclose(
        TransductiveSVC(balance={0: 0.6, 1: 0.4}).fit(X, two).transduction_scores_,
        TransductiveSVC(balance=-0.2).fit(X, two).transduction_scores_,
        atol=1e-9,
    )


@pytest.mark.parametrize(
    ("balance", "message"),
    [
        ({0: 0.6, 1: 0.4}, "share for each of the classes"),
        ({0: 0.6, 1: 0.3, 2: 0.3}, "whose sum is 1"),
        ({0: 1.2, 1: -0.3, 2: 0.1}, "numbers in \\(0, 1\\)"),
        ([0.5, 0.5], "has 2 shares; there are 3 classes"),
        (0.2, "with 3 classes it must be 'auto', 'labeled', None, the share"),
        (("exact", 0.2), "with 3 classes it must be"),
        ("equal", "must be None, 'labeled'"),
    ],
)
def test_shares_that_are_none(balance, message):
    X, _, y = three_classes(0, per_class=True)
    with pytest.raises(ValueError, match=message):
        TransductiveSVC(balance=balance).fit(X, y)


@pytest.mark.parametrize(
    ("n_classes", "balance"), [(3, "labeled"), (2, "auto"), pytest.param(3, "auto", marks=pytest.mark.slow)]
)
def test_a_comparison_with_the_supervised_svm(n_classes, balance):
    X, truth, y = three_classes(0, per_class=False)
    X, y = X[truth < n_classes], y[truth < n_classes]
    clf = TransductiveSVC(C=10, balance=balance).fit(X, y)
    found = ct.selection.compare_supervised(clf, X, y, cv=3)
    alone = TransductiveSVC(C=10, C_unlabeled=None, gamma=clf.model_.kernel.gamma).fit(X, y)
    assert found.agreement == pytest.approx(np.mean(alone.transduction_[y < 0] == clf.transduction_[y < 0]))
    assert found.objective == pytest.approx(clf.objective_)
    assert found.supervised_objective > found.objective
    assert 0 <= found.error <= 0.5
    assert "have a say" in str(found)
    unfitted = ct.selection.compare_supervised(TransductiveSVC(C=10, balance=balance), X, y, cv=3)
    assert unfitted == found


def test_a_share_without_effect_is_said(moons):
    """A formulation without a balance drops the share that is asked for: that is said, not done in silence."""
    X, _, y = moons
    labels = np.where(y == 0, -1, (y > 0).astype(int))
    free = replace(ct.tsvm("squared_hinge"), balance=None)
    with pytest.warns(UserWarning, match=r"positive_fraction=0\.3 has no effect"):
        ct.LinearTransductiveSVC(loss=free, positive_fraction=0.3, method="cccp").fit(X, labels)
    with pytest.warns(UserWarning, match=r"positive_fraction=0\.3 has no effect"):
        ct.LinearTransductiveSVC(fit_intercept=False, positive_fraction=0.3, method="cccp").fit(X, labels)
    with pytest.warns(UserWarning, match=r"balance=0\.2 has no effect"):
        ct.TransductiveSVC(loss=free, balance=0.2).fit(X, labels)
