"""
The losses, and how CCCP sees them
==================================

Each loss of the catalogue for unlabelled points (black), its convex part (blue), its concave part (orange), and the
convex surrogate that CCCP minimizes at a point with output 0.6 (dashed): above the loss everywhere, touching it there.

    python examples/plot_losses.py losses.png
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.plotting import save_figure


def losses(picture=None, at=0.6):
    """Largest amount by which a surrogate falls below its loss, which is to be zero."""
    catalogue = [
        ct.symmetric_hinge(),
        ct.symmetric_ramp(-0.3),
        ct.two_slope_symmetric_ramp(-0.4, 0.3),
        ct.symmetric_squared_hinge(),
        ct.flat_newton(),
        ct.relaxed_compact_symmetric_hinge(1.3, 0.5, -0.1),
    ]
    t, below = np.linspace(-2, 2, 801), 0.0
    figure = plt.figure(figsize=(12, 6), layout="constrained")
    for place, loss in enumerate(catalogue):
        axes = figure.add_subplot(2, 3, place + 1)
        convex, concave = loss.split()
        surrogate = convex(t) + concave(at) + concave.supergradient(at) * (t - at)
        below = max(below, float((loss(t) - surrogate).max()))
        ct.plot_loss(loss, at=at, ax=axes, span=(-2, 2))
        axes.set_ylim(-2, 3)
        axes.set_title(loss.name, fontsize=10)
    save_figure(figure, picture)
    return {"surrogate below loss": (below, 0.0)}


if __name__ == "__main__":
    print(losses(*sys.argv[1:]))
