"""
How many are positive
=====================

Often it is known how many of the points without a label are positive: from a register, a census, or a
second survey (Burgard, Pinheiro and Schmidt 2024).  The balance ``("exact", r)`` keeps such a number, and
:func:`convex_tsvm.exact.soft_count` lets it be missed at a price for each label.  Claims, on the tumours of Wisconsin,
labelled by a sample of which four fifths are benign: a TSVM with the true number leaves fewer errors than the SVM; the
share among the labels misleads it; and with a share that is wrong by a tenth, a price for each label finds a number
nearer to the truth, and leaves fewer errors than the wrong number.  For a few points exact search proves the best
number.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import convex_tsvm as ct

# %%
# 16 benign tumours and 4 malignant ones have labels.  Of 200 others all that is known is how many are benign.
cancer = load_breast_cancer()
truth = np.where(cancer.target == 1, 1.0, -1.0)
rng = np.random.default_rng(0)
benign, malignant = (rng.permutation(np.flatnonzero(truth == sign)) for sign in (1, -1))
labeled = np.r_[benign[:16], malignant[:4]]
others = rng.choice(np.setdiff1d(np.arange(len(truth)), labeled), 200, replace=False)
points = np.r_[labeled, others]
hidden = truth[others]
share = (hidden > 0).mean()
problem = ct.Problem(
    scale(cancer.data)[points], np.r_[truth[labeled], np.zeros(200)], C=1.0, C_unlabeled=0.1, balance=("exact", share)
)


def wrong(solution):
    """The share of wrong labels among the points without any."""
    return np.mean(np.sign(solution.scores[20:]) != hidden)


# %%
# Without a share, with the true one, with that of the labels, and with one that is wrong by a tenth.
svm = ct.cccp(ct.Formulation(ct.hinge(), balance=None), problem.replace(balance=None))
kept = {r: ct.annealing(ct.tsvm("hinge"), problem.replace(balance=("exact", r))) for r in (share, 0.8, share + 0.1)}
print(f"SVM: {wrong(svm):.1%} errors")
for r, solution in kept.items():
    print(f"{r:.0%} benign: {wrong(solution):.1%} errors, objective {solution.objective:.3f}")
assert wrong(kept[share]) < wrong(svm) < wrong(kept[0.8])

# %%
# A price for each label by which the number differs from the wrong one; switching is the fastest method that keeps
# numbers.
prices = [0.02, 0.08]
soft = [ct.exact.soft_count(ct.tsvm("hinge"), problem, share + 0.1, price, method="switching") for price in prices]
for price, found in zip(prices, soft, strict=True):
    print(
        f"price {price:g}: {found.n_positive} benign (truly {(hidden > 0).sum()}), {wrong(found.solution):.1%} errors"
    )
best = soft[0]
assert abs(best.n_positive - (hidden > 0).sum()) < 20
assert wrong(best.solution) < wrong(kept[share + 0.1])
assert best.n_positive <= soft[-1].n_positive, "the dearer labels are, the nearer the number is to that asked for"

# %%
# For 24 of the points, 16 of them without a label, the best number is proven.
few = np.r_[0:4, 16:20, 20:36]
small = ct.Problem(problem.X[few], problem.y[few], C=1.0, C_unlabeled=0.1, balance=("exact", 0.5))
proven = ct.exact.soft_count(ct.tsvm("hinge"), small, 0.8, 0.02, method="exact", gap=1e-3)
true_number = int((truth[points[few]][8:] > 0).sum())
print(f"16 points: {proven.n_positive} benign (asked for 13, truly {true_number})")
print(f"objective {proven.objective:.4f}, none is below {proven.lower_bound:.4f}")
assert proven.objective <= proven.lower_bound * 1.002

found = {
    "no share (SVM)": svm,
    "the true share": kept[share],
    "share of the labels": kept[0.8],
    "wrong by a tenth, kept": kept[share + 0.1],
    "wrong by a tenth, at a price": best.solution,
}
figure, ax = plt.subplots(figsize=(6, 2.8))
ax.barh(list(found), [100 * wrong(solution) for solution in found.values()], color="tab:blue")
ax.invert_yaxis()
ax.set(xlabel="errors of the unlabelled points, %")
figure.tight_layout()
plt.show()
