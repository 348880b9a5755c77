"""Every source of kernel rows against the matrix that its rows are of, and kernels against their formulas."""

import numpy as np
import pytest
import scipy.sparse as sp

import convex_tsvm as ct
from convex_tsvm.kernels import CentredRows, GramRows, KernelRows, LinearRows, RowsWithSums
from convex_tsvm.kernels.distances import squared_distances
from convex_tsvm.kernels.functions import make_kernel
from convex_tsvm.kernels.products import ProductRows, Tiles

N = 30
X = np.random.default_rng(0).normal(size=(N, 3)) + 0.5
#: Points whose mean is the origin; one of them counts twice.
MEMBERS = np.array([3, 7, 8, 11, 11, 20])
#: Sums of points: a mean, and a difference.
SUMS = np.vstack([np.full(N, 1 / N), np.eye(N)[2] - np.eye(N)[9]])

RBF, POLY = ct.RBF(0.8), ct.Polynomial(3, 0.4, 1.5)


def rbf(left, right):
    return np.exp(-((left[:, None] - right) ** 2).sum(axis=2) / (2 * 0.8**2))


def poly(left, right):
    return (0.4 * left @ right.T + 1.5) ** 3


def centred(K):
    share = np.bincount(MEMBERS, minlength=N) / len(MEMBERS)
    away = np.eye(N) - np.outer(np.ones(N), share)
    return away @ K @ away.T


def with_sums(K):
    whole = np.vstack([np.eye(N), SUMS])
    return whole @ K @ whole.T


#: A source, and its matrix.
SOURCES = {
    "matrix": lambda: (GramRows(rbf(X, X)), rbf(X, X)),
    "kernel": lambda: (KernelRows(RBF, X), rbf(X, X)),
    "polynomial": lambda: (KernelRows(POLY, X), poly(X, X)),
    "linear": lambda: (LinearRows(X), X @ X.T),
    "linear, sparse": lambda: (LinearRows(sp.csr_matrix(X)), X @ X.T),
    "products": lambda: (ProductRows(RBF, X), rbf(X, X)),
    "products, polynomial": lambda: (ProductRows(POLY, X), poly(X, X)),
    "products, sparse": lambda: (ProductRows(RBF, sp.csr_matrix(X)), rbf(X, X)),
    "products, sparse polynomial": lambda: (ProductRows(POLY, sp.csr_matrix(X)), poly(X, X)),
    "centred matrix": lambda: (CentredRows(GramRows(rbf(X, X)), MEMBERS), centred(rbf(X, X))),
    "centred products": lambda: (CentredRows(ProductRows(RBF, X), MEMBERS), centred(rbf(X, X))),
    "centred linear": lambda: (CentredRows(LinearRows(X), MEMBERS), centred(X @ X.T)),
    "sums": lambda: (RowsWithSums(KernelRows(RBF, X), SUMS), with_sums(rbf(X, X))),
    "sums, centred": lambda: (
        RowsWithSums(CentredRows(GramRows(poly(X, X)), MEMBERS), SUMS),
        with_sums(centred(poly(X, X))),
    ),
}


@pytest.fixture
def small_tiles(monkeypatch):
    """Passes over pairs of points in tiles of a few rows, so that thirty points take several."""
    monkeypatch.setattr(ProductRows, "tiles", Tiles(rows=4, panel=8, summed=3, sparse=5))
    monkeypatch.setattr("convex_tsvm.kernels.rows.RowSource.bytes_at_once", 8 * N * 4)


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_gives_the_rows_of_its_matrix(name, small_tiles):
    source, matrix = SOURCES[name]()
    rng, n = np.random.default_rng(1), len(matrix)
    some, others = rng.permutation(n)[:9], rng.permutation(n)[:5]
    vectors, room = rng.normal(size=(n, 2)), 1e-11 * np.abs(matrix).max()
    assert source.n == n
    np.testing.assert_allclose(source.diag(), np.diag(matrix), atol=room)
    np.testing.assert_allclose(source.rows(some), matrix[some], atol=room)
    np.testing.assert_allclose(source.block(some, others), matrix[np.ix_(some, others)], atol=room)
    np.testing.assert_allclose(source.block(some, some), matrix[np.ix_(some, some)], atol=room)
    np.testing.assert_allclose(source.full(), matrix, atol=room)
    np.testing.assert_allclose(source.times(vectors), matrix @ vectors, atol=n * room)
    for where in (some, np.arange(n)):
        found = source.combine(where, vectors[where, 0])
        np.testing.assert_allclose(found, vectors[where, 0] @ matrix[where], atol=n * room)
    for members in (some, np.arange(n), np.append(some, some[:2])):
        np.testing.assert_allclose(source.mean(members), matrix[members].mean(axis=0), atol=room)


@pytest.mark.parametrize("points", [X, sp.csr_matrix(X)], ids=["dense", "sparse"])
def test_kernels_have_the_values_of_their_formulas(points):
    Z = points[5:9]
    for kernel, formula in (
        (RBF, rbf),
        (ct.RBF(gamma=1 / (2 * 0.8**2)), rbf),
        (POLY, poly),
        (ct.Linear(), lambda a, b: a @ b.T),
    ):
        np.testing.assert_allclose(kernel(points, Z), formula(X, X[5:9]), rtol=1e-12)
        np.testing.assert_allclose(kernel.diag(points), np.diag(formula(X, X)), rtol=1e-12)


@pytest.mark.parametrize("points", [X, sp.csr_matrix(X)], ids=["dense", "sparse"])
def test_the_gamma_of_scikit_learn(points):
    assert make_kernel("rbf", points, gamma="scale").gamma == pytest.approx(1 / (3 * X.var()))
    assert make_kernel("rbf", points, gamma="auto").gamma == pytest.approx(1 / 3)
    assert make_kernel("poly", points, degree=2).gamma == pytest.approx(1 / (3 * X.var()))


@pytest.mark.parametrize("kind", ["dense", "sparse, few entries", "sparse, many entries"])
@pytest.mark.parametrize("far", [0.0, 1.0, 1e2, 1e3, 1e5, 1e8])
def test_distances_keep_their_digits_however_far_points_are(kind, far):
    """Differences of points are right to the last digit; inner products have lost those of points in one cluster."""
    rng = np.random.default_rng(0)
    n_features = 400 if "many" in kind else 5
    points = rng.normal(size=(12, n_features)) / np.sqrt(n_features) + far * np.resize([1, -1], 12)[:, None]
    points[3] = points[5]
    exact = ((points[:, None] - points) ** 2).sum(axis=2)
    found = squared_distances(*([sp.csr_matrix(points)] * 2 if "sparse" in kind else [points] * 2), 0.25)
    np.testing.assert_allclose(found, 0.25 * exact, rtol=1e-12, atol=1.1e-13)
