"""
Compact margins: when the largest margin is the wrong one
=========================================================

Two long, thin, parallel clusters, and a labelled point at one end of each. The largest margin between those two runs
along the clusters and cuts both, and a TSVM that starts there stays there; but along that direction the outputs of the
other points are spread far beyond the margin. The Compact Margin Machine of Dai and Niu (2010) charges for the spread,
and so does its convex variant, the semi-supervised Relative Margin Machine.

The first row shows the losses (the paper's Figure 1), the second what they lead to.

    python examples/plot_compact_margin.py compact.png
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.data import Data
from convex_tsvm.plotting import plot_boundaries, save_figure


def strips(n=200, seed=0):
    """Points on two thin strips, and a label at one end of each."""
    rng = np.random.default_rng(seed)
    truth = np.resize([1.0, -1.0], n)
    X = np.column_stack([rng.uniform(-5, 5, n), 0.8 * truth + 0.15 * rng.normal(size=n)])
    X[:2] = [[4.0, 0.8], [-4.0, -0.8]]
    return Data("strips", X, np.where(np.arange(n) < 2, truth, 0.0), truth, ("-1", "+1"))


def compact_margin(picture=None):
    """Share of the unlabelled points labelled wrongly: by the CMM none, by SVM and TSVM more than a third."""
    data = strips()
    problem = ct.Problem(data.X, data.y, C=10.0, C_unlabeled=1.0, balance=0.0)
    weights = ct.compactness_weights(problem, 1.0)
    models = {
        "SVM": ct.svm(balance="linear"),
        "TSVM": ct.cccp_tsvm(0.0),
        "RMM": ct.relative_margin(1.0, weights[0], balance="linear"),
        "CMM": ct.compact_margin(1.0, *weights),
    }
    solutions = {name: ct.cccp(model, problem) for name, model in models.items()}
    draw(picture, data, solutions)
    return {name: data.error(solution.labels) for name, solution in solutions.items()}


def draw(picture, data, solutions):
    """Losses above, boundaries below."""
    figure = plt.figure(figsize=(16, 8), layout="constrained")
    above, below = figure.subfigures(2, 1)
    losses = {
        "labelled: relaxed compact ε-hinge": [ct.hinge(), ct.relaxed_compact_hinge(1.5, 0.5)],
        "unlabelled: relaxed compact ε-symmetric hinge": [
            ct.symmetric_hinge(),
            ct.relaxed_compact_symmetric_hinge(1.5, 0.5),
            ct.relaxed_compact_symmetric_hinge(0.0, 1.0),
        ],
    }
    t = np.linspace(-3, 3, 601)
    for place, (title, shown) in enumerate(losses.items()):
        axes = above.add_subplot(1, 2, place + 1)
        for loss, style in zip(shown, (":", "-", "--"), strict=False):
            axes.plot(t, loss(t), style, label=loss.name)
        axes.set(title=title, xlabel="y f(x)" if place == 0 else "f(x)")
        axes.legend()
    plot_boundaries(data, solutions, below)
    save_figure(figure, picture)


if __name__ == "__main__":
    for name, error in compact_margin(*sys.argv[1:]).items():
        print(f"{name:5s} {100 * error:.1f} % of the unlabelled points wrong")
