"""``probability="calibrated"``: probabilities without a wrapper."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import convex_tsvm as ct


@pytest.fixture
def iris():
    X, truth = load_iris(return_X_y=True)
    y = np.full(150, -1)
    shown = np.r_[0:8, 50:58, 100:108]
    y[shown] = truth[shown]
    return X, truth, y


ESTIMATORS = [
    ct.TransductiveSVC(balance="labeled", tol=1e-6),
    ct.LinearTransductiveSVC(method="cccp", positive_fraction="labeled", tol=1e-8),
    ct.CompactMarginClassifier(balance="labeled", tol=1e-6),
    ct.RelativeMarginClassifier(tol=1e-6),
    ct.LaplacianSVC(tol=1e-6),
]

#: The first three as they are by default: shares of the classes are inferred, for every fold and class anew.
INFERRED = [
    ct.TransductiveSVC(tol=1e-6),
    ct.LinearTransductiveSVC(method="cccp", tol=1e-8),
    ct.CompactMarginClassifier(tol=1e-6),
]


@pytest.mark.parametrize(
    ("n_classes", "estimator"),
    [
        *itertools.product([2, 3], ESTIMATORS),
        (2, INFERRED[0]),
        *(pytest.param(2, one, marks=pytest.mark.slow) for one in INFERRED[1:]),
        *(pytest.param(3, one, marks=pytest.mark.slow) for one in INFERRED),
    ],
    ids=str,
)
def test_they_are_those_of_the_wrapper(iris, estimator, n_classes):
    X, truth, y = iris
    X, truth, y = (one[: 50 * n_classes] for one in (X, truth, y))
    clf = clone(estimator).set_params(probability="calibrated").fit(X, y)
    own = clf.predict_proba(X)
    np.testing.assert_allclose(own.sum(axis=1), 1)
    # scikit-learn's own, with the unlabelled points brought along.
    other = ct.CalibratedTransduction(estimator, ensemble=False).fit(X, y)
    np.testing.assert_allclose(own, other.predict_proba(X), atol=5e-3)
    assert np.mean(clf.classes_[own.argmax(axis=1)] == truth) > 0.6
    np.testing.assert_array_equal(clf.decision_function(X), clone(estimator).fit(X, y).decision_function(X))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_they_are_there_if_asked_for(iris, estimator):
    X, _, y = iris
    assert not hasattr(clone(estimator).fit(X, y), "predict_proba")
    assert hasattr(clone(estimator).set_params(probability="calibrated"), "predict_proba")
    with pytest.raises(ValueError, match="probability='yes' must be"):
        clone(estimator).set_params(probability="yes").fit(X, y)


def test_weights_names_frames_and_kernels(iris):
    X, _, y = iris
    names = np.where(y < 0, None, np.array(["a", "b", "c"], dtype=object)[y])
    options = {"probability": "calibrated", "balance": "labeled", "tol": 1e-6}
    clf = ct.TransductiveSVC(sigma=1.0, unlabeled=np.nan, **options)
    own = clf.fit(pd.DataFrame(X, columns=list("abcd")), pd.Series(names)).predict_proba(
        pd.DataFrame(X, columns=list("abcd"))
    )
    K = ct.RBF(1.0)(X, X)
    kernel = ct.TransductiveSVC(kernel="precomputed", **options).fit(K, y)
    np.testing.assert_allclose(kernel.predict_proba(K), own, atol=1e-3)
    sparse = ct.TransductiveSVC(sigma=1.0, **options).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_matrix(X)), own, atol=1e-3)
    # A labelled point that counts for nothing is not there.
    weights = np.where(np.isin(np.arange(150), [7, 57, 107]), 0.0, 1.0)
    weighted = ct.TransductiveSVC(sigma=1.0, **options | {"balance": None})
    weighted.fit(X, y, sample_weight=weights)
    assert np.abs(weighted.predict_proba(X) - own).max() > 1e-3


def test_who_has_too_few_labels_is_told_before_anything_is_fitted(iris):
    X, truth, _ = iris
    y = np.full(150, -1)
    y[[0, 1, 50, 51, 100]] = truth[[0, 1, 50, 51, 100]]
    clf = ct.TransductiveSVC(probability="calibrated")
    with pytest.raises(ValueError, match="class 2 has a single label; calibration leaves labels out"):
        clf.fit(X, y)
    assert not hasattr(clf, "model_")
    linear, labels = ct.LinearTransductiveSVC(probability="calibrated"), np.where(truth > 1, -1, truth)
    with pytest.raises(ValueError, match="takes points in memory"):
        linear.fit(ct.points.linear_points(X), labels)
    assert not hasattr(linear, "model_")


def test_scorers_of_probabilities_have_them(iris):
    X, _, y = iris
    clf = make_pipeline(StandardScaler(), ct.TransductiveSVC(balance="labeled", probability="calibrated"))
    scores = cross_val_score(clf, X, y, cv=ct.selection.LabeledKFold(2), scoring="neg_log_loss")
    assert (scores > -1.0).all()
    search = ct.TransductiveSearchCV(clf, {"transductivesvc__C": [1e-3, 10.0]}, cv=2, scoring="neg_log_loss").fit(X, y)
    assert search.best_params_ == {"transductivesvc__C": 10.0}
    assert search.predict_proba(X).shape == (150, 3)
    fast = ct.TransductiveSearchCV(clf, {"transductivesvc__C": [1e-3, 10.0]}, cv=2).fit(X, y)
    np.testing.assert_allclose(fast.predict_proba(X), search.predict_proba(X), atol=0.1)
    plain = ct.TransductiveSearchCV(ct.TransductiveSVC(balance="labeled"), {"C": [1.0]}, cv=2)
    assert not hasattr(plain.fit(X, y), "predict_proba")


def test_a_limit_on_time_leaves_probabilities(iris):
    X, _, y = iris
    clf = ct.TransductiveSVC(probability="calibrated", time_limit=1e-9)
    with pytest.warns(UserWarning, match="time_limit"):
        clf.fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1)
