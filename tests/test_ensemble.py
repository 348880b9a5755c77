"""Families of semi-supervised SVMs and their weights: evidence by hand, probabilities, and what is refused."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import convex_tsvm as ct
from convex_tsvm.methods.left_out import folds_of

Ensemble = ct.selection.TransductiveEnsemble


def hidden(truth, n, seed=0):
    """Labels of n points, with each class among them, -1 for the others."""
    order = np.random.default_rng(seed).permutation(len(truth))
    first = [order[truth[order] == k][0] for k in np.unique(truth)]
    shown = np.concatenate([first, np.setdiff1d(order, first, assume_unique=True)[: n - len(first)]])
    return np.where(np.isin(np.arange(len(truth)), shown), truth, -1)


def test_structures_are_told_apart():
    """Two moons are no matter of a plane; and in twenty dimensions with a plane between them the plane counts."""
    X, truth = make_moons(200, noise=0.1, random_state=0)
    moons = Ensemble().fit(X, hidden(truth, 40))
    assert moons.evidence_["linear"].weight < 0.05
    assert np.mean(moons.transduction_ != truth) < 0.02
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    truth = (X[:, 0] + X[:, 1] > 0).astype(int)
    plane = Ensemble().fit(X, hidden(truth, 100))
    assert plane.evidence_["linear"].weight > 2 * 0.135 / 3.135  # twice what it is beforehand


@pytest.mark.parametrize("load", [load_iris, lambda return_X_y: make_moons(90, noise=0.2, random_state=1)])
def test_evidence_is_that_of_svms_without_some_labels(load):
    """Kernel, folds, SVMs and the likelihood again, with scikit-learn's kernel and SVMs by the names of points."""
    X, truth = load(return_X_y=True)
    y = hidden(truth, 30)
    clf = Ensemble([("rbf", ct.TransductiveSVC(gamma=0.5, C=3.0))], cv=3).fit(X, y)
    known, K = np.flatnonzero(y >= 0), len(np.unique(truth))
    fold, outputs = folds_of(y[known], 3), np.zeros((len(known), K))
    for part in range(3):
        train, test = known[fold != part], known[fold == part]
        for k in range(K):
            if K == 2 and k == 0:
                continue
            f = SVC(C=3.0, gamma=0.5).fit(X[train], y[train] == k).decision_function(X[test])
            outputs[fold == part, k] = f
            if K == 2:
                outputs[fold == part, 0] = -f
    found = clf.evidence_["rbf"]
    assert found.weight == 1.0
    assert found.accuracy == pytest.approx(np.mean(outputs.argmax(axis=1) == y[known]))
    rows = np.arange(len(known))
    likely = log_softmax(found.scale * outputs, axis=1)[rows, y[known]]
    assert found.log_likelihood == pytest.approx(likely.mean(), abs=1e-4)
    for other in (0.8 * found.scale, 1.25 * found.scale):
        penalty = [0.05 * (np.log(scale) - 1) ** 2 for scale in (found.scale, other)]
        worse = log_softmax(other * outputs, axis=1)[rows, y[known]].sum()
        assert worse - penalty[1] <= likely.sum() - penalty[0] + 1e-3


def test_weights_and_probabilities():
    X, truth = load_iris(return_X_y=True)
    y = hidden(truth, 30)
    clf = Ensemble().fit(X, y)
    evidence = clf.evidence_
    sums = np.array([30 * one.log_likelihood for one in evidence.values()])
    np.testing.assert_allclose(
        [one.weight for one in evidence.values()], softmax(0.3 * sums + np.log([1, 1, 1, 0.135])), atol=1e-9
    )
    new = X[::7] + 0.01
    p = clf.predict_proba(new)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    by_hand = sum(
        one.weight * softmax(one.scale * clf.estimators_[name].decision_function(new), axis=1)
        for name, one in evidence.items()
    )
    np.testing.assert_allclose(p, by_hand)
    np.testing.assert_array_equal(clf.predict(new), clf.classes_[p.argmax(axis=1)])
    np.testing.assert_array_equal(clf.transduction_[y >= 0], y[y >= 0])
    np.testing.assert_allclose(clf.transduction_scores_, clf.predict_proba(X), atol=1e-6)
    best = clone(clf).set_params(combine="best").fit(X, y)
    assert sorted(one.weight for one in best.evidence_.values()) == [0.0, 0.0, 0.0, 1.0]
    assert max(best.evidence_, key=lambda k: best.evidence_[k].weight) == max(
        evidence, key=lambda k: evidence[k].weight
    )
    equal = clone(clf).set_params(evidence=0.0, prior={"linear": 1.0}).fit(X, y)
    np.testing.assert_allclose([one.weight for one in equal.evidence_.values()], 1 / 4)
    # A label of the names' kind, data frames, and the printed table.
    names = np.array(["x", "y", "z"])
    named = Ensemble([("a", ct.TransductiveSVC(unlabeled="?"))]).fit(X, np.where(y < 0, "?", names[y]))
    assert set(named.predict(new)) <= set(names)
    assert str(clf).splitlines()[0].startswith("family")
    assert len(str(clf).splitlines()) == 5
    assert clf.score(X, truth) > 0.9


def test_few_labels_and_what_is_refused():
    X, truth = load_digits(return_X_y=True)
    X, truth = X[:200] / 16, truth[:200]
    with pytest.warns(UserWarning, match="every class has a single label.*weights of the prior"):
        alone = Ensemble([("rbf", ct.TransductiveSVC()), ("other", ct.TransductiveSVC(C=1))]).fit(X, hidden(truth, 10))
    assert [one.weight for one in alone.evidence_.values()] == [0.5, 0.5]
    y, pipeline = hidden(truth, 40), make_pipeline(StandardScaler(), LogisticRegression())
    for options, words in (
        ({"combine": "vote"}, "combine='vote' must be"),
        ({"evidence": -1.0}, "evidence=-1"),
        ({"prior": {"rbf": 0.0}}, r"prior\['rbf'\]=0"),
        ({"cv": 1}, "cv=1 must be an integer >= 2"),
        ({"estimators": []}, "estimators=\\[\\] must be a list of pairs"),
        ({"estimators": [("a", ct.TransductiveSVC()), ("a", ct.TransductiveSVC())]}, "with different names"),
        ({"estimators": [("a", ct.TransductiveSVC()), ("b", ct.TransductiveSVC(unlabeled=0))]}, "take one marker"),
        ({"estimators": [("a", ct.LinearTransductiveSVC())]}, "'a' is .*classifiers with a kernel"),
        ({"prior": {"rbff": 2.0}}, "prior={'rbff': 2.0} must be a dict of numbers by names of families"),
        ({"estimators": [("lr", LogisticRegression())]}, "must be a classifier of this package"),
        ({"estimators": [("rbf", ct.TransductiveSVC()), ("lr", pipeline)]}, "must be a classifier of this package"),
    ):
        with pytest.raises(ValueError, match=words):
            Ensemble(**options).fit(X, y)
    with pytest.raises(NotFittedError):
        Ensemble().predict(X)
    # A wrong label of weight 0 is no evidence.
    wrong, weights = np.append(y, (truth[:1] + 1) % 10), np.append(np.ones(200), 0.0)
    one = [("rbf", ct.TransductiveSVC(gamma=0.1, balance="labeled"))]
    with_it = Ensemble(one).fit(np.vstack([X, X[:1]]), wrong, sample_weight=weights)
    without = Ensemble(one).fit(X, y)
    assert with_it.evidence_["rbf"].log_likelihood == pytest.approx(without.evidence_["rbf"].log_likelihood, abs=1e-3)
    lists = Ensemble(one).fit(X.tolist(), y)
    assert lists.n_features_in_ == 64
    np.testing.assert_array_equal(lists.transduction_, without.transduction_)
    weighted = Ensemble().fit(X, y, sample_weight=np.ones(200))
    plain = Ensemble().fit(X, y)
    np.testing.assert_array_equal(weighted.transduction_, plain.transduction_)
