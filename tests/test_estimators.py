"""TransductiveSVC against scikit-learn's conventions."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import convex_tsvm as ct
from convex_tsvm import TransductiveSVC
from convex_tsvm.table import DESCENTS, METHODS

MARKER = (
    "the check fits labels {-1, +1}, of which -1 is the default marker of unlabelled points (as in "
    "sklearn.semi_supervised, whose own classes scikit-learn exempts by name); unlabeled=None passes it"
)


@pytest.mark.filterwarnings("ignore:y has no unlabelled point")
@parametrize_with_checks(
    [TransductiveSVC(), TransductiveSVC(unlabeled=None), TransductiveSVC(kernel="linear", unlabeled=None)],
    expected_failed_checks=lambda e: {"check_classifiers_classes": MARKER} if e.unlabeled == -1 else {},
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def data(moons):
    X, truth, y = moons
    return X, truth, np.where(y == 0, -1, (y > 0).astype(int))


def test_transduction_and_induction(data, moons):
    X, truth, y = data
    clf = TransductiveSVC(sigma=0.5, C=10, balance="labeled", method="cccp").fit(X, y)
    assert clf.score(X, (truth > 0).astype(int)) > 0.9
    np.testing.assert_array_equal(clf.transduction_[y >= 0], y[y >= 0])
    np.testing.assert_array_equal(clf.transduction_[y < 0], clf.predict(X)[y < 0])
    np.testing.assert_allclose(clf.decision_function(X), clf.transduction_scores_, atol=1e-9)
    solution = ct.cccp(ct.cccp_tsvm(), ct.Problem(X, moons[2], kernel=ct.RBF(0.5), C=10, C_unlabeled=1))
    assert clf.objective_ == pytest.approx(solution.objective)
    assert clf.n_iter_ == len(clf.history_) == solution.n_iter
    assert clf.lower_bound_ < clf.objective_
    assert 0 < clf.gap_ < 1


@pytest.mark.parametrize(
    ("marker", "labels"),
    [
        (-1, {0: -1, 1: 0, 2: 1}),
        (0, {0: 0, 1: -1, 2: 1}),
        (np.nan, {0: np.nan, 1: -1.0, 2: 1.0}),
        (None, None),
        ("?", {0: "?", 1: "no", 2: "yes"}),
        (-1, {0: -1, 1: "no", 2: "yes"}),
        ("", {0: "", 1: "no", 2: "yes"}),
    ],
)
def test_markers_of_unlabelled_points(marker, labels, moons):
    X, truth, y = moons
    if labels is None:
        labels = {1: -1, 2: 1}
        X, truth, y = X[y != 0], truth[y != 0], y[y != 0]
    index = np.where(y == 0, 0, np.where(y < 0, 1, 2))
    given = np.array([labels[k] for k in index], dtype=object if len({type(v) for v in labels.values()}) > 1 else None)
    clf = TransductiveSVC(sigma=0.5, C=10, unlabeled=marker)
    if marker is None:
        with pytest.warns(UserWarning, match="no unlabelled point"):
            clf.fit(X, given)
    else:
        clf.fit(X, given)
    assert clf.classes_.tolist() == [labels[1], labels[2]]
    expected = np.where(truth > 0, labels[2], labels[1])
    assert np.mean(clf.transduction_ == expected) > 0.9


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_missing_labels_of_data_frames(dtype, moons):
    X, truth, y = moons
    names = pd.Series([{1: "yes", -1: "no", 0: None}[sign] for sign in y], dtype=dtype)
    clf = TransductiveSVC(sigma=0.5, C=10, unlabeled=np.nan).fit(X, names)
    assert clf.classes_.tolist() == ["no", "yes"]
    assert np.mean(clf.transduction_ == np.where(truth > 0, "yes", "no")) > 0.9
    with pytest.raises(ValueError, match="missing values besides unlabeled=-1"):
        TransductiveSVC().fit(X, names)


def test_mixed_labels_are_named(moons):
    with pytest.raises(ValueError, match="mixes text and numbers"):
        TransductiveSVC().fit(moons[0], np.array(["a", 1] * 40, dtype=object))


def test_ambiguous_labels_are_explained(moons):
    X, truth, _ = moons
    with pytest.raises(ValueError, match="labels -1/\\+1 are ambiguous; pass unlabeled=0"):
        TransductiveSVC().fit(X, truth.astype(int))


def test_one_versus_rest():
    X, truth = load_iris(return_X_y=True)
    y = np.full(150, -1)
    shown = np.r_[0:8, 50:58, 100:108]
    y[shown] = truth[shown]
    for n_jobs in (None, 2):
        clf = TransductiveSVC(C=10, n_jobs=n_jobs, balance="labeled", multi_class="ovr").fit(X, y)
        assert clf.decision_function(X).shape == (150, 3)
        assert clf.score(X, truth) > 0.88
        assert len(clf.history_) == 3
        assert clf.lower_bound_ is None
    single = TransductiveSVC(C=10, gamma=clf.model_.kernel.gamma, balance="labeled", method="cccp")
    single.fit(X, np.where(y < 0, -1, (y == 2).astype(int)))
    np.testing.assert_allclose(clf.decision_function(X)[:, 2], single.decision_function(X), atol=1e-6)
    with pytest.raises(ValueError, match="with 3 classes it must be 'auto', 'labeled', None"):
        TransductiveSVC(balance=0.1).fit(X, y)


def test_data_frames(data):
    X, _, y = data
    frame = pd.DataFrame(X, columns=["a", "b"])
    clf = TransductiveSVC().fit(frame, pd.Series(y))
    assert clf.feature_names_in_.tolist() == ["a", "b"]
    assert clf.predict(frame).shape == (80,)
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame.rename(columns={"a": "c"}))


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_sparse_equals_dense(kernel, data):
    X, _, y = data
    clf = TransductiveSVC(kernel=kernel, gamma=0.5, coef0=1.0)
    dense, sparse = clone(clf).fit(X, y), clone(clf).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(dense.decision_function(X), sparse.decision_function(sp.csc_matrix(X)), atol=1e-6)


def test_precomputed_and_callable_equal_the_named_kernel(data):
    X, _, y = data
    kernel = ct.RBF(0.5)
    named = TransductiveSVC(sigma=0.5).fit(X, y)
    precomputed = TransductiveSVC(kernel="precomputed").fit(kernel(X, X), y)
    function = TransductiveSVC(kernel=kernel.__call__).fit(X, y)
    np.testing.assert_allclose(precomputed.decision_function(kernel(X[:5], X)), named.decision_function(X[:5]))
    np.testing.assert_allclose(function.decision_function(X[:5]), named.decision_function(X[:5]))


def test_scale_is_that_of_svc(data):
    X, _, y = data
    clf = TransductiveSVC().fit(3 * X, y)
    svc = SVC().fit(3 * X, np.arange(80) % 2)
    assert clf.model_.kernel.gamma == pytest.approx(svc._gamma)
    assert TransductiveSVC().fit(sp.csr_matrix(3 * X), y).model_.kernel.gamma == pytest.approx(svc._gamma)


@pytest.mark.parametrize("loss", ["ramp", "hinge", "squared_hinge", "flat", ct.s3vm()])
@pytest.mark.parametrize("solver", ["native", "cvxpy"])
def test_losses_and_solvers(loss, solver, data):
    X, truth, y = data
    clf = TransductiveSVC(loss=loss, solver=solver, sigma=0.5, C=10).fit(X, y)
    assert clf.score(X, (truth > 0).astype(int)) > 0.85


def test_works_in_pipelines_and_searches(data):
    X, truth, y = data
    pipeline = make_pipeline(StandardScaler(), TransductiveSVC())
    assert pipeline.fit(X, y).predict(X).shape == (80,)
    search = GridSearchCV(TransductiveSVC(unlabeled=None), {"C": [0.1, 10]}, cv=2)
    with pytest.warns(UserWarning, match="no unlabelled point"):
        search.fit(X, truth)
    assert search.best_score_ > 0.8


def test_verbose_prints_a_line_per_step(data, capsys):
    X, _, y = data
    clf = TransductiveSVC(verbose=1).fit(X, y)
    assert len(capsys.readouterr().out.splitlines()) == clf.n_iter_


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        (dict(loss="cubic"), None, "loss='cubic' must be one of ramp, hinge"),
        (dict(method="magic"), None, "method='magic'"),
        (dict(solver="magic"), None, "solver='magic'"),
        (dict(s=-1.0), None, "s=-1.0"),
        (dict(C=0), None, "C=0"),
        (dict(balance="equal"), None, "balance='equal'"),
        (dict(kernel="gauss"), None, "kernel='gauss'"),
        ({}, [-1] * 80, "no labelled point"),
        ({}, [0] * 40 + [-1] * 40, "one class only, .*0"),
        (dict(unlabeled=0), [0.0, np.nan] * 40, "NaN"),
        (dict(unlabeled=None), np.linspace(0, 1, 80), "Unknown label type"),
        ({}, [0, 1], "y has 2 entries, X has 80"),
    ],
)
def test_bad_input_is_named(options, y, message, data):
    X, _, good = data
    with pytest.raises(ValueError, match=message):
        TransductiveSVC(**options).fit(X, good if y is None else y)


@pytest.mark.parametrize(("method", "balance"), [*((method, "labeled") for method in DESCENTS), ("cccp", "auto")])
def test_every_method_has_a_loss_that_fits_it(method, balance, data):
    X, _, y = data
    found = TransductiveSVC(method=method, sigma=0.5, balance=balance).fit(X, y)
    named = TransductiveSVC(method=method, sigma=0.5, balance=balance, loss=METHODS[method].loss).fit(X, y)
    assert found.objective_ == named.objective_
    assert found.loss == "auto"
