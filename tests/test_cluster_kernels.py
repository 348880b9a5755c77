"""Representations made without labels, then a TSVM (collobert2006 §6.1)."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_moons

import convex_tsvm as ct


@pytest.fixture
def two_moons():
    X, truth = make_moons(160, noise=0.08, random_state=0)
    y = np.full(160, -1)
    for k in (0, 1):
        y[np.random.default_rng(k).choice(np.flatnonzero(truth == k), 2, replace=False)] = k
    return X, truth, y


def is_kernel(K):
    assert np.isfinite(K).all()
    np.testing.assert_allclose(K, K.T, atol=1e-10)
    assert np.linalg.eigvalsh(K)[0] > -1e-8 * np.trace(K)


@pytest.mark.parametrize("transfer", ["step", "linear_step", "polynomial", "linear"])
def test_transfer_functions_change_the_eigenvalues_alone(two_moons, transfer):
    X, _, _ = two_moons
    K = ct.RBF(0.2)(X, X)
    made = ct.kernels.cluster_kernel(K, transfer=transfer, n_components=6, power=3, normalized=False)
    root = np.sqrt(K.sum(axis=1))
    L = K / np.outer(root, root)
    values, vectors = np.linalg.eigh(L)
    top = np.arange(len(L)) >= len(L) - 6
    expected = {"step": top * 1.0, "linear_step": values * top, "polynomial": values**3, "linear": values}[transfer]
    np.testing.assert_allclose(made, (vectors * expected) @ vectors.T, atol=1e-8)
    normalized = ct.kernels.cluster_kernel(K, transfer=transfer, n_components=6)
    is_kernel(normalized)
    np.testing.assert_allclose(np.diag(normalized), 1.0)


def test_bagged_clusters_are_a_kernel_and_may_be_multiplied(two_moons):
    X, truth, _ = two_moons
    K = ct.kernels.bagged_cluster_kernel(X, n_clusters=8, n_runs=20)
    is_kernel(K)
    np.testing.assert_allclose(np.diag(K), 1.0)
    same = truth[:, None] == truth
    assert K[same].mean() > 3 * K[~same].mean()
    base = ct.RBF(0.5)(X, X)
    np.testing.assert_allclose(ct.kernels.bagged_cluster_kernel(X, base, n_clusters=8, n_runs=20), K * base)
    np.testing.assert_allclose(
        ct.kernels.bagged_cluster_kernel(sp.csr_matrix(X), n_clusters=2, n_runs=3).diagonal(), 1.0
    )


@pytest.mark.parametrize("options", [{}, {"n_neighbors": 5}, {"sigma": 1.0}, {"rho": 20.0}, {"kept": 1.0}])
def test_density_kernels(two_moons, options):
    X, truth, _ = two_moons
    K = ct.kernels.density_kernel(X, **options)
    is_kernel(K)
    same = truth[:, None] == truth
    assert K[same].mean() > K[~same].mean()
    # Neither the unit of the points nor where they are changes anything, and equal points are equal.
    np.testing.assert_allclose(ct.kernels.density_kernel(1000 * X + 5, **options), K, atol=1e-6 * np.abs(K).max())
    twice = ct.kernels.density_kernel(np.vstack([X, X[:1]]), **options)
    np.testing.assert_allclose(twice[0], twice[-1], atol=1e-6 * np.abs(K).max())


def test_distances_go_along_dense_regions():
    """Two points that are near through the air and far along the curve are farther apart than two on the curve."""
    angle = np.linspace(0, 1.8 * np.pi, 60)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    K = ct.kernels.density_kernel(X, kept=1.0)
    squares = np.diag(K)[:, None] + np.diag(K) - 2 * K
    ends, along = squares[0, -1], squares[0, 30]
    assert np.linalg.norm(X[0] - X[-1]) < np.linalg.norm(X[0] - X[30])
    assert ends >= along


def test_distances_along_a_line_are_those_of_the_cheapest_path():
    """Of points at 0, 1, 2 and 5 a step of 1 costs e^ρ - 1: two of them cost less than one of 2, and three than one."""
    X, rho = np.array([[0.0], [1.0], [2.0], [5.0]]), 1.5
    step, long = np.expm1(rho), np.expm1(3 * rho)
    paths = np.array([[0, step, 2 * step, 2 * step + long], [0, 0, step, step + long], [0, 0, 0, long], [0, 0, 0, 0]])
    d = np.log1p(paths + paths.T) / rho
    assert d[0, 1] == pytest.approx(1)
    K = ct.kernels.density_kernel(X, rho=rho, sigma=1.3, kept=1.0)
    np.testing.assert_allclose(K, np.exp(-(d**2) / (2 * 1.3**2)), atol=1e-6)
    K = ct.kernels.density_kernel(X, rho=rho, kept=1.0)
    np.testing.assert_allclose(np.diag(K)[:, None] + np.diag(K) - 2 * K, d**2, atol=1e-6)


def test_a_tsvm_on_the_representation(two_moons):
    X, truth, y = two_moons
    plain = ct.TransductiveSVC(sigma=0.6, balance="labeled").fit(X, y)
    errors = {"RBF": np.mean(plain.transduction_ != truth)}
    kernels = {
        "density": ct.kernels.density_kernel(X),
        "step": ct.kernels.cluster_kernel(ct.RBF(0.1)(X, X), n_components=8),
    }
    for name, K in kernels.items():
        clf = ct.TransductiveSVC(kernel="precomputed", balance="labeled").fit(K, y)
        errors[name] = np.mean(clf.transduction_ != truth)
    assert errors["density"] < 0.05
    assert min(errors["density"], errors["step"]) <= errors["RBF"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (ct.kernels.cluster_kernel, "K has shape"),
        (lambda X: ct.kernels.cluster_kernel(-np.eye(4)), "similarities must be >= 0"),
        (lambda X: ct.kernels.cluster_kernel(np.eye(4), transfer="sigmoid"), "transfer='sigmoid'"),
        (lambda X: ct.kernels.cluster_kernel(np.eye(4), n_components=5), "n_components=5"),
        (lambda X: ct.kernels.bagged_cluster_kernel(X, n_clusters=1000), "n_clusters=1000"),
        (lambda X: ct.kernels.bagged_cluster_kernel(X, np.eye(3), n_clusters=2), "K has shape"),
        (lambda X: ct.kernels.density_kernel(X, rho=0), "rho=0"),
        (lambda X: ct.kernels.density_kernel(X, kept=0), "kept=0"),
        (lambda X: ct.kernels.density_kernel(X, sigma=-1), "sigma=-1"),
        (lambda X: ct.kernels.density_kernel(X, n_neighbors=0), "n_neighbors=0"),
    ],
)
def test_bad_arguments_are_named(two_moons, make, message):
    with pytest.raises(ValueError, match=message):
        make(two_moons[0])
