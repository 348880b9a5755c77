"""A search over 5 x 5 values of C and σ on digits, ten labels a class: ours beside scikit-learn's GridSearchCV.

    python benchmarks/search.py [--draws 3] [--points 1797]

Both use the same folds, and take the first of the best.  Seconds are those of the processor, with one thread, as other
processes may be at work.
"""

import argparse
import os
import time
import warnings

if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from document import Document
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV

import convex_tsvm as ct

GRID = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "sigma": [1.0, 1.5, 2.0, 3.0, 4.5]}


def timed(search, X, y):
    began = time.process_time()
    search.fit(X, y)
    return time.process_time() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--points", type=int, default=1797)
    options = parser.parse_args()
    X, truth = load_digits(return_X_y=True)
    out = Document("search", "A search over 25 candidates on digits, ten labels a class, five folds")
    asked = f"python benchmarks/search.py --draws {options.draws} --points {options.points}"
    out.text(f"`{asked}`: seconds of the processor.")
    out.table("draw", "GridSearchCV", "its choice", "error %", "TransductiveSearchCV", "its choice", "error %", "ratio")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for draw in range(options.draws):
            random = np.random.default_rng(draw)
            keep = np.sort(random.permutation(len(truth))[: options.points])
            points, classes = X[keep] / 16, truth[keep]
            y = np.full(len(keep), -1)
            for k in range(10):
                y[random.permutation(np.flatnonzero(classes == k))[:10]] = k
            ct.TransductiveSVC(sigma=2.0).fit(points, y)  # compiles
            own = ct.TransductiveSearchCV(ct.TransductiveSVC(), GRID, ties="first")
            other = GridSearchCV(ct.TransductiveSVC(), GRID, cv=ct.selection.LabeledKFold(5))
            seconds = [timed(search, points, y) for search in (other, own)]
            hidden, cells = y < 0, []
            for search, spent in zip((other, own), seconds, strict=True):
                found = search.best_estimator_.transduction_
                chosen = ", ".join(f"{name} = {value:g}" for name, value in search.best_params_.items())
                cells += [f"{spent:.0f}", chosen, f"{100 * np.mean(found[hidden] != classes[hidden]):.1f}"]
            out.row(draw, *cells, f"{seconds[0] / seconds[1]:.1f}")
            print(draw, *cells, flush=True)
            out.save()


if __name__ == "__main__":
    main()
