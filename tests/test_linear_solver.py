"""Linear problems by coordinate descent, by finite Newton, and by whichever is faster: the same solutions."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import convex_tsvm as ct
from convex_tsvm.instance import Instance
from convex_tsvm.losses import hinge, squared_hinge
from convex_tsvm.methods.settings import why_not_solver
from convex_tsvm.solvers import CoordinateDescent, FiniteNewton, LinearSolver
from convex_tsvm.solvers.coordinates.descent import Descent
from convex_tsvm.solvers.linear import epoch_cost, newton_step_cost, newton_steps

LOSSES = {"hinge": hinge(), "squared": squared_hinge(), "huber": 0.3 * hinge() + 0.7 * squared_hinge()}


def case(seed, n=40, d=4, sparse=False, far=0.0, C=1.0, balance=0.1):
    """Points of two classes, a quarter of them labelled."""
    rng = np.random.default_rng(seed)
    y = np.resize([1.0, -1.0], n)
    X = rng.normal(size=(n, d)) + 0.8 * y[:, None] + far
    if sparse:
        X = sp.csr_matrix(X * (rng.random(X.shape) < 0.5))
    y[n // 4 :] = 0
    return ct.Problem(X, y, kernel="linear", C=C, C_unlabeled=0.5 * C, balance=balance)


def labelled(seed, n, d, C):
    """The same with all labels known, and no balance."""
    return case(seed, n, d, C=C).replace(y=np.resize([1.0, -1.0], n), C_unlabeled=None, balance=None)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(8, 60),
    d=st.integers(1, 30),
    sparse=st.booleans(),
    far=st.sampled_from([0.0, 10.0]),
    scale=st.sampled_from([0.1, 1.0, 30.0]),
    loss=st.sampled_from(sorted(LOSSES)),
    bias=st.sampled_from(["none", "free", "balance"]),
)
def test_coordinate_descent_is_the_native_solver(seed, n, d, sparse, far, scale, loss, bias):
    """Both values are bounds of the other: the gaps of both are recomputed from their dual variables."""
    problem = case(seed, n, d, sparse, far, scale, balance=0.1 if bias == "balance" else None)
    balance = "linear" if bias == "balance" else None
    model = ct.Formulation(
        LOSSES[loss], LOSSES[loss] + LOSSES[loss].reflect(), balance=balance, fit_intercept=bias != "none"
    )
    step = Instance(model, problem).step()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = ct.solvers.NativeSolver(problem, tol=1e-8).solve(step)
        for solver in (CoordinateDescent(problem, tol=1e-4, max_iter=5000), LinearSolver(problem, tol=1e-4)):
            found = solver.solve(step)
            again = found.recomputed()
            assert again.dual <= exact.primal + 1e-6 * (1 + abs(exact.primal))
            assert again.primal >= exact.dual - 1e-6 * (1 + abs(exact.primal))
            if found.status == "optimal":
                assert again.meets(1.01e-4)
            else:
                assert isinstance(solver, CoordinateDescent)


def test_a_balance_is_met_and_the_bias_is_free():
    problem = case(0)
    for solver in ("coordinates", "linear"):
        solution = ct.cccp(ct.tsvm("ramp"), problem, solver=solver, tol=1e-6)
        assert solution.status == "converged"
        assert solution.scores[problem.unlabeled].mean() == pytest.approx(problem.balance_target, abs=1e-9)
        free = ct.cccp(ct.svm(), problem, solver=solver, tol=1e-6)
        other = ct.cccp(ct.svm(), problem, solver="native", tol=1e-8)
        assert free.objective == pytest.approx(other.objective, rel=1e-5)
        assert free.bias == pytest.approx(other.bias, abs=1e-2)


def test_terms_of_a_point_are_kept_apart():
    """A symmetric hinge is two terms of a point; a start of a similar step does not change the solution."""
    problem = case(1, n=30, d=60)
    step = Instance(ct.tsvm("ramp"), problem).step(problem.y)
    solver = CoordinateDescent(problem, tol=1e-7)
    first = solver.solve(step)
    again = solver.solve(step, first)
    assert again.n_iter <= first.n_iter
    assert again.primal == pytest.approx(first.primal, rel=1e-6)
    assert ct.solvers.NativeSolver(problem, tol=1e-9).solve(step).primal == pytest.approx(first.primal, rel=1e-6)


def test_few_free_terms_are_met_to_rounding():
    problem = case(2, n=60, d=5)
    found = CoordinateDescent(problem).solve(Instance(ct.svm(), problem).step())
    assert found.gap < 1e-10


def test_auto_is_the_linear_solver_where_it_can_be():
    problem = case(3)
    assert ct.cccp(ct.tsvm("ramp"), problem).solver == "linear"
    assert ct.cccp(ct.tsvm("ramp"), problem.replace(kernel="rbf")).solver == "native"
    group = ct.Formulation(hinge(), LOSSES["hinge"], balance="linear", fit_intercept=False)
    assert "outputs" in why_not_solver("linear", group, problem)
    for solver in ("linear", "finite_newton", "coordinates"):
        assert "kernel" in why_not_solver(solver, ct.svm(), problem.replace(kernel="rbf"))
        assert "outputs" in why_not_solver(solver, ct.Formulation(hinge(), None, fit_intercept=False), problem)
        with pytest.raises(ValueError, match="kernel"):
            ct.cccp(ct.svm(), problem.replace(kernel="rbf"), solver=solver)


def test_which_one_works():
    """Few features and many points: finite Newton; many features and few points: coordinate descent."""
    asked = []

    class Watched(FiniteNewton):
        def descend(self, step, start=None):
            asked.append(step.problem.X.shape)
            return super().descend(step, start)

    for n, d, C in ((4000, 5, 100.0), (60, 400, 1.0)):
        problem = labelled(4, n, d, C)
        solver = LinearSolver(problem)
        solver.newton = Watched(problem)
        assert solver.solve(Instance(ct.svm(), problem).step()).status == "optimal"
    assert asked == [(4000, 5)]


def test_costs_rise():
    assert epoch_cost(100, 1000) < epoch_cost(1000, 1000) < epoch_cost(1000, 10_000)
    assert newton_steps(1000, 10, True) < newton_steps(1000, 10, False) < newton_steps(1000, 500, False)
    for smooth in (True, False):
        for sparse in (True, False):
            assert newton_step_cost(10, 1000, smooth, sparse) < newton_step_cost(10, 100_000, smooth, sparse)


def test_an_interrupt_of_coordinate_descent_is_no_reason_to_take_newton_steps(monkeypatch):
    problem, epoch = labelled(5, 60, 400, 1.0), Descent.epoch

    def stop(self):
        if self.n_epochs == 2:
            raise KeyboardInterrupt
        epoch(self)

    monkeypatch.setattr(Descent, "epoch", stop)
    found = LinearSolver(problem, tol=1e-9).solve(Instance(ct.svm(), problem).step())
    assert found.status == "interrupted"
    assert found.n_iter == 2
    assert np.isfinite(found.gap)


def test_an_interrupt_keeps_the_point():
    problem = labelled(5, 200, 40, 1.0)
    step = Instance(ct.svm(), problem).step()

    def stop(n_iter, gap):
        if n_iter == 3:
            raise KeyboardInterrupt

    for solver in (CoordinateDescent(problem, progress=stop), LinearSolver(problem, progress=stop)):
        try:
            found = solver.solve(step)
        except KeyboardInterrupt:
            continue
        assert found.status == "interrupted"
        assert np.isfinite(found.gap)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_free_bias_is_found_by_epochs_alone(sparse, monkeypatch):
    """Without Newton steps on the free terms it moves along with the epochs, to where multipliers sum to zero."""
    monkeypatch.setattr("convex_tsvm.solvers.coordinates.descent.meet_free_terms", lambda descent: None)
    problem = case(6, n=60, d=5, sparse=sparse, far=3.0)
    step = Instance(ct.svm(squared_hinge()), problem).step()
    found = CoordinateDescent(problem, tol=1e-6, max_iter=5000).solve(step)
    exact = ct.solvers.NativeSolver(problem, tol=1e-8).solve(step)
    assert found.status == "optimal"
    assert found.bias == pytest.approx(exact.bias, abs=1e-3)
    assert abs(found.gamma.sum()) < 1e-9 * np.abs(found.gamma).sum()


def test_where_newton_steps_do_not_end_coordinate_descent_goes_on():
    """Of both points the better one is the solution; a warning says so if neither is good."""
    problem = labelled(7, 60, 10, 1.0)
    step = Instance(ct.svm(), problem).step()
    solver = LinearSolver(problem, tol=1e-5)
    solver.trial, solver.epochs, solver.newton.max_iter = 0.0, 1e9, 2
    found = solver.solve(step)
    assert found.status == "optimal"
    assert found.n_iter > 2
    solver.coordinates.max_iter = 1
    with pytest.warns(UserWarning, match="the linear solver ended with a relative duality gap"):
        worse = solver.solve(step)
    assert worse.status == "max_iter"
    assert worse.gap <= solver.newton.descend(step).gap
