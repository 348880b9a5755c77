"""Formulations as smooth CVXPY problems, an oracle for the methods on the smooth primal (needs CVXPY 1.9 and Uno)."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.special import expit

import convex_tsvm as ct

needs_uno = pytest.mark.skipif("UNO" not in cp.installed_solvers(), reason="needs CVXPY 1.9 and unopy")


def random_case(seed):
    rng, n = np.random.default_rng(seed), 30
    truth = np.resize([1.0, -1.0], n)
    X = rng.normal(size=(n, 3)) + 0.7 * truth[:, None]
    kernel, balance = ["linear", ct.RBF(2.0)][seed % 2], [None, 0.1][(seed // 2) % 2]
    y = np.where(np.arange(n) < 8, truth, 0.0)
    problem = ct.Problem(X, y, kernel=kernel, balance=balance, C=2.0, C_unlabeled=1.0)
    return ct.tsvm("exp", balance=balance and "linear"), problem, rng


def solved(problem):
    """The value, w, b and f of a smooth problem."""
    value = problem.solve(nlp=True, solver="UNO", logger="SILENT")
    assert problem.status == "optimal"
    found = {one.name(): one.value for one in problem.variables()}
    return value, found["w"], found["f"]


@needs_uno
@pytest.mark.parametrize("seed", [0, 1, 2, 3, *(pytest.param(k, marks=pytest.mark.slow) for k in range(4, 20))])
def test_it_is_no_lower_than_the_methods_on_the_smooth_primal(seed):
    """From the same start the best of ours is as low; from the points where ours end it finds nothing lower."""
    model, problem, rng = random_case(seed)
    start = rng.normal(size=problem.n)
    value, w, f = solved(model.smooth(problem, start))
    assert value == pytest.approx(model.objective(problem, f, 0.5 * float(w @ w)), rel=1e-8)
    ours = [method(model, problem, start=start, tol=1e-8) for method in (ct.gradient, ct.newton, ct.continuation)]
    assert min(one.objective for one in ours) <= value + 1e-6
    for one in ours:
        if one.status == "converged":
            again, _, _ = solved(model.smooth(problem, one.scores))
            assert again >= one.objective - 1e-6


@needs_uno
def test_constraints_groups_and_additions_that_are_not_convex():
    _, problem, rng = random_case(0)
    far = ct.formulations.addition(
        lambda w, b, f: (-0.2 * cp.sum_squares(w), [cp.square(w[0]) + cp.square(w[1]) == 1]), name="circle"
    )
    tied = ct.Formulation(
        ct.squared_hinge(),
        ct.losses.exponential(),
        balance=None,
        constraints=[ct.must_link(10, 11, within=0.2)],
        groups=[ct.PointGroup([28, 29], ct.losses.epsilon_insensitive(0.1), 2.0, "universum")],
        additions=[far],
    )
    smooth = tied.smooth(problem, rng.normal(size=problem.n))
    _, w, f = solved(smooth)
    assert w[0] ** 2 + w[1] ** 2 == pytest.approx(1, abs=1e-5)
    assert abs(f[10] - f[11]) <= 0.2 + 1e-5
    with pytest.raises(ValueError, match="addition 'circle' is not convex"):
        ct.cccp(tied, problem)


@needs_uno
def test_a_loss_of_ones_own():
    """A sigmoid as a parabola and the rest, with its CVXPY expression."""
    rest = ct.losses.SmoothConcave(
        lambda t: expit(-2 * t) - 0.4 * t**2,
        lambda t: -2 * expit(2 * t) * expit(-2 * t) - 0.8 * t,
        expression=lambda cvxpy, t: cvxpy.inv_pos(1 + cvxpy.exp(2 * t)) - 0.4 * cvxpy.square(t),
    )
    sigmoid = ct.losses.DCLoss(ct.losses.PLQ([], [(0.4, 0, 0)]), rest, name="sigmoid")
    _, problem, rng = random_case(1)
    model = ct.Formulation(sigmoid, ct.losses.exponential(), balance=None)
    problem = problem.replace(balance=None)
    ours = ct.gradient(model, problem, start=rng.normal(size=problem.n), tol=1e-6)
    value, w, f = solved(model.smooth(problem, ours.scores))
    assert value == pytest.approx(ours.objective, rel=1e-5)
    assert value == pytest.approx(model.objective(problem, f, 0.5 * float(w @ w)), rel=1e-7)


def test_it_prints_and_says_what_it_does_not_take():
    model, problem, _ = random_case(2)
    text = str(model.smooth(problem))
    assert "C[unlabeled]ᵀ exp(-5 f[unlabeled]²)" in text
    assert r"\operatorname{exp}" in model.smooth(problem).latex()
    with pytest.raises(ValueError, match=r"symmetric_ramp.* is neither convex nor smooth"):
        ct.cccp_tsvm(balance=None).smooth(problem)
    bare = ct.losses.DCLoss(ct.hinge(), ct.losses.SmoothConcave(lambda t: -(t**2), lambda t: -2 * t), name="bare")
    with pytest.raises(ValueError, match="bare: its concave part has no CVXPY expression"):
        ct.Formulation(ct.hinge(), bare, balance=None).smooth(problem)
