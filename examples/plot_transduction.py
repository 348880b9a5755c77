"""
Transductive or inductive?
==========================

An S3VM labels the points it was trained with, and new ones.  Is it better on those that it has seen?  Chapelle,
Sindhwani and Keerthi (2008, §5.5 and Figure 10) find that it is where unlabelled and test points are not alike.
Claims: the larger the angle between the principal directions of the two sets, the more it pays to have seen a point;
and on the same test points an S3VM that has seen them errs less than one that has seen others of the same
distribution (Collobert, Sinz, Weston and Bottou 2006, Table 6).
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import convex_tsvm as ct
from convex_tsvm.plot import COLORS

# %%
# Two Gaussians in fifty dimensions with a Bayes error of 5 %, as the set g50c of the papers, and Newton-S3VM, the
# fastest of the methods at this size.
DIMENSIONS = 50


def gaussians(n, rng):
    """Two Gaussians in 50 dimensions with a Bayes error of 5 %, as the set g50c of the papers, and their signs."""
    truth = np.resize([1.0, -1.0], n)
    return rng.standard_normal((n, DIMENSIONS)) + truth[:, None] * norm.isf(0.05) / np.sqrt(DIMENSIONS), truth


def fitted(X, truth, n_labeled=50):
    """Newton-S3VM on points of which the first are labelled."""
    y = np.where(np.arange(len(truth)) < n_labeled, truth, 0.0)
    problem = ct.Problem(X, y, kernel=ct.RBF(38.0), C=19.0, C_unlabeled=19.0)
    return ct.newton(ct.tsvm("flat"), problem)


def principal(X):
    """The direction along which points vary most, with the first of its large entries positive."""
    axis = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][0]
    return axis * np.sign(axis[np.argmax(np.abs(axis) > 0.77 * np.abs(axis).max())])


def biased_split(X, share, strength, rng):
    """Indices of unlabelled and of test points.

    Test points on one side of the mean, along the principal direction, tend to lie to one side along a random direction
    too, and those on the other side to the other.  That turns their principal direction one way and that of the rest
    the other way, and test points are no nearer to the boundary for it.
    """
    axis, other = principal(X), rng.standard_normal(X.shape[1])
    other -= (other @ axis) * axis
    centred = X - X.mean(axis=0)
    together = np.sign(centred @ axis) * (centred @ other)
    order = np.argsort(strength * together / together.std() + rng.standard_normal(len(X)))
    cut = round((1 - share) * len(X))
    return order[:cut], order[cut:]


def angle(first, second):
    """Degrees between the first principal directions of two sets of points."""
    return float(np.degrees(np.arccos(min(1.0, abs(principal(first) @ principal(second))))))


# %%
# Does the angle matter?  For more and more biased draws, the error on the unlabelled points minus that on the test
# points: below zero, it pays to have seen a point.
rng, rows = np.random.default_rng(0), []
for strength in np.linspace(0, 4, 16):
    X, truth = gaussians(550, rng)
    labeled, others = np.arange(50), np.arange(50, 550)
    seen, test = (others[part] for part in biased_split(X[others], 0.25, strength, rng))
    used = np.concatenate([labeled, seen])
    wrong = fitted(X[used], truth[used]).predict(X) != truth
    rows.append((angle(X[seen], X[test]), 100 * (wrong[seen].mean() - wrong[test].mean())))
rows = np.array(rows)
correlation = np.corrcoef(rows.T)[0, 1]
print(f"correlation of angle and difference: {correlation:.2f}")
assert correlation < 0

# %%
# The same test points, labelled by an S3VM that has seen other points of the same distribution, and by one that has
# seen them.
pairs = []
for _ in range(16):
    X, truth = gaussians(50 + 250 + 250, rng)
    sets = [np.concatenate([np.arange(50), np.arange(start, start + 250)]) for start in (50, 300)]
    pairs.append([100 * (fitted(X[used], truth[used]).predict(X[300:]) != truth[300:]).mean() for used in sets])
pairs = np.array(pairs)
inductive, transductive = pairs.mean(axis=0)
print(f"not seen {inductive:.2f} %, seen {transductive:.2f} %")
assert transductive < inductive

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
left.plot(rows[:, 0], rows[:, 1], "o")
ends = np.array([rows[:, 0].min(), rows[:, 0].max()])
left.plot(ends, np.polyval(np.polyfit(*rows.T, 1), ends), color="gray")
left.axhline(0, color="black", linewidth=0.5)
left.set(xlabel="angle between principal directions, degrees", ylabel="error, seen minus unseen points, %")
left.set_title("Points that are not alike")
right.plot([0, 1], pairs.T, color=COLORS["error"], alpha=0.3)
right.plot([0, 1], pairs.mean(axis=0), "o-", color="black")
right.set_xticks([0, 1], ["inductive:\nnot seen", "transductive:\nseen"])
right.set(ylabel="error on the same points, %", xlim=(-0.2, 1.2), title="Each line is a draw")
plt.show()
