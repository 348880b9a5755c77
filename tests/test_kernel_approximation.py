"""Linear classifiers on features that stand for a kernel."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler

import convex_tsvm as ct
from convex_tsvm import LinearTransductiveSVC
from convex_tsvm.points import linear_points


@pytest.fixture(scope="module")
def rings():
    """Two rings, which no line separates: points, labels with -1 where unknown, and the truth."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    angle = 2 * np.pi * rng.random(300)
    X = (1 + 1.5 * truth + 0.1 * rng.normal(size=300))[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X, np.where(np.arange(300) < 20, truth, -1), truth


@pytest.mark.parametrize(
    "asked", ["nystroem", "fourier", PolynomialCountSketch(degree=2, n_components=60, random_state=0)]
)
def test_rings_are_told_apart(rings, asked):
    X, y, truth = rings
    options = {"C": 10, "positive_fraction": truth.mean()}
    clf = LinearTransductiveSVC(kernel_approximation=asked, n_components=150, **options).fit(X, y)
    assert np.mean(clf.transduction_ != truth) <= 0.02
    assert np.mean(LinearTransductiveSVC(**options).fit(X, y).transduction_ != truth) > 0.3
    # New points are those of the fit, and come with their own number of features.
    np.testing.assert_allclose(clf.decision_function(X), clf.transduction_scores_, atol=1e-4)
    assert clf.n_features_in_ == 2
    assert not hasattr(clf, "coef_")
    with pytest.raises(ValueError, match="3 features"):
        clf.predict(np.zeros((1, 3)))


def test_all_landmarks_are_the_kernel_itself(rings):
    """With every point a landmark, w·φ is any function of the kernel: objective and outputs are the exact ones."""
    X, y, _ = rings
    X, y = X[:80], y[:80]
    options = {"method": "cccp", "loss": "squared_hinge", "C": 2.0, "C_unlabeled": 0.5, "tol": 1e-6}
    near = LinearTransductiveSVC(kernel_approximation="nystroem", n_components=80, gamma=0.7, **options).fit(X, y)
    exact = ct.TransductiveSVC(kernel="rbf", gamma=0.7, **options).fit(X, y)
    assert near.objective_ == pytest.approx(exact.objective_, rel=1e-4)
    np.testing.assert_allclose(near.transduction_scores_, exact.transduction_scores_, atol=2e-3)
    # Features in single precision; the expansion in the kernel has the same values.
    kernel = near.approximation_.transform(X)
    np.testing.assert_allclose(kernel @ kernel.T, ct.RBF(gamma=0.7)(X, X), atol=1e-6)


def test_a_model_of_landmarks_is_saved_and_one_of_frequencies_says_why_not(rings, tmp_path):
    X, y, _ = rings
    clf = LinearTransductiveSVC(kernel_approximation="nystroem", n_components=40, C=10).fit(X, y)
    ct.save_model(clf, tmp_path / "model.npz")
    loaded = ct.load_model(tmp_path / "model.npz")
    np.testing.assert_allclose(loaded.decision_function(X), clf.decision_function(X), atol=1e-10)
    assert loaded.points.shape == (40, 2)
    fourier = LinearTransductiveSVC(kernel_approximation="fourier", n_components=40).fit(X, y)
    with pytest.raises(ValueError, match=r"joblib\.dump"):
        ct.save_model(fourier, tmp_path / "other.npz")
    assert not (tmp_path / "other.npz").exists()


def test_sparse_points_classes_and_a_seed(rings):
    X, y, _ = rings
    three = np.where(y < 0, -1, np.where(X[:, 0] > 0, 2, y))
    options = {"kernel_approximation": "nystroem", "n_components": 60, "C": 10, "positive_fraction": "labeled"}
    dense = LinearTransductiveSVC(**options).fit(X, three)
    sparse = LinearTransductiveSVC(**options).fit(sp.csr_matrix(X), three)
    np.testing.assert_allclose(sparse.transduction_scores_, dense.transduction_scores_, atol=1e-4)
    assert dense.transduction_scores_.shape == (300, 3)
    np.testing.assert_array_equal(sparse.predict(sp.csr_matrix(X)), sparse.predict(X))
    other = LinearTransductiveSVC(random_state=1, **options).fit(X, three)
    assert not np.allclose(other.transduction_scores_, dense.transduction_scores_)
    # Points that are known by products, too.
    points = LinearTransductiveSVC(**options).fit(linear_points(X), three)
    np.testing.assert_allclose(points.transduction_scores_, dense.transduction_scores_, atol=1e-6)


def loss_of_kernel(X, landmarks, gamma):
    """The part of K's trace that Nyström's approximation with some landmarks does not have."""
    K, C, W = ct.RBF(gamma=gamma)(X, X), ct.RBF(gamma=gamma)(X, landmarks), ct.RBF(gamma=gamma)(landmarks, landmarks)
    return np.trace(K - C @ np.linalg.pinv(W, rcond=1e-12, hermitian=True) @ C.T) / len(X)


def test_landmarks_lose_less_of_the_kernel_than_points_do():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)).repeat(20, axis=0) + 0.2 * rng.normal(size=(800, 6))
    y = np.where(np.arange(800) < 30, X[:, 0] > 0, -1)
    clf = LinearTransductiveSVC(kernel_approximation="nystroem", n_components=60, gamma=0.2, C=10).fit(X, y)
    centres, drawn = clf.approximation_.components_, X[rng.choice(800, 60, replace=False)]
    assert len(centres) == 60
    assert loss_of_kernel(X, centres, 0.2) < 0.7 * loss_of_kernel(X, drawn, 0.2)


def test_landmarks_of_many_features_are_points(rings, monkeypatch):
    """Means of sparse points are not sparse, and would fill memory."""
    monkeypatch.setattr("convex_tsvm.estimators.linear.MOST_CENTRE_ENTRIES", 60)
    X, y, _ = rings
    clf = LinearTransductiveSVC(kernel_approximation="nystroem", n_components=60, C=10).fit(sp.csr_matrix(X), y)
    assert sp.issparse(clf.approximation_.components_)
    rows = {tuple(row) for row in X}
    assert all(tuple(row) in rows for row in clf.approximation_.components_.toarray())


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"kernel_approximation": "nystrom"}, "kernel_approximation='nystrom' must be 'nystroem', 'fourier'"),
        ({"kernel_approximation": 3}, "kernel_approximation=3 must be"),
        ({"kernel_approximation": "fourier", "n_components": 0}, "n_components=0"),
        ({"kernel_approximation": "fourier", "gamma": -1.0}, "gamma=-1"),
        ({"kernel_approximation": "fourier", "random_state": None}, "random_state=None"),
    ],
)
def test_bad_arguments_are_named(rings, asked, said):
    X, y, _ = rings
    with pytest.raises(ValueError, match=said):
        LinearTransductiveSVC(**asked).fit(X, y)


def test_transformers_are_cloned_and_fitted(rings):
    X, y, _ = rings
    for asked in (Nystroem(kernel="poly", degree=2, n_components=30), RBFSampler(n_components=90, random_state=0)):
        clf = LinearTransductiveSVC(kernel_approximation=asked, C=10).fit(X, y)
        assert not hasattr(asked, "components_")
        assert clf.approximation_ is not asked
        np.testing.assert_allclose(clf.decision_function(X), clf.transduction_scores_, atol=1e-4)
