"""Successive linearization and CS³VM: descent, linear programs, the exact optimum of the 1-norm problem."""

import numpy as np
import pytest

import convex_tsvm as ct


def points(seed, n=14, d=3):
    rng = np.random.default_rng(seed)
    truth = np.resize([1.0, -1.0], n)
    X = rng.standard_normal((n, d)) + 1.2 * truth[:, None]
    return ct.Problem(X, np.where(np.arange(n) < 4, truth, 0.0), kernel="linear", C=2.0, C_unlabeled=1.0, balance=None)


@pytest.mark.parametrize("seed", range(4))
def test_it_descends_to_no_less_than_the_exact_optimum(seed):
    pytest.importorskip("highspy")
    problem = points(seed)
    solution = ct.linearization(ct.cs3vm(), problem)
    assert solution.status == "converged"
    falls = [iteration.objective for iteration in solution.history]
    assert all(after <= before + 1e-7 for before, after in zip(falls, falls[1:], strict=False))
    exact = ct.modeling.MixedIntegerModel(ct.cs3vm(), problem, 1.001 * solution.objective)
    optimum = exact.problem.solve(solver="HIGHS")
    assert solution.objective >= optimum - 1e-6
    # From the best labelling it stays there: a step is solved to optimality for its labels.
    best = ct.linearization(ct.cs3vm(), problem, start=exact.outputs.value)
    assert best.objective == pytest.approx(optimum, rel=1e-5)


def test_its_steps_are_linear_programs():
    problem = points(0)
    solution = ct.linearization(ct.cs3vm(), problem)
    step = solution.formulation.on(problem).svm(solution.labels)
    assert step.regularizer == ct.formulations.OneNorm()
    assert all(loss.is_piecewise_linear for loss in step.losses)
    w = solution.weights
    assert solution.regularization == pytest.approx(np.abs(w).sum())
    slack = np.minimum(np.maximum(0, 1 - solution.scores), np.maximum(0, 1 + solution.scores))
    unknown = problem.unlabeled
    known = np.maximum(0, 1 - problem.y * solution.scores)[problem.labeled].sum()
    assert solution.objective == pytest.approx(np.abs(w).sum() + 2 * known + slack[unknown].sum(), rel=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_native_and_cvxpy_agree_for_kernels(loss):
    problem = points(1, n=40).replace(kernel=ct.RBF(2.0), balance=0.0)
    found = [ct.linearization(ct.tsvm(loss), problem, solver=solver, tol=1e-6) for solver in ("native", "cvxpy")]
    assert found[0].objective == pytest.approx(found[1].objective, rel=1e-4)
    np.testing.assert_array_equal(found[0].labels, found[1].labels)
    # A fixed point of it is one of CCCP that is no worse: its tangents are below those of CCCP.
    again = ct.cccp(ct.tsvm(loss), problem, start=found[0], tol=1e-6)
    assert again.objective <= found[0].objective * (1 + 1e-6)


def test_estimator_chooses_cvxpy_for_the_one_norm():
    problem = points(2)
    y = np.where(problem.y == 0, -1, problem.y > 0)
    fitted = ct.TransductiveSVC(kernel="linear", loss=ct.cs3vm(), method="linearization", balance=None).fit(
        problem.X, y
    )
    assert fitted.objective_ == pytest.approx(np.abs(fitted.coef_).sum(), rel=1)
    with pytest.raises(ValueError, match="symmetric_hinge beside hinge"):
        ct.linearization(ct.tsvm("ramp", balance=None), problem)
