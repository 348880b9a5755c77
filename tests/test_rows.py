"""Sources of kernel rows compose, and say the same as the whole matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import convex_tsvm as ct
from convex_tsvm.kernels import (
    CentredRows,
    DeformedRows,
    GramRows,
    KernelRows,
    LinearRows,
    ProductRows,
    RowSource,
    RowsWithSums,
)
from convex_tsvm.solvers import CachedRows

RNG = np.random.default_rng(0)
POINTS, MEMBERS = RNG.standard_normal((12, 3)), np.array([2, 3, 5, 7, 11])
MEAN = np.isin(np.arange(12), MEMBERS)[None] / len(MEMBERS)
KERNEL = ct.RBF(1.5)
K = KERNEL(POINTS, POINTS)
LAPLACIAN = np.diag([1.0] + [2.0] * 10 + [1.0]) - np.eye(12, k=1) - np.eye(12, k=-1)


def centred(K=K):
    """chapelle2008 eq. 13, term by term."""
    mean = K[:, MEMBERS].mean(axis=1)
    return K - mean[:, None] - mean[None, :] + K[np.ix_(MEMBERS, MEMBERS)].mean()


def with_mean(K=K):
    """Inner products of the points and of their members' mean, from coefficients."""
    coefficients = np.vstack([np.eye(12), np.isin(np.arange(12), MEMBERS) / len(MEMBERS)])
    return coefficients @ K @ coefficients.T


def deformed(K=K):
    return np.linalg.inv(np.linalg.inv(K) + LAPLACIAN)


class MinimalRows(RowSource):
    """The three answers that a source must give, and no more."""

    n = 12

    def rows(self, indices):
        return K[indices].copy()

    def diag(self):
        return np.diag(K).copy()


BASES = {
    "gram": GramRows(K),
    "kernel": KernelRows(KERNEL, POINTS),
    "product": ProductRows(KERNEL, POINTS),
    "sparse product": ProductRows(KERNEL, sp.csr_matrix(POINTS)),
    "three methods": MinimalRows(),
}
WRAPS = {
    "plain": (lambda base: base, K),
    "centred": (lambda base: CentredRows(base, MEMBERS), centred()),
    "x0": (lambda base: RowsWithSums(base, MEAN), with_mean()),
    "cached": (lambda base: CachedRows(base, 5 * 8 * 12), K),
    "centred cached": (lambda base: CentredRows(CachedRows(base, 5 * 8 * 12), MEMBERS), centred()),
    "x0 cached": (lambda base: RowsWithSums(CachedRows(base, 1), MEAN), with_mean()),
    "deformed": (lambda base: DeformedRows(base, LAPLACIAN), deformed()),
    "deformed, one by one": (lambda base: DeformedRows(base, LAPLACIAN, 1), deformed()),
    "centred deformed": (
        lambda base: CentredRows(DeformedRows(base, sp.csr_matrix(LAPLACIAN)), MEMBERS),
        centred(deformed()),
    ),
}


def says_the_same(source, matrix, atol=1e-12):
    n = len(matrix)
    assert source.n == n
    vector = np.random.default_rng(1).standard_normal(n)
    np.testing.assert_allclose(source.diag(), np.diag(matrix), atol=atol)
    for indices in (np.array(some, dtype=int) for some in ([0], [3, 1, 3], [n - 1, 0], range(n), [])):
        np.testing.assert_allclose(source.rows(indices), matrix[indices], atol=atol)
        weights = vector[: len(indices)]
        np.testing.assert_allclose(source.combine(indices, weights), weights @ matrix[indices], atol=10 * atol)
        for columns in (np.array([n - 1]), np.arange(n), np.array([4, 2, 4])):
            np.testing.assert_allclose(source.block(indices, columns), matrix[np.ix_(indices, columns)], atol=atol)
    vectors = np.random.default_rng(2).standard_normal((n, 3))
    np.testing.assert_allclose(source.times(vectors), matrix @ vectors, atol=10 * atol)
    np.testing.assert_allclose(source.mean(MEMBERS), matrix[MEMBERS].mean(axis=0), atol=atol)
    np.testing.assert_allclose(source.full(), matrix, atol=atol)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("wrap", WRAPS)
def test_every_answer_of_every_composition(base, wrap):
    make, matrix = WRAPS[wrap]
    says_the_same(make(BASES[base]), matrix, 1e-9 if "deformed" in wrap else 1e-12)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", [ct.RBF(1.5), ct.Polynomial(3, 0.5, 1.0), ct.Polynomial(2, 2.0, 0.0), ct.Linear()])
def test_fast_rows_are_the_kernels_own(kernel, sparse):
    """Against scikit-learn's arithmetic, in both precisions."""
    X = sp.csr_matrix(POINTS * (np.abs(POINTS) > 0.5)) if sparse else POINTS
    expected = kernel(X, X)
    if isinstance(kernel, ct.Linear):
        says_the_same(LinearRows(X), expected)
        return
    says_the_same(ProductRows(kernel, X), expected, 1e-11)
    single = ProductRows(kernel, X, np.float32)
    assert single.rows(np.array([0, 5])).dtype == np.float32
    assert single.full().dtype == np.float32
    says_the_same(single, expected, 2e-6 * np.abs(expected).max())


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 60), tile=st.integers(1, 20), far=st.sampled_from([0.0, 1e3]))
def test_one_pass_for_the_mean_counts_every_pair_once(seed, n, tile, far):
    """Tiles of any size, members in any place; far from the origin too, where single precision alone would fail."""
    from convex_tsvm.kernels import products

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) + far
    members = np.flatnonzero(rng.random(n) < 0.7)
    members = members if len(members) else np.array([0])
    expected = KERNEL(X, X)[members].mean(axis=0)
    before, products.TILE = products.TILE, tile
    try:
        for dtype in (np.float64, np.float32):
            source = ProductRows(KERNEL, X, dtype)
            np.testing.assert_allclose(source.mean(members), expected, atol=1e-5 if dtype == np.float32 else 1e-9)
            np.testing.assert_allclose(source.full(), KERNEL(X, X), atol=1e-5 if dtype == np.float32 else 1e-9)
    finally:
        products.TILE = before


def test_a_linear_space_forms_no_matrix():
    """Ten thousand points: sums of rows go through w."""
    X = np.random.default_rng(0).standard_normal((10_000, 5))
    source = LinearRows(X)
    every = np.arange(10_000)
    source.rows = source.block = None  # whatever asks for rows fails
    np.testing.assert_allclose(source.combine(every, np.ones(10_000)), X @ X.sum(axis=0))
    np.testing.assert_allclose(CentredRows(source, every).combine(every[:3], np.ones(3)).mean(), 0, atol=1e-9)


class CountingRows(GramRows):
    computed = 0

    def rows(self, indices):
        self.computed += len(indices)
        return super().rows(indices)


def test_cache_computes_a_row_once_and_stays_in_its_budget():
    source = CountingRows(K)
    cache = CachedRows(source, 6 * 8 * 12)
    assert cache.capacity == 5
    cache.rows(np.array([1, 2, 3]))
    cache.rows(np.array([3, 2, 1, 1]))
    cache.combine(np.array([1, 2]), np.ones(2))
    assert source.computed == 3
    cache.combine(np.arange(12), np.ones(12))
    assert source.computed == 12
    assert (cache._slot >= 0).sum() == 5
    cache.rows(np.array([1, 2, 3]))
    assert source.computed == 12


def test_the_longest_unused_row_goes_first():
    source = CountingRows(K)
    cache = CachedRows(source, 4 * 8 * 12)
    for i in (0, 1, 2, 0, 3):
        cache.rows(np.array([i]))
    assert source.computed == 4
    cache.rows(np.array([0, 2, 3]))
    assert source.computed == 4
    cache.rows(np.array([1]))
    assert source.computed == 5


def test_cheap_rows_are_kept_when_asked_for_again():
    source = CountingRows(K)
    source.cheap = True
    cache = CachedRows(source, 6 * 8 * 12)
    for expected in (2, 4, 4):
        cache.combine(np.array([4, 7]), np.ones(2))
        assert source.computed == expected


@pytest.mark.parametrize(
    ("matrix", "message"),
    [(np.eye(3), r"laplacian has shape \(3, 3\)"), (np.triu(np.ones((12, 12))), "laplacian is not symmetric")],
)
def test_bad_laplacians_are_named(matrix, message):
    with pytest.raises(ValueError, match=message):
        DeformedRows(GramRows(K), matrix)
