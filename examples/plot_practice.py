"""
Few labels in practice
======================

Three classes of 60, 30 and 10 % of the points, with ten labels each: what can be found out without knowing the truth.
As many labels of every class make the balance that is taken from them wrong, which a warning says.  Along a path of
shares the labelled points pay where the share of a class is wrong; a search chooses costs and the width of the kernel;
and a learning curve shows what unlabelled points are worth, beside the supervised SVM.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import convex_tsvm as ct
from convex_tsvm.plotting import plot_candidates, plot_learning_curve, plot_share_path, save_figure


def three_classes(seed=0):
    """Points, true classes, and labels: ten of each class, -1 elsewhere."""
    random, centers = np.random.default_rng(seed), np.random.default_rng(1).standard_normal((3, 10))
    truth = random.choice(3, 400, p=(0.6, 0.3, 0.1))
    X = 2.5 * (centers / np.linalg.norm(centers, axis=1)[:, None])[truth] + random.standard_normal((400, 10))
    shown = np.concatenate([random.permutation(np.flatnonzero(truth == k))[:10] for k in range(3)])
    y = np.full(400, -1)
    y[shown] = truth[shown]
    return X, truth, y


def practice(picture=None):
    """Accuracies at the points without labels: with the balance of the labels, chosen shares, and a search."""
    X, truth, y = three_classes()
    hidden = y == -1

    def accuracy(clf):
        return float(np.mean(clf.transduction_[hidden] == truth[hidden]))

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        default = ct.TransductiveSVC().fit(X, y)
    path = ct.share_path(ct.TransductiveSVC(), X, y, shares=np.arange(0.05, 0.9, 0.05))
    clf = ct.TransductiveSVC(balance=path.shares).fit(X, y)
    search = ct.TransductiveSearchCV(ct.TransductiveSVC(balance=path.shares)).fit(X, y)
    curve = ct.learning_curve(ct.TransductiveSVC(C=10), X, truth, n_labeled=[10, 30, 100], n_draws=5)
    print(told[0].message)
    print("chosen shares", {name: round(share, 2) for name, share in path.shares.items()})
    print(ct.compare_supervised(clf, X, y))
    print("search", search.best_params_, f"{search.best_score_:.1%} of the labelled points left out are right")
    print(curve)
    save_figure(plot_share_path(path), picture)
    for name, drawn in (("search", plot_candidates(search)), ("learning", plot_learning_curve(curve))):
        save_figure(drawn, picture and Path(picture).with_stem(f"{Path(picture).stem}_{name}"))
    return {"labeled": accuracy(default), "shares": accuracy(clf), "search": accuracy(search), "curve": curve}


if __name__ == "__main__":
    found = practice(sys.argv[1] if len(sys.argv) > 1 else None)
    print({name: round(value, 3) for name, value in found.items() if name != "curve"})
