"""Exact solutions of the instances of Piccialli, Schwiddessen and Sudoso (2024), by open solvers.

    python benchmarks/exact.py [--limit SECONDS] [--only NAME ...] [--shares SHARE ...]

Up to 10 minutes an instance (--limit 3600 for what comes close), two dives side by side.  What is done is kept in
benchmarks/results/exact_runs.json and not done again; an instance that was interrupted goes on from its checkpoint (in
--work).

The protocol: standardized data; squared hinge, C* = C, no bias, Σ_u v fixed to the mean of the known labels; 30 %, 20 %
and 10 % of each class labelled (floor), the first ones after numpy's default_rng(0).permutation; the linear kernel or
the RBF kernel with γ = 1/d, whichever is better aligned with the known labels (Cristianini et al. 2001); C of 20 values
from 0.01 to 100 by 10-fold cross-validation of an SVM on the labelled points, the smallest of the best.  For four sets
the other kernel is done besides, with its own C.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from common import DATA, HERE, Results
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

import convex_tsvm as ct

SETS = ("art100", "art150", "2moons", "heart", "connectionist", "ionosphere", "arrhythmia", "wdbc")
BOTH_KERNELS = ("2moons", "connectionist", "ionosphere", "heart")
SHARES = (0.3, 0.2, 0.1)
KERNELS = ("aligned", "other")
GAP = 1e-3


def instance(name, share, other=False):
    """Kernel's name, C, problem and truth."""
    file = np.load(DATA / f"exact_{name}.npz")
    order = np.random.default_rng(0).permutation(len(file["y"]))
    X, truth = file["X"][order], np.where(file["y"][order] == file["y"].max(), 1.0, -1.0)
    chosen = []
    for sign in (-1, 1):
        own = np.flatnonzero(truth == sign)
        chosen.append(own[: int(len(own) * share)])
    # Labelled points first, class by class: the folds of the cross-validation depend on their order.
    labelled = np.concatenate(chosen)
    order = np.concatenate([labelled, np.setdiff1d(np.arange(len(truth)), labelled)])
    X, truth, known = X[order], truth[order], np.arange(len(truth)) < len(labelled)
    kernels = {"linear": linear_kernel(X), "rbf": rbf_kernel(X)}
    labels, parts = truth[known], {kind: K[np.ix_(known, known)] for kind, K in kernels.items()}
    aligned = {kind: labels @ K @ labels / np.linalg.norm(K) for kind, K in parts.items()}
    kind = max(aligned, key=aligned.get)
    if other:
        kind = min(aligned, key=aligned.get)
    folds = min(10, int((labels > 0).sum()), int((labels < 0).sum()))
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": np.logspace(-2, 2, 20)}, cv=StratifiedKFold(folds))
    C = float(search.fit(parts[kind], labels).best_params_["C"])
    kernel = ct.Linear() if kind == "linear" else ct.RBF(gamma=1 / X.shape[1])
    problem = ct.Problem(X, np.where(known, truth, 0.0), kernel=kernel, C=C, C_unlabeled=C)
    return kind, C, problem, truth


def solve(name, share, other, limit, work, n_jobs):
    """One row of the table."""
    kind, C, problem, truth = instance(name, share, other)
    formulation = ct.s3vm(balance="targets", fit_intercept=False)
    path = Path(work) / f"{name}-{share}-{kind}.npz"
    began = time.perf_counter()
    found = ct.exact_search(formulation, problem, gap=GAP, time_limit=limit, n_jobs=n_jobs, checkpoint=path)
    objective = found.objective
    wrong = (found.labels != truth)[problem.unlabeled].mean()
    return {
        "n": problem.n,
        "labelled": problem.n_labeled,
        "kernel": kind,
        "C": C,
        "objective": objective,
        "svm_gap": 1 - found.svm_bound / objective,
        "root_gap": 1 - found.root_bound / objective,
        "gap": found.gap,
        "nodes": found.n_nodes,
        "open": found.n_open,
        "seconds": found.seconds,
        "fixed": found.root_fixed,
        "error": wrong,
        "status": found.status,
        "this_run": time.perf_counter() - began,
    }


def report(rows):
    """The table."""
    results = Results(
        "exact", "Exact solutions with open solvers: 10 minutes at most, up to an hour for what comes close"
    )
    results(__doc__.split("\n\n")[3].strip(), "")
    results.table("instance", "labelled", "kernel", "C", "SVM gap, %", "root gap, %", "final gap, %", "nodes", "s",
                  "labels proven at the root", "error, %")  # fmt: skip
    for key, row in rows.items():
        name, share = key.split()[:2]
        results.row(
            f"{name}, n = {row['n']}", f"{float(share):.0%}", row["kernel"], f"{row['C']:.3g}",
            *(f"{100 * row[part]:.3g}" for part in ("svm_gap", "root_gap", "gap")), row["nodes"],
            f"{row['seconds']:.0f}", f"{row['fixed']} of {row['n'] - row['labelled']}", f"{100 * row['error']:.1f}",
        )  # fmt: skip
    closed = sum(row["gap"] <= GAP * (1 + 1e-6) for row in rows.values())
    results("", f"{closed} of {len(rows)} instances closed to {GAP:.1%}.")
    results.done()


def main():
    """All instances that are not done yet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=600.0, help="seconds an instance (default: 600)")
    parser.add_argument("--only", nargs="*", default=SETS, choices=SETS, help="some of the sets")
    parser.add_argument("--shares", type=float, nargs="*", default=SHARES, choices=SHARES, help="some of the shares")
    parser.add_argument("--kernels", nargs="*", default=KERNELS, choices=KERNELS, help="the better aligned, the other")
    parser.add_argument("--jobs", type=int, default=2, help="dives side by side (default: 2)")
    parser.add_argument("--work", default=str(HERE / ".exact"), help="folder for checkpoints")
    options = parser.parse_args()
    Path(options.work).mkdir(exist_ok=True)
    store = HERE / "results" / "exact_runs.json"
    todo = [(name, share, False) for name in SETS for share in SHARES]
    todo += [(name, share, True) for name in BOTH_KERNELS for share in SHARES]
    for name, share, other in todo:
        rows = json.loads(store.read_text()) if store.exists() else {}
        key = key_of(name, share, other)
        if (
            name not in options.only
            or share not in options.shares
            or KERNELS[other] not in options.kernels
            or (key in rows and rows[key]["seconds"] >= 0.99 * options.limit)
            or (key in rows and rows[key]["status"] == "optimal")
        ):
            continue
        row = solve(name, share, other, options.limit, options.work, options.jobs)
        print(key, row, flush=True)
        rows = json.loads(store.read_text()) if store.exists() else {}
        rows[key] = row
        keys = [key_of(*one) for one in todo]
        store.write_text(json.dumps({known: rows[known] for known in keys if known in rows}, indent=1) + "\n")
    if store.exists():
        report(json.loads(store.read_text()))


def key_of(name, share, other):
    """What a row is kept under."""
    return f"{name} {share}{' other' if other else ''}"


if __name__ == "__main__":
    main()
