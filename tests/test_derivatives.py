"""Derivatives of solutions against fits at parameters on both sides, and gradients against derivatives."""

import dataclasses
import pickle

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.derivatives import jax_function, torch_function
from convex_tsvm.formulations import PointGroup

KERNELS = {
    "linear": "linear",
    "rbf": ct.RBF(1.3),
    "poly": ct.Polynomial(degree=2, gamma=0.5, coef0=1.0),
}
FORMULATIONS = {  # made anew for each problem, as some say of points by their numbers
    "cccp": lambda: ct.cccp_tsvm(-0.3),
    "s3vm": ct.s3vm,
    "no balance": lambda: ct.tsvm("ramp", balance=None),
    "no bias": lambda: ct.Formulation(
        ct.losses.huber_hinge(0.4), ct.symmetric_ramp(-0.2), balance=None, fit_intercept=False
    ),
    "ramps": lambda: ct.Formulation(ct.ramp(-0.5), ct.symmetric_ramp(-0.1)),
    "svm": lambda: ct.Formulation(ct.hinge(), balance=None),
    "regression": lambda: ct.Formulation(ct.losses.epsilon_insensitive(0.3), ct.symmetric_ramp(-0.3)),
    "constraints": lambda: ct.Formulation(
        ct.hinge(), ct.symmetric_ramp(-0.3),
        constraints=[ct.must_link(20, 25), ct.output_constraint(np.repeat([0.0, 0.1], [30, 10]), 0.15, 0.2)],
    ),
    "group": lambda: ct.Formulation(
        ct.hinge(), ct.symmetric_ramp(-0.3), balance=None,
        groups=[PointGroup(np.arange(12, 20), ct.losses.epsilon_insensitive(0.2), name="near", cost=0.7)],
    ),
}  # fmt: skip


def case(kernel, name, seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    truth = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    y = np.where(np.arange(n) < 12, truth, 0.0)
    formulation = FORMULATIONS[name]()
    balance = None if formulation.balance is None else 0.1
    C, C_unlabeled = np.exp(rng.uniform(-1, 1.5)), np.exp(rng.uniform(-2, 0))
    return formulation, ct.Problem(X, y, kernel=KERNELS[kernel], C=C, C_unlabeled=C_unlabeled, balance=balance)


def fit(formulation, problem):
    solution = ct.cccp(formulation, problem, solver="native", tol=1e-9)
    assert solution.point.kkt < 1e-7
    return solution


def by_fits(at, value, h, read):
    """A central difference of what is read off fits on both sides."""
    return (read(fit(*at(value + h))) - read(fit(*at(value - h)))) / (2 * h)


def near(found, expected, tol=1e-6):
    size = max(np.abs(expected).max(), np.abs(found).max(), 0.1)
    assert np.abs(found - expected).max() <= tol * size


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 12))])
def test_derivatives_are_those_of_fits(kernel, name, seed):
    solution = fit(*case(kernel, name, seed))
    if (kernel, name, seed) == ("linear", "group", 2):
        with pytest.raises(ValueError, match="b may move without any change"):
            solution.derivative("C")
        return
    point = solution.fixed_point
    assert point.f == pytest.approx(solution.scores, abs=1e-5)
    assert len(point.parameters) >= 2
    for own, (value, at, _) in point.parameters.items():
        found = solution.derivative(own)
        assert found.interval[0] <= 0 <= found.interval[1]
        h = min(1e-4 * max(abs(value), 0.1), 0.3 * found.nearest_kink)
        if h < 1e-7:
            continue
        tol = 2e-6
        near(found.outputs, by_fits(at, value, h, lambda fitted: fitted.scores), tol)
        near(found.objective, by_fits(at, value, h, lambda fitted: fitted.objective), tol)
        near(found.bias, by_fits(at, value, h, lambda fitted: fitted.bias), tol)
        if kernel == "linear":
            near(found.w, by_fits(at, value, h, lambda fitted: fitted.weights), tol)


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_are_sums_of_derivatives(kernel, name):
    formulation, problem = case(kernel, name, 3)
    solution, rng = fit(formulation, problem), np.random.default_rng(0)
    gradient, others = rng.normal(size=problem.n), rng.normal(size=(5, 3))
    found = solution.backward(gradient)
    for own in solution.fixed_point.parameters:
        near(found[own], gradient @ solution.derivative(own).outputs)
    move = rng.normal(size=problem.X.shape)
    if formulation.groups or formulation.constraints:
        return  # which are about these points, and no others
    near(np.sum(found["X"] * move), gradient @ solution.derivative(moved_points(formulation, problem, move)).outputs)
    more = rng.uniform(size=problem.n) * (problem.y != 0)

    def dearer(h):
        return formulation, problem.replace(C=problem.cost[problem.labeled] + h * more[problem.labeled])

    near(found["cost"] @ more, gradient @ solution.derivative(dearer).outputs)
    weights = rng.normal(size=5)
    at_others = solution.backward(weights, others)
    for own, (value, at, _) in solution.fixed_point.parameters.items():
        h = min(1e-4 * max(abs(value), 0.1), 0.3 * solution.derivative(own).nearest_kink)
        near(at_others[own], by_fits(at, value, h, lambda fitted: weights @ fitted.decision_function(others)), 1e-5)
    h = 1e-6
    along = solution.decision_function(others + h * others) - solution.decision_function(others - h * others)
    near(np.sum(at_others["points"] * others), weights @ along / (2 * h), 1e-5)
    path = moved_points(formulation, problem, move)
    h = min(1e-5, 0.3 * solution.derivative(path).nearest_kink)
    near(
        np.sum(at_others["X"] * move), by_fits(path, 0.0, h, lambda one: weights @ one.decision_function(others)), 1e-5
    )


def moved_points(formulation, problem, move):
    return lambda h: (formulation, problem.replace(X=problem.X + h * move))


def test_smooth_losses_and_other_solvers():
    """The descent on the smooth primal has no kinks; CVXPY's solutions have the same derivatives."""
    formulation, problem = case("rbf", "s3vm", 1)
    smooth = dataclasses.replace(formulation, unlabeled=ct.losses.exponential(3.0))

    def descend(C):
        return ct.newton(smooth, problem.replace(C=C), tol=1e-10)

    solution = descend(problem.C)
    found, h = solution.derivative("C"), 1e-4
    near(found.outputs, (descend(problem.C + h).scores - descend(problem.C - h).scores) / (2 * h), 1e-5)
    for name in ("cccp", "regression"):
        formulation, problem = case("rbf", name, 2)
        native = fit(formulation, problem)
        other = ct.cccp(formulation, problem, solver="cvxpy", tol=1e-7)
        for own in ("C", "C_unlabeled", "sigma", "balance"):
            near(other.derivative(own).outputs, native.derivative(own).outputs, 1e-5)


def test_what_is_known_of_points_in_other_forms():
    """Sparse and precomputed points; solutions that were pickled."""
    sparse = pytest.importorskip("scipy.sparse")
    formulation, problem = case("linear", "cccp", 1)
    dense = fit(formulation, problem)
    for given in (
        problem.replace(X=sparse.csr_matrix(problem.X)),
        problem.replace(X=problem.X @ problem.X.T, kernel="precomputed"),
    ):
        near(fit(formulation, given).derivative("C_unlabeled").outputs, dense.derivative("C_unlabeled").outputs)
    dense.derivative("C")
    again = pickle.loads(pickle.dumps(dense))
    assert (again.derivative("C").outputs == dense.derivative("C").outputs).all()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", ["cccp", "s3vm", "regression"])
@pytest.mark.parametrize("seed", range(3))
def test_at_a_kink_there_are_two_derivatives(kernel, name, seed):
    """Followed up to where an output reaches a kink or leaves it, the derivatives there are those before and after."""
    formulation, problem = case(kernel, name, seed)

    def active(C):
        point = fit(formulation, problem.replace(C=C)).fixed_point
        return np.where(point.held < 0, point.piece, -1).tobytes(), point.held.tobytes(), point.f.tolist()

    low = problem.C
    step = fit(formulation, problem).derivative("C").interval[1]
    high = low + 1.5 * step
    if not np.isfinite(step) or step > low:
        pytest.skip("no output reaches a kink")
    before = active(low)[:2]
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if active(middle)[:2] == before else (low, middle)
    if np.abs(np.subtract(active(low)[2], active(high)[2])).max() > 1e-8:
        pytest.skip("a tangent changes, and the outputs jump")
    C = low
    point = fit(formulation, problem.replace(C=C)).fixed_point
    assert point.derivative("C").nearest_kink <= 1e-6
    left, right = point.derivative("C", side=-1), point.derivative("C", side=1)
    h = 1e-5 * C
    for side, found in ((-1, left), (1, right)):
        beside = fit(formulation, problem.replace(C=C + side * h))
        difference = side * (beside.fixed_point.f - point.f) / h
        near(found.outputs, difference, 1e-3)


def test_other_points_of_a_precomputed_kernel():
    formulation, problem = case("rbf", "cccp", 1)
    others, weights = np.random.default_rng(0).normal(size=(5, 3)), np.arange(5.0)
    K, rows = problem.kernel(problem.X, problem.X), problem.kernel(others, problem.X)
    expected = fit(formulation, problem).backward(weights, others)
    found = fit(formulation, problem.replace(X=K, kernel="precomputed")).backward(weights, rows)
    for name in ("C", "C_unlabeled", "balance", "labeled.s"):
        near(found[name], expected[name])
    near(found["cost"], expected["cost"])


def test_paths_that_are_allowed_on_one_side_or_none():
    formulation, problem = case("rbf", "cccp", 1)
    solution = fit(formulation, problem)

    def only(allowed):
        def path(h):
            if not allowed(h):
                raise ValueError("h is not allowed")
            return formulation, problem.replace(C=problem.C + h)

        return path

    for allowed in (lambda h: h >= 0, lambda h: h <= 0):
        near(solution.derivative(only(allowed)).outputs, solution.derivative("C").outputs)
    with pytest.raises(ValueError, match="h is not allowed"):
        solution.derivative(only(lambda h: h == 0))


def test_what_has_no_derivative_is_named():
    formulation, problem = case("rbf", "cccp")
    linear = problem.replace(kernel="linear")
    solution = fit(formulation, problem)
    with pytest.raises(ValueError, match=r"parameter='width' must be one of C, balance, C_unlabeled, sigma, gamma"):
        solution.derivative("width")
    with pytest.raises(ValueError, match=r"gradient has shape \(3,\)"):
        solution.backward(np.ones(3))
    with pytest.raises(ValueError, match=r"X has shape \(2, 5\); it must be \(m, 3\)"):
        solution.backward(np.ones(2), np.ones((2, 5)))
    lasso = ct.Formulation(ct.hinge(), regularizer="l1", balance=None)
    with pytest.raises(ValueError, match=r"derivatives are for .*, not regularizer='l1'"):
        ct.cccp(lasso, linear.replace(balance=None), solver="cvxpy").derivative("C")
    counted = ct.annealing(ct.s3vm(), problem.replace(balance=("exact", 0.5)))
    with pytest.raises(ValueError, match="a number of labels"):
        counted.derivative("C")
    far = dataclasses.replace(solution, point=solution.point)
    object.__setattr__(far, "point", type("Point", (), {"outputs": solution.scores + 1.0, "bias": 0.0})())
    with pytest.raises(ValueError, match="fit it with a smaller tol"):
        far.derivative("C")


def layer_case():
    formulation, problem = case("rbf", "cccp", 1)

    def fitted(X, C, sigma):
        return fit(formulation, problem.replace(X=X, C=C, kernel=ct.RBF(sigma)))

    others = np.random.default_rng(0).normal(size=(5, 3))
    return fitted, problem.X, others, fitted(problem.X, problem.C, 1.3), problem.C


def test_pytorch_differentiates_a_fit():
    torch = pytest.importorskip("torch")
    fitted, points, others, solution, C = layer_case()
    function = torch_function(fitted)
    X, new, numbers = (torch.tensor(one, requires_grad=True, dtype=torch.float64) for one in (points, others, [C, 1.3]))
    outputs = function(X, new, C=numbers[0], sigma=numbers[1])
    assert outputs.detach().numpy() == pytest.approx(solution.decision_function(others))
    (outputs**2).sum().backward()
    expected = solution.backward(2 * outputs.detach().numpy(), others)
    assert X.grad.numpy() == pytest.approx(expected["X"])
    assert new.grad.numpy() == pytest.approx(expected["points"])
    assert numbers.grad.numpy() == pytest.approx([expected["C"], expected["sigma"]])


def test_jax_differentiates_a_fit():
    jax = pytest.importorskip("jax")
    fitted, points, others, solution, C = layer_case()
    function = jax_function(fitted)

    def loss(X, new, C, sigma):
        return (function(X, new, C=C, sigma=sigma) ** 2).sum()

    with jax.enable_x64(True):
        given = jax.numpy.asarray(points), jax.numpy.asarray(others), C, 1.3
        for gradient in (jax.grad(loss, argnums=(0, 1, 2, 3)), jax.jit(jax.grad(loss, argnums=(0, 1, 2, 3)))):
            found = gradient(*given)
            expected = solution.backward(2 * solution.decision_function(others), others)
            for one, name in zip(found, ("X", "points", "C", "sigma"), strict=True):
                assert np.asarray(one) == pytest.approx(expected[name], rel=1e-6, abs=1e-9)
