"""
A formulation of your own
=========================

A formulation is what is minimized: a loss for labelled points, one for the others, a balance, constraints, a
regularizer.  The one on this page is in none of the papers: an S3VM that trusts its labels only so far, with a ramp on
the labelled points too, so that a wrong label costs no more than a certain amount.  Claims: everything else follows
from its two losses; the derivation is checked line by line; and where a single wrong label, of a point far away, turns
the boundary of the TSVM with the hinge loss, this one errs at least a quarter less.
"""

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.data import Data

# %%
# The losses: a ramp, which is the hinge where y f >= 0 and constant below, and the symmetric ramp.
robust = ct.Formulation(
    labeled=ct.ramp(0.0), unlabeled=ct.symmetric_ramp(s=-0.3), balance="linear", name="TSVM of doubted labels"
)
print(robust)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
ct.plot.loss(robust.labeled, at=-1.5, ax=left).set_title("a labelled point, by y f")
ct.plot.loss(robust.unlabeled, at=0.6, ax=right).set_title("an unlabelled point, by f")

# %%
# Two Gaussians with twenty labels.  One of them is wrong, and its point is ten units away.
truth = np.resize([1.0, -1.0], 200)


def with_wrong_label(distance, seed=0):
    """Points, labels and true labels; the first point is so far to the right, and labelled -1."""
    rng = np.random.default_rng(seed)
    X = 1.5 * truth[:, None] * np.array([1.0, 0.5]) + rng.normal(size=(200, 2))
    X[0] = [distance, 1.0]
    y = np.where(np.arange(200) < 20, truth, 0.0)
    y[0] = -1
    return Data("one label is wrong", X, y, truth, ("-1", "+1"))


data = with_wrong_label(10.0)
problem = ct.Problem(data.X, data.y, C=1, C_unlabeled=1)

# %%
# What follows.  The convex step that CCCP solves, in symbols; the tangents of both concave parts are in its β.
print(robust.primal(problem))

# %%
# Solutions, with the certificate of the last step.  C* is raised in five steps.
trusting = ct.cccp_tsvm(s=-0.3)
solutions = {"hinge on labels": ct.cccp(trusting, problem, annealing=5)}
solutions["ramp on labels"] = ct.cccp(robust, problem, annealing=5)
print(solutions["ramp on labels"])
print(solutions["ramp on labels"].certificate())
ct.plot.boundaries(data, solutions)

# %%
# Is the derivation right?  Both sides of every line, computed.
report = ct.verify(robust, problem)
print(f"{sum(check.passed for check in report.checks)} of {len(report.checks)} claims hold")
assert report.passed

# %%
# The farther away the point, the more the hinge loss pays for its label, and the more it turns the boundary.  The ramp
# pays 1 and no more: its tangent is flat there, and the point has no pull, unless CCCP, which starts at the convex
# envelope, ends in the valley of the wrong label all the same.  Twelve draws for every distance:
distances, errors = [2.0, 6.0, 10.0, 15.0], {"hinge on labels": [], "ramp on labels": []}
for distance in distances:
    drawn = [with_wrong_label(distance, seed) for seed in range(12)]
    for name, model in (("hinge on labels", trusting), ("ramp on labels", robust)):
        problems = [ct.Problem(one.X, one.y, C=1, C_unlabeled=1) for one in drawn]
        labels = [ct.cccp(model, one, annealing=5).labels for one in problems]
        errors[name].append([100 * one.error(found) for one, found in zip(drawn, labels, strict=True)])
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for name, found in errors.items():
    axes.errorbar(distances, np.mean(found, axis=1), np.std(found, axis=1) / np.sqrt(12), marker="o", label=name)
    print(name, np.mean(found, axis=1).round(1))
axes.set(xlabel="distance of the point with the wrong label", ylabel="error, %", title="One wrong label of twenty")
axes.legend()
ten = distances.index(10.0)
assert np.mean(errors["ramp on labels"][ten]) < 0.75 * np.mean(errors["hinge on labels"][ten])

# %%
# As an estimator of scikit-learn.
clf = ct.TransductiveSVC(loss=robust, kernel="linear", C=1, unlabeled=0).fit(data.X, data.y)
print(f"{data.error(clf.transduction_):.1%} of the unlabelled points wrong")
plt.show()
