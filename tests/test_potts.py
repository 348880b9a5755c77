"""Annealing of several classes at once: probabilities, shares, energies, and classifiers."""

import dataclasses

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine, make_blobs

import convex_tsvm as ct
from convex_tsvm.instance.probabilities import PottsProbabilities, Probabilities


def random_costs(seed):
    rng = np.random.default_rng(seed)
    u, K = int(rng.integers(2, 40)), int(rng.integers(2, 6))
    counts = np.bincount(rng.choice(K, u), minlength=K)
    return rng.normal(scale=10 ** rng.uniform(-1, 1), size=(u, K)), counts, 10 ** rng.uniform(-3, 1)


def free_energy(g, temperature, p):
    logs = np.log(np.maximum(p, 1e-300))
    return float((p * g).sum()) + temperature * float((p * logs).sum())


@given(seed=st.integers(0, 10**6), counted=st.booleans())
def test_probabilities_sum_to_one_and_keep_the_shares(seed, counted):
    g, counts, temperature = random_costs(seed)
    found = PottsProbabilities.best(g, temperature, counts if counted else None)
    np.testing.assert_allclose(found.p.sum(axis=1), 1.0, atol=1e-12)
    if counted:
        np.testing.assert_allclose(found.p.sum(axis=0), counts, atol=1e-4 * len(g))
        np.testing.assert_array_equal(np.bincount(found.labels(g, counts), minlength=len(counts)), counts)
    assert 0 <= found.entropy() <= np.log(g.shape[1]) + 1e-12
    assert found.divergence(found) == 0


@given(seed=st.integers(0, 10**5))
def test_the_gradient_of_the_free_energy_is_p(seed):
    """min over p of Σ p g + T Σ p log p changes with g as p says, with shares and without: finite differences."""
    g, counts, _ = random_costs(seed)
    temperature, h = float(np.abs(g).max()) / 2, 1e-5 * float(np.abs(g).max())
    i, k = divmod(seed % g.size, g.shape[1])
    for fixed in (None, counts):
        found = PottsProbabilities.best(g, temperature, fixed)
        ends = []
        for step in (h, -h):
            moved = g.copy()
            moved[i, k] += step
            ends.append(free_energy(moved, temperature, PottsProbabilities.best(moved, temperature, fixed).p))
        assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(found.p[i, k], abs=2e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_probabilities_are_the_least_free_energy(seed):
    """Against SciPy's minimizer with the constraints as they are."""
    rng = np.random.default_rng(seed)
    g, counts, temperature = rng.normal(size=(6, 3)), np.array([3, 2, 1]), 0.7
    rows = [{"type": "eq", "fun": lambda p, i=i: p.reshape(6, 3)[i].sum() - 1} for i in range(6)]
    columns = [{"type": "eq", "fun": lambda p, k=k: p.reshape(6, 3)[:, k].sum() - counts[k]} for k in range(2)]
    best = scipy.optimize.minimize(
        lambda p: free_energy(g, temperature, p.reshape(6, 3)),
        np.tile(counts / 6, 6),
        bounds=[(1e-9, 1)] * 18,
        constraints=rows + columns,
        options={"maxiter": 500, "ftol": 1e-12},
    )
    found = PottsProbabilities.best(g, temperature, counts)
    np.testing.assert_allclose(found.p, best.x.reshape(6, 3), atol=1e-4)


@given(seed=st.integers(0, 10**6))
def test_two_labels_are_the_binary_case(seed):
    rng = np.random.default_rng(seed)
    g, n = rng.normal(size=(12, 2)), int(rng.integers(0, 13))
    own = PottsProbabilities.best(g, 0.5, np.array([n, 12 - n]))
    binary = Probabilities.best(g[:, 0] - g[:, 1], 0.5, n)
    np.testing.assert_allclose(own.p[:, 0], binary.p, atol=1e-6)
    free = PottsProbabilities.best(g, 0.5)
    other = Probabilities.best(g[:, 0] - g[:, 1], 0.5)
    np.testing.assert_allclose(free.p[:, 0], other.p, atol=1e-12)
    assert free.entropy() == pytest.approx(other.entropy(), abs=1e-12)


@pytest.fixture
def three():
    """Three Gaussians of unequal sizes that overlap, four labels each; problems against the rest by balance."""
    X, truth = make_blobs([18, 24, 30], centers=[[0, 0], [3, 0], [1.5, 2.6]], cluster_std=0.6, random_state=0)
    y = np.full(72, -1)
    for k in range(3):
        y[np.flatnonzero(truth == k)[:4]] = k

    def problems(exact, kernel=None):
        shares = [np.mean(truth[y < 0] == k) for k in range(3)]
        balances = [("exact", r) if exact else 2 * r - 1 for r in shares]
        kernel = ct.RBF(1.5) if kernel is None else kernel
        return [
            ct.Problem(
                X,
                np.where(y < 0, 0, np.where(y == k, 1, -1)),
                kernel=kernel,
                C=10,
                C_unlabeled=1,
                balance=balances[k],
            )
            for k in range(3)
        ]

    return X, truth, y, problems


def objective_of(formulation, problems, labels):
    """Σ of the SVMs' objectives for labels, by CVXPY."""
    total = 0.0
    for k, problem in enumerate(problems):
        instance, y = formulation.on(problem), np.where(labels == k, 1.0, -1.0)
        point = ct.modeling.CvxpySolver(problem).solve(instance.svm(y))
        total += instance.labelled_objective(point.outputs, point.regularization, y)
    return total


@pytest.mark.parametrize(
    ("exact", "loss", "kernel", "solver"),
    [
        (True, "hinge", None, "auto"),
        (True, "squared_hinge", None, "auto"),
        (False, "hinge", None, "auto"),
        (False, "squared_hinge", None, "auto"),
        # Solvers know nothing of classes or labels: two cases of each, in which balance and loss differ.
        (True, "hinge", "linear", "finite_newton"),
        (False, "squared_hinge", "linear", "finite_newton"),
        (True, "squared_hinge", "linear", "native"),
        (False, "hinge", "linear", "native"),
    ],
)
def test_three_classes(three, exact, loss, kernel, solver):
    _, truth, y, problems = three
    parts, model = problems(exact, kernel), ct.tsvm(loss)
    found = ct.methods.potts.potts_annealing(model, parts, solver=solver, tol=1e-4)
    assert found.status in ("converged", "inaccurate")
    assert np.mean(found.labels != truth) <= 0.1
    np.testing.assert_array_equal(found.labels[y >= 0], y[y >= 0])
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0, atol=1e-9)
    if exact:
        counts = [part.positive_count for part in parts]
        np.testing.assert_array_equal(np.bincount(found.labels[y < 0]), counts)
        np.testing.assert_allclose(found.probabilities.sum(axis=0), counts, atol=1e-2)
    # The functions are those of the labels, and each point is of one class.
    assert found.objective == pytest.approx(objective_of(model, parts, found.labels), rel=2e-3)
    for k, solution in enumerate(found.solutions):
        np.testing.assert_array_equal(solution.labels > 0, found.labels == k)
    entropies = [stage.entropy for stage in found.history]
    assert entropies[0] > 0.8 * np.log(3) * (1 if exact else 0.5) > entropies[-1]
    # Labels of one class against the rest are no better for all classes together, where they are as many of each.
    apart = [ct.annealing(model, part) for part in parts]
    joint = np.where(y >= 0, y, np.argmax([one.scores for one in apart], axis=0))
    if not exact or np.array_equal(np.bincount(joint), np.bincount(found.labels)):
        assert found.objective <= objective_of(model, parts, joint) * 1.02


def test_the_energy_falls_at_each_temperature(three):
    """Both halves of a round minimize the same energy, so that more rounds end lower."""
    _, _, _, problems = three
    found = ct.methods.potts.potts_annealing(ct.tsvm("squared_hinge"), problems(True), temperature=0.3, settled=1e-9)
    rounds = np.array(
        [[one.step_objective for one in solution.history if one.stage > 0] for solution in found.solutions]
    )
    # The traces have the expected losses; the entropy is what is missing, and is the same for all classes.
    assert rounds.shape[1] > 2
    assert len(found.history) == 1
    warm = ct.methods.potts.potts_annealing(ct.tsvm("squared_hinge"), problems(True), temperature=0.3, settled=1e-2)
    assert found.history[0].energy <= warm.history[0].energy + 1e-6


@pytest.mark.parametrize("classifier", [ct.TransductiveSVC, ct.LinearTransductiveSVC])
def test_classifiers_learn_classes_together(classifier):
    X, truth = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    names = np.array(["barolo", "grignolino", "barbera"])
    y = names[truth].astype(object)
    y[np.random.default_rng(0).permutation(178)[:150]] = "?"
    clf = classifier(method="annealing", loss="squared_hinge", multi_class="potts", unlabeled="?").fit(X, y)
    assert np.mean(clf.predict(X) == clf.transduction_) > 0.9
    apart = classifier(method="annealing", loss="squared_hinge", unlabeled="?").fit(X, y)
    wrong = [np.mean(one.transduction_ != names[truth]) for one in (clf, apart)]
    assert wrong[0] <= wrong[1] + 0.03
    assert clf.decision_function(X).shape == apart.decision_function(X).shape
    known = y != "?"
    signs = np.array([one.labels for one in clf.solutions_])
    np.testing.assert_array_equal((signs > 0).sum(axis=0), 1)  # each point is of one class
    if classifier is ct.LinearTransductiveSVC:
        counts = [one.problem.positive_count for one in clf.solutions_]
        assert np.abs((signs[:, ~known] > 0).sum(axis=1) - counts).max() <= 1
    assert (clf.transduction_[known] == y[known]).all()
    assert clf.n_iter_ > 3


def test_verbose_tells_every_temperature(three, capsys):
    X, _, y, _ = three
    ct.TransductiveSVC(method="annealing", multi_class="potts", verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[TransductiveSVC] T = ")
    assert all("entropy" in line for line in lines)


def test_a_time_limit_and_an_interruption_leave_the_best_point(three):
    _, _, _, problems = three
    parts = problems(True)
    with pytest.warns(UserWarning, match="time_limit"):
        found = ct.methods.potts.potts_annealing(ct.tsvm("squared_hinge"), parts, time_limit=1e-9)
    assert found.status == "time_limit"
    assert len(found.solutions) == 3

    def stop(stage):
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        found = ct.methods.potts.potts_annealing(ct.tsvm("squared_hinge"), parts, callback=stop)
    assert found.status == "interrupted"
    assert len(found.history) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda parts: parts[:1], "there are 1; several classes have one each"),
        (lambda parts: [*parts[:2], parts[2].replace(C=20)], "number 2 has other points, costs or another kernel"),
        (lambda parts: [*parts[:2], parts[0]], "must be labelled \\+1 in one of them"),
        (lambda parts: [*parts[:2], parts[2].replace(balance=0.0)], "shares of all classes must be exact and sum to 1"),
        (lambda parts: [*parts[:2], parts[2].replace(balance=("exact", 0.9))], "sum to 1"),
    ],
)
def test_what_is_no_problem_of_several_classes_says_why(three, change, message):
    _, _, _, problems = three
    with pytest.raises(ValueError, match=message):
        ct.methods.potts.potts_annealing(ct.tsvm("squared_hinge"), change(problems(True)))


def test_what_classifiers_refuse(three):
    X, _, y, _ = three
    with pytest.raises(ValueError, match="multi_class='potts' needs method='annealing', not 'auto'"):
        ct.TransductiveSVC(multi_class="potts").fit(X, y)
    with pytest.raises(ValueError, match="multi_class='crammer'"):
        ct.TransductiveSVC(multi_class="crammer").fit(X, y)
    with pytest.raises(ValueError, match="y has two"):
        ct.TransductiveSVC(method="annealing", multi_class="potts").fit(X, np.minimum(y, 1))
    with pytest.raises(ValueError, match="labels"):
        ct.methods.potts.potts_annealing(dataclasses.replace(ct.tsvm("ramp")), three[3](True))
