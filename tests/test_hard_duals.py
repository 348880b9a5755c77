"""Methods for duals with most variables between breakpoints: operator splitting, and interior points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import CATALOGUE, random_case

import convex_tsvm as ct
from convex_tsvm.kernels import GramRows
from convex_tsvm.losses import conjugate_pieces
from convex_tsvm.solvers import DualProblem
from convex_tsvm.solvers._loops import proximal_all
from convex_tsvm.solvers.dual import factors, strategy
from convex_tsvm.solvers.dual.interior import interior, ways_of
from convex_tsvm.solvers.dual.rows_held import HeldRows
from convex_tsvm.solvers.dual.splitting import splitting
from convex_tsvm.solvers.dual.step_dual import StepDual

METHODS = {
    "splitting": splitting,
    "interior": lambda dual, kept, state, tol: interior(dual, kept, tol),
}


def dual_of(seed):
    """A random step and its dual in double precision; None where a bias is free."""
    formulation, problem, rng = random_case(seed)
    step = formulation.on(problem).step(rng.normal(0, 1.5, problem.n))
    held = HeldRows(problem, problem.balance_points, 200 * 2**20, "double", 1e-8)
    dual = StepDual(step, "centring", held).problem
    return None if dual.free_bias else (problem, step, dual)


def few_bits(n, positive=0.03, seed=0):
    """Points with twelve binary features, many of them alike, few of them positive; half have labels."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 12)) < 0.3).astype(float)
    scores = X @ rng.normal(size=12) + 0.3 * rng.normal(size=n)
    truth = np.where(scores > np.quantile(scores, 1 - positive), 1.0, -1.0)
    return ct.Problem(X, np.where(np.arange(n) < n // 2, truth, 0.0), kernel=ct.RBF(2.2), C=10, C_unlabeled=10)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("block", range(4))
def test_a_method_finds_what_cvxpy_finds(method, block):
    found, asked = 0, 0
    for seed in range(20 * block, 20 * block + 20):
        case = dual_of(seed)
        if case is None or (method == "interior" and ways_of(case[2]) is None):
            continue  # an output that is prescribed has no breakpoint to begin from
        problem, step, dual = case
        asked += 1
        start = dual.start(None)
        state = dual.state(start, dual.outputs(start))
        reached = METHODS[method](dual, factors.Factors(np.array(dual.rows.full()), low_rank=2.0), state, 1e-5)
        if reached is None or dual.survey(reached).violation > 1e-5:
            continue
        found += 1
        np.testing.assert_allclose(reached.h, dual.outputs(reached.s), atol=1e-8)
        value = ct.NativeSolver(problem, tol=1e-8).solve(step).dual
        gamma = dual.gamma(reached.s)
        solution = ct.instance.certify(step, gamma[: problem.n], 0.0, 0.0) if dual.rows.n == problem.n else None
        if solution is not None:
            assert solution.dual == pytest.approx(value, rel=1e-3, abs=1e-3)
            assert solution.dual <= value + 1e-6 * max(1.0, abs(value))
    assert found >= 0.75 * asked > 0


@given(st.sampled_from(sorted(CATALOGUE)), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_the_proximal_map_is_that_of_the_loss(name, seed):
    rng = np.random.default_rng(seed)
    loss = CATALOGUE[name].split()[0]
    derivatives = conjugate_pieces((loss,)).derivatives
    n, penalty = 30, float(rng.uniform(0.1, 20))
    cost, slope, v = rng.uniform(0.1, 10, n), rng.normal(0, 3, n), rng.normal(0, 4, n)
    s, z = np.empty(n), np.empty(n)
    proximal_all(*derivatives, np.zeros(n, dtype=np.intp), cost, slope, penalty, v, s, z)
    expected = [loss.prox(np.array([a - b / penalty]), c / penalty)[0] for a, b, c in zip(v, slope, cost, strict=True)]
    np.testing.assert_allclose(z, expected, atol=1e-9)
    # The slope is one of the loss there (Fenchel-Young).
    np.testing.assert_allclose(loss(z) + loss.conjugate()(s), z * s, atol=1e-8)


def test_a_factor_where_the_rank_is_low():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(60, 4))
    low, full = factors.Factors(Z @ Z.T), factors.Factors(Z @ Z.T + np.eye(60))
    assert low.factor.shape == (60, 4)
    np.testing.assert_allclose(low.factor @ low.factor.T, Z @ Z.T, atol=1e-7)
    assert full.factor is None
    resolvent = np.linalg.inv(np.eye(60) + full.penalty * full.G)
    np.testing.assert_allclose(full.resolvent, resolvent, atol=1e-5)
    rows, kept = GramRows(Z @ Z.T), strategy.Strategy()
    assert kept.factors(rows) is kept.factors(rows)
    assert kept.factors(rows) is not strategy.Strategy().factors(rows)


@pytest.mark.parametrize("n", [600, 1400])
def test_points_that_come_many_times(n, monkeypatch):
    """They are solved to the tolerance by other methods, in double precision, and to the value found without these."""
    problem = few_bits(n)
    solver = ct.NativeSolver(problem)
    told = []
    choose = solver.strategy.next
    monkeypatch.setattr(solver.strategy, "next", lambda reached: told.append(choose(reached)) or told[-1])
    solution = ct.cccp(ct.cccp_tsvm(), problem, solver=solver)
    assert {"splitting", "interior"} & {choice.method for choice in told}
    assert all(choice.why for choice in told)
    assert solver.strategy.log[-1].method in ("none", "double precision")
    assert solution.status == "converged"
    assert solution.step.gap <= 1e-3
    assert solution.step.kkt <= 1e-3
    step = solution.step.step
    monkeypatch.setattr(strategy, "LEAST_FOR_WHOLE", 10**9)
    without = ct.NativeSolver(problem, precision="double").solve(step)
    assert solution.step.primal == pytest.approx(without.primal, rel=2e-3)


def test_every_catalogue_loss_with_them_from_the_start(monkeypatch):
    """Where they begin at once, and small problems are theirs too, solutions are what they are without."""
    rng = np.random.default_rng(1)
    problem = ct.Problem(rng.standard_normal((40, 3)), np.resize([1, -1, 0, 0, 0], 40), kernel=ct.RBF(1.0), C=3)
    for unlabeled in CATALOGUE.values():
        step = ct.Formulation(ct.hinge(), unlabeled).on(problem).step(rng.normal(0, 1, 40))
        with monkeypatch.context() as patch:
            patch.setattr(strategy, "LEAST_FOR_WHOLE", 0)
            patch.setattr(strategy, "EASY_TURNS", 0)
            hard = ct.NativeSolver(problem, tol=1e-6).solve(step)
        assert hard.primal == pytest.approx(ct.NativeSolver(problem, tol=1e-8).solve(step).primal, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({}, "steps"),
        ({"last": "steps", "turn": 0}, "newton"),
        ({"last": "steps", "turn": 3, "n_steps": 0}, "none"),
        ({"last": "newton", "turn": 5}, "steps"),
        ({"last": "newton", "turn": 6}, "splitting"),
        ({"last": "newton", "turn": 6, "enough": None}, "steps"),
        ({"last": "newton", "turn": 6, "enough": 1e9}, "none"),
        ({"last": "newton", "turn": 6, "low_rank": True}, "interior"),
        ({"last": "newton", "turn": 6, "single": True}, "double precision"),
        ({"last": "newton", "turn": 2, "many_sets": True}, "splitting"),
        ({"last": "splitting", "turn": 6}, "steps"),
        ({"last": "splitting", "turn": 6, "enough": 1e9}, "none"),
        ({"last": "interior", "turn": 6}, "steps"),
        ({"last": "newton", "turn": 50}, "none"),
    ],
)
def test_which_method_is_next(known, expected):
    """The whole of the strategy: what was done last, and how far that has led, says what is next."""
    n, rng = 240, np.random.default_rng(0)
    Z = rng.normal(size=(n, 4 if known.pop("low_rank", False) else n))
    G = (Z @ Z.T).astype(np.float32 if known.pop("single", False) else np.float64)
    losses = conjugate_pieces((ct.hinge(),))
    dual = DualProblem(losses, np.zeros(n, dtype=np.intp), np.ones(n), np.zeros(n), GramRows(G))
    given = {"last": "none", "turn": 0, "n_steps": 5, "enough": 1e-3, "many_sets": False} | known
    s = dual.start(None)
    reached = strategy.Reached(
        dual, dual.state(s, dual.outputs(s)), 1e-5, given.pop("enough"), given.pop("many_sets"), **given
    )
    chosen = strategy.Strategy().next(reached)
    assert chosen.method == expected
    assert chosen.why


def test_what_was_hard_once_is_not_begun_with_patience():
    n = 240
    losses = conjugate_pieces((ct.hinge(),))
    dual = DualProblem(losses, np.zeros(n, dtype=np.intp), np.ones(n), np.zeros(n), GramRows(2.0 * np.eye(n)))
    s = dual.start(None)
    reached = strategy.Reached(dual, dual.state(s, dual.outputs(s)), 1e-5, 1e-3, False, last="newton", turn=1)
    kept = strategy.Strategy()
    assert kept.next(reached).method == "steps"
    kept.is_hard = True
    assert kept.next(reached).method == "splitting"
    assert len(kept.log) == 2
