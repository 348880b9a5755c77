"""Which solver for which linear problem: seconds of ours over a grid of shapes, beside liblinear and ReHLine.

    python benchmarks/linear_solvers.py                 what is missing
    python benchmarks/linear_solvers.py --report        the tables of what there is
    python benchmarks/linear_solvers.py --once text 10000 1000 hinge     one cell, nothing kept

The SVMs have no bias, all labels, and the same objective in all programs; the TSVM has a bias, a balance and 5 %
labels, and no peer.  Ours are asked for a relative duality gap of 1e-3.  The peers have the loosest of their tolerances
with which their objective is at most 1e-3 above the best that is known (to their advantage: it is not known before).
Seconds are of the processor, with one thread, in one process, in turn; the median of a few runs.  Needs the extra
"test" (ReHLine).  Finished cells are in results/linear_solvers.csv, one a line, and are never computed again.
"""

import argparse
import os
import sys
import time
import warnings
from dataclasses import asdict, dataclass
from functools import partial

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything loads BLAS

import numpy as np
import scipy.sparse as sp
from common import HERE, machine
from document import Document
from rehline import plqERM_Ridge
from scipy.stats import norm
from sklearn.svm import LinearSVC
from store import Keyed, compute, finished

import convex_tsvm as ct
from convex_tsvm.losses import hinge, squared_hinge

RESULTS = HERE / "results"

#: Seconds after which one of our solvers is not waited for, and seconds that repeated runs of a program take in all.
LIMIT, REPEATED = 20.0, 1.0

#: The relative duality gap that ours are asked for, and how far above the best objective a peer may be.
TOL = 1e-3

#: Tolerances of the peers, from loose to tight.
PEERS_TOL = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5)

OURS, PEERS = ("native", "finite_newton", "coordinates", "auto"), ("liblinear", "rehline")

#: Losses, as the peers and we know them, and C.
LOSSES = {"hinge": ("hinge", 1.0), "hinge, C = 100": ("hinge", 100.0), "squared hinge": ("squared_hinge", 1.0),
          "ramp": ("ramp", 1.0)}  # fmt: skip

#: n and d of dense and of sparse points.
DENSE = [(100, 5), (100, 50), (100, 500), (100, 5000), (100, 100_000), (1000, 5), (1000, 50), (1000, 500), (1000, 5000),
         (10_000, 5), (10_000, 50), (10_000, 500), (100_000, 5), (100_000, 50)]  # fmt: skip
TEXT = [(n, d) for n in (100, 1000, 10_000, 100_000) for d in (1000, 10_000, 100_000)]

#: Share of labels of the TSVM.
LABELLED = 0.05

FIGURES = (*OURS, *PEERS, "closed", "excess")


@dataclass(frozen=True)
class Cell(Keyed):
    """One problem.

    Attributes
    ----------
    data : {"dense", "text"}
    n, d : int
    loss : str
        Key of ``LOSSES``.
    """

    data: str
    n: int
    d: int
    loss: str


def cells():
    """The grid."""
    shapes = [("dense", *shape) for shape in DENSE] + [("text", *shape) for shape in TEXT]
    for data, n, d in shapes:
        for loss in LOSSES:
            yield Cell(data, n, d, loss)


def points(cell):
    """Points and their signs: two Gaussians with a Bayes error of 10 %, or documents of two topics, of length 1."""
    rng = np.random.default_rng([cell.n, cell.d])
    y = np.resize([1.0, -1.0], cell.n)
    if cell.data == "dense":
        return rng.standard_normal((cell.n, cell.d)) + y[:, None] * norm.isf(0.1) / np.sqrt(cell.d), y
    frequency = 1.0 / np.arange(10, cell.d + 10)
    topics = {sign: frequency * np.exp(0.5 * rng.normal(size=cell.d)) for sign in (1.0, -1.0)}
    words = np.empty((cell.n, 60), dtype=np.int64)
    for sign, topic in topics.items():
        own = y == sign
        words[own] = np.searchsorted(np.cumsum(topic / topic.sum()), rng.random((own.sum(), 60))).clip(0, cell.d - 1)
    X = sp.csr_matrix((np.ones(words.size), words.ravel(), np.arange(0, words.size + 1, 60)), shape=(cell.n, cell.d))
    X.sum_duplicates()
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags_array(1 / lengths) @ X), y


def problem_of(cell, X, y):
    """The formulation and the problem."""
    loss, C = LOSSES[cell.loss]
    if loss == "ramp":
        labels = np.zeros(cell.n)
        known = max(2, round(LABELLED * cell.n))
        labels[:known] = y[:known]
        return ct.tsvm("ramp"), ct.Problem(X, labels, kernel="linear", C=C, C_unlabeled=0.1 * C, balance=0.0)
    plain = {"hinge": hinge, "squared_hinge": squared_hinge}[loss]
    formulation = ct.Formulation(plain(), None, balance=None, fit_intercept=False)
    return formulation, ct.Problem(X, y, kernel="linear", C=C, C_unlabeled=None)


def timed(function):
    """Median processor seconds of a few runs (one, if it is long), and what the last one returned."""
    times = []
    while not times or (sum(times) < REPEATED and len(times) < 5):
        began = time.process_time()
        found = function()
        times.append(time.process_time() - began)
    return float(np.median(times)), found


def objective_of(cell, X, y, w):
    """The objective of an SVM without a bias."""
    loss, C = LOSSES[cell.loss]
    slack = np.maximum(0.0, 1.0 - y * (X @ w))
    return 0.5 * float(w @ w) + C * float((slack if loss == "hinge" else slack**2).sum())


def peer_runs(name, cell, X, y):
    """Functions that train a peer, by tolerance from loose to tight, and give w."""
    loss, C = LOSSES[cell.loss]
    visits = int(min(100_000, max(100, LIMIT * 1e9 / X.size)))
    if name == "rehline":
        dense = X.toarray() if sp.issparse(X) else X
        named = {"hinge": "svm", "squared_hinge": "squared SVM"}[loss]
        for tol in PEERS_TOL:
            model = plqERM_Ridge(loss={"name": named}, C=C, tol=tol, max_iter=visits)
            yield lambda model=model: model.fit(dense, y).coef_
        return
    for tol in PEERS_TOL:
        for dual in (True,) if loss == "hinge" else (True, False):
            model = LinearSVC(loss=loss, C=C, dual=dual, fit_intercept=False, tol=tol, max_iter=visits)
            yield lambda model=model: model.fit(X, y).coef_.ravel()


def run(cell):
    """Seconds of all programs; NaN where one does not apply, or has not finished."""
    X, y = points(cell)
    formulation, problem = problem_of(cell, X, y)
    found = {**asdict(cell), **dict.fromkeys(FIGURES, np.nan)}
    objectives, closed = {}, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in OURS:
            ct.cccp(formulation, problem, solver=name, tol=TOL, time_limit=0.01)  # what has to be compiled
            solve = partial(ct.cccp, formulation, problem, solver=name, tol=TOL, time_limit=LIMIT)
            seconds, solution = timed(solve)
            if solution.status == "converged":
                found[name], closed = seconds, closed + 1
            objectives[name] = solution.objective
        best = min(objectives.values())
        found["excess"] = objectives["auto"] / best - 1
        if LOSSES[cell.loss][0] == "ramp":
            return {**found, "closed": float(closed)}
        for name in PEERS:
            if name == "rehline" and cell.n * cell.d > 2e7:
                continue  # it takes dense points only
            for train in peer_runs(name, cell, X, y):
                began = time.process_time()
                w = train()
                seconds = time.process_time() - began
                if objective_of(cell, X, y, np.asarray(w)) <= (1 + TOL) * best:
                    found[name] = np.nanmin([found[name], timed(train)[0]])
                    if name == "rehline" or LOSSES[cell.loss][0] == "hinge":
                        break
                if seconds > LIMIT:
                    break
    return {**found, "closed": float(closed)}


def say(count, total, spent, found):
    """A line a cell."""
    times = ", ".join(f"{name} {found[name]:.4f}" for name in (*OURS, *PEERS))
    print(f"{count} of {total}, {spent:.1f} min: {found['data']} {found['n']} × {found['d']}, {found['loss']}: {times}",
          flush=True)  # fmt: skip


def report(known):
    """The table, and how often the choice is right and ahead of peers."""
    out = Document("linear_solvers", "Linear problems: which solver for which shape")
    out.text(f"`python benchmarks/linear_solvers.py` on {machine()}")
    out.text(" ".join(__doc__.split("\n\n")[2].split()))
    out.table("points", "n", "d", "loss", *OURS, *PEERS, "auto / best of ours", "auto / best peer")
    ratios, ahead = [], []
    for cell in cells():
        if cell.key not in known:
            continue
        found = known[cell.key]
        best = np.nanmin([found[name] for name in OURS])
        peers = [found[name] for name in PEERS if np.isfinite(found[name])]
        ratios.append(found["auto"] / best)
        if LOSSES[cell.loss][0] != "ramp":
            ahead.append(not peers or found["auto"] < min(peers))
        seconds = [f"{found[name]:.4g}" if np.isfinite(found[name]) else "–" for name in (*OURS, *PEERS)]
        beside = f"{found['auto'] / min(peers):.2f}" if peers else "–"
        out.row(cell.data, cell.n, cell.d, cell.loss, *seconds, f"{ratios[-1]:.2f}", beside)
    out.text("Seconds; – where a program did not reach the tolerance in its time, or takes no such points.")
    within = int(np.sum(np.array(ratios) <= 1.5))
    out.facts = {"cells": len(ratios), "within": within, "compared": len(ahead), "ahead": int(sum(ahead))}
    out.text(
        f"auto is within 1.5 times of the best of ours in {within} of {len(ratios)} cells, and ahead of both peers in "
        f"{sum(ahead)} of the {len(ahead)} they take part in."
    )
    print(out.save().read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="store_true", help="compute nothing")
    parser.add_argument("--once", nargs=4, metavar=("DATA", "N", "D", "LOSS"), help="run one cell and keep nothing")
    options = parser.parse_args()
    path = RESULTS / "linear_solvers.csv"
    if options.once:
        data, n, d, loss = options.once
        chosen = [
            cell
            for cell in cells()
            if data in ("all", cell.data)
            and n in ("all", str(cell.n))
            and d in ("all", str(cell.d))
            and loss in ("all", cell.loss)
        ]
        for count, cell in enumerate(chosen, 1):
            say(count, len(chosen), 0.0, run(cell))
        return
    if not options.report:
        known = finished(Cell, path)
        missing = [cell for cell in cells() if cell.key not in known]
        if missing:
            compute(run, missing, FIGURES, 1, path, say)
    report(finished(Cell, path))


if __name__ == "__main__":
    sys.exit(main())
