"""
Few labels in practice
======================

Three classes of 60, 30 and 10 % of the points, with ten labels each: what can be found out without knowing the truth.
Claims: with equally many labels of every class, a balance taken from the labels is wrong, and a warning says so; with
inferred shares, the default, at least 5 % more of the points get the right label, also after a search; and with few
labels, unlabelled points lower the error by more than 5 points.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct

# %%
# Points, true classes, and labels: ten of each class, -1 elsewhere.
random, centers = np.random.default_rng(0), np.random.default_rng(1).standard_normal((3, 10))
truth = random.choice(3, 400, p=(0.6, 0.3, 0.1))
X = 2.5 * (centers / np.linalg.norm(centers, axis=1)[:, None])[truth] + random.standard_normal((400, 10))
shown = np.concatenate([random.permutation(np.flatnonzero(truth == k))[:10] for k in range(3)])
y = np.full(400, -1)
y[shown] = truth[shown]
hidden = y == -1


def accuracy(clf):
    """Share of the points without labels that are labelled rightly; in practice nobody knows it."""
    return float(np.mean(clf.transduction_[hidden] == truth[hidden]))


# %%
# With the balance taken from the labels, and the warning.
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    counted = ct.TransductiveSVC(balance="labeled").fit(X, y)
print(told[0].message)
print(f"{accuracy(counted):.1%} right")
assert "as if drawn per class" in str(told[0].message)

# %%
# By default the shares are inferred, for several classes from the counts of labels, which say little where they are
# equal, and from the probabilities that supervised SVMs give to unlabelled points.
default = ct.TransductiveSVC().fit(X, y)
print("shares", default.class_shares_.round(2), "±", default.class_shares_error_.round(2))
print(f"{accuracy(default):.1%} right")
assert accuracy(default) > accuracy(counted) + 0.05

# %%
# A comparison with the supervised SVM.
print(ct.selection.compare_supervised(default, X, y))

# %%
# A search for costs and the width of the kernel.  It leaves the defaults only for a candidate that is clearly better.
search = ct.TransductiveSearchCV(ct.TransductiveSVC()).fit(X, y)
print(search.best_params_, f"{search.best_score_:.1%} of the labelled points left out are right")
print(f"{accuracy(search):.1%} right")
ct.plot.candidates(search)
assert accuracy(search) > accuracy(counted) + 0.05

# %%
# How much do unlabelled points help?  A learning curve needs all true labels, and so the shares are known, too.
known = {0: 0.6, 1: 0.3, 2: 0.1}
curve = ct.selection.learning_curve(
    ct.TransductiveSVC(C=10, balance=known), X, truth, n_labeled=[10, 30, 100], n_draws=3
)
print(curve)
ct.plot.learning_curve(curve)
assert curve.errors[0].mean() < curve.supervised_errors[0].mean() - 0.05
plt.show()
