"""The variables of a descent: the change and its inverse, what it makes of the Hessian, and 32-bit products."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import convex_tsvm as ct
from convex_tsvm.instance import SmoothPrimal
from convex_tsvm.points import DensePoints, SinglePoints
from convex_tsvm.solvers import smooth
from convex_tsvm.solvers.smooth import Preconditioner


def primal(seed, kernel="rbf", balance="labeled", n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1, 2, 5, 0.1]
    y = np.zeros(n)
    y[:10] = np.resize([1.0, -1.0], 10)
    if kernel == "sparse":
        X, kernel = sp.csr_matrix(X), "linear"
    problem = ct.Problem(X, y, kernel=ct.RBF(2.0) if kernel == "rbf" else kernel, C=10, balance=balance)
    formulation = ct.Formulation(
        ct.squared_hinge(), ct.losses.exponential(3), balance=None if balance is None else "linear"
    )
    return SmoothPrimal(ct.Instance(formulation, problem))


CASES = [(kernel, balance) for kernel in ("rbf", "linear", "sparse") for balance in ("labeled", None)]


@pytest.mark.parametrize(("kernel", "balance"), CASES)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_change_of_variables_is_linear_and_has_its_inverse_and_transpose(kernel, balance, seed):
    function, rng = primal(seed, kernel, balance), np.random.default_rng(seed)
    x, u = rng.normal(size=(2, function.n_variables))
    near = Preconditioner(function, x)
    np.testing.assert_allclose(near.scaled(near.variables(u)), u, rtol=1e-7, atol=1e-7)
    assert near.gradient(x) @ u == pytest.approx(x @ near.variables(u), rel=1e-7, abs=1e-9)
    # In the new variables the gradient is that of the function of u, by finite differences.
    step, direction = 1e-6, rng.normal(size=len(u))
    values = [function.value(near.variables(u + k * step * direction)) for k in (-1, 1)]
    slope = near.gradient(function.gradient(near.variables(u))) @ direction
    assert slope == pytest.approx((values[1] - values[0]) / (2 * step), rel=1e-4, abs=1e-3)


@pytest.mark.parametrize(("kernel", "balance"), CASES)
def test_the_hessian_of_the_supervised_svm_is_nearly_the_identity(kernel, balance, monkeypatch):
    # With all curved points taken exactly, T turns a Hessian without concave parts into the identity.
    monkeypatch.setattr("convex_tsvm.solvers.smooth.Preconditioner.share", 1.0)
    function = primal(0, kernel, balance).at(scale=0.0)
    near, n = Preconditioner(function, np.zeros(function.n_variables)), function.n_variables
    hessian = np.array(
        [near.gradient(function.hessian_product(np.zeros(n), near.variables(e))) for e in np.eye(n)]
    )  # fmt: skip
    values = np.linalg.eigvalsh((hessian + hessian.T) / 2)
    # Without a ridge the bias is only scaled by what all curvatures together say.
    assert values.max() <= 1 + 1e-8
    assert balance is None or values.min() >= 1 - 1e-8


def test_descents_take_fewer_steps_than_in_w(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.zeros(300)
    y[:20] = np.sign(X[:20, 0])
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=100)
    steps = {}
    for name in ("Preconditioner", "Identity"):
        if name == "Identity":
            monkeypatch.setattr(smooth, "Preconditioner", lambda primal, x: smooth.Identity())
        steps[name] = sum(step.n_inner for step in ct.gradient(ct.tsvm("exp"), problem).history)
    assert steps["Preconditioner"] < 0.6 * steps["Identity"]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([1e-30, 1.0, 1e30]))
def test_products_of_32_bits_are_those_of_64_to_six_digits(seed, scale):
    rng = np.random.default_rng(seed)
    X, w, q = rng.normal(size=(50, 7)), scale * rng.normal(size=7), scale * rng.normal(size=50)
    exact, single = DensePoints(X), SinglePoints(X)
    np.testing.assert_allclose(single.times(w), exact.times(w), rtol=0, atol=1e-5 * scale)
    np.testing.assert_allclose(single.transposed(q), exact.transposed(q), rtol=0, atol=1e-4 * scale)
    assert not single.times(np.zeros(7)).any()


def test_a_descent_with_32_bits_ends_where_64_bits_say_it_may(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), np.zeros(200)
    y[:20] = np.sign(X[:20, 0])
    problem = ct.Problem(X, y, kernel=ct.RBF(2.0), C=10)
    expected = ct.gradient(ct.tsvm("exp"), problem, tol=1e-4)
    made = []
    monkeypatch.setattr(smooth.SmoothSolver, "many_entries", 1)
    monkeypatch.setattr(smooth, "SinglePoints", lambda X: made.append(1) or SinglePoints(X))
    found = ct.gradient(ct.tsvm("exp"), problem, tol=1e-4)
    assert made
    assert found.status == "converged"
    assert found.objective == pytest.approx(expected.objective, rel=1e-3)
    assert found.certificate().gap <= 1e-4
    # A goal that 32 bits cannot reach is reached all the same.
    made.clear()
    fine = ct.gradient(ct.tsvm("exp"), problem, tol=1e-8)
    assert not made
    assert fine.certificate().gap <= 1e-8
