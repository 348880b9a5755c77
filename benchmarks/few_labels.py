"""Few labels, drawn in two ways: errors with 10, 20 and 100 labels drawn at random and per class, beside the SVM.

    python benchmarks/few_labels.py                        all sets and methods (hours)
    python benchmarks/few_labels.py --methods "SVM, C=10;ours" --draws 5
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
from document import Document
from sklearn import datasets
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


METHODS = {
    "SVM, C=1": practice.supervised(lambda y: SVC()),
    "SVM, C=10": practice.supervised(lambda y: SVC(C=10)),
    "SVM of ours": practice.svc(C_unlabeled=None),
    "ours": practice.svc(balance="auto"),
    "balance of the labels": practice.svc(balance="labeled"),
    "safe": practice.transduction(ct.SafeTransductiveSVC),
    "searched": practice.transduction(ct.TransductiveSearchCV),
    "linear": practice.transduction(ct.LinearTransductiveSVC),
}


#: The methods that are compared with each other; others are set beside one of them, on the sets that they were run on.
BASE = ("SVM, C=1", "SVM, C=10", "SVM of ours", "ours", "balance of the labels")


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
    summary(out, errors, [m for m in shown if m in BASE])
    for m in shown:
        if m not in BASE:
            pair = [BESIDE[m], m]
            both = {key: figures for key, figures in known.items() if all((*key[:4], one) in known for one in pair)}
            out.heading(f"{m}, on the sets and draws that it was run on")
            summary(out, means(both), pair)
    out.heading("All")
    out.table("", "labels", *shown)
    for name, kind, n in itertools.product(SETS, KINDS, LABELS):
        cells = [errors.get((name, kind, n, m)) for m in shown]
        if any(one is not None for one in cells):
            out.row(name, f"{n} {kind}", *("–" if one is None else f"{one:.1f}" for one in cells))
    print(out.save())


#: What each method is compared with: the supervised SVM of the same C.
BESIDE = {"ours": "SVM, C=10", "balance of the labels": "SVM, C=10", "safe": "SVM, C=1", "searched": "SVM, C=10",
          "linear": "SVM, C=10"}  # fmt: skip


def summary(out, errors, shown):
    """Means of all, and how far behind the supervised SVM a method is at worst, by set and kind of draw."""
    heads = [f"{n} {kind}" for kind in KINDS for n in LABELS]
    told = "behind the SVM of the same C by more than a point on (set, kind of draw; mean over labels)"
    out.table("", *heads, "mean", told, "most")
    common = sorted(key for key in {k[:3] for k in errors} if all((*key, m) in errors for m in shown))
    for m in shown:
        cells = []
        for kind in KINDS:
            for n in LABELS:
                own = [errors[(*key, m)] for key in common if key[1:] == (kind, n)]
                cells.append(f"{np.mean(own):.1f}" if own else "–")
        behind = {}
        for name, kind, n in common:
            if m in BESIDE and BESIDE[m] in shown:
                apart = errors[name, kind, n, m] - errors[name, kind, n, BESIDE[m]]
                behind.setdefault((name, kind), []).append(apart)
        mean = {key: float(np.mean(values)) for key, values in behind.items()}
        worst = max(mean, key=mean.get, default=None)
        mean_of_all = f"{np.mean([errors[(*key, m)] for key in common]):.1f}"
        if worst is None:
            out.row(m, *cells, mean_of_all, "–", "–")
        else:
            count = f"{sum(value > 1 for value in mean.values())} of {len(mean)}"
            out.row(m, *cells, mean_of_all, count, f"{mean[worst]:+.1f} ({worst[0]}, {worst[1]})")


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
