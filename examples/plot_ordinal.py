"""
Responses, quantiles, orders
============================

Points need not have one of two labels.  A group of points has a target and a sign for each, and pays ℓ(sign (f(x) -
target)): regression is a group with the responses as targets.  Claims: a tube gives what libsvm's support vector
regression gives; a capped tube is not misled by outliers, and its function is proven to be nearly the best; with
pinball losses at most a tenth of the responses, or nine tenths, are below a function, and at least as many are not
above it; with a sign for each pair of a point and a threshold, the thresholds of five ordered classes come out in
order, and predictions are nearer to the true classes than those of a classifier that knows no order; and a function
learned from pairs of points ranks others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale
from sklearn.svm import SVC, SVR

import convex_tsvm as ct

# %%
# Thirty responses around a curve, and six outliers.
rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, 36))
response = np.sin(x) + 0.1 * rng.normal(size=36)
outliers = rng.choice(36, 6, replace=False)
response[outliers] += 2.5


def fitted(loss, cost=10.0):
    """The function with the responses as targets."""
    group = ct.PointGroup(range(36), loss, cost, target=response)
    problem = ct.Problem(x[:, None], np.zeros(36), kernel=ct.RBF(1.0), balance=None)
    model = ct.Formulation(ct.hinge(), balance=None, groups=group)
    return model, problem, ct.cccp(model, problem, tol=1e-6)


tube = ct.losses.epsilon_insensitive(0.1)
_, _, regression = fitted(tube)
theirs = SVR(C=10.0, epsilon=0.1, gamma=0.5, tol=1e-6).fit(x[:, None], response)
grid = np.linspace(0, 6, 200)[:, None]
difference = np.abs(regression.decision_function(grid) - theirs.predict(grid)).max()
print(f"tube: libsvm's function to {difference:.0e}")
assert difference < 1e-3

# %%
# Beyond a distance of 0.8 a point pays no more: the tube is capped, and no longer convex.  Exact search proves that the
# objective of the concave-convex steps is within two thousandths of the best.
model, problem, capped = fitted(tube.minimum(0.7))
exact = ct.exact_search(model, problem, gap=1e-3)
error = [np.abs(one.decision_function(grid) - np.sin(grid[:, 0])).mean() for one in (regression, capped)]
print(f"mean distance from the curve: {error[0]:.2f} with the tube, {error[1]:.2f} capped")
print(f"objective {capped.objective:.3f}, no function is below {exact.lower_bound:.3f}")
assert error[1] < error[0] / 2
assert exact.status == "optimal"
assert capped.objective < exact.objective * 1.002

# %%
# Quantiles: being below the response costs nine times as much as being above it, and the other way round.
quantiles = {}
for share in (0.1, 0.9):
    quantiles[share] = fitted(ct.losses.pinball(share))[2]
    distance = response - quantiles[share].scores
    below, at_most = np.mean(distance < -1e-4), np.mean(distance < 1e-4)
    print(f"{below:.0%} of the responses are below the quantile of {share:.0%}, {at_most:.0%} not above it")
    assert below <= share <= at_most

figure, ax = plt.subplots(figsize=(10, 4))
ax.plot(x, response, "k.", label="responses")
ax.plot(grid, np.sin(grid), "k:", lw=1, label="curve")
ax.plot(grid, regression.decision_function(grid), color="tab:orange", label="tube")
ax.plot(grid, capped.decision_function(grid), color="tab:blue", label="capped tube")
ax.fill_between(
    grid[:, 0], *(one.decision_function(grid) for one in quantiles.values()), color="tab:gray", alpha=0.2,
    label="quantiles 10 % to 90 %",
)  # fmt: skip
ax.set(xlabel="x", ylabel="response")
ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
figure.tight_layout()

# %%
# Ordinal labels: the progress of diabetes in five classes of equal size.  Each pair of a point and a threshold is a
# point, whose sign is 1 if the class is above the threshold (Li and Lin 2007).  Four features say which threshold it
# is, and their weights are the thresholds.
X, progress = scale(load_diabetes().data), load_diabetes().target
classes = np.searchsorted(np.quantile(progress, [0.2, 0.4, 0.6, 0.8]), progress)
shuffled = rng.permutation(len(X))
train, test, WIDTH = shuffled[:150], shuffled[150:], 4.0
base = ct.RBF(WIDTH)


def with_threshold(points):
    """Each point with each of four thresholds, a row for each pair."""
    return np.hstack([np.repeat(points, 4, axis=0), 10.0 * np.tile(np.eye(4), (len(points), 1))])


def kernel(A, B):
    return base(A[:, :-4], B[:, :-4]) + A[:, -4:] @ B[:, -4:].T


extended = with_threshold(X[train])
above = np.where(classes[train][:, None] > np.arange(4), 1.0, -1.0).ravel()
pairs_of_both = ct.PointGroup(range(len(extended)), ct.hinge(), cost=1.0, sign=above)
ordinal = ct.cccp(
    ct.Formulation(ct.hinge(), balance=None, fit_intercept=False, groups=pairs_of_both),
    ct.Problem(extended, np.zeros(len(extended)), kernel=kernel, balance=None),
)
outputs = ordinal.decision_function(with_threshold(X[test])).reshape(-1, 4)
found = (outputs > 0).sum(axis=1)
nominal = SVC(C=1.0, gamma=1 / (2 * WIDTH**2)).fit(X[train], classes[train]).predict(X[test])
steps = np.diff(outputs[0])
distance = [np.abs(one - classes[test]).mean() for one in (found, nominal)]
print(f"mean distance from the class: {distance[0]:.2f} ordinal, {distance[1]:.2f} nominal")
assert (steps < 0).all(), "the thresholds are in order"
assert distance[0] < distance[1]

# %%
# Ranking: 600 pairs of training points, whose label says which of the two has progressed further, order other points.
first, second = rng.choice(train, 600), rng.choice(train, 600)
unequal = progress[first] != progress[second]
first, second = first[unequal], second[unequal]
points, of_pairs = ct.kernels.pairs(X, first, second, base)
order = np.sign(progress[first] - progress[second])
ranking = ct.cccp(
    ct.Formulation(ct.hinge(), balance=None, fit_intercept=False),
    ct.Problem(points, order, kernel=of_pairs, C_unlabeled=None, balance=None),
)
f = ranking.decision_function(X[test])
i, j = np.triu_indices(len(test), 1)
right = np.mean(np.sign(f[i] - f[j]) == np.sign(progress[test][i] - progress[test][j]))
print(f"{right:.1%} of the pairs of other points are in order")
assert right > 0.7

figure, ax = plt.subplots(figsize=(5, 4))
ax.plot(f, progress[test], ".", ms=4)
ax.set(xlabel="output of the ranking", ylabel="progress of diabetes")
figure.tight_layout()
plt.show()
