"""Linear TSVM by switching and annealing: time against entries, memory, and kdd99 (15 minutes).

    python benchmarks/linear_growth.py [--most ENTRIES]

Points of 17 categorical features, one-hot in 128 columns: 17 entries a row; 100 of them are labelled.  Each fit has a
process of its own, whose greatest resident memory is what the table says: of the machine's memory in use, that is, with
the parts of mapped files that are in it.  kdd99: 494 021 rows scaled to unit range, 1000 labelled (Sindhwani and
Keerthi 2006 report 15 and 143 minutes on all 4.9 million).  λ = 10⁻³, λ' = 1, r as it really is.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from common import Results, exponent, load
from sklearn.preprocessing import maxabs_scale
from sklearn.svm import LinearSVC

import convex_tsvm as ct
from convex_tsvm.points import linear_points, open_points, save_points

#: Values of the categorical features: 128 in all.
VALUES = (8,) * 9 + (7,) * 8


def categorical(n, seed=0):
    """One-hot rows of 32-bit numbers whose values depend a little on the class, and the classes."""
    rng, law = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    truth = np.resize([1.0, -1.0], n)
    columns, first = np.empty((n, len(VALUES)), dtype=np.int32), 0
    for j, count in enumerate(VALUES):
        likely = np.exp(0.3 * np.outer([1, -1], law.standard_normal(count)))
        likely = (likely / likely.sum(axis=1, keepdims=True)).cumsum(axis=1)
        uniform = rng.random(n)
        for k, of_class in ((0, truth > 0), (1, truth < 0)):
            columns[of_class, j] = first + np.searchsorted(likely[k], uniform[of_class]).clip(0, count - 1)
        first += count
    indptr = np.arange(0, columns.size + 1, len(VALUES))
    return sp.csr_array((np.ones(columns.size, dtype=np.float32), columns.ravel(), indptr), shape=(n, first)), truth


def kdd99():
    """The connections of the 10 % file, scaled to unit range, 1000 labelled."""
    X, truth, _ = load("kdd99", splits="y")
    return maxabs_scale(X.astype(np.float32)), truth, 1000


def fit(name, n, method, folder):
    """Seconds and what came out, in a process that does nothing else; from the folder, if there is one."""
    saved = None if folder is None else open_points(folder)
    if saved is not None:
        X, truth, n_labeled = saved.points, saved.labels, 100
    else:
        X, truth, n_labeled = kdd99() if name == "kdd99" else (*categorical(n), 100)
    y = np.zeros(len(truth))
    labeled = np.random.default_rng(1).permutation(len(y))[:n_labeled] if name == "kdd99" else np.arange(n_labeled)
    y[labeled] = truth[labeled]
    unlabeled = y == 0
    small, signs = categorical(400)
    options = {"method": method, "lambda_": 1e-3, "lambda_unlabeled": 1.0, "unlabeled": 0}
    ct.LinearTransductiveSVC(**options).fit(small, np.where(np.arange(400) < 50, signs, 0))  # compiles
    clf = ct.LinearTransductiveSVC(positive_fraction=float((truth[unlabeled] > 0).mean()), **options)
    began = time.perf_counter()
    clf.fit(X, y)
    seconds = time.perf_counter() - began
    wrong = 100 * np.mean(clf.transduction_[unlabeled] != truth[unlabeled])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    X = linear_points(X)
    return seconds, X.shape[0], X.n_entries, clf.n_iter_, 1e-3 * clf.objective_, clf.solutions_[0].status, wrong, peak


def alone(function, *given):
    """What a function returns in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *given).result()


def save(n, folder):
    """The points of a size to a folder."""
    X, truth = categorical(n)
    save_points(linear_points(X), truth, folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=float, default=1e8, help="entries of the largest points")
    most = parser.parse_args().most
    results = Results("linear_growth", "Linear TSVM: growth of time with the entries, and memory")
    X, truth, _ = kdd99()
    began = time.perf_counter()
    LinearSVC(C=1.0).fit(X, truth)
    results(f"`LinearSVC` on kdd99 with all labels takes {time.perf_counter() - began:.1f} s on this machine.", "")
    del X
    results.table("points", "method", "rows", "entries", "seconds", "steps", "objective", "status", "error, %",
                  "memory, GB")  # fmt: skip

    def row(name, method, found):
        seconds, n, entries, steps, objective, status, wrong, peak = found
        results.row(name, method, f"{n}", f"{entries:.1e}", f"{seconds:.2f}", steps, f"{objective:.5f}", status,
                    f"{wrong:.2f}", f"{peak:.1f}")  # fmt: skip
        return entries, seconds

    sizes = [n for n in np.geomspace(1e5, 1e8, 7) if n <= most * 1.001]
    growth = []
    for method in ("switching", "annealing"):
        known = [row("synthetic", method, alone(fit, "", int(size / len(VALUES)), method, None)) for size in sizes]
        growth.append((method, exponent(*zip(*known, strict=True))))
    if most >= 1e8:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "points")
            row("5 million, in memory", "switching", alone(fit, "", 5_000_000, "switching", None))
            alone(save, 5_000_000, path)
            row("5 million, mapped", "switching", alone(fit, "", 0, "switching", path))
    for method in ("switching", "annealing"):
        row("kdd99", method, alone(fit, "kdd99", 0, method, None))
    for method, power in growth:
        results(f"Time grows with the entries to the power {power:.2f} ({method}).", "")
        results.facts[f"exponent of {method}"] = round(power, 2)
    results.done()


if __name__ == "__main__":
    main()
