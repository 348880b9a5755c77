"""A map of the native path's corners: seconds of a TSVM as a multiple of libsvm's plain SVM on the same points.

    python benchmarks/corners.py                 what is missing
    python benchmarks/corners.py --sizes 2000    some sizes
    python benchmarks/corners.py --report        the table and the picture of what there is
    python benchmarks/corners.py --once "sparse binary" 4000     one row of the map, nothing kept

libsvm solves the SVM of all points with all their labels, with the same kernel and C: the same matrix, once, without
anything to be found out.  Both run in one process with one thread, in turn; seconds are of the processor.  Finished
cells are in results/corners.csv, one a line, and are never computed again.
"""

import argparse
import itertools
import os
import sys
import time
import warnings
from dataclasses import asdict, dataclass

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything loads BLAS

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from common import HERE
from document import Document
from sklearn.svm import SVC
from store import Keyed, compute, finished

import convex_tsvm as ct
from convex_tsvm.deadline import until

RESULTS = HERE / "results"

#: A cell ends after this many seconds, or this many times libsvm's, whichever is later.
LIMIT, MOST = 60.0, 100.0

#: The targets of the map: no ratio above, and their median.  Ratios count where libsvm takes ``COUNTS_FROM`` seconds;
#: below that a ratio says little, and the TSVM is to take ``SHORT`` seconds at most.
WORST, MEDIAN, COUNTS_FROM, SHORT = 30.0, 3.0, 0.05, 0.5


@dataclass(frozen=True)
class Cell(Keyed):
    """One TSVM.

    Attributes
    ----------
    data : str
        Key of ``DATA``.
    n : int
    positive : float
        Share of positive points.
    setting : str
        Key of ``SETTINGS``.
    """

    data: str
    n: int
    positive: float
    setting: str


#: What is varied: labelled points (a number, or a share of n), C, C* (as a problem takes it, or a share of C), width of
#: the kernel as a factor of the median distance, balance.
SETTINGS = {
    "defaults": {},
    "no balance": {"balance": None},
    "C* = C": {"C_unlabeled": 1.0},
    "C* balanced": {"C_unlabeled": "balanced"},
    "C* balanced, few labels": {"C_unlabeled": "balanced", "labels": 50},
    "few labels": {"labels": 50},
    "C = 100": {"C": 100.0},
    "C = 0.1": {"C": 0.1},
    "narrow kernel": {"width": 0.2},
    "wide kernel": {"width": 5.0},
    "squared hinge": {"loss": "squared_hinge"},
}

FIGURES = ("libsvm", "seconds", "ratio", "free", "steps", "converged")

SIZES = (1000, 4000, 16000)

POSITIVE = (0.5, 0.1, 0.03, 0.01)


def _separated(X, positive, rng, noise=0.3):
    """Signs by a linear function of the points with noise, so many of them positive."""
    X = X.toarray() if sp.issparse(X) else X
    scores = (X - X.mean(axis=0)) @ rng.normal(size=X.shape[1])
    scores += noise * scores.std() * rng.normal(size=len(X))
    return np.where(scores > np.quantile(scores, 1 - positive), 1.0, -1.0)


def _sparse_binary(n, positive, rng):
    X = sp.random_array((n, 300), density=0.05, rng=rng, format="csr")
    X.data[:] = 1.0
    return X, _separated(X, positive, rng)


def _dense_binary(n, positive, rng):
    X, y = _sparse_binary(n, positive, rng)
    return X.toarray(), y


def _few_bits(n, positive, rng):
    """Twelve binary features: most points are there many times."""
    X = (rng.random((n, 12)) < 0.3).astype(float)
    return X, _separated(X, positive, rng)


def _duplicates(n, positive, rng):
    """Every point ten times, each with a label of its own."""
    few = rng.normal(size=(n // 10, 20))
    X = np.repeat(few, 10, axis=0)[rng.permutation(10 * (n // 10))]
    return X, _separated(X, positive, rng)


def _gaussians(n, positive, rng):
    """Two Gaussians in fifty dimensions."""
    y = np.where(np.arange(n) < max(2, round(positive * n)), 1.0, -1.0)[rng.permutation(n)]
    return rng.normal(size=(n, 50)) + 0.25 * y[:, None], y


def _moons(n, positive, rng):
    """Two moons with noise: a kernel of low rank."""
    y = np.where(np.arange(n) < max(2, round(positive * n)), 1.0, -1.0)[rng.permutation(n)]
    angle = np.pi * rng.random(n)
    X = np.column_stack([np.cos(angle) * y + (y < 0), np.sin(angle) * y + 0.5 * (y < 0)])
    return X + 0.15 * rng.normal(size=X.shape), y


def _unscaled(n, positive, rng):
    """Features whose scales differ by ten thousand."""
    X = rng.normal(size=(n, 20)) * 10.0 ** rng.uniform(-2, 2, 20)
    return X, _separated(X, positive, rng)


def _far(n, positive, rng):
    """Gaussians far from the origin."""
    X, y = _gaussians(n, positive, rng)
    return X + 1000.0, y


def _documents(n, positive, rng):
    """Sparse points of norm 1, words by a power law, two topics."""
    y = np.where(np.arange(n) < max(2, round(positive * n)), 1.0, -1.0)[rng.permutation(n)]
    frequency = 1.0 / np.arange(1, 5001)
    topics = {sign: frequency * np.exp(rng.normal(size=5000)) for sign in (1.0, -1.0)}
    rows = [rng.choice(5000, 60, p=topics[sign] / topics[sign].sum()) for sign in y]
    X = sp.csr_matrix((np.ones(60 * n), np.concatenate(rows), np.arange(0, 60 * n + 1, 60)), shape=(n, 5000))
    X.sum_duplicates()
    return sp.csr_array(sp.diags_array(1 / np.sqrt(X.multiply(X).sum(axis=1).A1)) @ X), y


DATA = {
    "sparse binary": _sparse_binary,
    "dense binary": _dense_binary,
    "few bits": _few_bits,
    "duplicates": _duplicates,
    "Gaussians": _gaussians,
    "moons": _moons,
    "unscaled": _unscaled,
    "far": _far,
    "documents": _documents,
}


def median_distance(X):
    """Of pairs of some points."""
    some = X[: min(300, X.shape[0])]
    some = some.toarray() if sp.issparse(some) else some
    squares = ((some[:, None] - some[None]) ** 2).sum(axis=2)
    return float(np.sqrt(np.median(squares[np.triu_indices(len(some), 1)]))) or 1.0


def cells(data=tuple(DATA), sizes=SIZES):
    """Every data set with every share at the middle size and the settings that matter most; the rest one at a time."""
    for name, n in itertools.product(data, sizes):
        if n == 16000 and name not in ("sparse binary", "Gaussians", "documents", "few bits"):
            continue
        for positive in POSITIVE:
            for setting in ("defaults", "no balance", "C* balanced", "C* = C"):
                if n != 16000 or setting == "defaults":
                    yield Cell(name, n, positive, setting)
        for setting in SETTINGS:
            for positive in (0.5, 0.03):
                if n != 16000:
                    yield Cell(name, n, positive, setting)


def problem_of(cell):
    """The points, all their signs, the problem, and its loss."""
    asked = {"labels": cell.n // 2, "C": 10.0, "C_unlabeled": 0.1, "width": 1.0, "balance": "labeled", "loss": "ramp"}
    asked |= SETTINGS[cell.setting]
    rng = np.random.default_rng([cell.n, round(1000 * cell.positive)])
    X, truth = DATA[cell.data](cell.n, cell.positive, rng)
    labeled = rng.permutation(len(truth))[: asked["labels"]]
    # Few labels of few positives: one of each class at least.
    labeled = np.union1d(labeled, [np.argmax(truth), np.argmin(truth)])
    y = np.zeros(len(truth))
    y[labeled] = truth[labeled]
    kernel = ct.RBF(sigma=asked["width"] * median_distance(X))
    cost = asked["C_unlabeled"]
    problem = ct.Problem(
        X,
        y,
        kernel=kernel,
        C=asked["C"],
        C_unlabeled=cost if isinstance(cost, str) else cost * asked["C"],
        balance=asked["balance"],
    )
    return X, truth, problem, asked["loss"]


def run(cell):
    """Seconds of both, and what the TSVM was like."""
    X, truth, problem, loss = problem_of(cell)
    began = time.process_time()
    SVC(C=float(problem.cost.max()), gamma=problem.kernel.gamma, cache_size=1000).fit(X, truth)
    libsvm = time.process_time() - began
    options = {"balance": None if problem.balance is None else "linear"} | ({"s": -0.3} if loss == "ramp" else {})
    model = ct.tsvm(loss, **options)
    began = time.process_time()
    with warnings.catch_warnings(), until(time.time() + max(LIMIT, MOST * libsvm)):
        warnings.simplefilter("ignore")
        solution = ct.cccp(model, problem, cache_size=1000)
    seconds = time.process_time() - began
    low, high = solution.step.step.bounds()
    gamma = solution.step.gamma
    free = int(((gamma > low + 1e-9) & (gamma < high - 1e-9)).sum())
    return {
        **asdict(cell),
        "libsvm": libsvm,
        "seconds": seconds,
        "ratio": seconds / libsvm,
        "free": float(free),
        "steps": float(len(solution.history)),
        "converged": float(solution.status == "converged"),
    }


def compile_all():
    """What an easy cell and a hard one compile."""
    run(Cell("Gaussians", 1000, 0.5, "defaults"))
    run(Cell("moons", 1000, 0.01, "C* = C"))
    run(Cell("few bits", 1000, 0.03, "C* balanced"))


def say(count, total, spent, found):
    """A line a cell."""
    print(
        f"{count} of {total}, {spent:.1f} min: {found['data']}, n = {found['n']}, {found['positive']:.0%} positive, "
        f"{found['setting']}: {found['seconds']:.2f} s, {found['ratio']:.1f} times libsvm's, {found['free']:.0f} free"
        f"{'' if found['converged'] else ' (not converged)'}",
        flush=True,
    )


def report(known):
    """The table, by data and setting, and the heat map."""
    by_key = {Cell(key[0], int(key[1]), float(key[2]), key[3]): figures for key, figures in known.items()}
    ended = [cell for cell in by_key if not by_key[cell]["converged"]]
    out = Document("corners", "Corners of the native path")
    out.text(
        "`python benchmarks/corners.py`, from `results/corners.csv`: processor seconds of a TSVM (ramp, s = -0.3; half",
        "of the points labelled, C = 10, C* = C / 10, a kernel as wide as the median distance, the balance of the",
        "labels, if nothing else is said) as multiples of libsvm's for the SVM of all labels; one thread.  A ratio",
        f"counts where libsvm takes {COUNTS_FROM:g} s or more (target: {WORST:g} at most, median {MEDIAN:g}); cells",
        f"where it takes less are judged by their own seconds (target: {SHORT:g} at most).  {len(by_key)} cells,",
        f"{len(ended)} not converged.",
    )
    out.picture("heat map", "corners.png")
    out.table(
        "n", "cells that count", "median", "worst", "above", "short cells", "longest, s", "longer", "median of all"
    )
    for n in sorted({cell.n for cell in by_key}):
        out.row(n, *summary([figures for cell, figures in by_key.items() if cell.n == n]))
    out.heading("The worst that count")
    worst_cells(out, {cell: f for cell, f in by_key.items() if f["libsvm"] >= COUNTS_FROM}, "ratio")
    out.heading("The longest of the others")
    worst_cells(out, {cell: f for cell, f in by_key.items() if f["libsvm"] < COUNTS_FROM}, "seconds")
    shown = max((cell.n for cell in by_key if cell.n != 16000), default=SIZES[0])
    out.heading(f"Every data set, n = {shown}")
    heads = [(positive, setting) for positive in (0.5, 0.03) for setting in SETTINGS]
    out.table("", *(f"{setting}, {positive:.0%}" for positive, setting in heads))
    for name in DATA:
        row = [by_key.get(Cell(name, shown, positive, setting)) for positive, setting in heads]
        out.row(name, *("–" if f is None else f"{f['ratio']:.1f}" for f in row))
    out.save()
    draw(by_key)


def summary(cells):
    """Number, median and worst of the ratios that count, and how many miss the target; the same of short cells."""
    counting = np.array([f["ratio"] for f in cells if f["libsvm"] >= COUNTS_FROM])
    short = np.array([f["seconds"] for f in cells if f["libsvm"] < COUNTS_FROM])
    median = f"{np.median([f['ratio'] for f in cells]):.1f}"
    first = (len(counting), "–", "–", 0)
    if len(counting):
        first = (len(counting), f"{np.median(counting):.1f}", f"{counting.max():.1f}", int((counting > WORST).sum()))
    return (*first, len(short), f"{short.max(initial=0):.2f}", int((short > SHORT).sum()), median)


def worst_cells(out, by_key, what):
    """A table of the cells with most of something."""
    out.table("data", "n", "positive", "setting", "libsvm, s", "seconds", "ratio", "free variables", "steps")
    for cell in sorted(by_key, key=lambda cell: -by_key[cell][what])[:20]:
        f = by_key[cell]
        figures = (f"{f['libsvm']:.3f}", f"{f['seconds']:.2f}", f"{f['ratio']:.1f}", int(f["free"]), int(f["steps"]))
        out.row(cell.data, cell.n, f"{cell.positive:.0%}", cell.setting, *figures)


def draw(by_key):
    """Ratios as colours: data by settings, a panel a size."""
    sizes = [n for n in SIZES if any(cell.n == n for cell in by_key) and n != 16000]
    heads = [(positive, setting) for positive in (0.5, 0.03) for setting in SETTINGS]
    figure, panels = plt.subplots(len(sizes), 1, figsize=(13, 4.6 * len(sizes)), layout="constrained", squeeze=False)
    for axes, n in zip(panels.flat, sizes, strict=True):
        values = np.full((len(DATA), len(heads)), np.nan)
        for i, name in enumerate(DATA):
            for j, (positive, setting) in enumerate(heads):
                found = by_key.get(Cell(name, n, positive, setting))
                if found is not None:
                    values[i, j] = found["ratio"]
                    axes.text(j, i, f"{found['ratio']:.1f}", ha="center", va="center", fontsize="x-small")
        drawn = axes.imshow(np.log10(values), cmap="RdYlGn_r", vmin=-0.5, vmax=2.0, aspect="auto")
        axes.set_yticks(range(len(DATA)), DATA)
        axes.set_xticks(range(len(heads)), [f"{setting}, {p:.0%}" for p, setting in heads], rotation=45, ha="right")
        axes.set_title(f"n = {n}")
        bar = figure.colorbar(drawn, ax=axes, label="times libsvm's SVM")
        bar.set_ticks([0, 1, 2], labels=["1", "10", "100"])
    figure.savefig(RESULTS / "corners.png", dpi=110)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", help="comma-separated")
    parser.add_argument("--data", help="comma-separated")
    parser.add_argument("--report", action="store_true", help="compute nothing")
    parser.add_argument("--once", nargs=2, metavar=("DATA", "N"), help="run one row of the map and keep nothing")
    options = parser.parse_args()
    path = RESULTS / "corners.csv"
    if options.once:
        some = list(dict.fromkeys(cells((options.once[0],), (int(options.once[1]),))))
        compile_all()
        for count, cell in enumerate(some, 1):
            say(count, len(some), 0.0, run(cell))
        return
    if not options.report:
        sizes = SIZES if options.sizes is None else tuple(int(n) for n in options.sizes.split(","))
        data = tuple(DATA) if options.data is None else tuple(options.data.split(","))
        known = finished(Cell, path)
        missing = [cell for cell in dict.fromkeys(cells(data, sizes)) if cell.key not in known]
        if missing:
            compile_all()
            compute(run, missing, FIGURES, 1, path, say)
    report(finished(Cell, path))


if __name__ == "__main__":
    sys.exit(main())
