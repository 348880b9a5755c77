"""
Constraints: what is known of points without labels
===================================================

Four groups of points, and one label in two of them. Which of the other two belongs to which class the points cannot
say; two links can, each a linear constraint on two outputs and one dual variable.

    python examples/plot_constraints.py links.png
"""

import dataclasses
import sys

import numpy as np

import convex_tsvm as ct
from convex_tsvm.data import Data
from convex_tsvm.plotting import plot_boundaries, save_figure

CENTRES = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])


def constraints(picture=None):
    """Errors of the TSVM without and with two must-links (0 with them), and what each link costs: its multiplier."""
    group = np.repeat(np.arange(4), 20)
    X = CENTRES[group] + 0.25 * np.random.default_rng(0).standard_normal((80, 2))
    truth = np.where(group % 2 == 0, 1.0, -1.0)
    y = np.where(np.arange(80) % 20 == 0, truth, 0.0) * (group < 2)
    problem = ct.Problem(X, y, kernel=ct.RBF(sigma=0.7), C=10)
    free = ct.cccp_tsvm(s=-0.3)
    # The first point of each group is linked to the first one of the group across.
    linked = dataclasses.replace(free, constraints=(ct.must_link(0, 40), ct.must_link(20, 60)))
    solutions = {"TSVM": ct.cccp(free, problem), "with two links": ct.cccp(linked, problem)}
    data = Data("four groups", X, y, truth, ("-1", "+1"))
    save_figure(plot_boundaries(data, solutions), picture)
    errors = {name: data.error(solution.labels) for name, solution in solutions.items()}
    return errors, solutions["with two links"].step.multipliers


if __name__ == "__main__":
    errors, multipliers = constraints(*sys.argv[1:])
    for name, error in errors.items():
        print(f"{name}: {100 * error:.1f} % of the unlabelled points wrong")
    print(f"multipliers of the links: {', '.join(f'{value:.3g}' for value in multipliers)}")
