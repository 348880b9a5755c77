"""partial_fit: chunks of points, averaged stochastic subgradients on tangents."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, make_circles

import convex_tsvm as ct
from convex_tsvm.methods.online import OnlineDescent


def gaussians(n=400, seed=0, n_labeled=40):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 10)) + np.where(truth == 1, 0.6, -0.6)[:, None]
    y = np.full(n, -1)
    y[:n_labeled] = truth[:n_labeled]
    return X, truth, y


def objective(clf, X, y, C, C_unlabeled, share):
    """The TSVM's objective of a linear function, and the mean output of the unlabelled points."""
    signs = np.where(y < 0, 0, 2 * y - 1)
    problem = ct.Problem(X, signs, C=C, C_unlabeled=C_unlabeled, balance=2 * share - 1)
    f = X @ clf.coef_[0] + clf.intercept_[0]
    value = ct.tsvm(clf.loss).on(problem).objective(f, 0.5 * float(clf.coef_[0] @ clf.coef_[0]))
    return value, f[y < 0].mean()


@pytest.mark.parametrize("loss", ["ramp", "hinge", "squared_hinge", "huber_hinge", "flat"])
def test_many_passes_come_near_the_batch(loss):
    X, truth, y = gaussians()
    share = float(truth[y < 0].mean())
    C, ratio = 1.0, 1.0
    options = {"loss": loss, "positive_fraction": share, "lambda_": 1 / (2 * C * 40), "lambda_unlabeled": ratio}
    batch = ct.LinearTransductiveSVC(method="cccp", **options).fit(X, y)
    online = ct.LinearTransductiveSVC(**options)
    for _ in range(150):
        online.partial_fit(X, y, classes=[0, 1])
    values = [objective(one, X, y, C, C * ratio * 40 / 360, share) for one in (batch, online)]
    assert values[1][1] == pytest.approx(2 * share - 1, abs=1e-9)  # the balance is met exactly
    assert values[1][0] <= 1.1 * values[0][0] + 0.3
    wrong = [np.mean(one.predict(X) != truth) for one in (batch, online)]
    assert wrong[1] <= wrong[0] + 0.03


def test_unlabelled_points_help_from_the_second_chunk_on():
    X, truth, y = gaussians(n=2000, n_labeled=8)
    online = ct.LinearTransductiveSVC(loss="squared_hinge", positive_fraction=0.5, lambda_=0.05)
    errors = []
    for part in np.array_split(np.arange(2000), 10):
        online.partial_fit(X[part], y[part], classes=[0, 1])
        errors.append(np.mean(online.predict(X) != truth))
    supervised = ct.LinearTransductiveSVC(method="cccp", loss=ct.svm(), lambda_=0.05).fit(X, y)
    assert errors[-1] < np.mean(supervised.predict(X) != truth)
    assert errors[-1] <= errors[0]


def test_dense_and_sparse_chunks_and_pickles_agree():
    X, _, y = gaussians()
    made = ct.LinearTransductiveSVC(positive_fraction=0.5)
    dense, sparse = clone(made), clone(made)
    for part in np.array_split(np.arange(400), 4):
        dense.partial_fit(X[part], y[part], classes=[0, 1])
        sparse.partial_fit(sp.csr_matrix(X[part]), y[part], classes=[0, 1])
        sparse = pickle.loads(pickle.dumps(sparse))
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-10)
    np.testing.assert_allclose(dense.intercept_, sparse.intercept_, atol=1e-10)
    np.testing.assert_allclose(dense.decision_function(X), (X @ dense.coef_.T + dense.intercept_).ravel(), atol=1e-12)


def test_several_classes_and_going_on_from_a_fit():
    X, truth = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = np.where(np.random.default_rng(0).random(150) < 0.3, truth, -1)
    online = ct.LinearTransductiveSVC()
    for _ in range(30):
        online.partial_fit(X, y, classes=[0, 1, 2])
    assert np.mean(online.predict(X) != truth) < 0.2
    assert online.coef_.shape == (3, 4)
    fitted = ct.LinearTransductiveSVC(method="cccp").fit(X, y)
    before = fitted.coef_.copy()
    fitted.partial_fit(X, y)
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert 0 < np.abs(fitted.coef_ - before).max() < 1.5 * np.abs(before).max()


def test_shares_may_be_those_of_the_labels_or_given_by_name():
    X, truth, y = gaussians()
    for share in ("labeled", "auto", {0: 0.5, 1: 0.5}):
        online = ct.LinearTransductiveSVC(positive_fraction=share)
        for _ in range(5):
            online.partial_fit(X, y, classes=[0, 1])
        assert np.mean(online.predict(X) != truth) < 0.15
    unbiased = ct.LinearTransductiveSVC(fit_intercept=False).partial_fit(X, y, classes=[0, 1])
    assert unbiased.intercept_ == 0
    free = ct.LinearTransductiveSVC(loss=ct.tsvm("hinge", balance=None)).partial_fit(X, y, classes=[0, 1])
    assert free.intercept_ != 0


@pytest.mark.parametrize("approximation", ["nystroem", "fourier"])
def test_functions_of_a_kernel_learn_from_chunks(approximation):
    """Rings in ten chunks: near the batch with the same features, and from its solution on it stays there."""
    X, truth = make_circles(2000, noise=0.1, factor=0.4, random_state=0)
    y = np.where(np.arange(2000) % 10 == 0, truth, -1)
    made = ct.LinearTransductiveSVC(
        kernel_approximation=approximation, gamma=2.0, n_components=60, positive_fraction=0.5, lambda_=1e-3
    )
    online, batch = clone(made), clone(made).set_params(method="cccp").fit(X, y)
    for part in np.array_split(np.arange(2000), 10):
        online.partial_fit(X[part], y[part], classes=[0, 1])
    wrong = [np.mean(one.predict(X) != truth) for one in (batch, online)]
    assert wrong[1] <= wrong[0] + 0.01
    assert not hasattr(online, "coef_")
    assert online.model_.n_features == 2
    before = batch.decision_function(X)
    batch.partial_fit(X, y)
    assert 0 < np.abs(batch.decision_function(X) - before).max() < np.abs(before).max()
    assert np.mean(batch.predict(X) != truth) <= wrong[0] + 0.01


def test_whitened_steps_need_no_scale_of_features():
    """Features on scales from 1 to 1e-3: one pass is as near the batch's objective as 20 of steps of one length."""
    X, truth, y = gaussians(n=4000, n_labeled=200)
    X = X * np.logspace(0, -3, 10)
    descents = [OnlineDescent(ct.tsvm("squared_hinge"), np.zeros((1, 10)), whitened=on) for on in (True, False)]
    signs = np.where(y < 0, 0.0, 2.0 * y - 1)
    for descent, passes in zip(descents, (1, 20), strict=True):
        for part in passes * np.array_split(np.arange(4000), 20):
            descent.count_labels(signs[None, part])
            descent.learn(X[part], signs[None, part], ridge=1e-6, ratio=1.0, means=np.array([2 * truth.mean() - 1]))
    errors = [np.mean((X @ one.average[0] + one.intercept[0] > 0) != truth) for one in descents]
    assert errors[0] < errors[1] / 2


@given(seed=st.integers(0, 10**5))
def test_a_step_goes_along_a_subgradient_of_the_convex_problem(seed):
    """Over all labelled points at once and no unlabelled ones the first step is the gradient of the SVM's objective."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 3)), np.resize([1.0, -1.0], 12)
    descent = OnlineDescent(ct.s3vm(balance=None, fit_intercept=False), np.zeros((1, 3)))
    descent.least_steps = 1  # one step is looked at
    descent.count_labels(y[None])
    descent.learn(X, y[None], ridge=0.1, ratio=1.0, means=None)

    def value(w):
        return 0.05 * w @ w + np.mean(np.maximum(0, 1 - y * (X @ w)) ** 2)

    gradient = np.array([(value(1e-6 * e) - value(-1e-6 * e)) / 2e-6 for e in np.eye(3)])
    step = -descent.w[0]
    np.testing.assert_allclose(step / np.linalg.norm(step), gradient / np.linalg.norm(gradient), atol=1e-6)
    assert value(descent.w[0]) < value(np.zeros(3))


@given(seed=st.integers(0, 10**5))
def test_a_step_of_unlabelled_points_goes_along_the_surrogate(seed):
    """At a function w all unlabelled points take one step: against the gradient of the convex part and its tangent."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(12, 3)), 0.3 * rng.normal(size=(1, 3))
    model = ct.s3vm(balance=None, fit_intercept=False)
    descent = OnlineDescent(model, w.copy())
    descent.least_steps = 1
    descent.learn(X, np.zeros((1, 12)), ridge=0.1, ratio=0.7, means=None)
    convex, concave = model.unlabeled.split()
    slopes = concave.supergradient(X @ w[0])

    def surrogate(v):
        return 0.05 * v @ v + 0.7 * np.mean(convex(X @ v) + slopes * (X @ v))

    gradient = np.array([(surrogate(w[0] + 1e-6 * e) - surrogate(w[0] - 1e-6 * e)) / 2e-6 for e in np.eye(3)])
    step = w[0] - descent.w[0]
    np.testing.assert_allclose(step / np.linalg.norm(step), gradient / np.linalg.norm(gradient), atol=1e-5)


@pytest.mark.parametrize("whitened", [True, False], ids=["covariance", "trace"])
def test_means_and_covariances_of_chunks_are_those_of_all_points(whitened):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4)) * [1, 2, 3, 4] + np.arange(90)[:, None] / 10  # chunks have different means
    signs = np.where(np.arange(90) % 5 == 0, 1.0, 0.0)[None]
    for form in (np.asarray, sp.csr_matrix):
        descent = OnlineDescent(ct.s3vm(), np.zeros((1, 4)), whitened=whitened)
        for part in np.split(np.arange(90), [20, 50]):
            descent.count_labels(signs[:, part])
            descent.learn(form(X[part]), signs[:, part], ridge=0.1, ratio=1.0, means=np.zeros(1))
        scatter = np.cov(X.T, bias=True)
        np.testing.assert_allclose(descent.mean, X[signs[0] == 0].mean(axis=0))
        np.testing.assert_allclose(descent.middle, X.mean(axis=0))
        np.testing.assert_allclose(descent.scatter, scatter if whitened else np.trace(scatter))


def test_points_far_from_the_origin():
    """With a balance the mean is taken off, and steps are as long as the spread of the points allows."""
    X, truth, y = gaussians()
    errors = []
    for shift in (0.0, 1e4):
        online = ct.LinearTransductiveSVC(positive_fraction=0.5, lambda_=0.0125)
        for _ in range(20):
            online.partial_fit(X + shift, y, classes=[0, 1])
        errors.append(np.mean(online.predict(X + shift) != truth))
    assert errors[1] == pytest.approx(errors[0], abs=0.01)


@pytest.mark.parametrize(
    ("change", "classes", "y", "message"),
    [
        ({}, None, None, "classes must be passed on the first call"),
        ({}, [0], None, "there must be at least two"),
        ({}, [0, 2], None, "y has the label 1, which is none of"),
        ({"kernel_approximation": "laplace"}, [0, 1], None, "kernel_approximation='laplace'"),
        ({"loss": "sigmoid"}, [0, 1], None, "loss='sigmoid'"),
        ({"C": -1.0}, [0, 1], None, "C=-1"),
        ({"C_unlabeled": "tenth"}, [0, 1], None, "C_unlabeled='tenth'"),
        ({"positive_fraction": 1.5}, [0, 1], None, "positive_fraction=1.5"),
        ({}, [0, 1], [0, 1], "y has 2 entries"),
        ({"loss": ct.tsvm("exp")}, [0, 1], None, "piecewise linear-quadratic"),
        ({"loss": ct.cs3vm()}, [0, 1], None, "no other regularizer"),
    ],
)
def test_what_partial_fit_refuses(change, classes, y, message):
    X, _, own = gaussians(n=50)
    with pytest.raises(ValueError, match=message):
        ct.LinearTransductiveSVC(**change).partial_fit(X, own if y is None else y, classes=classes)


def test_other_classes_or_features_later_are_refused():
    X, _, y = gaussians(n=50)
    online = ct.LinearTransductiveSVC().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="are not those before"):
        online.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="features"):
        online.partial_fit(X[:, :5], y)


def test_a_stream_after_a_fit_begins_at_the_fit():
    X, truth, y = gaussians()
    clf = ct.LinearTransductiveSVC(method="cccp").partial_fit(X[:100], y[:100], classes=[0, 1])
    clf.fit(X, np.where(y < 0, y, 1 - y))  # the other way round
    clf.partial_fit(X[:50], np.where(y[:50] < 0, -1, 1 - y[:50]))
    assert np.mean(clf.predict(X) == 1 - truth) > 0.8


def test_points_of_a_call_that_fails_are_not_counted():
    X, _, y = gaussians()
    clf = ct.LinearTransductiveSVC().partial_fit(X, y, classes=[0, 1])
    counted = clf.online_.n_labeled
    for wrong in ({"C": -1.0}, {"positive_fraction": 2.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            clf.set_params(**wrong).partial_fit(X, y)
        clf.set_params(C=1.0, positive_fraction="auto")
    assert clf.online_.n_labeled == counted


def test_features_stay_what_they_were():
    X, _, y = gaussians()
    with pytest.warns(ct.TSVMWarning, match="n_components=500: the first chunk, for the features, has 400 points"):
        clf = ct.LinearTransductiveSVC(kernel_approximation="nystroem").partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="kernel_approximation=None must stay"):
        clf.set_params(kernel_approximation=None).partial_fit(X, y)
    twice = np.hstack([X, X])  # features that depend on each other
    ct.LinearTransductiveSVC(kernel_approximation="fourier", lambda_=1e-16).partial_fit(twice, y, classes=[0, 1])
