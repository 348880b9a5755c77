"""Exact search over boxes of weights and bias: against the search over intervals, and plane by plane."""

import dataclasses
import itertools

import numpy as np
import pytest
from test_interval_certificates import change, lower_objective, read, set_header, write
from test_interval_search import FORMULATIONS, case, random_loss

import convex_tsvm as ct
from convex_tsvm.instance import Instance
from convex_tsvm.relaxations.box import Box
from convex_tsvm.relaxations.weights.model import WeightModel

#: Seeds of cases with the linear kernel.
LINEAR = [seed for seed in range(3, 350) if seed // 3 % 2]


def linear_case(name, seed):
    formulation, problem = case(name, seed)
    return dataclasses.replace(formulation, constraints=()), problem


def clusters(n, d, seed=0, labeled=10):
    """Two overlapping clusters, ten points of which are labelled."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(n, d))
    X[:, 0] += 1.2 * truth
    return X, np.where(np.arange(n) < labeled, truth, 0.0)


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("seed", [*LINEAR[:6], *(pytest.param(k, marks=pytest.mark.slow) for k in LINEAR[6:])])
def test_weights_and_points_have_the_same_optimum(name, seed, tmp_path):
    formulation, problem = linear_case(name, seed)
    by_points = ct.exact_search(formulation, problem, branch_on="points", gap=1e-6)
    by_weights = ct.exact_search(
        formulation, problem, branch_on="weights", gap=1e-5, certificate=tmp_path / "weights.npz"
    )
    assert by_weights.status == "optimal"
    little = 1e-9 * (1 + abs(by_points.objective))
    assert by_weights.lower_bound <= by_points.objective + little
    assert by_points.lower_bound <= by_weights.objective + little
    instance = Instance(formulation, problem)
    assert instance.objective(by_weights.scores, by_weights.regularization) == pytest.approx(by_weights.objective)
    assert by_weights.decision_function(problem.X) == pytest.approx(by_weights.scores)
    found = ct.prove_certificate(tmp_path / "weights.npz", formulation, problem)
    assert found.holds, found.problem


def model_of(seed, *, balance=None, fit_intercept=True, regularizer="l2"):
    """Random losses, also with concave pieces, of random points."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 12)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-1, 2) + rng.normal(size=d)
    y = np.where(np.arange(n) < 2, [1.0, -1.0][:1] * n, 0.0)
    y[1] = -1.0
    formulation = ct.Formulation(
        random_loss(rng, concave=True), random_loss(rng, concave=True), balance=None if balance is None else "linear",
        fit_intercept=fit_intercept, regularizer=regularizer,
    )  # fmt: skip
    problem = ct.Problem(X, y, C=rng.uniform(0.1, 3, 2), C_unlabeled=rng.uniform(0.1, 3, n - 2), balance=balance)
    return rng, WeightModel(Instance(formulation, problem))


def objective_at(model, at):
    """The objective by other code than the compiled loop's."""
    found = model.expansion(at)
    return model.instance.objective(found.outputs, found.regularization)


OPTIONS = [
    {},
    {"balance": 0.3},
    {"fit_intercept": False},
    {"regularizer": "l1"},
    {"regularizer": ct.formulations.ElasticNet(0.5), "balance": -0.2},
    {"regularizer": ct.formulations.SquaredNorm([2.0, 0.5, 1.0])},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", range(25))
def test_planes_are_below_and_what_they_narrow_loses_nothing(options, seed):
    """Anywhere in a box, and not only near the optimum; also of parts of it, for which less is computed."""
    if isinstance(weighted := options.get("regularizer"), ct.formulations.SquaredNorm):
        d = model_of(seed)[1].X.shape[1]
        options = {"regularizer": ct.formulations.SquaredNorm(weighted.feature_weights[:d])}
    rng, model = model_of(seed, **options)
    whole, centre = 10.0 ** rng.uniform(-2, 1), rng.normal(size=model.n)
    box, undecided = Box(centre - whole, centre + whole), model.begin
    for _ in range(4):
        inside = rng.uniform(box.low, box.high, (200, model.n))
        inside[:2] = box.low, box.high
        values = np.array([objective_at(model, at) for at in inside])
        little = 1e-11 * (1 + np.abs(values)) + model.doubt(box)
        touched = [model.touch(box, rng.uniform(box.low, box.high), undecided) for _ in range(3)]
        for one in touched:
            assert one.objective == pytest.approx(objective_at(model, one.at), rel=1e-9, abs=1e-9)
            assert one.relaxed <= one.objective + 1e-9 * (1 + abs(one.objective))
            costs = (0.5 * model.bend * inside**2 + model.kink * np.abs(inside)).sum(axis=1)
            assert (one.plane[0] + inside @ one.plane[1:] + costs <= values + little).all()
        combined = model.combined(box, touched)
        assert combined.weights.sum() == pytest.approx(1)
        assert combined.bound <= values.min() + 1e-12
        alone = [model.combined(box, [one]).bound for one in touched]
        assert combined.bound >= max(alone) - 1e-9 * (1 + abs(max(alone)))
        cutoff = float(np.quantile(values, 0.3))
        left = model.narrowed(box, combined, cutoff)
        kept = inside[values < cutoff]
        assert (left.low <= kept).all()
        assert (kept <= left.high).all()
        # Go on with a part of the box, in which fewer points are undecided.
        at = rng.uniform(box.low, box.high)
        box, undecided = Box(0.5 * (box.low + at), 0.5 * (box.high + at)), touched[0].undecided


@pytest.mark.parametrize("seed", range(40))
def test_what_is_relaxed_is_the_sum_of_convex_envelopes(seed):
    rng, model = model_of(seed)
    centre, half = rng.normal(size=model.n), 10.0 ** rng.uniform(-1, 0.5)
    box = Box(centre - half, centre + half)
    one = model.touch(box, rng.uniform(box.low, box.high), model.begin)
    low, high = model.outputs(box)
    f = model.expansion(one.at).outputs
    envelopes = [
        cost * float(model.losses[kind].envelope(lower, upper)(t))
        for cost, kind, lower, upper, t in zip(model.cost, model.kind, low, high, f, strict=True)
    ]
    expected = sum(envelopes) + model.expansion(one.at).regularization
    assert one.relaxed <= expected + 1e-9 * (1 + abs(expected))
    assert one.relaxed == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    "regularizer", ["l1", ct.formulations.ElasticNet(0.4), ct.formulations.SquaredNorm([3.0, 0.2])]
)
@pytest.mark.parametrize("seed", range(3))
def test_other_regularizers(regularizer, seed):
    """Against every labelling, solved by CVXPY."""
    X, y = clusters(7, 2, seed, labeled=0)
    y[:3] = 1.0, -1.0, 1.0
    options = {"balance": None, "regularizer": regularizer}
    problem = ct.Problem(X, y, C=1.0, C_unlabeled=0.5, balance=None)
    solution = ct.exact_search(ct.Formulation(ct.hinge(), ct.symmetric_hinge(), **options), problem, gap=1e-5)
    assert solution.status == "optimal"
    best = np.inf
    for signs in itertools.product((1.0, -1.0), repeat=4):
        costs = np.where(y != 0, 1.0, 0.5)
        full = ct.Problem(X, np.where(y != 0, y, np.r_[0, 0, 0, signs]), C=costs, C_unlabeled=None, balance=None)
        best = min(best, ct.cccp(ct.Formulation(ct.hinge(), **options), full, solver="cvxpy").objective)
    assert solution.objective == pytest.approx(best, rel=2e-5)
    assert solution.lower_bound <= best * (1 + 1e-7)


def test_many_points_are_searched_by_weights_of_their_own_accord(tmp_path):
    X, y = clusters(2000, 2)
    problem = ct.Problem(X, y, C=1.0, C_unlabeled=0.05)
    path = tmp_path / "c.npz"
    solution = ct.exact_search(ct.s3vm(), problem, gap=1e-3, certificate=path)
    assert solution.status == "optimal"
    assert ct.prove_certificate(path, ct.s3vm(), problem).holds
    assert read(path)[0]["about"] == "weights"
    heuristic = ct.cccp(ct.s3vm(), problem)
    assert solution.lower_bound <= heuristic.objective
    assert solution.objective <= heuristic.objective * (1 + 1e-3)
    other = ct.prove_certificate(path, ct.s3vm(), problem.replace(C=2.0))
    assert other.problem == "it is about another problem: cost is another"
    other = ct.prove_certificate(path, ct.Formulation(ct.squared_hinge(), ct.symmetric_ramp(-0.3)), problem)
    assert other.problem.endswith("loss_unlabeled is another")
    bound = ct.LowerBoundBuilder(ct.s3vm(), problem, relaxation="weights").bound()
    assert 0 <= bound.value <= heuristic.objective
    assert bound.stages[-1].name == "weights"
    with pytest.raises(ValueError, match="is not about labels"):
        ct.LowerBoundBuilder(ct.s3vm(), problem, relaxation="weights").bound(y)


def test_features_that_are_zero_and_points_that_are_too_many_for_matrices():
    X, y = clusters(60, 2)
    flat = np.column_stack([X[:, :1], np.zeros(60), 1e-8 * X[:, 1]])
    solutions = [
        ct.exact_search(ct.s3vm(), ct.Problem(points, y, C_unlabeled=0.1), branch_on="weights", gap=1e-4)
        for points in (flat, X[:, :1])
    ]
    assert solutions[0].objective == pytest.approx(solutions[1].objective, rel=1e-3)
    many = ct.Problem(*clusters(20_000, 2), C_unlabeled=1e-3)
    solution = ct.exact_search(ct.s3vm(), many, gap=1e-2)
    assert solution.status == "optimal"
    for call in (solution.proven, lambda: ct.exact_search(ct.s3vm(), many, branch_on="points")):
        with pytest.raises(ValueError, match="branch_on='points': 20000 points: bounds about labels take matrices"):
            call()
    with pytest.raises(ValueError, match=r"boxes of weights are for the linear kernel.*"):
        ct.exact_search(ct.s3vm(), many.replace(kernel="rbf"), branch_on="weights")


@pytest.mark.parametrize("balance", [0.0, 0.2])
def test_half_of_the_boxes_are_enough_without_labels(balance, tmp_path):
    X, _ = clusters(40, 2, 3)
    problem = ct.Problem(X, np.zeros(40), C_unlabeled=0.5, balance=balance)
    formulation, path = ct.tsvm("hinge"), tmp_path / "c.npz"
    solution = ct.exact_search(formulation, problem, branch_on="weights", gap=1e-4, certificate=path)
    assert solution.status == "optimal"
    root = read(path)[1]["root_low"]
    assert (root[0] == 0) == (balance == 0)
    by_points = ct.exact_search(formulation, problem, branch_on="points", bounds="curvature", gap=1e-2, time_limit=20)
    assert by_points.lower_bound <= solution.objective * (1 + 1e-9)
    assert solution.lower_bound <= by_points.objective
    header, arrays = read(path)
    arrays["root_low"][0 if balance else 1] = 0.0
    assert not ct.prove_certificate(write(tmp_path / "forged.npz", header, arrays)).holds


@pytest.mark.parametrize("bias", [False, True])
def test_features_that_rise_together_need_no_more_boxes(bias):
    """Points on a line, and almost on one, in three features that are large."""
    rng = np.random.default_rng(0)
    along, y = clusters(60, 1)
    nodes = []
    for noise in (0.0, 1e-6, None):
        X = along if noise is None else along * rng.normal(size=3) * 1e3 + noise * rng.normal(size=(60, 3))
        given = ct.Problem(X, y, C=1.0, C_unlabeled=0.2, balance=None)
        formulation = ct.tsvm("ramp", balance=None, fit_intercept=bias)
        solution = ct.exact_search(formulation, given, branch_on="weights", gap=1e-3)
        assert solution.status == "optimal"
        nodes.append(solution.n_nodes)
    assert max(nodes) < 200


@pytest.mark.parametrize("balance", [None, 0.1])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("coef0", [0.0, 1.0])
def test_a_polynomial_of_two_features_has_boxes(coef0, bias, balance, tmp_path):
    """The same optimum as over points, a decision function of the kernel, and a certificate."""
    if balance is not None and not bias:
        pytest.skip("a balance is met by a bias")
    X, y = clusters(9, 2, labeled=3)
    y[:3] = 1.0, -1.0, 1.0
    kernel = ct.Polynomial(degree=2, gamma=0.5, coef0=coef0)
    problem = ct.Problem(X, y, kernel=kernel, C=1.0, C_unlabeled=0.3, balance=balance)
    formulation = ct.s3vm(balance=balance and "linear", fit_intercept=bias)
    path = tmp_path / "c.npz"
    found = ct.exact_search(formulation, problem, branch_on="weights", gap=1e-4, certificate=path)
    by_points = ct.exact_search(formulation, problem, branch_on="points", gap=1e-6)
    assert found.status == "optimal"
    assert found.lower_bound <= by_points.objective * (1 + 1e-9)
    assert by_points.lower_bound <= found.objective * (1 + 1e-9)
    instance = Instance(formulation, problem)
    assert instance.objective(found.scores, found.regularization) == pytest.approx(found.objective)
    assert found.decision_function(X) == pytest.approx(found.scores)
    verdict = ct.prove_certificate(path, formulation, problem)
    assert verdict.holds, verdict.problem
    other = ct.prove_certificate(path, formulation, problem.replace(kernel=ct.Polynomial(degree=2, gamma=0.6)))
    assert "its kernel is" in other.problem


def test_a_polynomial_is_searched_by_weights_of_its_own_accord(tmp_path):
    X, y = clusters(300, 2)
    problem = ct.Problem(X, y, kernel=ct.Polynomial(degree=2), C=1.0, C_unlabeled=0.02)
    path = tmp_path / "c.npz"
    solution = ct.exact_search(ct.s3vm(), problem, gap=1e-2, certificate=path)
    assert read(path)[0]["about"] == "weights"
    assert solution.status == "optimal"
    assert ct.prove_certificate(path, ct.s3vm(), problem).holds
    with pytest.raises(ValueError, match="features are more than the 1000"):
        ct.exact_search(ct.s3vm(), problem.replace(kernel=ct.Polynomial(degree=50)), branch_on="weights")


def test_a_search_goes_on_where_axes_come_out_otherwise(tmp_path, monkeypatch):
    """Another machine's principal axes differ in the last digits, or in more where points vary equally."""
    X, y = clusters(200, 2)
    problem, path = ct.Problem(X, y, C=1.0, C_unlabeled=0.1), tmp_path / "search.npz"
    first = ct.exact_search(ct.s3vm(), problem, branch_on="weights", gap=1e-3, checkpoint=path, max_nodes=5)
    assert first.status == "node_limit"
    turned = np.array([[0.6, 0.8], [-0.8, 0.6]])
    monkeypatch.setattr("convex_tsvm.relaxations.weights.model.principal", lambda Z: turned)
    assert ct.prove_certificate(path, ct.s3vm(), problem).holds
    second = ct.exact_search(ct.s3vm(), problem, branch_on="weights", gap=1e-3, checkpoint=path)
    assert second.status == "optimal"
    assert ct.prove_certificate(path, ct.s3vm(), problem).holds
    assert not np.allclose(read(path)[1]["axes"], turned)


def test_points_that_are_known_by_their_products(tmp_path):
    X, y = clusters(300, 2)
    lines = [" ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row)) for row in X.tolist()]
    source = tmp_path / "points.svm"
    source.write_text("".join(f"{label:+g} {line}\n" for label, line in zip(y, lines, strict=True)))
    mapped = ct.points.convert_svmlight(source, tmp_path / "mapped", dtype=np.float64).points
    found = [
        ct.exact_search(ct.s3vm(), ct.Problem(points, y, C_unlabeled=0.1), branch_on="weights", gap=1e-3)
        for points in (X, mapped)
    ]
    assert found[0].objective == pytest.approx(found[1].objective, rel=1e-6)
    assert found[1].weights == pytest.approx(found[0].weights, rel=1e-2, abs=1e-2)
    with pytest.raises(ValueError, match="certificate: files of searches have points that are arrays"):
        ct.exact_search(
            ct.s3vm(), ct.Problem(mapped, y), branch_on="weights", certificate=tmp_path / "c.npz", max_nodes=1
        )


def test_a_search_goes_on_from_its_file_and_in_parallel(tmp_path):
    X, y = clusters(500, 3)
    problem, path = ct.Problem(X, y, C=1.0, C_unlabeled=0.1), tmp_path / "search.npz"
    whole = ct.exact_search(ct.s3vm(), problem, branch_on="weights", gap=1e-3)
    first = ct.exact_search(ct.s3vm(), problem, branch_on="weights", gap=1e-3, checkpoint=path, max_nodes=20)
    assert first.status == "node_limit"
    assert ct.prove_certificate(path).holds
    second = ct.exact_search(ct.s3vm(), problem, branch_on="weights", gap=1e-3, checkpoint=path)
    assert second.status == "optimal"
    assert ct.prove_certificate(path).holds
    beside = ct.exact_search(ct.s3vm(), problem, branch_on="weights", gap=1e-3, n_jobs=2)
    for other in (second, beside):
        assert other.objective == pytest.approx(whole.objective, rel=1e-3)
    short = ct.exact.trim_certificate(path, tmp_path / "short.npz")
    assert short.n_nodes_after <= short.n_nodes_before
    assert ct.prove_certificate(tmp_path / "short.npz").holds


def test_what_it_does_not_take_is_named():
    X, y = clusters(30, 2)
    problem = ct.Problem(X, y)
    links = ct.Formulation(ct.hinge(), ct.symmetric_hinge(), constraints=[ct.must_link(12, 13)])
    rbf, exact = problem.replace(kernel="rbf"), problem.replace(balance=("exact", 0.5))
    unequal = np.where(np.arange(problem.n_unlabeled) < 3, 2.0, 1.0)
    for formulation, given, said in (
        (ct.s3vm(), rbf, "are for the linear kernel"),
        (ct.tsvm("ramp"), exact, "take a number of labels where labels are to be found"),
        (ct.s3vm(), exact.replace(C_unlabeled=unequal), "take a number of labels of points that cost the same"),
        (links, problem, "and no other constraints"),
        (ct.tsvm("ramp", fit_intercept=False), problem, "meet a mean output by a bias"),
        (ct.hard_margin_s3vm(), problem, "finite and bounded below"),
    ):
        with pytest.raises(ValueError, match=f"bounds='weights': .*{said}"):
            ct.exact_search(formulation, given, branch_on="weights")
    for options, said in (
        ({"branch_on": "boxes"}, "branch_on='boxes' must be 'auto', 'weights' or 'points'"),
        ({"branch_on": "weights", "bounds": "sdp"}, "branch_on='weights': bounds='sdp' are about labels"),
        ({"branch_on": "points", "bounds": "weights"}, "branch_on='points': bounds='weights' are about weights"),
        ({"branch_on": "weights", "branching": "gain"}, "branching='gain' is none for a search about weights"),
    ):
        with pytest.raises(ValueError, match=said):
            ct.exact_search(ct.s3vm(), problem, **options)


def proof(arrays, k=0):
    """The numbers of a proof, as a part of the file's array."""
    start = int(arrays["proof_vector_end"][k - 1]) if k else 0
    return arrays["proof_vector"][start : int(arrays["proof_vector_end"][k])]


def raise_bound(header, arrays):
    header["lower_bound"] *= 1.01


def narrower_box(header, arrays):
    k = int(np.flatnonzero(arrays["proof_share"] == 1)[0])
    d = len(arrays["bend"])
    proof(arrays, k)[-d] -= 0.4


def weights_of_a_combination(scale):
    def forge(header, arrays):
        for k in range(len(arrays["proof_number"])):
            planes, d = int(arrays["proof_number"][k]), len(arrays["bend"])
            proof(arrays, k)[planes * d : planes * d + planes] *= scale

    return forge


def loss_that_falls(header, arrays):
    arrays["loss_unlabeled"][-1, 3] = -1.0


def loss_with_a_gap(header, arrays):
    arrays["loss_unlabeled"] = np.delete(arrays["loss_unlabeled"], 1, axis=0)


FORGERIES = {
    "bound raised": raise_bound,
    "objective lowered": lower_objective,
    "box narrowed": narrower_box,
    "weights doubled": weights_of_a_combination(2.0),
    "weights a little more than one": weights_of_a_combination(1.000001),
    "weights halved": weights_of_a_combination(0.5),
    "weights negative": weights_of_a_combination(-1.0),
    "loss that falls": loss_that_falls,
    "loss with a gap": loss_with_a_gap,
    "points elsewhere": change("proof_vector", lambda a: a + 3.0),
    "points not numbers": change("proof_vector", lambda a: a * np.nan),
    "vectors elsewhere": change("proof_vector_end", lambda a: a + 1),
    "another number of planes": change("proof_number", lambda a: a + 1),
    "no planes": change("proof_number", lambda a: a * 0),
    "negative numbers of planes": change("proof_number", lambda a: -a),
    "no leaves closed": change("proof_record", lambda a: a * 0),
    "root narrowed": change("root_high", lambda a: 0.5 * a),
    "root infinite": change("root_high", lambda a: a * np.inf),
    "root without the bias": change("root_high", lambda a: a - np.r_[np.zeros(len(a) - 1), 2 * a[-1]]),
    "root cutoff low": change("root_cutoff", lambda a: a - 5),
    "places not numbers": change("record_place", lambda a: a * np.nan),
    "places moved": change("record_place", lambda a: a + 1.0),
    "splits elsewhere": change("record_variable", lambda a: np.where(a >= 0, 1000, a)),
    "splits before the first": change("record_variable", lambda a: np.where(a >= 0, -2, a)),
    "parents after children": change("record_parent", lambda a: a[::-1]),
    "a parent of its own": change("record_parent", lambda a: np.where(np.arange(len(a)) == 3, 3, a)),
    "both halves low": change("record_sign", lambda a: -np.abs(a)),
    "a leaf for a tree": change("record_variable", lambda a: np.where(np.arange(len(a)) == 0, -1, a)),
    "costs halved": change("cost", lambda a: a / 2),
    "costs negative": change("cost", lambda a: -a),
    "a label turned": change("y", lambda a: np.where(np.arange(len(a)) == 0, -a, a)),
    "a label hidden": change("y", lambda a: np.where(np.arange(len(a)) == 0, 0, a)),
    "labels of other numbers": change("y", lambda a: 2 * a),
    "points moved": change("X", lambda a: a * 1.1),
    "points not numbers, too": change("X", lambda a: a * np.nan),
    "a point less": change("X", lambda a: a[:-1]),
    "weights for nothing": change("bend", lambda a: 0 * a),
    "weights for less": change("bend", lambda a: 0.5 * a),
    "a bias that costs": change("bend", lambda a: 0 * a + 1.0),
    "a kink of the bias": change("kink", lambda a: 0 * a + 1.0),
    "negative costs of weights": change("kink", lambda a: a - 1.0),
    "kinks of another size": change("kink", lambda a: a[:-1]),
    "centre of another size": change("centre", lambda a: a[:-1]),
    "centre not a number": change("centre", lambda a: a * np.nan),
    "axes longer": change("axes", lambda a: a * 1.000001),
    "axes slanted": change("axes", lambda a: a + 1e-6 * np.eye(len(a))[::-1]),
    "axes turned": change("axes", lambda a: a[::-1].copy()),
    "axes not numbers": change("axes", lambda a: a * np.nan),
    "axes of another size": change("axes", lambda a: a[:, :1]),
    "weights that cost different amounts": change("bend", lambda a: a * [1.0, 1.5, 1.0]),
    "offset without a balance": set_header(value=0.5),
    "offset not a number": set_header(value=float("nan")),
    "a balance": set_header(bias="centred"),
    "no bias": set_header(bias="none"),
    "bias unknown": set_header(bias="some"),
    "solution zero": change("coefficients", lambda a: 0 * a),
    "solution not a number": change("coefficients", lambda a: a * np.nan),
    "solution of another size": change("coefficients", lambda a: a[:-1]),
    "no loss for labelled points": change("loss_labeled", lambda a: a[:0]),
    "a loss of no numbers": change("loss_labeled", lambda a: a * np.nan),
    "a larger loss": change("loss_unlabeled", lambda a: a * [1, 1, 0.5, 0.5, 0.5]),
}


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A certificate with a tree, narrowed boxes and several planes in some proofs."""
    pytest.importorskip("flint")
    X, y = clusters(60, 2)
    problem = ct.Problem(X, y, C=1.0, C_unlabeled=0.5, balance=None)
    path = tmp_path_factory.mktemp("honest") / "weights.npz"
    solution = ct.exact_search(ct.tsvm("ramp", balance=None), problem, branch_on="weights", gap=1e-4, certificate=path)
    assert solution.n_nodes > 20
    assert ct.prove_certificate(path).holds
    assert (read(path)[1]["proof_number"] > 1).any()
    return path


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_certificates_are_refused(name, honest, tmp_path):
    header, arrays = read(honest)
    FORGERIES[name](header, arrays)
    found = ct.prove_certificate(write(tmp_path / "forged.npz", header, arrays))
    assert not found.holds, name
    assert "Traceback" not in found.problem
    if name.startswith("weights ") and name.split()[1] in ("doubled", "a", "halved", "negative"):
        assert found.problem == "weights do not add up to 1"


def test_centres_that_are_no_means_are_refused(tmp_path):
    pytest.importorskip("flint")
    X, y = clusters(60, 2)
    problem = ct.Problem(X + 3.0, y, C=1.0, C_unlabeled=0.5, balance=0.1)
    path = tmp_path / "centred.npz"
    ct.exact_search(ct.s3vm(), problem, branch_on="weights", gap=1e-3, certificate=path)
    header, arrays = read(path)
    assert ct.prove_certificate(path).holds
    arrays["centre"] = arrays["centre"] + 1e-3
    refused = ct.prove_certificate(write(tmp_path / "forged.npz", header, arrays))
    assert refused.problem == "the centre is not the mean of the balance"


COUNTED = [ct.s3vm(), ct.tsvm("hinge"), ct.s3vm(fit_intercept=False)]


def counted_case(seed, formulation=COUNTED[0], n=10):
    """Points of which some number must be labelled +1, and their model."""
    rng = np.random.default_rng(seed)
    X, y = clusters(n, int(rng.integers(1, 4)), seed, labeled=0)
    y[:3] = 1.0, -1.0, rng.integers(-1, 2)
    X[rng.integers(3, n)] = X[4]
    share = float(rng.integers(1, np.sum(y == 0)) / np.sum(y == 0))
    problem = ct.Problem(X, y, C=1.0, C_unlabeled=10.0 ** rng.uniform(-1, 0.5), balance=("exact", share))
    return rng, formulation, problem, WeightModel(Instance(formulation, problem))


@pytest.mark.parametrize("formulation", COUNTED, ids=["squared hinge", "hinge", "no bias"])
@pytest.mark.parametrize("seed", range(6))
def test_a_number_of_labels(seed, formulation, tmp_path):
    """Against every labelling with that number, and with as many of its points certain as there may be."""
    _, formulation, problem, model = counted_case(seed, formulation)
    path = tmp_path / "c.npz"
    best, labels = ct.brute_force(formulation, problem)
    found = ct.exact_search(formulation, problem, branch_on="weights", gap=1e-4, certificate=path)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(best, rel=1e-4)
    assert found.lower_bound <= best * (1 + 1e-7)
    assert (found.labels[problem.unlabeled] > 0).sum() == (labels[problem.unlabeled] > 0).sum() == model.n_positive
    verdict = ct.prove_certificate(path, formulation, problem)
    assert verdict.holds, verdict.problem


@pytest.mark.parametrize("formulation", COUNTED, ids=["squared hinge", "hinge", "no bias"])
@pytest.mark.parametrize("seed", range(30))
def test_planes_with_prices_are_below_what_a_number_of_labels_costs(seed, formulation):
    """For any price, in parts of boxes, too; and the best price has what the best labelling there costs."""
    rng, _, problem, model = counted_case(seed, formulation)
    instance, unlabelled = model.instance, problem.unlabeled
    centre, half = rng.normal(size=model.n), 10.0 ** rng.uniform(-1, 0.5)
    box, undecided = Box(centre - half, centre + half), model.begin
    for turn in range(4):
        inside = rng.uniform(box.low, box.high, (100, model.n))
        values = []
        for at in inside:
            found = model.expansion(at)
            order = unlabelled[np.argsort(found.outputs[unlabelled])]
            labels = problem.y.copy()
            labels[order] = np.where(np.arange(len(order)) < len(order) - model.n_positive, -1.0, 1.0)
            values.append(instance.labelled_objective(found.outputs, found.regularization, labels))
            assert model.objective(at) == pytest.approx(values[-1], rel=1e-9)
        costs = (0.5 * model.bend * inside**2).sum(axis=1)
        first = model.touch(box, rng.uniform(box.low, box.high), undecided)
        for one in (first, model.touch(box, first.at, first.undecided, rng.normal(size=1))):
            planes = one.plane[0] + inside @ one.plane[1:] + costs
            assert (planes <= np.array(values) * (1 + 1e-11) + model.doubt(box) + one.shift).all()
        if turn == 3:
            assert len(first.undecided.points) < len(model.points)
            assert first.objective == pytest.approx(model.objective(first.at), rel=1e-6, abs=model.cost.max())
        at = rng.uniform(box.low, box.high)
        box, undecided = Box(0.8 * at + 0.2 * box.low, 0.8 * at + 0.2 * box.high), first.undecided


def test_forged_certificates_of_a_number_of_labels_are_refused(tmp_path):
    pytest.importorskip("flint")
    X, y = clusters(60, 2)
    problem, path = ct.Problem(X, y, C=1.0, C_unlabeled=0.3, balance=("exact", 0.5)), tmp_path / "counted.npz"
    assert ct.exact_search(ct.s3vm(), problem, branch_on="weights", gap=1e-3, certificate=path).n_nodes > 20
    assert ct.prove_certificate(path).holds
    rising = np.array([[-np.inf, 0.0, 0.0, 0.0, 1.0], [0.0, np.inf, 0.0, 1.0, 1.0]])
    stepped = np.array([[-np.inf, 0.0, 0.0, 0.0, 1.0], [0.0, np.inf, 0.0, 0.0, 2.0]])
    for forge, said in (
        (set_header(n_positive=26), ""),
        (set_header(n_positive=24), ""),
        (set_header(n_positive=None), ""),
        (set_header(n_positive=51), "51 is no number of labels"),
        (set_header(n_positive=25.0), "25.0 is no number of labels"),
        (change("cost", lambda a: np.where(np.arange(len(a)) == 30, 0.2, a)), "costs of labels differ"),
        (change("loss_unlabeled", lambda a: a[:0]), "costs of labels differ"),
        (change("loss_unlabeled", lambda a: rising), "the loss of a label increases"),
        (change("loss_unlabeled", lambda a: stepped), "the loss of a label increases"),
        (change("proof_vector", lambda a: a * np.nan), "a proof has numbers that are none"),
        (raise_bound, ""),
        (lower_objective, ""),
    ):
        header, arrays = read(path)
        forge(header, arrays)
        found = ct.prove_certificate(write(tmp_path / "forged.npz", header, arrays))
        assert not found.holds
        assert said in found.problem
