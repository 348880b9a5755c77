"""Gradient, continuation and Newton methods: against each other, against CVXPY, and the rules that each must keep."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import convex_tsvm as ct
from convex_tsvm.instance import AnnealedPrimal, ExpansionPrimal, SmoothPrimal
from convex_tsvm.losses import annealed
from convex_tsvm.methods.continuation import Continuation
from convex_tsvm.solvers import SmoothSolver
from convex_tsvm.solvers.levenberg_marquardt import _Bending, levenberg_marquardt


def clusters(n=60, d=3, seed=0, apart=1.6, **options):
    """Two Gaussian clusters with three labels each."""
    rng = np.random.default_rng(seed)
    truth = np.resize([1.0, -1.0], n)
    X = rng.standard_normal((n, d)) + apart * truth[:, None] / 2 + 3.0
    y = np.where(np.arange(n) < 6, truth, 0.0)
    options = {"kernel": ct.RBF(2.0), "C": 3.0, "C_unlabeled": 1.0, "balance": 0.1, **options}
    return ct.Problem(X, y, **options), truth


METHODS = {
    "∇S3VM": lambda problem, **o: ct.gradient(ct.tsvm("exp"), problem, **o),
    "∇TSVM": lambda problem, **o: ct.gradient(ct.Formulation(ct.hinge(), ct.losses.exponential(3)), problem, **o),
    "∇DA": lambda problem, **o: ct.gradient(ct.tsvm("squared_hinge"), problem, **o),
    "cS3VM": lambda problem, **o: ct.continuation(ct.tsvm("exp"), problem, **o),
    "Newton-S3VM": lambda problem, **o: ct.newton(ct.tsvm("flat"), problem, **o),
    "Newton, ramp": lambda problem, **o: ct.newton(ct.tsvm("ramp"), problem, **o),
}


@pytest.mark.parametrize("balance", [0.2, None])
@pytest.mark.parametrize("loss", ["flat", "exp", "squared_hinge"])
def test_the_expansion_has_the_slopes_of_eq_16_and_17(loss, balance):
    problem, _ = clusters(balance=balance)
    primal = ExpansionPrimal(ct.Instance(ct.tsvm(loss, balance=balance and "linear"), problem))
    rng = np.random.default_rng(1)
    x, d = rng.normal(0, 0.1, primal.n_variables), rng.standard_normal(primal.n_variables)
    h = 1e-6
    slope = (primal.value(x + h * d) - primal.value(x - h * d)) / (2 * h)
    assert primal.gradient(x) @ d == pytest.approx(slope, rel=1e-5, abs=1e-6)
    bend = (primal.gradient(x + h * d) - primal.gradient(x - h * d)) / (2 * h)
    np.testing.assert_allclose(primal.hessian_product(x, d), bend, rtol=1e-3, atol=1e-3)
    # The same function as in the coordinates of a factor, and the same point of it.
    other = SmoothPrimal(primal.instance)
    point = primal.point(x)
    again = point.recomputed()
    assert again.primal == pytest.approx(primal.value(x), rel=1e-9)
    assert again.squared_slope == pytest.approx(point.squared_slope, rel=1e-6)
    np.testing.assert_allclose(again.outputs, primal.outputs(x), atol=1e-9)
    # Least squares with the mean cost and ½ ‖w‖²: the gradient of that is 0 at what is called nearest.
    w = other.nearest(again.outputs)
    residual = other.outputs(w) - again.outputs
    ridge = 0.5 / other.cost.mean()
    np.testing.assert_allclose(other.space.pull(residual) + ridge * w, 0, atol=1e-2 * np.abs(again.outputs).max())


@pytest.mark.parametrize("balance", [("exact", 0.4), 0.1, None])
def test_the_annealed_primal_has_the_slopes_of_its_value(balance):
    """By the envelope theorem p may be held where it is best (chapelle2008 §3.3), even with a balance of p."""
    problem, _ = clusters(balance=balance)
    formulation = ct.tsvm("squared_hinge", balance=None if balance is None else "linear")
    primal = AnnealedPrimal(ct.Instance(formulation, problem)).cooled(0.7)
    rng = np.random.default_rng(1)
    x, d = rng.normal(0, 0.3, primal.n_variables), rng.standard_normal(primal.n_variables)
    h = 1e-6
    slope = (primal.value(x + h * d) - primal.value(x - h * d)) / (2 * h)
    assert primal.gradient(x) @ d == pytest.approx(slope, rel=1e-5, abs=1e-6)
    unknown = problem.unlabeled
    f = primal.outputs(x)
    p = primal.probabilities_at(f).p
    if isinstance(balance, tuple):
        assert p.sum() == pytest.approx(problem.positive_count)
    else:
        # Without a number to keep, it is a sum of annealed losses, with their curvature.
        pays = annealed(ct.squared_hinge(), 0.7)
        known = problem.labeled
        total = 0.5 * x @ (primal.space.ridge * x) + 3 * ct.squared_hinge()(problem.y[known] * f[known]).sum()
        assert primal.value(x) == pytest.approx(total + pays(f[unknown]).sum())
        bend = (primal.gradient(x + h * d) - primal.gradient(x - h * d)) / (2 * h)
        np.testing.assert_allclose(primal.hessian_product(x, d), bend, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("kernel", [ct.RBF(2.0), "linear"])
@pytest.mark.parametrize("name", METHODS)
def test_it_finds_the_clusters_and_certifies_a_stationary_point(name, kernel):
    problem, truth = clusters(kernel=kernel, apart=3.0)
    solution = METHODS[name](problem)
    assert solution.status == "converged"
    assert (solution.labels == truth).mean() > 0.9
    figures = solution.certificate()
    assert 0 <= figures.gap < 1e-3
    assert figures.objective == pytest.approx(solution.objective, rel=1e-6)
    # The decision function at the points is what the labels came from.
    np.testing.assert_allclose(solution.decision_function(problem.X), solution.scores, atol=1e-6)
    assert solution.scores[problem.unlabeled].mean() == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_every_stage_descends(name):
    """A descent never ends above where it began: the stage's objective at the point before is no lower."""
    problem, _ = clusters()
    seen = []
    real = {method: getattr(SmoothSolver, method) for method in ("descend", "newton")}

    def watched(method):
        def call(self, primal, x, *rest, **named):
            point = real[method](self, primal, x, *rest, **named)
            seen.append(primal.value(point.variables) - primal.value(x))
            return point

        return call

    with pytest.MonkeyPatch.context() as patch:
        for method in real:
            patch.setattr(SmoothSolver, method, watched(method))
        METHODS[name](problem)
    assert len(seen) >= 2
    assert max(seen) <= 1e-9


@pytest.mark.parametrize("name", ["∇S3VM", "cS3VM", "Newton-S3VM"])
def test_cccp_with_cvxpy_stays_at_its_points(name):
    """A stationary point is a fixed point of the concave-convex procedure, whoever solves its convex steps."""
    problem, _ = clusters(n=40)
    solution = METHODS[name](problem, tol=1e-8)
    for solver in ("cvxpy", "native"):
        step = solution.formulation.on(problem).step(solution.scores)
        solved = ct.cccp(solution.formulation, problem, solver=solver, start=solution, tol=1e-7, max_iter=300)
        assert solved.objective == pytest.approx(solution.objective, rel=1e-3)
        assert solved.objective <= solution.objective * (1 + 1e-6)
        assert step.target == pytest.approx(0.1)
        np.testing.assert_allclose(solved.scores, solution.scores, atol=0.05)


def test_newton_and_gradient_end_at_the_same_convex_optimum():
    problem, _ = clusters()
    for balance in ("linear", None):
        formulation = ct.Formulation(ct.squared_hinge(), ct.squared_hinge(), balance=balance)
        reference = ct.cccp(formulation, problem, tol=1e-9).objective
        for method in (ct.newton, ct.gradient):
            solution = method(formulation, problem, tol=1e-9)
            assert solution.objective == pytest.approx(reference, rel=1e-6)


@pytest.mark.parametrize("free_bias", [False, True])
@pytest.mark.parametrize("damping", [1.0, 16.0])
def test_the_step_solves_the_system_of_eq_18(free_bias, damping):
    """(λ K + K D K) d = -K g, with a bias its own equation; the paper's second line lacks the minus."""
    rng = np.random.default_rng(0)
    n = 12
    Z = rng.standard_normal((n, n))
    K, g = Z @ Z.T, rng.standard_normal(n)
    D = np.where(rng.random(n) < 0.5, 0.0, rng.uniform(-0.02, 2.0, n))
    slopes = rng.standard_normal(n)
    tilt = float(slopes.sum())
    d, shift, change = _Bending(K, D, g, tilt, free_bias).step(damping)
    np.testing.assert_allclose(change, K @ d + shift, atol=1e-8)
    np.testing.assert_allclose(damping * d + D * change, -g, atol=1e-7)
    if free_bias:
        assert tilt + D @ change == pytest.approx(0, abs=1e-7)
    else:
        assert shift == 0


def test_32_bit_factors_lead_to_the_same_minimum():
    """With 300 points systems are factored with 32-bit numbers, unless the goal is below what those can reach."""
    problem, _ = clusters(n=300)
    primal = ExpansionPrimal(ct.Instance(ct.tsvm("flat"), problem))
    x = np.zeros(primal.n_variables)
    rough = levenberg_marquardt(primal, x, goal=1e-5, max_iter=200)
    exact = levenberg_marquardt(primal, x, goal=1e-12, max_iter=200)
    assert rough.status == exact.status == "optimal"
    assert exact.gap <= 1e-12
    assert rough.primal == pytest.approx(exact.primal, rel=1e-4)

    D, g = np.random.default_rng(0).uniform(-0.02, 2.0, (2, len(primal.kernel)))
    K = primal.kernel
    steps = [_Bending(K, D, g, 0.5, True, rounded).step(4.0)[0] for rounded in (K, K.astype(np.float32))]
    np.testing.assert_allclose(*steps, atol=1e-4)
    assert (steps[0] != steps[1]).any()


def test_the_step_is_refused_where_the_model_has_no_least_point():
    K, D = np.eye(3), np.array([-5.0, 1.0, 0.0])
    bending = _Bending(K, D, np.ones(3), 0.0, False)
    assert bending.step(1.0) is None
    assert bending.step(16.0) is not None


def test_exact_balance():
    problem, _ = clusters(balance=("exact", 0.5), apart=2.5)
    for name, method in METHODS.items():
        solution = method(problem)
        assert abs((solution.labels[problem.unlabeled] > 0).sum() - 27) <= 1, name


@pytest.mark.parametrize("name", ["∇S3VM", "cS3VM", "Newton-S3VM", "CCCP"])
@pytest.mark.parametrize("wanted", [15, 27])
def test_a_balance_that_the_clusters_do_not_have(name, wanted):
    """The number of positives jumps by clusters; the SVM of the labels wanted says for which c it does not."""
    problem, _ = clusters(balance=("exact", wanted / 54), apart=2.5)
    methods = {**METHODS, "CCCP": lambda problem: ct.cccp(ct.tsvm("ramp"), problem)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = methods[name](problem)
    assert abs((solution.labels[problem.unlabeled] > 0).sum() - wanted) <= 1


def test_the_search_goes_on_without_an_svm():
    """With a labelled loss that is not convex there is none."""
    problem, _ = clusters(balance=("exact", 0.5), apart=2.5)
    solution = ct.cccp(ct.Formulation(ct.ramp(-0.3), ct.symmetric_ramp(-0.3)), problem)
    assert abs((solution.labels[problem.unlabeled] > 0).sum() - 27) <= 1


def test_the_first_width_makes_the_objective_convex():
    """Where it does not, continuation would begin in some minimum of many."""
    problem, _ = clusters()
    instance = ct.Instance(ct.tsvm("exp"), problem)
    primal = SmoothPrimal(instance)
    norms = np.sqrt(primal.space.squared_norms())
    np.testing.assert_allclose(norms**2, np.diag(ExpansionPrimal(instance).kernel), atol=1e-9)
    widths = Continuation().widths(primal, norms)
    assert (np.diff(widths) < 0).all()
    assert widths[-1] == 0
    smooth = primal.at(deviations=widths[0] * np.where(problem.y == 0, norms, 0.0))
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, d = rng.standard_normal((2, primal.n_variables))
        assert d @ smooth.hessian_product(x, d) > -0.05 * d @ d
    assert any(d @ primal.hessian_product(0 * d, d) < 0 for d in np.eye(primal.n_variables))


@pytest.mark.parametrize("smoothing", ["logistic", "student", "uniform"])
@pytest.mark.parametrize("loss", ["exp", "flat"])
def test_other_densities_lead_to_minima_too(loss, smoothing):
    problem, truth = clusters()
    solution = ct.continuation(ct.tsvm(loss), problem, smoothing=smoothing, tol=1e-6)
    assert solution.status == "converged"
    assert np.mean(solution.labels != truth) < 0.1
    again = ct.gradient(ct.tsvm(loss), problem, start=solution, tol=1e-6)
    assert again.objective == pytest.approx(solution.objective, rel=1e-4)
    assert solution.objective <= ct.continuation(ct.tsvm(loss), problem).objective * 1.5


def test_kernel_and_linear_points_agree():
    problem, _ = clusters(kernel="linear")
    same = problem.replace(X=sp.csr_matrix(problem.X), kernel="linear")
    gram = problem.replace(X=problem.gram, kernel="precomputed")
    for name in ("∇S3VM", "∇DA", "cS3VM", "Newton-S3VM"):
        values = [METHODS[name](p, tol=1e-7).objective for p in (problem, same, gram)]
        np.testing.assert_allclose(values, values[0], rtol=1e-4, err_msg=name)


def test_estimator_and_start():
    problem, truth = clusters(apart=3.0)
    y = np.where(problem.y == 0, -1, problem.y > 0)
    for method, loss in (("gradient", "exp"), ("gradient", "hinge"), ("continuation", "exp"), ("newton", "flat")):
        found = ct.TransductiveSVC(method=method, loss=loss, sigma=2.0, C=3.0, balance="labeled").fit(problem.X, y)
        assert (found.transduction_ == (truth > 0)).mean() > 0.9
        np.testing.assert_allclose(found.decision_function(problem.X), found.transduction_scores_, atol=1e-5)
        linear = ct.LinearTransductiveSVC(method=method, loss=loss, positive_fraction="labeled").fit(problem.X, y)
        assert (linear.transduction_ == (truth > 0)).mean() > 0.9
    with pytest.raises(ValueError, match="solver='native' is none of method='newton'"):
        ct.TransductiveSVC(method="newton", solver="native").fit(problem.X, y)
    first = ct.gradient(ct.tsvm("exp"), problem, tol=1e-8)
    again = ct.gradient(ct.tsvm("exp"), problem, start=first, annealing=[1.0], tol=1e-8)
    assert again.objective == pytest.approx(first.objective, rel=1e-5)


def test_any_method_on_the_kernel_of_a_laplacian_svm():
    """chapelle2008 §5.6.2: without a graph it is the method itself, with one another function."""
    problem, truth = clusters(apart=3.0)
    y = np.where(problem.y == 0, -1, problem.y > 0)
    for method in ("cccp", "switching", "gradient", "newton"):
        plain = ct.TransductiveSVC(method=method, loss="squared_hinge", sigma=2.0, balance="labeled")
        hybrid = clone(plain).set_params(C_manifold=1.0).fit(problem.X, y)
        plain.fit(problem.X, y)
        assert (hybrid.transduction_ == (truth > 0)).mean() > 0.9
        assert not np.allclose(plain.transduction_scores_, hybrid.transduction_scores_, atol=1e-3)
        np.testing.assert_allclose(hybrid.decision_function(problem.X), hybrid.transduction_scores_, atol=1e-5)


def test_interruption_keeps_the_best_point():
    problem, _ = clusters()
    seen = []

    def stop(iteration):
        seen.append(iteration)
        if len(seen) == 4:
            raise KeyboardInterrupt

    for name in ("∇S3VM", "∇DA", "Newton-S3VM"):
        seen.clear()
        with pytest.warns(UserWarning, match="interrupted"):
            solution = METHODS[name](problem, callback=stop)
        assert solution.status == "interrupted"
        assert np.isfinite(solution.objective)
        assert solution.n_iter == 4


def test_a_limit_is_reported():
    problem, _ = clusters()
    solution = ct.gradient(ct.tsvm("exp"), problem, max_iter=1, tol=1e-9)
    assert solution.status in ("max_iter", "inaccurate")
    for bad in ({"widths": 0}, {"tol": 0}, {"smoothing": "box"}):
        with pytest.raises(ValueError, match=r"widths|tol|smoothing='box'"):
            ct.continuation(ct.tsvm("exp"), problem, **bad)
