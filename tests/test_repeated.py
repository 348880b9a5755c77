"""Points that are there several times are solved as one, and the solution is that of all."""

import dataclasses
import functools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import random_case

import convex_tsvm as ct
from convex_tsvm.solvers.dual.step_dual import RepeatedPoints


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(RepeatedPoints, "of", functools.partial(RepeatedPoints.of, least=1))


def repeated_case(seed):
    """A random formulation and problem, its points there about three times, each with a label and a cost of its own."""
    formulation, problem, rng = random_case(seed)
    n = 3 * problem.n
    which = rng.integers(problem.n, size=n)
    X, y = problem.X[which], np.where(rng.random(n) < 0.6, 0.0, rng.choice([-1.0, 1.0], n))
    y[:3] = 1, -1, 0
    if rng.random() < 0.3:
        X = sp.csr_array(X)
    C = np.exp(rng.uniform(-2, 2, n))
    return formulation, problem.replace(X=X, y=y, C=C, C_unlabeled=C, balance_sample=None), rng


def separately(problem, **options):
    """A solver that does not look for points that are there several times."""
    solver = ct.solvers.NativeSolver(problem, **options)
    solver._repeated = None
    return solver


@pytest.mark.parametrize("block", [*range(4), *(pytest.param(k, marks=pytest.mark.slow) for k in range(4, 8))])
@pytest.mark.parametrize("balance_by", ["centring", "x0"])
def test_solutions_are_those_of_all_points(block, balance_by, always):
    merged = 0
    for seed in range(10 * block, 10 * block + 10):
        formulation, problem, rng = repeated_case(seed)
        step = formulation.on(problem).step(rng.normal(0, 1.5, problem.n))
        together = ct.solvers.NativeSolver(problem, tol=1e-7, balance_by=balance_by)
        apart = separately(problem, tol=1e-7, balance_by=balance_by)
        assert apart._repeated is None
        merged += together._repeated.can_merge(step)
        found, expected = together.solve(step), apart.solve(step)
        assert found.status == expected.status == "optimal"
        assert found.primal == pytest.approx(expected.primal, rel=1e-6, abs=1e-6)
        # What is said of all points, from their own multipliers and the kernel alone.
        again = found.recomputed()
        assert again.kkt <= 1e-6
        assert again.gap <= 1e-6
        # From a solution of its own, of all points, or of another step, nothing changes.
        for start in (found, expected, apart.solve(formulation.on(problem).step(np.zeros(problem.n)))):
            assert together.solve(step, start=start).primal == pytest.approx(expected.primal, rel=1e-6, abs=1e-6)
    assert merged >= 5


def test_constraints_and_points_with_several_terms(always):
    """Rows of constraints are added up; annealing's two losses of a point are, too."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 3)), 4, axis=0)
    y = np.where(np.arange(80) < 20, np.resize([1.0, -1.0], 80), 0.0)
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=2.0)
    weights = np.zeros(80)
    weights[20:50] = np.arange(30) % 4
    # The second says nothing: the two points are the same.
    rows = (ct.output_constraint(weights, -3.0, 2.0), ct.must_link(20, 21))
    model = dataclasses.replace(ct.s3vm(), constraints=rows)
    found = ct.solvers.NativeSolver(problem, tol=1e-7).solve(model.on(problem).step(rng.normal(size=80)))
    expected = ct.modeling.CvxpySolver(problem).solve(found.step)
    assert found.primal == pytest.approx(expected.primal, rel=1e-5)
    assert found.recomputed().kkt <= 1e-6
    annealed = ct.annealing(ct.s3vm(), problem)
    assert annealed.status == "converged"


def test_points_are_told_apart_by_their_numbers():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, 2)), 5, axis=0)[rng.permutation(300)]
    y = np.resize([1.0, -1.0, 0.0], 300)
    for points in (X, sp.csr_array(X)):
        problem = ct.Problem(points, y, kernel=ct.RBF(1.0))
        found = RepeatedPoints.of(problem)
        assert found.distinct.n == 60
        np.testing.assert_array_equal(X[found.first][found.which], X)
        np.testing.assert_array_equal(found.distinct.balance_points, found.which[problem.unlabeled])
    few = ct.Problem(np.vstack([X[:1]] * 20 + [rng.normal(size=(280, 2))]), y, kernel=ct.RBF(1.0))
    assert RepeatedPoints.of(few) is None
    assert RepeatedPoints.of(ct.Problem(X @ X.T, y, kernel="precomputed")) is None
    small = ct.Problem(X[:100], y[:100], kernel=ct.RBF(1.0))
    assert RepeatedPoints.of(small) is None


@given(st.integers(0, 10_000), st.integers(2, 6))
@settings(max_examples=25, deadline=None)
def test_the_mean_of_rows_counts_repetitions(seed, most):
    """Centring on distinct points is centring on all."""
    rng = np.random.default_rng(seed)
    members = rng.integers(12, size=12 * most)
    K = ct.RBF(1.0)(X := rng.normal(size=(12, 2)), X)
    for rows in (ct.kernels.GramRows(K), ct.kernels.rows_of(ct.RBF(1.0), X, np.float64)):
        np.testing.assert_allclose(rows.mean(members), K[members].mean(axis=0), atol=1e-12)


def test_a_model_is_found_however_often_points_are_there():
    """Twice as many points at half the cost each are the same problem."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(250, 4))
    y = np.where(np.arange(250) < 60, np.sign(X[:, 0] + 0.3 * rng.normal(size=250)), 0.0)
    once = ct.cccp(ct.s3vm(), ct.Problem(X, y, kernel=ct.RBF(2.0), C=4.0, C_unlabeled=1.0), tol=1e-7)
    twice = ct.Problem(np.tile(X, (2, 1)), np.tile(y, 2), kernel=ct.RBF(2.0), C=2.0, C_unlabeled=0.5)
    found = ct.cccp(ct.s3vm(), twice, tol=1e-7)
    assert found.objective == pytest.approx(once.objective, rel=1e-6)
    np.testing.assert_allclose(found.step.outputs, np.tile(once.step.outputs, 2), atol=1e-4)
