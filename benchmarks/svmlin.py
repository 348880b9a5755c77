"""SVMlin's methods on its authors' kind of data: objective, time, errors (3 minutes).

    python benchmarks/svmlin.py [--only NAME ...]

λ = 10⁻³, λ' = 1, a bias feature of 1, and r as it really is (Sindhwani and Keerthi 2006).  SVMlin's figures are those
of its C++ (``-O3``, S = 10 000 pairs) on the same data and 2 x86-64 cores on which ``LinearSVC``, trained on all points
with their true labels, takes 0.01, 0.5 and 1.4 seconds; where that takes longer, so does SVMlin.
"""

import argparse
import time

import numpy as np
import scipy.sparse as sp
from common import DATA, Results, load
from sklearn.svm import LinearSVC

import convex_tsvm as ct

LAMBDA = 1e-3

#: SVMlin: objective and seconds.
SVMLIN = {
    ("text", "switching"): (0.14062, 0.22),
    ("text", "annealing"): (0.12987, 0.83),
    ("secstr", "switching"): (0.08163, 123),
    ("secstr", "annealing"): (0.08240, 127),
    ("documents", "switching"): (0.40325, 22.6),
    ("documents", "annealing"): (0.40324, 23.6),
}


def documents(n, n_features=40_000, length=56, topic_words=2000, topic_share=0.15, seed=0):
    """Texts of two topics: most words are drawn by their popularity, some from the topic's own; tf-idf, unit rows."""
    rng = np.random.default_rng(seed)
    truth = np.resize([1.0, -1.0], n)
    popular = np.cumsum(1.0 / np.arange(1, n_features + 1) ** 0.8)
    topics = rng.permutation(n_features)[: 2 * topic_words].reshape(2, topic_words)
    words = np.searchsorted(popular, popular[-1] * rng.random((n, length))).clip(0, n_features - 1)
    own, pick = rng.random((n, length)) < topic_share, rng.integers(0, topic_words, (n, length))
    words = np.where(own, topics[(truth < 0).astype(int)[:, None], pick], words)
    X = sp.csr_matrix((np.ones(n * length), words.ravel(), np.arange(0, n * length + 1, length)), shape=(n, n_features))
    X.sum_duplicates()
    X.data = (1 + np.log(X.data)) * np.log(n / (1 + np.bincount(X.indices, minlength=n_features)))[X.indices]
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(np.maximum(norms, 1e-12), np.diff(X.indptr))
    labeled = np.random.default_rng(seed + 1).permutation(n)[:100]
    return X, truth, labeled


def text():
    """Newsgroups mac against mswindows, split 0."""
    X, truth, splits = load("text")
    return X, truth, splits[0]


def secstr():
    """Protein secondary structure, one-hot, 100 labelled points."""
    file = np.load(DATA / "ssl_secstr.npz")
    T = file["T"].astype(int)
    n, length = T.shape
    columns = (np.arange(length) * 21 + T).ravel()
    X = sp.csr_matrix((np.ones(T.size), columns, np.arange(0, T.size + 1, length)), shape=(n, 21 * length))
    X.sort_indices()
    return X, file["y"].astype(float), file["labeled100"][0]


SETS = {"text": text, "secstr": secstr, "documents": lambda: documents(100_000)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", choices=list(SETS), default=list(SETS))
    options = parser.parse_args()
    results = Results("svmlin", "SVMlin's methods")
    results.table("data", "method", "SVMlin's objective", "objective", "gap", "LinearSVC, s", "SVMlin, s", "seconds",
                  "times faster", "steps", "error, %")  # fmt: skip
    X, truth, labeled = text()
    known = np.isin(np.arange(len(truth)), labeled)
    for method in ("switching", "annealing"):  # compiles
        ct.LinearTransductiveSVC(method=method, unlabeled=0).fit(X, np.where(known, truth, 0))
    for name in options.only:
        X, truth, labeled = SETS[name]()
        known = np.isin(np.arange(len(truth)), labeled)
        y, r = np.where(known, truth, 0), float((truth[~known] > 0).mean())
        began = time.perf_counter()
        LinearSVC(C=1.0).fit(X, truth)
        linear = time.perf_counter() - began
        for method in ("switching", "annealing"):
            clf = ct.LinearTransductiveSVC(
                method=method, lambda_=LAMBDA, lambda_unlabeled=1.0, positive_fraction=r, unlabeled=0, tol=1e-5
            )
            began = time.perf_counter()
            clf.fit(X, y)
            seconds = time.perf_counter() - began
            theirs, needed = SVMLIN[name, method]
            results.row(
                name,
                method,
                f"{theirs:.5f}",
                f"{LAMBDA * clf.objective_:.5f}",
                f"{clf.solutions_[0].step.gap:.0e}",
                f"{linear:.2f}",
                f"{needed:.1f}",
                f"{seconds:.2f}",
                f"{needed / seconds:.1f} ×",
                clf.n_iter_,
                f"{100 * np.mean(clf.predict(X)[~known] != truth[~known]):.2f}",
            )
    results.done()


if __name__ == "__main__":
    main()
