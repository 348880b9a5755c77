"""Exact search with kernels on a thousand points and more, 200 of them labelled (an hour, resumable).

    python benchmarks/exact_thousand.py --minutes 60     goes on where it was
    python benchmarks/exact_thousand.py --report         the table, from what is finished

Semi-supervised benchmark sets, the first so many points, scaled to unit variance; C = 1, C* = 0.25, S3VM without a
balance; the Gaussian kernel's width is the root of half the median squared distance.  Ten minutes each, by default
arguments but for a gap of 0.1 %.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from common import HERE, Results, hidden, read
from store import Keyed, resume

import convex_tsvm as ct

LIMIT, LABELED = 600.0, 200
FIGURES = ("objective", "lower", "gap", "nodes", "seconds", "error", "supervised")
PATH = HERE / "results" / "exact_thousand.csv"


@dataclass(frozen=True)
class Cell(Keyed):
    """One search."""

    data: str
    kernel: str
    n: int


def cells():
    """All cells, those first that are done first."""
    return [
        Cell("ssl_digit1", "rbf", 1000), Cell("ssl_g241c", "linear", 1000), Cell("ssl_digit1", "rbf", 1500),
        Cell("ssl_usps", "rbf", 1000), Cell("ssl_digit1", "linear", 1000), Cell("ssl_g241c", "rbf", 1000),
        Cell("ssl_usps", "rbf", 1500),
    ]  # fmt: skip


def run(cell):
    """Figures of a cell."""
    file = read(cell.data)
    X, truth = np.asarray(file.X)[: cell.n], np.where(np.asarray(file.y)[: cell.n] > 0, 1.0, -1.0)
    X = X / X.std()
    y = hidden(truth, np.random.default_rng(0).permutation(cell.n)[:LABELED])
    kernel = "linear"
    if cell.kernel == "rbf":
        kernel = ct.RBF(float(np.sqrt(np.median(((X[:200, None] - X[None, :200]) ** 2).sum(-1)) / 2)))
    problem = ct.Problem(X, y, kernel=kernel, C=1.0, C_unlabeled=0.25, balance=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ct.exact_search(ct.s3vm(balance=None), problem, time_limit=LIMIT, gap=1e-3)
    supervised = ct.cccp(ct.svm(ct.squared_hinge()), problem)
    unknown = problem.unlabeled
    return vars(cell) | {
        "objective": found.objective, "lower": found.lower_bound, "gap": 100 * found.gap, "nodes": found.n_nodes,
        "seconds": found.seconds, "error": 100 * float((found.labels != truth)[unknown].mean()),
        "supervised": 100 * float((supervised.labels != truth)[unknown].mean()),
    }  # fmt: skip


def report(done):
    """The table, as far as it is known."""
    results = Results("exact_thousand", "Exact search with kernels on a thousand points", "exact_thousand.py --report")
    results(*__doc__.split("\n\n")[2].split("\n"), "")
    results.table("data", "kernel", "points", "objective", "gap, %", "nodes", "s", "error, %", "SVM, %")
    for one in cells():
        if (f := done.get(one.key)) is not None:
            results.row(one.data, one.kernel, one.n, f"{f['objective']:.5g}", f"{f['gap']:.2g}", f"{f['nodes']:.0f}",
                        f"{f['seconds']:.0f}", f"{f['error']:.1f}", f"{f['supervised']:.1f}")  # fmt: skip
    results.done()


def say(count, total, spent, found):
    """A line for a finished cell."""
    print(*(found[name] for name in ("data", "kernel", "n", "gap", "nodes", "seconds", "error")), flush=True)


if __name__ == "__main__":
    resume(__doc__, cells(), run, FIGURES, PATH, report, tell=say)
