"""
Annealing, smoothing, continuation
==================================

Three ways to a loss that has few minima at first and ends as the S3VM's (Chapelle, Sindhwani and Keerthi 2008,
Figures 4 to 6).  Left: what an unlabelled point pays when its label is a probability, at falling temperatures; at
temperature 0 it is ``max(0, 1 - |t|)²``.  Middle: exp(-5 t²) convolved with Gaussians of falling width.  Right: a
function with two minima (blue), smoothed (green, then orange); the star is the minimum that is tracked while the
width falls, and it ends in the lower one.

    python examples/plot_smoothing.py smoothing.png
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.losses import annealed, smoothed
from convex_tsvm.plotting import save_figure

TEMPERATURES = (4.0, 2.0, 1.0, 0.4, 0.05)
WIDTHS = (1.0, 0.6, 0.3, 0.1, 0.0)


def valleys():
    """A piecewise quadratic function with a minimum of 0.35 at -1.2 and one of 0 at 1, which is wider."""
    narrow = ct.PLQ([-1.7, -0.7], [(0, 0, 1), (2.6, 6.24, 4.094), (0, 0, 1)])
    wide = ct.PLQ([0.0, 2.0], [(0, 0, 1), (1, -2, 1), (0, 0, 1)])
    return (narrow + wide - 1.0) + ct.PLQ([], [(0.02, 0, 0)])


def smoothing(picture=None):
    """Where each minimum of the third panel is, by the width; and how far the coldest loss is from the S3VM's."""
    t = np.linspace(-3, 3, 1201)
    figure = plt.figure(figsize=(13, 4), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    shades = np.linspace(0.8, 0.0, len(TEMPERATURES))
    for temperature, shade in zip(TEMPERATURES, shades, strict=True):
        first.plot(t, annealed(ct.squared_hinge(), temperature)(t), color=str(shade), label=f"T = {temperature:g} C*")
    first.set(ylim=(-2.5, 1.1), title="annealed squared hinge", xlabel="output t", ylabel="loss")
    for width, shade in zip(WIDTHS, shades, strict=True):
        second.plot(t, smoothed(ct.exponential(), width)(t), color=str(shade), label=f"width {width:g}")
    second.set(title="exp(-5 t²), smoothed", xlabel="output t")
    function, minima, at = valleys(), {}, -0.5
    for width, color in ((1.0, "tab:green"), (0.5, "tab:orange"), (0.25, "tab:red"), (0.0, "tab:blue")):
        loss = smoothed(function, width)
        at = minimum_from(loss, at)
        minima[width] = at
        third.plot(t, loss(t), color=color, label=f"width {width:g}")
        third.plot([at], [loss(at)], "*", color=color, markersize=12)
    third.set(ylim=(-0.1, 1.3), title="continuation", xlabel="x")
    for axes in (first, second, third):
        axes.legend(frameon=False, fontsize=8)
    save_figure(figure, picture)
    cold = annealed(ct.squared_hinge(), 1e-4)(t) - ct.symmetric_squared_hinge()(t)
    return {"minima": minima, "from one start alone": minimum_from(function, -0.9), "cold": float(np.abs(cold).max())}


def minimum_from(loss, x, step=0.01):
    """Where gradient descent from x ends."""
    for _ in range(20_000):
        slope = float(loss.derivative(x))
        if abs(slope) < 1e-8:
            break
        x -= step * slope
    return x


if __name__ == "__main__":
    print(smoothing(*sys.argv[1:]))
