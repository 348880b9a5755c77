"""Linear constraints on outputs: one more point each, in the primal, the dual, the native solver and CCCP."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score
from strategies import random_case

import convex_tsvm as ct
from convex_tsvm.instance import OutputRows


def constrained(seed, most=20):
    """A random formulation and problem with up to 20 constraints that some function meets, and that function's outputs.

    Equations, intervals, half-lines, links, weighted means, with coefficients that sum to something or to nothing.
    """
    formulation, problem, rng = random_case(seed)
    n, f, bias = problem.n, problem.gram @ rng.normal(size=problem.n), 0.0
    if formulation.balance == "linear":
        mean, target = f[problem.balance_points].mean(), problem.balance_target
        f = f + target - mean if formulation.fit_intercept else f * target / mean
    elif formulation.fit_intercept:
        bias = rng.normal()
    f = f + bias
    constraints = []
    for _ in range(int(rng.integers(1, most + 1))):
        i, j = (int(k) for k in rng.choice(n, 2, replace=False))
        weights, room = rng.normal(size=n) * (rng.random(n) < 0.5), float(rng.uniform(0, 0.5))
        weights[i] += 1.0
        sum_ = float(weights @ f)
        size, middle = np.abs(weights), f[problem.unlabeled].mean()
        kinds = {
            "must": (ct.must_link, (i, j, abs(f[i] - f[j]) + room)),
            "cannot": (ct.cannot_link, (i, j, abs(f[i] + f[j]) + room)),
            "difference": (ct.output_constraint, ({i: 1, j: -1}, f[i] - f[j], f[i] - f[j])),
            "equation": (ct.output_constraint, (weights, sum_, sum_)),
            "half-line": (ct.output_constraint, (weights, sum_ - room)),
            "mean": (ct.mean_output, (middle - room, middle + room)),
            "weighted mean": (ct.output_constraint, (size / size.sum(), -np.inf, size @ f / size.sum() + room)),
        }
        make, ends = kinds[str(rng.choice(list(kinds)))]
        constraints.append(make(*ends))
    return dataclasses.replace(formulation, constraints=tuple(constraints)), problem, rng


def agree(seeds):
    for seed in seeds:
        formulation, problem, rng = constrained(seed)
        if formulation.balance == "linear" and not formulation.fit_intercept:
            mean = problem.gram[problem.balance_points].mean(axis=0)
            if np.abs(mean).max() < 1e-6:
                continue
        step = formulation.on(problem).step(rng.normal(0, 1.5, problem.n))
        primal, dual = (ct.modeling.CvxpySolver(problem, form=form) for form in ("primal", "dual"))
        points = [primal.solve(step), dual.solve(step)]
        values = [float(solver.model(step).problem.value) for solver in (primal, dual)]
        for way in ("centring", "x0"):
            native = ct.solvers.NativeSolver(problem, tol=1e-8, balance_by=way).solve(step)
            assert native.status == "optimal"
            points.append(native)
            values += [native.primal, native.dual]
        np.testing.assert_allclose(values, values[0], rtol=1e-6, atol=1e-6, err_msg=str(seed))
        for point in points:
            assert point.primal_infeasibility <= 1e-4 * (1 + np.abs(point.outputs).max()), seed
            assert point.dual <= values[0] + 1e-6 * max(1, abs(values[0])), seed


@pytest.mark.parametrize("block", [*range(2), *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 10))])
def test_primal_dual_and_native_agree_on_random_constraints(block):
    """20 random problems each, by CVXPY's primal and dual, and the native solver with centring and the point x₀."""
    agree(range(5000 + 20 * block, 5020 + 20 * block))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_they_agree_on_many_more(block):
    agree(range(6000 + 80 * block, 6080 + 80 * block))


@pytest.fixture
def problem(moons):
    X, _, y = moons
    return ct.Problem(X, y, kernel=ct.RBF(0.5), C=10)


def test_the_balance_is_the_first_of_the_family(problem):
    """As an equation for the mean output it gives what balance="linear" does."""
    own = ct.cccp_tsvm()
    target = problem.balance_target
    as_row = dataclasses.replace(own, balance=None, constraints=ct.mean_output(target, target))
    solutions = [ct.cccp(model, problem, tol=1e-7) for model in (own, as_row)]
    assert solutions[1].objective == pytest.approx(solutions[0].objective, rel=1e-6)
    np.testing.assert_array_equal(solutions[0].labels, solutions[1].labels)
    assert solutions[1].step.multipliers[0] == pytest.approx(solutions[0].step.gamma0, abs=1e-3)


@pytest.mark.parametrize("balance", ["linear", None])
@pytest.mark.parametrize("solver", ["native", "cvxpy"])
def test_links_hold_along_cccp(problem, balance, solver):
    u = problem.unlabeled
    constraints = (ct.must_link(int(u[0]), int(u[40])), ct.cannot_link(int(u[1]), int(u[2]), within=0.1))
    model = dataclasses.replace(ct.cccp_tsvm(balance=balance), constraints=constraints)
    solution = ct.cccp(model, problem, solver=solver)
    f = solution.scores
    assert f[u[0]] == pytest.approx(f[u[40]], abs=1e-4)
    assert abs(f[u[1]] + f[u[2]]) <= 0.1 + 1e-4
    np.testing.assert_allclose(solution.decision_function(problem.X), f, atol=1e-6)
    free = ct.cccp(ct.cccp_tsvm(balance=balance), problem, solver=solver)
    assert free.objective != pytest.approx(solution.objective, rel=1e-6)  # the constraints do something
    objectives = [iteration.step_objective for iteration in solution.history]
    assert all(b <= a * (1 + 1e-9) for a, b in zip(objectives[:-1], objectives[1:], strict=True))


def test_verify_follows(problem):
    model = dataclasses.replace(
        ct.cccp_tsvm(),
        constraints=(
            ct.must_link(0, 30),
            ct.output_constraint(dict.fromkeys(problem.labeled, 1 / problem.n_labeled), -0.5, 0.5),
        ),
    )
    report = ct.verify(model, problem)
    assert report.passed, str(report)
    assert report["constraints"].value <= 1e-5
    assert report["constraints_pull"].value <= 1e-5


@pytest.mark.parametrize("solver", ["native", "cvxpy"])
@pytest.mark.parametrize(
    "constraints",
    [
        (ct.mean_output(1.0, 2.0), ct.mean_output(-2.0, -1.0)),
        (ct.output_constraint({0: 1.0}, lower=1), ct.output_constraint({1: 1.0}, upper=-1), ct.must_link(0, 1)),
        (ct.output_constraint({0: 1.0, 1: -1.0}, 3.0, 3.0), ct.must_link(0, 1, within=0.5)),
    ],
)
def test_constraints_without_a_solution_are_a_clear_error(problem, solver, constraints):
    model = dataclasses.replace(ct.cccp_tsvm(), constraints=constraints)
    with pytest.raises(ValueError, match="constraints: no function of this space meets them all"):
        ct.cccp(model, problem, solver=solver)


def test_duplicates_cannot_be_told_apart():
    """Two points at the same place have one output, whatever the kernel."""
    X = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 0.0], [1.0, 3.0]])
    problem = ct.Problem(X, [1, 0, -1, 0], kernel=ct.RBF(1.0))
    with pytest.raises(ValueError, match="no function"):
        ct.cccp(dataclasses.replace(ct.cccp_tsvm(), constraints=ct.output_constraint({0: 1, 1: -1}, 1, 1)), problem)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ct.mean_output(1, 0), "lower=1 is above upper=0"),
        (ct.mean_output, "allow every output"),
        (lambda: ct.mean_output(np.nan, 1), "lower=nan must be a number"),
        (lambda: ct.must_link(1, 1), "must be two points"),
        (lambda: ct.must_link(0, 1, within=-1), "within=-1"),
        (lambda: ct.Formulation(ct.hinge(), constraints=("x",)), "which is no OutputConstraint"),
    ],
)
def test_bad_constraints_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (ct.must_link(0, 99), "99 is not the index of a point, from 0 to 79"),
        (ct.output_constraint({"a": 1.0}, 0, 1), "'a' is not the index"),
        (ct.output_constraint([1.0, 2.0], 0, 1), r"have shape \(2,\); they must be 80 numbers"),
        (ct.output_constraint(np.zeros(80), 0, 1), "all its coefficients are 0"),
    ],
)
def test_constraints_that_do_not_fit_a_problem(problem, constraint, message):
    with pytest.raises(ValueError, match=message):
        ct.cccp(dataclasses.replace(ct.cccp_tsvm(), constraints=constraint), problem)


def test_searches_for_labels_refuse_them(problem):
    model = dataclasses.replace(ct.tsvm("hinge"), constraints=ct.must_link(0, 1, within=0.1))
    with pytest.raises(ValueError, match=r"searches for labels know the balance, and must_link\(\) and cannot_link"):
        ct.LowerBoundBuilder(model, problem, relaxation="sdp")
    # Without words it is a relaxation that takes them.
    assert ct.LowerBoundBuilder(model, problem).relaxation == "curvature"


def test_constraints_travel():
    again = pickle.loads(pickle.dumps(ct.cannot_link(2, 5, within=0.5)))
    assert repr(again) == "-0.5 <= f(2) + f(5) <= 0.5"
    clf = ct.TransductiveSVC(loss=dataclasses.replace(ct.tsvm(), constraints=ct.must_link(0, 3)), kernel="linear")
    X = np.random.default_rng(0).standard_normal((20, 2))
    fitted = clf.fit(X, np.resize([0, 1, -1, -1], 20))
    assert fitted.transduction_scores_[0] == pytest.approx(fitted.transduction_scores_[3], abs=1e-3)


@settings(max_examples=100)
@given(st.integers(0, 10**6))
def test_rows_and_their_conjugate(seed):
    """Fenchel and Young: μ z + max(-μ lower, -μ upper) >= 0 for every z between the ends, and 0 at the end it pulls."""
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(1, 6)), 7
    lower = np.where(rng.random(k) < 0.3, -np.inf, rng.normal(size=k))
    upper = np.where(rng.random(k) < 0.3, np.inf, np.maximum(lower, -5) + rng.exponential(size=k))
    rows = OutputRows(sp.csr_array(rng.normal(size=(k, n))), lower, upper, ("",) * k)
    mu = rows.clip(rng.normal(size=k))
    inside = np.clip(rng.normal(0, 3, k), lower, upper)
    assert mu @ inside + rows.conjugate_value(mu) >= -1e-12
    pulled = np.where(mu > 0, lower, np.where(mu < 0, upper, inside))
    assert mu @ pulled + rows.conjugate_value(mu) == pytest.approx(0, abs=1e-9)
    unit = rows.unit
    f = rng.normal(size=n)
    np.testing.assert_allclose(unit.A @ f * rows.scale, rows.A @ f, atol=1e-12)
    assert set(np.round(unit.bias, 9)) <= {0.0, 1.0}


# --- row numbers ------------------------------------------------------------------------------------------------------


def of_rows(kind, X=None):
    """A formulation that names points 3 and 9 (or two rows of outputs) in each of the ways there are."""
    loss = {"labeled": ct.hinge(), "unlabeled": ct.symmetric_ramp(-0.3)}
    weights = np.zeros(40)
    weights[[3, 9]] = 1.0
    return {
        "link": lambda: ct.Formulation(**loss, constraints=[ct.must_link(3, 9, X=X)]),
        "opposite": lambda: ct.Formulation(**loss, constraints=[ct.cannot_link(3, 9, X=X)]),
        "sum": lambda: ct.Formulation(**loss, constraints=[ct.output_constraint({3: 1.0, 9: 1.0}, upper=0.2, X=X)]),
        "mean": lambda: ct.Formulation(**loss, constraints=[ct.output_constraint(weights / 2, 0.1, 0.2, X=X)]),
        "group": lambda: ct.Formulation(
            **loss, groups=[ct.PointGroup([23, 29], ct.losses.epsilon_insensitive(0.1), 2.0, X=X)]
        ),
        "addition": lambda: ct.Formulation(
            **loss, additions=[ct.formulations.addition(lambda w, b, f: [f[3] <= f[9]])]
        ),
    }[kind]()


KINDS_OF_ROWS = ["link", "opposite", "sum", "mean", "group", "addition"]


@pytest.fixture
def forty():
    rng = np.random.default_rng(0)
    truth = np.resize([1.0, -1.0], 40)
    X = rng.normal(size=(40, 2)) + truth[:, None]
    return ct.Problem(X, np.where(np.arange(40) < 20, truth, 0), kernel=ct.RBF(1.0), C=2.0, C_unlabeled=0.5)


@pytest.mark.parametrize("kind", KINDS_OF_ROWS)
def test_row_numbers_are_of_one_set_of_points(kind, forty):
    model = of_rows(kind)
    ct.Instance(model, forty)
    ct.Instance(model, forty.replace(C=3.0, kernel=ct.RBF(2.0)))
    for other in (forty.replace(X=forty.X + 1e-3), forty.replace(X=forty.X[::-1].copy())):
        with pytest.raises(ValueError, match="this problem is not of these points"):
            ct.Instance(copy.deepcopy(model), other)
    if kind != "addition":
        with pytest.raises(ValueError, match="this problem is not of these points"):
            ct.Instance(of_rows(kind, forty.X), forty.replace(X=2 * forty.X))


@pytest.mark.parametrize("kind", KINDS_OF_ROWS[:-1])
def test_row_numbers_follow_a_part(kind, forty):
    """The part's rows are other numbers for the same points; so are those of a part of a part."""
    model, keep = of_rows(kind), np.r_[1, 2, 3, 9, np.arange(12, 40)]
    part = forty.part(keep)
    again = part.part(np.arange(2, part.n))
    for small in (part, again):
        place = {int(k): i for i, k in enumerate(small.source_rows)}
        placed = ct.Instance(model, small).formulation
        if kind == "group":
            assert placed.groups[0].where.tolist() == [place[23], place[29]]
            assert (model.costs(small)[placed.groups[0].where] == 2.0).all()
        else:
            row = placed.constraints[0].on(small)
            assert np.flatnonzero(row).tolist() == [place[3], place[9]]
            found = ct.cccp(model, small, tol=1e-6)
            assert placed.constraints[0].lower - 1e-5 <= row @ found.scores <= placed.constraints[0].upper + 1e-5


@pytest.mark.parametrize("kind", KINDS_OF_ROWS)
def test_a_part_without_the_points_is_refused(kind, forty):
    keep = np.delete(np.arange(40), [9, 23, 29])
    with pytest.raises(ValueError, match=r"point 9 is not in this part|none of its points|cannot be one of some"):
        ct.Instance(of_rows(kind), forty.part(keep))


def test_an_addition_of_weights_alone_is_of_any_points(forty):
    rising = ct.Formulation(
        ct.hinge(), ct.symmetric_ramp(-0.3), additions=[ct.formulations.addition(lambda w, b, f: [w[0] >= 0])]
    )
    linear = forty.replace(kernel="linear")
    for problem in (linear, linear.replace(X=linear.X + 1.0), linear.part(np.arange(10, 40))):
        ct.Instance(rising, problem)


@pytest.mark.parametrize("kind", KINDS_OF_ROWS[:-1])
def test_folds_of_others_bind_no_other_points(kind, forty):
    """Neither in this process, where the first fold is the one that was met, nor sent to another one."""
    clf = ct.TransductiveSVC(loss=of_rows(kind, forty.X), sigma=1.0, unlabeled=0, balance="labeled")
    clf.fit(forty.X, forty.y)
    with pytest.raises(ValueError, match="this problem is not of these points"):
        cross_val_score(clf, forty.X, forty.y, cv=2, error_score="raise")
    sent = pickle.loads(pickle.dumps(of_rows(kind)))
    with pytest.raises(ValueError, match="was sent to another process before it was used"):
        ct.Instance(sent, forty)
    assert ct.Instance(pickle.loads(pickle.dumps(of_rows(kind, forty.X))), forty)
