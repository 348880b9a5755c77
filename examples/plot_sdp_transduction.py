"""
Labels from a semidefinite relaxation
=====================================

Figure 1 of De Bie and Cristianini (2004): ten labelled points and sixty without labels; the labels that the SDP
relaxation gives them, before thresholding; and the SVM trained on all of them. Where the relaxation is tight it proves
that no other labelling is better.

    python examples/plot_sdp_transduction.py figure1.png
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.plotting import save_figure


def clusters(seed=1):
    """Two elongated clusters of 35 points each; ten points labelled."""
    rng = np.random.default_rng(seed)
    truth = np.resize([1.0, -1.0], 70)
    X = np.column_stack([rng.normal(0, 1, 70), 1.2 * truth + rng.normal(0, 0.2, 70)])
    turn = np.array([[np.cos(0.5), np.sin(0.5)], [-np.sin(0.5), np.cos(0.5)]])
    return X @ turn, truth, np.where(np.arange(70) < 10, truth, 0.0)


def sdp_transduction(picture=None):
    """Errors, the share of labels within 0.05 of ±1 before thresholding (at least 0.9), and the gap (below 1 %)."""
    X, truth, y = clusters()
    problem = ct.Problem(X, y, kernel=ct.RBF(sigma=4.0), C=10, C_unlabeled=10)
    solution = ct.sdp_transduction(ct.cccp_tsvm(s=0.0), problem)
    unknown = y == 0
    _draw(X, y, solution, picture)
    return {
        "errors": int((solution.labels != truth).sum()),
        "labels within 0.05 of 1 or -1": float((np.abs(solution.scores[unknown]) > 0.95).mean()),
        "gap": solution.gap,
    }


def _draw(X, y, solution, picture):
    figure = plt.figure(figsize=(11, 3.6), layout="constrained")
    given, labels, contour = figure.subplots(1, 3, sharex=True, sharey=True)
    unknown = y == 0
    given.scatter(*X[unknown].T, c="0.6", s=10)
    labels.set_title("labels before thresholding")
    shown = labels.scatter(*X[unknown].T, c=solution.scores[unknown], cmap="coolwarm", vmin=-1, vmax=1, s=14)
    figure.colorbar(shown, ax=labels)
    grid = np.stack(np.meshgrid(np.linspace(-3.2, 3.2, 120), np.linspace(-3, 3, 100)), axis=-1)
    values = solution.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    contour.contourf(grid[..., 0], grid[..., 1], values, levels=15, cmap="coolwarm", alpha=0.6)
    contour.contour(grid[..., 0], grid[..., 1], values, levels=[-1, 0, 1], colors="k", linestyles=["--", "-", "--"])
    contour.scatter(*X.T, c=np.where(solution.labels > 0, "tab:red", "tab:blue"), s=10)
    for axes, title in ((given, "10 labelled, 60 unlabelled"), (contour, "SVM trained on all labels found")):
        axes.set_title(title)
    for axes in (given, labels, contour):
        axes.scatter(*X[y > 0].T, marker="o", edgecolors="k", facecolors="none", s=60)
        axes.scatter(*X[y < 0].T, marker="+", c="k", s=60)
    save_figure(figure, picture)


if __name__ == "__main__":
    for what, value in sdp_transduction(*sys.argv[1:]).items():
        print(f"{what}: {value:.3g}")
