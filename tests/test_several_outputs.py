"""Differences of convex terms of several outputs, beside loops by hand; and bounds of convex smooth losses."""

import dataclasses

import cvxpy as cp
import numpy as np
import pytest

import convex_tsvm as ct


def bags(seed, n_bags=12, size=4):
    """Bags of which every other one has a point or two that it is positive for."""
    rng = np.random.default_rng(seed)
    X, signs = rng.normal(size=(n_bags * size, 3)), np.resize([1.0, -1.0], n_bags)
    places = np.arange(n_bags * size).reshape(n_bags, size)
    for bag in places[signs > 0]:
        X[bag[: rng.integers(1, 3)], 0] += 3.0
    return X, places, signs


def multi_instance(places, signs, cost):
    """A bag pays the hinge loss of its largest output (MI-SVM, Andrews et al. 2003)."""
    positive, negative = places[signs > 0], places[signs < 0]

    def charged(w, b, f):
        found = sum(cp.maximum(1, cp.max(f[bag])) for bag in positive)
        return cost * (found + sum(cp.pos(1 + cp.max(f[bag])) for bag in negative))

    term = ct.formulations.addition(
        charged, minus=lambda f: cost * sum(cp.max(f[bag]) for bag in positive), name="bags"
    )
    return ct.Formulation(ct.hinge(), balance=None, additions=[term])


@pytest.mark.parametrize("kernel", ["linear", ct.RBF(2.0)], ids=["linear", "rbf"])
@pytest.mark.parametrize("seed", range(3))
def test_bags_are_a_loop_by_hand(seed, kernel):
    """MI-SVM alternates between the witnesses of positive bags and the SVM with these: a CVXPY loop does the same."""
    X, places, signs = bags(seed)
    cost, n = 0.7, len(X)
    problem = ct.Problem(X, np.zeros(n), kernel=kernel, balance=None)
    model = multi_instance(places, signs, cost)
    start = np.random.default_rng(seed).normal(size=n)
    solution = ct.cccp(model, problem, start=start)
    term = ct.formulations.bag_loss(ct.hinge(), places, signs, cost=cost)
    native = ct.cccp(ct.Formulation(ct.hinge(), balance=None, additions=[term]), problem, start=start, tol=1e-6)
    assert native.solver == "native"
    np.testing.assert_allclose(native.scores, solution.scores, atol=1e-4)
    assert native.objective == pytest.approx(solution.objective, rel=1e-6)
    certificate = native.certificate()
    assert certificate.tangents_changed == 0
    assert max(certificate.gap, certificate.kkt, certificate.primal_infeasibility) < 1e-5
    f, K = start, problem.gram
    root = np.linalg.cholesky(K + 1e-9 * np.eye(n))
    for _ in range(50):
        z, b, slack = cp.Variable(n), cp.Variable(), cp.Variable(len(signs), nonneg=True)
        out, before = root @ z + b, f
        limits, gained = [], 0.0
        for k, (bag, sign) in enumerate(zip(places, signs, strict=True)):
            if sign < 0:
                limits += [out[i] <= slack[k] - 1 for i in bag]
            else:
                witness = bag[np.argmax(f[bag])]
                limits += [slack[k] >= 1, *(slack[k] >= out[i] for i in bag)]
                gained += out[witness]
        value = 0.5 * cp.sum_squares(z) + cost * (cp.sum(slack) - gained)
        cp.Problem(cp.Minimize(value), limits).solve(solver="CLARABEL")
        f = out.value
        if np.abs(f - before).max() < 1e-7:
            break
    paid = [max(0.0, 1 - sign * f[bag].max()) for bag, sign in zip(places, signs, strict=True)]
    by_hand = 0.5 * float(z.value @ z.value) + cost * sum(paid)
    assert solution.objective == pytest.approx(by_hand, rel=1e-4)
    np.testing.assert_allclose(solution.scores, f, atol=2e-3)
    objectives = [step.objective for step in solution.history]
    assert all(np.diff(objectives) <= 1e-6)
    paid = [max(0.0, 1 - sign * solution.scores[bag].max()) for bag, sign in zip(places, signs, strict=True)]
    assert solution.objective == pytest.approx(half_square(solution) + cost * sum(paid), rel=1e-6)


def random_bags(seed):
    """A problem of bags and a few labelled points, and a formulation for it: losses, constraints, bias, ties."""
    rng = np.random.default_rng(seed)
    n_bags, size = int(rng.integers(2, 9)), int(rng.integers(1, 5))
    n = n_bags * size + 6
    X = rng.normal(size=(n, 2))
    X = np.round(X) if rng.random() < 0.3 else X
    order, y = rng.permutation(n), np.zeros(n)
    rest = order[n_bags * size :]
    y[rest[:2]], y[rest[2:4]] = 1, -1
    places, signs = order[: n_bags * size].reshape(n_bags, size), rng.choice([-1, 1], n_bags)
    loss = (ct.hinge(), ct.ramp(-0.3), ct.losses.pinball(0.3))[int(rng.integers(3))]
    cost = 10 ** rng.uniform(-1, 1) * rng.uniform(0.5, 1, n_bags)
    term = ct.formulations.bag_loss(loss, places, signs, cost=cost)
    limit = ct.output_constraint({int(order[0]): 1.0, int(rest[0]): 0.5}, upper=1.0)
    constraints = [limit] if rng.random() < 0.3 else []
    model = ct.Formulation(
        ct.hinge(), balance=None, additions=[term], constraints=constraints, fit_intercept=bool(rng.random() < 0.7)
    )
    problem = ct.Problem(X, y, kernel=("linear", ct.RBF(1.0))[int(rng.integers(2))], balance=None)
    return problem, model, (loss, places, signs, cost)


@pytest.mark.parametrize("seed", range(25))
def test_native_steps_with_bags(seed):
    """At any outputs the convex step has the value that CVXPY finds, and the proven bound is that value, too."""
    problem, model, (loss, places, signs, cost) = random_bags(seed)
    instance, rng = model.on(problem), np.random.default_rng(seed)
    f = rng.normal(size=problem.n)
    paid = sum(c * float(loss(sign * f[bag].max())) for bag, sign, c in zip(places, signs, cost, strict=True))
    rest = ct.Formulation(ct.hinge(), balance=None).on(problem).objective(f, 0.0)
    charged = cp.Variable(problem.n, value=f)
    (addition,) = model.additions
    convex = float(addition.function(None, None, charged).value)
    assert instance.objective(f, convex) == pytest.approx(paid + rest)
    step = instance.step(f)
    found = ct.solvers.NativeSolver(problem, tol=1e-6).solve(step)
    by_cvxpy = ct.modeling.CvxpySolver(problem).solve(step)
    scale = 1 + abs(by_cvxpy.primal)
    assert found.status == "optimal"
    assert abs(found.primal - by_cvxpy.primal) < 1e-5 * scale
    assert by_cvxpy.primal - 1e-4 * scale < found.lower_bound < by_cvxpy.primal + 1e-6 * scale
    again = ct.solvers.NativeSolver(problem, tol=1e-6).solve(instance.step(f + 0.1), found)
    fresh = ct.solvers.NativeSolver(problem, tol=1e-6).solve(instance.step(f + 0.1))
    assert again.primal == pytest.approx(fresh.primal, rel=1e-4, abs=1e-5)


def test_bags_are_refused_with_reasons():
    hinge = ct.hinge()
    for options, words in (
        ({"bags": [[0, 1], []]}, "must be row numbers of one point or more"),
        ({"bags": [[0.5]]}, "must be row numbers"),
        ({"bags": [[0], [1]], "signs": [1]}, r"signs=\[1\] must be \+1 or -1 for each of 2 bags"),
        ({"bags": [[0]], "cost": -1.0}, "cost=-1.0 must be finite numbers, and at least 0"),
        ({"bags": [[0]], "loss": ct.squared_hinge()}, "its slopes have no bound towards -∞"),
    ):
        with pytest.raises(ValueError, match=words):
            ct.formulations.bag_loss(**({"loss": hinge} | options))
    problem = ct.Problem(np.eye(3), [1, -1, 0], balance=None)

    def solve(bags, **options):
        term = ct.formulations.bag_loss(hinge, bags, **options)
        return ct.cccp(ct.Formulation(hinge, balance=None, additions=[term]), problem, solver="native")

    with pytest.raises(ValueError, match="a point of a bag=3 must be an integer from 0 to 2"):
        solve([[3]])
    for bags in ([[0, 2]], [[2], [2]]):  # a labelled point, and one in two bags
        with pytest.raises(ValueError, match="solver='native' takes losses of bags only"):
            solve(bags)
    assert solve([[2]], signs=[1]).status == "converged"
    # Indices of other kinds, a point that is named twice, and an optimum of 0.
    mixed = ct.formulations.bag_loss(hinge, [np.array([0, 1], np.uint64), [2, 2]])
    assert [one.tolist() for one in mixed.bags.points] == [[0, 1], [2]]
    tube = ct.formulations.bag_loss(ct.losses.epsilon_insensitive(0.1), [[2]])
    assert (
        ct.cccp(ct.Formulation(hinge, balance=None, additions=[tube]), problem, solver="native").status == "converged"
    )
    # A negative bag is convex, and takes one step.
    term = ct.formulations.bag_loss(hinge, [[2]], [-1])
    assert ct.Formulation(hinge, balance=None, additions=[term]).is_convex


def half_square(solution):
    """½ ‖w‖²."""
    if solution.problem.is_linear:
        return 0.5 * float(solution.point.weights @ solution.point.weights)
    a = solution.point.coefficients
    return 0.5 * float(a @ solution.problem.gram @ a)


def non_negative_risk(positive, unlabeled, prior):
    """π R⁺ + max(0, R⁻ of unlabelled points - π R⁻ of positive ones) with the hinge loss (Kiryo et al. 2017)."""
    size = len(positive) + len(unlabeled)

    def beyond(f):
        return size * prior * cp.sum(cp.pos(1 + f[positive])) / len(positive)

    def charged(w, b, f):
        known = size * prior * cp.sum(cp.pos(1 - f[positive])) / len(positive)
        return known + cp.maximum(size * cp.sum(cp.pos(1 + f[unlabeled])) / len(unlabeled), beyond(f))

    term = ct.formulations.addition(charged, minus=beyond, name="non-negative risk")
    return ct.Formulation(ct.hinge(), balance=None, additions=[term])


@pytest.mark.parametrize("seed", range(3))
def test_the_non_negative_risk(seed):
    rng = np.random.default_rng(seed)
    truth = np.resize([1.0, -1.0], 40)
    X = rng.normal(size=(40, 2)) + truth[:, None]
    positive, unlabeled = np.flatnonzero(truth > 0)[:8], np.setdiff1d(np.arange(40), np.flatnonzero(truth > 0)[:8])
    problem = ct.Problem(X, np.zeros(40), kernel=ct.RBF(1.5), balance=None)
    model = non_negative_risk(positive, unlabeled, PRIOR)
    instance = model.on(problem)
    for f in rng.normal(size=(5, 40)):
        # What is subtracted at any outputs, its slopes by differences, and the constant of its tangents.
        assert instance.objective(f, 1.5) == pytest.approx(1.5 - subtracted(f, positive))
        slope, h = instance.tangents(f, instance.cost), 1e-6
        moved = [[subtracted(f + sign * h * e, positive) for e in np.eye(40)] for sign in (1, -1)]
        np.testing.assert_allclose(slope, -(np.array(moved[0]) - moved[1]) / (2 * h), atol=1e-5)
        assert instance.tangents_at_zero(f, instance.cost) + slope @ f == pytest.approx(-subtracted(f, positive))
    solution = ct.cccp(model, problem)
    assert solution.status == "converged"
    assert all(np.diff([step.objective for step in solution.history]) <= 1e-6)
    f = solution.scores
    risk = np.maximum(0, 1 + f[unlabeled]).mean() - PRIOR * np.maximum(0, 1 + f[positive]).mean()
    paid = 40 * (PRIOR * np.maximum(0, 1 - f[positive]).mean() + max(0.0, risk))
    assert solution.objective == pytest.approx(half_square(solution) + paid, rel=1e-6)


#: The share of positive points.
PRIOR = 0.4


def subtracted(f, positive):
    """What the difference subtracts: the positive points' part of the risk of negative ones."""
    return 40 * PRIOR * np.maximum(0, 1 + f[positive]).mean()


def test_errors():
    X = np.zeros((4, 2))
    problem = ct.Problem(X, [1, -1, 0, 0], balance=0.0)

    def on(**options):
        term = ct.formulations.addition(lambda w, b, f: cp.sum(f), **options)
        model = ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), additions=[term])
        return ct.cccp(model, problem)

    def with_addition(function):
        return ct.cccp(ct.Formulation(ct.hinge(), additions=[ct.formulations.addition(function)]), problem)

    def with_regularizer(written):
        class Own(ct.formulations.Regularizer):
            def value(self, w):
                return float(w @ w)

            def expression(self, cvxpy, w):
                return written(w)

        return ct.cccp(ct.Formulation(ct.hinge(), regularizer=Own()), problem)

    cases = [
        (lambda: on(minus=2.0), r"minus=2.0 must be a function of f"),
        (
            lambda: on(minus=lambda f: f, name="mine"),
            r"addition 'mine': minus must be a convex number .* shape is \(4,\)",
        ),
        (lambda: on(minus=lambda f: -cp.norm(f)), "curvature concave"),
        (lambda: on(minus=lambda f: None, name="mine"), "addition 'mine': minus has no value"),
        (lambda: on(minus=lambda f, g: f, name="mine"), "addition 'mine': minus fails with TypeError"),
        (
            lambda: on(minus=cp.norm_inf, name="mine"),
            "addition 'mine': minus has no value, or CVXPY no slope",
        ),
        (lambda: with_addition(lambda w, b, f: None), "returns None"),
        (lambda: with_addition(lambda w, b, f: np.nan), "no finite number"),
        (lambda: with_regularizer(lambda w: (cp.sqrt(w[0]), [])), "its expression must be a convex number"),
        (lambda: with_regularizer(cp.sum_squares), "its expression must be .* it fails with"),
        (lambda: ct.gradient(ct.Formulation(ct.hinge(), additions=[term_of_one()]), problem), "take none"),
        (lambda: ct.exact_search(ct.Formulation(ct.hinge(), additions=[term_of_one()]), problem), "know none"),
    ]
    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()
    assert not ct.Formulation(ct.hinge(), additions=[term_of_one()]).is_convex


def term_of_one():
    return ct.formulations.addition(lambda w, b, f: cp.max(f), minus=cp.norm)


@pytest.mark.parametrize("unlabeled", [ct.symmetric_ramp(-0.3), ct.losses.exponential()], ids=["ramp", "exp"])
@pytest.mark.parametrize("seed", range(3))
def test_logistic_losses_have_bounds_and_searches(seed, unlabeled):
    rng = np.random.default_rng(seed)
    truth = np.resize([1.0, -1.0], 14)
    X = rng.normal(size=(14, 2)) + 0.7 * truth[:, None]
    problem = ct.Problem(X, np.where(np.arange(14) < 6, truth, 0.0), kernel=ct.RBF(1.5), C=2.0, balance=0.0)
    model = ct.Formulation(ct.losses.logistic(), unlabeled)
    best = min(ct.cccp(model, problem, start=rng.normal(size=14)).objective for _ in range(3))
    exact = ct.exact_search(model, problem, gap=1e-3)
    assert exact.status == "optimal"
    assert exact.lower_bound <= best
    assert exact.objective <= best * (1 + 1e-3)
    assert ct.LowerBoundBuilder(model, problem).bound().value <= exact.objective
    with pytest.raises(ValueError, match="files of searches are about piecewise linear-quadratic losses"):
        ct.exact_search(model, problem, certificate="c.npz")


@pytest.mark.parametrize("error", [0.1, 1e-3, 1e-6])
@pytest.mark.parametrize("loss", [ct.losses.logistic(), ct.losses.logistic().reflect()], ids=str)
def test_minorants_are_below_and_near(loss, error):
    t = np.linspace(-60, 60, 20001)
    below = loss(t) - loss.minorant(error)(t)
    assert below.min() >= -1e-12
    assert below.max() <= error
    assert loss.minorant(error).is_convex


def of_weights(kind):
    """Formulations with additions or a regularizer that is no sum, and a problem of two features each."""
    rng, truth = np.random.default_rng(0), np.resize([1.0, -1.0], 14)
    X = rng.normal(size=(14, 2)) + 0.7 * truth[:, None]
    problem = ct.Problem(X, np.where(np.arange(14) < 6, truth, 0.0), C=2.0, balance=0.0)
    if kind == "group lasso":
        lasso = ct.formulations.GroupLasso([[0, 1]])
        return ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), regularizer=lasso), problem
    if kind == "bias":
        term = ct.formulations.addition(lambda w, b, f: 0.1 * (b - 1) ** 2)
        return ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), None, additions=[term]), problem.replace(
            balance=None
        )
    if kind in ("outputs", "differences"):  # which no bias changes, so that the losses bound it
        term = ct.formulations.addition(lambda w, b, f: 0.1 * cp.sum_squares(f[6:] - f[5:-1]))
        balance = "linear" if kind == "outputs" else None
        model = ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), balance, additions=[term])
        return model, problem if kind == "outputs" else problem.replace(balance=None)
    positive, negative = [np.array([0, 2]), np.array([4, 6])], [np.array([1, 3]), np.arange(7, 13, 2)]
    term = ct.formulations.addition(
        lambda w, b, f: (
            sum(cp.maximum(1, cp.max(f[bag])) for bag in positive) + sum(cp.pos(1 + cp.max(f[bag])) for bag in negative)
        ),
        minus=lambda f: sum(cp.max(f[bag]) for bag in positive),
        least=0.0,
    )
    model = ct.Formulation(ct.hinge(), balance=None, fit_intercept=False, additions=[term])
    return model, ct.Problem(np.column_stack([X, np.ones(14)]), np.zeros(14), balance=None)


@pytest.mark.parametrize("kind", ["group lasso", "bias", "outputs", "differences", "bags"])
def test_searches_over_weights_have_other_terms(kind):
    """Planes are below the terms, ends hold all that is below a level, and the search is better than descents."""
    model, problem = of_weights(kind)
    weights = ct.LowerBoundBuilder(model, problem, relaxation="weights").model
    others, rng = weights.others, np.random.default_rng(0)
    for _ in range(20):
        middle, half = rng.normal(size=weights.n), rng.uniform(0.01, 2.0, weights.n)
        low, high = middle - half, middle + half
        constant, slopes, value = others.below(low, high, middle)
        assert (value, *slopes) == (others.at(middle)[0], *others.at(middle)[1])
        for theta in rng.uniform(low, high, (5, weights.n)):
            assert constant + slopes @ theta <= others.at(theta)[0] + 1e-9
        if kind != "bags":
            assert constant + slopes @ middle == pytest.approx(value)
        moved = 1e-6 * rng.normal(size=weights.n)
        assert others.at(middle + moved)[0] - value == pytest.approx(slopes @ moved, abs=1e-8)
    reach = others.reach(2.0)
    assert others.bounds_bias == (kind == "bias")
    for theta in rng.normal(size=(200, weights.n)) * 2:
        charged = 0.5 * weights.bend @ theta**2 + weights.kink @ np.abs(theta)
        if kind != "bags":  # whose difference is no part of what bounds weights
            charged += others.charged(theta)
        if charged <= 2.0:
            assert (np.abs(theta) <= reach).all()
    exact = ct.exact_search(model, problem, gap=1e-2)
    assert exact.status == "optimal"
    assert model.objective(problem, exact.scores, exact.regularization) == pytest.approx(exact.objective)
    for _ in range(5):
        assert ct.cccp(model, problem, start=rng.normal(size=14)).objective >= exact.lower_bound - 1e-6
    if kind != "bags":
        program = ct.modeling.MixedIntegerModel(model, problem, exact.objective * 1.01).problem
        least = program.solve(solver="SCIP")
        assert exact.lower_bound <= least <= exact.objective * (1 + 1e-6)
    with pytest.raises(ValueError, match="files of searches over boxes of weights know sums over weights"):
        ct.exact_search(model, problem, certificate="c.npz")


def test_what_searches_over_weights_refuse():
    model, problem = of_weights("bags")
    (term,) = model.additions
    too_high = dataclasses.replace(model, additions=[dataclasses.replace(term, least=20.0)])
    with pytest.raises(ValueError, match=r"least=20.0, but it is .* at some weights"):
        ct.exact_search(too_high, problem, branch_on="weights")
    with pytest.raises(ValueError, match=r"nor over boxes of weights, since .*kernel"):
        ct.LowerBoundBuilder(model, problem.replace(kernel=ct.RBF(1.0)))
    unknown = dataclasses.replace(model, additions=[dataclasses.replace(term, least=None)])
    limited = ct.formulations.addition(lambda w, b, f: [w[0] >= 0])
    cases = [
        (unknown, "what it is never below, by least="),
        (dataclasses.replace(model, fit_intercept=True), "with fit_intercept=False and a constant feature"),
        (dataclasses.replace(model, additions=[limited]), "boxes of weights take terms, and no constraints"),
    ]
    for other, message in cases:
        with pytest.raises(ValueError, match=message):
            ct.LowerBoundBuilder(other, problem, relaxation="weights")


@pytest.mark.parametrize("term", ["norm_inf", "cube"])
def test_terms_without_a_slope_somewhere(term):
    """CVXPY knows no slope of some terms at all, and of others none at 0: a tangent next to it is as good."""
    model, problem = of_weights("bias")
    written = {"norm_inf": lambda w, b, f: cp.norm_inf(w), "cube": lambda w, b, f: cp.power(cp.abs(w[0]), 3)}[term]
    other = dataclasses.replace(model, additions=[*model.additions, ct.formulations.addition(written)])
    if term == "norm_inf":
        with pytest.raises(ValueError, match="CVXPY knows no slope of"):
            ct.exact_search(other, problem, branch_on="weights")
        return
    exact = ct.exact_search(other, problem, gap=1e-3, branch_on="weights")
    assert exact.status == "optimal"
    assert exact.objective <= ct.cccp(other, problem).objective + 1e-6


def test_a_number_of_labels_has_no_derivative():
    rng = np.random.default_rng(0)
    truth = np.resize([1.0, -1.0], 30)
    X = rng.normal(size=(30, 2)) + truth[:, None]
    problem = ct.Problem(X, np.where(np.arange(30) < 6, truth, 0.0), kernel=ct.RBF(1.0), balance=("exact", 0.4))
    solution = ct.cccp(ct.tsvm("hinge"), problem)
    assert solution.n_positive == round(0.4 * 24)
    with pytest.raises(ValueError, match="a number of labels, 10, has no derivative"):
        solution.derivative("C")
