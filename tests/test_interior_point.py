"""The interior-point method for sparse semidefinite programs, against other solvers and dense formulas."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convex_tsvm.solvers.sdp import solve_sdp
from convex_tsvm.solvers.sdp.interior_point import InteriorPoint
from convex_tsvm.solvers.sdp.sparse_matrices import SparseMatrices


def program(seed, n=7, n_equal=2, n_above=8):
    """A program with a primal point inside, and C positive definite."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    inside = root @ root.T / n + 0.1 * np.eye(n)
    parts = []
    for equal, count in ((True, n_equal), (False, n_above)):
        pairs = [rng.integers(0, n, size=(2, count)) for _ in range(3)]
        rows = SparseMatrices.make([(i, j, rng.normal(size=count)) for i, j in pairs], np.zeros(count), equal)
        room = 0.0 if equal else rng.random(count)
        parts.append(SparseMatrices(rows.k, rows.i, rows.j, rows.f, rows.values(inside) - room, rows.equal))
    noise = 0.05 * rng.normal(size=(n, n))
    return np.eye(n) + noise + noise.T, SparseMatrices.stack(parts)


def dense(rows, n):
    """Every B_k."""
    return np.array([rows.combine(unit, n) for unit in np.eye(rows.m)])


@settings(max_examples=settings().max_examples * 2 // 5)
@given(st.integers(0, 2**20))
def test_value_is_that_of_cvxpy(seed):
    C, rows = program(seed)
    n = len(C)
    X = cp.Variable((n, n), PSD=True)
    slack = cp.hstack([cp.trace(B @ X) for B in dense(rows, n)]) - rows.b
    form = cp.Problem(cp.Minimize(cp.trace(C @ X)), [slack[rows.equal] == 0, slack[~rows.equal] >= 0])
    value = form.solve(solver="CLARABEL")
    found = solve_sdp(C, rows, solver="native", tol=1e-7)
    assert found.status == "optimal"
    assert found.value == pytest.approx(value, rel=1e-5, abs=1e-6)
    assert (found.z[~rows.equal] > 0).all()
    assert np.linalg.eigvalsh(C - rows.combine(found.z, n))[0] > -1e-9
    assert np.linalg.eigvalsh(found.X)[0] > -1e-9
    lacking = rows.b - rows.values(found.X)
    assert np.abs(lacking[rows.equal]).max(initial=0) < 1e-3
    assert lacking[~rows.equal].max(initial=0) < 1e-3


@given(st.integers(0, 2**20))
def test_normal_equations_are_the_dense_formula(seed):
    rng = np.random.default_rng(seed)
    C, rows = program(seed, n_above=5)
    n = len(C)
    roots = rng.normal(size=(2, n, n))
    X, Y = roots @ roots.transpose(0, 2, 1) + np.eye(n)
    B = dense(rows, n)
    M = np.einsum("kab,bc,lcd,da->kl", B, X, B, Y)
    rhs = rng.normal(size=rows.m)
    solve = InteriorPoint(C, rows)._normal_equations(X, Y, np.ones(rows.m))
    np.testing.assert_allclose((M + np.eye(rows.m)) @ solve(rhs), rhs, rtol=1e-6, atol=1e-7)


def test_enough_ends_it_at_a_point_that_bounds():
    C, rows = program(0)
    best = solve_sdp(C, rows, solver="native", tol=1e-7).value
    enough = best - 0.2 * abs(best)
    found = solve_sdp(C, rows, solver="native", tol=1e-7, enough=enough)
    assert enough <= found.value < best - 1e-3 * abs(best)
    assert np.linalg.eigvalsh(C - rows.combine(found.z, len(C)))[0] > -1e-9


def test_what_has_no_solution_is_not_called_solved():
    """X_00 >= 1 and X_00 <= 0; and a C that lets the value fall without end."""
    rows = SparseMatrices.make([(np.array([0, 0]), np.array([0, 0]), np.array([1.0, -1.0]))], [1.0, 0.0])
    assert solve_sdp(np.eye(3), rows, solver="native").status != "optimal"
    rows = SparseMatrices.make([(np.array([0]), np.array([0]), 1.0)], [1.0])
    assert solve_sdp(-np.eye(3), rows, solver="native").status == "failed"


def test_another_solver_takes_over(monkeypatch):
    C, rows = program(0)
    best = solve_sdp(C, rows, solver="native", tol=1e-7).value
    monkeypatch.setattr(InteriorPoint, "solve", lambda self, *rest: (np.zeros(self.m), np.eye(self.n), "failed"))
    assert solve_sdp(C, rows, solver="native").status == "failed"
    assert solve_sdp(C, rows, solver="auto").value == pytest.approx(best, rel=1e-3)
