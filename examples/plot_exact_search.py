"""
How far from the optimum do heuristics end?
===========================================

The S3VM objective has one global optimum and many local ones.  Exact search finds the first, with a proof; here it
shows how far above it the labels of an SVM, of CCCP (with and without annealing) and of the SDP relaxation are:
Chapelle, Sindhwani and Keerthi (2008), Table 1, in small.

    python examples/plot_exact_search.py search.png
"""

import sys
import warnings

import numpy as np

import convex_tsvm as ct
from convex_tsvm.plotting import plot_search, save_figure


def moons(n=60, noise=0.1, seed=1):
    """Two moons with one labelled point each."""
    rng = np.random.default_rng(seed)
    angle, truth = np.pi * rng.random(n), np.resize([1.0, -1.0], n)
    X = np.column_stack([np.cos(angle) * truth + (truth < 0), np.sin(angle) * truth + 0.5 * (truth < 0)])
    return X + noise * rng.normal(size=X.shape), np.where(np.arange(n) < 2, truth, 0.0), truth


def distances(picture=None):
    """Objective of every method's labels relative to the optimum, and error; and the gap that is proven."""
    X, y, truth = moons()
    problem = ct.Problem(X, y, kernel=ct.RBF(sigma=0.5), C=10, C_unlabeled=10, balance=0.0)
    model = ct.s3vm()
    exact = ct.exact_search(model, problem, gap=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {
            "SVM": ct.cccp(model.supervised(), problem),
            "CCCP": ct.cccp(model, problem),
            "CCCP, annealed": ct.cccp(model, problem, annealing=10),
            "SDP relaxation": ct.sdp_transduction(model, problem),
            "exact search": exact,
        }
    rating = ct.LowerBoundBuilder(model, problem, relaxation="svm")
    figures = {
        name: (rating.evaluate(solution.labels)[0] / exact.objective - 1, float((solution.labels != truth).mean()))
        for name, solution in found.items()
    }
    save_figure(plot_search(exact), picture)
    return figures, exact.gap


if __name__ == "__main__":
    figures, gap = distances(*sys.argv[1:])
    for name, (excess, error) in figures.items():
        print(f"{name:15s} {100 * excess:6.1f} % above the optimum, {100 * error:4.1f} % error")
    print(f"the optimum is proven to {gap:.1e}")
