"""
When unlabelled points hurt
===========================

A semi-supervised SVM assumes that the boundary between the classes runs where points are rare.  Where it does not,
unlabelled points mislead.  Claims: on two clusters, each of which contains both classes, the TSVM errs more than the
SVM of the same labels; the share of points that both label alike shows that something is wrong; and the safe S4VM (Li
and Zhou 2015) stays near the SVM.
"""

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.plot import COLORS

# %%
# Two clusters, left and right; the classes are above and below.  Twelve points have labels.
rng = np.random.default_rng(0)
X = np.concatenate([rng.normal([-2, 0], [0.5, 1.0], (100, 2)), rng.normal([2, 0], [0.5, 1.0], (100, 2))])
truth = (X[:, 1] > 0).astype(int)
y = np.full(200, -1)
shown = rng.permutation(200)[:12]
y[shown] = truth[shown]
hidden = y == -1

# %%
# The SVM of the labels, the TSVM, and S4VM, with the same costs and kernel.
options = {"sigma": 2.0, "C": 10.0}
classifiers = {
    "SVM": ct.TransductiveSVC(**options, C_unlabeled=None),
    "TSVM": ct.TransductiveSVC(**options, C_unlabeled=10.0, annealing=10, balance="labeled"),
    "S4VM": ct.SafeTransductiveSVC(**options),
}
figure, axes = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
errors = {}
for ax, (name, clf) in zip(axes, classifiers.items(), strict=True):
    clf.fit(X, y)
    errors[name] = float(np.mean(clf.transduction_[hidden] != truth[hidden]))
    if name == "S4VM":
        colors = np.where(clf.transduction_ == 1, COLORS["positive"], COLORS["negative"])
        ax.scatter(*X.T, c=colors, s=12, alpha=0.6)
        ax.set(xlabel="feature 1", ylabel="feature 2")
    else:
        ct.plot.boundary(clf, X, y, ax=ax)
    ax.set_title(f"{name}: {100 * errors[name]:.1f} % error")

# %%
# What can be seen without the truth: SVM and TSVM disagree on many points, and the TSVM predicts left-out labels worse.
found = ct.selection.compare_supervised(classifiers["TSVM"], X, y, cv=4)
print(found)
print({name: f"{100 * error:.1f} %" for name, error in errors.items()})
assert errors["TSVM"] > errors["SVM"] + 0.1
assert errors["S4VM"] < errors["TSVM"]
assert found.agreement < 0.9
plt.show()
