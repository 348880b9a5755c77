"""Duals with most variables between breakpoints: the augmented Lagrangian, and when it takes over."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC
from strategies import CATALOGUE, random_case

import convex_tsvm as ct
from convex_tsvm.kernels import GramRows
from convex_tsvm.losses import conjugate_pieces
from convex_tsvm.solvers._loops import proximal_all
from convex_tsvm.solvers.dual import native, working_sets
from convex_tsvm.solvers.dual.augmented import augmented
from convex_tsvm.solvers.dual.rows_held import HeldRows
from convex_tsvm.solvers.dual.step_dual import StepDual


def dual_of(seed, precision="double"):
    """A random step and its dual with its matrix in memory."""
    formulation, problem, rng = random_case(seed)
    step = formulation.on(problem).step(rng.normal(0, 1.5, problem.n))
    held = HeldRows(problem, 200 * 2**20, precision, 1e-8)
    dual = StepDual(step, "centring", held).problem
    matrix = GramRows(np.asarray(dual.rows.rows(np.arange(dual.rows.n)))) if not dual.rows.in_memory else dual.rows
    return problem, step, dataclasses.replace(dual, rows=matrix)


def few_bits(n, positive=0.03, seed=0):
    """Points with twelve binary features, many of them alike, few of them positive; half have labels."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 12)) < 0.3).astype(float)
    scores = X @ rng.normal(size=12) + 0.3 * rng.normal(size=n)
    truth = np.where(scores > np.quantile(scores, 1 - positive), 1.0, -1.0)
    return ct.Problem(X, np.where(np.arange(n) < n // 2, truth, 0.0), kernel=ct.RBF(2.2), C=10, C_unlabeled=10)


@pytest.mark.parametrize("block", range(4))
def test_the_augmented_lagrangian_finds_what_steps_find(block):
    """On random steps with every kind of bias and balance, alone and from the first multiplier on."""
    found = 0
    for seed in range(20 * block, 20 * block + 20):
        problem, step, dual = dual_of(seed)
        start = dual.start(None)
        reached = augmented(dual, dual.state(start, dual.outputs(start)), 1e-5)
        if dual.survey(reached).violation > 1e-5:
            continue
        found += 1
        np.testing.assert_allclose(reached.h, dual.outputs(reached.s), atol=1e-8)
        gamma = dual.gamma(reached.s)
        if dual.free_bias and dual.tied.all():
            assert gamma.sum() == pytest.approx(0, abs=1e-8 * (1 + np.abs(gamma).max()))
        value = ct.solvers.NativeSolver(problem, tol=1e-8).solve(step).dual
        if dual.rows.n == problem.n and not dual.free_bias:
            solution = ct.instance.certify(step, gamma[: problem.n], 0.0, 0.0)
            assert solution.dual == pytest.approx(value, rel=1e-3, abs=1e-3)
            assert solution.dual <= value + 1e-6 * max(1.0, abs(value))
    assert found >= 17


@pytest.mark.parametrize("balance", ["labeled", None])
def test_a_part_of_the_variables_keeps_what_the_others_add(balance):
    """To the outputs, and for a free bias to the sum of the multipliers, which is 0 for all variables only."""
    problem = few_bits(400).replace(balance=balance)
    step = ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), balance=balance and "linear").on(problem).step()
    held = HeldRows(problem, 200 * 2**20, "double", 1e-8)
    dual = StepDual(step, "centring", held).problem
    assert dual.free_bias == (balance is None)
    start = dual.start(np.random.default_rng(0).normal(0, 5.0, len(dual.kind)))
    which = np.arange(0, len(start), 2)
    part, inside = dual.part_at(dual.state(start, dual.outputs(start)), which)
    after = augmented(part, inside, 1e-6)
    assert part.survey(after).violation < 1e-2 * part.survey(inside).violation
    whole = start.copy()
    whole[which] = after.s
    np.testing.assert_allclose(after.h, dual.outputs(whole)[which], atol=1e-7)
    if dual.free_bias:
        assert abs(part.gamma(inside.s).sum()) > 1
        assert part.gamma(after.s).sum() == pytest.approx(part.gamma(inside.s).sum(), abs=1e-8)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_many_sets_without_a_balance(tol):
    """Several working sets, in which the augmented Lagrangian takes over at once."""
    rng = np.random.default_rng(0)
    truth = np.resize([1.0, -1.0], 3000)
    X = rng.normal(size=(3000, 20)) + 0.3 * truth[:, None]
    problem = ct.Problem(X, truth, kernel=ct.RBF(8.0), C=10, C_unlabeled=None)
    solver = ct.solvers.NativeSolver(problem, tol=tol, precision="double")
    solver.strategy.is_hard = True
    solution = ct.cccp(ct.svm(), problem, solver=solver)
    assert solution.status == "converged"
    assert solution.step.gap <= tol
    assert abs(solution.coefficients.sum()) <= 1e-6


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


@pytest.mark.parametrize("n", [600, 1400])
def test_points_that_come_many_times(n, monkeypatch):
    """They are solved to the tolerance with the augmented Lagrangian, and to the value found without it."""
    problem = few_bits(n)
    solver = ct.solvers.NativeSolver(problem)
    taken_over = []
    own = working_sets.augmented
    monkeypatch.setattr(working_sets, "augmented", lambda *given: taken_over.append(1) or own(*given))
    solution = ct.cccp(ct.cccp_tsvm(), problem, solver=solver)
    assert taken_over
    assert solver.strategy.is_hard
    assert solution.status == "converged"
    assert solution.step.gap <= 1e-3
    assert solution.step.kkt <= 1e-3
    step = solution.step.step
    never = ct.solvers.NativeSolver(problem, precision="double")
    never.strategy.least_for_augmented = 10**9
    without = never.solve(step)
    assert solution.step.primal == pytest.approx(without.primal, rel=2e-3)


def test_every_catalogue_loss_with_it_from_the_start():
    """Where it begins at once, and small problems are its own too, solutions are what they are without."""
    rng = np.random.default_rng(1)
    problem = ct.Problem(rng.standard_normal((40, 3)), np.resize([1, -1, 0, 0, 0], 40), kernel=ct.RBF(1.0), C=3)
    for unlabeled in CATALOGUE.values():
        step = ct.Formulation(ct.hinge(), unlabeled).on(problem).step(rng.normal(0, 1, 40))
        solver = ct.solvers.NativeSolver(problem, tol=1e-6)
        solver.strategy.least_for_augmented, solver.strategy.effort = 0, working_sets.Effort(useless=0)
        hard = solver.solve(step)
        assert hard.primal == pytest.approx(
            ct.solvers.NativeSolver(problem, tol=1e-8).solve(step).primal, rel=1e-5, abs=1e-5
        )


def test_what_was_hard_once_is_not_begun_with_patience():
    kept = working_sets.Strategy()
    assert [kept.hands_over(240, turn=1, stalled=stalled) for stalled in (0, 2, 3)] == [False, False, True]
    assert not kept.hands_over(100, turn=1, stalled=3)
    kept.is_hard = True
    assert [kept.hands_over(240, turn=turn, stalled=0) for turn in (0, 1)] == [False, True]


# --- large costs ------------------------------------------------------------------------------------------------------


def overlapping(kernel, d, C, n=80):
    """A supervised SVM of two classes that overlap, in few dimensions, and its kernel matrix and labels."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    kernel = {"rbf": ct.RBF(gamma=0.5), "poly": ct.kernels.Polynomial(3, 0.5, 1.0), "linear": ct.Linear()}[kernel]
    problem = ct.Problem(X, y, kernel=kernel, C=C, C_unlabeled=None)
    return problem, ct.Instance(ct.Formulation(ct.hinge(), None, balance=None), problem).step(), y


@pytest.mark.filterwarnings("ignore:Solver terminated early")
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("C", [1e3, 1e5, 1e7])
def test_large_costs_end_at_the_optimum_or_say_so(kernel, C):
    """The gap is a proof by weak duality; libsvm, from one more source, is never lower by more than its tolerance."""
    for d in (1, 2, 4):
        problem, step, y = overlapping(kernel, d, C)
        solution = ct.solvers.NativeSolver(problem, tol=1e-3).solve(step)
        again = solution.recomputed()
        if solution.status == "optimal":
            assert again.gap <= 1.1e-3
        else:
            assert solution.status == "inaccurate"
            assert C == 1e7
        svm = SVC(C=C, kernel="precomputed", max_iter=20_000).fit(problem.gram, y)
        a = np.zeros(problem.n)
        a[svm.support_] = svm.dual_coef_[0]
        f = problem.gram @ a + svm.intercept_[0]
        value = 0.5 * a @ problem.gram @ a + C * np.maximum(0, 1 - y * f).sum()
        assert again.primal <= value * 1.001
        assert again.dual <= value * (1 + 1e-9)


def test_costs_rise_only_where_they_are_large_and_help(monkeypatch):
    problem, step, _ = overlapping("poly", 2, 1e6)
    solver = ct.solvers.NativeSolver(problem)
    assert solver.solve(step).status == "optimal"
    assert solver.rises
    monkeypatch.setattr("convex_tsvm.solvers.dual.native.solve_with_rising_costs", lambda dual, options: None)
    with pytest.warns(ct.TSVMWarning, match=r"costs times kernel values are up to .* too few digits"):
        assert ct.solvers.NativeSolver(problem).solve(step).status == "inaccurate"
    small, easy, _ = overlapping("linear", 4, 1.0)
    assert (
        native.solve_with_rising_costs(StepDual(easy, "centring", HeldRows(small, 2**27, "double", 1e-8)).problem, {})
        is None
    )
