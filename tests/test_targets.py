"""Points with targets and signs, and pairs: beside libsvm, problems by hand, and losses that are moved to targets."""

import dataclasses

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import SVR

import convex_tsvm as ct
from convex_tsvm.checker import check

TUBE = ct.losses.epsilon_insensitive(0.1)
#: A tube whose loss is capped: points that are far from their target are given up.
CAPPED = TUBE.minimum(0.8)
PINBALL = ct.losses.pinball(0.7)


def case(seed, loss=TUBE, kernel=None, n=30, intercept=True):
    """Labelled and unlabelled points, and a third of all with a target and a sign; half of these have a label, too."""
    rng = np.random.default_rng(seed)
    truth = np.resize([1.0, -1.0], n)
    X = rng.normal(size=(n, 2)) + 0.7 * truth[:, None]
    y = np.where(np.arange(n) < n // 3, truth, 0.0)
    own = np.arange(n // 6, n // 2)
    group = ct.PointGroup(
        own, loss, rng.uniform(0.5, 2.0, len(own)), "own",
        target=rng.normal(size=len(own)).round(1), sign=rng.choice([-1.0, 1.0], len(own)) if seed % 2 else None,
    )  # fmt: skip
    problem = ct.Problem(X, y, kernel=kernel or ct.RBF(1.5), C=2.0, C_unlabeled=0.5, balance=0.1)
    model = ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), groups=group, fit_intercept=intercept)
    return model, problem, group, rng


def by_hand(model, problem, group, f):
    """The losses of all points, unscaled."""
    y = problem.y
    values = np.where(y == 0, np.minimum(0.7 + 0 * f, np.maximum(0, 1 - np.abs(f)) + 0.0), np.maximum(0, 1 - y * f))
    sign = np.where(y[group.points] == 0, 1.0, y[group.points]) if group.sign is None else group.sign
    distance = np.abs(sign * (f[group.points] - group.target))
    values[group.points] = np.minimum(np.maximum(0, distance - 0.1), 0.8 if group.loss is CAPPED else np.inf)
    return values


@pytest.mark.parametrize("loss", [TUBE, CAPPED, PINBALL], ids=["tube", "capped", "pinball"])
@pytest.mark.parametrize("seed", range(6))
def test_losses_steps_and_moved_losses_are_the_same(seed, loss):
    """At any outputs: the objective by hand, by targets and by moved losses; its step; the step's conjugate."""
    model, problem, group, rng = case(seed, loss)
    instance = model.on(problem)
    moved = instance.without_targets()
    assert moved.shift is None
    assert len(moved.formulation.groups) > 1
    at = rng.normal(size=problem.n)
    step, other = instance.step(at), moved.step(at)
    for f in rng.normal(size=(5, problem.n)):
        if loss is not PINBALL:
            paid = float(model.costs(problem) @ by_hand(model, problem, group, f))
            assert instance.objective(f, 1.5) == pytest.approx(1.5 + paid)
        assert instance.objective(f, 1.5) == pytest.approx(moved.objective(f, 1.5))
        tangents = instance.tangents_at_zero(at, instance.cost), moved.tangents_at_zero(at, moved.cost)
        assert step.loss_value(f) + tangents[0] == pytest.approx(other.loss_value(f) + tangents[1])
        assert step.loss_value(f) + tangents[0] >= instance.objective(f, 0.0) - 1e-9  # a surrogate is above
        gamma = step.clip(rng.normal(size=problem.n))
        np.testing.assert_allclose(step.bounds(), other.bounds())
        assert step.conjugate_value(gamma) == pytest.approx(other.conjugate_value(gamma))
        np.testing.assert_allclose(step.violation(gamma, f), other.violation(gamma, f), atol=1e-12)
        assert step.loss_value(f) + step.conjugate_value(gamma) >= -float(gamma @ f) - 1e-9  # Fenchel and Young
    assert step.loss_value(at) + tangents[0] == pytest.approx(instance.objective(at, 0.0))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("balance_by", ["centring", "x0"])
@pytest.mark.parametrize("seed", range(4))
def test_every_solver_and_both_programs_agree(seed, balance_by, intercept):
    kernel = ct.Linear() if seed % 2 else ct.RBF(1.5)
    model, problem, _, rng = case(seed, CAPPED, kernel, intercept=intercept)
    at = rng.normal(size=problem.n)
    step = model.on(problem).step(at)
    balanced = step.problem  # whose balance does not count the group
    constant = model.on(problem).tangents_at_zero(at, model.costs(problem))
    primal, dual = model.primal(problem, at), model.dual(problem, at, balance_by=balance_by)
    assert primal.is_dcp(dpp=True)
    assert dual.is_dcp(dpp=True)
    value = primal.solve(solver="CLARABEL")
    assert dual.solve(solver="CLARABEL") == pytest.approx(value, rel=1e-6)
    solvers = [
        ct.solvers.NativeSolver(balanced, tol=1e-7, balance_by=balance_by),
        ct.modeling.CvxpySolver(balanced),
        ct.modeling.CvxpySolver(balanced, form="dual"),
    ]
    if problem.is_linear and intercept:
        solvers += [ct.solvers.FiniteNewton(balanced, tol=1e-7), ct.solvers.LinearSolver(balanced, tol=1e-7)]
        with pytest.raises(ValueError, match="targets"):
            ct.solvers.CoordinateDescent(balanced).solve(step)
    for solver in solvers:
        found = solver.solve(step)
        assert found.primal + constant == pytest.approx(value, rel=2e-6), solver
        assert found.gap < 2e-6
        again = solver.solve(step, found)  # from its own solution
        assert again.primal == pytest.approx(found.primal, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_regression_is_libsvm_s(epsilon):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    response = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=120)
    theirs = SVR(C=3.0, epsilon=epsilon, gamma=0.5, tol=1e-8).fit(X, response)
    group = ct.PointGroup(range(120), ct.losses.epsilon_insensitive(epsilon), 3.0, target=response)
    model = ct.Formulation(ct.hinge(), balance=None, groups=group)
    problem = ct.Problem(X, np.zeros(120), kernel=ct.RBF(gamma=0.5), balance=None)
    ours = ct.cccp(model, problem, tol=1e-8)
    new = rng.normal(size=(20, 3))
    np.testing.assert_allclose(ours.decision_function(new), theirs.predict(new), atol=1e-5)
    assert ours.certificate().gap < 1e-7
    assert ct.verify(model, problem).passed


@pytest.mark.parametrize("seed", range(4))
def test_search_program_and_certificate_have_them(seed, tmp_path):
    model, problem, group, rng = case(seed, CAPPED, n=18)
    exact = ct.exact_search(model, problem, gap=1e-6, branch_on="points", certificate=tmp_path / "c.npz")
    assert exact.status == "optimal"
    at = exact.scores
    assert exact.objective == pytest.approx(
        exact.regularization + float(model.costs(problem) @ by_hand(model, problem, group, at)), rel=1e-8
    )
    starts = [ct.cccp(model, problem, start=rng.normal(size=problem.n)).objective for _ in range(10)]
    assert exact.objective <= min(starts) + 1e-6
    program = ct.modeling.MixedIntegerModel(model, problem, min(starts) * 1.01).problem
    assert program.solve() == pytest.approx(exact.objective, rel=1e-4)
    verdict = check(tmp_path / "c.npz")
    assert verdict.holds, verdict
    assert verdict.lower_bound == pytest.approx(exact.objective, rel=1e-5)
    # A file that says that a point of the group has another target, or costs less, proves nothing.
    with np.load(tmp_path / "c.npz") as file:
        arrays = dict(file)
    for change in ({"own_cost": 0.9 * arrays["own_cost"]}, {"loss_own": _moved(arrays["loss_own"], 0.3)}):
        np.savez(tmp_path / "other.npz", **arrays | change)
        assert not check(tmp_path / "other.npz").holds
    assert ct.prove_certificate(tmp_path / "c.npz", model, problem).holds
    plain = dataclasses.replace(model, groups=())
    doubled = dataclasses.replace(group, cost=2 * np.asarray(group.cost), X=None)
    for other in (plain, dataclasses.replace(model, groups=doubled)):
        assert "another" in ct.prove_certificate(tmp_path / "c.npz", other, problem).problem


def _moved(pieces, distance):
    """Pieces (from, to, a, b, c) of functions, all moved to the right."""
    left, right, a, b, c = pieces.T
    return np.column_stack([left + distance, right + distance, a, b - 2 * a * distance, c - b * distance])


def test_smooth_methods_and_derivatives_have_them():
    model, problem, group, rng = case(1, CAPPED)
    start = rng.normal(size=problem.n)
    convex, smooth = ct.cccp(model, problem, start=start), ct.gradient(model, problem, start=start)
    best = ct.exact_search(model, problem, max_nodes=200)
    for one in (convex, smooth):
        assert one.objective >= best.lower_bound - 1e-6
        assert one.objective == pytest.approx(
            one.regularization + float(model.costs(problem) @ by_hand(model, problem, group, one.scores)), rel=1e-6
        )
    found = ct.cccp(model, problem, tol=1e-8)
    derivative = found.derivative("C_unlabeled")
    h = 1e-5
    moved = [ct.cccp(model, problem.replace(C_unlabeled=0.5 + k * h), tol=1e-10, start=found) for k in (1, -1)]
    np.testing.assert_allclose(derivative.outputs, (moved[0].scores - moved[1].scores) / (2 * h), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("loss", [TUBE, ct.losses.PLQ([], [(1, 0, 0)])], ids=["tube", "squares"])
def test_derivatives_and_paths_follow_moving_targets(loss):
    """Targets that move apart, and from values that are equal; outputs against fits on both sides."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    problem = ct.Problem(X, [-1, 1, *[0] * 10], kernel=ct.RBF(0.7), C=2.0, C_unlabeled=0.5, balance=0.0)

    def moved(h):
        target = np.array([0.3, 0.3, -0.5]) + h * np.array([1.0, -0.7, 0.0])
        group = ct.PointGroup([3, 4, 5], loss, 3.0 + h, target=target, sign=[1, -1, 1])
        return ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), groups=group), problem

    solution = ct.cccp(*moved(0.0), tol=1e-10)
    found = solution.derivative(moved)
    h = min(1e-5, 0.3 * found.nearest_kink)
    beside = [ct.cccp(*moved(step), tol=1e-12, start=solution) for step in (h, -h)]
    np.testing.assert_allclose(found.outputs, (beside[0].scores - beside[1].scores) / (2 * h), atol=1e-5)
    assert found.objective == pytest.approx((beside[0].objective - beside[1].objective) / (2 * h), abs=1e-5)
    assert np.abs(found.outputs).max() > 0.01
    if loss is TUBE:
        path = ct.methods.solution_path(solution, moved, 0.05)
        last = ct.cccp(*moved(0.05), tol=1e-10, start=path.outputs[-1])
        np.testing.assert_allclose(path.outputs[-1], last.scores, atol=1e-6)
    alone = ct.Formulation(ct.hinge(), balance=None, groups=ct.PointGroup(range(12), loss, 1.0, target=0.5))
    with pytest.raises(ValueError, match="parameter='C' must be one of"):
        ct.sweep(alone, problem.replace(y=np.zeros(12), balance=None), C=[1.0, 2.0])


def test_ranking_by_pairs():
    """The pairs' problem beside one by hand, in memory and by the kernel function, for points and for pairs."""
    rng = np.random.default_rng(0)
    X, n = rng.normal(size=(40, 3)), 40
    utility = np.sin(2 * X[:, 0]) + X[:, 1]
    first, second = rng.integers(0, n, (2, 300))
    first, second = first[first != second], second[first != second]
    y = np.sign(utility[first] - utility[second])
    model = ct.Formulation(ct.hinge(), balance=None, fit_intercept=False)
    for kernel in (ct.RBF(1.0), ct.Linear(), ct.Polynomial(2)):
        points, own = ct.kernels.pairs(X, first, second, kernel)
        problem = ct.Problem(points, y, kernel=own, C=0.5, C_unlabeled=None, balance=None)
        K = kernel(X, X)
        a = cp.Variable(n)
        g = K @ a
        paid = 0.5 * cp.quad_form(a, cp.psd_wrap(K)) + 0.5 * cp.sum(cp.pos(1 - cp.multiply(y, g[first] - g[second])))
        least = cp.Problem(cp.Minimize(paid)).solve(solver="CLARABEL")
        solution = ct.cccp(model, problem, tol=1e-7)
        assert solution.objective == pytest.approx(least, rel=1e-5)
        f = solution.decision_function(X)
        np.testing.assert_allclose(f[first] - f[second], solution.scores, atol=1e-8)
        if not problem.is_linear:
            pairs = np.hstack([X[first], X[second]])
            np.testing.assert_allclose(solution.decision_function(pairs), solution.scores, atol=1e-8)
            rows, every = problem.rows(), np.arange(problem.n)
            some, coefficients = every[::7], rng.normal(size=len(every[::7]))
            matrix = problem.kernel(problem.X, problem.X)
            np.testing.assert_allclose(rows.rows(some), matrix[some], atol=1e-10)
            np.testing.assert_allclose(rows.block(some, some[:5]), matrix[np.ix_(some, some[:5])], atol=1e-10)
            np.testing.assert_allclose(rows.diag(), np.diag(matrix), atol=1e-10)
            np.testing.assert_allclose(problem.kernel.diag(problem.X), np.diag(matrix), atol=1e-10)
            np.testing.assert_allclose(rows.combine(some, coefficients), coefficients @ matrix[some], atol=1e-9)
    # Pairs whose order nobody knows pay a symmetric loss.
    points, own = ct.kernels.pairs(X, first, second, ct.RBF(1.0))
    unknown = ct.Problem(points, np.where(np.arange(len(y)) < 30, y, 0.0), kernel=own, C=5.0, balance=None)
    several = ct.cccp(ct.Formulation(ct.hinge(), ct.symmetric_ramp(0.0), None, fit_intercept=False), unknown)
    assert np.mean(np.sign(several.scores) == y) > 0.75


def test_errors():
    X = np.zeros((4, 2))
    ordered = ct.kernels.pairs
    cases = [
        (lambda: ct.PointGroup([0, 1], TUBE, 1.0, target=[1.0]), "target has 1 entries for 2 points"),
        (lambda: ct.PointGroup([0, 1], TUBE, 1.0, target=np.nan), "target=nan must be a finite number"),
        (lambda: ct.PointGroup([0, 1], TUBE, 1.0, sign=[1.0, 0.5]), "sign=.* must be 1 or -1 for each point"),
        (lambda: ordered(X, [0, 1], [4, 2]), r"second=\[4, 2\] must be indices of the 4 points"),
        (lambda: ordered(X, [0, 1], [1]), "second=.* must be indices"),
        (lambda: ordered(X, [0.0], [1.0]), "first=.* must be indices"),
        (lambda: ordered(X, [0, 1], [2, 1]), "pair 1 is of point 1 with itself"),
        (
            lambda: ct.kernels.PairKernel(ct.RBF(1.0), 2)(np.zeros((1, 3)), np.zeros((1, 2))),
            "X has 3 features; a point",
        ),
    ]
    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()
    points, kernel = ct.kernels.pairs(np.eye(4), [0, 1], [2, 3], ct.RBF(1.0))
    with pytest.raises(ValueError, match="outputs of pairs are differences, which have no bias"):
        ct.cccp(ct.svm(), ct.Problem(points, [1, -1], kernel=kernel, C_unlabeled=None, balance=None))
    smooth = ct.PointGroup([0, 1], ct.losses.logistic(), 1.0, "own", target=0.5)
    model = ct.Formulation(ct.hinge(), balance=None, groups=smooth)
    problem = ct.Problem(np.eye(4), [0, 0, 1, -1], balance=None, C_unlabeled=None)
    assert ct.cccp(model, problem, solver="cvxpy").status == "converged"
    with pytest.raises(ValueError, match=r"group 'own': loss=.* with targets must be a PLQ"):
        ct.gradient(model, problem)
    with pytest.raises(ValueError, match="no labelled point, and the formulation has a loss for no others"):
        ct.cccp(ct.Formulation(ct.hinge(), balance=None), problem.replace(y=np.zeros(4)))
