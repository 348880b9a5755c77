"""
Which structure has my data?
============================

Unlabelled points help if the classes have the structure that a method assumes: round clusters, threads along which
neighbours are of one class, or a plane between them.  Which one it is, nobody knows beforehand.  Here are four kinds of
data in the plane, with twelve labels each, and four families of SVMs; :class:`TransductiveEnsemble
<convex_tsvm.selection.TransductiveEnsemble>` weighs the families by how well their kernels predict left-out labels.
Claims: the linear family is as good as any for clouds, but useless for rings, where its weight is below 0.1; the other
families are right about rings and moons; and the average is nowhere more than a point behind the best family, though
nobody told it which that is.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles, make_moons

import convex_tsvm as ct


# %%
# Two clouds, two moons, two rings, and one cloud that a line divides, where there is no gap that a method could find.
def clouds(rng):
    y = rng.integers(0, 2, 300)
    return rng.normal(size=(300, 2)) + 3.2 * y[:, None] * [1, 0.4], y


def divided(rng):
    X = rng.normal(size=(300, 2))
    return X, (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)


KINDS = {
    "two clouds": clouds,
    "two moons": lambda rng: make_moons(300, noise=0.12, random_state=0),
    "two rings": lambda rng: make_circles(300, noise=0.06, factor=0.5, random_state=0),
    "one cloud, divided": divided,
}

# %%
# Errors on unlabelled points, means over five draws of twelve labels, six of each class.
DRAWS = 5
families = ("rbf", "graph", "weak graph", "linear", "average")
errors, weights, shown = {}, {}, {}
for kind, make in KINDS.items():
    found, speaks = [], []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        X, truth = make(rng)
        y = np.full(len(X), -1)
        for k in (0, 1):
            y[rng.choice(np.flatnonzero(truth == k), 6, replace=False)] = k
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf = ct.selection.TransductiveEnsemble().fit(X, y)
        hidden = y < 0
        labels = [one.predict(X) for one in clf.estimators_.values()] + [clf.transduction_]
        found.append([100 * np.mean(one[hidden] != truth[hidden]) for one in labels])
        speaks.append([one.weight for one in clf.evidence_.values()])
        shown[kind] = clf, X, y, truth
    errors[kind], weights[kind] = np.mean(found, axis=0), np.mean(speaks, axis=0)
    told = ", ".join(f"{name} {error:.1f}" for name, error in zip(families, errors[kind], strict=True))
    print(f"{kind}: errors in % of {told}; weights {', '.join(f'{one:.2f}' for one in weights[kind])}")

# %%
# The claims.
table = dict(zip(KINDS, np.array(list(errors.values())), strict=True))
assert table["two clouds"][3] <= table["two clouds"][:3].min() + 0.5
assert table["two rings"][3] > 30
assert weights["two rings"][3] < 0.1
assert max(table["two rings"][:3].max(), table["two moons"][:3].max()) < 10 < table["two moons"][3]
assert all(row[4] <= row[:4].min() + 1 for row in table.values())

# %%
# Probabilities of the average, from one class (red) to the other (blue), with the labelled points as larger marks and
# the weights of the families.
figure, axes = plt.subplots(2, 2, figsize=(9, 8))
for ax, (kind, (clf, X, y, truth)) in zip(axes.ravel(), shown.items(), strict=True):
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    grid = np.stack(np.meshgrid(np.linspace(low[0], high[0], 80), np.linspace(low[1], high[1], 80)), axis=-1)
    p = clf.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(80, 80)
    ax.contourf(grid[..., 0], grid[..., 1], p, levels=np.linspace(0, 1, 11), cmap="RdBu", alpha=0.6)
    for k, color in enumerate(("firebrick", "navy")):
        ax.scatter(*X[truth == k].T, s=8, color=color)
        ax.scatter(*X[y == k].T, s=70, color=color, edgecolor="black")
    told = [f"{n} {w:.0%}" for n, w in zip(families, weights[kind], strict=False)]
    ax.set_title(f"{kind}\n{', '.join(told[:2])}\n{', '.join(told[2:])}")
    ax.set_xticks([])
    ax.set_yticks([])
figure.tight_layout()
plt.show()
