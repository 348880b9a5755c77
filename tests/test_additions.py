"""Additions: convex terms and constraints written in CVXPY, beside loops and problems that are written by hand."""

import cvxpy as cp
import numpy as np
import pytest

import convex_tsvm as ct


def random_addition(rng, d, n):
    """A function of w, b and f, and its name."""
    kind = int(rng.integers(0, 6))
    weight, where = float(rng.uniform(0.1, 2)), rng.choice(n, 4, replace=False)
    direction = rng.normal(size=n)
    return [
        (lambda w, b, f: weight * cp.norm(w[:2]), "norm"),
        (lambda w, b, f: [w[0] >= 0], "rising"),
        (lambda w, b, f: weight * cp.sum(cp.pos(cp.abs(f[where]) - 0.1)), "universum"),
        (lambda w, b, f: (weight * cp.square(b), [f[where] <= 2]), "bias"),
        (lambda w, b, f: weight * cp.square(direction @ f) / n, "direction"),
        (lambda w, b, f: weight * cp.max(f), "largest output"),
    ][kind]


def random_case(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(14, 26)), int(rng.integers(3, 6))
    truth = np.resize([1.0, -1.0], n)
    X = rng.normal(size=(n, d)) + 0.7 * truth[:, None] * (np.arange(d) < 2)
    cost = np.full(n, float(rng.choice([0.3, 1.0])))
    cost[-3:] = 0  # points that pay nothing
    linear, balance = bool(seed % 2), [None, 0.1][(seed // 2) % 2]
    problem = ct.Problem(
        X,
        np.where(np.arange(n) < 6, truth, 0.0),
        kernel="linear" if linear else ct.RBF(1.5),
        C=float(rng.choice([1.0, 5.0])),
        C_unlabeled=cost,
        balance=balance,
    )
    # The first one makes the best bias a single one, so that two solvers find the same function.
    chosen = [(lambda w, b, f: 0.05 * cp.square(b), "single bias")]
    chosen += [random_addition(rng, d if linear else n, n) for _ in range(int(rng.integers(1, 3)))]
    model = ct.Formulation(
        ct.hinge(),
        ct.symmetric_ramp(-0.3),
        balance=None if balance is None else "linear",
        additions=[ct.formulations.addition(function, name=name) for function, name in chosen],
    )
    return model, problem, [function for function, _ in chosen], rng


def objective_of(problem, functions, w, b, f):
    """½ ‖w‖² + losses + additions, from numbers."""
    K = problem.gram
    square = float(w @ w) if problem.is_linear else float(w @ K @ w)
    known, unknown = problem.labeled, problem.unlabeled
    losses = float(problem.cost[known] @ np.maximum(0, 1 - problem.y[known] * f[known]))
    losses += float(problem.cost[unknown] @ np.minimum(0.7, np.maximum(0, 1 - np.abs(f[unknown]))))
    return 0.5 * square + losses + sum(float(t.value) for t in terms_of(functions, w, b, f)[0])


def terms_of(functions, w, b, f):
    terms, constraints = [], []
    for function in functions:
        found = function(cp.Constant(w) if isinstance(w, np.ndarray) else w, as_expression(b), as_expression(f))
        if isinstance(found, tuple):
            terms.append(found[0])
            constraints += found[1]
        elif isinstance(found, list):
            constraints += found
        else:
            terms.append(found)
    return terms, constraints


def as_expression(value):
    return value if isinstance(value, cp.Expression) else cp.Constant(value)


def cccp_by_hand(model, problem, functions, start):
    """Tangents of the ramp's concave part at outputs, the convex problem, and again, as one would write it."""
    known, unknown = problem.labeled, problem.unlabeled
    K, f = problem.gram, start
    for _ in range(60):
        beta = np.where(np.abs(f[unknown]) > 0.3, -np.sign(f[unknown]), 0.0)
        w = cp.Variable(problem.X.shape[1] if problem.is_linear else problem.n)
        b = cp.Variable()
        g = (problem.X if problem.is_linear else K) @ w + b
        objective = 0.5 * (cp.sum_squares(w) if problem.is_linear else cp.quad_form(w, cp.psd_wrap(K)))
        objective += problem.cost[known] @ cp.pos(1 - cp.multiply(problem.y[known], g[known]))
        # min(0.7, max(0, 1 - |t|)) = max(0, |t| - 1) + 0.7 - max(0, |t| - 0.3)
        objective += problem.cost[unknown] @ (cp.pos(cp.abs(g[unknown]) - 1) + cp.multiply(beta, g[unknown]))
        terms, constraints = terms_of(functions, w, b, g)
        if model.balance is not None:
            constraints.append(cp.sum(g[unknown]) == problem.balance_target * len(unknown))
        cp.Problem(cp.Minimize(objective + sum(terms)), constraints).solve(solver="CLARABEL")
        f = np.asarray(g.value)
        moved = np.where(np.abs(f[unknown]) > 0.3, -np.sign(f[unknown]), 0.0)
        if (moved == beta).all():
            break
    return objective_of(problem, functions, np.asarray(w.value), float(b.value), f)


@pytest.mark.parametrize("seed", [*range(10), *(pytest.param(k, marks=pytest.mark.slow) for k in range(10, 60))])
def test_objective_is_that_of_a_loop_by_hand(seed):
    model, problem, functions, rng = random_case(seed)
    start = rng.normal(size=problem.n)
    solution = ct.cccp(model, problem, start=start)
    by_hand = cccp_by_hand(model, problem, functions, start)
    assert solution.objective == pytest.approx(by_hand, rel=1e-6, abs=1e-6)
    w = solution.weights if problem.is_linear else solution.coefficients
    recomputed = objective_of(problem, functions, w, solution.bias, solution.scores)
    assert solution.objective == pytest.approx(recomputed, rel=1e-7)
    objectives = [step.objective for step in solution.history]
    assert all(np.diff(objectives) <= 1e-7 * np.abs(objectives[:-1]))
    assert solution.status == "converged"
    certificate = solution.certificate()
    assert certificate.word == "CLARABEL"
    assert np.isnan(certificate.gap)
    assert certificate.objective == pytest.approx(solution.objective)
    if certificate.tangents_changed == 0:
        assert certificate.primal == pytest.approx(solution.objective, rel=1e-6)
    assert "CLARABEL's word" in str(certificate)


@pytest.mark.parametrize("method", [ct.cccp, ct.switching, ct.annealing, ct.linearization])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_every_method_of_convex_steps_takes_them(method, kernel):
    """A constraint holds at every method's solution, and the objective has the term."""
    model, problem, _, _ = random_case(1)
    problem = problem.replace(kernel=kernel, balance=0.1)
    limit = ct.formulations.addition(lambda w, b, f: (3 * cp.square(b), [cp.abs(f) <= 1.5]), name="limit")
    loss = ct.symmetric_ramp(-0.3) if method is ct.cccp else ct.symmetric_hinge()
    model = ct.Formulation(ct.hinge(), loss, additions=limit)
    solution = method(model, problem)
    assert np.abs(solution.scores).max() <= 1.5 + 1e-5
    assert solution.regularization >= 3 * solution.bias**2
    np.testing.assert_allclose(solution.decision_function(problem.X), solution.scores, atol=1e-8)
    assert solution.solver == "cvxpy (CLARABEL)"
    exact = method(model, problem.replace(balance=("exact", 0.5)))
    assert int((exact.labels[problem.unlabeled] > 0).sum()) == round(0.5 * problem.n_unlabeled)


def test_an_addition_that_changes_nothing_changes_nothing():
    """The same point as without it, by the native solver."""
    for seed in range(2):
        model, problem, _, rng = random_case(seed)
        nothing = ct.formulations.addition(lambda w, b, f: [f <= 100], name="nothing")
        start = rng.normal(size=problem.n)
        plain = ct.Formulation(model.labeled, model.unlabeled, balance=model.balance)
        with_one = ct.Formulation(model.labeled, model.unlabeled, balance=model.balance, additions=[nothing])
        one, other = (ct.cccp(m, problem, start=start, tol=1e-8) for m in (with_one, plain))
        assert one.solver == "cvxpy (CLARABEL)"
        assert other.solver in ("linear", "native")
        assert one.objective == pytest.approx(other.objective, rel=1e-6)


def test_new_points_and_variables_of_its_own():
    model, problem, _, _ = random_case(1)
    assert problem.is_linear
    new = np.random.default_rng(1).normal(size=(5, problem.X.shape[1]))

    def spread(w, b, f):
        """The outputs at new points are near one number, which is found."""
        middle = cp.Variable()
        return cp.sum(cp.abs(new @ w + b - middle))

    plain = ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), balance=model.balance)
    near = ct.Formulation(
        ct.hinge(),
        ct.symmetric_ramp(-0.3),
        balance=model.balance,
        additions=[ct.formulations.addition(lambda w, b, f: 50 * spread(w, b, f))],
    )
    ones = [ct.cccp(m, problem) for m in (plain, near)]
    spreads = [float(np.abs(one.decision_function(new) - np.median(one.decision_function(new))).sum()) for one in ones]
    assert spreads[1] < 0.3 * spreads[0]
    by_hand = 0.5 * float(ones[1].weights @ ones[1].weights) + 50 * spreads[1]
    assert ones[1].regularization == pytest.approx(by_hand, rel=1e-4, abs=1e-5)
    assert ones[1].certificate().objective == pytest.approx(ones[1].objective, rel=1e-9)


def test_estimators_and_reports_have_them():
    model, problem, _, _ = random_case(1)
    y = np.where(problem.y == 0, -1, problem.y > 0)
    rising = ct.formulations.addition(lambda w, b, f: [w >= 0], name="rising", latex=r"[w \ge 0]")
    model = ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), additions=[rising])
    classifier = ct.TransductiveSVC(kernel="linear", loss=model, balance=0.0).fit(problem.X, y)
    assert (classifier.coef_ >= -1e-6).all()
    assert classifier.status_ == "converged"
    supervised = ct.TransductiveSVC(kernel="linear", loss=model, C_unlabeled=None).fit(problem.X, y)
    assert (supervised.coef_ >= -1e-6).all()
    assert ct.verify(model, problem.replace(balance=0.1)).passed
    assert "added: rising" in str(model)
    assert r"[w \ge 0]" in model.latex()
    printed = str(model.primal(problem.replace(balance=0.1)))
    assert "0 <= w" in printed
    norm = ct.Formulation(
        ct.hinge(), additions=[ct.formulations.addition(lambda w, b, f: cp.norm(w[:2]))], balance=None
    )
    assert "‖w[0:2]‖" in str(norm.primal(problem))
    assert r"\lVert w_{0:2} \rVert" in norm.primal(problem).latex()


def test_a_wrong_addition_is_named():
    problem = ct.Problem(np.eye(3), [1, -1, 0], balance=None)
    cases = [
        (lambda w, b, f: -cp.norm(w), "addition 'mine' is not convex by CVXPY's rules: its curvature is concave"),
        (lambda w, b, f: f, r"addition 'mine' has a term of shape \(3,\); it must be one number"),
        (lambda w, b, f: w[9], "addition 'mine' fails with IndexError"),
        (lambda w, b, f: w @ np.ones(5), "addition 'mine' fails with ValueError: Incompatible dimensions"),
        (lambda w, b, f: [cp.norm(w) >= 1], "addition 'mine': its constraint .* is not convex"),
        (lambda w, b, f: "text", "addition 'mine' returns 'text'; it must be"),
        (lambda w, b, f: [True], "addition 'mine': its constraint True is no CVXPY constraint"),
        (lambda w, b: 0, "addition 'mine' fails with TypeError"),
    ]
    for function, message in cases:
        model = ct.Formulation(ct.hinge(), balance=None, additions=[ct.formulations.addition(function, name="mine")])
        with pytest.raises(ValueError, match=message):
            ct.cccp(model, problem)
    with pytest.raises(ValueError, match="no Addition; addition"):
        ct.Formulation(ct.hinge(), additions=[lambda w, b, f: 0])
    with pytest.raises(ValueError, match="must be a function of w, b and f"):
        ct.formulations.addition("w")
    contradiction = ct.formulations.addition(lambda w, b, f: [f[0] >= 2, f[0] <= 1], name="never")
    with pytest.raises(ValueError, match="infeasible"):
        ct.cccp(ct.Formulation(ct.hinge(), balance=None, additions=[contradiction]), problem)


def test_what_takes_none_says_so():
    problem = ct.Problem(np.eye(4), [1, -1, 0, 0], balance=None)
    some = [ct.formulations.addition(lambda w, b, f: cp.norm(w), name="norm")]
    model = ct.Formulation(ct.hinge(), ct.symmetric_hinge(), balance=None, additions=some)
    smooth = ct.Formulation(ct.squared_hinge(), ct.losses.exponential(), balance=None, additions=some)
    for call in (
        lambda: model.dual(problem),
        lambda: ct.cccp(model, problem, solver="native"),
        lambda: ct.cccp(model, problem, solver="finite_newton"),
        lambda: ct.gradient(smooth, problem),
        lambda: ct.exact_search(model, problem, branch_on="points"),
        lambda: ct.LowerBoundBuilder(model, problem, relaxation="envelope"),
    ):
        with pytest.raises(ValueError, match=r"addition\('norm'\)"):
            call()
