"""The Compact Margin Machine before its relaxation through exact search: bounds, certificates, and who refuses it."""

import dataclasses
import itertools
import json

import cvxpy as cp
import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.formulations import unrelaxed_compact_margin
from convex_tsvm.relaxations import LabelModel
from convex_tsvm.relaxations.box import LabelBox


def case(seed, n=10):
    """A problem with six unlabelled points of ten, and the formulation, with a bias if the seed is even."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 4, np.resize([1.0, -1.0], n), 0.0)
    X = rng.normal(size=(n, 2)) + np.resize([1.0, -1.0], n)[:, None]
    kernel = ct.Linear() if seed % 3 else ct.RBF(1.0)
    share = (0.5, 1 / 3)[seed % 5 == 1]
    problem = ct.Problem(X, y, kernel=kernel, C=1.0, C_unlabeled=0.5, balance=("exact", share))
    spread = float(rng.uniform(0, 0.5)), float(rng.uniform(0.2, 1.5))
    return problem, unrelaxed_compact_margin(*spread, fit_intercept=seed % 2 == 0)


def completions(problem, y):
    """All labellings with the labels known in y and the right number of positive ones."""
    free = np.flatnonzero(y == 0)
    for positive in itertools.combinations(free, problem.positive_count - int((y[problem.unlabeled] > 0).sum())):
        labels = np.where(y == 0, -1.0, y)
        labels[list(positive)] = 1.0
        yield labels


def least(problem, model, labels):
    """The optimum for given labels, as CVXPY has it."""
    values, vectors = np.linalg.eigh(problem.gram)
    v, b = cp.Variable(problem.n), cp.Variable()
    f = (vectors * np.sqrt(np.maximum(values, 0))) @ v + (b if model.fit_intercept else 0)
    one, classes = model.class_spread, [np.flatnonzero(labels == sign) for sign in (1, -1)]
    far = [cp.sum(cp.pos(cp.abs(f[own] - cp.sum(f[own]) / len(own)) - one.epsilon)) for own in classes]
    paid = problem.cost @ cp.pos(1 - cp.multiply(labels, f)) + one.cost * sum(far)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(v) + paid)).solve(solver="CLARABEL")


def lagrangian(problem, model, y, labels, gamma, g):
    """The least value over w of what a labelling costs at least by multipliers: unknown points have their class's mean.

    ``gamma`` and ``g`` are those of the hinges and of the spread.
    """
    beta, g, one = gamma.copy(), g.copy(), model.class_spread
    for sign in (1, -1):
        own, known = labels == sign, y == sign
        g[own & ~known] = g[known].sum() / max(known.sum(), 1)
        beta[own] += g[own] - g[own].mean()
    np.testing.assert_allclose(beta[y == 0], 0, atol=1e-12)
    return gamma @ y - 0.5 * beta @ problem.gram @ beta - one.epsilon * np.abs(g).sum()


@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_is_that_of_all_labellings_and_its_certificate_is_proven(seed, tmp_path):
    pytest.importorskip("flint")
    problem, model = case(seed)
    best = min(least(problem, model, labels) for labels in completions(problem, problem.y))
    solution = ct.exact_search(model, problem, certificate=tmp_path / "c.npz")
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(best, rel=1e-6)
    assert solution.lower_bound <= best * (1 + 1e-8)
    np.testing.assert_allclose(solution.decision_function(problem.X), solution.scores, atol=1e-9)
    one, f = model.class_spread, solution.scores
    paid = problem.cost @ np.maximum(0, 1 - solution.labels * f) + one.of_labels(f, solution.labels)
    assert solution.point.regularization + paid == pytest.approx(solution.objective, rel=1e-8)
    verdict = ct.prove_certificate(tmp_path / "c.npz", model, problem)
    assert verdict.holds, verdict
    assert verdict.upper_bound == pytest.approx(best, rel=1e-6)
    assert ct.brute_force(model, problem)[0] == pytest.approx(best, rel=1e-6)
    bound = ct.LowerBoundBuilder(model, problem).bound()
    assert bound.value <= best * (1 + 1e-8) <= bound.upper * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_at_every_point_of_the_dual(seed, tmp_path):
    """For any labels known and any numbers, the checker's bound too; with all labels known the best is the optimum."""
    pytest.importorskip("flint")
    problem, model = case(seed)
    rng, svm = np.random.default_rng(seed), LabelModel(model, problem).svm
    plain = LabelModel(dataclasses.replace(model, additions=()), problem).svm
    ct.exact_search(model, problem, certificate=tmp_path / "c.npz", max_nodes=1)
    given = ct.checker.Certificate(tmp_path / "c.npz").given
    everything = list(completions(problem, problem.y))
    values = [least(problem, model, labels) for labels in everything]
    gained = []
    for _ in range(12):
        y = np.where(rng.random(problem.n) < rng.random(), everything[rng.integers(len(everything))], problem.y)
        value = min(
            value for labels, value in zip(everything, values, strict=True) if (labels[y != 0] == y[y != 0]).all()
        )
        best = svm.solve(y, tol=1e-9)
        gained.append(best.value - plain.solve(y, tol=1e-9).value)
        if (y != 0).all():
            assert best.value == pytest.approx(value, rel=1e-6)
        for size in (0.0, 0.1, 1.0):
            point = svm.point(y, best.gamma + size * rng.normal(size=2 * problem.n))
            assert point.value <= value * (1 + 1e-8)
            box, proof = LabelBox.of_labels(y), ct.checker.walk.Stored("", point.gamma, -1, 0.0, 0.0, np.inf, None)
            bound, _ = ct.checker.labels.by_svm(given, (box.low, box.high), proof, np.inf)
            assert point.value <= bound <= value * (1 + 1e-8)
            written = lagrangian(problem, model, y, next(completions(problem, y)), *np.split(point.gamma, 2))
            assert (bound, point.value) == pytest.approx((written, written), rel=1e-6, abs=1e-6)
    assert min(gained) > -1e-4
    assert max(gained) > 1e-2


def without_price(header, a):
    header["statement"]["spread"][0] = 0.0


def turned_multipliers(header, a):
    vectors = a["proof_vector"].reshape(-1, 2 * len(a["y"]))
    vectors[:, len(a["y"]) :] *= -1


def higher_bound(header, a):
    header["lower_bound"] *= 1.001


def no_number_of_labels(header, a):
    header["statement"]["constraint"] = "none"


def no_finite_price(header, a):
    header["statement"]["spread"][1] = float("nan")


@pytest.mark.parametrize(
    ("plant", "why"),
    [
        (without_price, "has an objective of"),
        (turned_multipliers, "what is proven there"),
        (higher_bound, "a proof leaves out solutions below the bound"),
        (no_number_of_labels, "needs a number of labels"),
        (no_finite_price, "two finite numbers"),
    ],
)
def test_a_planted_fault_is_refused(plant, why, tmp_path):
    pytest.importorskip("flint")
    problem, model = case(0)
    ct.exact_search(model, problem, certificate=tmp_path / "c.npz")
    with np.load(tmp_path / "c.npz") as file:
        arrays = {name: file[name].copy() for name in file.files}
    header = json.loads(str(arrays["header"]))
    plant(header, arrays)
    np.savez(tmp_path / "c.npz", **(arrays | {"header": np.array(json.dumps(header))}))
    verdict = ct.prove_certificate(tmp_path / "c.npz")
    assert not verdict.holds
    assert why in verdict.problem


def test_a_certificate_is_of_its_own_spread(tmp_path):
    """Also where another formulation says nothing of a spread at all."""
    pytest.importorskip("flint")
    problem, model = case(0)
    ct.exact_search(model, problem, certificate=tmp_path / "c.npz")
    for other in (unrelaxed_compact_margin(0.1, 0.1), dataclasses.replace(model, additions=())):
        verdict = ct.prove_certificate(tmp_path / "c.npz", other, problem)
        assert "its spread is" in verdict.problem


def test_a_stopped_search_goes_on(tmp_path):
    problem, model = case(4, n=14)
    whole = ct.exact_search(model, problem)
    ct.exact_search(model, problem, checkpoint=tmp_path / "c.npz", max_nodes=5)
    rest = ct.exact_search(model, problem, checkpoint=tmp_path / "c.npz", certificate=tmp_path / "d.npz")
    assert rest.status == "optimal"
    assert rest.n_nodes > 5
    assert rest.objective == pytest.approx(whole.objective, rel=1e-8)
    proven = whole.proven(0.05)
    assert proven.status == "optimal"


OTHERS = {
    "cccp": ct.cccp,
    "switching": ct.switching,
    "annealing": ct.annealing,
    "gradient": ct.gradient,
    "verify": ct.verify,
    "sdp": ct.sdp_transduction,
    "native": lambda model, problem: ct.cccp(model, problem, solver="native"),
    "mixed-integer": lambda model, problem: ct.modeling.MixedIntegerModel(model, problem, 10.0),
    "weights": lambda model, problem: ct.exact_search(model, problem, branch_on="weights"),
    "curvature": lambda model, problem: ct.exact_search(model, problem, bounds="curvature"),
    "mean": lambda model, problem: ct.exact_search(model, problem.replace(balance=0.0)),
    "squared": lambda model, problem: ct.exact_search(
        dataclasses.replace(ct.s3vm(), additions=model.additions), problem
    ),
    "twice": lambda model, problem: ct.exact_search(dataclasses.replace(model, additions=2 * model.additions), problem),
}


@pytest.mark.parametrize("name", OTHERS)
def test_who_does_not_take_it_says_what_does(name):
    problem, model = case(4)
    with pytest.raises(ValueError, match=r"exact_search|There are 'svm'|must be \('exact', r\)|hinge\(\)|spread only"):
        OTHERS[name](model, problem)
    for options in ({"epsilon": -1.0}, {"C_compact": np.inf}):
        with pytest.raises(ValueError, match=next(iter(options))):
            unrelaxed_compact_margin(**options)


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_a_class_without_points(share):
    """The number of positive labels rounds to none, or to all: the other class alone pays."""
    rng = np.random.default_rng(0)
    X, sign = rng.normal(size=(8, 2)), 1.0 if share > 0.5 else -1.0
    problem = ct.Problem(
        X, np.append(sign, np.zeros(7)), kernel=ct.RBF(1.0), C=2, C_unlabeled=1, balance=("exact", share)
    )
    model = ct.formulations.unrelaxed_compact_margin(0.2, 1.0, fit_intercept=False)
    found = ct.exact_search(model, problem)
    w, K = cp.Variable(8), problem.gram
    factor = np.linalg.cholesky(K + 1e-12 * np.eye(8))
    f = factor @ w
    paid = problem.cost @ cp.pos(1 - sign * f) + cp.sum(cp.pos(cp.abs(f - cp.sum(f) / 8) - 0.2))
    best = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + paid)).solve(solver="CLARABEL")
    assert found.objective == pytest.approx(best, rel=1e-5)
    assert found.status == "optimal"
