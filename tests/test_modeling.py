"""The CVXPY layer: readable, DPP, compiled once, and primal = dual."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from strategies import plq, random_case

import convex_tsvm as ct
from convex_tsvm.modeling import DualModel, PrimalModel, conjugate_segments, loss_expression


@settings(max_examples=200)
@given(plq(convex=True))
def test_expression_has_the_value_of_the_loss(loss):
    low, high = max(loss.lower, -8), min(loss.upper, 8)
    points = np.linspace(low, high, 41)
    t = cp.Variable(len(points))
    expression, domain = loss_expression(loss, t)
    t.value = points
    assert expression.is_convex()
    np.testing.assert_allclose(expression.value, loss(points), rtol=1e-9, atol=1e-9)
    assert len(domain) == np.isfinite(loss.domain).sum()


@given(plq(convex=True))
def test_segments_rebuild_the_conjugate(loss):
    """Filling the segments in order from the anchor gives the conjugate: its derivative rises along them."""
    conjugate = loss.conjugate()
    anchor, value, segments = conjugate_segments(loss)
    assert np.isclose(conjugate(anchor), value)
    for sign in (1, -1):
        s, total = anchor, value
        for segment in [one for one in segments[::sign] if one.sign == sign]:
            u = min(segment.length, 2.0)
            total += sign * segment.start * u + 0.5 * segment.rate * u * u
            s += sign * u
            assert np.isclose(conjugate(np.clip(s, conjugate.lower, conjugate.upper)), total, rtol=1e-7, atol=1e-7)
            if segment.length > 2.0:
                break


def test_expression_refuses_a_non_convex_loss():
    with pytest.raises(ValueError, match="not convex"):
        loss_expression(ct.ramp(0), cp.Variable(2))


@pytest.mark.parametrize("seed", [*range(27), *(pytest.param(k, marks=pytest.mark.slow) for k in range(27, 60))])
def test_primal_equals_dual(seed):
    """Each a cvxpy.Problem by itself; the dual once with centring, once with the extra point."""
    formulation, problem, rng = random_case(seed)
    outputs = rng.normal(0, 1.5, problem.n)
    primal = formulation.primal(problem, outputs)
    assert primal.is_dcp(dpp=True)
    value = primal.solve(solver="CLARABEL", enforce_dpp=True)
    for balance_by in ("centring", "x0"):
        dual = formulation.dual(problem, outputs, balance_by=balance_by)
        assert dual.is_dcp(dpp=True)
        assert dual.solve(solver="CLARABEL", enforce_dpp=True) == pytest.approx(value, rel=1e-6, abs=1e-6)


def test_parameters_are_all_that_changes(moons):
    """Costs, tangents and balance change; the compiled problem does not, and follows."""
    X, _, y = moons
    problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=10)
    solver = ct.modeling.CvxpySolver(problem)
    rng = np.random.default_rng(0)
    for balance in (0.0, 0.3, -0.2):
        for scale in (1.0, 0.1):
            model = ct.cccp_tsvm().on(problem).step(rng.normal(0, 1, 80), problem.cost * scale)
            step = model.replace(target=balance)
            assert solver.solve(step).primal == pytest.approx(
                ct.solvers.NativeSolver(problem).solve(step).primal, rel=1e-6
            )
    assert len(solver._models) == 1


@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("model", [ct.cccp_tsvm(), ct.s3vm()], ids=lambda m: m.name)
def test_a_cccp_loop_compiles_once(model, form, moons, monkeypatch):
    """Once for the start, which has the labelled points only, and once for all other steps."""
    X, _, y = moons
    problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=10)
    solver = ct.modeling.CvxpySolver(problem, form=form)
    chains = []
    original = cp.Problem._construct_chain
    monkeypatch.setattr(
        cp.Problem, "_construct_chain", lambda self, *a, **k: chains.append(1) or original(self, *a, **k)
    )
    solution = ct.cccp(model, problem, solver=solver, annealing=4)
    assert solution.n_iter >= 4
    assert len(solver._models) == 2
    assert len(chains) == 2


def test_the_dual_is_collobert2006_equation_27(moons):
    """Algorithm 2 written out: L + 2U variables, the extra point x₀, bounds moved by β."""
    X, _, y = moons
    problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=10)
    outputs, s = np.random.default_rng(0).normal(0, 1, 80), -0.3
    u, labels = problem.unlabeled, problem.labeled
    signs = np.concatenate([y[labels], np.ones(len(u)), -np.ones(len(u))])
    points = np.concatenate([labels, u, u])
    copies = len(labels)
    C, C_star = problem.cost[labels], np.tile(problem.cost[u], 2)
    beta = np.where(signs[copies:] * outputs[points[copies:]] < s, C_star, 0)
    G = np.block(
        [
            [problem.gram, problem.gram[:, u].mean(1)[:, None]],
            [problem.gram[u].mean(0), problem.gram[np.ix_(u, u)].mean()],
        ]
    )
    order = np.append(points, 80)
    alpha = cp.Variable(len(order))
    zeta = np.append(signs, y[labels].mean())
    signed = cp.multiply(signs, alpha[:-1])
    bounds = [
        cp.sum(alpha) == 0,
        signed[:copies] >= 0,
        signed[:copies] <= C,
        signed[copies:] >= -beta,
        signed[copies:] <= C_star - beta,
    ]
    quadratic = cp.quad_form(alpha, cp.psd_wrap(G[np.ix_(order, order)]))
    paper = cp.Problem(cp.Maximize(zeta @ alpha - 0.5 * quadratic), bounds).solve(solver="CLARABEL")
    # The paper drops the constant Σ β_i of the Lagrangian (21): Σ α_i = Σ (ζ_i α̃_i + β_i).
    paper += beta.sum()
    loss = ct.ramp(s) + ct.ramp(s).reflect()
    model = ct.Formulation(ct.hinge(), loss)
    ours = model.dual(problem, outputs).solve(solver="CLARABEL")
    assert ours - model.on(problem).tangents_at_zero(outputs, problem.cost) == pytest.approx(paper, rel=1e-6)


@pytest.mark.parametrize("seed", range(30))
def test_a_surrogate_is_nowhere_below_the_objective_and_touches_it(seed):
    formulation, problem, rng = random_case(seed)
    outputs = rng.normal(0, 1.5, problem.n)
    primal = formulation.primal(problem, outputs)
    value = primal.solve(solver="CLARABEL")
    found = {one.name(): one.value for one in primal.variables()}
    if len(found["f"]) == problem.n:  # else points that cost nothing are left out
        regularization = value - problem_losses(formulation, problem, found["f"], outputs)
        assert formulation.objective(problem, found["f"], regularization) <= value + 1e-6 * max(1, abs(value))
    # Where the tangents are taken at a solution, the surrogate has its least value there, which is the objective.
    solution = ct.cccp(formulation, problem, tol=1e-8)
    again = formulation.primal(problem, solution.scores).solve(solver="CLARABEL")
    assert again == pytest.approx(solution.objective, rel=1e-4, abs=1e-4)


def problem_losses(formulation, problem, f, outputs):
    """What a surrogate has besides ½ ‖w‖²: convex parts and tangents at other outputs, point by point."""
    total = 0.0
    for i in range(problem.n):
        kind = 0 if problem.y[i] > 0 else 1 if problem.y[i] < 0 else 2
        convex, concave = formulation.parts[kind]
        slope = concave.supergradient(outputs[i : i + 1])[0]
        tangent = concave(outputs[i : i + 1])[0] + slope * (f[i] - outputs[i])
        total += problem.cost[i] * (float(convex(f[i])) + tangent)
    return total


def test_one_norm_primal_and_dual():
    """Fung and Mangasarian's S3VM: the dual has a constraint in place of the quadratic term."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    y = np.zeros(40)
    y[:8] = np.where(X[:8, 0] > 0, 1, -1)
    for balance in ("linear", None):
        model = ct.Formulation(ct.hinge(), ct.symmetric_hinge(), balance=balance, regularizer="l1")
        problem = ct.Problem(X, y, C=1.0, balance="labeled" if balance else None)
        for seed in range(3):
            outputs = np.random.default_rng(seed).normal(0, 1, 40)
            primal = model.primal(problem, outputs).solve(solver="CLARABEL")
            for way in ("centring", "x0"):
                dual = model.dual(problem, outputs, balance_by=way).solve(solver="CLARABEL")
                assert dual == pytest.approx(primal, rel=1e-6, abs=1e-6)
        solution = ct.cccp(model, problem, solver="cvxpy")
        assert solution.objective == pytest.approx(
            np.abs(solution.weights).sum() + problem.cost @ model.loss_values(problem, solution.scores)
        )
        np.testing.assert_allclose(solution.decision_function(X), solution.scores, atol=1e-9)
        assert (np.abs(solution.weights) < 1e-6).any()  # sparse, which is what the 1-norm is for


def test_sparse_points_in_the_linear_space():
    rng = np.random.default_rng(0)
    X = sp.random(50, 20, density=0.2, random_state=0, format="csr")
    y = np.resize([1, -1, 0, 0, 0], 50)
    dense, sparse = (ct.Problem(points, y, C=2) for points in (X.toarray(), X))
    outputs = rng.normal(0, 1, 50)
    step = [ct.cccp_tsvm().on(p).step(outputs) for p in (dense, sparse)]
    values = [
        solver.solve(one).primal
        for one, problem in zip(step, (dense, sparse), strict=True)
        for solver in (
            ct.solvers.NativeSolver(problem),
            ct.modeling.CvxpySolver(problem),
            ct.modeling.CvxpySolver(problem, form="dual"),
        )
    ]
    np.testing.assert_allclose(values, values[0], rtol=1e-6)


def test_form_follows_the_size():
    rng = np.random.default_rng(0)
    y = np.resize([1, -1, 0], 12)
    sparse = sp.random(12, 40, density=0.05, random_state=0, format="csr")
    dense = rng.standard_normal((12, 40))
    for X, expected in ((dense[:, :3], PrimalModel), (dense, DualModel), (sparse, PrimalModel)):
        problem = ct.Problem(X, y)
        assert isinstance(ct.modeling.CvxpySolver(problem).model(ct.cccp_tsvm().on(problem).step()), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(form="both"), "form='both'"),
        (dict(cvxpy_solver="NONE"), "cvxpy_solver='NONE' is not installed"),
        (dict(balance_by="magic"), "balance_by='magic'"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        ct.modeling.CvxpySolver(random_case(0)[1], **options)


def test_an_inaccurate_solver_is_reported(moons):
    pytest.importorskip("scs")
    X, _, y = moons
    problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=10)
    step = ct.cccp_tsvm().on(problem).step()
    with pytest.warns(UserWarning, match="reduced accuracy"):
        solution = ct.modeling.CvxpySolver(problem, cvxpy_solver="SCS", cvxpy_options={"max_iters": 20}).solve(step)
    assert solution.status == "inaccurate"
    # What comes back is a bound all the same: dual below optimum below primal.
    best = ct.solvers.NativeSolver(problem).solve(step).primal
    assert solution.dual <= best + 1e-9
    assert solution.primal >= best - 1e-9
