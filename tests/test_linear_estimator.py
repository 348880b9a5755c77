"""LinearTransductiveSVC: scikit-learn's conventions, SVMlin's objective, texts, several classes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import convex_tsvm as ct
from convex_tsvm import LinearTransductiveSVC

MARKER = "the check fits labels {-1, +1}, of which -1 is the default marker of unlabelled points"


@pytest.mark.filterwarnings("ignore:y has no unlabelled point")
@parametrize_with_checks(
    [LinearTransductiveSVC(), LinearTransductiveSVC(unlabeled=None), LinearTransductiveSVC(method="cccp")],
    expected_failed_checks=lambda e: {"check_classifiers_classes": MARKER} if e.unlabeled == -1 else {},
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def blobs(n=200, d=6, n_labeled=10, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    X = rng.normal(size=(n, d)) + 3.0 * np.eye(n_classes, d)[truth]
    y = np.where(np.arange(n) < n_labeled, truth, -1)
    return X, truth, y


@pytest.mark.parametrize("method", ["switching", "annealing", "cccp"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, lambda X: X.astype(np.float32)])
def test_methods_and_kinds_of_points(method, kind):
    X, truth, y = blobs()
    clf = LinearTransductiveSVC(method=method, C=1.0).fit(kind(X), y)
    assert (clf.transduction_ == truth).mean() > 0.95
    assert (clf.predict(kind(X)) == truth).mean() > 0.95
    np.testing.assert_allclose(clf.decision_function(X), X @ clf.coef_.ravel() + clf.intercept_, atol=1e-5)
    np.testing.assert_allclose(clf.decision_function(kind(X)), clf.transduction_scores_, atol=1e-5)
    assert clf.coef_.shape == (1, 6)
    assert clf.lower_bound_ <= clf.objective_


def test_lambda_is_that_of_svmlin():
    """λ/2 ‖w‖² + 1/(2l) Σ ℓ₂ + λ'/(2u) Σ max(0, 1 - |f|)², the bias regularized (sindhwani2006 §1.3)."""
    X, _, y = blobs()
    lam, ratio, r = 0.01, 0.5, 0.4
    clf = LinearTransductiveSVC(lambda_=lam, lambda_unlabeled=ratio, positive_fraction=r).fit(X, y)
    f, sign = clf.decision_function(X), np.where(y == 1, 1, -1)
    known = y >= 0
    squares = (clf.coef_**2).sum() + clf.intercept_[0] ** 2
    labels = np.where(clf.transduction_ == 1, 1, -1)
    J = (
        lam / 2 * squares
        + np.mean(np.maximum(0, 1 - sign * f)[known] ** 2) / 2
        + ratio / 2 * np.mean(np.maximum(0, 1 - labels * f)[~known] ** 2)
    )
    assert lam * clf.objective_ == pytest.approx(J, rel=1e-6)
    assert (clf.transduction_[~known] == 1).sum() == round(r * (~known).sum())


def test_without_unlabelled_points_it_is_the_linear_svm():
    X, truth, _ = blobs(n=60)
    with pytest.warns(UserWarning, match="supervised"):
        clf = LinearTransductiveSVC(C=0.7, unlabeled=None, tol=1e-8).fit(X, truth)
    reference = LinearSVC(C=0.7, tol=1e-10, max_iter=100000).fit(X, truth)
    np.testing.assert_allclose(clf.coef_, reference.coef_, atol=1e-4)
    np.testing.assert_allclose(clf.intercept_, reference.intercept_, atol=1e-4)


def test_several_classes_have_shares_of_their_own():
    X, truth, _ = blobs(n=300, n_classes=3, d=8)
    y = np.where(np.arange(300) < 20, truth, -1)
    clf = LinearTransductiveSVC(n_jobs=2, positive_fraction="labeled").fit(X, y)
    assert (clf.transduction_ == truth).mean() > 0.85
    for k, solution in enumerate(clf.solutions_):
        wanted = round(float((y[y >= 0] == k).mean()) * 280)
        assert (solution.labels[y < 0] > 0).sum() == wanted
    with pytest.raises(ValueError, match="with 3 classes"):
        LinearTransductiveSVC(positive_fraction=0.5).fit(X, y)


def test_tfidf_goes_straight_in(tmp_path):
    texts = ["ham egg", "egg toast", "ham toast"] * 5 + ["wheel car", "car road", "wheel road"] * 5
    X = TfidfVectorizer().fit_transform(texts)
    y = np.full(30, "?", dtype=object)
    y[0], y[-1] = "food", "traffic"
    clf = LinearTransductiveSVC(C=10, unlabeled="?", method="annealing").fit(X, y)
    assert clf.transduction_.tolist() == ["food"] * 15 + ["traffic"] * 15
    ct.save_model(clf, tmp_path / "model.npz")
    assert ct.load_model(tmp_path / "model.npz").predict(X).tolist() == clf.transduction_.tolist()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "newtonian"}, "method='newtonian'"),
        ({"positive_fraction": 0.0}, "positive_fraction"),
        ({"positive_fraction": 1.5}, "positive_fraction"),
        ({"lambda_": -1}, "lambda_"),
        ({"lambda_unlabeled": 0}, "lambda_unlabeled"),
        ({"intercept_scaling": 0}, "intercept_scaling"),
        ({"C": -1}, "C=-1"),
        ({"tol": 0}, "tol"),
        ({"loss": "zero"}, "loss='zero'"),
        ({"loss": "ramp"}, "loss"),
        ({"method_options": {"speed": 3}}, "speed=3"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, _, y = blobs()
    with pytest.raises(ValueError, match=message):
        LinearTransductiveSVC(**parameters).fit(X, y)


@pytest.mark.parametrize("method", ["switching", "annealing", "cccp"])
def test_points_without_digits_are_told_from_those_with(method):
    """Far from the origin by 10⁶ all is well; by 10⁹ nothing is, and the status and a warning say so, soon."""
    X, _, y = blobs(n=300, d=8)
    clf = LinearTransductiveSVC(method=method).fit(X + 1e6, y)
    assert clf.solutions_[0].status == "converged"
    with pytest.warns(UserWarning, match="scale the points"):
        clf = LinearTransductiveSVC(method=method, max_iter=100).fit(X + 1e9, y)
    assert clf.solutions_[0].status in ("inaccurate", "max_iter")
    assert np.isfinite(clf.coef_).all()
