"""Kernels deformed by a graph: the same as a penalty on the outputs."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import convex_tsvm as ct
from convex_tsvm.kernels import DeformedRows, GramRows, graph_laplacian
from convex_tsvm.persistence import FittedModel
from convex_tsvm.problem_checks import check_psd


def points(seed, n=30):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + np.resize([1.0, -1.0], n)[:, None]
    y = np.where(np.arange(n) < 6, np.resize([1.0, -1.0], n), 0.0)
    return X, y, rng.normal(size=(7, 2))


@given(seed=st.integers(0, 10**6), strength=st.floats(0, 50))
def test_the_kernel_is_one_and_is_that_of_the_rows(seed, strength):
    X, _, new = points(seed, 12)
    base = ct.RBF(1.0)
    kernel = ct.kernels.laplacian_kernel(base, X, strength, 3)
    K = kernel(X, X)
    check_psd(np.block([[K, kernel(X, new)], [kernel(new, X), kernel(new, new)]]))
    np.testing.assert_allclose(K, DeformedRows(GramRows(base(X, X)), kernel.laplacian).matrix, atol=1e-8)
    np.testing.assert_allclose(kernel(X.copy(), X.copy()), K, atol=1e-8)
    np.testing.assert_allclose(kernel.diag(new), np.diag(kernel(new, new)), atol=1e-8)
    # What is kept of the points themselves is what is made for a copy of them.
    np.testing.assert_allclose(kernel.diag(kernel.points), kernel.diag(kernel.points.copy()), atol=1e-8)
    np.testing.assert_allclose(kernel(kernel.points, new), kernel(kernel.points.copy(), new), atol=1e-8)
    a = np.random.default_rng(seed).normal(size=12)
    np.testing.assert_allclose(base(new, X) @ kernel.expand(a), kernel(new, X) @ a, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_an_svm_in_it_pays_for_the_graph(seed):
    """½ aᵀ K a + C Σ max(0, 1 - y f) + ½ C_manifold fᵀ L f, written out in the base kernel."""
    X, y, new = points(seed)
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=2.0, C_unlabeled=None)
    deformed = problem.replace(kernel=ct.kernels.laplacian_kernel(problem.kernel, problem.X, 0.7, 4))
    solution = ct.cccp(ct.svm(), deformed, tol=1e-8)
    K, L, known = problem.gram, graph_laplacian(X, 4), problem.labeled
    a, b = cp.Variable(len(X)), cp.Variable()
    f = K @ a
    paid = 2.0 * cp.sum(cp.pos(1 - cp.multiply(y[known], f[known] + b)))
    smooth = cp.quad_form(a, cp.psd_wrap(K)) + 0.7 * cp.quad_form(f, cp.psd_wrap(L))
    value = cp.Problem(cp.Minimize(0.5 * smooth + paid)).solve(solver="CLARABEL")
    assert solution.objective == pytest.approx(value, rel=1e-5)
    model = FittedModel.from_solutions([solution], np.array([0, 1]))
    np.testing.assert_allclose(model.decision_function(new), solution.decision_function(new), atol=1e-8)


def test_without_the_graph_nothing_changes():
    X, _, new = points(0)
    base = ct.RBF(1.0)
    np.testing.assert_allclose(ct.kernels.laplacian_kernel(base, X, 0.0)(new, X), base(new, X), atol=1e-12)
    # A constant is free where the Laplacian is not normalized, and the graph is in one piece.
    L = graph_laplacian(X, 8, normalized=False)
    np.testing.assert_allclose(L @ np.ones(len(X)), 0, atol=1e-12)
    L = graph_laplacian(X, 8)
    np.testing.assert_allclose(graph_laplacian(X, 8, power=3).toarray(), np.linalg.matrix_power(L.toarray(), 3))


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    strength=st.sampled_from([0.0, 1e-3, 1.0, 1e3]),
    normalized=st.booleans(),
    power=st.integers(1, 3),
    base=st.sampled_from([ct.RBF(0.2), ct.RBF(3.0), ct.Linear(), ct.Polynomial(2, 1.0, 1.0)]),
    copies=st.booleans(),
)
def test_rows_one_by_one_are_those_of_the_whole_matrix(seed, strength, normalized, power, base, copies):
    """Also where K has a low rank, points are there twice, or M does not see constants."""
    X, _, new = points(seed)
    X = np.repeat(X[:10], 3, axis=0) if copies else X
    rng = np.random.default_rng(seed)
    M = strength * graph_laplacian(X, 4, normalized=normalized, power=power)
    whole = ct.kernels.DeformedKernel(base, X, M)
    by_row = ct.kernels.DeformedKernel(base, X, M, cache_size=1e-3)
    assert whole.rows.in_memory
    assert not by_row.rows.in_memory
    # Both have rounding errors of sums with the entries of K M, and a row by itself has that of conjugate gradients.
    rounding = 1e-10 * (1 + float(abs(M).sum(axis=1).max())) * len(X)
    allowed = (rounding + by_row.rows.error) * np.abs(base(X, X)).max()
    some, a = rng.permutation(30)[:7], rng.normal(size=30)
    np.testing.assert_allclose(by_row.rows.rows(some), whole.rows.rows(some), atol=allowed)
    np.testing.assert_allclose(by_row.rows.combine(np.arange(30), a), whole.rows.matrix @ a, atol=30 * allowed)
    np.testing.assert_allclose(by_row(new, X), whole(new, X), atol=allowed)
    np.testing.assert_allclose(by_row.diag(new), whole.diag(new), atol=allowed)
    np.testing.assert_allclose(by_row.diag(X), whole.diag(X), atol=allowed)
    c = by_row.expand(a)
    np.testing.assert_allclose(base(X, X) @ c, whole.rows.matrix @ a, atol=30 * allowed)


def test_rows_that_are_expected_are_computed_together_and_once(monkeypatch):
    X, _, _ = points(3)
    kernel = ct.kernels.laplacian_kernel(ct.RBF(1.0), X, 1.0, 4, cache_size=1e-3)
    source = type(kernel.rows.source)
    passes, shares, times = [], [], source.times
    monkeypatch.setattr(source, "times", lambda self, v: passes.append(v.shape) or times(self, v))
    kernel.prepare(np.array([4, 9]), shares.append)
    assert passes[0] == (30, 2)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    done = len(passes)
    kernel.rows.rows(np.array([9, 4, 9]))
    kernel.rows.combine(np.array([4, 9]), np.ones(2))
    assert len(passes) == done
    kernel.rows.rows(np.array([5]))
    assert len(passes) > done
    assert passes[-1] == (30, 1)
    # More than a tenth of the rows: all of them.
    assert kernel.rows_for(np.arange(4)).in_memory
    done = len(passes)
    whole = ct.kernels.DeformedKernel(kernel.base, X, kernel.laplacian)
    np.testing.assert_allclose(kernel.rows.rows(np.array([7]))[0], whole(X, X)[7])
    assert len(passes) == done


def test_the_laplacian_svm_is_the_same_with_little_memory():
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0], 600)
    X = rng.normal(size=(600, 3)) + signs[:, None]
    y = np.where(np.arange(600) < 20, (signs > 0).astype(int), -1)
    small, large = (ct.LaplacianSVC(cache_size=size, tol=1e-5).fit(X, y) for size in (1, 200))
    np.testing.assert_allclose(small.transduction_scores_, large.transduction_scores_, atol=1e-4)
    np.testing.assert_allclose(small.decision_function(X[:9] + 0.1), large.decision_function(X[:9] + 0.1), atol=1e-4)
    assert small.objective_ == pytest.approx(large.objective_, rel=1e-6)
    # The expansion in the base kernel is the function itself.
    np.testing.assert_allclose(small.decision_function(X), small.transduction_scores_, atol=1e-6)


def test_sparse_points_and_another_formulation():
    X, y, new = points(1)
    sparse = ct.Problem(sp.csr_matrix(X), y, kernel=ct.Linear(), C=2.0)
    dense = ct.Problem(X, y, kernel=ct.Linear(), C=2.0)
    found = []
    for problem in (sparse, dense):
        kernel = ct.kernels.laplacian_kernel(problem.kernel, problem.X, 0.5, 4)
        found.append(ct.cccp(ct.cccp_tsvm(), problem.replace(kernel=kernel), tol=1e-6))
    np.testing.assert_allclose(found[0].scores, found[1].scores, atol=1e-4)
    np.testing.assert_allclose(
        found[0].decision_function(sp.csr_matrix(new)), found[1].decision_function(new), atol=1e-4
    )


def test_any_method_on_a_power_of_the_laplacian(moons):
    """chapelle2008 Table 15 has the fifth power: the estimator's kernel is the one that is made by hand."""
    X, _, y = moons
    labels = np.where(y == 0, -1, (y > 0).astype(int))
    given = dict(C=10, C_unlabeled=5.0, balance=0.0, tol=1e-6)
    found = ct.TransductiveSVC(sigma=0.5, C_manifold=2.0, power=5, **given).fit(X, labels)
    kernel = ct.kernels.laplacian_kernel(ct.RBF(0.5), X, 2.0, 6, power=5)
    by_hand = ct.TransductiveSVC(kernel="precomputed", **given).fit(kernel(X, X), labels)
    np.testing.assert_allclose(found.transduction_scores_, by_hand.transduction_scores_, atol=1e-4)
    first = ct.TransductiveSVC(sigma=0.5, C_manifold=2.0, **given).fit(X, labels)
    assert np.abs(found.transduction_scores_ - first.transduction_scores_).max() > 1e-2


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda X: ct.kernels.laplacian_kernel(ct.RBF(1.0), X, -1), "C_manifold=-1"),
        (lambda X: ct.kernels.laplacian_kernel(ct.RBF(1.0), X, 1, 0), "n_neighbors=0"),
        (lambda X: ct.kernels.laplacian_kernel(ct.RBF(1.0), X, 1, power=0), "power=0"),
        (
            lambda X: ct.kernels.laplacian_kernel(ct.Precomputed(), X @ X.T, 1),
            "kernel='precomputed' cannot be deformed",
        ),
        (lambda X: ct.kernels.DeformedKernel(ct.RBF(1.0), X, np.eye(3)), r"laplacian has shape \(3, 3\)"),
        (lambda X: ct.kernels.DeformedKernel(ct.RBF(1.0), X, np.triu(np.ones((30, 30)))), "not symmetric"),
        (lambda X: ct.kernels.laplacian_kernel(ct.RBF(1.0), X, 1).to_dict(), "is not saved"),
    ],
)
def test_bad_arguments_are_named(make, said):
    with pytest.raises(ValueError, match=said):
        make(points(0)[0])
