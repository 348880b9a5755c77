"""
How tight is a relaxation?
==========================

The gap between a lower bound and the best labelling known, for three relaxations: "svm", the SVM on the labelled
points; "sdp", that of De Bie and Cristianini (2004); and "signs", with bounds of the outputs, their signs, and
inequalities between these.  Claims: each is at least as tight as the one before; and with fewer labels gaps are larger.
"""

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct

RELAXATIONS = ("svm", "sdp", "signs")

# %%
# Two Gaussians in the plane, farther apart or nearer, with eight labels or four.
truth, cases = np.resize([1.0, -1.0], 24), {}
for apart, n_labeled in ((2.0, 8), (2.0, 4), (1.5, 4)):
    X = np.random.default_rng(3).normal(size=(24, 2)) + apart * truth[:, None] / 2
    y = np.where(np.arange(24) < n_labeled, truth, 0.0)
    cases[f"{apart:g} apart, {n_labeled} labels"] = ct.Problem(X, y, kernel=ct.RBF(sigma=1.5), C=1, C_unlabeled=1)

# %%
# All relaxations get the same labelling, so that their gaps can be compared.
model, gaps = ct.s3vm(), {}
for title, problem in cases.items():
    known = ct.cccp(model, problem, tol=1e-6)
    bounds = {}
    for name in RELAXATIONS:
        builder = ct.LowerBoundBuilder(model, problem, relaxation=name, solver="native", gap=1e-7)
        bounds[name] = builder.bound(upper=known.objective, upper_labels=known.labels)
    best = min(bound.upper for bound in bounds.values())
    gaps[title] = [max(0.0, (best - bound.value) / best) for bound in bounds.values()]
    print(f"{title}: " + ", ".join(f"{name} {gap:.2%}" for name, gap in zip(RELAXATIONS, gaps[title], strict=True)))
    assert all(np.diff(gaps[title]) <= 1e-7)
    assert gaps[title][-1] < 0.05 < gaps[title][0]
assert (np.subtract(gaps["2 apart, 4 labels"], gaps["2 apart, 8 labels"])[:2] > 0).all()

# %%
figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
for place, (title, found) in enumerate(gaps.items()):
    axes.bar(np.arange(len(RELAXATIONS)) + 0.2 * place, [100 * gap for gap in found], width=0.18, label=title)
axes.set_xticks(np.arange(len(RELAXATIONS)) + 0.3, RELAXATIONS)
axes.set(ylabel="gap, %", title="Lower bounds beside the best labelling known")
axes.legend()

# %%
# The relaxation "signs" round by round, as cuts are added.  Its bounds of the outputs, and so its gap, depend on the
# best labelling that is known: here it is the same as above.
hardest = cases["2 apart, 4 labels"]
known = ct.cccp(model, hardest, tol=1e-6)
builder = ct.LowerBoundBuilder(model, hardest, relaxation="signs")
bound = builder.bound(upper=known.objective, upper_labels=known.labels)
for name in ("svm", "signs"):
    last = max(stage.bound for stage in bound.stages if stage.name == name)
    print(f"{name}: {last:.4f}, {(bound.upper - last) / bound.upper:.1%} below the best labelling known")
axes = ct.plot.gaps(bound)
plt.show()
