"""What a practitioner gets who changes nothing, or only searches: supervised SVM, peers, and ours, on every data set.

    python benchmarks/practice.py                        all sets, all methods (hours)
    python benchmarks/practice.py --methods "SVM;ours"   some methods
    python benchmarks/practice.py --sets "iris;g50c"     some sets
    python benchmarks/practice.py --report               the report of what there is

Ten draws of labels for every set: the sets' own splits where they have some, else at random with every class among
them, and as many labels of each class for "three classes, per class".  Sets with more than 1000 points are drawn from,
in each draw anew.  Finished runs are in results/practice.csv, one a line, and are never computed again.

"ours" has the balance of the labels, with which the other defaults were chosen; few_labels.py has the default balance.
The kept runs of "ours, searched" and "S4VM" are of the version before shares were inferred.
"""

import argparse
import os
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp
from common import read
from document import Cell, Document
from sklearn import datasets
from sklearn.calibration import CalibratedClassifierCV
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC
from store import Keyed, compute, finished

import convex_tsvm as ct

RESULTS = Path(__file__).parent / "results"

MOST, DRAWS = 1000, 10

#: What is told of a run besides its cell.
FIGURES = ("error", "seconds")


# --- data: points, true labels, and the places of the labels that are shown -------------------------------------------


def three_classes(seed):
    """Gaussians in ten dimensions, 60, 30 and 10 % of 600 points."""
    random, centers = np.random.default_rng(seed), np.random.default_rng(1).standard_normal((3, 10))
    y = random.choice(3, 600, p=(0.6, 0.3, 0.1))
    centers /= np.linalg.norm(centers, axis=1)[:, None]
    return 2.5 * centers[y] + random.standard_normal((600, 10)), y


def two_gaussians(seed):
    """Two Gaussians in ten dimensions, 400 points, Bayes error 5 %."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, 400)
    return (2 * y - 1)[:, None] * 1.645 / np.sqrt(10) + random.standard_normal((400, 10)), y


def at_random(y, n_labeled, random):
    """Places of labels, one of each class among them."""
    order = random.permutation(len(y))
    first = [order[y[order] == k][0] for k in np.unique(y)]
    return np.concatenate([first, np.setdiff1d(order, first, assume_unique=True)[: n_labeled - len(first)]])


def per_class(y, n_labeled, random):
    return np.concatenate([random.permutation(np.flatnonzero(y == k))[:n_labeled] for k in np.unique(y)])


def _file(name, classes=None):
    file = read(name)
    keep = np.arange(len(file.y)) if classes is None else np.flatnonzero(np.isin(file.y, classes))
    X = file.X[keep]
    return (X / 255 if name == "mnist" else X), file.y[keep]


def _scaled(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


#: Name: points and labels (from a seed), number of labels (or the name of the file's splits), and how they are drawn.
SETS = {
    "three classes, per class": (three_classes, 10, per_class),
    "three classes, at random": (three_classes, 30, at_random),
    "two Gaussians": (two_gaussians, 20, at_random),
    "two moons": (lambda seed: datasets.make_moons(200, noise=0.1, random_state=seed), 6, at_random),
    "iris": (lambda seed: _scaled(datasets.load_iris), 15, at_random),
    "wine": (lambda seed: _scaled(datasets.load_wine), 15, at_random),
    "breast cancer": (lambda seed: _scaled(datasets.load_breast_cancer), 20, at_random),
    "digits": (lambda seed: (datasets.load_digits().data / 16, datasets.load_digits().target), 50, at_random),
    "g50c": (lambda seed: _file("g50c"), "labeled", None),
    "text": (lambda seed: _file("text"), "labeled", None),
    "uspst": (lambda seed: _file("uspst"), "labeled", None),
    "coil3": (lambda seed: _file("coil3"), 12, at_random),
    "coil20": (lambda seed: _file("coil20"), 100, at_random),
    "isolet": (lambda seed: _file("isolet"), 90, at_random),
    "digit1, 10 labels": (lambda seed: _file("ssl_digit1"), "labeled10", None),
    "digit1, 100 labels": (lambda seed: _file("ssl_digit1"), "labeled100", None),
    "usps, 10 labels": (lambda seed: _file("ssl_usps"), "labeled10", None),
    "usps, 100 labels": (lambda seed: _file("ssl_usps"), "labeled100", None),
    "g241c, 10 labels": (lambda seed: _file("ssl_g241c"), "labeled10", None),
    "g241c, 100 labels": (lambda seed: _file("ssl_g241c"), "labeled100", None),
    "ssl text, 10 labels": (lambda seed: _file("ssl_text"), "labeled10", None),
    "ssl text, 100 labels": (lambda seed: _file("ssl_text"), "labeled100", None),
    "MNIST 8 and 9": (lambda seed: _file("mnist", (8, 9)), 20, at_random),
    "news20, autos and motorcycles": (lambda seed: _file("news20", (7, 8)), 20, at_random),
    "heart": (lambda seed: _file("exact_heart"), 20, at_random),
    "ionosphere": (lambda seed: _file("exact_ionosphere"), 20, at_random),
    "connectionist": (lambda seed: _file("exact_connectionist"), 20, at_random),
    "arrhythmia": (lambda seed: _file("exact_arrhythmia"), 20, at_random),
}


def draw(name, k):
    """Points, classes as whole numbers, and which labels are shown, of the k-th draw."""
    make, labels, how = SETS[name]
    X, y = make(k)
    y = np.unique(y, return_inverse=True)[1]
    random = np.random.default_rng(k)
    shown = read_splits(name)[k] if isinstance(labels, str) else how(y, labels, random)
    if X.shape[0] > MOST:
        others = random.permutation(np.setdiff1d(np.arange(X.shape[0]), shown))[: MOST - len(shown)]
        keep = np.sort(np.concatenate([shown, others]))
        X, y, shown = X[keep], y[keep], np.searchsorted(keep, np.sort(shown))
    visible = np.zeros(len(y), dtype=bool)
    visible[shown] = True
    return X, y, visible


def read_splits(name):
    labels = SETS[name][1]
    files = {"g50c": "g50c", "text": "text", "uspst": "uspst"}
    own = files.get(name, "ssl_" + name.split(",")[0].replace("ssl ", ""))
    return read(own).rest[labels]


# --- methods: from points, labels with -1 where hidden, to a label for every point ------------------------------------


def supervised(make):
    def labels(X, y):
        known = y >= 0
        return make(y[known]).fit(X[known], y[known]).predict(X)

    return labels


def transduction(make):
    return lambda X, y: make().fit(X, y).transduction_


def searched(y):
    """The supervised SVM by scikit-learn's own search, over the costs that ours tries."""
    from sklearn.model_selection import GridSearchCV

    folds = max(2, min(5, np.bincount(y).max()))
    grid = {"C": [1, 10, 100, 0.1], "gamma": ["scale"]}
    return GridSearchCV(SVC(), grid, cv=ct.selection.LabeledKFold(folds))


def self_training(X, y):
    # Probabilities by Platt's sigmoid on labelled points left out, or by libsvm where a class has a single label.
    known = y[y >= 0]
    folds = int(min(3, np.bincount(known).min()))
    base = CalibratedClassifierCV(SVC(), cv=folds, ensemble=False) if folds > 1 else SVC(probability=True)
    return SelfTrainingClassifier(base).fit(X, y).predict(X)


def spreading(X, y):
    return LabelSpreading(kernel="knn").fit(X.toarray() if sp.issparse(X) else X, y).transduction_


def svc(**parameters):
    """CCCP with some defaults changed, and the balance of the labels, with which its other defaults were chosen."""
    own = {"balance": "labeled", "method": "cccp", "multi_class": "ovr", "C_unlabeled": "tenth"}
    return transduction(lambda: ct.TransductiveSVC(**{**own, **parameters}))


def cmm(**parameters):
    """The compact margin machine with some defaults changed, likewise."""
    return transduction(lambda: ct.CompactMarginClassifier(**{"balance": "labeled", **parameters}))


#: The paper's setting of the compact margin machine (its ε is not told), beside which the default is chosen.
PAPERS = {"C_compact": None, "s": 0.0}

#: The table, and then what the defaults were chosen among: a name says what is not the default.
METHODS = {
    "SVM": supervised(lambda y: SVC()),
    "SVM, searched": supervised(searched),
    "self-training": self_training,
    "LabelSpreading": spreading,
    "ours": svc(),
    "ours, searched": transduction(ct.TransductiveSearchCV),
    "S4VM": transduction(ct.SafeTransductiveSVC),
    "supervised": svc(C_unlabeled=None),
    "C=1": svc(C=1, C_unlabeled="balanced"),
    "C=1, s=0": svc(C=1, C_unlabeled="balanced", s=0.0),
    "C=1, C*=0.1": svc(C=1),
    "C* balanced": svc(C_unlabeled="balanced"),
    "C* balanced, s=0": svc(C_unlabeled="balanced", s=0.0),
    "C* balanced, s=0, annealed": svc(C_unlabeled="balanced", s=0.0, annealing=10),
    "C* balanced, annealed": svc(C_unlabeled="balanced", annealing=10),
    "C* balanced, no balance": svc(C_unlabeled="balanced", balance=None),
    "C*=0.3": svc(C_unlabeled=0.3),
    "C*=3": svc(C_unlabeled=3.0),
    "C*=10, annealed": svc(C_unlabeled=10.0, annealing=10),
    "C=100, C*=1, annealed": svc(C=100, C_unlabeled=1.0, annealing=10),
    "C=100, C*=10, annealed": svc(C=100, annealing=10),
    "annealed": svc(annealing=10),
    "s=0, annealed": svc(s=0.0, annealing=10),
    "s=-0.5": svc(s=-0.5),
    "gradient": svc(method="gradient", loss="exp"),
    "no balance": svc(balance=None),
    "graph=1": svc(C_manifold=1.0),
    "graph=10": svc(C_manifold=10.0),
    "graph=1, no balance": svc(C_manifold=1.0, balance=None),
    "CMM": cmm(),
    "CMM, s=0": cmm(s=0.0),
    "CMM, C₃=C*, s=0": cmm(**PAPERS),
    "CMM, ε=1, C₃=C*": cmm(C_compact=None, epsilon=1.0),
    "CMM, ε=1, C₃=C*, s=0": cmm(**PAPERS, epsilon=1.0),
    "CMM, C* balanced, C₃=0.01, s=0": cmm(C_unlabeled="balanced", C_compact=0.01, s=0.0),
    "CMM, C* balanced, C₃=C*, s=0": cmm(C_unlabeled="balanced", **PAPERS),
    "CMM, C* balanced, ε=1, C₃=C*": cmm(C_unlabeled="balanced", C_compact=None, epsilon=1.0),
    "CMM, C* balanced, ε=1, C₃=C*, s=0": cmm(C_unlabeled="balanced", epsilon=1.0, **PAPERS),
    "CMM, C=1": cmm(C=1, C_unlabeled="balanced", epsilon=1.0, **PAPERS),
    "RMM": transduction(ct.RelativeMarginClassifier),
    "RMM, ε=1": transduction(lambda: ct.RelativeMarginClassifier(epsilon=1.0)),
    "RMM, C=1": transduction(lambda: ct.RelativeMarginClassifier(C=1, epsilon=1.0)),
    "LapSVM": transduction(ct.LaplacianSVC),
    "LapSVM, graph=10": transduction(lambda: ct.LaplacianSVC(C_manifold=10.0)),
    "LapSVM, C=1": transduction(lambda: ct.LaplacianSVC(C=1)),
    "S4VM, C=10": transduction(lambda: ct.SafeTransductiveSVC(C=10)),
}

#: The methods of the table that is asked for.
TABLE = ("SVM", "SVM, searched", "self-training", "LabelSpreading", "ours", "ours, searched", "S4VM")


@dataclass(frozen=True)
class Run(Keyed):
    """One method on one draw of a data set."""

    data: str
    split: int
    method: str


def run(cell):
    X, truth, visible = draw(cell.data, cell.split)
    y, began = np.where(visible, truth, -1), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = METHODS[cell.method](X, y)
    error = 100 * float(np.mean(found[~visible] != truth[~visible]))
    return {**asdict(cell), "error": error, "seconds": time.perf_counter() - began}


# --- the report -------------------------------------------------------------------------------------------------------


def errors_of(known, name, method):
    found = [known.get((name, str(k), method)) for k in range(DRAWS)]
    return None if None in found else np.array([one["error"] for one in found])


def write_report(known):
    out = Document("practice", "Without changing anything: errors in % of the unlabelled points")
    out.text(
        "`python benchmarks/practice.py`: ten draws of labels, mean ± standard error; at most 1000 points of a set.",
        "**Bold**: best in its row, or within a standard error (of the difference) of the best.",
        '"ours" has the balance of the labels (few_labels.md has the default one); the search and S4VM are those of',
        "the version before shares were inferred.",
    )
    _table(out, known, TABLE)
    out.heading("What the defaults were chosen among")
    out.text("Means over all sets that every method has been run on.")
    _summary(out, known, METHODS)
    print(out.save())


def _table(out, known, methods):
    out.table("", *methods)
    counts = dict.fromkeys(methods, 0)
    for name in SETS:
        found = {m: errors_of(known, name, m) for m in methods}
        there = {m: e for m, e in found.items() if e is not None}
        if not there:
            continue
        best = min(there, key=lambda m: there[m].mean())
        cells = []
        for m in methods:
            if found[m] is None:
                cells.append("–")
                continue
            apart = found[m] - there[best]
            near = apart.mean() <= apart.std(ddof=1) / np.sqrt(DRAWS) + 1e-9
            mean, error = float(found[m].mean()), float(found[m].std(ddof=1) / np.sqrt(DRAWS))
            text = f"{mean:.1f} ± {error:.1f}"
            cells.append(Cell(f"**{text}**" if near else text, mean, error))
            counts[m] += int(near)
        out.row(name, *cells)
    out.facts["best or as good on"] = counts


def _summary(out, known, methods):
    out.table("", "sets", "error", "behind ours, mean over sets ± standard error", "ahead of ours on",
              "above the SVM on the worst set", "behind the SVM on")  # fmt: skip
    base = {name: errors_of(known, name, "SVM") for name in SETS}
    done = {m: [n for n in SETS if errors_of(known, n, m) is not None and base[n] is not None] for m in methods}
    common = [n for n in SETS if all(n in done[m] for m in methods if done[m])]
    for m in methods:
        if not done[m] or not common:
            continue
        gaps = np.array([(errors_of(known, n, m) - base[n]).mean() for n in common])
        mean = np.mean([errors_of(known, n, m).mean() for n in common])
        behind = np.array([(errors_of(known, n, m) - errors_of(known, n, "ours")).mean() for n in common])
        spread = behind.std(ddof=1) / np.sqrt(len(behind))
        own = ["–", "–"] if m == "ours" else [f"{behind.mean():+.1f} ± {spread:.1f}", int((behind < 0).sum())]
        worst = common[int(gaps.argmax())]
        out.row(
            m, len(common), f"{mean:.1f}", *own, f"{gaps.max():+.1f} ({worst})",
            f"{int((gaps > 1).sum())} by more than 1",
        )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", help="separated by ';' (default: all)")
    parser.add_argument("--methods", help="separated by ';' (default: all)")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: one a core)")
    parser.add_argument("--report", action="store_true", help="compute nothing")
    options = parser.parse_args()
    path = RESULTS / "practice.csv"
    asked = {}
    for name, all_of_them in (("sets", SETS), ("methods", METHODS)):
        given = getattr(options, name)
        asked[name] = list(all_of_them) if given is None else given.split(";")
        for one in asked[name]:
            if one not in all_of_them:
                parser.error(f"--{name} {one!r} must be of {'; '.join(all_of_them)}")
    if not options.report:
        known = finished(Run, path)
        cells = [Run(name, k, m) for m in asked["methods"] for name in asked["sets"] for k in range(DRAWS)]
        missing = [cell for cell in cells if cell.key not in known]
        if missing:
            compute(run, missing, FIGURES, options.jobs, path)
    write_report(finished(Run, path))


if __name__ == "__main__":
    main()
