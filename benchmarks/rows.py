"""Systems and variants in the five papers' text, apart from their numbered items: each by its public name, and run.

    python benchmarks/rows.py        writes results/rows.md (a minute)

A row is a few lines that use it on a small problem, and hold if it does what the paper says of it.
"""

import dataclasses
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from document import Document
from sklearn.datasets import make_blobs, make_moons

import convex_tsvm as ct
from convex_tsvm.methods.spectral import spectral_sdp, spectral_subspace

#: Paper, place, what it is, its public name, and a function that uses it.
ROWS = []


def row(paper, place, what, name):
    """Decorator: a row of the table."""

    def add(function):
        ROWS.append((paper, place, what, name, function))
        return function

    return add


def moons(n_labeled=4, seed=0):
    """Two moons, their signs, and labels with 0 for unknown."""
    X, truth = make_moons(100, noise=0.05, random_state=seed)
    truth = 2.0 * truth - 1
    y = np.zeros(100)
    for sign in (1, -1):
        y[np.random.default_rng(seed).choice(np.flatnonzero(truth == sign), n_labeled, replace=False)] = sign
    return X, truth, y


def three(seed=0):
    """Three clusters, their classes, labels with -1 for unknown, and the problems of one class against the rest."""
    X, truth = make_blobs(90, centers=[[0, 0], [3, 0], [1.5, 2.6]], cluster_std=0.5, random_state=seed)
    y = np.full(90, -1)
    for k in range(3):
        y[np.flatnonzero(truth == k)[:3]] = k
    parts = [
        ct.Problem(X, np.where(y < 0, 0, np.where(y == k, 1, -1)), kernel=ct.RBF(1.0), C=10, balance=("exact", 1 / 3))
        for k in range(3)
    ]
    return X, truth, y, parts


def apart():
    """Ten points of two classes apart, four of them labelled, half of the others positive."""
    X, truth = make_blobs(10, centers=[[-1.5, 0], [1.5, 0]], random_state=1)
    return ct.Problem(X, np.where(np.arange(10) < 4, 2.0 * truth - 1, 0.0), kernel=ct.RBF(1.0), balance=("exact", 0.5))


@row("sindhwani2006", "§1.5", "annealing at a fixed temperature", "annealing(temperature=)")
def fixed_temperature():
    X, _, y = moons()
    problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=10)
    found = [ct.annealing(ct.tsvm("squared_hinge"), problem, temperature=T) for T in (0.1, 0.001)]
    stages = [{one.stage for one in solution.history if one.stage > 0} for solution in found]
    return all(len(stage) == 1 for stage in stages) and all(one.status == "converged" for one in found)


@row("sindhwani2006", "§1.5", "λ' chosen by validation along the path", "cost_path")
def costs():
    X, truth, y = moons()
    labels = np.where(y == 0, -1, (y > 0).astype(int))
    path = ct.selection.cost_path(ct.TransductiveSVC(sigma=0.4, balance=0.0), X, labels, factors=(0.01, 0.1, 1), cv=2)
    return path.chosen in (0.01, 0.1, 1.0) and np.mean(path.estimator.fit(X, labels).predict(X) == (truth > 0)) > 0.9


@row(
    "sindhwani2006",
    "fn 6",
    "annealing of several classes with a Potts variable a point",
    "potts_annealing, multi_class='potts'",
)
def potts():
    _, truth, _, parts = three()
    found = ct.methods.potts.potts_annealing(ct.tsvm("squared_hinge"), parts)
    counts = np.bincount(found.labels, minlength=3)
    return np.mean(found.labels == truth) > 0.95 and np.allclose(found.probabilities.sum(1), 1) and np.ptp(counts) <= 1


@row("sindhwani2006", "§1.6", "clustering: no labelled point", "MaxMarginClustering, max_margin_clustering")
def clustering():
    X, truth, _ = moons()
    wrong = np.mean(ct.MaxMarginClustering(sigma=0.3).fit_predict(X) != (truth > 0))
    return min(wrong, 1 - wrong) < 0.02


@row("sindhwani2006", "§1.6", "the best clustering of all, with a certificate", "exact_search, prove_certificate")
def certified():
    X, _ = make_blobs(12, centers=[[0, 0], [3, 0]], random_state=0)
    problem = ct.Problem(X, np.zeros(12), kernel=ct.RBF(1.0), C_unlabeled=1, balance=0.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "clusters.npz")
        found = ct.exact_search(ct.tsvm("squared_hinge"), problem, certificate=path)
        return found.status == "optimal" and ct.prove_certificate(path, ct.tsvm("squared_hinge"), problem).holds


@row("sindhwani2006", "§1.6", "labels of one class only", "TransductiveSVC(balance={...})")
def one_class():
    X, truth = make_blobs(80, centers=[[-2, 0], [2, 0]], cluster_std=0.6, random_state=0)
    y = np.full(80, -1)
    y[np.flatnonzero(truth == 1)[:5]] = 1
    return np.mean(ct.TransductiveSVC(balance={0: 0.5, 1: 0.5}).fit(X, y).transduction_ == truth) > 0.95


@row("sindhwani2006", "§1.2.4", "the Huber-rounded hinge by name", "tsvm('huber_hinge'), loss='huber_hinge'")
def huber():
    X, _, y = moons()
    labels = np.where(y == 0, -1, (y > 0).astype(int))
    clf = ct.LinearTransductiveSVC(loss="huber_hinge", method="cccp", positive_fraction=0.5).fit(X, labels)
    return clf.status_ in ("converged", "inaccurate")


@row("sindhwani2006", "§1.2.4", "a share of positive points without effect is said", "a warning")
def unused_share():
    X, _, y = moons()
    labels = np.where(y == 0, -1, (y > 0).astype(int))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = ct.LinearTransductiveSVC(loss=ct.tsvm("hinge", balance=None), method="cccp", positive_fraction=0.3)
        made.fit(X, labels)
    return any("has no effect" in str(one.message) for one in caught)


def linked(X, truth, count=40, seed=0):
    """Pairs of points that are known to be of one class, or of two."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(len(X), 2, replace=False).tolist() for _ in range(count)]
    return tuple((ct.must_link if truth[i] == truth[j] else ct.cannot_link)(i, j) for i, j in pairs)


@row("debie2004", "§4.1", "constrained spectral transduction as a CVXPY problem", "methods.spectral.spectral_sdp")
def spectral_as_sdp():
    X, _, y = moons()
    problem = ct.Problem(X[::4], y[::4], kernel=ct.RBF(0.5), C=10)
    sdp = spectral_sdp(ct.s3vm(), problem, n_components=2)
    _, eigenvalues = spectral_subspace(problem.gram, problem.y, 2)
    return abs(sdp.problem.solve(solver="CLARABEL") - eigenvalues.sum()) < 1e-5


@row("debie2004", "§2", "the hard margin, exactly, with a certificate", "hard_margin_s3vm, exact_search")
def hard_margin():
    problem, model = apart(), ct.hard_margin_s3vm()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "hard.npz")
        found = ct.exact_search(model, problem, certificate=path)
        proven = ct.prove_certificate(path, model, problem).holds
    return proven and found.status == "optimal" and np.isclose(found.objective, ct.brute_force(model, problem)[0])


@row("debie2004", "§2", "the hard margin as a mixed-integer program", "hard_margin_s3vm, MixedIntegerModel")
def hard_margin_program():
    problem, model = apart(), ct.hard_margin_s3vm()
    best = ct.brute_force(model, problem)[0]
    program = ct.modeling.MixedIntegerModel(model, problem, 1.5 * best)
    return np.isclose(program.problem.solve(solver="SCIP"), best, rtol=1e-4)


@row("debie2004", "fn 3", "side information in the spectral method", "must_link, cannot_link in spectral_transduction")
def links_in_eigenvectors():
    X, truth, _ = moons()
    V, _ = spectral_subspace(ct.RBF(0.3)(X, X), np.zeros(100), 2, links=linked(X, truth))
    return all(np.allclose(V[one.i], one.sign * V[one.j], atol=1e-10) for one in linked(X, truth))


@row("debie2004", "fn 3", "all pairs of a labelled set say what its labels say", "spectral_subspace(links=)")
def links_are_labels():
    X, truth, y = moons()
    known = np.flatnonzero(y).tolist()
    pairs = [(ct.must_link if truth[i] == truth[j] else ct.cannot_link)(i, j) for i in known for j in known if i < j]
    K = ct.RBF(0.3)(X, X)
    own, _ = spectral_subspace(K, y, 2)
    other, _ = spectral_subspace(K, np.zeros(100), 2, links=pairs)
    return np.abs(own - other * np.sign((own * other).sum(axis=0))).max() < 1e-8


@row("debie2004", "fn 3", "side information in the SDPs, exact search and CCCP", "Formulation(constraints=)")
def links_in_the_sdp():
    rng = np.random.default_rng(0)
    truth = np.repeat([-1.0, 1.0], 6)
    X = rng.normal(size=(12, 2)) + truth[:, None]
    y = np.where(np.arange(12) % 6 < 2, truth, 0.0)
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=2, C_unlabeled=1)
    links = (ct.must_link(2, 8), ct.cannot_link(3, 4))
    model = dataclasses.replace(ct.tsvm("hinge"), constraints=links)
    bound, exact, local = ct.sdp_transduction(model, problem), ct.exact_search(model, problem), ct.cccp(model, problem)
    return bound.lower_bound <= exact.objective * (1 + 1e-5) <= local.objective * (1 + 2e-5)


@row("collobert2006", "§6.1", "cluster kernels and low density separation, then TSVM", "cluster_kernel, density_kernel")
def representations():
    X, truth, y = moons(n_labeled=2)
    labels = np.where(y == 0, -1, (y > 0).astype(int))
    K = ct.kernels.density_kernel(X)
    return np.mean(ct.TransductiveSVC(kernel="precomputed").fit(K, labels).transduction_ == (truth > 0)) > 0.95


@row("collobert2006", "§6.3", "online and stochastic CCCP", "LinearTransductiveSVC.partial_fit")
def online():
    X, truth = make_blobs(400, centers=[[-1.5, 0], [1.5, 0]], random_state=0)
    y = np.where(np.arange(400) % 20 == 0, truth, -1)
    clf = ct.LinearTransductiveSVC(positive_fraction=0.5)
    for part in np.array_split(np.arange(400), 8):
        clf.partial_fit(X[part], y[part], classes=[0, 1])
    return np.mean(clf.predict(X) == truth) > 0.9


@row("collobert2006", "§6.3", "online, nonlinear", "LinearTransductiveSVC(kernel_approximation=).partial_fit")
def online_with_a_kernel():
    X, truth = make_moons(2000, noise=0.15, random_state=0)
    y = np.where(np.arange(2000) % 10 == 0, truth, -1)
    clf = ct.LinearTransductiveSVC(kernel_approximation="nystroem", gamma=2.0, n_components=60, lambda_=1e-3)
    for part in np.array_split(np.arange(2000), 10):
        clf.partial_fit(X[part], y[part], classes=[0, 1])
    return np.mean(clf.predict(X) != truth) < 0.05


@row("collobert2006", "§3", "S3VMlight's pairs and loosened tolerances", "switching(pairs='slacks', loosened=)")
def svmlight():
    X, _, y = moons()
    problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=10, balance=("exact", 0.5))
    found = ct.switching(ct.tsvm("hinge"), problem, pairs="slacks", loosened=100.0, max_pairs=1)
    return found.status == "converged" and (found.labels[problem.unlabeled] > 0).sum() == problem.positive_count


@row(
    "dai2010",
    "§3",
    "the machine with class means, exactly, with a certificate",
    "unrelaxed_compact_margin, exact_search",
)
def unrelaxed():
    X, truth = make_blobs(12, centers=[[-1, 0], [1, 0]], random_state=1)
    y = np.where(np.arange(12) < 4, 2.0 * truth - 1, 0.0)
    problem, model = ct.Problem(X, y, C=1, balance=("exact", 0.5)), ct.formulations.unrelaxed_compact_margin(0.2, 0.5)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "compact.npz")
        found = ct.exact_search(model, problem, certificate=path)
        proven = ct.prove_certificate(path, model, problem).holds
    return proven and found.status == "optimal" and np.isclose(found.objective, ct.brute_force(model, problem)[0])


@row("chapelle2008", "§5.6.2", "the power of the Laplacian", "TransductiveSVC(power=), --power")
def laplacian_power():
    X, _, y = moons()
    labels = np.where(y == 0, -1, (y > 0).astype(int))
    found = [ct.TransductiveSVC(C_manifold=1.0, power=p).fit(X, labels).transduction_scores_ for p in (1, 5)]
    return not np.allclose(*found)


@row("chapelle2008", "§3.4", "labels from Γ's largest eigenvector", "sdp_transduction(labels_from='eigenvector')")
def eigenvector():
    X, truth = make_blobs(24, centers=[[-3, 0], [3, 0]], random_state=0)
    y = np.where(np.arange(24) < 6, 2.0 * truth - 1, 0.0)
    found = ct.sdp_transduction(ct.s3vm(), ct.Problem(X, y, kernel=ct.RBF(4.0)), labels_from="eigenvector")
    return np.mean((found.labels > 0) != truth) < 0.1


@row("chapelle2008", "§4.3", "continuation with other smoothing functions", "continuation(smoothing=), smoothed")
def other_smoothing():
    X, _, y = moons()
    problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=10, balance=0.0)
    names = ("gaussian", "logistic", "student", "uniform")
    return all(ct.continuation(ct.tsvm("exp"), problem, smoothing=one).status == "converged" for one in names)


def verdicts():
    """The rows, whether each holds, and the seconds it takes."""
    for paper, place, what, name, function in ROWS:
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            holds = bool(function())
        yield paper, place, what, name, holds, time.perf_counter() - began


def main():
    out = Document("rows", "Systems and variants in the papers' text")
    out.text("`python benchmarks/rows.py`: each is used on a small problem.")
    out.table("paper", "place", "what", "public name", "verdict", "s")
    for paper, place, what, name, holds, seconds in verdicts():
        print(paper, place, what, "holds" if holds else "FAILS", f"{seconds:.1f} s", flush=True)
        out.row(paper, place, what, f"`{name}`", "holds" if holds else "fails", f"{seconds:.1f}")
    out.save()


if __name__ == "__main__":
    main()
