"""Figures 8 and 9 of chapelle2008: the three cars of COIL, and the error against the number of annealing steps."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from datasets import read
from tasks import SIX, Cell

STEPS = (1, 2, 4, 8, 16, 32)


def figure_8(path):
    """The first picture of each car, 32 x 32 pixels."""
    file = read("coil3")
    figure, axes = plt.subplots(1, 3, figsize=(6, 2.2), layout="constrained")
    for ax, car in zip(axes, np.unique(file.y), strict=True):
        ax.imshow(file.X[np.flatnonzero(file.y == car)[0]].reshape(32, 32).T, cmap="gray")
        ax.set_axis_off()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def figure_9(known, path):
    """Draw it, of what is known."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for method, marker in zip((*SIX, "DA"), "o^vs<>D", strict=True):
        found = [known.figures.get(Cell("text", 0, method, steps=steps).key) for steps in STEPS]
        points = [(s, one["error"]) for s, one in zip(STEPS, found, strict=True) if one is not None]
        if points:
            axes.plot(*zip(*points, strict=True), marker=marker, label=method)
    axes.set_xscale("log", base=2)
    axes.set_xticks(STEPS, [str(s) for s in STEPS])
    axes.set(xlabel="annealing steps", ylabel="error on unlabelled points, %", title="text, first split")
    axes.legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=120)
    plt.close(figure)
