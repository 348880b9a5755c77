"""The native solver against CVXPY, on random problems of every catalogue loss."""

import dataclasses
import warnings

import numpy as np
import pytest
from strategies import CATALOGUE, LABELED, UNLABELED, random_case

import convex_tsvm as ct
from convex_tsvm.kernels import GramRows
from convex_tsvm.losses import conjugate_pieces
from convex_tsvm.solvers.dual import native
from convex_tsvm.solvers.dual.augmented import newton
from convex_tsvm.solvers.dual.dual_problem import DualProblem
from convex_tsvm.solvers.dual.working_sets import Effort


def steps_of(seed):
    """The convex step of a random case at random tangents."""
    formulation, problem, rng = random_case(seed)
    return problem, formulation.on(problem).step(rng.normal(0, 1.5, problem.n))


@pytest.mark.parametrize("block", [*range(4), *(pytest.param(k, marks=pytest.mark.slow) for k in range(4, 10))])
def test_native_agrees_with_cvxpy(block):
    """30 random problems each, objective to 1e-6 relative, through the primal and the dual form."""
    for seed in range(30 * block, 30 * block + 30):
        problem, step = steps_of(seed)
        reference = ct.modeling.CvxpySolver(problem, form=["primal", "dual"][seed % 2]).solve(step)
        native = ct.solvers.NativeSolver(problem, tol=1e-8).solve(step)
        scale = max(1.0, abs(reference.primal))
        assert native.status == "optimal"
        assert abs(native.primal - reference.primal) <= 1e-6 * scale, seed
        assert abs(native.dual - reference.dual) <= 1e-6 * scale, seed
        assert abs(native.gap) <= 1e-8, seed


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_native_agrees_with_cvxpy_on_many_more(block):
    test_native_agrees_with_cvxpy(10 + block)


@pytest.mark.parametrize("unlabeled", UNLABELED)
@pytest.mark.parametrize("labeled", LABELED)
def test_every_pair_of_catalogue_losses(labeled, unlabeled):
    rng = np.random.default_rng(1)
    problem = ct.Problem(rng.standard_normal((40, 3)), np.resize([1, -1, 0, 0, 0], 40), kernel=ct.RBF(1.0), C=3)
    step = ct.Formulation(CATALOGUE[labeled], CATALOGUE[unlabeled]).on(problem).step(rng.normal(0, 1, 40))
    native = ct.solvers.NativeSolver(problem, tol=1e-8).solve(step)
    reference = ct.modeling.CvxpySolver(problem).solve(step)
    assert native.primal == pytest.approx(reference.primal, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(native.outputs, reference.outputs, atol=2e-3)


@pytest.mark.parametrize("seed", range(40))
def test_extra_point_and_centring_give_the_same_solution(seed):
    problem, step = steps_of(1000 + seed)
    if step.target is None:
        step = step.replace(target=0.1)
    solutions = [ct.solvers.NativeSolver(problem, tol=1e-9, balance_by=way).solve(step) for way in ("centring", "x0")]
    assert solutions[0].primal == pytest.approx(solutions[1].primal, rel=1e-8, abs=1e-8)
    np.testing.assert_allclose(solutions[0].outputs, solutions[1].outputs, atol=1e-5)
    for solution in solutions:
        assert solution.outputs[problem.balance_points].mean() == pytest.approx(step.target)


@pytest.mark.parametrize("seed", range(20))
def test_small_blocks_and_a_small_cache_change_nothing(seed, monkeypatch):
    """A byte budget of one percent of the matrix, and blocks of eight variables."""
    problem, step = steps_of(2000 + seed)
    whole = ct.solvers.NativeSolver(problem, tol=1e-7).solve(step)
    solve_dual = ct.solvers.dual.native.solve_dual
    monkeypatch.setattr(
        "convex_tsvm.solvers.dual.native.solve_dual", lambda *a, **k: solve_dual(*a, **{**k, "block_size": 8})
    )
    little = ct.solvers.NativeSolver(problem, tol=1e-7, max_iter=20_000, cache_size=0.08 * problem.n**2 / 2**20)
    parts = little.solve(step)
    assert parts.status == "optimal"
    assert parts.n_iter > 1 or problem.n <= 16
    assert parts.primal == pytest.approx(whole.primal, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_newton_steps_from_anywhere_give_the_same_solution(seed):
    """Tried after every third coordinate step, they pass breakpoints all the time."""
    problem, step = steps_of(2500 + seed)
    usual = ct.solvers.NativeSolver(problem, tol=1e-8).solve(step)
    solver = ct.solvers.NativeSolver(problem, tol=1e-8)
    solver.strategy.effort = Effort(least_steps=3)
    early = solver.solve(step)
    assert early.status == "optimal"
    assert early.primal == pytest.approx(usual.primal, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("free_bias", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_newton_steps_never_make_the_dual_worse(seed, free_bias):
    """½ γᵀ K γ + Σ ψ*(-γ), from dual variables between breakpoints; the sum of γ stays 0, the domain is kept."""
    rng = np.random.default_rng(seed)
    n, losses = 30, (ct.hinge(), ct.squared_hinge(), ct.losses.tube(0.5), ct.losses.epsilon_insensitive(0.1))
    points = rng.standard_normal((n, int(rng.integers(1, 40))))
    kind, cost, slope = rng.integers(0, len(losses), n), rng.uniform(0.1, 30, n), rng.normal(0, 0.3, n)
    gram, tied = GramRows(points @ points.T), np.full(n, free_bias)
    dual = DualProblem(conjugate_pieces(losses), kind, cost, slope, gram, 0.0, tied)

    def value(state):
        conjugates = [losses[k].conjugate()(s) for k, s in zip(kind, state.s, strict=True)]
        gamma = dual.gamma(state.s)
        return 0.5 * gamma @ points @ points.T @ gamma + cost @ conjugates

    s = dual.start(rng.normal(0, 10, n))
    state = dual.state(s, dual.outputs(s))
    for _ in range(5):
        better = newton(dual, state)
        assert value(better) <= value(state) + 1e-9 * abs(value(state))
        np.testing.assert_allclose(better.h, dual.outputs(better.s), atol=1e-8)
        if free_bias:
            assert dual.gamma(better.s).sum() == pytest.approx(0, abs=1e-9)
        state = better
    assert value(state) < value(dual.state(s, dual.outputs(s)))


@pytest.mark.parametrize("seed", range(20))
def test_warm_start_gives_the_same_solution(seed):
    formulation, problem, rng = random_case(3000 + seed)
    solver = ct.solvers.NativeSolver(problem, tol=1e-8)
    first = solver.solve(formulation.on(problem).step(rng.normal(0, 1, problem.n)))
    second = formulation.on(problem).step(
        rng.normal(0, 1, problem.n), cost=problem.cost * rng.uniform(0.1, 3, problem.n)
    )
    cold, warm = solver.solve(second), solver.solve(second, first)
    assert warm.primal == pytest.approx(cold.primal, rel=1e-7, abs=1e-7)


def test_warm_start_at_the_solution_needs_no_work():
    _, problem, _ = random_case(5)
    step = ct.cccp_tsvm(balance=None if problem.balance_target is None else "linear").on(problem).step()
    solver = ct.solvers.NativeSolver(problem)
    assert solver.solve(step, solver.solve(step)).n_iter == 0


def test_against_libsvm():
    """The plain SVM, free bias: scikit-learn's own solution of the same problem."""
    from sklearn.svm import SVC

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((150, 4)), np.where(rng.random(150) < 0.4, 1, -1)
    problem = ct.Problem(X, y, kernel=ct.RBF(gamma=0.3), C=2.0, C_unlabeled=None)
    solution = ct.cccp(ct.svm(), problem)
    svc = SVC(gamma=0.3, C=2.0, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(solution.scores, svc.decision_function(X), atol=1e-4)


def test_hard_margin_is_a_loss_like_any_other():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(2, 0.5, (20, 2)), rng.normal(-2, 0.5, (20, 2))])
    problem = ct.Problem(X, np.repeat([1, -1], 20), C_unlabeled=None)
    model = ct.svm(ct.losses.indicator(1, np.inf))
    native, cvxpy = (ct.cccp(model, problem, solver=s, **o) for s, o in (("native", {"tol": 1e-8}), ("cvxpy", {})))
    assert native.objective == pytest.approx(cvxpy.objective, rel=1e-6)
    assert (problem.y * native.scores).min() == pytest.approx(1, abs=1e-6)


def test_unbounded_problem_is_an_error():
    """A free bias and a loss without minimum on one side: no dual variables sum to zero."""
    problem = ct.Problem(np.eye(3), [1, -1, 0], balance=None)
    falling = ct.losses.PLQ([0], [(0, -1, 0), (0, -0.5, 0)])
    model = ct.Formulation(ct.hinge(), 100.0 * falling, balance=None)
    with pytest.raises(ValueError, match="unbounded"):
        ct.cccp(model, problem)
    with pytest.raises(ValueError, match="unbounded"):
        ct.cccp(model, problem, solver="cvxpy")


def test_infeasible_constraints_are_an_error():
    rng = np.random.default_rng(0)
    problem = ct.Problem(rng.standard_normal((30, 2)), np.resize([1, -1], 30), C_unlabeled=None)
    for solver in ("native", "cvxpy"):
        with pytest.raises(ValueError, match="infeasible"):
            ct.cccp(ct.svm(ct.losses.indicator(1, np.inf)), problem, solver=solver)


@pytest.mark.parametrize(
    ("scale", "statuses"),
    [(20, {"optimal"}), (60, {"optimal", "inaccurate"}), (200, {"inaccurate"}), (2000, {"inaccurate"})],
)
def test_what_rounding_prevents_is_never_reported_as_met(scale, statuses):
    """Kernel values up to 10^20: a solution is accurate, or it says that it is not."""
    found = set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = scale * rng.standard_normal((16, 3))
        problem = ct.Problem(X, np.resize([1, -1, 0, 0], 16), kernel=ct.Polynomial(3, 1.0, 1.0), C=10.0)
        step = ct.cccp_tsvm().on(problem).step(rng.normal(0, 1, 16))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            solution = ct.solvers.NativeSolver(problem, max_iter=50).solve(step)
        found.add(solution.status)
        assert (solution.status == "optimal") == (not caught)
        met = solution.kkt <= 2e-3 and solution.gap <= 1e-3
        assert met == (solution.status == "optimal")
    assert found == statuses


def test_running_out_of_iterations_is_said():
    rng = np.random.default_rng(0)
    problem = ct.Problem(rng.standard_normal((60, 5)), np.resize([1, -1, 0], 60), kernel=ct.RBF(1.0), C=100)
    step = ct.cccp_tsvm().on(problem).step()
    with pytest.warns(UserWarning, match="violation"):
        solution = ct.solvers.NativeSolver(problem, max_iter=1, tol=1e-9, cache_size=1e-3).solve(step)
    assert solution.status == "max_iter"
    assert solution.kkt > 1e-9


def test_pieces_are_the_conjugates_derivatives():
    for name, loss in CATALOGUE.items():
        convex, _ = loss.split()
        pieces, conjugate = conjugate_pieces((convex,)), convex.conjugate()
        low, high = max(conjugate.lower, -5), min(conjugate.upper, 5)
        s = np.linspace(low, high, 53)[1:-1]
        edges = pieces.ends[0, : pieces.count[0] + 1]
        place = np.searchsorted(edges, s, side="right") - 1
        found = pieces.offset[0, place] + pieces.rate[0, place] * s
        np.testing.assert_allclose(found, conjugate.derivatives(s)[1], err_msg=name)
    with pytest.raises(ValueError, match="not convex"):
        conjugate_pieces((ct.ramp(0),))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(tol=0), "tol=0"),
        (dict(tol=np.nan), "tol=nan"),
        (dict(tol="small"), "tol='small' must be a finite number > 0"),
        (dict(cache_size=None), "cache_size=None"),
        (dict(cache_size=-1), "cache_size=-1"),
        (dict(balance_by="magic"), "balance_by='magic'"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        ct.solvers.NativeSolver(random_case(0)[1], **options)


def test_points_without_cost_have_no_tangent():
    _, problem, _ = random_case(0)
    step = ct.Formulation(ct.hinge(), ct.symmetric_hinge(), balance=None).on(problem).step()
    for changes in ({"cost": -step.cost}, {"cost": 0 * step.cost, "slope": np.ones(problem.n)}):
        with pytest.raises(ValueError, match="slope must be 0 where cost is"):
            step.replace(**changes)


def test_a_solver_is_for_its_own_points():
    problem, other = random_case(0)[1], random_case(1)[1]
    step = ct.Formulation(ct.hinge(), ct.symmetric_hinge(), balance=None).on(other).step()
    for solver in (ct.solvers.NativeSolver(problem), ct.modeling.CvxpySolver(problem)):
        with pytest.raises(ValueError, match="make a solver for each problem"):
            solver.solve(step)
    again = other.replace(C=3.0)
    assert ct.solvers.NativeSolver(other).solve(ct.svm().on(again).step()).status == "optimal"


def test_native_refuses_the_one_norm():
    problem = ct.Problem(np.eye(3), [1, -1, 0])
    with pytest.raises(ValueError, match="regularizer='l1'"):
        ct.cccp(ct.Formulation(ct.hinge(), regularizer="l1"), problem, solver="native")


@pytest.mark.parametrize("precision", ["double", "single"])
def test_a_bias_that_points_leave_open_is_the_middle_of_what_they_allow(precision):
    """Both multipliers are at their cost, so that every bias up to 1 - 2 C is optimal."""
    problem = ct.Problem(np.array([[1.0], [-1.0]]), [1, -1], C=0.1, C_unlabeled=None)
    solution = ct.solvers.NativeSolver(problem, precision=precision).solve(ct.svm().on(problem).step())
    assert solution.gamma == pytest.approx([0.1, -0.1])
    assert solution.bias == pytest.approx(0, abs=1e-6)


def test_a_point_that_is_called_optimal_and_violates_is_inaccurate(monkeypatch):
    """Its certificate decides: here a multiplier of next to no cost is at the wrong end, which no gap shows."""

    def careless(dual, solve=native.solve_dual, **options):
        point = solve(dual, **options)
        s = point.s.copy()
        s[-1] = -1.0 - s[-1]
        return dataclasses.replace(point, s=s)

    monkeypatch.setattr(native, "solve_dual", careless)
    X, y = np.array([[2.0], [-2.0], [1.0], [9.0]]), [1, -1, 1, 1]
    problem = ct.Problem(X, y, C=[1.0, 1.0, 1.0, 1e-9], C_unlabeled=None)
    with pytest.warns(UserWarning, match="did not meet tol"):
        solution = ct.solvers.NativeSolver(problem).solve(ct.svm().on(problem).step())
    assert solution.gap < 1e-6
    assert solution.status == "inaccurate"
