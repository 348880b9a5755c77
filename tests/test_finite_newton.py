"""The finite Newton solver: against CVXPY, the dual solver and the paper's equations (sindhwani2006 §1.2)."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import plq

import convex_tsvm as ct
from convex_tsvm.deadline import until
from convex_tsvm.parallel import blas_threads
from convex_tsvm.points import WithConstant, linear_points
from convex_tsvm.solvers import FiniteNewton
from convex_tsvm.solvers.finite_newton import directions
from convex_tsvm.solvers.finite_newton.newton import NewtonDescent, Terms

SETTINGS = {
    "centred": {"balance": "linear"},
    "free bias": {"balance": None},
    "no bias": {"balance": None, "fit_intercept": False},
}


def drawn(seed, n=60, d=7, sparse=True, scale=1.0):
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    y = np.zeros(n)
    y[:12] = np.where(X[:12, 0] + 0.3 * rng.normal(size=12) > 0, 1, -1)
    y[:2] = 1, -1
    labels = np.where(y == 0, np.where(X[:, 1] > 0, 1.0, -1.0), y)
    return ct.Problem(sp.csr_matrix(X) if sparse else X, y, C=10.0 ** rng.uniform(-2, 1)), labels, rng


@pytest.mark.parametrize("few", [0, 600], ids=["conjugate gradients", "Hessian"])
@pytest.mark.parametrize("kind", SETTINGS)
@pytest.mark.parametrize("seed", range(3))
def test_steps_are_solved_as_the_dual_solver_solves_them(seed, kind, few, monkeypatch):
    """SVMs, tangents of CCCP and steps with two terms a point; every bound holds and all values are recomputed."""
    monkeypatch.setattr(directions.Directions, "most_dense", few)
    problem, labels, rng = drawn(seed, sparse=seed != 1)
    instance = ct.Instance(ct.s3vm(**SETTINGS[kind]), problem)
    ramp = ct.Instance(ct.cccp_tsvm(-0.3, **SETTINGS[kind]), problem)
    solver, reference = FiniteNewton(problem, tol=1e-7), ct.solvers.NativeSolver(problem, tol=1e-8)
    steps = [
        instance.svm(labels),
        instance.step(rng.normal(size=problem.n)),
        instance.weighted_svm(np.where(problem.y == 0, rng.random(problem.n), problem.y > 0)),
        ramp.step(rng.normal(size=problem.n)),
    ]
    found = None
    for step in steps:
        found, expected = solver.solve(step, found), reference.solve(step)
        assert found.status == "optimal"
        assert found.primal == pytest.approx(expected.primal, rel=1e-6)
        assert found.gap <= 1e-7
        assert found.lower_bound <= expected.primal * (1 + 1e-9)
        again = found.recomputed()
        assert again.primal == pytest.approx(found.primal, rel=1e-9)
        np.testing.assert_allclose(found.outputs, expected.outputs, atol=1e-2)


def test_it_agrees_with_cvxpy():
    problem, _, _ = drawn(5, n=30, sparse=False)
    step = ct.Instance(ct.s3vm(), problem).step()
    found, expected = (
        FiniteNewton(problem, tol=1e-8).solve(step),
        ct.modeling.CvxpySolver(problem, cvxpy_solver="CLARABEL").solve(step),
    )
    assert found.primal == pytest.approx(expected.primal, rel=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.data())
def test_line_search_ends_where_the_sorted_break_points_say(seed, data):
    """sindhwani2006 §1.2.2: the derivative along a direction is piecewise linear; its root is found by sorting."""
    problem, labels, rng = drawn(seed, n=15, d=3)
    step = ct.Instance(ct.s3vm(balance=None, fit_intercept=False), problem).svm(labels)
    descent = NewtonDescent(FiniteNewton(problem), step, step.losses, rng.normal(size=3), np.zeros(15))
    descent.f = problem.X @ descent.x
    gradient = descent._gradient()
    p = -gradient * data.draw(st.sampled_from([1e-3, 1.0, 50.0]))
    change = problem.X @ p
    length = descent._line_search(p, change, abs(gradient @ p))
    moving = change != 0
    breaks = (labels[moving] - descent.f[moving]) / change[moving]
    ends = np.concatenate([[0.0], np.sort(breaks[breaks > 0]), [np.inf]])

    def slope(t):
        lacking = np.maximum(1 - labels * (descent.f + t * change), 0)
        return float((descent.x + t * p) @ p - 2 * (problem.cost * labels * lacking) @ change)

    for left, right in zip(ends[:-1], ends[1:], strict=True):
        inside = left + 1.0 if right == np.inf else (left + right) / 2
        active = labels * (descent.f + inside * change) < 1
        bend = float(p @ p + 2 * (problem.cost * change**2)[active].sum())
        root = left - slope(left) / bend
        if root <= right:
            break
    # It ends before the root where the slope is a thousandth of what it was.
    assert abs(slope(length)) <= 1.1e-3 * abs(slope(0.0))
    assert length == pytest.approx(root, rel=0.05)


def test_a_newton_step_is_regularized_least_squares():
    """sindhwani2006 eq. 1.1-1.4: (λ I + X_Aᵀ C X_A) w = X_Aᵀ C y over the points A that are not past their margins."""
    problem, labels, _ = drawn(3)
    step = ct.Instance(ct.s3vm(balance=None, fit_intercept=False), problem).svm(labels)
    solver = FiniteNewton(problem)
    descent = NewtonDescent(solver, step, step.losses, np.zeros(7), np.zeros(problem.n))
    gradient = descent._gradient()
    active, X = labels * descent.f < 1, problem.X.toarray()
    c = 2 * problem.cost * active
    expected = np.linalg.solve(np.eye(7) + X.T @ (c[:, None] * X), X.T @ (c * labels))
    p = descent.directions.newton(descent.h, gradient, 1e-12)
    np.testing.assert_allclose(descent.x + p, expected, atol=1e-9)
    np.testing.assert_allclose(gradient, descent.x + X.T @ (c * (descent.f - labels)), atol=1e-9)
    # Half the squared length of the gradient is the duality gap.
    value = 0.5 * descent.x @ descent.x + step.loss_value(descent.f)
    dual = -0.5 * np.sum((X.T @ -descent.g) ** 2) - step.conjugate_value(-descent.g)
    assert descent.gap == pytest.approx(value - dual)


@pytest.mark.parametrize("balance", ["mean", "free", "none"])
@pytest.mark.parametrize("sparse", [True, False])
def test_directions_of_few_points_are_those_of_the_hessian(balance, sparse):
    problem, labels, rng = drawn(6, n=30, d=70, sparse=sparse)
    problem = problem.replace(balance=0.2 if balance == "mean" else None)
    formulation = ct.s3vm(balance="linear" if balance == "mean" else None, fit_intercept=balance != "none")
    space = FiniteNewton(problem).directions(ct.Instance(formulation, problem).svm(labels)).space
    h, gradient = rng.uniform(0.1, 1e4, 30) * (rng.random(30) < 0.7), rng.normal(size=space.size)
    assert directions.are_few(space, h)
    ridge = np.diag(space.ridge)
    last = 0.3 if space.free_bias else 1.0
    ridge[-1, -1] = last
    expected = np.linalg.solve(ridge + space.hessian(h), -gradient)
    np.testing.assert_allclose(directions.newton_of_few(space, h, gradient, last), expected, rtol=1e-7, atol=1e-9)


def test_many_points_or_few_features_have_another_way():
    problem, _, _ = drawn(6, n=50, d=40)
    space = FiniteNewton(problem).directions(ct.Instance(ct.s3vm(), problem).svm(problem.y)).space
    assert not directions.are_few(space, np.ones(50))
    assert not directions.are_few(space, np.zeros(50))
    assert directions.are_few(space, (np.arange(50) < 20).astype(float))


def test_newton_steps_end_at_the_solution_once_the_active_set_is_right():
    """Finite convergence (sindhwani2006 §1.2): the last step of an exact method leaves rounding errors only."""
    problem, labels, _ = drawn(4)
    step = ct.Instance(ct.s3vm(), problem).svm(labels)
    found = FiniteNewton(problem, tol=1e-13).solve(step)
    assert found.gap < 1e-14
    assert found.n_iter < 15


@settings(max_examples=60, deadline=None)
@given(plq(convex=True, finite=True), st.sampled_from([0.01, 0.3, 2.0]))
def test_rounded_losses_are_smooth_and_below(loss, width):
    rounded, t = loss.rounded(width), np.linspace(-7, 7, 201)
    assert rounded.is_smooth
    # The least value over u, near the proximal point, where it should be, and far away.
    u = loss.prox(t, width)[:, None] - t[:, None] + np.concatenate([np.linspace(-1, 1, 401), np.linspace(-50, 50, 101)])
    least = np.min(loss(t[:, None] + u) + u**2 / (2 * width), axis=1)
    assert (np.abs(rounded(t) - least) <= 1e-9 * (1 + np.abs(least))).all()
    assert (rounded(t) <= loss(t) + 1e-9 * (1 + np.abs(loss(t)))).all()


@settings(max_examples=40, deadline=None)
@given(st.lists(plq(convex=True, finite=True), min_size=1, max_size=3), st.integers(0, 10**6))
def test_terms_are_the_losses_of_the_step(losses, seed):
    """Value, slope and curvature, with several terms a point, in any number of threads."""
    rng = np.random.default_rng(seed)
    losses = tuple(loss.rounded(0.5) for loss in losses)
    problem = drawn(seed, n=20)[0]
    point = np.concatenate([np.arange(20), np.sort(rng.choice(20, 7, replace=False))])
    step = ct.instance.ConvexStep(
        problem,
        losses,
        rng.integers(0, len(losses), 27),
        rng.random(27) + 0.1,
        rng.normal(size=27),
        point=point,
    )
    f, change = rng.normal(size=20), rng.normal(size=20)
    total, g, _ = Terms(step, losses).at(f)
    assert total == pytest.approx(step.loss_value(f), rel=1e-9, abs=1e-9)

    def value(t):
        return Terms(step, losses).at(f + t * change)[0]

    down, bend = Terms(step, losses).along(f, change, 0.0)
    assert down == pytest.approx(g @ change, rel=1e-9, abs=1e-9)
    assert down == pytest.approx((value(1e-5) - value(-1e-5)) / 2e-5, rel=1e-3, abs=1e-3)
    assert bend >= 0


def test_one_newton_step_lowers_the_objective():
    problem, labels, _ = drawn(6)
    instance, solver = ct.Instance(ct.s3vm(), problem), FiniteNewton(problem, tol=1e-6)
    step, point, before = instance.svm(labels), None, np.inf
    for _ in range(20):
        point = solver.improve(step, point)
        value = point.regularization + step.loss_value(point.outputs)
        assert value < before or point.status == "optimal"
        before = value
        if point.status == "optimal":
            break
        assert point.lower_bound <= solver.solve(step).dual
    assert point.status == "optimal"
    assert point.primal == pytest.approx(solver.solve(step).primal)


def test_a_constant_feature_is_a_regularized_bias():
    problem, _, _ = drawn(7)
    longer = sp.hstack([problem.X, np.full((problem.n, 1), 3.0)]).tocsr()
    options = {"C": problem.C, "balance": None}
    formulation = ct.s3vm(balance=None, fit_intercept=False)
    values = [
        ct.cccp(formulation, ct.Problem(X, problem.y, **options), solver="finite_newton", tol=1e-6).objective
        for X in (longer, WithConstant(linear_points(problem.X), 3.0))
    ]
    assert values[0] == pytest.approx(values[1])


@pytest.mark.parametrize("method", ["switching", "annealing", "cccp"])
@pytest.mark.parametrize("balance", ["labeled", ("exact", 0.5), None])
def test_methods_take_it_as_they_take_the_others(method, balance):
    """The same answers to the same question, up to which of two minima a path ends in."""
    problem = drawn(8, n=80)[0].replace(balance=balance)
    formulation = ct.s3vm(balance=None if balance is None else "linear")
    run = getattr(ct, method)
    found = run(formulation, problem, solver="finite_newton", tol=1e-6)
    expected = run(formulation, problem, solver="native", tol=1e-6)
    assert found.status == "converged"
    assert found.objective == pytest.approx(expected.objective, rel=0.1)
    certificate = found.certificate()
    assert certificate.objective == pytest.approx(found.objective, rel=1e-6)
    assert certificate.gap < 1e-5
    assert found.history[0].outputs is None
    np.testing.assert_allclose(found.decision_function(problem.X), found.scores, atol=1e-9)
    assert found.weights.shape == (7,)
    if balance == ("exact", 0.5):
        assert (found.labels[problem.unlabeled] > 0).sum() == problem.n_unlabeled // 2


def test_what_it_does_not_take_is_said():
    problem, _, _ = drawn(9)
    with pytest.raises(ValueError, match="kernel='linear' only"):
        FiniteNewton(problem.replace(X=problem.X.toarray(), kernel="rbf"))
    solver = FiniteNewton(problem)
    instance = ct.Instance(ct.s3vm(fit_intercept=False), problem)
    with pytest.raises(ValueError, match="a balance with a bias"):
        solver.solve(instance.step())
    with pytest.raises(ValueError, match="'l2' only"):
        solver.solve(
            ct.Instance(ct.Formulation(ct.squared_hinge(), None, regularizer="l1", balance=None), problem).step()
        )
    with pytest.raises(ValueError, match="PLQ"):
        solver.solve(ct.Instance(ct.Formulation(ct.losses.logistic(), None, balance=None), problem).step())
    constrained = ct.Formulation(ct.squared_hinge(), None, balance=None, constraints=(ct.mean_output(0.0, 1.0),))
    with pytest.raises(ValueError, match="a balance with a bias only"):
        solver.solve(ct.Instance(constrained, problem).step())


def test_limits_and_ctrl_c_leave_the_best_point(monkeypatch):
    problem, labels, _ = drawn(10)
    step = ct.Instance(ct.s3vm(), problem).svm(labels)
    with until(0.0):
        assert FiniteNewton(problem, tol=1e-9).solve(step).status == "time_limit"
    with pytest.warns(UserWarning, match="after 1 steps"):
        assert FiniteNewton(problem, tol=1e-12, max_iter=1).solve(step).status == "max_iter"

    solver = FiniteNewton(problem, tol=1e-14)
    before = NewtonDescent._step

    def stepped(self, *rest):
        if self.n_iter == 1:
            raise KeyboardInterrupt
        return before(self, *rest)

    monkeypatch.setattr(NewtonDescent, "_step", stepped)
    point = solver.solve(step)
    assert point.status == "interrupted"
    assert point.primal < step.loss_value(np.zeros(problem.n))


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scales_far_from_one(scale):
    """The same problem in other units: costs make up for the scale of the points."""
    problem, labels, _ = drawn(11)
    plain = ct.Instance(ct.s3vm(), problem).svm(labels)
    other = problem.replace(X=problem.X * scale, C=problem.C / scale**2)
    scaled = ct.Instance(ct.s3vm(), other).svm(labels)
    values = [FiniteNewton(p, tol=1e-6).solve(s).primal for p, s in ((problem, plain), (other, scaled))]
    assert values[1] * scale**2 == pytest.approx(values[0], rel=1e-5)


def test_runs_hold_blas_to_one_thread(monkeypatch):
    """Threads of BLAS that wait for the next vector would keep busy the cores that products need."""
    seen, solve = {}, FiniteNewton.solve

    def threads():
        return {library["num_threads"] for library in blas_threads().info() if library["user_api"] == "blas"}

    def watched(self, step, start=None):
        seen[type(self.points).__name__] = threads()
        return solve(self, step, start)

    monkeypatch.setattr(FiniteNewton, "solve", watched)
    before = threads()
    for sparse in (True, False):
        ct.cccp(ct.s3vm(balance=None), drawn(3, sparse=sparse)[0], solver="finite_newton")
    assert seen == {"SparsePoints": {1}, "DensePoints": {1}}
    assert threads() == before
