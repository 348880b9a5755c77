"""Convex steps with several terms a point, other convex losses and regularizers, and what solvers say they take."""

import dataclasses
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from strategies import CATALOGUE, random_case

import convex_tsvm as ct
from convex_tsvm.solvers.cholesky import cholesky

CONVEX = ["hinge", "squared_hinge", "relaxed_compact_hinge"]


def weighted_step(seed):
    """A random problem in which every unlabelled point pays both labels' losses, and some have a third term."""
    formulation, problem, rng = random_case(seed)
    loss = CATALOGUE[CONVEX[seed % len(CONVEX)]]
    instance = dataclasses.replace(formulation, labeled=loss, unlabeled=None).on(problem)
    positive = np.where(problem.y == 0, rng.uniform(size=problem.n) ** 3, 1.0 * (problem.y > 0))
    step = instance.weighted_svm(positive)
    extra = rng.choice(problem.n, 3, replace=False)
    return problem, step.replace(
        losses=(*step.losses, ct.losses.epsilon_insensitive(0.3)),
        names=(*step.names, "tube"),
        point=np.append(step.point, extra),
        kind=np.append(step.kind, [2, 2, 2]),
        cost=np.append(step.cost, rng.uniform(0.1, 2, 3)),
        slope=np.append(step.slope, rng.normal(0, 0.1, 3)),
    )


@pytest.mark.parametrize("block", [*range(3), *(pytest.param(k, marks=pytest.mark.slow) for k in range(3, 6))])
def test_several_terms_a_point(block):
    """CVXPY's primal and dual, which have a term each, and the native solver, which has a loss a point."""
    for seed in range(3000 + 15 * block, 3015 + 15 * block):
        problem, step = weighted_step(seed)
        primal, dual = (ct.modeling.CvxpySolver(problem, form=form) for form in ("primal", "dual"))
        values = []
        for solver in (primal, dual):
            solver.solve(step)
            values.append(float(solver.model(step).problem.value))
        native = ct.solvers.NativeSolver(problem, tol=1e-8).solve(step)
        assert native.status == "optimal"
        values += [native.primal, native.dual]
        np.testing.assert_allclose(values, values[0], rtol=1e-6, atol=1e-6, err_msg=str(seed))


def test_terms_of_one_point_are_one_loss():
    """A hinge whose cost is split over two terms is the hinge; a term without cost is none."""
    _, problem, _ = random_case(3)
    instance = ct.svm(balance=None).on(problem.replace(balance=None))
    step = instance.step()
    n, point = problem.n, np.arange(problem.n)
    twice = step.replace(
        kind=np.concatenate([step.kind, step.kind, np.zeros(n, int)]),
        cost=np.concatenate([0.3 * step.cost, 0.7 * step.cost, np.zeros(n)]),
        slope=np.zeros(3 * n),
        point=np.concatenate([point, point, point]),
    )
    solver = ct.solvers.NativeSolver(problem, tol=1e-8)
    assert solver.solve(twice).primal == pytest.approx(solver.solve(step).primal, rel=1e-8)
    assert len(twice.groups) == len(step.groups)


def test_logistic_regression_is_scikit_learns(moons):
    """Through CVXPY, with a certificate from its own conjugate."""
    X, truth, _ = moons
    problem = ct.Problem(X, truth, C=2.0, C_unlabeled=None)
    model = ct.Formulation(ct.losses.logistic(), balance=None)
    solution = ct.cccp(model, problem, solver="cvxpy")
    theirs = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000).fit(X, truth)
    np.testing.assert_allclose(solution.weights, theirs.coef_[0], rtol=1e-4)
    assert solution.bias == pytest.approx(theirs.intercept_[0], rel=1e-4)
    certificate = solution.certificate()
    assert abs(certificate.gap) < 1e-6
    assert certificate.kkt < 1e-3
    assert ct.verify(model, problem).passed


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_convex_loss_beside_a_plq_one(moons, kernel):
    """Semi-supervised logistic regression: a smooth loss for labelled points, the symmetric ramp for the others."""
    X, _, y = moons
    problem = ct.Problem(X, y, C=5.0, kernel=kernel)
    model = ct.Formulation(ct.losses.logistic(), ct.symmetric_ramp(-0.3))
    solution = ct.cccp(model, problem, solver="cvxpy")
    objectives = [iteration.step_objective for iteration in solution.history]
    assert all(b <= a * (1 + 1e-6) for a, b in zip(objectives[:-1], objectives[1:], strict=True))
    assert solution.lower_bound <= solution.objective
    with pytest.raises(ValueError, match="logistic: solver='native' takes convex parts that are piecewise"):
        ct.cccp(model, problem, solver="native")
    assert ct.cccp(model, problem).solver == "cvxpy (CLARABEL)"


def test_logistic_laws():
    loss, t = ct.losses.logistic(), np.linspace(-6, 6, 61)
    slope = loss.derivative(t)
    np.testing.assert_allclose(loss(t) + loss.conjugate()(slope), t * slope, atol=1e-12)
    numeric = (loss(t + 1e-6) - loss(t - 1e-6)) / 2e-6
    np.testing.assert_allclose(slope, numeric, atol=1e-8)
    x = loss.prox(t)
    np.testing.assert_allclose(x + loss.derivative(x), t, atol=1e-9)
    np.testing.assert_allclose(loss.reflect()(t), loss(-t))
    np.testing.assert_allclose(loss.reflect().conjugate()(-slope[1:-1]), loss.conjugate()(slope[1:-1]))
    with pytest.raises(ValueError, match="must not decrease"):
        dataclasses.replace(loss, derivative=lambda t: -t)


@pytest.mark.parametrize("balance", ["linear", None])
def test_elastic_net(balance):
    """Primal, dual and certificate; at l1 = 0 it is ½ ‖w‖², and weights are sparse where it is not."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 8))
    y = np.zeros(40)
    y[:10] = np.where(X[:10, 0] > 0, 1, -1)
    problem = ct.Problem(X, y, C=1.0, balance="labeled" if balance else None)
    plain = ct.tsvm("hinge", balance=balance)
    model = dataclasses.replace(plain, regularizer=ct.formulations.ElasticNet(2.0))
    outputs = rng.normal(0, 1, 40)
    primal = model.primal(problem, outputs).solve(solver="CLARABEL")
    for way in ("centring", "x0"):
        assert model.dual(problem, outputs, balance_by=way).solve(solver="CLARABEL") == pytest.approx(primal, rel=1e-6)
    point = ct.modeling.CvxpySolver(problem).solve(model.on(problem).step(outputs))
    assert point.primal == pytest.approx(primal, rel=1e-4)
    assert point.dual <= primal + 1e-6
    solution = ct.cccp(model, problem, solver="cvxpy")
    assert (np.abs(solution.weights) < 1e-6).any()
    np.testing.assert_allclose(solution.decision_function(X), solution.scores, atol=1e-9)
    none = dataclasses.replace(plain, regularizer=ct.formulations.ElasticNet(0.0))
    assert none.primal(problem).solve(solver="CLARABEL") == pytest.approx(
        plain.primal(problem).solve(solver="CLARABEL"), rel=1e-6
    )
    with pytest.raises(ValueError, match="ElasticNet"):
        ct.cccp(model, problem, solver="native")
    with pytest.raises(ValueError, match="needs kernel='linear'"):
        ct.cccp(model, problem.replace(kernel="rbf"), solver="cvxpy")


def test_options_that_a_solver_does_not_know_are_errors(moons):
    X, _, y = moons
    problem = ct.Problem(X, y)
    with pytest.raises(ValueError, match="form='dual' is no option of solver='native', which takes tol, max_iter"):
        ct.cccp(ct.tsvm(), problem, solver="native", form="dual")
    assert ct.cccp(ct.tsvm(), problem, form="dual").solver == "cvxpy (CLARABEL)"
    with pytest.raises(ValueError, match="magic=1 is no option of solver='linear'"):
        ct.cccp(ct.tsvm(), problem, magic=1)
    with pytest.raises(ValueError, match="cache_size=5 is no option of solver='cvxpy'"):
        ct.cccp(ct.tsvm(), problem, solver="cvxpy", cache_size=5)
    with pytest.raises(ValueError, match="form='dual' is for solvers given by name"):
        ct.cccp(ct.tsvm(), problem, solver=ct.modeling.CvxpySolver(problem), form="dual")
    with pytest.raises(ValueError, match="solver='magic' must be 'auto', 'native', 'linear', 'finite_newton'"):
        ct.cccp(ct.tsvm(), problem, solver="magic")


@pytest.mark.parametrize("scale", [1e-17, 1.0, 1e12])
def test_cholesky_ends(scale):
    """A negative trace, mixed scales, zeros and NaN: a factor or an error, never a loop without end."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((6, 3))
    for H in (scale * Z @ Z.T, -1e-17 * np.eye(4), np.zeros((3, 3)), scale * np.diag([1.0, 1e-20, 0.0, 1e20])):
        factor, lower = cholesky(H.copy())
        assert lower
        L = np.tril(factor)
        if (np.diag(H) > 0).any():
            np.testing.assert_allclose(L @ L.T, H, atol=1e-9 * np.abs(H).max())
        np.testing.assert_array_equal(np.tril(cholesky(H.copy(), overwrite=True)[0]), L)
    lost, _ = cholesky(scale * np.array([[0.0, 1.0], [1.0, 0.0]]))  # rounding has taken the diagonal
    assert (np.diag(lost) > 0).all()
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        cholesky(np.full((3, 3), np.nan))


def test_large_entries_do_not_drown_small_ones():
    """The ridge is relative to each entry: a block of ordinary size is solved as if the huge one were not there."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((5, 8))
    H = np.zeros((6, 6))
    H[:5, :5], H[5, 5] = Z @ Z.T, 1e14
    factor, _ = cholesky(H)
    np.testing.assert_allclose(np.tril(factor)[:5, :5], np.linalg.cholesky(Z @ Z.T), rtol=1e-9)


def test_a_degenerate_fit_ends_and_says_so():
    """17 points scaled by 10³ with a quadratic kernel and a tolerance beyond double precision."""
    rng = np.random.default_rng(0)
    for seed in range(5):
        X = 1e3 * np.random.default_rng(seed).standard_normal((17, 3))
        problem = ct.Problem(X, np.resize([1, -1, 0, 0], 17), kernel=ct.Polynomial(2, 1.0, 1.0), C=10.0)
        step = ct.tsvm().on(problem).step(rng.normal(0, 1, 17))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            point = ct.solvers.NativeSolver(problem, tol=1e-8).solve(step)
        assert point.status in ("optimal", "inaccurate")
        assert point.n_iter <= 200


def test_reading_the_kernel_matrix_changes_nothing(moons):
    X, _, y = moons
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1200, 4)), np.resize([1, -1, 0, 0, 0], 1200)
    problem = ct.Problem(X, y, kernel=ct.RBF(2.0))
    before = ct.solvers.NativeSolver(problem)
    assert problem.gram.shape == (1200, 1200)
    after = ct.solvers.NativeSolver(problem)
    assert before._held.single is after._held.single is True
    assert before._held.exact is after._held.exact is False
