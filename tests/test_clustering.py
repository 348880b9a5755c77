"""No labelled point, or none of one class: maximum-margin clustering by every method, by relaxations, and exactly."""

import dataclasses
import itertools

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import convex_tsvm as ct
from convex_tsvm.instance import first_guess, principal_components, with_one_label
from convex_tsvm.methods.clustering import guesses
from convex_tsvm.table import DESCENTS, METHODS


@pytest.fixture
def blobs():
    X, truth = make_blobs(80, centers=[[-2, 0], [2, 0]], random_state=0)
    return X, 2.0 * truth - 1


def errors(labels, truth):
    """Errors after the better way to call the clusters."""
    wrong = int(np.sum(labels != truth))
    return min(wrong, len(truth) - wrong)


@parametrize_with_checks([ct.MaxMarginClustering()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("balance", [0.0, 0.1, ("exact", 0.5)])
@pytest.mark.parametrize("method", DESCENTS)
def test_every_method_finds_two_blobs(blobs, method, balance):
    X, truth = blobs
    entry = METHODS[method]
    # Continuation begins with losses that are smoothed to convexity, and so forgets the guess: with these two features
    # it then takes the other one.
    for kernel in (ct.RBF(2.0), "linear") if method != "continuation" else (ct.RBF(2.0),):
        problem = ct.Problem(X, np.zeros(80), kernel=kernel, C_unlabeled=1, balance=balance)
        solution = ct.minimize(method, ct.tsvm(entry.loss), problem)
        assert errors(solution.labels, truth) <= 6, kernel
        if balance != 0.1:
            assert errors(solution.labels, truth) <= 4, kernel


def test_without_a_guess_nothing_tells_the_clusters_apart(blobs):
    """f = 0 is a stationary point of the symmetric problem, at which CCCP that starts there stays."""
    X, _ = blobs
    problem = ct.Problem(X, np.zeros(80), kernel=ct.RBF(2.0), C_unlabeled=1, balance=0.0)
    stuck = ct.cccp(ct.tsvm(), problem, start=np.zeros(80))
    assert ct.cccp(ct.tsvm(), problem).objective < 0.5 * stuck.objective


@pytest.mark.parametrize("kernel", ["linear", ct.RBF(1.0)])
@pytest.mark.parametrize(("sampled", "atol"), [(80, 1e-9), (60, 0.2)])
def test_principal_components_are_those_of_the_centred_kernel(blobs, kernel, sampled, atol):
    X, _ = blobs
    problem = ct.Problem(X + 100, np.zeros(80), kernel=kernel, C_unlabeled=1, balance=0.0)
    H = np.eye(80) - 1 / 80
    V = principal_components(problem, 2, most=sampled)
    vectors = np.linalg.eigh(H @ problem.gram @ H)[1]
    few = slice(sampled // 40)
    np.testing.assert_allclose(np.abs(V.T @ vectors[:, [-1, -2]])[few], np.eye(2)[few], atol=atol)
    if sampled == 80:
        assert all(v[np.abs(v) > 0.77 * np.abs(v).max()][0] > 0 for v in V.T)


def test_guesses_have_as_many_positive_labels_as_the_balance(blobs):
    X, _ = blobs
    for balance, expected in ((0.0, 40), (0.5, 60), (-3.0, 1), (("exact", 0.25), 20)):
        problem = ct.Problem(X, np.zeros(80), kernel=ct.RBF(2.0), C_unlabeled=1, balance=balance)
        instance = ct.tsvm("hinge").on(problem)
        assert (first_guess(instance) > 0).sum() == expected
        found = list(guesses(instance, 4))
        assert 2 <= len(found) == len({tuple(one) for one in found}) <= 4
        assert all((one > 0).sum() == expected for one in found)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("balance", [0.0, ("exact", 0.5)])
@pytest.mark.parametrize("intercept", [True, False])
def test_exact_clustering_against_every_division(loss, balance, intercept, tmp_path):
    """The symmetry leaves one label free; all 2ⁿ labellings without it have no lesser objective."""
    n = 8
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 2)) + 2.5 * (np.arange(n) < n // 2)[:, None]
    model = ct.tsvm(loss, fit_intercept=intercept)
    problem = ct.Problem(X, np.zeros(n), kernel=ct.RBF(1.0), C_unlabeled=2.0, balance=balance)
    path = tmp_path / "clusters.npz"
    exact = ct.exact_search(model, problem, certificate=path)
    assert exact.status == "optimal"
    least = np.inf
    counted = isinstance(balance, tuple)
    instance = (dataclasses.replace(model, balance=None) if counted else model).on(problem)
    solver = ct.solvers.NativeSolver(problem, tol=1e-8)
    for signs in itertools.product((1.0, -1.0), repeat=n):
        if not counted or sum(signs) == 0:
            least = min(least, solver.solve(instance.svm(np.array(signs))).primal)
    assert exact.objective == pytest.approx(least, rel=1e-6)
    assert ct.brute_force(model, problem)[0] == pytest.approx(least, rel=1e-6)
    assert ct.cccp(model, problem).objective >= exact.lower_bound
    assert ct.prove_certificate(path).holds
    pytest.importorskip("flint")
    assert ct.prove_certificate(path).holds
    assert ct.prove_certificate(path, model, problem).holds
    assert not ct.prove_certificate(path, model, problem.replace(C_unlabeled=1.0)).holds


def test_relaxations_without_labels(blobs):
    X, truth = blobs
    problem = ct.Problem(X, np.zeros(80), kernel="rbf", C_unlabeled=1, balance=0.0)
    solution = ct.sdp_transduction(ct.tsvm("hinge"), problem)
    assert errors(solution.labels, truth) <= 8
    best = ct.max_margin_clustering(ct.tsvm("hinge"), problem)
    assert solution.lower_bound <= best.objective <= solution.objective * (1 + 1e-6)
    assert errors(ct.spectral_transduction(ct.tsvm("hinge"), problem).labels, truth) <= 4
    plain = ct.tsvm("hinge", balance=None, fit_intercept=False)
    pairs = zip(np.flatnonzero(truth > 0)[:10].tolist(), np.flatnonzero(truth < 0)[:10].tolist(), strict=True)
    links = [link for i, j in pairs for link in (ct.cannot_link(i, j), ct.must_link(i, 1 if i != 1 else 2))]
    linked = dataclasses.replace(plain, constraints=tuple(links))
    for method in (ct.spectral_transduction, ct.subspace_transduction):
        assert errors(method(linked, problem).labels, truth) <= 6, method.__name__


def test_the_ramp_without_labels_is_searched_over_intervals():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 2)) + 2.5 * (np.arange(8) < 4)[:, None]
    problem = ct.Problem(X, np.zeros(8), kernel=ct.RBF(1.0), C_unlabeled=2.0, balance=0.0)
    exact = ct.exact_search(ct.tsvm(), problem)
    assert exact.status == "optimal"
    assert exact.lower_bound <= ct.cccp(ct.tsvm(), problem).objective * (1 + 1e-9)


@pytest.mark.parametrize("noise", [0.05, 0.1])
def test_two_moons_without_labels(noise):
    """The lowest objective of several guesses is that of the moons, where one guess finds two halves."""
    X, truth = make_moons(200, noise=noise, random_state=0)
    clusters = ct.MaxMarginClustering(sigma=0.3).fit(X)
    assert errors(clusters.labels_, truth) <= 2
    single = ct.MaxMarginClustering(sigma=0.3, n_init=1).fit(X)
    assert clusters.objective_ < single.objective_
    np.testing.assert_array_equal(clusters.predict(X), clusters.labels_)
    assert (
        adjusted_rand_score(ct.MaxMarginClustering(sigma=0.3, method="continuation", balance=0.0).fit_predict(X), truth)
        > 0.9
    )


def test_clusters_of_unequal_sizes_far_from_the_origin():
    X, truth = make_blobs([160, 40], centers=[[50, 50], [56, 50]], random_state=1)
    for method in ("cccp", "switching", "annealing"):
        found = ct.MaxMarginClustering(method=method, balance=(-0.7, 0.7)).fit_predict(X)
        assert errors(found, truth) <= 2, method


@pytest.mark.parametrize(
    ("classifier", "classes"),
    [
        (ct.TransductiveSVC(balance=0.0), [0, 1]),
        (ct.TransductiveSVC(balance=("exact", 0.5), method="switching"), [0, 1]),
        (ct.TransductiveSVC(balance={"left": 0.5, "right": 0.5}), ["left", "right"]),
        (ct.LinearTransductiveSVC(positive_fraction=0.5), [0, 1]),
        (ct.LinearTransductiveSVC(positive_fraction=0.5, method="cccp"), [0, 1]),
        (ct.SDPTransduction(balance=0.0), [0, 1]),
        (ct.SpectralTransduction(balance=0.0), [0, 1]),
    ],
)
def test_classifiers_without_a_label(blobs, classifier, classes):
    X, truth = blobs
    clf = classifier.fit(X, np.full(80, -1))
    assert clf.classes_.tolist() == classes
    assert errors(np.where(clf.transduction_ == clf.classes_[1], 1, -1), truth) <= 8
    assert set(clf.predict(X)) == set(classes)


@pytest.mark.parametrize(
    "classifier",
    [ct.TransductiveSVC(balance={0: 0.5, 1: 0.5}), ct.LinearTransductiveSVC(positive_fraction={0: 0.5, 1: 0.5})],
)
def test_labels_of_one_class(blobs, classifier):
    """Positive and unlabelled points: with its size the other class is found."""
    X, truth = blobs
    y = np.full(80, -1)
    y[np.flatnonzero(truth > 0)[:5]] = 1
    clf = classifier.fit(X, y)
    assert np.sum((clf.transduction_ == 1) != (truth > 0)) <= 6


@pytest.mark.parametrize(
    ("classifier", "y", "message"),
    [
        (ct.TransductiveSVC(), -1, "two clusters are found if their sizes are given by a number"),
        (ct.TransductiveSVC(balance=0.0, C_unlabeled=None), -1, "y has no labelled point"),
        (ct.TransductiveSVC(balance=0.0, safe=True), -1, "y has no labelled point"),
        (ct.TransductiveSVC(balance=0.0), 1, "name both with their sizes, such as"),
        (ct.LinearTransductiveSVC(positive_fraction=0.5, lambda_=0.1), -1, "lambda_ and lambda_unlabeled"),
        (ct.LinearTransductiveSVC(), -1, "two clusters are found if their sizes are given by a number"),
    ],
)
def test_what_a_fit_without_labels_lacks(blobs, classifier, y, message):
    X, _ = blobs
    labels = np.full(80, -1)
    labels[0] = y
    with pytest.raises(ValueError, match=message):
        classifier.fit(X, labels)


def test_what_the_clusterer_refuses_and_takes():
    X = np.arange(6.0)[:, None]
    for change, message in (
        ({"balance": "labeled"}, "balance='labeled' must be two ends"),
        ({"balance": (0.3, -0.3)}, "no output is between them"),
        ({"method": "gradient"}, "takes a mean such as 0.0"),
    ):
        with pytest.raises(ValueError, match=message):
            ct.MaxMarginClustering(**change).fit(X)
    assert ct.MaxMarginClustering(method="gradient", balance=0.0).fit_predict(X).sum() == 3
    assert ct.MaxMarginClustering().fit_predict(X[:2]).sum() == 1
    assert ct.MaxMarginClustering(kernel="precomputed").fit_predict(X @ X.T).shape == (6,)


def test_what_has_no_balance_is_refused():
    X = np.arange(6.0)[:, None]
    problem = ct.Problem(X, np.zeros(6), balance=0.0, C_unlabeled=1)
    alone = ct.tsvm("hinge", balance=None)
    for solve in (ct.cccp, ct.exact_search, ct.sdp_transduction):
        with pytest.raises(ValueError, match="no point is labelled"):
            solve(alone, problem)
    with pytest.raises(ValueError, match=r"or balance must be a number, such as 0.0"):
        ct.Problem(X, np.zeros(6))
    with pytest.raises(ValueError, match="tells the classes apart"):
        with_one_label(ct.tsvm("hinge"), problem.replace(balance=0.2))
    with pytest.raises(ValueError, match="tells the classes apart"):
        with_one_label(ct.tsvm("hinge"), problem.replace(balance=("exact", 0.3)))
    with pytest.raises(ValueError, match="leave the constant out"):
        with_one_label(dataclasses.replace(ct.tsvm("hinge"), unlabeled=ct.symmetric_hinge() + 1.0), problem)
    with pytest.raises(ValueError, match="n_init=0"):
        ct.max_margin_clustering(ct.tsvm("hinge"), problem, n_init=0)
    with pytest.raises(ValueError, match="method='kmeans'"):
        ct.MaxMarginClustering(method="kmeans").fit(X)
