"""The cost of unlabelled points along the path on which it rises."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import convex_tsvm as ct


@pytest.fixture
def two_moons():
    X, truth = make_moons(200, noise=0.05, random_state=0)
    y = np.full(200, -1)
    for k in (0, 1):
        y[np.random.default_rng(k).choice(np.flatnonzero(truth == k), 4, replace=False)] = k
    return X, truth, y


@pytest.fixture
def no_clusters():
    """Two clusters, each of which is cut between the classes where it is densest."""
    X = np.random.default_rng(0).normal(size=(300, 2)) * [0.5, 0.3]
    X[:, 1] += np.sign(np.random.default_rng(1).normal(size=300))
    truth = (X[:, 0] > 0).astype(int)
    y = np.full(300, -1)
    y[:20] = truth[:20]
    return X, truth, y


def test_where_classes_are_clusters_the_whole_cost_is_chosen(two_moons):
    X, truth, y = two_moons
    path = ct.selection.cost_path(ct.TransductiveSVC(sigma=0.3, balance=0.0), X, y, cv=4)
    assert path.chosen == 1.0
    assert path.left_out_error[-1] <= path.left_out_error[0]
    assert path.n_left_out == 8
    assert path.estimator.fit(X, y).score(X, truth) > 0.95


def test_where_they_are_not_a_small_one(no_clusters):
    X, truth, y = no_clusters
    factors = (1e-4, 1e-3, 1e-2, 1e-1, 1)
    made = ct.TransductiveSVC(kernel="linear", balance=0.0, C=1.0, C_unlabeled=10.0)
    path = ct.selection.cost_path(made, X, y, factors=factors)
    assert path.chosen < 1
    assert path.estimator.fit(X, y).score(X, truth) > made.fit(X, y).score(X, truth) + 0.05
    heading, *rows = str(path).splitlines()
    assert heading.split() == ["factor", "C*", "error", "at", "labels", "left", "out"]
    for row, factor, error, spread in zip(rows, factors, path.left_out_error, path.standard_error, strict=True):
        numbers, _, chosen = row.partition(" %")
        own = [float(number) for number in numbers.replace("±", " ").split()]
        assert own == pytest.approx([factor, 10 * factor, 100 * error, 100 * spread], abs=0.051)
        assert chosen == ("  chosen" if factor == path.chosen else "")
    np.testing.assert_allclose(path.costs, 10 * np.array(factors))
    linear = ct.LinearTransductiveSVC(positive_fraction=0.5, lambda_=0.0125, lambda_unlabeled=200.0)
    path = ct.selection.cost_path(linear, X, y, factors=factors)
    assert path.estimator.lambda_unlabeled == pytest.approx(200 * path.chosen)
    assert path.estimator.lambda_ == 0.0125


def test_the_end_of_the_path_is_the_fit_itself(two_moons):
    """Left-out errors at factor 1 alone are those of fits with these labels hidden."""
    X, _, y = two_moons
    clf = ct.TransductiveSVC(sigma=0.3, balance=0.0)
    path = ct.selection.cost_path(clf, X, y, factors=[1.0], cv=4)
    wrong = 0
    for train, test in ct.selection.LabeledKFold(4, random_state=0).split(X, y):
        hidden = y.copy()
        hidden[test] = -1
        assert len(train) + len(test) == len(X)
        wrong += np.sum(clf.fit(X, hidden).predict(X[test]) != y[test])
    assert path.left_out_error[0] == wrong / 8


def test_several_classes_in_a_pipeline():
    X, truth = load_iris(return_X_y=True)
    y = np.where(np.random.default_rng(0).random(150) < 0.2, truth, -1)
    path = ct.selection.cost_path(
        make_pipeline(StandardScaler(), ct.TransductiveSVC()), X, y, factors=(0.01, 0.1, 1), cv=3
    )
    assert path.left_out_error.shape == (3,)
    assert path.left_out_error.min() < 0.2
    assert path.estimator.named_steps["transductivesvc"].C_unlabeled == pytest.approx(path.chosen * 1.0)
    assert path.estimator.fit(X, y).predict(X).shape == (150,)


def test_what_has_no_path(two_moons):
    X, truth, y = two_moons
    with pytest.raises(ValueError, match="no unlabelled point"):
        ct.selection.cost_path(ct.TransductiveSVC(), X, truth)
    with pytest.raises(ValueError, match="factors=0"):
        ct.selection.cost_path(ct.TransductiveSVC(), X, y, factors=(0, 1))
    with pytest.raises(ValueError, match="minimizes by a descent"):
        ct.selection.cost_path(ct.SDPTransduction(), X, y)
    with pytest.raises(ValueError, match="there is no C\\* to choose"):
        ct.selection.cost_path(ct.TransductiveSVC(C_unlabeled=None), X, y)
    one = np.full(200, -1)
    one[[np.argmax(truth == 0), np.argmax(truth == 1)]] = [0, 1]
    with pytest.raises(ValueError, match="one labelled point of each class"):
        ct.selection.cost_path(ct.TransductiveSVC(), X, one)
