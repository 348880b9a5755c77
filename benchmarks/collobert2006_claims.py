"""Claims of Collobert et al. (2006) beside their tables: Figure 4, annealing in §4.3, cluster kernels in §6.1.

    python benchmarks/collobert2006_claims.py [--minutes 60] [--report]

Cells that are done are kept in results/collobert2006_claims.csv.
"""

import time
import warnings
from dataclasses import dataclass

import numpy as np
from common import HERE, TABLE_5, Results, hidden, load, read
from sklearn.metrics import pairwise_distances
from store import Keyed, resume

import convex_tsvm as ct

PATH = HERE / "results" / "collobert2006_claims.csv"
FIGURES = ("error", "objective", "seconds")

#: §4.3: the values of C that the one with the least error is taken of, and S3VMlight with and without annealing.
COSTS, WITH, WITHOUT = (0.01, 0.1, 1.0, 10.0), 7.6, 12.4

#: §6.1: points of chapelle2008 Table 5, and so many components, clusters and neighbours.
SETS = {"g50c": (38.0, 19.0, 10), "text": (3.5, 31.0, 20), "coil20": (2900.0 / 255, 37.0, 60)}
KERNELS = ("rbf", "cluster, step", "cluster, polynomial", "bagged clusters", "density")


@dataclass(frozen=True)
class Cell(Keyed):
    """A run: what it is for, on which data and split, by which method, with which parameter."""

    claim: str
    data: str
    split: int
    method: str
    parameter: str


def missing():
    """All runs."""
    own = [
        Cell("annealing", "g50c", split, method, str(C))
        for C in COSTS
        for method in ("annealed", "at once", "annealed, own pairs and tolerances", "CCCP", "SVM")
        for split in range(10)
    ]
    kernels = [
        Cell("kernels", name, split, method, kernel)
        for split in range(10)
        for name in SETS
        for kernel in KERNELS
        for method in ("SVM", "CCCP", "∇TSVM")
    ]
    return own + kernels


def run(cell):
    """One run."""
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    found = annealed(cell) if cell.claim == "annealing" else on_kernel(cell)
    return {"claim": cell.claim, "data": cell.data, "split": cell.split, "method": cell.method,
            "parameter": cell.parameter, "seconds": time.perf_counter() - began, **found}  # fmt: skip


def annealed(cell):
    """§4.3: S3VMlight with a linear kernel and C* = C, with annealing and without."""
    X, truth, splits = load(cell.data)
    y = hidden(truth, splits[cell.split])
    C, share = float(cell.parameter), float((truth[y == 0] > 0).mean())
    problem = ct.Problem(X, y, C=C, C_unlabeled=C, balance=("exact", share))
    model = ct.tsvm("hinge")
    if cell.method == "SVM":
        solution = ct.cccp(ct.svm(), problem.replace(balance=None))
    elif cell.method == "CCCP":
        solution = ct.cccp(model, problem.replace(balance=2 * share - 1))
    else:
        options = {"at once": {"annealing": [1.0]}}.get(cell.method, {})
        if cell.method.endswith("tolerances"):
            options = {"pairs": "slacks", "loosened": 100.0}
        solution = ct.switching(model, problem, max_pairs=1, **options)
    labels = solution.labels
    return {"error": 100 * float((labels != truth)[problem.unlabeled].mean()), "objective": solution.objective}


def on_kernel(cell):
    """§6.1: a TSVM on a representation that was made without labels."""
    sigma, C, size = SETS[cell.data]
    file = read(cell.data)
    X, truth = file.X, file.y
    known = splits_of(cell.data)[cell.split]
    y = np.full(len(truth), np.nan)
    y[known] = truth[known]
    K = kernel(cell.parameter, X, sigma, size)
    K = K + 1e-8 * np.trace(K) / len(K) * np.eye(len(K))
    C = C / float(np.mean(np.diag(K)))  # the kernels differ in scale
    options = {"kernel": "precomputed", "C": C, "balance": "labeled", "unlabeled": np.nan}
    method = {
        "SVM": {"C_unlabeled": None},
        "CCCP": {"C_unlabeled": "balanced", "s": -0.2},
        "∇TSVM": {"method": "gradient", "C_unlabeled": C / 10},
    }[cell.method]
    clf = ct.TransductiveSVC(**options, **method).fit(K, y)
    rest = np.isnan(y)
    return {"error": 100 * float(np.mean(clf.transduction_[rest] != truth[rest])), "objective": clf.objective_}


def splits_of(name):
    """The original splits, or two labels of each class."""
    file = read(name)
    if "labeled" in file.rest:
        return file.rest["labeled"]
    rng = np.random.default_rng(0)
    return [
        np.concatenate([rng.choice(np.flatnonzero(file.y == k), 2, replace=False) for k in np.unique(file.y)])
        for _ in range(10)
    ]


def kernel(name, X, sigma, size):
    """A kernel matrix of all points."""
    if name == "rbf":
        return ct.RBF(sigma)(X, X)
    if name == "density":
        return ct.kernels.density_kernel(X)
    if name == "bagged clusters":
        return ct.kernels.bagged_cluster_kernel(X, ct.RBF(sigma)(X, X), n_clusters=size)
    nearest = np.sort(pairwise_distances(X), axis=1)[:, 1]
    near = ct.RBF(2 * float(np.median(nearest)))(X, X)
    return ct.kernels.cluster_kernel(near, transfer=name.split(", ")[1], n_components=size, power=5)


def steps(results):
    """Figure 4: the objective and the error along the steps of CCCP, on the first split."""
    results("## Figure 4: along the steps of CCCP, one trial", "")
    results.table("data", "figure", *(f"step {k}" for k in range(1, 13)))
    for name, (sigma, C) in TABLE_5.items():
        X, truth, splits = load(name)
        y = hidden(truth, splits[0])
        problem = ct.Problem(X, y, kernel=ct.RBF(sigma), C=C)
        for s in (0.0, -0.3):
            solution = ct.cccp(ct.cccp_tsvm(s), problem)
            values = [one.objective for one in solution.history][:12]
            wrong = [100 * np.mean((np.sign(one.outputs) != truth)[y == 0]) for one in solution.history][:12]
            rest = ["-"] * (12 - len(values))
            results.row(f"{name}, s = {s:g}", "objective", *(f"{value:.3f}" for value in values), *rest)
            results.row(f"{name}, s = {s:g}", "error, %", *(f"{value:.1f}" for value in wrong), *rest)


def report(rows):
    """The tables of what is done."""
    results = Results("collobert2006_claims", "Claims of Collobert et al. (2006)")
    steps(results)
    found = {}
    for (claim, data, _, method, parameter), row in rows.items():
        found.setdefault((claim, data, method, parameter), []).append(row["error"])
    results("", "## §4.3: S3VMlight's switching with and without annealing", "")
    results(
        "g50c, linear kernel, C* = C, one pair a round, true share; unlabelled error in %, mean over the splits.  The",
        f"paper has {WITH} % with annealing and {WITHOUT} % without, at the C with the least error.",
        "",
    )
    results.table("method", *(f"C = {C:g}" for C in COSTS))
    for method in dict.fromkeys(key[2] for key in found if key[0] == "annealing"):
        cells = [found.get(("annealing", "g50c", method, str(C)), []) for C in COSTS]
        results.row(method, *(f"{np.mean(cell):.1f} ± {spread(cell):.1f}" if cell else "-" for cell in cells))
    results("", "## §6.1: cluster kernels, then TSVM", "")
    results("Unlabelled error in %, mean over the splits; C is divided by the mean of the kernel's diagonal.", "")
    results.table("data", "kernel", "splits", "SVM", "CCCP", "∇TSVM")
    for name in SETS:
        for one in KERNELS:
            cells = [found.get(("kernels", name, method, one), []) for method in ("SVM", "CCCP", "∇TSVM")]
            if cells[0]:
                shown = [f"{np.mean(cell):.1f} ± {spread(cell):.1f}" if cell else "-" for cell in cells]
                results.row(name, one, len(cells[0]), *shown)
    results.done()


def spread(values):
    """The standard error of a mean."""
    return float(np.std(values) / np.sqrt(max(1, len(values) - 1)))


if __name__ == "__main__":
    resume(__doc__, missing(), run, FIGURES, PATH, report, tell=lambda *_: None)
