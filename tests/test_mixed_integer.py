"""Mixed-integer programs: SCIP and HiGHS against exact search and brute force."""

import itertools
import warnings

import cvxpy as cp
import numpy as np
import pytest
from strategies import searches

import convex_tsvm as ct
from convex_tsvm import MixedIntegerModel
from convex_tsvm.instance import labelling
from convex_tsvm.relaxations.partial_svm import PartialSVM

needs_scip = pytest.mark.skipif("SCIP" not in cp.installed_solvers(), reason="pyscipopt is not installed")
#: SCIP is accurate to about 1e-6; much less makes it search without end.
LIMITS = {"limits/gap": 1e-6, "limits/time": 30}


def check(seed):
    formulation, problem = searches(seed, 5)
    solution = ct.exact_search(formulation, problem)
    model = MixedIntegerModel(formulation, problem, 1.01 * solution.objective)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = model.problem.solve(solver="SCIP", scip_params=LIMITS)
    assert value == pytest.approx(solution.objective, rel=1e-4), model.problem.status
    # Its labels have our objective, to what SCIP cannot resolve.
    search = PartialSVM(labelling(formulation, problem))
    assert search.solve(model.labels, tol=1e-9).value == pytest.approx(solution.objective, rel=1e-6)


@needs_scip
@pytest.mark.parametrize("seed", [*range(13), *(pytest.param(k, marks=pytest.mark.slow) for k in range(13, 30))])
def test_search_finds_what_scip_finds(seed):
    check(seed)


@needs_scip
@pytest.mark.slow
@pytest.mark.parametrize("block", range(5))
def test_search_finds_what_scip_finds_in_hundreds_of_instances(block):
    for seed in range(2000 + 100 * block, 2100 + 100 * block):
        check(seed)


def one_norm(seed):
    rng = np.random.default_rng(seed)
    n = 9
    y = np.where(np.arange(n) < 4, np.resize([1.0, -1.0], n), 0.0)
    X = rng.normal(size=(n, 3)) + 0.5 * np.resize([1.0, -1.0], n)[:, None]
    problem = ct.Problem(X, y, C=float(10 ** rng.uniform(-0.5, 1)), balance=0.1 if seed % 2 else None)
    balance = "linear" if seed % 2 else None
    return ct.Formulation(
        ct.hinge(), ct.symmetric_hinge(), balance=balance, fit_intercept=seed % 3 > 0, regularizer="l1"
    ), problem


@pytest.mark.parametrize("seed", range(6))
def test_the_one_norm_program_against_every_labelling(seed):
    """Bennett and Demiriz's linear program with integers, by HiGHS, against a linear program for every labelling."""
    formulation, problem = one_norm(seed)
    model = MixedIntegerModel(formulation, problem, float(problem.cost.sum()))
    value = model.problem.solve(solver="HIGHS")
    least, supervised = np.inf, formulation.supervised()
    step = supervised.on(problem).step().replace(cost=problem.cost)
    for signs in itertools.product((1.0, -1.0), repeat=problem.n_unlabeled):
        labels = problem.y.copy()
        labels[problem.unlabeled] = signs
        primal = ct.CvxpySolver(problem).solve(step.replace(kind=(labels < 0).astype(np.intp)))
        least = min(least, primal.primal)
    assert value == pytest.approx(least, rel=1e-6)


def test_bad_arguments_are_named():
    formulation, problem = one_norm(0)
    with pytest.raises(ValueError, match="upper=-1"):
        MixedIntegerModel(formulation, problem, -1)
    with pytest.raises(ValueError, match="must be hinge"):
        MixedIntegerModel(ct.Formulation(ct.ramp(-0.3), ct.symmetric_ramp(-0.3)), problem, 1)
    with pytest.raises(ValueError, match="goes with the hinge"):
        MixedIntegerModel(ct.Formulation(ct.squared_hinge(), regularizer="l1"), problem, 1)
