"""
Exact against heuristics
========================

The S3VM objective has many local optima.  Exact search finds the global one, with a proof.  Claims, as
in Table 1 of Chapelle, Sindhwani and Keerthi (2008): on two moons with one label each the optimum is the truth, every
heuristic of the field ends more than a tenth above it, and lower objectives go with fewer errors.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.plot import COLORS

# %%
# Two moons of sixty points, noise of 0.1, one labelled point in each.
rng = np.random.default_rng(1)
angle, truth = np.pi * rng.random(60), np.resize([1.0, -1.0], 60)
X = np.column_stack([np.cos(angle) * truth + (truth < 0), np.sin(angle) * truth + 0.5 * (truth < 0)])
X += 0.1 * rng.normal(size=X.shape)
y = np.where(np.arange(60) < 2, truth, 0.0)
problem = ct.Problem(X, y, kernel=ct.RBF(sigma=0.5), C=10, C_unlabeled=10, balance=0.0)
model = ct.s3vm()

# %%
# Branch and bound gives points labels until no better labelling is left.
exact = ct.exact_search(model, problem, gap=1e-4)
print(exact)
assert exact.gap <= 1e-4

# %%
# The heuristics.  Each minimizes the same objective or one like it; all labels are rated by the objective of the SVM
# that is trained on them.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    found = {
        "supervised SVM": ct.cccp(model.supervised(), problem),
        "CCCP": ct.cccp(model, problem),
        "CCCP, C* raised": ct.cccp(model, problem, annealing=10),
        "label switching": ct.switching(model, problem),
        "annealing": ct.annealing(model, problem),
        "∇S3VM": ct.gradient(ct.tsvm("exp"), problem),
        "continuation": ct.continuation(ct.tsvm("exp"), problem),
        "Newton-S3VM": ct.newton(ct.tsvm("flat"), problem),
        "SDP relaxation": ct.sdp_transduction(model, problem),
        "exact search": exact,
    }
rating = ct.LowerBoundBuilder(model, problem, relaxation="svm")
objectives = {name: rating.evaluate(one.labels)[0] for name, one in found.items()}
excess = {name: 100 * max(0.0, objective / exact.objective - 1) for name, objective in objectives.items()}
errors = {name: 100 * float((one.labels != truth).mean()) for name, one in found.items()}
for name in found:
    print(f"{name:16s} {excess[name]:6.1f} % above the optimum, {errors[name]:4.1f} % error")

# %%
order = sorted(found, key=excess.__getitem__)[::-1]
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True, layout="constrained")
left.barh(order, [excess[name] for name in order], color=COLORS["objective"])
right.barh(order, [errors[name] for name in order], color=COLORS["error"])
left.set(xlabel="objective above the optimum, %", title="How far from the optimum?")
right.set(xlabel="error on all points, %", title="How wrong?")

assert errors["exact search"] == 0
assert all(above > 10 for name, above in excess.items() if name != "exact search")
assert np.corrcoef(list(excess.values()), list(errors.values()))[0, 1] > 0.3

# %%
# The best objective found, and the lower bound of all that is left, over the nodes of the search.
ct.plot.progress(exact)
plt.show()
