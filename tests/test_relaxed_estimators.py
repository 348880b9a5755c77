"""The estimators that go by a relaxation, and the exact one."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import convex_tsvm as ct
from convex_tsvm import (
    ExactTransductiveSVC,
    SafeTransductiveSVC,
    SDPTransduction,
    SpectralTransduction,
    SubspaceSDPTransduction,
)

ESTIMATORS = [SDPTransduction, SubspaceSDPTransduction, SpectralTransduction]


@pytest.mark.filterwarnings("ignore:y has no unlabelled point")
@parametrize_with_checks(
    [
        *(make() for make in ESTIMATORS),
        *(make(unlabeled=None) for make in ESTIMATORS),
        ExactTransductiveSVC(max_nodes=200, bounds="svm"),
        ExactTransductiveSVC(max_nodes=200, bounds="svm", unlabeled=None),
        SafeTransductiveSVC(n_starts=4),
        SafeTransductiveSVC(n_starts=4, unlabeled=None),
    ],
    expected_failed_checks=lambda e: (
        {"check_classifiers_classes": "labels {-1, +1}, of which -1 marks unlabelled points"}
        if e.unlabeled == -1
        else {}
    ),
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def data(moons):
    X, truth, y = moons
    # Twenty labels: the moons are too bent for four of them to say what an eigenvector is.
    y = y.copy()
    y[::5] = truth[::5]
    return X, truth, np.where(y == 0, -1, (y > 0).astype(int))


@pytest.mark.parametrize("make", ESTIMATORS)
def test_transduction_and_induction(make, data):
    X, truth, y = data
    clf = make(sigma=0.4, C=10).fit(X, y)
    wanted = (truth > 0).astype(int)
    assert (clf.transduction_ == wanted).mean() > 0.85
    assert clf.score(X, wanted) > 0.85
    np.testing.assert_array_equal(clf.transduction_[y >= 0], y[y >= 0])
    hidden = y < 0
    np.testing.assert_array_equal(clf.transduction_[hidden], (clf.transduction_scores_[hidden] >= 0).astype(int))
    # New points are told apart by the SVM trained on the labels found.
    labels = np.where(clf.transduction_ == 1, 1.0, -1.0)
    solution = clf.solutions_[0]
    balanced = make is not SubspaceSDPTransduction
    problem = solution.problem
    svm = ct.LowerBoundBuilder(solution.formulation, problem, relaxation="svm").evaluate(labels)[1]
    np.testing.assert_allclose(clf.decision_function(X), svm.outputs, atol=5e-3)
    assert (solution.formulation.balance == "linear") == balanced
    if make is SDPTransduction:
        assert clf.lower_bound_ <= clf.objective_ + 1e-9
        assert 0 <= clf.gap_ < 1
        assert np.abs(clf.transduction_scores_).max() <= 1 + 1e-9
    else:
        assert clf.lower_bound_ is None
    assert clone(clf).get_params() == clf.get_params()


def test_the_bound_is_one(data):
    """Neither CCCP nor a tighter relaxation gets below; a tighter one is not below a looser one."""
    X, _, y = data
    keep = np.r_[0:40]
    options = {"sigma": 0.4, "C": 1.0, "loss": "squared_hinge"}
    loose = SDPTransduction(**options).fit(X[keep], y[keep])
    tight = SDPTransduction(**options, relaxation="signs").fit(X[keep], y[keep])
    heuristic = ct.TransductiveSVC(**options, tol=1e-6).fit(X[keep], y[keep])
    # Both end at a gap of 1e-4.
    assert loose.lower_bound_ <= tight.lower_bound_ * (1 + 1e-4)
    assert tight.lower_bound_ <= min(tight.objective_, heuristic.objective_) + 1e-9


@pytest.mark.parametrize("make", ESTIMATORS)
def test_a_kernel_that_is_not_psd_is_refused(make):
    K = np.array([[1.0, 2, 0, 0], [2, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    with pytest.raises(ValueError, match="positive semidefinite"):
        make(kernel="precomputed").fit(K, [0, 1, -1, -1])


@pytest.mark.parametrize("make", ESTIMATORS)
def test_three_classes(make):
    X, k = load_iris(return_X_y=True)
    y = np.where(np.arange(150) % 5 == 0, k, -1)
    clf = make(gamma=0.5, C=5, verbose=0).fit(X, y)
    assert clf.transduction_scores_.shape == (150, 3)
    assert (clf.transduction_ == k).mean() > 0.85
    assert clf.predict(X).shape == (150,)


def test_sparse_graph_of_neighbours(data):
    X, truth, y = data
    clf = SpectralTransduction(sigma=0.4, affinity="nearest_neighbors", n_neighbors=8, n_components=6).fit(X, y)
    assert (clf.transduction_ == (truth > 0)).mean() > 0.85


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (SDPTransduction(loss="ramp"), "loss='ramp'"),
        (SDPTransduction(relaxation="best"), "relaxation='best'"),
        (SDPTransduction(relaxation="signs"), "squared hinge"),
        (SDPTransduction(balance=None), "free bias"),
        (SDPTransduction(loss="squared_hinge", relaxation="sdp", solver="mosek"), "solver='mosek'"),
        (SDPTransduction(tol=0), "tol=0"),
        (SubspaceSDPTransduction(n_components=0), "n_components=0"),
        (SubspaceSDPTransduction(outliers=1.0), r"outliers=1\.0"),
        (SpectralTransduction(n_components=500), "n_components=500"),
        (SpectralTransduction(affinity="graph"), "affinity='graph'"),
        (SpectralTransduction(affinity="nearest_neighbors", n_neighbors=0), "n_neighbors=0"),
    ],
)
def test_bad_arguments_are_named(estimator, message, data):
    X, _, y = data
    with pytest.raises(ValueError, match=message):
        estimator.fit(X[:60], y[:60])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "hinge", "balance": ("exact", 0.5)},
        {"balance": ("exact", 0.25)},
        {"balance_of": "targets", "fit_intercept": False, "balance": 0.0},
    ],
)
def test_exact_transduction(options, moons, tmp_path):
    X, _, y = moons
    keep = np.concatenate([np.flatnonzero(y), np.flatnonzero(y == 0)[:8]])
    path = tmp_path / "certificate.npz"
    marked = np.where(y == 0, -1, (y > 0).astype(int))[keep]
    clf = ExactTransductiveSVC(sigma=0.5, C=10, C_unlabeled=1, certificate=path, **options).fit(X[keep], marked)
    solution = clf.solutions_[0]
    least, _ = ct.brute_force(solution.formulation, solution.problem)
    assert clf.objective_ == pytest.approx(least, rel=1e-6)
    assert clf.lower_bound_ <= least * (1 + 1e-9)
    assert clf.gap_ <= 1.1e-6
    assert ct.prove_certificate(path).holds
    assert clf.n_iter_ == clf.history_[-1].n_nodes
    np.testing.assert_array_equal(clf.transduction_ == 1, solution.labels > 0)
    np.testing.assert_allclose(clf.decision_function(X[keep]), clf.transduction_scores_, atol=1e-5)
    if options.get("balance") == ("exact", 0.25):
        assert (clf.transduction_[marked < 0] == 1).sum() == 2


def test_exact_transduction_of_three_classes(tmp_path):
    X, truth = load_iris(return_X_y=True)
    keep = np.arange(0, 150, 6)
    y = np.where(np.arange(25) % 3 == 0, truth[keep], -1)
    clf = ExactTransductiveSVC(C=10).fit(X[keep], y)
    assert clf.score(X, truth) > 0.85
    assert clf.lower_bound_ is None
    with pytest.raises(ValueError, match="are for two classes"):
        ExactTransductiveSVC(certificate=tmp_path / "c.npz").fit(X[keep], y)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"loss": "blunt"}, "loss='blunt'"),
        ({"balance_of": "labels"}, "balance_of='labels'"),
        ({"balance_of": "targets"}, "fit_intercept=False"),
        ({"bounds": "best"}, "bounds='best'"),
        ({"time_limit": -1}, "time_limit=-1"),
    ],
)
def test_bad_parameters_of_exact_transduction_are_named(options, said, moons):
    X, _, y = moons
    with pytest.raises(ValueError, match=said):
        ExactTransductiveSVC(**options, unlabeled=0).fit(X, np.where(y == 0, 0, y + 3))
