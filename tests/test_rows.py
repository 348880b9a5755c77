"""Sources of kernel rows compose, and say the same as the whole matrix."""

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.kernels import CachedRows, CentredRows, GramRows, KernelRows, RowsWithMean, full_matrix, within_budget

RNG = np.random.default_rng(0)
POINTS, MEMBERS = RNG.standard_normal((12, 3)), np.array([2, 3, 5, 7, 11])
KERNEL = ct.RBF(1.5)
K = KERNEL(POINTS, POINTS)


def centred():
    """chapelle2008 eq. 13, term by term."""
    mean = K[:, MEMBERS].mean(axis=1)
    return K - mean[:, None] - mean[None, :] + K[np.ix_(MEMBERS, MEMBERS)].mean()


def with_mean():
    """Inner products of the points and of their members' mean, from coefficients."""
    coefficients = np.vstack([np.eye(12), np.isin(np.arange(12), MEMBERS) / len(MEMBERS)])
    return coefficients @ K @ coefficients.T


@pytest.mark.parametrize("base", [GramRows(K), KernelRows(KERNEL, POINTS)], ids=["gram", "kernel"])
@pytest.mark.parametrize(
    ("wrap", "matrix"),
    [
        (lambda base: base, K),
        (lambda base: CentredRows(base, MEMBERS), centred()),
        (lambda base: RowsWithMean(base, MEMBERS), with_mean()),
        (lambda base: CachedRows(CentredRows(base, MEMBERS), 3 * 8 * 12), centred()),
    ],
    ids=["plain", "centred", "x0", "cached"],
)
def test_rows_and_diagonal(base, wrap, matrix):
    source = wrap(base)
    assert source.n == len(matrix)
    np.testing.assert_allclose(source.diag(), np.diag(matrix), atol=1e-12)
    for indices in ([0], [3, 1, 3], [len(matrix) - 1, 0], np.arange(len(matrix))):
        np.testing.assert_allclose(source.rows(np.array(indices)), matrix[indices], atol=1e-12)
    np.testing.assert_allclose(full_matrix(source), matrix, atol=1e-12)


def test_cache_computes_a_row_once_and_stays_in_its_budget():
    class Counting(GramRows):
        computed = 0

        def rows(self, indices):
            self.computed += len(indices)
            return super().rows(indices)

    source = Counting(K)
    cache = CachedRows(source, 4 * 8 * 12)
    cache.rows(np.array([1, 2, 3]))
    cache.rows(np.array([3, 2, 1, 1]))
    assert source.computed == 3
    cache.rows(np.arange(12))
    assert len(cache._store) == 4
    cache.rows(np.array([11]))
    assert source.computed == 12


def test_budget_decides_what_is_kept():
    source = KernelRows(KERNEL, POINTS)
    assert isinstance(within_budget(source, 8 * 144), GramRows)
    assert isinstance(within_budget(source, 8 * 144 - 1), CachedRows)
