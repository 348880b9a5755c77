"""Exact search: brute force, certificates that hold and fall, searches that are stopped and go on."""

import itertools
import json
import signal
import subprocess
import sys
import textwrap
import time
import warnings
import zlib
from pathlib import Path

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import searches

import convex_tsvm as ct
from convex_tsvm.exact.contest import Choice, Schedule
from convex_tsvm.exact.files import read_search
from convex_tsvm.exact.incumbent import BestLabels
from convex_tsvm.persistence import write_arrays
from convex_tsvm.relaxations import LabelModel
from convex_tsvm.relaxations.signs.signs import Rounds

#: Ways to search that have next to nothing in common.
WAYS = [
    {"patience": 0},
    {"bounds": "svm"},
    {"bounds": "svm", "strategy": "depth", "branching": "confidence"},
    {"patience": 0, "strategy": "best", "branching": "worst", "refresh": 1},
    {"patience": 0, "strategy": "depth", "branching": "ambiguity"},
    {"patience": 0, "branching": "correlation", "refresh": 2},
    {"patience": 0, "branching": "gain", "refresh": None},
    {"patience": 5, "gap": 0.0},
]


def seeds(way, start, stop):
    """Seeds of instances for a way to search, which do not depend on how many other ways there are."""
    first = zlib.crc32(repr(way).encode()) % 1000
    return range(first + start, first + stop)


def check(seed, way, tmp_path, n_unlabeled=None):
    """A search against brute force, and its certificate."""
    formulation, problem = searches(seed, n_unlabeled)
    least, _ = ct.brute_force(formulation, problem)
    path = tmp_path / "certificate.npz"
    solution = ct.exact_search(formulation, problem, certificate=path, **way)
    if way.get("gap") != 0:
        assert solution.status == "optimal"
    assert solution.objective == pytest.approx(least, rel=1e-6)
    assert solution.lower_bound <= least * (1 + 1e-9)
    assert solution.gap <= 1.1e-6
    found = ct.prove_certificate(path)
    assert found.holds, found.problem
    assert found.upper_bound == pytest.approx(solution.objective, rel=1e-6)
    assert found.lower_bound <= least * (1 + 1e-9)


@pytest.mark.parametrize(
    ("way", "seed"),
    [
        *((way, seed) for way in WAYS for seed in seeds(way, 0, 8)),
        *(pytest.param(way, seed, marks=pytest.mark.slow) for way in WAYS for seed in seeds(way, 8, 19)),
    ],
)
def test_search_finds_what_brute_force_finds(way, seed, tmp_path):
    check(seed, way, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_search_finds_what_brute_force_finds_in_hundreds_of_instances(way, tmp_path):
    for seed in seeds(way, 1000, 1100):
        check(seed, way, tmp_path, n_unlabeled=12 if seed % 20 == 0 else None)


@pytest.mark.parametrize("seed", range(40, 60))
def test_a_gap_of_zero_is_closed_or_said_to_be_within_rounding(seed):
    """Costs and kernel values are not to blame for what is left, and are not blamed."""
    formulation, problem = searches(seed)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        solution = ct.exact_search(formulation, problem, patience=5, gap=0.0)
    said = [str(one.message) for one in told if "below the objective" in str(one.message)]
    if solution.status == "optimal":
        assert solution.gap <= 1e-8 * (1 + 1e-6)
        assert not said
    else:
        assert solution.status == "inaccurate"
        assert solution.gap <= 1e-7
        assert "no more accurate than that; ask for a larger gap" in said[0]
    assert type(solution.gap) is float


@pytest.mark.parametrize("seed", range(4))
def test_the_solution_is_the_svm_of_its_labels(seed):
    formulation, problem = searches(seed, 6, squared=True, balance=["none", "linear", "exact", "targets"][seed])
    solution = ct.exact_search(formulation, problem)
    assert (solution.labels[problem.labeled] == problem.y[problem.labeled]).all()
    np.testing.assert_allclose(solution.decision_function(problem.X), solution.scores, atol=1e-5)
    if seed == 2:
        assert (solution.labels[problem.unlabeled] > 0).sum() == problem.positive_count
    elif seed == 3:
        v = solution.scores + solution.coefficients / (2 * problem.cost)
        assert v[problem.unlabeled].mean() == pytest.approx(problem.balance_target, abs=1e-5)
        assert (solution.labels * v >= 1 - 1e-5).all()
    else:
        recomputed = formulation.objective(problem, solution.scores, solution.step.regularization)
        assert recomputed == pytest.approx(solution.objective, rel=1e-5)


def moons(n=60, seed=0, noise=0.15, **options):
    """Two moons, two labelled points of each."""
    rng = np.random.default_rng(seed)
    t = np.pi * rng.random(n)
    sign = np.resize([1.0, -1.0], n)
    X = np.column_stack([np.cos(t) * sign + (sign < 0), np.sin(t) * sign + 0.5 * (sign < 0)])
    X = X + noise * rng.normal(size=X.shape)
    y = np.where(np.arange(n) < 4, sign, 0.0)
    problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=1, C_unlabeled=0.3, balance=0.0, **options)
    return ct.s3vm(fit_intercept=False), problem, sign


def test_every_way_gives_the_same():
    formulation, problem, _ = moons(16)
    found = [ct.exact_search(formulation, problem, **way) for way in WAYS]
    parallel = ct.exact_search(formulation, problem, patience=0, n_jobs=2)
    for solution in (*found, parallel):
        assert solution.objective == pytest.approx(found[0].objective, rel=1e-6)
    again = ct.exact_search(formulation, problem, **WAYS[0])
    assert again.n_nodes == found[0].n_nodes
    assert (again.labels == found[0].labels).all()


def test_stronger_bounds_need_fewer_nodes():
    formulation, problem, _ = moons(28)
    nodes = [ct.exact_search(formulation, problem, patience=0, bounds=bounds).n_nodes for bounds in ("svm", "signs")]
    assert nodes[1] < nodes[0]


@pytest.mark.parametrize("stronger", [False, True])
def test_stronger_bounds_are_taken_only_if_they_are_stronger(stronger):
    """The lower bound never falls: where the relaxation of the root is weaker, the tree of the SVM's bounds is kept."""
    formulation, problem, _ = moons(40, noise=0.2)
    search = ct.exact.BranchAndBound(formulation, problem, bounds="signs", patience=10, gap=1e-3, max_nodes=200)
    if not stronger:
        search.builder._strong.max_rounds = 0
    search.run()
    bounds = [step.lower_bound for step in search.state.history]
    assert search.state.n_nodes > 10
    assert search.state.settled
    assert search.state.strong == stronger
    assert bounds[0] < bounds[-1]
    assert all(after >= before * (1 - 1e-3) for before, after in itertools.pairwise(bounds))


INTERRUPTED = """
import os, signal, sys, threading
sys.path.insert(0, {tests!r})
import numpy as np
import convex_tsvm as ct
from test_exact import moons

formulation, problem, _ = moons({n}, noise=0.2)
options = {{"bounds": "svm", "gap": 1e-3}}
straight = ct.exact_search(formulation, problem, **options)
rng, best = np.random.default_rng(0), np.inf
for n_stops in range({stops} + 1):
    timer = threading.Timer(float(rng.uniform(0, {most})), os.kill, (os.getpid(), signal.SIGINT))
    try:
        if n_stops < {stops}:
            timer.start()
        solution = ct.exact_search(formulation, problem, checkpoint={path!r}, **options)
        if n_stops < {stops}:
            timer.join()
    except KeyboardInterrupt:
        continue  # it came before the search had begun, or after it had ended
    assert solution.objective <= best, "the incumbent was lost"
    best = solution.objective
    found = ct.prove_certificate({path!r})
    assert found.holds, found.problem
print(solution.status, repr(solution.objective), repr(straight.objective), solution.n_nodes >= straight.n_nodes)
"""


@pytest.mark.parametrize(("n", "stops", "most"), [(27, 6, 0.4), pytest.param(40, 20, 0.6, marks=pytest.mark.slow)])
def test_a_search_that_is_interrupted_again_and_again(n, stops, most, tmp_path):
    """Ctrl-C, whatever it is doing, six or twenty times: within so many seconds, in which the tree has begun."""
    path = str(tmp_path / "search.npz")
    script = INTERRUPTED.format(tests=str(Path(__file__).parent), path=path, n=n, stops=stops, most=most)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    status, objective, straight, as_many = run.stdout.split()
    assert (status, as_many) == ("optimal", "True")
    assert float(objective) == pytest.approx(float(straight), rel=1e-9)


@pytest.mark.slow
def test_a_search_that_is_killed_goes_on(tmp_path):
    """kill -9, whatever it is doing, twenty times."""
    path = tmp_path / "search.npz"
    script = textwrap.dedent(
        f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import convex_tsvm as ct
        from test_exact import moons
        formulation, problem, _ = moons(50, noise=0.2)
        solution = ct.exact_search(
            formulation, problem, bounds="svm", checkpoint={str(path)!r}, checkpoint_every=0.05, gap=1e-3
        )
        print(solution.status, repr(solution.objective))
        """
    )
    formulation, problem, _ = moons(50, noise=0.2)
    straight = ct.exact_search(formulation, problem, bounds="svm", gap=1e-3)
    rng, n_kills = np.random.default_rng(0), 0
    while n_kills < 20:
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        try:
            process.wait(timeout=float(rng.uniform(1.5, 4)))
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            n_kills += 1
            if path.exists():
                assert ct.prove_certificate(path).holds
    else:
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    status, objective = process.communicate()[0].split()
    assert status == "optimal"
    assert float(objective) == pytest.approx(straight.objective, rel=1e-9)


def test_limits():
    formulation, problem, _ = moons(60, noise=0.3)
    few = ct.exact_search(formulation, problem, bounds="svm", max_nodes=50)
    assert few.status == "node_limit"
    assert few.n_nodes == 50
    assert few.lower_bound < few.objective
    began = time.perf_counter()
    short = ct.exact_search(formulation, problem, bounds="svm", time_limit=0.2)
    assert short.status in ("time_limit", "optimal")
    assert time.perf_counter() - began < 60
    assert short.lower_bound <= few.objective * (1 + 1e-9)
    formulation, problem, _ = moons(40, noise=0.3)
    rough = ct.exact_search(formulation, problem, bounds="svm", gap=0.2)
    assert rough.status == "optimal"
    assert rough.gap == pytest.approx(0.2)


def tampered(path, name, change):
    """The certificate with one array, or one entry of its header, changed."""
    header, arrays = read_search(path)
    if name in arrays:
        arrays[name] = change(arrays[name].copy())
    else:
        header[name] = change(header[name])
    arrays["header"] = np.array(json.dumps(header))
    other = path.with_name("tampered.npz")
    write_arrays(other, arrays)
    return ct.prove_certificate(other)


def without_last(values):
    return values[:-1]


def zeroed(values):
    return values * 0


def flipped(values):
    return -values


TAMPERING = [
    ("lower_bound", lambda value: value * 1.001),
    ("objective", lambda value: value * 0.999),
    ("proof_cutoff", lambda value: value * 0.99),
    ("proof_vector", zeroed),
    ("record_sign", flipped),
    ("record_variable", lambda value: np.where(np.arange(len(value)) == 1, -1, value)),
    ("record_parent", lambda value: np.where(value == 0, 1, value)),
    ("labels", lambda value: np.where(np.arange(len(value)) == len(value) - 1, -value, value)),
    ("labels", zeroed),
    ("X", lambda value: value + 1e-6),
    ("y", lambda value: np.where(np.arange(len(value)) == 0, -value, value)),
]


@pytest.fixture(scope="module")
def by_svm(tmp_path_factory):
    """A certificate that rests on SVMs alone, with a tree of some nodes."""
    formulation, problem, _ = moons(24)
    path = tmp_path_factory.mktemp("certificates") / "certificate.npz"
    assert ct.exact_search(formulation, problem, bounds="svm", certificate=path).n_nodes > 10
    assert tampered(path, "seconds", lambda value: value + 1).holds
    return path


@pytest.mark.parametrize(("name", "change"), TAMPERING)
def test_a_certificate_that_is_tampered_with_falls(name, change, by_svm):
    path = by_svm
    if name in ("X", "y"):
        assert "its digest is another" in tampered(path, name, change).problem
    elif name == "record_sign":
        # Both halves under the other's name: the proofs are about other labels then.
        assert not tampered(path, name, change).holds
    else:
        assert not tampered(path, name, change).holds


@pytest.fixture(scope="module")
def with_multipliers(tmp_path_factory):
    """A certificate that rests on an SDP relaxation with cuts of both kinds."""
    formulation, problem, _ = moons(40, noise=0.3)
    path = tmp_path_factory.mktemp("certificates") / "certificate.npz"
    solution = ct.exact_search(
        formulation, problem, bounds="signs", patience=0, gap=1e-3, max_nodes=3, certificate=path
    )
    _, arrays = read_search(path)
    assert solution.lower_bound > 1.5 * solution.svm_bound
    assert min(len(arrays["multiplier_triangles"]), len(arrays["multiplier_margins"])) > 0
    assert ct.prove_certificate(path).holds
    return path


def set_last(place, number):
    def change(values):
        values[place] = number
        return values

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("multiplier_square", lambda value: value - 100),
        ("multiplier_weights", flipped),
        ("multiplier_margins", set_last(-1, 2)),
        pytest.param("multiplier_margins", set_last(-3, 10**6), id="no such margin"),
        ("multiplier_triangles", set_last(-2, -5)),
        pytest.param("multiplier_triangles", set_last(-5, -1), id="no such triangle"),
        ("proof_share", lambda value: np.where(value > 0, -value, value)),
        ("proof_number", lambda value: np.where(value >= 0, 10**6, value)),
    ],
)
def test_multipliers_of_a_certificate_must_hold(name, change, with_multipliers):
    """Negative ones, and those of inequalities that are none, would prove whatever one likes."""
    assert not tampered(with_multipliers, name, change).holds


def test_a_proof_must_be_of_a_kind_that_holds(with_multipliers):
    """A squared hinge's proofs under the name of a hinge's, or of a free bias."""
    for said in ({"loss": "hinge"}, {"bias": True, "constraint": "none"}):
        assert not tampered(with_multipliers, "statement", lambda value, said=said: {**value, **said}).holds


def overlapping(n=36, seed=3):
    """Two classes that few labels tell apart: what a relaxation at the root does not close."""
    formulation, problem, _ = moons(n, seed=seed, noise=0.6)
    return formulation, problem.replace(C=2.0, C_unlabeled=2.0)


def test_relaxations_are_made_where_those_at_hand_do_not_reach():
    found = []
    for refresh in ("auto", None):
        search = ct.exact.BranchAndBound(
            *overlapping(26, seed=0), bounds="signs", patience=0, gap=1e-3, refresh=refresh
        )
        search.builder._strong.rounds = Rounds(cuts_per_point=0)  # with them the root is closed
        found.append(search.run())
    adaptive, root = (search.state for search in found)
    assert adaptive.objective == pytest.approx(root.objective, rel=1e-6)
    assert {search.status for search in found} == {"optimal"}
    assert 1 < adaptive.n_nodes < 0.8 * root.n_nodes


def test_restarts_leave_a_local_optimum():
    formulation, problem = overlapping()
    incumbent = BestLabels(LabelModel(formulation, problem))
    incumbent.offer(-problem.X[:, 0], thorough=True)
    before = incumbent.objective
    incumbent.restart(36)
    assert incumbent.objective < before
    assert incumbent.evaluate(incumbent.labels)[0] == pytest.approx(incumbent.objective, rel=1e-9)


def test_curved_clusters_in_many_dimensions_are_found():
    """Of two moons in 102 dimensions with a label each the true labels, which heuristics of SVMs do not find."""
    rng, truth = np.random.default_rng(0), np.resize([1.0, -1.0], 120)
    angle, X = np.linspace(0, np.pi, 120), 0.05 * rng.normal(size=(120, 102))
    X[:, 0] += np.cos(angle) * truth + (truth < 0)
    X[:, 1] += np.sin(angle) * truth + 0.5 * (truth < 0)
    known = np.where(np.isin(np.arange(120), [60, 61]), truth, 0.0)
    problem = ct.Problem(X, known, kernel=ct.RBF(0.5), C=10.0, C_unlabeled=10.0, balance=("exact", 0.5))
    incumbent = BestLabels(LabelModel(ct.s3vm(), problem))
    incumbent.begin(idle=0)
    assert incumbent.objective <= incumbent.evaluate(truth)[0] * (1 + 1e-9)


@pytest.mark.parametrize("balance", [None, 0.0, ("exact", 0.5)])
def test_labels_grow_from_those_known(balance):
    """Two clusters with a label each: the rest follows, as many of each as asked for, and those given stay."""
    truth = np.resize([1.0, -1.0], 60)
    X = np.random.default_rng(0).normal(size=(60, 2)) + 3 * truth[:, None]
    problem = ct.Problem(X, np.where(np.arange(60) < 2, truth, 0), kernel=ct.RBF(2.0), balance=balance)
    formulation = ct.s3vm() if balance is not None else ct.s3vm(balance=None, fit_intercept=False)
    incumbent = BestLabels(LabelModel(formulation, problem))
    labels = incumbent.grow(problem.y)
    np.testing.assert_array_equal(labels, truth)
    given = problem.y.copy()
    given[problem.unlabeled[:3]] = -truth[problem.unlabeled[:3]]
    labels = incumbent.grow(given)
    np.testing.assert_array_equal(labels[given != 0], given[given != 0])
    if isinstance(balance, tuple):
        assert (labels[problem.unlabeled] > 0).sum() == round(balance[1] * problem.n_unlabeled)
        given[problem.unlabeled] = 1.0
        assert incumbent.grow(given) is None


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_dives_side_by_side(backend, tmp_path):
    formulation, problem, _ = moons(24, noise=0.3)
    path = tmp_path / "certificate.npz"
    options = {"patience": 0, "refresh": 1, "bounds": "sdp", "strategy": "best", "gap": 1e-4}
    alone = ct.exact_search(formulation, problem, **options)
    with joblib.parallel_config(backend):
        solution = ct.exact_search(formulation, problem, n_jobs=2, certificate=path, **options)
    assert solution.objective == pytest.approx(alone.objective, rel=1e-6)
    assert solution.n_nodes > 3
    found = ct.prove_certificate(path)
    assert found.holds, found.problem


def test_files_that_are_no_searches(tmp_path):
    formulation, problem, _ = moons(24)
    with pytest.raises(FileNotFoundError):
        ct.prove_certificate(tmp_path / "nothing.npz")
    path = tmp_path / "search.npz"
    path.write_bytes(b"nothing of the kind")
    assert "no .npz file, or a damaged one" in ct.prove_certificate(path).problem
    with pytest.raises(ValueError, match="is not a search"):
        ct.exact_search(formulation, problem, checkpoint=path)
    assert path.read_bytes() == b"nothing of the kind"
    path.unlink()
    ct.exact_search(formulation, problem, checkpoint=path, bounds="svm")
    with pytest.raises(ValueError, match="another problem"):
        ct.exact_search(formulation, problem.replace(C=2.0), checkpoint=path, bounds="svm")
    with pytest.raises(ValueError, match="branching='auto', not 'worst'"):
        ct.exact_search(formulation, problem, checkpoint=path, bounds="svm", branching="worst")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert not ct.prove_certificate(path).holds


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"bounds": "strong"}, "bounds='strong'"),
        ({"strategy": "random"}, "strategy='random'"),
        ({"branching": 3}, "branching=3"),
        ({"refresh": "never"}, "refresh='never'"),
        ({"gap": -1}, "gap=-1"),
        ({"gap": 1}, "gap=1"),
        ({"max_nodes": 0}, "max_nodes=0"),
        ({"time_limit": 0}, "time_limit=0"),
        ({"patience": 1.5}, "patience=1.5"),
        ({"refresh": 0}, "refresh=0"),
        ({"solver": "mosek"}, "solver='mosek'"),
        ({"checkpoint_every": "often"}, "checkpoint_every='often'"),
        ({"checkpoint": True}, "checkpoint=True"),
        ({"certificate": True}, "certificate=True"),
    ],
)
def test_bad_options_are_named(options, said):
    formulation, problem, _ = moons(24)
    with pytest.raises(ValueError, match=said):
        ct.exact_search(formulation, problem, **options)


@pytest.mark.parametrize("name", ["checkpoint", "certificate"])
def test_files_that_cannot_be_written_are_named_before_the_search(name, tmp_path):
    formulation, problem, _ = moons(24)
    with pytest.raises(FileNotFoundError, match=f"{name}=.*there is no folder"):
        ct.exact_search(formulation, problem, **{name: tmp_path / "none" / "search.npz"})
    with pytest.raises(IsADirectoryError, match=f"{name}=.*is a folder"):
        ct.exact_search(formulation, problem, **{name: tmp_path})


def test_the_cheap_tree_has_as_long_as_first_labels_took():
    """It closes an easy instance alone; where it does not, the strong bounds begin after half as many nodes as SVMs."""
    for noise, C, easy in ((0.6, 0.02, False), (0.15, 10.0, True)):
        formulation, problem, _ = moons(60, seed=3, noise=noise)
        problem = problem.replace(C=C, C_unlabeled=C)
        search = ct.exact.BranchAndBound(formulation, problem, gap=0.01, bounds="sdp", max_nodes=3000).run()
        state = search.state
        assert state.strong == (not easy)
        assert (state.root_bound > state.svm_bound) == (not easy)
        assert state.n_first > 20
        if easy:
            assert search.status == "optimal"
            assert state.n_nodes <= state.n_first // 2
        else:
            # The strong tree's records come after the cheap tree's nodes.
            assert state.n_nodes - len(state.records) == state.n_first // 2


def test_many_nodes_are_worth_another_search_for_labels(monkeypatch):
    """With better labels than before the root is looked at anew, and what is found is proven."""
    formulation, problem, _ = moons(60, seed=3, noise=0.6)
    problem = problem.replace(C=0.02, C_unlabeled=0.02)
    options = {"patience": 0, "bounds": "signs", "refresh": None}
    known = ct.exact_search(formulation, problem, **options)
    restart, offer, searched = BestLabels.restart, BestLabels.offer, []

    def late(self, idle, seed=0):
        searched.append(idle)
        if len(searched) == 3:
            restart(self, idle, seed)
        elif len(searched) == 1:
            self.labels = np.where(problem.y == 0, np.resize([1.0, -1.0], problem.n), problem.y)
            self.objective, self.gamma = self.evaluate(self.labels)

    monkeypatch.setattr(Choice, "schedule", Schedule(slow_nodes=3))
    monkeypatch.setattr(BestLabels, "restart", late)
    monkeypatch.setattr(BestLabels, "offer", lambda *given, **how: len(searched) > 2 and offer(*given, **how))
    search = ct.exact.BranchAndBound(formulation, problem, **options)
    search.builder._strong.rounds = Rounds(cuts_per_point=0)  # with them the root is closed
    search.run()
    assert searched[1:] == list(Schedule().idle_restarts[1:])
    assert search.status == "optimal"
    assert search.state.objective == pytest.approx(known.objective, rel=1e-6)
    # The first tree with strong bounds, of three nodes or a few more, is gone.
    assert search.state.n_nodes - len(search.state.records) >= 4


def test_what_cannot_be_searched_says_why():
    _, problem, _ = moons(24)
    huber = ct.losses.PLQ([0, 1], [(0, -1, 0.5), (0.5, -1, 0.5), (0, 0, 0)])
    by_pieces = ct.exact_search(ct.Formulation(huber, huber.minimum(huber.reflect())), problem, max_nodes=40)
    assert by_pieces.lower_bound <= by_pieces.objective
    with pytest.raises(ValueError, match="is for the squared hinge"):
        ct.exact_search(ct.cccp_tsvm(0.0), problem, bounds="signs")
    with pytest.raises(ValueError, match="symmetric_hinge"):
        ct.exact_search(ct.cccp_tsvm(-0.3), problem, bounds="signs")
    with pytest.raises(ValueError, match="goes through up to 20"):
        ct.brute_force(ct.s3vm(), problem.replace(y=np.sign(problem.y) * (np.arange(24) < 3)))


@settings(max_examples=settings().max_examples * 2 // 5)
@given(seed=st.integers(0, 10**6))
def test_the_bound_never_falls_and_never_passes_the_objective(seed):
    formulation, problem = searches(seed)
    seen = []
    solution = ct.exact_search(formulation, problem, bounds="svm", strategy="best", callback=seen.append)
    for before, after in zip(seen, seen[1:], strict=False):
        assert after.objective <= before.objective
        assert after.n_nodes >= before.n_nodes
    assert all(progress.lower_bound <= solution.objective * (1 + 1e-9) for progress in seen)
