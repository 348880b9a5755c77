"""Switching and annealing: their laws, against brute force, the same through either solver, and as estimators."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import entr, rel_entr
from strategies import searches

import convex_tsvm as ct
from convex_tsvm.instance.probabilities import Probabilities
from convex_tsvm.methods.exchanges import exchanges
from convex_tsvm.methods.settings import growing

METHODS = {"switching": ct.switching, "annealing": ct.annealing}
LOSSES = ["hinge", "squared_hinge"]


@pytest.fixture
def problem(moons):
    X, truth, y = moons
    r = float((truth[y == 0] > 0).mean())
    return ct.Problem(X, y, kernel=ct.RBF(0.5), C=10, C_unlabeled=5, balance=("exact", r))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_number_of_positive_labels_is_kept(method, loss, problem):
    solution = METHODS[method](ct.tsvm(loss), problem)
    assert (solution.labels[problem.unlabeled] > 0).sum() == problem.positive_count
    np.testing.assert_array_equal(solution.labels[problem.labeled], problem.y[problem.labeled])
    assert solution.status == "converged"
    # The objective is that of the SVM for the labels, and the bound is below it.
    instance = ct.Instance(ct.tsvm(loss), problem)
    svm = ct.solvers.NativeSolver(problem, tol=1e-6).solve(instance.svm(solution.labels))
    assert solution.objective == pytest.approx(svm.primal, rel=1e-3)
    assert solution.lower_bound <= solution.objective
    assert solution.certificate().objective == pytest.approx(solution.objective, rel=1e-6)
    assert solution.certificate().tangents_changed is None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(12))
def test_never_below_the_optimum_and_often_at_it(method, seed):
    """Every labelling of up to eight points, under a prescribed number of positive ones and without a balance."""
    formulation, problem = searches(seed, balance="exact" if seed % 2 else "none")
    if not seed % 2 and formulation.fit_intercept:
        return  # all labels alike
    best, _ = ct.brute_force(formulation, problem)
    solution = METHODS[method](formulation, problem, tol=1e-6)
    assert solution.objective >= best * (1 - 1e-5)
    assert solution.objective <= 2.5 * best


@pytest.mark.parametrize("seeds", [range(15), pytest.param(range(30), marks=pytest.mark.slow)], ids=len)
def test_together_they_mostly_find_the_optimum(seeds):
    found = 0
    for seed in seeds:
        formulation, problem = searches(100 + seed, balance="exact")
        best, _ = ct.brute_force(formulation, problem)
        values = [method(formulation, problem, tol=1e-5).objective for method in METHODS.values()]
        found += min(values) <= best * (1 + 1e-3)
    assert found >= 2 / 3 * len(seeds)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6))
def test_eq_6_lowers_the_objective(seed):
    """chapelle2008 eq. 6: each pair lowers the loss at fixed outputs, and the retrained SVM is better still."""
    rng = np.random.default_rng(seed)
    formulation, problem = searches(seed, balance=["exact", "none"][seed % 2])
    instance = ct.Instance(formulation, problem)
    labels = instance.best_labels(rng.normal(size=problem.n))
    point = ct.solvers.NativeSolver(problem, tol=1e-8).solve(instance.svm(labels))
    f, reg, cost = point.outputs, point.regularization, problem.cost
    before = instance.labelled_objective(f, reg, labels)
    changed = exchanges(instance, f, labels, cost)
    after = labels.copy()
    after[changed] *= -1
    losses = instance.label_losses(f)
    own = np.where(labels > 0, *losses) * cost
    other = np.where(labels > 0, *losses[::-1]) * cost
    if instance.n_positive is not None:
        assert after[problem.unlabeled].sum() == labels[problem.unlabeled].sum()
        up, down = (changed[labels[changed] == sign] for sign in (1, -1))
        assert len(up) == len(down)
        for i, j in zip(up, down, strict=True):
            assert own[i] + own[j] > other[i] + other[j]  # eq. 6
        one = exchanges(instance, f, labels, cost, most=1)
        assert len(one) in (0, 2)
        if len(changed) == 0:
            rest = problem.unlabeled
            pairs = [(i, j) for i in rest for j in rest if labels[i] > 0 > labels[j]]
            assert all(own[i] + own[j] <= other[i] + other[j] + 1e-9 * (1 + before) for i, j in pairs)
    if len(changed):
        assert instance.labelled_objective(f, reg, after) < before
        again = ct.solvers.NativeSolver(problem, tol=1e-8).solve(instance.svm(after))
        assert instance.labelled_objective(again.outputs, again.regularization, after) < before


@given(st.integers(0, 10**6))
def test_pairs_by_slacks_are_pairs_of_eq_6(seed):
    """collobert2006 §3: for the hinge loss and equal costs, slacks > 0 that sum to more than 2 are a gain."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 2))
    y = np.where(np.arange(20) < 4, np.resize([1.0, -1.0], 20), 0.0)
    problem = ct.Problem(X, y, C=1, C_unlabeled=0.5, balance=("exact", 0.5))
    instance = ct.Instance(ct.tsvm("hinge"), problem)
    f = rng.normal(size=20) * 2
    labels = np.where(y != 0, y, rng.permutation(np.resize([1.0, -1.0], 20)))
    labels[4:] = rng.permutation(np.resize([1.0, -1.0], 16))
    slack = np.maximum(1 - labels * f, 0)
    other = np.maximum(1 + labels * f, 0)
    changed = exchanges(instance, f, labels, problem.cost, by_slacks=True)
    up, down = (changed[labels[changed] == sign] for sign in (1, -1))
    for i, j in zip(up, down, strict=True):
        assert slack[i] + slack[j] > 2
        assert slack[i] + slack[j] > other[i] + other[j]
    if len(changed) == 0:
        rest = [k for k in problem.unlabeled if slack[k] > 0]
        pairs = [(i, j) for i in rest for j in rest if labels[i] > 0 > labels[j]]
        assert all(slack[i] + slack[j] <= 2 * (1 + 1e-9) for i, j in pairs)
    assert len(exchanges(instance, f, labels, problem.cost, most=1, by_slacks=True)) in (0, 2)


def test_s3vmlights_pairs_and_tolerances_lead_to_the_same_kind_of_point(moons):
    X, _, y = moons
    problem = ct.Problem(X, y, kernel=ct.RBF(0.4), C=10, C_unlabeled=1, balance=("exact", 0.5))
    tolerances = []

    class Watched(ct.solvers.NativeSolver):
        def solve(self, step, start=None):
            tolerances.append(self.tol)
            return super().solve(step, start)

    plain = ct.switching(ct.tsvm("hinge"), problem)
    own = ct.switching(ct.tsvm("hinge"), problem, pairs="slacks", loosened=100.0, max_pairs=1, solver=Watched(problem))
    assert own.status == "converged"
    assert own.objective <= 1.2 * plain.objective
    assert (own.labels[problem.unlabeled] > 0).sum() == problem.positive_count
    # The first is that of the envelope, where switching begins.
    assert tolerances[1] == pytest.approx(0.1)
    assert tolerances[-1] == pytest.approx(1e-3)
    assert (np.diff(tolerances[1:]) <= 0).all()
    for change, message in (
        ({"pairs": "sum"}, "pairs='sum'"),
        ({"loosened": 0.5}, "loosened=0.5"),
    ):
        with pytest.raises(ValueError, match=message):
            ct.switching(ct.tsvm("hinge"), problem, **change)
    with pytest.raises(ValueError, match="prescribed number"):
        ct.switching(ct.tsvm("hinge"), problem.replace(balance=0.0), pairs="slacks")


def entropy(p):
    return float((entr(p) + entr(1 - p)).mean())


def divergence(p, q):
    return float((rel_entr(p, q) + rel_entr(1 - p, 1 - q)).mean())


@settings(max_examples=200)
@given(st.integers(0, 10**6))
def test_eq_8_is_the_minimum(seed):
    """p of chapelle2008 eq. 8 minimizes Σ p g - T H(p) under the balance: no exchange of probability is better."""
    rng = np.random.default_rng(seed)
    u = int(rng.integers(2, 12))
    g, T = rng.normal(0, 10 ** rng.uniform(-2, 2), u), 10 ** rng.uniform(-2, 2)
    count = int(rng.integers(0, u + 1)) if seed % 3 else None
    found = Probabilities.best(g, T, count)
    p = found.p
    assert ((p >= 0) & (p <= 1)).all()
    if count is not None:
        assert p.sum() == pytest.approx(count, abs=1e-7)
    energy = p @ g - T * u * entropy(p)
    for _ in range(20):
        i, j = rng.choice(u, 2, replace=False)
        d = rng.normal(0, 0.1)
        q = p.copy()
        q[i] += d
        if count is not None:
            q[j] -= d
        if (q >= 0).all() and (q <= 1).all():
            assert q @ g - T * u * entropy(q) >= energy - 1e-8 * (1 + abs(energy) + T)
    assert found.entropy() == pytest.approx(entropy(p), abs=1e-9)
    assert found.divergence(found) == 0
    if np.abs(found.logits).max() < 20:  # beyond, 1 - p has lost its digits
        other = Probabilities(rng.normal(0, 3, u))
        assert found.divergence(other) == pytest.approx(divergence(p, other.p), rel=1e-6, abs=1e-9)


def test_ties_come_to_an_end():
    """Pairs of points at one place whose labels cannot both be had: probabilities never become labels."""
    X = np.array([[-1.0], [1.0], [0.1], [0.1], [0.1]])
    problem = ct.Problem(X, [-1, 1, 0, 0, 0], kernel="linear", C=1, balance=("exact", 1 / 3))
    for method in METHODS.values():
        solution = method(ct.tsvm("hinge"), problem)
        assert (solution.labels[2:] > 0).sum() == 1
        assert solution.status == "converged"


def test_annealing_lowers_the_free_energy_at_each_temperature(problem):
    for loss in LOSSES:
        solution = ct.annealing(ct.tsvm(loss), problem, tol=1e-6, settled=1e-6)
        for first, second in zip(solution.history[:-2], solution.history[1:-1], strict=True):
            if first.stage == second.stage:
                assert second.step_objective <= first.step_objective + 1e-6 * abs(first.step_objective)
        stages = [iteration.stage for iteration in solution.history]
        assert stages[0] == 10 * 5
        assert stages == sorted(stages, reverse=True)
        assert stages[-1] == 0


@pytest.mark.parametrize("temperature", [0.1, 0.001])
def test_annealing_at_one_temperature(temperature, problem):
    """sindhwani2006 §1.5: probabilities and the SVM in turns at a fixed temperature, and the labels of the end."""
    solution = ct.annealing(ct.tsvm("squared_hinge"), problem, temperature=temperature, tol=1e-6)
    stages = [iteration.stage for iteration in solution.history]
    assert set(stages) == {temperature * 5, 0.0}
    energies = [iteration.step_objective for iteration in solution.history[:-1]]
    assert all(second <= first + 1e-6 * abs(first) for first, second in zip(energies, energies[1:], strict=False))
    assert (solution.labels[problem.unlabeled] > 0).sum() == problem.positive_count
    with pytest.raises(ValueError, match="temperature=0"):
        ct.annealing(ct.tsvm("squared_hinge"), problem, temperature=0)


def test_best_of_the_path_is_no_worse_than_its_end(problem):
    last, best = (ct.annealing(ct.tsvm("hinge"), problem, best=best) for best in (False, True))
    assert best.objective == pytest.approx(min(iteration.objective for iteration in best.history))
    assert best.objective <= last.objective


def test_switching_raises_the_cost_as_the_paper_has_it(problem):
    scales = growing(1e-5, 1.5)
    assert scales[0] == 1e-5
    assert scales[-1] == 1
    np.testing.assert_allclose(scales[1:-1] / scales[:-2], 1.5)
    assert 1 < scales[-1] / scales[-2] <= 1.5 + 1e-9
    solution = ct.switching(ct.tsvm("hinge"), problem, max_pairs=1)
    assert sorted({iteration.stage for iteration in solution.history}) == pytest.approx(scales.tolist())
    assert max(iteration.changed for iteration in solution.history) <= 2
    for first, second in zip(solution.history[:-1], solution.history[1:], strict=True):
        if first.stage == second.stage:
            assert second.step_objective < first.step_objective


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("loss", LOSSES)
def test_both_solvers_take_the_same_path(method, loss, problem):
    native = METHODS[method](ct.tsvm(loss), problem, tol=1e-8)
    cvxpy = METHODS[method](ct.tsvm(loss), problem, tol=1e-8, solver="cvxpy")
    for solution in (native, cvxpy):
        assert solution.status in ("converged", "inaccurate")
    ends = [{i.stage: i.step_objective for i in solution.history} for solution in (native, cvxpy)]
    assert ends[0].keys() == ends[1].keys()
    for stage, value in ends[0].items():
        assert ends[1][stage] == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_linear_balances_and_none(method, moons):
    X, _, y = moons
    for balance in ("labeled", 0.2, None):
        problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=10, balance=balance)
        solution = METHODS[method](ct.tsvm("hinge", balance=None if balance is None else "linear"), problem)
        assert solution.status == "converged"
        if balance is not None:
            assert solution.scores[problem.unlabeled].mean() == pytest.approx(problem.balance_target, abs=1e-6)
        assert solution.lower_bound <= solution.objective + 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_an_interrupt_keeps_the_best(method, problem):
    def stop(iteration):
        nonlocal count
        count += 1
        if count == 5:
            raise KeyboardInterrupt

    count = 0
    with pytest.warns(UserWarning, match="interrupted: the best point so far"):
        solution = METHODS[method](ct.tsvm("hinge"), problem, callback=stop)
    assert solution.status == "interrupted"
    assert (solution.labels[problem.unlabeled] > 0).sum() == problem.positive_count


@pytest.mark.parametrize("method", METHODS)
def test_as_an_estimator(method, moons):
    X, _, y = moons
    labels = np.where(y == 0, -1, (y > 0).astype(int))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = ct.TransductiveSVC(sigma=0.5, C=10, loss="hinge", method=method, balance=("exact", 0.5)).fit(X, labels)
    assert (clf.transduction_[y == 0] == 1).sum() == round((y == 0).sum() / 2)
    assert (clf.predict(X[y != 0]) == labels[y != 0]).mean() > 0.9
    three = np.where(labels < 0, -1, labels + (X[:, 0] > 0.5))
    assert set(ct.TransductiveSVC(sigma=0.5, method=method, loss="hinge").fit(X, three).transduction_) == {0, 1, 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(method="magic"), "method='magic' must be 'cccp', .*, or a Method"),
        (dict(method="annealing", annealing=3), "annealing=3 is no option of method='annealing', which takes cooling"),
        (dict(method="switching", method_options={"best": True}), "best=True is no option of method='switching'"),
        (dict(method="annealing", method_options={"cooling": 1.0}), "cooling=1.0 must be"),
        (dict(method="switching", method_options={"max_pairs": 0}), "max_pairs=0 must be"),
        (dict(method="switching", loss=ct.Formulation(ct.ramp(0), ct.symmetric_ramp(0))), "loss that never increases"),
        (dict(method="switching", loss="ramp"), "is not the loss min"),
        (dict(method="annealing", loss="flat"), "switching, annealing"),
    ],
)
def test_bad_options_are_named(options, message, moons):
    X, _, y = moons
    with pytest.raises(ValueError, match=message):
        ct.TransductiveSVC(**options).fit(X, np.where(y == 0, -1, y > 0))


@pytest.mark.parametrize("best", [True, False])
def test_a_method_of_ones_own_returns_its_best_point_unless_it_says_the_last(moons, best):
    """One that ends at a worse point than it has passed: after the steps of CCCP that of reversed tangents."""

    class Straying(ct.Method):
        def descend(self, run):
            point = run.envelope()
            for sign in (1, 1, -1):
                point = run.solve(run.instance.step(sign * point.outputs))
                run.record(point)
            return "converged"

    method = Straying()
    if not best:
        method.best = False
    problem = ct.Problem(moons[0], moons[2], kernel=ct.RBF(0.5), C=10)
    found = ct.minimize(method, ct.cccp_tsvm(), problem)
    values = [one.objective for one in found.history]
    assert values[-1] > min(values) + 1e-3
    assert found.objective == pytest.approx(min(values) if best else values[-1], rel=1e-9)
    clf = ct.TransductiveSVC(method=method, sigma=0.5, balance="labeled", C_unlabeled="balanced")
    clf.fit(moons[0], np.where(moons[2] == 0, -1, moons[2] > 0))
    assert (clf.objective_ == min(one.objective for one in clf.history_)) == best


def test_a_method_is_its_file_and_one_line_of_the_table(moons, monkeypatch, capsys):
    """A new one is there for estimators, the command line and comparisons once the table has it."""
    import json

    from convex_tsvm import cli, table
    from convex_tsvm.methods.run import Method

    class Supervised(Method):
        """The labelled points' SVM, recorded once."""

        name = "supervised"

        def __init__(self, twice=False):
            self.twice = twice

        def descend(self, run):
            for _ in range(1 + self.twice):
                run.record(run.envelope())
            return "converged"

    monkeypatch.setattr(ct.methods, "Supervised", Supervised, raising=False)
    entry = table.Descent("methods:Supervised", "the SVM")
    monkeypatch.setitem(table.METHODS, "supervised", entry)
    X, _, y = moons
    clf = ct.TransductiveSVC(method="supervised", method_options={"twice": True}).fit(X, np.where(y == 0, -1, y > 0))
    assert clf.n_iter_ == 2
    assert cli.main(["compare", "two_moons", "--methods", "supervised,tsvm:supervised,svm", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert [row["method"] for row in rows] == ["supervised", "tsvm:supervised", "svm"]
    assert cli.main(["solve", "two_moons", "--method", "supervised", "--method-option", "twice=true", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["iterations"] == 2


def test_a_name_asks_for_the_method_as_its_function_does(problem):
    for name, function in METHODS.items():
        asked = ct.minimize(name, ct.tsvm("hinge"), problem)
        assert asked.objective == function(ct.tsvm("hinge"), problem).objective
    one_stage = ct.minimize(ct.table.METHODS["cccp"].load()(annealing=2), ct.tsvm("hinge"), problem)
    assert one_stage.objective == ct.cccp(ct.tsvm("hinge"), problem, annealing=2).objective


def test_reheats_lead_to_no_higher_objective(problem):
    plain, reheated = (ct.switching(ct.tsvm("squared_hinge"), problem, reheats=count) for count in (0, 3))
    assert reheated.objective <= plain.objective * (1 + 1e-9)
    assert reheated.n_iter > plain.n_iter
    stages = [iteration.stage for iteration in reheated.history]
    assert (np.diff(stages) < 0).sum() in (1, 2, 3)  # C* is lowered as often as there are reheats
    with pytest.raises(ValueError, match="reheats=-1"):
        ct.switching(ct.tsvm("squared_hinge"), problem, reheats=-1)
