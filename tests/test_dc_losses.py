"""Losses that are convex plus concave, on the smooth primal and with convex parts that are not PLQ; the Huber hinge."""

import numpy as np
import pytest
from scipy.special import expit

import convex_tsvm as ct

K = 2.0
BEND = K * K / 10  # more than the sigmoid's largest curvature, so that what is left is concave


def sigmoid(curvature=True):
    """1 / (1 + exp(2 t)), a loss that no label is trusted beyond, as a parabola less the rest."""

    def slope(t):
        return -K * expit(K * t) * expit(-K * t)

    def bend(t):
        return -K * K * expit(K * t) * expit(-K * t) * (1 - 2 * expit(K * t)) - 2 * BEND

    rest = ct.losses.SmoothConcave(
        lambda t: expit(-K * t) - BEND * t**2, lambda t: slope(t) - 2 * BEND * t, bend if curvature else None
    )
    return ct.losses.DCLoss(ct.losses.PLQ([], [(BEND, 0, 0)]), rest, name="sigmoid")


@pytest.fixture(scope="module")
def problem():
    rng, truth = np.random.default_rng(0), np.resize([1.0, -1.0], 30)
    X = rng.normal(size=(30, 3)) + 0.7 * truth[:, None]
    return ct.Problem(X, np.where(np.arange(30) < 8, truth, 0.0), kernel=ct.RBF(2.0), balance=0.0)


@pytest.mark.parametrize("curvature", [True, False])
def test_slopes_and_curvatures_are_those_of_differences(curvature):
    loss, t, h = sigmoid(curvature), np.linspace(-3, 3, 31), 1e-6
    for one in (loss, loss.reflect()):
        np.testing.assert_allclose(one.derivative(t), (one(t + h) - one(t - h)) / (2 * h), atol=1e-8)
        bend = (one.derivative(t + h) - one.derivative(t - h)) / (2 * h)
        np.testing.assert_allclose(one.curvature(t), bend, atol=1e-5)
    np.testing.assert_allclose(loss(t), expit(-K * t), atol=1e-14)


@pytest.mark.parametrize("curvature", [True, False])
def test_methods_on_the_smooth_primal_take_them(problem, curvature):
    """Gradient, Newton and CCCP end at the same point, which is stationary."""
    model = ct.Formulation(sigmoid(curvature), ct.losses.exponential())
    found = [
        ct.gradient(model, problem, tol=1e-6),
        ct.newton(model, problem, tol=1e-6),
        ct.cccp(model, problem, tol=1e-6),
    ]
    assert [one.status for one in found] == ["converged"] * 3
    assert found[0].objective == pytest.approx(found[1].objective, rel=1e-5)
    assert found[2].objective == pytest.approx(found[1].objective, rel=1e-3)


def test_kinks_of_the_convex_part_are_rounded(problem):
    clipped = ct.losses.DCLoss(
        ct.hinge(), ct.losses.SmoothConcave(lambda t: -0.1 * expit(-t) * 0 - 0.05 * t**2, lambda t: -0.1 * t)
    )
    found = ct.gradient(ct.Formulation(clipped, ct.losses.exponential()), problem)
    assert found.status == "converged"


def test_a_convex_part_that_is_not_plq(problem):
    bounded = ct.losses.DCLoss(
        ct.losses.logistic(),
        ct.losses.SmoothConcave(lambda t: -0.3 * np.logaddexp(0, -t - 1), lambda t: 0.3 * expit(-t - 1)),
        name="clipped logistic",
    )
    model = ct.Formulation(bounded, ct.symmetric_ramp(-0.3))
    solution = ct.cccp(model, problem)
    assert solution.solver == "cvxpy (CLARABEL)"
    objectives = [step.objective for step in solution.history]
    assert all(np.diff(objectives) <= 1e-7)
    assert ct.verify(model, problem).passed
    smooth = ct.gradient(ct.Formulation(bounded, ct.losses.exponential()), problem)
    assert smooth.status == "converged"
    with pytest.raises(ValueError, match="convex='no' must be a convex PLQ function or a ConvexLoss"):
        ct.losses.DCLoss("no", ct.losses.SmoothConcave(lambda t: -(t**2), lambda t: -2 * t))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_dual_of_logistic_losses(problem, kernel):
    model, problem = ct.Formulation(ct.losses.logistic(), ct.symmetric_ramp(-0.3)), problem.replace(kernel=kernel)
    rng = np.random.default_rng(1)
    for _ in range(4):
        at = rng.normal(size=30)
        primal, dual = model.primal(problem, at), model.dual(problem, at)
        assert dual.is_dcp(dpp=True)
        assert dual.solve(solver="CLARABEL") == pytest.approx(primal.solve(solver="CLARABEL"), rel=1e-6)
        step = model.on(problem).step(at)
        points = [ct.modeling.CvxpySolver(problem, form=form).solve(step) for form in ("primal", "dual")]
        assert points[0].primal == pytest.approx(points[1].primal, rel=1e-4)
        assert points[1].gap == pytest.approx(0, abs=1e-4)


def test_huber_hinge_is_the_hinge_with_a_parabola():
    """sindhwani2006 §1.2.4: linear below 1 - width, (1 - t)² / 2 width up to 1, then zero."""
    t, width = np.linspace(-2, 3, 101), 0.4
    expected = np.where(t >= 1, 0, np.where(t <= 1 - width, 1 - t - width / 2, (1 - t) ** 2 / (2 * width)))
    np.testing.assert_allclose(ct.losses.huber_hinge(width)(t), expected, atol=1e-14)
    assert ct.losses.huber_hinge().is_smooth
    with pytest.raises(ValueError, match="width=0 must be a finite number > 0"):
        ct.losses.huber_hinge(0)
