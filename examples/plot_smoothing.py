"""
Annealing, smoothing, continuation
==================================

Annealing and smoothing make losses with few minima, which turn into the S3VM's (Chapelle, Sindhwani and Keerthi 2008,
Figures 4 to 6).  Claims: the annealed loss becomes ``max(0, 1 - |t|)²`` as the temperature falls; a function with two
minima has only one when it is smoothed by a wide enough Gaussian; and tracking this minimum while the width falls ends
in the lower of the two, where descent alone, from the same start near the other, does not.
"""

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.losses import annealed, smoothed
from convex_tsvm.plot import CYCLE

t = np.linspace(-3, 3, 1201)

# %%
# Left: what an unlabelled point pays when its label is a probability, at falling temperatures (in units of C*).  Right:
# exp(-5 t²) convolved with Gaussians of falling width.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for temperature, shade in zip((4.0, 2.0, 1.0, 0.4, 0.05), np.linspace(0.8, 0.0, 5), strict=True):
    left.plot(t, annealed(ct.squared_hinge(), temperature)(t), color=str(shade), label=f"T = {temperature:g} C*")
left.set(ylim=(-2.5, 1.1), title="Annealed squared hinge", xlabel="output f", ylabel="loss")
for width, shade in zip((1.0, 0.6, 0.3, 0.1, 0.0), np.linspace(0.8, 0.0, 5), strict=True):
    right.plot(t, smoothed(ct.losses.exponential(), width)(t), color=str(shade), label=f"width {width:g}")
right.set(title="exp(-5 f²), smoothed", xlabel="output f", ylabel="loss")
for axes in (left, right):
    axes.legend()

cold = np.abs(annealed(ct.squared_hinge(), 1e-4)(t) - ct.losses.symmetric_squared_hinge()(t)).max()
print(f"at T = 0.0001 C* the annealed loss is within {cold:.1e} of the S3VM's")
assert cold < 1e-3

# %%
# A function of one variable with a minimum at -1.2 and a lower one at 1, and what gradient descent finds in it.
narrow = ct.losses.PLQ([-1.7, -0.7], [(0, 0, 1), (2.6, 6.24, 4.094), (0, 0, 1)])
wide = ct.losses.PLQ([0.0, 2.0], [(0, 0, 1), (1, -2, 1), (0, 0, 1)])
function = (narrow + wide - 1.0) + ct.losses.PLQ([], [(0.02, 0, 0)])


def descent(loss, x, step=0.01):
    """Where gradient descent from x ends."""
    for _ in range(20_000):
        slope = float(loss.derivative(x))
        if abs(slope) < 1e-8:
            break
        x -= step * slope
    return x


alone = descent(function, -0.9)
print(f"descent from -0.9 ends at {alone:.2f}, the worse of the two")
assert abs(alone + 1.19) < 0.01

# %%
# Continuation: the minimum of the smoothed function is tracked while the Gaussian narrows.
figure, axes = plt.subplots(figsize=(10.5, 4.5), layout="constrained")
at = -0.9
for width, color in zip((1.0, 0.5, 0.25, 0.0), CYCLE, strict=False):
    loss = smoothed(function, width)
    at = descent(loss, at)
    axes.plot(t, loss(t), color=color, label=f"width {width:g}: minimum at {at:.2f}")
    axes.plot([at], [loss(at)], "*", color=color, markersize=14)
axes.set(ylim=(-0.1, 1.3), title="Continuation", xlabel="x", ylabel="value")
axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
assert abs(at - 0.98) < 0.01
plt.show()
