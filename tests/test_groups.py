"""Groups of points with losses of their own: beside problems by hand, in bounds, exact search and estimators."""

import cvxpy as cp
import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.instance import SmoothPrimal


def random_case(seed, balance=None):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(14, 24))
    truth = np.resize([1.0, -1.0], n)
    X = rng.normal(size=(n, 2)) + 0.7 * truth[:, None]
    y = np.where(np.arange(n) < 6, truth, 0.0)
    problem = ct.Problem(X, y, kernel=ct.RBF(1.5), C=2.0, C_unlabeled=float(rng.choice([0.3, 1.0])), balance=balance)
    groups = [
        ct.PointGroup(np.arange(n - 3, n), ct.losses.epsilon_insensitive(0.1), rng.uniform(0.5, 2, 3), "universum"),
        ct.PointGroup([4, 5], ct.ramp(-0.4), 0.7, "doubtful"),  # labelled points, whose labels are trusted less
    ]
    model = ct.Formulation(
        ct.hinge(), ct.symmetric_ramp(-0.3), balance=None if balance is None else "linear", groups=groups
    )
    return model, problem, rng


def losses_by_hand(problem, f):
    """What every point pays without its cost."""
    y, n = problem.y, problem.n
    values = np.where(y == 0, np.minimum(0.7, np.maximum(0, 1 - np.abs(f))), np.maximum(0, 1 - y * f))
    values[n - 3 :] = np.maximum(0, np.abs(f[n - 3 :]) - 0.1)
    values[4:6] = np.minimum(1.4, np.maximum(0, 1 - y[4:6] * f[4:6]))
    return values


@pytest.mark.parametrize("seed", range(8))
def test_objective_and_step_are_those_by_hand(seed):
    model, problem, rng = random_case(seed, [None, 0.1][seed % 2])
    cost, n = model.costs(problem), problem.n
    np.testing.assert_allclose(cost[4:6], 0.7)
    solution = ct.cccp(model, problem, tol=1e-7)
    by_hand = solution.regularization + float(cost @ losses_by_hand(problem, solution.scores))
    assert solution.objective == pytest.approx(by_hand, rel=1e-9)
    assert solution.status == "converged"
    assert solution.solver == "native"
    objectives = [step.objective for step in solution.history]
    assert all(np.diff(objectives) <= 1e-9)
    # The convex step, at random outputs, by CVXPY's own atoms.
    at = rng.normal(size=n)
    step = model.on(problem).step(at)
    K, a, b = problem.gram, cp.Variable(n), cp.Variable()
    f = K @ a + b
    free = np.arange(6, n - 3)
    value = 0.5 * cp.quad_form(a, cp.psd_wrap(K)) + step.point_slope @ f
    value += cost[:4] @ cp.pos(1 - cp.multiply(problem.y[:4], f[:4]))
    value += cost[4:6] @ cp.pos(1 - cp.multiply(problem.y[4:6], f[4:6]))
    value += cost[free] @ (cp.pos(cp.abs(f[free]) - 1) + 0.7)
    value += cost[n - 3 :] @ cp.pos(cp.abs(f[n - 3 :]) - 0.1)
    limits = [] if model.balance is None else [cp.sum(f[free]) == 0.1 * len(free)]
    least = cp.Problem(cp.Minimize(value), limits).solve(solver="CLARABEL")
    for solver in (ct.solvers.NativeSolver(step.problem, tol=1e-8), ct.modeling.CvxpySolver(step.problem)):
        assert solver.solve(step).primal == pytest.approx(least, rel=1e-5, abs=1e-6)
    if model.balance is not None:
        assert solution.scores[free].mean() == pytest.approx(0.1, abs=1e-6)
    assert ct.verify(model, problem).passed


def test_bounds_and_exact_search_know_them():
    model, problem, rng = random_case(3)
    exact = ct.exact_search(model, problem, gap=1e-6)
    assert exact.status == "optimal"
    cost = model.costs(problem)
    by_hand = exact.regularization + float(cost @ losses_by_hand(problem, exact.scores))
    assert exact.objective == pytest.approx(by_hand, rel=1e-8)
    best = min(ct.cccp(model, problem, start=rng.normal(size=problem.n)).objective for _ in range(20))
    assert exact.objective <= best + 1e-6
    bound = ct.LowerBoundBuilder(model, problem).bound()
    assert bound.value <= exact.objective + 1e-9


def test_two_kinds_of_unlabelled_points():
    """A group with the loss of unlabelled points and another cost is the same as points with that cost."""
    _, problem, _ = random_case(0)
    cost = problem.cost.copy()
    cost[10:14] = 0.2
    plain = ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), balance=None)
    grouped = ct.Formulation(
        ct.hinge(),
        ct.symmetric_ramp(-0.3),
        balance=None,
        groups=ct.PointGroup(range(10, 14), ct.symmetric_ramp(-0.3), 0.2),
    )
    one = ct.cccp(plain, problem.replace(C=cost, C_unlabeled=cost), tol=1e-7)
    other = ct.cccp(grouped, problem, tol=1e-7)
    assert one.objective == pytest.approx(other.objective, rel=1e-7)
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-4)


def test_universum_in_an_estimator():
    rng = np.random.default_rng(0)
    truth = np.resize([1, 0], 40)
    X = np.vstack([rng.normal(size=(40, 2)) + 2.0 * truth[:, None] - 1.0, rng.normal(size=(6, 2)) * 0.2 + [0.8, -0.8]])
    y = np.where(np.arange(46) < 8, np.append(truth, [-1] * 6), -1)
    near = [
        np.abs(
            ct.TransductiveSVC(loss=ct.formulations.universum_tsvm(range(40, 46), cost=cost), balance=0.0)
            .fit(X, y)
            .decision_function(X[40:])
        ).max()
        for cost in (1e-3, 10.0)
    ]
    assert near[1] < 0.3
    assert near[0] > near[1]


def test_reports_and_errors():
    model, problem, _ = random_case(1)
    assert "ℓ_universum(t)" in str(model)
    assert r"\text{doubtful}" in model.latex()
    assert "C[universum]" in str(model.primal(problem))
    assert model.dual(problem).solve(solver="CLARABEL") == pytest.approx(
        model.primal(problem).solve(solver="CLARABEL"), rel=1e-5
    )
    tube = ct.losses.epsilon_insensitive(0.1)
    cases = [
        (lambda: ct.PointGroup([], tube, 1.0), "must be a sequence of indices"),
        (lambda: ct.PointGroup([1, 1], tube, 1.0), "must be distinct"),
        (lambda: ct.PointGroup([1], "tube", 1.0), "loss='tube' must be"),
        (lambda: ct.PointGroup([1], tube, 0.0), "cost=0.0 must be a finite number > 0"),
        (lambda: ct.PointGroup([1], tube, [1.0, 2.0]), "cost has 2 entries for 1 points"),
        (lambda: on(ct.PointGroup([99], tube, 1.0)), "contains point 99; the problem has"),
        (lambda: on(ct.PointGroup([7], tube, 1.0), ct.PointGroup([7], tube, 1.0, "two")), "'two' contains point 7"),
        (lambda: ct.Formulation(ct.hinge(), groups=[tube]), "no PointGroup"),
        (lambda: ct.switching(model, problem), "searches for labels know no other points"),
        (
            lambda: ct.exact_search(model, problem.replace(kernel="linear"), branch_on="weights", certificate="c.npz"),
            "files of searches over boxes of weights know",
        ),
    ]

    def on(*groups):
        return ct.cccp(ct.Formulation(ct.hinge(), balance=None, groups=groups), problem)

    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()
    counted = ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), groups=model.groups)
    with pytest.raises(ValueError, match="a number of labels would count points of groups; use a mean output"):
        ct.cccp(counted, problem.replace(balance=("exact", 0.5)))


@pytest.mark.parametrize("method", [ct.gradient, ct.newton, ct.continuation])
def test_methods_on_the_smooth_primal_take_them(method):
    """The objective by hand, and slopes by differences."""
    _, problem, rng = random_case(2)
    n = problem.n
    groups = [
        ct.PointGroup(
            np.arange(n - 3, n), 0.5 * ct.squared_hinge() + 0.5 * ct.squared_hinge().reflect(), 0.8, "near 0"
        ),
        ct.PointGroup([4, 5], ct.losses.flat_newton(), 0.7, "doubtful"),
    ]
    model = ct.Formulation(ct.squared_hinge(), ct.losses.flat_newton(), balance=None, groups=groups)
    solution = method(model, problem, tol=1e-5)
    assert solution.status == "converged"
    f, y = solution.scores, problem.y
    values = np.where(y == 0, ct.losses.flat_newton()(f), np.maximum(0, 1 - y * f) ** 2)
    values[n - 3 :] = 0.5 * np.maximum(0, 1 - f[n - 3 :]) ** 2 + 0.5 * np.maximum(0, 1 + f[n - 3 :]) ** 2
    values[4:6] = ct.losses.flat_newton()(y[4:6] * f[4:6])
    assert solution.objective == pytest.approx(solution.regularization + model.costs(problem) @ values, rel=1e-9)
    primal = ct.Instance(model, problem)
    smooth = SmoothPrimal(primal)
    x, d, h = rng.normal(0, 0.1, smooth.n_variables), rng.standard_normal(smooth.n_variables), 1e-6
    slope = (smooth.value(x + h * d) - smooth.value(x - h * d)) / (2 * h)
    assert smooth.gradient(x) @ d == pytest.approx(slope, rel=1e-5, abs=1e-6)
