"""CCCP: monotone, stationary, the same through either solver, and with either reading of the balance."""

import dataclasses
import warnings

import numpy as np
import pytest
from strategies import random_case

import convex_tsvm as ct
from convex_tsvm.methods import annealing_schedule

MODELS = {
    "ramp": ct.cccp_tsvm(-0.3),
    "hinge": ct.cccp_tsvm(0.0),
    "squared": ct.s3vm(),
    "flat": ct.s3vm(ct.losses.flat_newton()),
    "two slopes": ct.Formulation(ct.hinge(), ct.losses.two_slope_symmetric_ramp(-0.4, 0.2)),
    "compact": ct.Formulation(
        ct.losses.relaxed_compact_hinge(1.5), ct.losses.relaxed_compact_symmetric_hinge(1.5, s=-0.1)
    ),
    "robust": ct.Formulation(ct.ramp(-0.5), ct.symmetric_ramp(-0.2)),
}


def exponential(s=5.0):
    """exp(-s t²) (chapelle2008 eq. 14), made a DC loss by the largest curvature it has, 4 s exp(-3/2)."""
    k = 2 * s * np.exp(-1.5)
    concave = ct.losses.SmoothConcave(
        lambda t: np.exp(-s * t**2) - k * t**2, lambda t: -2 * s * t * np.exp(-s * t**2) - 2 * k * t
    )
    return ct.losses.DCLoss(ct.losses.PLQ([], [(k, 0, 0)]), concave, name="exponential")


@pytest.fixture
def problem(moons):
    X, _, y = moons
    return ct.Problem(X, y, kernel=ct.RBF(0.5), C=10)


@pytest.mark.parametrize("name", MODELS)
def test_objective_never_rises_and_the_end_is_stationary(name, problem):
    solution = ct.cccp(MODELS[name], problem, tol=1e-6)
    objectives = [iteration.step_objective for iteration in solution.history]
    assert solution.status == "converged"
    assert all(b <= a * (1 + 1e-9) for a, b in zip(objectives[:-1], objectives[1:], strict=True))
    certificate = solution.certificate()
    assert certificate.objective == pytest.approx(solution.objective, rel=1e-12)
    assert certificate.gap < 1e-6
    if MODELS[name].has_finitely_many_tangents:
        assert certificate.tangents_changed == 0


@pytest.mark.parametrize("name", MODELS)
def test_both_solvers_take_the_same_steps(name, problem):
    native = ct.cccp(MODELS[name], problem)
    cvxpy = ct.cccp(MODELS[name], problem, solver="cvxpy")
    assert cvxpy.objective == pytest.approx(native.objective, rel=1e-6)
    np.testing.assert_array_equal(cvxpy.labels, native.labels)


@pytest.mark.parametrize("balance_by", ["centring", "x0"])
@pytest.mark.parametrize("solver", ["native", "cvxpy"])
def test_both_readings_of_the_balance(solver, balance_by, problem):
    reference = ct.cccp(ct.cccp_tsvm(), problem)
    solution = ct.cccp(ct.cccp_tsvm(), problem, solver=solver, balance_by=balance_by)
    assert solution.objective == pytest.approx(reference.objective, rel=1e-6)
    assert solution.scores[problem.unlabeled].mean() == pytest.approx(problem.balance_target)


class Recording:
    """A native solver that keeps what it has solved."""

    def __init__(self, problem):
        self.native, self.solved = ct.solvers.NativeSolver(problem, tol=1e-6), []

    def solve(self, step, start=None):
        self.solved.append(self.native.solve(step, start))
        return self.solved[-1]


def paid(formulation, problem, f):
    """What each point pays at its output, from the losses themselves."""
    labelled = formulation.labeled(np.where(problem.y == 0, 1.0, problem.y) * f)
    return np.where(problem.y == 0, formulation.unlabeled(f), labelled)


@pytest.mark.parametrize("seed", range(30))
def test_random_problems_descend(seed):
    """CCCP records only what falls, so that its steps are compared with those that tangents give.

    The concave part of a point is what its loss is beyond the convex loss of the step.  Its tangent has a slope between
    the differences to the left and to the right of the output before; the convex step with all tangents touches the
    objective there, is nowhere below it, and falls.
    """
    formulation, problem, _ = random_case(seed)
    solution = ct.cccp(formulation, problem, tol=1e-6)
    objectives = np.array([iteration.step_objective for iteration in solution.history])
    assert np.all(np.diff(objectives) <= 1e-7 * (1 + np.abs(objectives[:-1])))
    if solution.lower_bound is not None:
        assert solution.lower_bound <= solution.objective + 1e-9
        assert -1e-12 <= solution.gap <= 1
    # Where steps are equally good but for rounding, the one whose tangents are its own is kept.
    assert solution.status == "converged"
    assert solution.certificate().tangents_changed == 0
    solver = Recording(problem)
    ct.cccp(formulation, problem, solver=solver)
    for before, after in zip(solver.solved[:-1], solver.solved[1:], strict=True):
        step, f, cost = after.step, before.outputs, problem.cost

        def convex(t, step=step):
            return np.choose(step.kind, [loss(t) for loss in step.losses])

        def concave(t, convex=convex):
            return paid(formulation, problem, t) - convex(t)

        right, left = ((concave(f + h) - concave(f)) / h for h in (1e-6, -1e-6))
        room = 1e-4 * (1 + np.abs(f))
        assert (cost * (right - room) <= step.slope).all()
        assert (step.slope <= cost * (left + room)).all()
        touching = cost @ concave(f) - step.slope @ f
        objective = after.regularization + cost @ paid(formulation, problem, after.outputs)
        surrogate = after.regularization + cost @ convex(after.outputs) + step.slope @ after.outputs + touching
        room = 1e-5 * (1 + abs(objective))
        assert after.primal + touching == pytest.approx(surrogate, rel=1e-9, abs=1e-9)
        assert objective <= surrogate + room
        assert surrogate <= before.regularization + cost @ paid(formulation, problem, f) + room


def test_the_surrogate_is_the_objective_at_a_fixed_point(problem):
    """Convex step + constants of the tangents = objective, once the tangents are those of the solution."""
    model = ct.cccp_tsvm()
    solution = ct.cccp(model, problem)
    _, concave = model.unlabeled.split()
    f, u = solution.scores, problem.unlabeled
    constants = problem.cost[u] @ (concave(f[u]) - concave.supergradient(f[u]) * f[u])
    assert solution.step.primal + constants == pytest.approx(solution.objective, rel=1e-9)


def test_unlabelled_points_help_on_two_moons(moons):
    X, truth, y = moons
    few = y.copy()
    few[np.flatnonzero(y)[4:]] = 0
    problem = ct.Problem(X, few, kernel=ct.RBF(0.3), C=10, balance=0.0)
    u = problem.unlabeled
    errors = [np.mean(ct.cccp(m, problem).labels[u] != truth[u]) for m in (ct.svm(), ct.cccp_tsvm())]
    assert errors[1] < errors[0]


def test_convex_formulations_take_one_step(problem):
    model = ct.Formulation(ct.hinge(), ct.losses.epsilon_insensitive(0.5))
    solution = ct.cccp(model, problem)
    assert model.is_convex
    assert solution.n_iter == 1
    assert solution.lower_bound == pytest.approx(solution.objective, rel=1e-6)


def test_a_concave_part_far_out_is_not_overlooked(problem):
    model = ct.Formulation(ct.ramp(-20.0), None)
    assert not model.is_convex
    assert ct.cccp(model, problem).objective == pytest.approx(ct.cccp(ct.svm(balance="linear"), problem).objective)


def test_a_dual_value_that_fails_its_constraints_is_no_bound(problem):
    step = ct.cccp(ct.svm(), problem).step
    assert dataclasses.replace(step, dual_infeasibility=0.0).lower_bound == step.dual - step.doubt
    assert 0 < step.doubt < 1e-9 * abs(step.dual)
    assert dataclasses.replace(step, dual_infeasibility=1e-6).lower_bound is None


def test_the_last_step_is_kept_where_only_rounding_tells_it_from_the_one_before():
    """Its tangents are those at its own outputs, so that its certificate is about the objective."""
    rng, truth = np.random.default_rng(0), np.resize([1.0, -1.0], 200)
    X = np.column_stack([rng.uniform(-5, 5, 200), 0.8 * truth + 0.15 * rng.normal(size=200)])
    X[:2] = [[4.0, 0.8], [-4.0, -0.8]]
    problem = ct.Problem(X, np.where(np.arange(200) < 2, truth, 0.0), C=10, C_unlabeled=1, balance=0.0)
    held = ct.losses.tube(1.5, np.inf)
    solution = ct.cccp(ct.Formulation(ct.hinge() + held, ct.symmetric_ramp(-0.3) + held, balance="linear"), problem)
    assert solution.status == "converged"
    assert solution.certificate().tangents_changed == 0
    assert solution.certificate().primal == pytest.approx(solution.objective, rel=1e-9)


def test_smooth_losses_go_through_both_solvers(problem):
    model = ct.Formulation(ct.squared_hinge(), exponential())
    solutions = [ct.cccp(model, problem, solver=solver) for solver in ("native", "cvxpy")]
    assert solutions[0].objective == pytest.approx(solutions[1].objective, rel=1e-4)
    objectives = [iteration.step_objective for iteration in solutions[0].history]
    assert len(objectives) > 2
    assert all(b <= a * (1 + 1e-9) for a, b in zip(objectives[:-1], objectives[1:], strict=True))


def test_annealing_raises_the_cost_and_ends_at_the_problem(problem):
    solver = Recording(problem)
    solution = ct.cccp(ct.s3vm(), problem, annealing=4, solver=solver)
    scales = [iteration.stage for iteration in solution.history]
    # C of labelled points stays as it is, and C* of the others is multiplied.
    labelled, found = problem.labeled, []
    for solved in solver.solved[1:]:
        cost = solved.step.cost
        assert (cost[labelled] == problem.cost[labelled]).all()
        found.append(cost[problem.unlabeled] / problem.cost[problem.unlabeled])
    assert np.ptp(found, axis=1) == pytest.approx(0)
    assert np.unique(np.round(np.mean(found, axis=1), 12)) == pytest.approx([0.001, 0.01, 0.1, 1.0])
    assert sorted(set(scales)) == pytest.approx([0.001, 0.01, 0.1, 1.0])
    assert scales == sorted(scales)
    assert solution.step.step.cost.tolist() == problem.cost.tolist()
    for scale in set(scales):
        along = [i.step_objective for i in solution.history if i.stage == scale]
        assert all(b <= a * (1 + 1e-9) for a, b in zip(along[:-1], along[1:], strict=True))


def test_start_is_used(problem, moons):
    _, truth, _ = moons
    solution = ct.cccp(ct.cccp_tsvm(), problem)
    again = ct.cccp(ct.cccp_tsvm(), problem, start=solution)
    assert again.n_iter == 1
    assert again.objective == pytest.approx(solution.objective, rel=1e-9)
    other = ct.cccp(ct.cccp_tsvm(), problem, start=2 * truth)
    assert np.mean(other.labels[problem.unlabeled] != truth[problem.unlabeled]) < 0.05


@pytest.mark.parametrize("model", [ct.cccp_tsvm(), ct.s3vm()], ids=lambda m: m.name)
def test_exact_balance_is_reached_or_the_miss_is_said(model):
    """The number of positives may jump where CCCP falls into another minimum, so not every number is attained."""
    rng = np.random.default_rng(0)
    truth = np.resize([1, -1], 100)
    X = rng.standard_normal((100, 5)) + 0.6 * truth[:, None]
    for r in (0.35, 0.5, 0.6):
        exact = ct.Problem(X, np.where(np.arange(100) < 10, truth, 0), balance=("exact", r))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            solution = ct.cccp(model, exact)
        miss = abs(int((solution.labels[exact.unlabeled] > 0).sum()) - exact.positive_count)
        assert miss <= 2
        assert [f"misses by {miss}" in str(w.message) for w in caught] == ([True] if miss else [])
        plain = ct.cccp(model, exact.replace(balance=exact.balance_target))
        assert miss <= abs(int((plain.labels[exact.unlabeled] > 0).sum()) - exact.positive_count)


def test_exact_balance_says_when_it_misses():
    X = np.array([[-1.0], [1.0], [2.0], [2.0], [2.0], [-2.0]])
    problem = ct.Problem(X, [-1, 1, 0, 0, 0, 0], balance=("exact", 0.5), C=10)
    with pytest.warns(UserWarning, match="no balance c gives 2 positive labels"):
        ct.cccp(ct.cccp_tsvm(), problem)


def test_interrupt_keeps_the_best_point(problem):
    def stop(iteration):
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        solution = ct.cccp(ct.cccp_tsvm(), problem, callback=stop)
    assert solution.status == "interrupted"
    assert solution.n_iter == 1
    assert np.isfinite(solution.objective)


class Interrupted:
    """A native solver whose k-th step is interrupted after its first working set."""

    def __init__(self, problem, step):
        self.count, self.step, self.inside = 0, step, False
        self.native = ct.solvers.NativeSolver(problem, tol=1e-6, progress=self.progress)

    def progress(self, n_iter, violation):
        if self.inside and n_iter > 0:
            raise KeyboardInterrupt

    def solve(self, step, start=None):
        self.count += 1
        self.inside = self.count == self.step
        return self.native.solve(step, start)


@pytest.mark.parametrize("step", [1, 2, 3])
def test_interrupt_inside_a_step_keeps_the_best_point(step, problem):
    """What the native solver had counts if it is better than the step before; nothing solved goes lost."""
    with pytest.warns(UserWarning, match="interrupted"):
        solution = ct.cccp(ct.cccp_tsvm(), problem, solver=Interrupted(problem, step))
    assert solution.status == "interrupted"
    assert solution.n_iter == max(0, step - 2)
    whole = ct.cccp(ct.cccp_tsvm(), problem, tol=1e-6)
    assert solution.objective <= (np.inf if step < 3 else whole.history[step - 3].objective + 1e-9)
    assert solution.certificate().objective == pytest.approx(solution.objective, rel=1e-12)


def test_a_step_that_makes_it_worse_is_not_kept(problem):
    """An inaccurate inner solver may raise the objective; the point before is then the result."""
    native = ct.solvers.NativeSolver(problem, tol=1e-6)

    class Worse:
        count = 0

        def solve(self, step, start=None):
            self.count += 1
            if self.count < 3:
                return native.solve(step, start)
            return ct.solvers.NativeSolver(problem, tol=1e-6).solve(step.replace(slope=np.zeros(problem.n)))

    solution = ct.cccp(ct.cccp_tsvm(), problem, solver=Worse())
    objectives = [iteration.objective for iteration in solution.history]
    assert objectives == sorted(objectives, reverse=True)
    assert solution.objective == objectives[-1]


PATHS = {
    "C": lambda p: [p.replace(C=C) for C in (1, 3, 10)],
    "C*": lambda p: [p.replace(C_unlabeled=C) for C in (0.1, 1, 2)],
    "sigma": lambda p: [p.replace(kernel=ct.RBF(sigma)) for sigma in (0.5, 0.6, 0.7)],
    "balance": lambda p: [p.replace(balance=c) for c in (-0.2, 0.0, 0.2)],
    "classes": lambda p: [p, p.replace(y=-p.y)],
}


@pytest.mark.parametrize("name", PATHS)
def test_a_path_gives_the_solutions_of_its_problems(name, problem):
    problems = PATHS[name](problem)
    along = ct.methods.cccp_path(ct.cccp_tsvm(), iter(problems), tol=1e-7)
    for found, each in zip(along, problems, strict=True):
        assert found.problem is each
        assert found.objective == pytest.approx(ct.cccp(ct.cccp_tsvm(), each, tol=1e-7).objective, rel=1e-7)


def test_a_path_costs_less_than_its_problems(problem):
    problems = PATHS["C"](problem)
    steps = [0, 0]

    class Counting:
        def __init__(self, k):
            self.k, self.native = k, ct.solvers.NativeSolver(problem)

        def solve(self, step, start=None):
            steps[self.k] += start is not None
            return self.native.solve(step, start)

    ct.methods.cccp_path(ct.cccp_tsvm(), problems, solver=Counting(0))
    for each in problems:
        ct.cccp(ct.cccp_tsvm(), each, solver=Counting(1))
    assert steps[0] == steps[1] + 2  # the supervised starts of the second and third problem are warm, too


def test_a_path_ends_where_it_is_interrupted(problem):
    solver = Interrupted(problem, 3)
    with pytest.warns(UserWarning, match="interrupted"):
        solutions = ct.methods.cccp_path(ct.cccp_tsvm(), PATHS["C"](problem), solver=solver)
    assert [solution.status for solution in solutions] == ["interrupted"]


def test_problems_of_a_path_have_the_same_points(problem, moons):
    X, _, y = moons
    with pytest.raises(ValueError, match="has 30 points"):
        ct.methods.cccp_path(ct.cccp_tsvm(), [problem, ct.Problem(X[:30], y[:30])])


def test_a_solution_is_a_start(problem):
    """Its outputs give the tangents, its dual variables the inner start; of another kernel as well."""
    other = ct.cccp(ct.cccp_tsvm(), problem.replace(kernel=ct.RBF(0.6)))
    solution = ct.cccp(ct.cccp_tsvm(), problem, start=other, tol=1e-6)
    again = ct.cccp(ct.cccp_tsvm(), problem, start=other.scores, tol=1e-6)
    assert solution.objective == pytest.approx(again.objective, rel=1e-9)


def test_interrupt_of_a_balance_search_keeps_what_there_is(moons):
    """Wherever it comes after the first c, be it in a step or before the first one of another c."""
    X, _, y = moons
    problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=10, balance=("exact", 0.45))
    native = ct.solvers.NativeSolver(problem)
    total = len(ct.cccp(ct.cccp_tsvm(), problem.replace(balance=problem.balance_target), solver=native).history)

    class Interrupted:
        calls, last = 0, 0

        def solve(self, step, start=None):
            self.calls += 1
            if self.calls == self.last:
                raise KeyboardInterrupt
            return native.solve(step, start)

    solver = Interrupted()
    ct.cccp(ct.cccp_tsvm(), problem, solver=solver)
    assert solver.calls > total + 2
    for last in range(total + 2, solver.calls + 1):  # the first c takes one more than its steps: the supervised start
        solver = Interrupted()
        solver.last = last
        with pytest.warns(UserWarning, match="best balance so far"):
            solution = ct.cccp(ct.cccp_tsvm(), problem, solver=solver)
        assert solution.status == "interrupted"
        assert solution.n_iter > 0
    solver.calls, solver.last = 0, 1
    with pytest.raises(KeyboardInterrupt):
        ct.cccp(ct.cccp_tsvm(), problem, solver=solver)


def test_iteration_limit_is_said(problem):
    with pytest.warns(UserWarning, match="max_iter=1"):
        solution = ct.cccp(ct.cccp_tsvm(), problem, max_iter=1)
    assert solution.status == "max_iter"


def test_callback_sees_every_step(problem):
    seen = []
    solution = ct.cccp(ct.cccp_tsvm(), problem, callback=seen.append)
    assert tuple(seen) == solution.history
    assert seen[-1].outputs is solution.scores


def test_solution_predicts(problem, moons):
    X, _, _ = moons
    solution = ct.cccp(ct.cccp_tsvm(), problem)
    np.testing.assert_allclose(solution.decision_function(X), solution.scores, atol=1e-9)
    np.testing.assert_array_equal(solution.predict(X), solution.labels)
    assert solution.weights is None
    assert "relative gap" in str(solution.certificate())
    with pytest.raises(ValueError, match="X has 3 features"):
        solution.decision_function(np.zeros((1, 3)))


def test_linear_weights(moons):
    X, _, y = moons
    solution = ct.cccp(ct.cccp_tsvm(), ct.Problem(X, y))
    np.testing.assert_allclose(X @ solution.weights + solution.bias, solution.scores, atol=1e-9)


def test_schedule():
    assert annealing_schedule(None).tolist() == [1]
    assert annealing_schedule(1).tolist() == [1]
    assert annealing_schedule(10)[[0, -1]] == pytest.approx([0.001, 1])
    assert annealing_schedule([0.5, 1]).tolist() == [0.5, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(solver="magic"), "solver='magic'"),
        (dict(annealing=0), "annealing=0"),
        (dict(annealing=[1, 0.5]), "annealing="),
        (dict(annealing="slow"), "annealing='slow'"),
        (dict(max_iter=0), "max_iter=0"),
        (dict(tol=-1), "tol=-1"),
        (dict(tol=-1, solver="cvxpy"), "tol=-1"),
        (dict(start=[1.0]), "start has shape"),
        (dict(start=np.full(80, np.nan)), "start has shape"),
    ],
)
def test_bad_options_are_named(options, message, problem):
    with pytest.raises(ValueError, match=message):
        ct.cccp(ct.cccp_tsvm(), problem, **options)


@pytest.mark.parametrize("name", ["g50c", "text"])
def test_solvers_agree_on_benchmark_data(name, shared_data):
    """Objective to 1e-6 and every label, on the first split; the benchmark does all ten."""
    import scipy.sparse as sp

    file = shared_data(name)
    sparse = "X" not in file
    X = sp.csr_matrix((file["data"], file["indices"], file["indptr"]), file["shape"]) if sparse else file["X"]
    y = np.zeros(len(file["y"]))
    y[file["labeled"][0]] = file["y"][file["labeled"][0]]
    sigma, C = {"g50c": (38, 19), "text": (3.5, 31)}[name]
    keep = np.r_[np.flatnonzero(y), np.flatnonzero(y == 0)[:450]]  # of text, as many as CVXPY solves quickly
    problem = ct.Problem(X[keep], y[keep], kernel=ct.RBF(sigma), C=C)
    native = ct.cccp(ct.cccp_tsvm(), problem)
    cvxpy = ct.cccp(ct.cccp_tsvm(), problem, solver="cvxpy")
    assert cvxpy.objective == pytest.approx(native.objective, rel=1e-6)
    np.testing.assert_array_equal(cvxpy.labels, native.labels)
