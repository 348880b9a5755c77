"""Mixed-integer programs: SCIP and HiGHS against exact search and brute force."""

import itertools
import warnings

import cvxpy as cp
import numpy as np
import pytest
from strategies import searches
from test_interval_search import FORMULATIONS, case, stretches

import convex_tsvm as ct
from convex_tsvm.instance import labelling
from convex_tsvm.modeling import MixedIntegerModel
from convex_tsvm.modeling.expressions import loss_expression
from convex_tsvm.relaxations.svm.partial_svm import PartialSVM

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
    pytest.importorskip("highspy")
    formulation, problem = one_norm(seed)
    model = MixedIntegerModel(formulation, problem, float(problem.cost.sum()))
    value = model.problem.solve(solver="HIGHS")
    least, supervised = np.inf, formulation.supervised()
    step = supervised.on(problem).step().replace(cost=problem.cost)
    for signs in itertools.product((1.0, -1.0), repeat=problem.n_unlabeled):
        labels = problem.y.copy()
        labels[problem.unlabeled] = signs
        primal = ct.modeling.CvxpySolver(problem).solve(step.replace(kind=(labels < 0).astype(np.intp)))
        least = min(least, primal.primal)
    assert value == pytest.approx(least, rel=1e-6)


def test_bad_arguments_are_named():
    formulation, problem = one_norm(0)
    with pytest.raises(ValueError, match="upper=-1"):
        MixedIntegerModel(formulation, problem, -1)
    with pytest.raises(ValueError, match="no finite number of convex stretches"):
        MixedIntegerModel(ct.tsvm("flat", balance=None), problem.replace(balance=None), 1)
    with pytest.raises(ValueError, match="not piecewise linear-quadratic"):
        MixedIntegerModel(ct.tsvm("exp", balance=None), problem.replace(balance=None), 1)
    # The number of positive labels would be that of another formulation's labels.
    with pytest.raises(ValueError, match="is not the loss min"):
        MixedIntegerModel(ct.cccp_tsvm(-0.3), problem.replace(balance=("exact", 0.5)), 1)


@needs_scip
@pytest.mark.parametrize("name", [name for name in FORMULATIONS if name not in ("flat", "any with concave pieces")])
@pytest.mark.parametrize("seed", [*range(1), *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 30))])
def test_search_over_intervals_finds_what_scip_finds(name, seed):
    formulation, problem = case(name, seed)
    best = ct.exact_search(formulation, problem).objective
    model = MixedIntegerModel(formulation, problem, best + 0.01 * abs(best) + 1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = model.problem.solve(solver="SCIP", scip_params={**LIMITS, "numerics/feastol": 1e-8})
    assert value == pytest.approx(best, rel=1e-4, abs=1e-5), model.problem.status
    outputs = np.asarray(model.outputs.value)
    assert (model.low - 1e-6 <= outputs).all()
    assert (outputs <= model.high + 1e-6).all()


def test_the_ramps_program_by_highs():
    """With the 1-norm it is a linear program with integers: against a linear program for every choice of stretches."""
    pytest.importorskip("highspy")
    _, problem = one_norm(0)
    keep = np.r_[0, 1, 4:8]
    problem = ct.Problem(problem.X[keep], problem.y[keep], C=2.0, balance=None)
    formulation = ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), balance=None, regularizer="l1")
    model = MixedIntegerModel(formulation, problem, float(problem.cost.sum()))
    value = model.problem.solve(solver="HIGHS")
    w, b = cp.Variable(problem.X.shape[1]), cp.Variable()
    f = problem.X @ w + b
    known = problem.cost[:2] @ cp.pos(1 - cp.multiply(problem.y[:2], f[:2]))
    least = np.inf
    warnings.filterwarnings("ignore", "invalid value")  # CVXPY's own, about infinite bounds
    for chosen in itertools.product(stretches(formulation.unlabeled), repeat=4):
        paid, where = zip(*(loss_expression(piece, f[i]) for i, piece in enumerate(chosen, 2)), strict=True)
        objective = cp.Minimize(cp.norm1(w) + known + problem.cost[2:] @ cp.hstack(paid))
        least = min(least, cp.Problem(objective, list(itertools.chain(*where))).solve(solver="CLARABEL"))
    assert value == pytest.approx(least, rel=1e-6)


def test_it_prints_in_symbols():
    _, problem = one_norm(0)
    text = str(MixedIntegerModel(ct.cccp_tsvm(-0.3, balance=None), problem.replace(balance=None), 10).problem)
    assert "C[unlabeled]ᵀ max(0, t⁰[unlabeled] + z⁰[unlabeled])" in text
    assert "z⁰[unlabeled] + z¹[unlabeled] + z²[unlabeled] = 1" in text
    assert "z: 1 if" in text.replace("⁰[unlabeled], z¹[unlabeled], z²[unlabeled]", "")
    assert "numbers]" not in text
    compact = ct.compact_margin(1.3, 0.5, 0.5, balance=None)
    latex = MixedIntegerModel(compact, problem.replace(balance=None), 10).problem.latex()
    assert r"z^{0}_{\text{unlabeled}}" in latex
