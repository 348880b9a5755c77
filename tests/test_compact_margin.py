"""The Compact Margin Machine: its losses, its dual as printed and derived, its relaxation."""

import itertools
import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import convex_tsvm as ct
from convex_tsvm.formulations.class_spread import class_spread
from convex_tsvm.modeling.unrelaxed_compact_margin import unrelaxed_objective
from convex_tsvm.verification.statements.dai2010.quantities import Quantities

T = np.linspace(-4, 4, 1601)


def instance(seed, balance=None):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 30))
    y = np.where(np.arange(n) < 6, np.resize([1.0, -1.0], n), 0.0)
    X = rng.normal(size=(n, 3)) + np.resize([1.0, -1.0], n)[:, None]
    C, C_unlabeled, C_compact = np.exp(rng.uniform(-2, 2, 3))
    kernel = [ct.Linear(), ct.RBF(1.5), ct.Polynomial(2, 0.5, 1.0)][seed % 3]
    problem = ct.Problem(X, y, kernel=kernel, C=C, C_unlabeled=C_unlabeled, balance=balance)
    epsilon, s = float(rng.uniform(0, 1.5)), float(rng.choice([0.0, -0.2, -0.7]))
    return problem, epsilon, float(C_compact), s


@pytest.mark.parametrize("seed", range(40))
def test_the_papers_dual_the_automatic_dual_and_the_native_solver_agree(seed):
    problem, epsilon, C_compact, s = instance(seed)
    model = ct.compact_margin(epsilon, *ct.formulations.compactness_weights(problem, C_compact), s=s, balance=None)
    f = np.random.default_rng(seed).normal(size=problem.n)
    step = model.on(problem).step(f)
    native = ct.solvers.NativeSolver(problem, tol=1e-9).solve(step).primal
    # Steps and the paper's dual are without the constant of the tangents.
    shift = model.on(problem).tangents_at_zero(f, problem.cost)
    automatic = model.dual(problem, f).solve(solver="CLARABEL") - shift
    primal = model.primal(problem, f).solve(solver="CLARABEL") - shift
    # The paper's convex part of an unlabelled point is H₁(f) + H₁(-f), which is 2 at 0; the split's may differ by a
    # constant.
    convex, _ = model.unlabeled.split()
    constant = problem.cost[problem.unlabeled].sum() * (float(convex(0.0)) - 2)
    quantities = Quantities(problem, epsilon, C_compact, s)
    quantities.__dict__["outputs"] = f
    printed = constant + quantities.dual()
    scale = max(1.0, abs(native))
    for value in (automatic, primal, printed):
        assert abs(value - native) <= 1e-6 * scale


def test_counting_unlabelled_points_twice_gives_another_problem():
    """J_vex as printed, with compactness over l + 2u copies: its value differs, so that the check above can fail."""
    problem, *_ = instance(3)
    f = np.random.default_rng(3).normal(size=problem.n)
    weights = ct.formulations.compactness_weights(problem, 1.0)
    once = ct.compact_margin(0.5, *weights, balance=None)
    twice = ct.compact_margin(0.5, weights[0], 2 * weights[1], balance=None)
    values = [
        ct.solvers.NativeSolver(problem, tol=1e-9).solve(model.on(problem).step(f)).primal for model in (once, twice)
    ]
    assert values[1] > values[0] * (1 + 1e-3)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("balance", [None, 0.1])
def test_cccp_is_monotone_and_both_solvers_agree(seed, balance):
    problem, epsilon, C_compact, s = instance(seed, balance)
    constraint = None if balance is None else "linear"
    weights = ct.formulations.compactness_weights(problem, C_compact)
    model = ct.compact_margin(max(epsilon, 0.2), *weights, s=s, balance=constraint)
    solution = ct.cccp(model, problem, tol=1e-8)
    objectives = np.array([iteration.objective for iteration in solution.history])
    assert (np.diff(objectives) <= 1e-8 * np.abs(objectives[:-1])).all()
    assert solution.status == "converged"
    assert solution.certificate().tangents_changed == 0
    other = ct.cccp(model, problem, solver="cvxpy")
    assert other.objective == pytest.approx(solution.objective, rel=1e-5)
    assert solution.lower_bound <= solution.objective + 1e-9


def test_cccp_starts_at_the_convex_envelope():
    """The relative margin machine for ε >= 1, whose value is a better bound than the labelled points alone."""
    problem = instance(1, 0.1)[0].replace(C=20.0, C_unlabeled=2.0)
    weights = ct.formulations.compactness_weights(problem, 1.0)
    model = ct.compact_margin(1.0, *weights)
    envelope = model.envelope()
    assert envelope.is_convex
    assert envelope.unlabeled.isclose(ct.losses.tube(1.0, weights[1]))
    solution, start = ct.cccp(model, problem, tol=1e-8), ct.cccp(envelope, problem, tol=1e-8)
    relative = ct.relative_margin(1.0, weights[0], balance="linear")
    assert start.objective == pytest.approx(ct.cccp(relative, problem.replace(C_unlabeled=1.0), tol=1e-8).objective)
    assert solution.lower_bound == pytest.approx(start.objective, rel=1e-6)
    labeled_alone = ct.cccp(model.supervised(), problem).objective
    assert labeled_alone * (1 + 1e-3) < solution.lower_bound <= solution.objective
    # Where a loss has its least value on both sides of a margin, nothing is left of it: a TSVM starts at the SVM.
    assert ct.cccp_tsvm().envelope().unlabeled.is_constant
    assert ct.Formulation(ct.ramp(-0.3), ct.symmetric_ramp(-0.3)).envelope() is None


def test_the_derivation_is_verified():
    problem, *_ = instance(1, 0.0)
    for model in (ct.compact_margin(1.1, 0.4, 0.7), ct.relative_margin(1.2, 0.5, balance="linear")):
        report = ct.verify(model, problem)
        assert report.passed, report


def test_losses_of_the_formulations():
    model = ct.compact_margin(1.2, 0.5, 0.25)
    np.testing.assert_allclose(model.labeled(T), np.maximum(0, 1 - T) + 0.5 * np.maximum(0, np.abs(T) - 1.2))
    expected = np.maximum(0, 1 - np.abs(T)) + 0.25 * np.maximum(0, np.abs(T) - 1.2)
    np.testing.assert_allclose(model.unlabeled(T), expected, atol=1e-12)
    assert not model.is_convex
    relative = ct.relative_margin(1.2, 0.5)
    np.testing.assert_allclose(relative.unlabeled(T), np.maximum(0, np.abs(T) - 1.2), atol=1e-12)
    assert relative.is_convex
    hard = ct.relative_margin(1.2, np.inf)
    assert hard.labeled.domain == hard.unlabeled.domain == (-1.2, 1.2)


def test_the_special_variant_is_not_what_eq_9_says():
    """With C₂ = C₃, ε = 0 an unlabelled point pays max(1, |t|), 1 more than |t| beyond a tube of width 1."""
    variant = ct.compact_margin(0.0, 1.0, 1.0).unlabeled
    np.testing.assert_allclose(variant(T), np.maximum(1, np.abs(T)), atol=1e-12)
    assert variant.is_convex
    assert not np.allclose(variant(T), np.abs(T))
    np.testing.assert_allclose(variant(T), 1 + ct.relative_margin(1.0).unlabeled(T), atol=1e-12)


def test_the_relative_margin_machine_is_the_bounded_svm():
    """Shivaswamy and Jebara's program, written out: an SVM with |f| <= B on the labelled points."""
    problem, *_ = instance(0)
    model = ct.relative_margin(1.3, np.inf).supervised()
    X, y, known = problem.X, problem.y, problem.labeled
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    f = X[known] @ w + b
    paid = problem.cost[known] @ cp.pos(1 - cp.multiply(y[known], f))
    value = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + paid), [cp.abs(f) <= 1.3]).solve(solver="CLARABEL")
    for solver in ("native", "cvxpy"):
        solution = ct.cccp(model, problem, solver=solver)
        assert solution.objective == pytest.approx(value, rel=1e-4)
        assert np.abs(solution.scores[known]).max() <= 1.3 + 1e-3


@pytest.mark.parametrize("seed", range(8))
def test_unlabelled_points_are_kept_in_the_tube(seed):
    problem, *_ = instance(seed)
    solution = ct.cccp(ct.relative_margin(1.1, np.inf), problem, tol=1e-6)
    other = ct.cccp(ct.relative_margin(1.1, np.inf), problem, solver="cvxpy")
    assert np.abs(solution.scores).max() <= 1.1 + 1e-4
    assert other.objective == pytest.approx(solution.objective, rel=1e-4)


outputs = st.lists(st.floats(-5, 5, allow_nan=False), min_size=2, max_size=12).map(np.array)


@given(f=outputs, epsilon=st.floats(0, 3), seed=st.integers(0, 1000))
def test_proposition_1(f, epsilon, seed):
    """With |f| <= (ε + ζ)/2 the relaxed loss, max(0, 2|f| - ε), is an upper bound of the class spread."""
    labels = np.random.default_rng(seed).choice([-1.0, 1.0], len(f))
    assert class_spread(f, labels, epsilon) <= np.maximum(0, 2 * np.abs(f) - epsilon).sum() + 1e-9
    # Eq. 8 has |f| <= ε + ζ: an upper bound too, of half the spread beyond 2 ε.
    relaxed = ct.losses.tube(epsilon)(f).sum()
    assert class_spread(f, labels, 2 * epsilon) / 2 <= relaxed + 1e-9


def test_eq_8_is_no_upper_bound_with_the_same_epsilon():
    f, labels = np.array([1.0, 1.0, -1.0]), np.ones(3)
    assert ct.losses.tube(1.0)(f).sum() == 0
    assert class_spread(f, labels, 1.0) == pytest.approx(1 / 3)


def unrelaxed_case(seed, regularizer):
    rng = np.random.default_rng(seed)
    n = 10
    y = np.where(np.arange(n) < 4, np.resize([1.0, -1.0], n), 0.0)
    X = rng.normal(size=(n, 2)) + np.resize([1.0, -1.0], n)[:, None]
    problem = ct.Problem(X, y, C=1.0, C_unlabeled=0.5, balance=("exact", 0.5))
    epsilon, C_compact = float(rng.uniform(0, 0.5)), float(rng.uniform(0.2, 1))
    # Every labelling with three of six positive, each a convex problem.
    least, best = np.inf, None
    for positive in itertools.combinations(problem.unlabeled, 3):
        labels = np.where(y == 0, -1.0, y)
        labels[list(positive)] = 1.0
        w, b = cp.Variable(2), cp.Variable()
        f = X @ w + b
        spread = sum(cp.sum(cp.pos(cp.abs(f[own] - cp.sum(f[own]) / own.sum()) - epsilon))
                     for own in (labels > 0, labels < 0))  # fmt: skip
        norm = cp.norm1(w) if regularizer == "l1" else 0.5 * cp.sum_squares(w)
        paid = problem.cost @ cp.pos(1 - cp.multiply(labels, f))
        value = cp.Problem(cp.Minimize(norm + paid + C_compact * spread)).solve(solver="CLARABEL")
        if value < least:
            regularization = float(norm.value)
            least, best = value, (labels, np.asarray(f.value), regularization)
    return problem, epsilon, C_compact, least, best


@pytest.mark.parametrize(("regularizer", "solver"), [("l1", "HIGHS"), ("l2", "SCIP")])
@pytest.mark.parametrize("seed", range(3))
def test_the_unrelaxed_machine_against_every_labelling(seed, regularizer, solver):
    if solver not in cp.installed_solvers():
        pytest.skip(f"{solver} is not installed")
    problem, epsilon, C_compact, least, (labels, f, regularization) = unrelaxed_case(seed, regularizer)
    assert unrelaxed_objective(problem, f, labels, regularization, epsilon, C_compact) == pytest.approx(least, rel=1e-4)
    model = ct.modeling.UnrelaxedCompactMargin(problem, epsilon, C_compact, 1.5 * least, regularizer=regularizer)
    options = {"scip_params": {"limits/gap": 1e-6, "limits/time": 60}} if solver == "SCIP" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = model.problem.solve(solver=solver, **options)
    assert value == pytest.approx(least, rel=1e-4)
    assert (model.labels[problem.unlabeled] > 0).sum() == 3
    if regularizer == "l2":
        found = ct.exact_search(ct.formulations.unrelaxed_compact_margin(epsilon, C_compact), problem)
        assert found.objective == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_relaxation_is_an_upper_bound_of_the_machine(seed):
    """Eq. 8 with ε/2 and 2 C₃ is what Proposition 1 relaxes eq. 3 to: its solutions cost less in eq. 3."""
    problem, epsilon, C_compact, least, _ = unrelaxed_case(seed, "l2")
    weights = ct.formulations.compactness_weights(problem, 2 * C_compact)
    relaxed = ct.cccp(ct.compact_margin(epsilon / 2, *weights), problem, tol=1e-8)
    own = unrelaxed_objective(problem, relaxed.scores, relaxed.labels, relaxed.step.regularization, epsilon, C_compact)
    assert own <= relaxed.objective + 1e-9
    if (relaxed.labels[problem.unlabeled] > 0).sum() == 3:
        assert least <= own + 1e-6


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda p: ct.compact_margin(-1.0), "epsilon=-1.0"),
        (lambda p: ct.compact_margin(1.0, -0.5), "weight=-0.5"),
        (lambda p: ct.compact_margin(1.0, 1.0, float("nan")), "weight=nan"),
        (lambda p: ct.compact_margin(s=0.5), "s=0.5"),
        (lambda p: ct.compact_margin(0.0, np.inf), "epsilon=0"),
        (lambda p: ct.relative_margin(-2), "epsilon=-2"),
        (lambda p: ct.formulations.compactness_weights(p, -1.0), "C_compact=-1.0"),
        (
            lambda p: ct.formulations.compactness_weights(p.replace(C=np.arange(1.0, p.n_labeled + 1)), 1.0),
            "C is from 1 to 6",
        ),
        (lambda p: ct.relative_margin(0.05, np.inf, balance="linear").check(p), r"mean output 0.1 .* \[-0.05, 0.05\]"),
        (lambda p: ct.modeling.UnrelaxedCompactMargin(p, 1.0, 1.0, 9.0), "balance=0.1 must be"),
        pytest.param(
            lambda p: ct.modeling.UnrelaxedCompactMargin(p.replace(balance=("exact", 0.5)), -1.0, 1.0, 9.0),
            "epsilon=-1.0",
            id="unrelaxed-epsilon",
        ),
    ],
)
def test_bad_parameters_are_named(make, said):
    problem, *_ = instance(0, 0.1)
    with pytest.raises(ValueError, match=said):
        make(problem)
