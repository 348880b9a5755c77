"""The smooth primal: slopes against finite differences, its minimum against the dual solver."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

import convex_tsvm as ct
from convex_tsvm.instance import SmoothPrimal

SMOOTH = {
    "supervised": lambda balance: ct.svm(ct.squared_hinge(), balance=balance),
    "flat": lambda balance: ct.s3vm(ct.losses.flat_newton(), balance=balance),
    "logistic": lambda balance: ct.Formulation(ct.losses.logistic(), ct.losses.flat_newton(), balance=balance),
}


def primal(name, kernel, balance, sparse=False):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 4)) + 1.0
    y = np.where(np.arange(30) < 8, np.resize([1.0, -1.0], 30), 0.0)
    problem = ct.Problem(sp.csr_matrix(X) if sparse else X, y, kernel=kernel, C=3.0, balance=balance and 0.2)
    return SmoothPrimal(ct.Instance(SMOOTH[name](balance), problem)), rng


@pytest.mark.parametrize("balance", ["linear", None])
@pytest.mark.parametrize("kernel", ["linear", ct.RBF(1.5)])
@pytest.mark.parametrize("name", SMOOTH)
def test_slopes_are_finite_differences(name, kernel, balance):
    smooth, rng = primal(name, kernel, balance)
    for _ in range(3):
        x, d = rng.normal(0, 0.3, smooth.n_variables), rng.standard_normal(smooth.n_variables)
        step = 1e-6
        slope = (smooth.value(x + step * d) - smooth.value(x - step * d)) / (2 * step)
        assert smooth.gradient(x) @ d == pytest.approx(slope, rel=1e-5, abs=1e-6)
        bend = (smooth.gradient(x + step * d) - smooth.gradient(x - step * d)) / (2 * step)
        np.testing.assert_allclose(smooth.hessian_product(x, d), bend, rtol=1e-4, atol=1e-4)
        if balance:
            assert smooth.outputs(x)[smooth.instance.members].mean() == pytest.approx(0.2)


@pytest.mark.parametrize("balance", ["linear", None])
@pytest.mark.parametrize("kernel", ["linear", ct.RBF(1.5)])
def test_its_minimum_is_the_dual_solvers(kernel, balance):
    for sparse in (False, True):
        smooth, _ = primal("supervised", kernel, balance, sparse)
        found = scipy.optimize.minimize(
            smooth.value, np.zeros(smooth.n_variables), jac=smooth.gradient, hessp=smooth.hessian_product,
            method="trust-ncg", options={"gtol": 1e-8},
        )  # fmt: skip
        instance = smooth.instance
        native = ct.solvers.NativeSolver(instance.problem, tol=1e-9).solve(instance.step())
        assert found.fun == pytest.approx(native.primal, rel=1e-8)
        np.testing.assert_allclose(smooth.outputs(found.x), native.outputs, atol=1e-4)


def test_the_objective_is_the_formulations():
    smooth, rng = primal("flat", "linear", "linear")
    x = rng.standard_normal(smooth.n_variables)
    f = smooth.outputs(x)
    assert smooth.value(x) == pytest.approx(smooth.instance.objective(f, 0.5 * x @ x))


def test_what_has_no_smooth_primal():
    problem = ct.Problem(np.eye(4), [1, -1, 0, 0])
    for formulation, message in (
        (ct.Formulation(ct.hinge(), ct.losses.better_label(ct.losses.indicator(1, np.inf))), "has no slope"),
        (ct.Formulation(ct.hinge(), ct.symmetric_hinge() + ct.losses.indicator(-2, 2)), "has no slope"),
        (ct.Formulation(ct.squared_hinge(), constraints=ct.must_link(0, 1)), "no constraints but"),
        (ct.svm(ct.squared_hinge(), balance="linear", fit_intercept=False), "no bias to fix"),
    ):
        with pytest.raises(ValueError, match=message):
            SmoothPrimal(ct.Instance(formulation, problem))
    with pytest.raises(ValueError, match="takes a linear balance"):
        SmoothPrimal(ct.Instance(ct.s3vm(ct.losses.flat_newton()), problem.replace(balance=("exact", 0.5))))
