"""
The losses, and how CCCP sees them
==================================

Six losses that the papers give to unlabelled points.  Claims: each loss is the sum of a convex and a concave part; the
convex part plus the tangent of the concave part at any output, the surrogate, is convex, nowhere below the loss, and
touches it there; and conjugating the convex part twice gives it back.
"""

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct

catalogue = [
    ct.symmetric_hinge(),
    ct.symmetric_ramp(-0.3),
    ct.losses.two_slope_symmetric_ramp(-0.4, 0.3),
    ct.losses.symmetric_squared_hinge(),
    ct.losses.flat_newton(),
    ct.losses.relaxed_compact_symmetric_hinge(1.3, 0.5, -0.1),
]

# %%
# Losses (black), their convex parts (light blue), concave parts (orange), and the surrogates that CCCP minimizes at a
# point whose output is 0.6 (dashed).
figure, panels = plt.subplots(3, 2, figsize=(11, 11), layout="constrained")
for axes, loss in zip(panels.flat, catalogue, strict=True):
    ct.plot.loss(loss, at=0.6, ax=axes, span=(-2, 2))
    axes.set(ylim=(-2, 3), title=loss.name)
    axes.get_legend().remove()
lines, labels = axes.get_legend_handles_labels()
figure.legend(lines, ["loss", *labels[1:]], loc="outside lower center", ncols=5)

# %%
# The claims, at many outputs.
t = np.linspace(-2, 2, 801)
for loss in catalogue:
    convex, concave = loss.split()
    assert np.allclose(convex(t) + concave(t), loss(t))
    assert convex.is_convex
    assert concave.is_concave
    for at in np.linspace(-1.9, 1.9, 39):
        surrogate = convex(t) + concave(at) + concave.supergradient(at) * (t - at)
        assert (loss(t) - surrogate).max() < 1e-12
        assert abs(convex(at) + concave(at) - loss(at)) < 1e-12
    assert np.allclose(convex.conjugate().conjugate()(t), convex(t))
    print(loss)

# %%
# The conjugate is what a point has in the dual.  For the hinge it is the line s on [-1, 0]: hence the box 0 <= α <= C.
# The convex part of the symmetric ramp has two kinks, and so its conjugate has two pieces.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
ct.plot.conjugate(ct.hinge(), ax=left).set_title("hinge")
ct.plot.conjugate(ct.symmetric_ramp(-0.3).split()[0], ax=right).set_title("convex part of the symmetric ramp")

# %%
# Sums, multiples, minima and reflections of losses are losses.
hinge = ct.hinge()
assert hinge.minimum(hinge.reflect()).isclose(ct.symmetric_hinge())
assert (hinge - ct.hinge(-0.3)).isclose(ct.ramp(-0.3))
plt.show()
