"""
A relaxation of your own
========================

A relaxation is a class with two methods: ``why_not`` says for which problems it is not, ``tighten`` raises a bound by
proofs.  The one on this page is that of WellSVM (Li, Tsang, Kwok and Zhou 2013): the label matrix becomes a convex
combination of matrices ŷ ŷᵀ, found one by one.  The relaxation of De Bie and Cristianini allows every matrix Γ ⪰ 0 with
ones on its diagonal, these combinations included, so that its bound is never higher.

Claims: on ten problems the bounds are in this order, the SVM of the labelled points, the SDP, WellSVM, the optimum; and
``LowerBoundBuilder`` takes the new class like any other, also at a node with more labels.
"""

import itertools

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.relaxations import Proof, Relaxation


# %%
# With hinge losses the SVM of labels ŷ has the value max over 0 <= α <= c of Σ α - ½ (α ∘ ŷ)ᵀ G (α ∘ ŷ), so that for
# any α the least over all ŷ is a bound.  For a dozen points without a label the least is found by trying all of them,
# which is what makes it a proof; WellSVM itself only looks for a good one, and so has no proven bound.
def labellings(y):
    """All labels of the points where y is 0, one a row."""
    unknown = np.flatnonzero(y == 0)
    rows = np.tile(y, (2 ** len(unknown), 1))
    rows[:, unknown] = list(itertools.product((1.0, -1.0), repeat=len(unknown)))
    return rows


class WellProof(Proof):
    """One α, and the bound that it is for the labels of a box."""

    name = "WellSVM"

    def __init__(self, alpha):
        self.alpha = alpha

    def apply(self, model, box, cutoff):
        scaled = self.alpha * labellings(box.labels)
        squares = np.einsum("ij,jk,ik->i", scaled, model.search.kernel, scaled)
        return float(self.alpha.sum() - 0.5 * squares.max() + model.search.constant) - 1e-9, box


class WellSVM(Relaxation):
    """Convex combinations of label matrices, by cutting planes (Li et al. 2013, Algorithm 1)."""

    @staticmethod
    def why_not(model):
        search = model.search
        if search.free_bias or search.offset.any() or not search.loss.isclose(ct.hinge()):
            return "WellSVM is for hinge losses without bias and balance"
        return None if len(search.unknown) <= 14 else f"{len(search.unknown)} points have no label, 14 is the most"

    def tighten(self, work):
        search, rows = work.model.search, labellings(work.box.labels)
        chosen, tau, alpha = [rows[0]], cp.Variable(), cp.Variable(search.n, nonneg=True)
        for _ in range(self.max_rounds):
            planes = [
                tau >= 0.5 * cp.quad_form(alpha, cp.psd_wrap(search.kernel * np.outer(labels, labels)))
                for labels in chosen
            ]
            program = cp.Problem(cp.Maximize(cp.sum(alpha) - tau), [*planes, alpha <= search.cost])
            relaxed = program.solve(solver="CLARABEL")
            found = np.clip(alpha.value, 0, search.cost)
            scaled = found * rows
            squares = np.einsum("ij,jk,ik->i", scaled, search.kernel, scaled)
            if 0.5 * squares.max() <= tau.value + self.tol * abs(relaxed):
                break
            chosen.append(rows[squares.argmax()])
        work.prove(WellProof(found))
        work.offer(chosen[-1])
        work.record("WellSVM", relaxed + search.constant, n_cuts=len(chosen))


# %%
# Bounds of ten problems with ten points that have no label.
def problem_of(seed):
    """Sixteen points of two Gaussians that overlap."""
    rng, truth = np.random.default_rng(seed), np.resize([1.0, -1.0], 16)
    X = rng.normal(size=(16, 2)) + 0.6 * truth[:, None]
    return ct.Problem(X, np.where(np.arange(16) < 6, truth, 0.0), kernel=ct.RBF(0.7), C=3, C_unlabeled=3, balance=None)


model = ct.tsvm("hinge", balance=None, fit_intercept=False)
names, bounds = ("svm", "sdp", "WellSVM"), []
for seed in range(10):
    problem = problem_of(seed)
    optimum = ct.exact_search(model, problem).objective
    found = [
        ct.LowerBoundBuilder(model, problem, relaxation=one, tol=1e-6).bound(upper=np.inf)
        for one in ("svm", "sdp", WellSVM)
    ]
    values = np.array([bound.value for bound in found])
    assert (values <= optimum + 1e-6).all()
    assert (np.diff(values) >= -1e-4 * optimum).all()
    bounds.append(values / optimum)
bounds = np.array(bounds)
print("bounds, as shares of the optimum:", ", ".join(map("{} {:.3f}".format, names, bounds.mean(axis=0))))
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for shift, (name, shares) in zip((-0.25, 0, 0.25), zip(names, bounds.T, strict=True), strict=True):
    axes.bar(np.arange(1, 11) + shift, 100 * (1 - shares), width=0.25, label=name)
axes.set(xlabel="problem", ylabel="gap to the optimum, %", title="how far below the optimum relaxations are")
axes.set_xticks(np.arange(1, 11))
axes.legend()

# %%
# At a node: one more label never lowers the bound, and one of the two halves contains the optimum.
problem = problem_of(0)
builder = ct.LowerBoundBuilder(model, problem, relaxation=WellSVM)
root, halves = builder.bound(), []
for sign in (1.0, -1.0):
    labels = builder.search.y.copy()
    labels[6] = sign
    halves.append(builder.bound(labels).value)
print(f"root {root.value:.4f}, with a label {halves[0]:.4f} and {halves[1]:.4f}")
assert min(halves) >= root.value - 1e-6

plt.show()
