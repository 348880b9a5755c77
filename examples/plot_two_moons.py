"""
Two moons: what unlabelled points are good for
==============================================

Six labelled points say little about two moons. A supervised SVM draws its boundary between those six; the transductive
SVM of Collobert et al. (2006) also keeps the boundary away from the points without labels, and so finds the gap.

    python examples/plot_two_moons.py moons.png
"""

import sys

import convex_tsvm as ct
from convex_tsvm.data import load_data
from convex_tsvm.plotting import plot_boundaries, save_figure


def two_moons(picture=None, shown=2):
    """Mean error of the SVM and of the TSVM over ten draws of the six labels; the TSVM's is to be a third at most.

    The picture shows the draw number ``shown``.
    """
    errors = {"SVM": [], "TSVM": []}
    for split in range(10):
        data = load_data("two_moons", split=split)
        problem = ct.Problem(data.X, data.y, kernel=ct.RBF(sigma=0.3), C=10)
        solutions = {"SVM": ct.cccp(ct.svm(), problem), "TSVM": ct.cccp(ct.cccp_tsvm(s=-0.3), problem)}
        for name, solution in solutions.items():
            errors[name].append(data.error(solution.labels))
        if split == shown:
            save_figure(plot_boundaries(data, solutions), picture)
    return {name: sum(found) / 10 for name, found in errors.items()}


if __name__ == "__main__":
    for name, error in two_moons(*sys.argv[1:]).items():
        print(f"{name:5s} {100 * error:.1f} % of the unlabelled points wrong, on average over ten draws of the labels")
