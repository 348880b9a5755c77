"""
Positive and unlabelled points
==============================

Some points are known to be positive; of the others only the share of positive ones is known.  Claims, on handwritten
digits from 5 to 9 (positive) and from 0 to 4: where C is large, the unbiased risk of du Plessis et al. (2015) falls
below zero, which no true risk can; the non-negative risk of Kiryo et al. (2017), which is twenty lines, does not, and
leaves fewer errors on new points; and a TSVM with the share of positive points as its balance, which needs no negative
label either, leaves fewer errors than both.
"""

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import convex_tsvm as ct

# %%
# 30 digits from five on with labels, and 150 of all kinds without; the others are new.
digits = load_digits()
PRIOR = 0.5  # the share of positive points
known, unknown = np.arange(30), np.arange(30, 180)


def drawn(seed):
    """Points and true signs: the labelled, the unlabelled, and the new ones."""
    order = np.random.default_rng(seed).permutation(len(digits.target))
    large = digits.target[order] >= 5
    labelled = np.flatnonzero(large)[:30]
    order = order[np.r_[labelled, np.setdiff1d(np.arange(len(order)), labelled)]]
    return digits.data[order] / 16, np.where(digits.target[order] >= 5, 1.0, -1.0)


# %%
# With the hinge loss the risk of negative points is that of all points, taken as negative, less that of positive ones.
# Where that is below zero, the non-negative risk replaces it by zero: max(0, a - b) = max(a, b) - b.


def of_negatives(f):
    """The two risks: of all points, and of positive ones, as if they were negative."""
    return cp.sum(cp.pos(1 + f[unknown])) / len(unknown), PRIOR * cp.sum(cp.pos(1 + f[known])) / len(known)


def risk(C, non_negative):
    """½ ‖w‖² + C times the risk of positive and unlabelled points."""

    def charged(w, b, f):
        everything, positive = of_negatives(f)
        rest = cp.maximum(everything, positive) if non_negative else everything
        return C * (PRIOR * cp.sum(cp.pos(1 - f[known])) / len(known) + rest)

    term = ct.formulations.addition(charged, minus=lambda f: C * of_negatives(f)[1], name="risk")
    return ct.Formulation(ct.hinge(), balance=None, additions=[term])


def estimated(f):
    """The unbiased risk of outputs."""
    everything, positive = (float(one.value) for one in of_negatives(cp.Constant(f)))
    return PRIOR * np.maximum(0, 1 - f[known]).mean() + everything - positive


# %%
# Here labels and share enter through the risk alone.  The TSVM pays for the labels and for the better label of each
# other point, and is given the share as its balance.
costs, names = [10.0, 30.0, 100.0, 300.0, 1000.0], ("unbiased", "non-negative")
risks, errors, tsvm = np.zeros((3, 2, 5)), np.zeros((3, 2, 5)), np.zeros(3)
for seed in range(3):
    X, truth = drawn(seed)

    def wrong(solution, X=X, truth=truth):
        """The share of new points with the wrong label."""
        return np.mean(np.sign(solution.decision_function(X[180:])) != truth[180:])

    plain = ct.Problem(X[:180], np.zeros(180), kernel=ct.RBF(1.5), balance=None)
    for k in range(2):
        fits = [ct.cccp(risk(C, bool(k)), plain, max_iter=60) for C in costs]
        risks[seed, k] = [estimated(one.scores) for one in fits]
        errors[seed, k] = [wrong(one) for one in fits]
    y = np.where(np.arange(180) < 30, 1.0, 0.0)
    labelled = plain.replace(y=y, C=10.0, C_unlabeled=1.0, balance=("exact", PRIOR))
    tsvm[seed] = wrong(ct.cccp(ct.tsvm(), labelled))
for name, r, e in zip(names, risks.mean(axis=0), errors.mean(axis=0), strict=True):
    told = ", ".join(f"{a:+.2f} ({b:.1%})" for a, b in zip(r, e, strict=True))
    print(f"{name}: risks (and errors of new points) at C = 10 to 1000: {told}")
print(f"TSVM: errors of new points {tsvm.mean():.1%}")
assert (risks[:, 0, 1:] < 0).all()
assert (risks[:, 1] > -1e-3).all()
assert (errors.mean(axis=0)[0, 1:] > errors.mean(axis=0)[1, 1:]).all()
assert tsvm.mean() < errors.mean(axis=0).min()

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
for k, name in enumerate(names):
    left.semilogx(costs, risks.mean(axis=0)[k], "o-", label=name)
    right.semilogx(costs, 100 * errors.mean(axis=0)[k], "o-", label=name)
right.axhline(100 * tsvm.mean(), ls="--", color="tab:green", label="TSVM with the share")
left.axhline(0, color="black", lw=0.8)
left.set(xlabel="C", ylabel="unbiased risk of the fit")
right.set(xlabel="C", ylabel="errors of new points, %")
figure.legend(*right.get_legend_handles_labels(), loc="outside right center")
plt.show()
