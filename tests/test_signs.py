"""The relaxation with signs: its cuts, what any multipliers prove, the low-rank method, and the search that uses it."""

import itertools
import json
import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cuts_of, searches, value_in
from test_exact import moons
from test_output_space import best_v, drawn_labels, outside, search_of

import convex_tsvm as ct
from convex_tsvm.exact.files import read_search
from convex_tsvm.persistence import write_arrays
from convex_tsvm.relaxations import OutputSpace
from convex_tsvm.relaxations.box import settle
from convex_tsvm.relaxations.signs.cuts import Layout, gaps_of
from convex_tsvm.relaxations.signs.quadratic import SignMultipliers, SignQuadratic
from convex_tsvm.relaxations.signs.signs import SignProgram
from convex_tsvm.solvers.sdp import LowRankSDP

STRONG = {"bounds": "signs", "patience": 0}


def every_cut(n):
    """All triangles and margins of n points."""
    signs = list(itertools.product((-1, 1), repeat=2))
    triangles = [(*corners, *pair) for corners in itertools.combinations(range(n + 1), 3) for pair in signs]
    return cuts_of(triangles, [(i, j, s) for i in range(n) for j in range(n + 1) if j != i + 1 for s in (-1, 1)])


def left_sides(rows, X):
    """<B_k, X> of every constraint."""
    return np.bincount(rows.k, rows.f * X[rows.i, rows.j], minlength=rows.m)


def lifted(layout, v):
    """[1; v; b] [1; v; b]ᵀ."""
    x = np.concatenate([[1.0], v, np.sign(v)[layout.open]])
    return np.outer(x, x)


@given(v=st.lists(outside, min_size=2, max_size=5), seed=st.integers(0, 10**6))
def test_every_inequality_holds_for_outputs_and_their_signs(v, seed):
    v, rng = np.array(v), np.random.default_rng(seed)
    layout = Layout(np.where(rng.random(len(v)) < 0.3, np.sign(v), 0.0))
    low, high = np.minimum(v - rng.uniform(0, 2, len(v)), -1.0), np.maximum(v + rng.uniform(0, 2, len(v)), 1.0)
    X, cuts = lifted(layout, v), every_cut(len(v))
    for rows in (layout.rows(cuts), layout.rows(layout.own_margins()), layout.arcs(low, high)):
        assert (left_sides(rows, X) >= rows.b - 1e-9).all()
    assert layout.violated(X, 50).m == 0


@given(v=st.lists(outside, min_size=2, max_size=6), seed=st.integers(0, 10**6))
def test_what_follows_from_a_sum_holds(v, seed):
    """The row of a sum of outputs is p Σ e (1 - b) / 2 + q Σ e (1 + b) / 2 >= p q, with e = |v| - 1."""
    v, rng = np.array(v), np.random.default_rng(seed)
    members = np.flatnonzero(rng.random(len(v)) < 0.7)
    layout = Layout(np.where(rng.random(len(v)) < 0.3, np.sign(v), 0.0))
    total = float(v[members].sum())
    rows = layout.counted(members, total)
    assert layout.counted(members, None).m == 0
    assert layout.counted(members, float(len(members))).m == 0
    p, q = gaps_of(total, len(members))
    assert p + q == pytest.approx(2)
    sums = np.arange(-len(members), len(members) + 1, 2)
    assert not ((sums > total - p + 1e-9) & (sums < total + q - 1e-9)).any()
    if rows.m:
        b, e = np.sign(v[members]), np.abs(v[members]) - 1
        slack = p * (e * (1 - b)).sum() / 2 + q * (e * (1 + b)).sum() / 2 - p * q
        assert left_sides(rows, lifted(layout, v))[0] - rows.b[0] == pytest.approx(slack, abs=1e-9)
        assert slack >= -1e-9


def test_what_is_violated_most_is_found():
    layout, rng = Layout(np.array([0.0, 1.0, 0.0, 0.0])), np.random.default_rng(0)
    X = rng.normal(size=(layout.N, layout.N))
    X = X + X.T
    X[0, 0] = X[[5, 6, 7], [5, 6, 7]] = 1.0
    cuts = every_cut(4)
    points = np.concatenate([[0], 1 + layout.open])
    slack = left_sides(layout.rows(cuts), X) - layout.rows(cuts).b
    found = layout.violated(X, 5)
    kinds = (len(cuts.triangles), cuts.m)
    for kind, own in (("triangles", slice(0, kinds[0])), ("margins", slice(*kinds))):
        rows = getattr(cuts, kind)
        # A triangle with a known label is one with the constant, or none.
        seen = np.isin(rows[:, : 3 if kind == "triangles" else 2][:, 0 if kind == "triangles" else 1 :], points).all(
            axis=1
        )
        worst = np.sort(slack[own][seen])[:5]
        one = cuts_of(found.triangles, []) if kind == "triangles" else cuts_of([], found.margins)
        assert np.sort(left_sides(layout.rows(one), X) - layout.rows(one).b) == pytest.approx(worst)


@given(seed=st.integers(0, 300), size=st.sampled_from([0.0, 0.01, 1.0, 100.0]))
def test_any_multipliers_give_a_bound(seed, size):
    """Whatever the multipliers and the point: a bound, and a box that has all better solutions in it."""
    search = search_of(seed, squared=True)
    space, rng, labels = OutputSpace(search), np.random.default_rng(seed), drawn_labels(search, seed)
    v, least = best_v(search, labels)
    v = labels * np.maximum(labels * v, 1.0)
    low, high = settle(v - rng.uniform(0.1, 3, search.n), v + rng.uniform(0.1, 3, search.n), search.y)
    known = np.where(low >= 1, 1.0, np.where(high <= -1, -1.0, 0.0))
    cuts = every_cut(search.n)
    cuts = cuts.take(rng.random(cuts.m) < 20 / cuts.m)
    parts = {name: size * rng.random(search.n) for name in ("square", "arc")}
    multipliers = SignMultipliers(
        labels=known, unit=size * rng.normal(size=search.n), arc_low=np.minimum(low, -1) - rng.random(search.n),
        arc_high=np.maximum(high, 1) + rng.random(search.n), cuts=cuts, weights=size * rng.random(cuts.m),
        count=size * rng.random(), **parts,
    )  # fmt: skip
    assert multipliers.hold_in(low, high)
    quadratic = SignQuadratic(space, multipliers)
    assert np.linalg.eigvalsh(quadratic.A)[0] >= -1e-9 * np.abs(quadratic.A).max()
    tolerance = 1e-6 * (1 + abs(least))
    ends = quadratic.ends(low, high)
    anywhere, best = rng.uniform(*ends), quadratic.minimize(low, high)
    for at in (anywhere, best):
        assert quadratic.bound(low, high, at) <= least + tolerance
        bound, new_low, new_high = quadratic.consequences(low, high, at, value_in(space, v) + tolerance)
        assert bound == quadratic.bound(low, high, at)
        assert ((new_low - 1e-5 <= v) & (v <= new_high + 1e-5)).all()
    assert quadratic.bound(low, high, best) >= quadratic.bound(low, high, anywhere) - tolerance
    # What it is made of: at outputs and their signs it is below the objective by what the inequalities give.
    x = np.concatenate([v, labels[quadratic.layout.open]])
    b, c = quadratic.terms(low, high)
    assert x @ quadratic.A @ x + 2 * b @ x + c <= value_in(space, v) + tolerance


def solved(search, low, high, cuts):
    """The relaxation's value by Clarabel, and the bound that the low-rank method gets."""
    space = OutputSpace(search)
    program = SignProgram(space, low, high, cuts)
    N, n, rows = program.layout.N, search.n, program.rows
    X = cp.Variable((N, N), PSD=True)
    values = cp.hstack([
        cp.sum(cp.multiply(rows.f[rows.k == k], X[rows.i[rows.k == k], rows.j[rows.k == k]])) for k in range(rows.m)
    ])  # fmt: skip
    constraints = [values >= rows.b, X[0, 0] == 1, cp.diag(X)[n + 1 :] == 1]
    problem = cp.Problem(cp.Minimize(cp.trace(space.C @ X[: n + 1, : n + 1])), constraints)
    value = problem.solve(solver="CLARABEL") + space.constant
    R, z = np.random.default_rng(0).normal(size=(N, min(N, 20))), np.zeros(rows.m)
    for _ in range(10):
        turn = program.solve(R, z, 10, 100)
        R, z = turn.point.R, turn.point.z
    quadratic = SignQuadratic(space, turn.multipliers)
    return value, quadratic.bound(low, high, quadratic.minimize(low, high))


@pytest.mark.parametrize("seed", range(8))
def test_the_low_rank_method_finds_the_value_that_clarabel_finds(seed):
    search = search_of(seed + 30, squared=True)
    rng, labels = np.random.default_rng(seed), drawn_labels(search, seed)
    v, _ = best_v(search, labels)
    low, high = settle(np.minimum(v - 1, -2), np.maximum(v + 1, 2.0), search.y)
    cuts = every_cut(search.n)
    value, bound = solved(search, low, high, cuts.take(rng.random(cuts.m) < 30 / cuts.m))
    scale = abs(value) + value_in(OutputSpace(search), labels)
    assert bound <= value + 1e-5 * scale
    assert bound >= value - 3e-2 * scale


def test_the_augmented_lagrangian_has_the_gradient_of_its_value():
    search = search_of(3, squared=True)
    low, high = settle(np.full(search.n, -3.0), np.full(search.n, 3.0), search.y)
    program = SignProgram(OutputSpace(search), low, high, every_cut(search.n))
    n, N, rng = search.n, program.layout.N, np.random.default_rng(0)
    sdp = LowRankSDP(program.space.C, program.rows, N, 1 + n + np.arange(program.layout.u))
    R, z = sdp._retracted(rng.normal(size=(N, 4))), rng.random(program.rows.m)
    _, G, _, _ = sdp._evaluate(R, z, 0.7)
    for _ in range(5):
        way = rng.normal(size=R.shape)
        way[0] = 0
        way[1 + n :] -= (way * R).sum(axis=1, keepdims=True)[1 + n :] * R[1 + n :]
        step = 1e-5
        ahead, behind = (sdp._evaluate(sdp._retracted(R + s * step * way), z, 0.7)[0] for s in (1, -1))
        assert (ahead - behind) / (2 * step) == pytest.approx(float(np.vdot(G, way)), rel=1e-5, abs=1e-6)


def held_to_enumeration(seed, tmp_path):
    """A search with signs on a tiny instance finds the optimum, and its certificate is proven."""
    formulation, problem = searches(seed, n_unlabeled=int(np.random.default_rng(seed).integers(2, 7)), squared=True)
    if formulation.fit_intercept and formulation.balance is None:
        formulation = ct.s3vm(balance=None, fit_intercept=False)
    rng = np.random.default_rng(seed)
    offset = rng.choice([0.0, 0.0, 10.0, 1e3]) * rng.normal(size=problem.X.shape[1])
    problem = problem.replace(X=problem.X * rng.choice([1e-3, 1.0, 1.0, 1e2]) + offset)
    path = tmp_path / "certificate.npz"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = ct.exact_search(formulation, problem, **STRONG, certificate=path)
            least, _ = ct.brute_force(formulation, problem)
        except ct.InfeasibleError:
            return False
        except ValueError as error:
            assert "too far apart in size" in str(error)  # noqa: PT017
            return False
    assert found.lower_bound <= least * (1 + 1e-9) + 1e-12
    assert found.objective == pytest.approx(least, rel=2e-6, abs=1e-9)
    verdict = ct.prove_certificate(path)
    assert verdict.holds, verdict.problem
    _, arrays = read_search(path)
    return 4 in arrays["proof_kind"]


@pytest.mark.parametrize("seed", range(30))
def test_searches_find_the_optimum_and_prove_it(seed, tmp_path):
    held_to_enumeration(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(40))
def test_many_searches_find_the_optimum_and_prove_it(block, tmp_path):
    used = sum(held_to_enumeration(1000 + 50 * block + k, tmp_path) for k in range(50))
    assert used >= 10


@pytest.fixture(scope="module")
def with_signs(tmp_path_factory):
    """A certificate that rests on multipliers with signs, with cuts of both kinds and open points."""
    formulation, problem, _ = moons(40, noise=0.3)
    path = tmp_path_factory.mktemp("certificates") / "certificate.npz"
    solution = ct.exact_search(formulation, problem, **STRONG, gap=1e-3, certificate=path)
    _, arrays = read_search(path)
    assert solution.lower_bound > 1.5 * solution.svm_bound
    assert min(len(arrays["multiplier_triangles"]), len(arrays["multiplier_margins"])) > 0
    assert ct.prove_certificate(path).holds
    return path


def set_where(value, mask, to):
    value = value.copy()
    value[mask(value)] = to
    return value


def changed_rows(width, operation, by):
    """A change of every row of an array that is stored flat."""
    return lambda a: operation(a.reshape(-1, width), by).ravel()


FORGERIES = {
    "weights negative": ("multiplier_weights", lambda a: -a),
    "weights doubled": ("multiplier_weights", lambda a: 2 * a),
    "weights nan": ("multiplier_weights", lambda a: a * np.nan),
    "squares negative": ("multiplier_square", lambda a: a - 1.0),
    "arcs negative": ("multiplier_arc", lambda a: -1.0 - a),
    "arcs on one side": ("multiplier_arc_low", np.abs),
    "arcs too short": ("multiplier_arc_high", lambda a: np.minimum(a, 1.0)),
    "labels not there": ("multiplier_labels", lambda a: np.where(a == 0, 1.0, a)),
    "labels of two": ("multiplier_labels", lambda a: 2 * a),
    "units raised": ("multiplier_unit", lambda a: a - 10.0),
    "triangle of nobody": ("multiplier_triangles", changed_rows(5, np.add, [1000, 0, 0, 0, 0])),
    "triangle before the first": ("multiplier_triangles", changed_rows(5, np.subtract, [50, 0, 0, 0, 0])),
    "triangle's sign": ("multiplier_triangles", changed_rows(5, np.multiply, [1, 1, 1, 2, 1])),
    "margin of nobody": ("multiplier_margins", changed_rows(3, np.add, [1000, 0, 0])),
    "margin's sign": ("multiplier_margins", changed_rows(3, np.multiply, [1, 1, 0])),
    "count negative": ("multiplier_count", lambda a: a - 1.0),
    "count of what is no sum": ("multiplier_count", lambda a: a + 1.0),
    "numbers of others": ("proof_number", lambda a: a + 1000),
    "sizes": ("multiplier_triangles_end", lambda a: a + 1),
    "share of three": ("proof_share", lambda a: 3 * a),
    "lift negative": ("proof_lift", lambda a: a - 1.0),
    "vectors": ("proof_vector", lambda a: a * 3),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_signs_are_refused(forgery, with_signs, tmp_path):
    """Each with a bound that is above the optimum, and without what would be enough besides."""
    header, arrays = read_search(with_signs)
    name, change = FORGERIES[forgery]
    arrays = {**arrays, name: change(arrays[name]).astype(arrays[name].dtype)}
    header = {**header, "lower_bound": header["objective"] * (1 + 1e-6)}
    write_arrays(tmp_path / "forged.npz", {**arrays, "header": np.array(json.dumps(header))})
    verdict = ct.prove_certificate(tmp_path / "forged.npz")
    assert not verdict.holds
    assert len(verdict.problem) > 10
    try:
        assert not ct.prove_certificate(tmp_path / "forged.npz").holds
    except ValueError as error:
        assert "forged" in str(error)  # noqa: PT017


@pytest.mark.parametrize("lost", ["multiplier_weights", "multiplier_labels", "multiplier_weights_end", "proof_lift"])
def test_a_file_without_an_array_is_refused(lost, with_signs, tmp_path):
    header, arrays = read_search(with_signs)
    arrays = {name: array for name, array in arrays.items() if name != lost}
    write_arrays(tmp_path / "lost.npz", {**arrays, "header": np.array(json.dumps(header))})
    assert not ct.prove_certificate(tmp_path / "lost.npz").holds


def test_a_certificate_with_signs_is_trimmed(with_signs, tmp_path):
    out = tmp_path / "small.npz"
    trimmed = ct.exact.trim_certificate(with_signs, out)
    assert ct.prove_certificate(out).holds
    assert ct.prove_certificate(out).holds
    before, after = (np.load(path) for path in (with_signs, out))
    kinds = json.loads(str(after["header"]))["kinds"]
    used = after["proof_number"][after["proof_kind"] == kinds.index("signs")]
    assert set(used) == set(range(len(after["multiplier_count"])))
    assert len(after["multiplier_count"]) <= len(before["multiplier_count"])
    assert trimmed.n_proofs_after <= trimmed.n_proofs_before
