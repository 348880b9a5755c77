"""Regularizers: primal and dual problems, certificates, descent, and what is said of one that is wrong."""

import dataclasses
import warnings

import cvxpy as cp
import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.formulations.regularizers import as_regularizer


class MaximumNorm(ct.formulations.Regularizer):
    """½ ‖w‖² + the largest |w_j|, written by a user."""

    def value(self, w):
        return 0.5 * float(w @ w) + float(np.abs(w).max())

    def weights(self, v):
        size, count = np.sort(np.abs(v))[::-1], np.arange(1, len(v) + 1)
        means = (np.cumsum(size) - 1) / count
        level = max(0.0, means[size > means][-1])
        return np.sign(v) * np.minimum(np.abs(v), level)

    def expression(self, cvxpy, w):
        return 0.5 * cvxpy.sum_squares(w) + cvxpy.norm_inf(w), []

    def conjugate_expression(self, cvxpy, v):
        near = cvxpy.Variable(v.shape)
        return 0.5 * cvxpy.sum_squares(v - near), [cvxpy.norm1(near) <= 1]


#: Relative duality gap that is allowed; CVXPY before 1.9 hands some problems to Clarabel in another form.
LARGEST_GAP = 1e-6 if tuple(map(int, cp.__version__.split(".")[:2])) >= (1, 9) else 1e-5

MADE = {
    "weighted": lambda rng, d: ct.formulations.SquaredNorm(rng.uniform(0.3, 3, d)),
    "one norm": lambda rng, d: ct.formulations.OneNorm(rng.uniform(0.3, 3, d)),
    "elastic net": lambda rng, d: ct.formulations.ElasticNet(0.5, rng.uniform(0, 2, d)),
    "group lasso": lambda rng, d: ct.formulations.GroupLasso([range(d // 2), range(d // 2, d - 1)], 0.7),
    "nonnegative": lambda rng, d: ct.formulations.NonnegativeNorm(),
    "of one's own": lambda rng, d: MaximumNorm(),
}


#: What is minimized beside the losses, as it is printed and as LaTeX has it.
SHOWN = {
    "weighted": ("½ λᵀ w²", r"\tfrac12 \sum_j \lambda_j w_j^2"),
    "one norm": ("‖λ ∘ w‖₁", r"\sum_j \lambda_j \lvert w_j \rvert"),
    "elastic net": (
        "½ ‖w‖² + ½ ‖λ ∘ w‖₁",
        r"\tfrac12 \lVert w \rVert^2 + 0.5 \sum_j \lambda_j \lvert w_j \rvert",
    ),
    "group lasso": (
        "½ ‖w‖² + 0.989949 ‖w[0, 1]‖ + 0.989949 ‖w[2, 3]‖",
        r"\tfrac12 \lVert w \rVert^2 + \sum_g \lambda_g \lVert w_g \rVert",
    ),
    "nonnegative": ("½ ‖w‖²", r"\tfrac12 \lVert w \rVert^2 + [w \ge 0]"),
    "of one's own": ("½ ‖w‖² + ‖w‖∞", r"\text{MaximumNorm}(w)"),
}


def random_case(name, seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 30)), int(rng.integers(3, 8))
    truth = np.resize([1.0, -1.0], n)
    X = rng.normal(size=(n, d)) + 0.6 * truth[:, None] * (np.arange(d) < 2)
    balance = [None, 0.0, 0.2][seed % 3]
    costs = {"C": float(rng.choice([0.5, 5.0])), "C_unlabeled": float(rng.choice([0.3, 2.0]))}
    problem = ct.Problem(X, np.where(np.arange(n) < 6, truth, 0.0), balance=balance, **costs)
    labeled, unlabeled = [
        (ct.hinge(), ct.symmetric_ramp(-0.3)),
        (ct.squared_hinge(), ct.losses.symmetric_squared_hinge()),
    ][(seed // 3) % 2]
    model = ct.Formulation(
        labeled,
        unlabeled,
        balance=None if balance is None else "linear",
        # Nonnegative weights and no bias may have no mean of 0.2.
        fit_intercept=balance is not None or bool(seed % 2),
        regularizer=MADE[name](rng, d),
        constraints=[ct.must_link(7, 9, within=0.5)] if seed % 5 == 0 else [],
    )
    return model, problem, rng


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(k, marks=pytest.mark.slow) for k in range(6, 100))])
@pytest.mark.parametrize("name", MADE)
def test_primal_and_dual_agree_with_a_certificate(name, seed):
    model, problem, rng = random_case(name, seed)
    step = model.on(problem).step(rng.normal(size=problem.n))
    finely = dict.fromkeys(("tol_feas", "tol_gap_abs", "tol_gap_rel"), 1e-09)
    primal, dual = (ct.modeling.CvxpySolver(problem, form=form, cvxpy_options=finely) for form in ("primal", "dual"))
    points = [solver.solve(step) for solver in (primal, dual)]
    values = [solver.model(step).problem.value for solver in (primal, dual)]
    scale = max(1.0, abs(values[0]))
    assert abs(values[0] - values[1]) <= 1e-6 * scale
    for point in points:
        assert point.primal == pytest.approx(values[0], abs=1e-5 * scale)
        assert point.primal_infeasibility <= 1e-6
        if name == "one norm":  # a dual point is in the domain up to the solver's tolerance
            assert point.dual_infeasibility <= 1e-6
            assert abs(point.gap) <= 1e-6
        else:
            # What a point misses of constraints on outputs may make it cheaper.
            assert -1e-9 - 20 * point.primal_infeasibility <= point.gap <= LARGEST_GAP
            assert point.dual <= values[0] + 1e-9 * scale


@pytest.mark.parametrize("name", MADE)
def test_cccp_descends_and_verify_passes(name):
    model, problem, _ = random_case(name, 1)
    solution = ct.cccp(model, problem)
    objectives = [step.objective for step in solution.history]
    assert all(np.diff(objectives) <= 1e-7 * np.abs(objectives[:-1]))
    assert solution.status == "converged"
    regularizer = model.regularizer
    assert solution.regularization == pytest.approx(regularizer.value(solution.weights), rel=1e-6)
    assert solution.objective == pytest.approx(
        model.objective(problem, solution.decision_function(problem.X), regularizer.value(solution.weights)), rel=1e-6
    )
    report = ct.verify(model, problem)
    assert report.passed, str(report)
    assert {"regularizer_value", "regularizer_conjugate", "regularizer_dual"} <= {one.name for one in report.checks}
    text, (printed, latex) = str(model.primal(problem)), SHOWN[name]
    assert " ".join(text.split("+ βᵀ f", maxsplit=1)[0].split()) == f"minimize {printed}"
    assert ("0 <= w" in text) == (name == "nonnegative")
    assert f"\\min_{{w, b}}\\quad & {latex} + \\sum_{{i \\in L}} C_i" in model.latex()


@dataclasses.dataclass(frozen=True)
class Liar(ct.formulations.ElasticNet):
    """An elastic net with one thing wrong."""

    wrong: str = ""

    def value(self, w):
        return super().value(w) * (1.2 if self.wrong == "value" else 1)

    def conjugate(self, v):
        return super().conjugate(v) * (0.8 if self.wrong == "conjugate" else 1)

    def weights(self, v):
        return super().weights(v) * (1.1 if self.wrong == "weights" else 1)

    def expression(self, cvxpy, w):
        return (cvxpy.norm1(w), []) if self.wrong == "expression" else super().expression(cvxpy, w)

    def conjugate_expression(self, cvxpy, v):
        own, constraints = super().conjugate_expression(cvxpy, v)
        return (0.9 * own if self.wrong == "conjugate_expression" else own), constraints


@pytest.mark.parametrize("wrong", ["value", "conjugate", "weights", "expression", "conjugate_expression"])
def test_a_regularizer_that_lies_is_caught(wrong):
    model, problem, _ = random_case("elastic net", 1)
    honest, liar = (dataclasses.replace(model, regularizer=Liar(0.5, wrong=lie)) for lie in ("", wrong))
    assert ct.verify(honest, problem).passed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # solvers say that what they found is not what is recomputed
        report = ct.verify(liar, problem)
    failed = {check.name for check in report.checks if not check.passed}
    assert any(name.startswith("regularizer") for name in failed), failed


def test_weights_are_those_of_scikit_learn():
    """The elastic net without losses but a squared one: scikit-learn's own coordinate descent."""
    from sklearn.linear_model import ElasticNet

    rng = np.random.default_rng(0)
    X, truth = rng.normal(size=(40, 6)), np.resize([1.0, -1.0], 40)
    square = ct.losses.PLQ([], [(1, -2, 1)])  # (1 - y f)² = (y - f)²
    model = ct.Formulation(square, balance=None, fit_intercept=False, regularizer=ct.formulations.ElasticNet(3.0))
    ours = ct.cccp(model, ct.Problem(X, truth, C=2.0, C_unlabeled=None)).weights
    # They minimize ‖y - X w‖² / 2n + α ρ ‖w‖₁ + α (1 - ρ) ‖w‖² / 2; ours is 4 n times that.
    alpha = 4.0 / (4 * 40)
    theirs = ElasticNet(alpha=alpha, l1_ratio=0.75, fit_intercept=False, tol=1e-10).fit(X, truth).coef_
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_a_group_is_used_as_a_whole_or_not_at_all():
    rng = np.random.default_rng(0)
    truth = np.resize([1.0, -1.0], 60)
    X = rng.normal(size=(60, 6)) + truth[:, None] * np.array([1, 1, 0, 0, 0, 0])
    problem = ct.Problem(X, np.where(np.arange(60) < 20, truth, 0.0), balance=0.0)
    model = ct.Formulation(
        ct.hinge(), ct.symmetric_ramp(-0.3), regularizer=ct.formulations.GroupLasso([[0, 1], [2, 3], [4, 5]], 8)
    )
    w = ct.cccp(model, problem).weights
    assert np.abs(w[:2]).min() > 1e-3
    assert np.abs(w[2:]).max() < 1e-6
    # The problem as one would write it by hand.
    v, b = cp.Variable(6), cp.Variable()
    group = 8 * np.sqrt(2) * sum(cp.norm(v[2 * k : 2 * k + 2]) for k in range(3))
    step = model.on(problem).step(X @ w)
    objective = 0.5 * cp.sum_squares(v) + group + step.point_slope @ (X @ v + b)
    objective += cp.sum(cp.pos(1 - cp.multiply(problem.y[:60][problem.labeled], (X @ v + b)[problem.labeled])))
    convex = model.unlabeled.split()[0]
    f = (X @ v + b)[problem.unlabeled]
    assert convex.isclose(ct.hinge() + ct.hinge().reflect() + float(convex(0.0) - 2))
    cost = problem.cost[problem.unlabeled]
    objective += cost @ (cp.pos(1 - f) + cp.pos(1 + f)) + cost.sum() * float(convex(0.0) - 2)
    value = cp.Problem(cp.Minimize(objective), [cp.sum(f) == 0]).solve(solver="CLARABEL")
    assert ct.modeling.CvxpySolver(problem).solve(step).primal == pytest.approx(value, rel=1e-5)


def test_names_and_errors():
    problem = ct.Problem(np.eye(3), [1, -1, 0], balance=None)
    assert ct.Formulation(ct.hinge(), regularizer="l2").regularizer == ct.formulations.SquaredNorm()
    assert as_regularizer("l1") == ct.formulations.OneNorm()
    assert ct.formulations.SquaredNorm().is_squared_norm
    assert not ct.formulations.SquaredNorm([1, 2]).is_squared_norm
    cases = [
        (lambda: ct.Formulation(ct.hinge(), regularizer="l3"), "regularizer='l3' must be 'l2', 'l1' or a Regularizer"),
        (lambda: ct.formulations.SquaredNorm([1, 0]), "feature_weights=0 must be a finite number > 0"),
        (lambda: ct.formulations.OneNorm([-1.0]), "feature_weights=-1.0 must be a finite number >= 0"),
        (lambda: ct.formulations.GroupLasso([[0, 1], [1, 2]]), "disjoint"),
        (lambda: ct.formulations.GroupLasso([[0], []]), "not empty"),
        (lambda: ct.formulations.GroupLasso([[0]], [1, 2]), "group_weights has 2 entries; there are 1 groups"),
        (lambda: on(ct.formulations.GroupLasso([[3]])), "feature 3; the points have 3"),
        (lambda: on(ct.formulations.ElasticNet(1.0, [1, 2])), "feature_weights has 2 entries; the points have 3"),
        (lambda: on(ct.formulations.OneNorm(), solver="native"), "solver='native' takes 'l2' only"),
        (lambda: on(MaximumNorm(), cvxpy_solver="nonsense"), "cvxpy_solver='nonsense' is not installed"),
    ]

    def on(regularizer, **options):
        return ct.cccp(ct.Formulation(ct.hinge(), balance=None, regularizer=regularizer), problem, **options)

    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()
