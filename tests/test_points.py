"""Points that are known by products, against the matrices that they are."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import convex_tsvm as ct
from convex_tsvm.points import DensePoints, LinearPoints, SparsePoints, WithConstant, linear_points


@st.composite
def matrices(draw):
    """Points of every kind there is, and the same as an array of 64-bit numbers."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d = draw(st.integers(1, 30)), draw(st.integers(1, 12))
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < draw(st.sampled_from([0.0, 0.3, 1.0])))
    X = X.astype(draw(st.sampled_from([np.float32, np.float64])))
    kind = draw(st.sampled_from(["C", "F", "csr", "long"]))
    if kind in "CF":
        points = linear_points(np.array(X, order=kind))
    else:
        matrix = sp.csr_array(X)
        if kind == "long":
            matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
        points = linear_points(matrix)
    array = X.astype(float)
    if draw(st.booleans()):
        points, array = WithConstant(points, 2.5), np.column_stack([array, np.full(n, 2.5)])
    weights = rng.normal(size=n) * (rng.random(n) < draw(st.sampled_from([0.2, 1.0])))
    return points, array, weights, rng.normal(size=array.shape[1])


@settings(max_examples=60, deadline=None)
@given(matrices())
def test_products_are_those_of_the_matrix(drawn):
    points, X, q, w = drawn
    assert isinstance(points, LinearPoints)
    assert points.shape == X.shape
    close = {"rtol": 1e-6, "atol": 1e-9}
    np.testing.assert_allclose(points.times(w), X @ w, **close)
    np.testing.assert_allclose(points.transposed(q), X.T @ q, **close)
    image, total = points.curved(q, w, 0.7)
    # Sums whose terms have both signs keep the digits that points of 32 bits give the terms.
    terms = np.abs(X).T @ (np.abs(q) * (np.abs(X) @ np.abs(w) + 0.7))
    assert (np.abs(image - X.T @ (q * (X @ w + 0.7))) <= 1e-6 * terms + 1e-9).all()
    largest = float(np.abs(q) @ (np.abs(X) @ np.abs(w) + 0.7))
    assert total == pytest.approx((q * (X @ w + 0.7)).sum(), rel=1e-6, abs=1e-6 * largest + 1e-9)
    np.testing.assert_allclose(points.gram(q), X.T @ (q[:, None] * X), **close)
    np.testing.assert_allclose(points.squares(q), (q[:, None] * X**2).sum(axis=0), **close)
    np.testing.assert_allclose(points.squared_norms(), (X**2).sum(axis=1), **close)
    members = np.arange(0, len(X), 2)
    np.testing.assert_allclose(points.mean(members), X[members].mean(axis=0), **close)
    np.testing.assert_array_equal(dense(points.take(members)), X[members])
    rows = np.concatenate([np.arange(len(X))[part] for part, _ in points.blocks()])
    np.testing.assert_array_equal(rows, np.arange(len(X)))
    np.testing.assert_array_equal(np.vstack([dense(block) for _, block in points.blocks()]), X)


def dense(block):
    return block.toarray().astype(float) if sp.issparse(block) else block.astype(float)


def test_many_entries_are_shared_out_among_threads(monkeypatch):
    monkeypatch.setattr("convex_tsvm.points.memory.THREADED_PRODUCTS", 10)
    monkeypatch.setattr("convex_tsvm.parallel.n_threads", lambda: 3)
    X = sp.random_array((50, 8), density=0.4, rng=np.random.default_rng(0), format="csr")
    points, h, w = linear_points(X), np.linspace(-1, 2, 50), np.arange(8.0)
    assert len(points._parts) == 9
    np.testing.assert_allclose(points.times(w), X @ w)
    np.testing.assert_allclose(points.transposed(h), X.T @ h)
    np.testing.assert_allclose(points.gram(h), (X.T @ sp.diags_array(h) @ X).toarray(), atol=1e-12)


def test_points_of_32_bits_do_not_overflow_where_64_do_not():
    X = np.array([[1e30, 2e30], [3e30, -1e30]], dtype=np.float32)
    h, p = np.array([1e9, 1.0]), np.array([1e12, 0.0])
    wide = X.astype(float)
    np.testing.assert_allclose(linear_points(X).curved(h, p)[0], wide.T @ (h * (wide @ p)), rtol=1e-6)


def test_nothing_is_copied():
    X = np.ones((4, 3), dtype=np.float32)
    assert np.shares_memory(linear_points(X).X, X)
    matrix = sp.csr_matrix(X)
    points = linear_points(matrix)
    assert isinstance(points, SparsePoints)
    for own, given_array in ((points.data, matrix.data), (points.indices, matrix.indices)):
        assert np.shares_memory(own, given_array)
    assert linear_points(points) is points


def test_rows_that_are_not_sorted_are_sorted_in_a_copy():
    matrix = sp.csr_matrix((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    np.testing.assert_array_equal(linear_points(matrix).gram(np.ones(1)), [[4, 0, 8], [0, 0, 0], [8, 0, 16]])
    np.testing.assert_array_equal(matrix.indices, [2, 0, 2])


def test_whole_numbers_become_floating_point():
    assert isinstance(linear_points(np.eye(2, dtype=int)), DensePoints)
    assert linear_points(np.eye(2, dtype=int)).X.dtype == np.float64


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), "2-dimensional"),
        (np.ones((0, 3)), "at least one point"),
        (np.array([[1.0, np.nan]]), "NaN or infinity"),
        (sp.csr_matrix(np.array([[1.0, np.inf]])), "NaN or infinity"),
        (np.array([["a", "b"]]), "array of numbers"),
    ],
)
def test_what_are_no_points_is_said(X, message):
    with pytest.raises(ValueError, match=message):
        linear_points(X)


def test_rows_that_point_outside_are_not_followed():
    matrix = sp.csr_matrix(np.eye(3))
    matrix.indices[1] = 7
    with pytest.raises(ValueError, match="outside of the 3 columns"):
        linear_points(matrix)
    matrix = sp.csr_matrix(np.eye(3))
    matrix.indptr[1] = 3
    with pytest.raises(ValueError, match="ends before it begins"):
        linear_points(matrix)


def test_a_problem_of_such_points_is_linear():
    points = linear_points(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    problem = ct.Problem(points, [1, -1, 0])
    a = np.array([1.0, 2.0, -1.0])
    np.testing.assert_allclose(problem.apply_kernel(a), ct.Problem(points.X, [1, -1, 0]).apply_kernel(a))
    with pytest.raises(ValueError, match="kernel='linear'"):
        ct.Problem(points, [1, -1, 0], kernel="rbf")
