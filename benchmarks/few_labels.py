"""Few labels, drawn in two ways: errors with 10, 20 and 100 labels drawn at random and per class, beside peers.

    python benchmarks/few_labels.py                        all sets and methods (hours)
    python benchmarks/few_labels.py --methods "SVM, C=10;ours" --draws 2
    python benchmarks/few_labels.py --report               the report of what there is

The sets are those of practice.py and three with unequal classes (1, 10 and 23 % of the points).  Labels are drawn from
all points with every class among them, or as many of each class; sets with more than 1000 points are drawn from, in
each draw anew.  Finished runs are in results/few_labels.csv, one a line, and are never computed again.
"""

import argparse
import itertools
import os
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import practice
import scipy.sparse as sp
from document import Document
from sklearn import datasets
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC
from store import Keyed, compute, finished

import convex_tsvm as ct

RESULTS = Path(__file__).parent / "results"

LABELS, KINDS, DRAWS = (10, 20, 100), ("at random", "per class"), 5

FIGURES = ("error", "seconds")


def unequal(n, features, informative, share, separation):
    """Clusters of two classes, the larger of which has so large a share."""

    def make(seed):
        return datasets.make_classification(
            n, features, n_informative=informative, weights=[share], class_sep=separation, flip_y=0, random_state=seed
        )

    return make


#: Sets of practice.py that are others with more or fewer labels.
TWICE = ("three classes, per class", *(f"{n}, 100 labels" for n in ("digit1", "usps", "g241c", "ssl text")))

SETS = {
    **{
        name.removesuffix(", at random").removesuffix(", 10 labels"): make
        for name, (make, _, _) in practice.SETS.items()
        if name not in TWICE
    },
    "1 % positive": unequal(3000, 20, 6, 0.99, 1.5),
    "10 % positive": unequal(1000, 15, 5, 0.9, 1.2),
    "23 % positive": unequal(1000, 20, 6, 0.77, 1.0),
}

#: Points of a set at most.
MOST = {"1 % positive": 3000}


def draw(name, kind, n_labeled, k):
    """Points, classes as whole numbers, and which labels are shown, of the k-th draw; None if there are too few."""
    X, y = SETS[name](k)
    y = np.unique(y, return_inverse=True)[1]
    counts, random = np.bincount(y), np.random.default_rng(1000 * n_labeled + k)
    each = n_labeled // len(counts)
    if (kind == "at random" and n_labeled < len(counts)) or (kind == "per class" and not 1 <= each < counts.min()):
        return None
    at_random, per_class = practice.at_random, practice.per_class
    shown = at_random(y, n_labeled, random) if kind == "at random" else per_class(y, each, random)
    most = MOST.get(name, 1000)
    if X.shape[0] > most:
        others = random.permutation(np.setdiff1d(np.arange(X.shape[0]), shown))[: most - len(shown)]
        keep = np.sort(np.concatenate([shown, others]))
        X, y, shown = X[keep], y[keep], np.searchsorted(keep, np.sort(shown))
    visible = np.zeros(len(y), dtype=bool)
    visible[shown] = True
    return X, y, visible


def standardized(X):
    return StandardScaler(with_mean=not sp.issparse(X)).fit_transform(X)


def logistic(y):
    """Logistic regression of standardized features, with C searched where classes have labels enough."""
    folds = int(min(5, np.bincount(y)[np.unique(y)].min()))
    made = LogisticRegressionCV(Cs=5, cv=folds, max_iter=1000) if folds > 1 else LogisticRegression(max_iter=1000)
    return make_pipeline(StandardScaler(with_mean=False), made)


def self_training_logistic(X, y):
    return SelfTrainingClassifier(LogisticRegression(max_iter=1000)).fit(standardized(X), y).predict(standardized(X))


METHODS = {
    "SVM, C=1": practice.supervised(lambda y: SVC()),
    "SVM, C=10": practice.supervised(lambda y: SVC(C=10)),
    "logistic": practice.supervised(logistic),
    "self-training, SVC": practice.self_training,
    "self-training, logistic": self_training_logistic,
    "spreading": practice.spreading,
    "ours, supervised": practice.svc(C_unlabeled=None),
    "ours": practice.transduction(ct.TransductiveSVC),
    "ours, CCCP": practice.svc(balance="auto"),
    "family chosen": practice.transduction(lambda: ct.selection.TransductiveEnsemble(combine="best")),
    "families averaged": practice.transduction(ct.selection.TransductiveEnsemble),
}

#: Methods among which the oracle has the best on each set, kind of draw and number of labels.
SINGLE = tuple(name for name in METHODS if not name.startswith("famil"))


@dataclass(frozen=True)
class Run(Keyed):
    """One method on one draw of labels."""

    data: str
    kind: str
    n_labeled: int
    split: int
    method: str


def run(cell):
    X, truth, visible = draw(cell.data, cell.kind, cell.n_labeled, cell.split)
    y, began = np.where(visible, truth, -1), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = METHODS[cell.method](X, y)
    error = 100 * float(np.mean(found[~visible] != truth[~visible]))
    return {**asdict(cell), "error": error, "seconds": time.perf_counter() - began}


# --- the report -------------------------------------------------------------------------------------------------------


def means(known):
    """Mean error by data, kind of draw, number of labels and method."""
    found = {}
    for (data, kind, n, _, method), figures in known.items():
        found.setdefault((data, kind, int(n), method), []).append(figures["error"])
    return {key: float(np.mean(errors)) for key, errors in found.items()}


def write_report(known):
    errors = means(known)
    shown = [m for m in METHODS if any(key[3] == m for key in errors)]
    draws = len({key[3] for key in known})
    out = Document("few_labels", "Few labels, drawn at random and per class: errors in % of the unlabelled points")
    out.text(
        f"`python benchmarks/few_labels.py`: means over {draws} draws of labels; at most 1000 points of a set (3000 "
        "of the one with 1 %)."
    )
    out.heading("In short")
    # Compared are draws that all methods were run on.
    keys = {key[:4] for key in known}
    whole = {key for key in keys if all((*key, m) in known for m in shown)}
    common = means({key: figures for key, figures in known.items() if key[:4] in whole})
    out.text(f"On the {len(whole)} of {len(keys)} draws that all methods were run on.")
    summary(out, common, shown)
    out.heading("All")
    out.table("", "labels", *shown)
    for name, kind, n in itertools.product(SETS, KINDS, LABELS):
        cells = [errors.get((name, kind, n, m)) for m in shown]
        if any(one is not None for one in cells):
            out.row(name, f"{n} {kind}", *("–" if one is None else f"{one:.1f}" for one in cells))
    print(out.save())


def summary(out, errors, shown):
    """Means, the oracle that has the best single method of each row, and how far behind two peers a method is."""
    heads = [f"{n} {kind}" for kind in KINDS for n in LABELS]
    peers = ("SVM, C=10", "logistic")
    out.table("", *heads, "mean", *(f"most behind {peer} on a set (mean of its rows)" for peer in peers))
    rows = sorted({key[:3] for key in errors})
    table = {m: {row: errors[(*row, m)] for row in rows} for m in shown}
    table["oracle"] = {row: min(table[m][row] for m in shown if m in SINGLE) for row in rows}
    for m, own in table.items():
        cells = []
        for kind in KINDS:
            for n in LABELS:
                values = [own[row] for row in rows if row[1:] == (kind, n)]
                cells.append(f"{np.mean(values):.1f}" if values else "–")
        behind = []
        for peer in peers:
            apart = {
                name: float(np.mean([own[row] - table[peer][row] for row in rows if row[0] == name]))
                for name in sorted({row[0] for row in rows})
            }
            worst = max(apart, key=apart.get)
            behind.append("–" if m == peer else f"{apart[worst]:+.1f} ({worst})")
        out.row(m, *cells, f"{np.mean(list(own.values())):.1f}", *behind)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", help="separated by ';' (default: all)")
    parser.add_argument("--methods", help="separated by ';' (default: all)")
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"of labels (default: {DRAWS})")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: one a core)")
    parser.add_argument("--report", action="store_true", help="compute nothing")
    options = parser.parse_args()
    path = RESULTS / "few_labels.csv"
    asked = {}
    for name, all_of_them in (("sets", SETS), ("methods", METHODS)):
        given = getattr(options, name)
        asked[name] = list(all_of_them) if given is None else given.split(";")
        for one in asked[name]:
            if one not in all_of_them:
                parser.error(f"--{name} {one!r} must be of {'; '.join(all_of_them)}")
    if not options.report:
        known = finished(Run, path)
        cells = [
            Run(name, kind, n, k, method)
            for k in range(options.draws)
            for name in asked["sets"]
            for kind in KINDS
            for n in LABELS
            if draw(name, kind, n, k) is not None
            for method in asked["methods"]
        ]
        missing = [cell for cell in cells if cell.key not in known]
        if missing:
            compute(run, missing, FIGURES, options.jobs, path)
    write_report(finished(Run, path))


if __name__ == "__main__":
    main()
