"""
How tight is a relaxation?
==========================

The gap between a lower bound and the best labelling known, for every relaxation: the SVM on the labelled points, the
SDP of De Bie and Cristianini (2004), and what ends of the outputs, their products and triangle inequalities add to it.
Few labels and overlapping classes are what is hard.

    python examples/plot_relaxation_gaps.py gaps.png
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.plotting import save_figure
from convex_tsvm.relaxations import RELAXATIONS


def instance(apart, n_labeled, n=24):
    """Two Gaussians in the plane, so far apart."""
    rng = np.random.default_rng(3)
    truth = np.resize([1.0, -1.0], n)
    X = rng.normal(size=(n, 2)) + apart * truth[:, None] / 2
    return ct.Problem(X, np.where(np.arange(n) < n_labeled, truth, 0.0), kernel=ct.RBF(sigma=1.5), C=1, C_unlabeled=1)


def relaxation_gaps(picture=None):
    """Gaps of all relaxations on four instances; every one is at most that of the one before."""
    cases = {
        f"{apart:g} apart, {n_labeled} labels": instance(apart, n_labeled)
        for apart in (3.0, 1.5)
        for n_labeled in (8, 4)
    }
    gaps = {}
    for title, problem in cases.items():
        # All relaxations know the same incumbent, so that their gaps can be compared.
        incumbent = ct.cccp(ct.s3vm(), problem, tol=1e-6)
        builders = [ct.LowerBoundBuilder(ct.s3vm(), problem, relaxation=name, solver="native") for name in RELAXATIONS]
        bounds = [builder.bound(upper=incumbent.objective, upper_labels=incumbent.labels) for builder in builders]
        best = min(bound.upper for bound in bounds)
        gaps[title] = {
            name: max(0.0, (best - bound.value) / best) for name, bound in zip(RELAXATIONS, bounds, strict=True)
        }
    figure = plt.figure(figsize=(7.5, 3.8), layout="constrained")
    axes = figure.subplots()
    for k, (title, found) in enumerate(gaps.items()):
        places = np.arange(len(RELAXATIONS)) + 0.2 * k
        axes.bar(places, [100 * gap for gap in found.values()], width=0.18, label=title)
    axes.set_xticks(np.arange(len(RELAXATIONS)) + 0.3, RELAXATIONS)
    axes.set(ylabel="gap, %", title="Lower bounds beside the best labelling known")
    axes.legend()
    save_figure(figure, picture)
    return gaps


if __name__ == "__main__":
    for title, found in relaxation_gaps(*sys.argv[1:]).items():
        print(f"{title}: " + ", ".join(f"{name} {100 * gap:.2f} %" for name, gap in found.items()))
