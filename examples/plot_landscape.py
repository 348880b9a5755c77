"""
Switching, annealing and continuation on one landscape
======================================================

The objective of an S3VM with two weights can be drawn: a landscape with valleys.  All methods descend in it, and each
makes it easier in its own way: CCCP and label switching raise the cost of unlabelled points from nearly nothing,
annealing begins with labels that are probabilities, continuation with a smoothed objective, Newton's method with a loss
that is flat near 0.  Claims: CCCP and label switching stay in the valley of the supervised SVM; annealing, continuation
and Newton's method leave it for one where the objective is at most a third as high.
"""

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct

# %%
# Three groups of points along lines through the origin, at 0, 75 and 105 degrees, and a label on either end of the
# first.  A function f(x) = w · x without bias has two weights.  The supervised SVM has its boundary at 90 degrees, in
# the middle of the smallest gap between the groups.
rng = np.random.default_rng(4)
degrees = np.repeat([0.0, 75.0, 105.0], 25) + 6 * rng.normal(size=75)
sides = np.where(rng.random(75) < 0.5, 1.0, -1.0)
length = 1.5 + 0.2 * rng.normal(size=75)
X = (sides * length)[:, None] * np.column_stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
y = np.zeros(75)
for side in (1.0, -1.0):
    y[np.argmin(np.where(sides == side, np.abs(degrees), np.inf))] = side
problem = ct.Problem(X, y, C=1.0, C_unlabeled=0.2, balance=None)
models = {loss: ct.tsvm(loss, balance=None, fit_intercept=False) for loss in ("squared_hinge", "exp", "flat")}

# %%
# The objective over w.  Each valley is a direction of w along which the outputs of all points are large.
span = np.linspace(-2.2, 2.2, 161)
grid = np.stack(np.meshgrid(span, span), axis=-1)
flat = grid.reshape(-1, 2)


def height(model):
    """The objective at all weights of the grid."""
    instance = ct.Instance(model, problem)
    values = [instance.objective(X @ w, 0.5 * float(w @ w)) for w in flat]
    return np.reshape(values, grid.shape[:2])


landscape = height(models["squared_hinge"])

# %%
# The methods, all from the supervised SVM, and where they end.
model = models["squared_hinge"]
found = {
    "CCCP": ct.cccp(model, problem),
    "CCCP, C* raised": ct.cccp(model, problem, annealing=10),
    "label switching": ct.switching(model, problem),
    "annealing": ct.annealing(model, problem),
    "continuation": ct.continuation(models["exp"], problem),
    "∇S3VM": ct.gradient(models["exp"], problem),
    "Newton-S3VM": ct.newton(models["flat"], problem),
}
ends = {
    name: np.asarray(one.weights if one.weights is not None else X.T @ one.coefficients) for name, one in found.items()
}
instance = ct.Instance(model, problem)
heights = {name: instance.objective(X @ w, 0.5 * float(w @ w)) for name, w in ends.items()}
for name, w in ends.items():
    print(f"{name:16s} w = ({w[0]:5.2f}, {w[1]:5.2f}), objective {heights[name]:.3f}")

# %%
figure, axes = plt.subplots(figsize=(9.5, 6.5), layout="constrained")
levels = np.geomspace(landscape.min(), landscape.max(), 30)  # finer where it is deep
axes.contourf(*np.moveaxis(grid, -1, 0), landscape, levels=levels, cmap="Blues_r", norm="log")
axes.contour(*np.moveaxis(grid, -1, 0), landscape, levels=levels, colors="white", linewidths=0.3)
for place, ((name, w), marker) in enumerate(zip(ends.items(), "osD^v<>", strict=True)):
    size = 18 - 2 * place  # what ends at the same place stays visible
    label = f"{name}: {heights[name]:.2f}"
    axes.plot(*w, marker, markersize=size, markeredgecolor="black", label=label, linestyle="none")
axes.plot(0, 0, "k+", markersize=10)
axes.set(xlabel="$w_1$", ylabel="$w_2$", title="Where methods end", aspect="equal")
figure.legend(loc="outside right center", title="where, and objective", markerscale=0.6)

print(f"the lowest point of the grid: {landscape.min():.3f}")
for name in ("CCCP", "CCCP, C* raised", "label switching"):
    assert abs(ends[name][1]) < 0.1
for name in ("annealing", "continuation", "Newton-S3VM"):
    assert heights[name] < heights["CCCP"] / 3

# %%
# Why CCCP and label switching stay: on the line from one valley to the other the objective has a hill.
way = np.linspace(-0.3, 1.3, 200)
figure, axes = plt.subplots(figsize=(9.6, 4), layout="constrained")
for name, model in models.items():
    instance = ct.Instance(model, problem)
    points = [(1 - share) * ends["CCCP"] + share * ends["annealing"] for share in way]
    axes.plot(way, [instance.objective(X @ w, 0.5 * float(w @ w)) for w in points], label=name)
axes.set(xlabel="from where CCCP ends (0) to where annealing ends (1)", ylabel="objective", title="The hill between")
axes.legend(title="loss", loc="center left", bbox_to_anchor=(1.01, 0.5))
plt.show()
