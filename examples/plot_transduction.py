"""
Transductive or inductive?
==========================

An S3VM labels the points it was trained with, and it labels new ones.  Does it matter which it has seen?  Chapelle,
Sindhwani and Keerthi (2008, §5.5 and Figure 10) find that it does where unlabelled and test points are not alike:
here the test points are chosen so that the principal directions of the two sets are at an angle.  Left: the error on
the unlabelled points less that on the test points, for fifty such choices; below zero, it paid to have seen a point.
Right: the same test points, labelled by an S3VM that has seen other points of the same distribution ("inductive"),
and by one that has seen them ("transductive"), as in Collobert, Sinz, Weston and Bottou (2006, Table 6); every line
is one draw.

    python examples/plot_transduction.py transduction.png
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import convex_tsvm as ct
from convex_tsvm.plotting import save_figure

DIMENSIONS = 50


def gaussians(n, rng):
    """Two Gaussians in 50 dimensions with a Bayes error of 5 %, as the set g50c of the papers, and their signs."""
    truth = np.resize([1.0, -1.0], n)
    return rng.standard_normal((n, DIMENSIONS)) + truth[:, None] * norm.isf(0.05) / np.sqrt(DIMENSIONS), truth


def fitted(X, truth, n_labeled=50):
    """Newton-S3VM on points of which the first are labelled."""
    y = np.where(np.arange(len(truth)) < n_labeled, truth, 0.0)
    problem = ct.Problem(X, y, kernel=ct.RBF(38.0), C=19.0, C_unlabeled=19.0)
    return ct.newton(ct.tsvm("flat"), problem)


def principal(X):
    """The direction along which points vary most."""
    return np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][0]


def biased_split(X, share, strength, rng):
    """Indices of unlabelled and of test points.

    Test points on one side of the mean, along the principal direction, tend to lie to one side along a random direction
    too, and those on the other side to the other.  That turns their principal direction one way and that of the rest
    the other way, and test points are no nearer to the boundary for it.
    """
    axis, other = principal(X), rng.standard_normal(X.shape[1])
    other -= (other @ axis) * axis
    centred = X - X.mean(axis=0)
    together = np.sign(centred @ axis) * (centred @ other)
    order = np.argsort(strength * together / together.std() + rng.standard_normal(len(X)))
    cut = round((1 - share) * len(X))
    return order[:cut], order[cut:]


def angle(first, second):
    """Degrees between the first principal directions of two sets of points."""
    return float(np.degrees(np.arccos(min(1.0, abs(principal(first) @ principal(second))))))


def transduction(picture=None, draws=50, n=550, seed=0):
    """Correlation of angle and difference; mean errors in % of inductive and transductive S3VMs."""
    rng, rows = np.random.default_rng(seed), []
    for strength in np.linspace(0, 4, draws):
        X, truth = gaussians(n, rng)
        labeled, others = np.arange(50), np.arange(50, n)
        seen, test = (others[part] for part in biased_split(X[others], 0.25, strength, rng))
        used = np.concatenate([labeled, seen])
        solution = fitted(X[used], truth[used])
        wrong = solution.predict(X) != truth
        rows.append((angle(X[seen], X[test]), 100 * (wrong[seen].mean() - wrong[test].mean())))
    pairs = []
    for _ in range(draws):
        X, truth = gaussians(50 + 250 + 250, rng)
        sets = [np.concatenate([np.arange(50), np.arange(start, start + 250)]) for start in (50, 300)]
        errors = [100 * (fitted(X[s], truth[s]).predict(X[300:]) != truth[300:]).mean() for s in sets]
        pairs.append(errors)
    rows, pairs = np.array(rows), np.array(pairs)
    save_figure(_drawn(rows, pairs), picture)
    return {
        "correlation": float(np.corrcoef(rows.T)[0, 1]),
        "inductive": float(pairs[:, 0].mean()),
        "transductive": float(pairs[:, 1].mean()),
    }


def _drawn(rows, pairs):
    figure = plt.figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(rows[:, 0], rows[:, 1], "o", color="tab:blue")
    line = np.polyfit(rows[:, 0], rows[:, 1], 1)
    ends = np.array([rows[:, 0].min(), rows[:, 0].max()])
    left.plot(ends, np.polyval(line, ends), color="gray")
    left.axhline(0, color="black", linewidth=0.5)
    left.set(xlabel="angle between principal directions, degrees", ylabel="error on seen less unseen points, %")
    right.plot([0, 1], pairs.T, color="tab:blue", alpha=0.3)
    right.plot([0, 1], pairs.mean(axis=0), "o-", color="black")
    right.set_xticks([0, 1], ["inductive:\nnot seen", "transductive:\nseen"])
    right.set(ylabel="error on the same points, %", xlim=(-0.2, 1.2))
    return figure


if __name__ == "__main__":
    print(transduction(*sys.argv[1:]))
