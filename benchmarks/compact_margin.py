"""Dai and Niu (2010), Table 1: the Compact Margin Machine beside its rivals, with labels drawn in two ways.

    python benchmarks/compact_margin.py [--minutes 60] [--report]

MNIST, 8 against 9: 5 to 200 labelled points a class, 400, 600 and 800 unlabelled ones from the training part, accuracy
on the test part.  The text set of the book "Semi-Supervised Learning" (2006) stands for TDT2: 300 and 600 unlabelled
points, accuracy on the rest.  Ten trials, mean ± standard error.  Labels are drawn per class, as in the paper, or as
many at random with both classes among them, as a user has them; every method takes the balance from the labels.

Parameters by cross-validation on the labelled points only, in at most five folds; a held-out point joins the unlabelled
ones.  The SVM chooses kernel width and C, and all others take them; what else a method has is chosen for it in the same
way, the first of the best.  TSVM (hinge), TSVM (ramp) and CMM have eight candidates each: for all of them C* is CL/U or
C, for the ramp s is -0.3, 0, -0.1 or -0.5, for the hinge there is annealing or none, and C* is also C/10 or C/3, for
CMM ε is 1 or 1.5 and C₃ / C* is 1 or 0.1.  For RMM ε is chosen, for RMM+ ε and C₂, for LapSVM the graph's weight.
CMM (default) has C and C* of its own and nothing to choose but the kernel width.  LDA and kernel LDA have Ledoit and
Wolf's shrinkage, the latter (and LDA on text, whose covariance would be too large) on all kernel principal components.
RMM is the supervised one (Shivaswamy and Jebara 2008), as in the paper, RMM+ its semi-supervised extension (eq. 9).
Finished runs are in results/compact_margin.csv, one a line, and are never computed again.
"""

import itertools
import os
import time
import warnings
from dataclasses import asdict, dataclass
from functools import lru_cache

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from common import DATA, HERE, load
from document import Cell, Document
from sklearn.decomposition import KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from store import Keyed, resume

import convex_tsvm as ct

#: The paper's accuracies: labels a class, then by method and number of unlabelled points.
PAPER = {
    "MNIST": {
        "labels": (5, 10, 20, 40, 50, 100, 200),
        "SVM": (71.19, 89.76, 92.36, 94.12, 94.41, 95.32, 95.50),
        "LDA": (84.31, 89.34, 92.13, 93.16, 92.85, 93.23, 93.84),
        "RMM": (84.62, 89.90, 92.58, 94.43, 94.81, 95.95, 96.13),
        ("TSVM", 400): (87.18, 93.54, 95.11, 95.15, 95.20, 95.23, 95.50),
        ("LapSVM", 400): (88.83, 91.68, 93.22, 94.52, 94.63, 95.11, 95.50),
        ("CMM", 400): (88.29, 93.80, 95.07, 95.60, 95.76, 96.10, 96.13),
        ("TSVM", 600): (90.32, 93.59, 94.76, 95.20, 95.26, 95.72, 96.22),
        ("LapSVM", 600): (91.23, 92.31, 93.50, 94.33, 94.69, 95.39, 96.47),
        ("CMM", 600): (90.73, 94.62, 95.27, 95.83, 96.01, 96.33, 96.72),
        ("TSVM", 800): (94.52, 93.86, 94.65, 95.41, 95.45, 96.12, 96.42),
        ("LapSVM", 800): (92.13, 93.44, 94.13, 95.00, 95.20, 95.87, 96.67),
        ("CMM", 800): (91.37, 94.99, 95.70, 96.10, 96.31, 96.63, 96.89),
    },
    "text": {"labels": (5, 15, 50, 150)},
}

#: Labels a class, numbers of unlabelled points, and kernels the SVM chooses from.
SETS = {
    "MNIST": ((5, 10, 20, 40, 50, 100, 200), (400, 600, 800), [("rbf", gamma) for gamma in (0.005, 0.01, 0.02)]),
    "text": ((5, 15, 50, 150), (300, 600), [("linear", 1.0), ("rbf", 0.5)]),
}
DRAWN = ("per class", "at random")
TRIALS = 10
#: With more than these, LDA is on principal components.
MANY_FEATURES = 2000
SUPERVISED = ("SVM", "LDA", "kernel LDA", "RMM")
SEMI_SUPERVISED = ("TSVM", "TSVM (ramp)", "LapSVM", "RMM+", "CMM", "CMM (default)")
METHODS = SUPERVISED + SEMI_SUPERVISED


@lru_cache
def mnist():
    """Points of the training part and of the test part."""
    file = np.load(DATA / "mnist.npz")
    chosen = np.isin(file["y"], (8, 9))
    X, y = file["X"][chosen].astype(float) / 255, np.where(file["y"][chosen] == 8, 0, 1)
    n_train = int(chosen[: int(file["n_train"])].sum())
    return (X[:n_train], y[:n_train]), (X[n_train:], y[n_train:])


@lru_cache
def text():
    """All points, to be divided in every trial."""
    X, y, _ = load("ssl_text", "labeled10")
    return (X, (y == y.max()).astype(int)), None


def chooses(method, kernel, C, balanced):
    """A classifier and the candidates that it chooses from, the plainest first; ``balanced`` is C L / U."""
    shared = {"kernel": kernel[0], "gamma": kernel[1], "C": C}
    costs = (balanced, C)
    if method == "RMM":
        hard = ct.RelativeMarginClassifier(**shared, C_compact=np.inf, semi_supervised=False)
        return hard, [{"epsilon": e} for e in (2.0, 1.5, 1.0)]
    if method == "TSVM":
        pairs = itertools.product((None, 10), (*costs, C / 10, C / 3))
        return ct.TransductiveSVC(**shared, loss="hinge"), [{"C_unlabeled": c, "annealing": a} for a, c in pairs]
    if method == "TSVM (ramp)":
        pairs = itertools.product((-0.3, 0.0, -0.1, -0.5), costs)
        return ct.TransductiveSVC(**shared), [{"C_unlabeled": c, "s": s} for s, c in pairs]
    if method == "LapSVM":
        return ct.LaplacianSVC(**shared), [{"C_manifold": weight} for weight in (1.0, 10.0, 0.1)]
    if method == "RMM+":
        pairs = itertools.product((balanced, 0.1 * C), (1.0, 1.5))
        return ct.RelativeMarginClassifier(**shared), [{"C_compact": c, "epsilon": e} for c, e in pairs]
    if method == "CMM (default)":
        return ct.CompactMarginClassifier(kernel=kernel[0], gamma=kernel[1]), [{}]
    triples = itertools.product(costs, (1.0, 1.5), (1.0, 0.1))
    return ct.CompactMarginClassifier(**shared, s=0.0), [
        {"C_unlabeled": c, "C_compact": share * c, "epsilon": e} for c, e, share in triples
    ]


def choose(estimator, candidates, X, y, folds):
    """The first with the most held-out labelled points right, fitted to all."""
    hits = np.zeros(len(candidates))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, candidate in enumerate(candidates if len(candidates) > 1 else ()):
            estimator.set_params(**candidate)
            for left, held in enumerate(folds):
                # It is out if it could not be the first any more, were it right at all points to come.
                to_come = sum(len(others) for others in folds[left:])
                if k and hits[k] + to_come <= hits[:k].max():
                    break
                masked = y.copy()
                masked[held] = -1
                hits[k] += (estimator.fit(X, masked).transduction_[held] == y[held]).sum()
        return estimator.set_params(**candidates[int(hits.argmax())]).fit(X, y)


@dataclass(frozen=True)
class Run(Keyed):
    """One method on one trial: labels a class (on average), unlabelled points (0 for methods that need none)."""

    data: str
    drawn: str
    n_labeled: int
    n_unlabeled: int
    split: int
    method: str


def drawn_labels(truth, run, random):
    """Places of the labelled points."""
    if run.drawn == "per class":
        return np.concatenate([random.permutation(np.flatnonzero(truth == k))[: run.n_labeled] for k in (0, 1)])
    order = random.permutation(len(truth))
    first = [order[truth[order] == k][0] for k in (0, 1)]
    return np.concatenate([first, np.setdiff1d(order, first, assume_unique=True)[: 2 * run.n_labeled - 2]])


def run_one(run):
    """The run with its error, in % of the test points."""
    began, (_, sizes, kernels) = time.perf_counter(), SETS[run.data]
    (X, truth), test = {"MNIST": mnist, "text": text}[run.data]()
    random = np.random.default_rng(run.split)
    labeled = drawn_labels(truth, run, random)
    others = random.permutation(np.setdiff1d(np.arange(len(truth)), labeled))
    X_test, y_test = test if test is not None else (X[others[max(sizes) :]], truth[others[max(sizes) :]])
    known, y_known = X[labeled], truth[labeled]
    n_folds = max(2, min(5, np.bincount(y_known).min()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class may have a single label
        folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=run.split).split(labeled, y_known))
    folds = [(train, held) for train, held in folds if len(np.unique(y_known[train])) == 2]
    grid = [{"kernel": [kind], "gamma": [gamma], "C": [1.0, 10.0, 100.0]} for kind, gamma in kernels]
    svm = GridSearchCV(SVC(), grid, cv=folds).fit(known, y_known)
    kernel, C = (svm.best_params_["kernel"], svm.best_params_["gamma"]), svm.best_params_["C"]
    if run.method == "SVM":
        model = svm
    elif run.method in ("LDA", "kernel LDA"):
        model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        if run.method == "kernel LDA" or X.shape[1] > MANY_FEATURES:
            pca = KernelPCA(kernel="linear" if run.method == "LDA" else kernel[0], gamma=kernel[1])
            model = make_pipeline(pca, model)
        model = model.fit(known, y_known)
    else:
        size = run.n_unlabeled or sizes[0]
        chosen = np.concatenate([labeled, others[:size]])
        y = np.concatenate([y_known, np.full(size, -1)])
        estimator, candidates = chooses(run.method, kernel, C, len(labeled) * C / size)
        model = choose(estimator, candidates, X[chosen], y, [held for _, held in folds])
    error = 100 * float((model.predict(X_test) != y_test).mean())
    return {**asdict(run), "error": error, "seconds": time.perf_counter() - began}


# --- the report -------------------------------------------------------------------------------------------------------


def write_report(known):
    """All that is known, the paper's figures below ours."""
    out = Document("compact_margin", "The Compact Margin Machine and its rivals: accuracy in %")
    for paragraph in __doc__.split("\n\n", 2)[2].strip().split("\n\n"):
        out.text(paragraph)
    for data, drawn in itertools.product(SETS, DRAWN):
        _part(out, known, data, drawn)
    print(out.save())


def _accuracies(known, data, drawn, n_labeled, size, method):
    """Accuracy in every trial, shape (TRIALS,), or None if one is missing."""
    found = [known.get(Run(data, drawn, n_labeled, size, split, method).key) for split in range(TRIALS)]
    return None if None in found else 100 - np.array([one["error"] for one in found])


def _part(out, known, data, drawn):
    labels, sizes, _ = SETS[data]
    rows = {}
    for method, size in [(m, 0) for m in SUPERVISED] + [(m, size) for size in sizes for m in SEMI_SUPERVISED]:
        found = [_accuracies(known, data, drawn, n, size, method) for n in labels]
        if any(one is not None for one in found):
            rows[method, size] = found
    if not rows:
        return
    out.heading(f"{data}, labels {drawn}")
    out.table("unlabelled", "method", *(f"{n} a class" for n in labels), "mean")
    for (method, size), found in rows.items():
        cells = ["–" if one is None else _cell(one) for one in found]
        mean = "–" if any(one is None for one in found) else f"{np.mean(found):.2f}"
        out.row(size or "", method, *cells, mean)
        printed = PAPER[data].get(method if method in SUPERVISED else (method, size))
        if printed and drawn == "per class":
            out.row("", f"{method}, the paper's", *(f"{v:.2f}" for v in printed), f"{np.mean(printed):.2f}")
    _summary(out, rows)


def _cell(accuracies):
    mean, error = float(accuracies.mean()), float(accuracies.std(ddof=1) / np.sqrt(TRIALS))
    return Cell(f"{mean:.2f} ± {error:.2f}", mean, error)


def _summary(out, rows):
    """Where unlabelled points help, where they hurt, and how far the CMM is ahead."""
    whole = {key: np.array(found) for key, found in rows.items() if all(one is not None for one in found)}
    if ("SVM", 0) not in whole:
        return
    svm = whole["SVM", 0].mean(axis=1)
    sizes = [size for method, size in whole if method == "CMM"]
    out.text("Over all numbers of labels and of unlabelled points that have every method:")
    out.table("method", "mean accuracy", "gained over the SVM", "hurt in", "at worst by", "CMM ahead by")
    for method in METHODS:
        own = np.array([found for (name, size), found in whole.items() if name == method and size in (0, *sizes)])
        if not len(own):
            continue
        gained = own.mean(axis=2) - svm
        lead = "–"
        if sizes and method != "CMM":
            # Trials are paired: the same points for both.
            cmm = np.array([whole["CMM", size] for size in sizes])
            ahead = (cmm - own).mean(axis=(0, 1))
            lead = f"{ahead.mean():+.2f} ± {ahead.std(ddof=1) / np.sqrt(TRIALS):.2f}"
        out.row(method, f"{own.mean():.2f}", f"{gained.mean():+.2f}", f"{(gained < 0).sum()} of {gained.size}",
                f"{max(0.0, -gained.min()):.2f}", lead)  # fmt: skip


def missing():
    """Everything that is asked for."""
    cells = [
        Run(data, drawn, n, size if method in SEMI_SUPERVISED else 0, split, method)
        for data in SETS
        for size in SETS[data][1]
        for drawn in DRAWN
        for n in SETS[data][0]
        for method in METHODS
        for split in range(TRIALS)
    ]
    return list(dict.fromkeys(cells))


if __name__ == "__main__":
    resume(__doc__, missing(), run_one, ("error", "seconds"), HERE / "results" / "compact_margin.csv", write_report)
