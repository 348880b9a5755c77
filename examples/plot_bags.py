"""
Bags of points
==============

In multi-instance learning a label belongs to a bag of points: it is +1 if any of them is positive.  The MI-SVM of
Andrews, Tsochantaridis and Hofmann (2003) charges a bag the hinge loss of its largest output, which is a term of
several outputs and, for positive bags, the difference of two convex ones.  Claims: on bags of handwritten digits, which
are positive if there is a 3 among them, fewer new bags are wrong than by an SVM that gives every point the label of its
bag; the objective falls with every step; and the threes in positive bags are found, though no point has a label.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import convex_tsvm as ct

# %%
# Bags of five digits of three kinds, half of them with one or two threes; half of the bags are for training.
rng = np.random.default_rng(3)
digits = load_digits()
threes, others = np.flatnonzero(digits.target == 3), np.flatnonzero(np.isin(digits.target, (5, 8)))
signs = np.resize([1, -1], 80)
rows = []
for sign in signs:
    count = int(rng.integers(1, 3)) if sign > 0 else 0
    rows.append(rng.permutation(np.r_[rng.choice(threes, count), rng.choice(others, 5 - count)]))
X, target = digits.data[np.concatenate(rows)] / 16, digits.target[np.concatenate(rows)]
bags = np.arange(len(X)).reshape(-1, 5)
train = np.arange(80) < 40

# %%
# A negative bag pays C max(0, 1 + max f).  A positive one pays C max(0, 1 - max f) = C max(1, max f) - C max f, of
# which the second part is subtracted: its tangent is the output of the bag's best point, the witness.  Any loss of a
# largest output is split in this way.
C = 1.0
by_bags = ct.formulations.bag_loss(ct.hinge(), bags[train], signs[train], cost=C)
mi_svm = ct.Formulation(ct.hinge(), balance=None, additions=[by_bags])
points = bags[train].ravel()
problem = ct.Problem(X[points], np.zeros(len(points)), balance=None)

# %%
# The steps begin at the SVM that gives every point the label of its bag.
of_points = np.repeat(signs[train], 5).astype(float)
svm = ct.cccp(ct.Formulation(ct.hinge(), balance=None), problem.replace(y=of_points, C=C / 5, C_unlabeled=None))
solution = ct.cccp(mi_svm, problem, start=svm)
objectives = [ct.Instance(mi_svm, problem).objective(svm.scores, 0.0), *(one.objective for one in solution.history)]
print(f"{len(solution.history)} steps, objectives {', '.join(f'{one:.3f}' for one in objectives[1:])}")
assert all(np.diff(objectives[1:]) <= 1e-6)


def wrong(f):
    """The share of new bags whose largest output has the wrong sign."""
    largest = f.decision_function(X[bags[~train].ravel()]).reshape(-1, 5).max(axis=1)
    return np.mean(np.sign(largest) != signs[~train])


print(f"new bags that are wrong: {wrong(svm):.1%} by labels of points, {wrong(solution):.1%} by bags")
assert wrong(solution) < wrong(svm)

# %%
# The witnesses: the points with the largest outputs of positive bags.
positive = bags[train & (signs > 0)]
best = positive[np.arange(len(positive)), solution.scores[positive].argmax(axis=1)]
found = np.mean(target[best] == 3)
print(f"{found:.0%} of the witnesses are threes, of all points in positive bags {np.mean(target[positive] == 3):.0%}")
assert found > 0.9

figure, axes = plt.subplots(4, 5, figsize=(7, 5.6))
for row, bag in zip(axes, positive[:4], strict=True):
    for ax, i in zip(row, bag, strict=True):
        ax.imshow(X[i].reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"{solution.scores[i]:+.1f}", color="tab:red" if i in best else "black")
figure.suptitle("Four positive bags, with outputs")
figure.tight_layout()
plt.show()
