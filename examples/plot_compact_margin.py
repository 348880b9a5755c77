"""
Compact margins: when the largest margin is the wrong one
=========================================================

Two long, thin, parallel clusters, and a labelled point at one end of each.  The largest margin between those two runs
along the clusters and cuts both; but along that direction the outputs of the other points are spread far beyond the
margin.  The Compact Margin Machine of Dai and Niu (2010) charges for the spread, and so does its convex variant, the
semi-supervised Relative Margin Machine.  Claims: SVM and TSVM err on more than a third of the points, the RMM on fewer,
the CMM on none.
"""

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.data import Data

# %%
# The losses (Figure 1 of the paper): beyond ±ε an output costs, however certain its label.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
t = np.linspace(-3, 3, 601)
for axes, shown in (
    (left, [ct.hinge(), ct.losses.relaxed_compact_hinge(1.5, 0.5)]),
    (right, [ct.symmetric_hinge(), ct.losses.relaxed_compact_symmetric_hinge(1.5, 0.5)]),
):
    for loss, style, name in zip(shown, (":", "-"), ("as in the S3VM", "compact, ε = 1.5, slope ½"), strict=True):
        axes.plot(t, loss(t), style, label=name)
    axes.legend(loc="upper center")
left.set(title="A labelled point", xlabel="label times output, y f", ylabel="loss", ylim=(-0.2, 6.5))
right.set(title="An unlabelled point", xlabel="output f", ylabel="loss", ylim=(-0.05, 1.7))

# %%
# Two strips.
rng = np.random.default_rng(0)
truth = np.resize([1.0, -1.0], 200)
X = np.column_stack([rng.uniform(-5, 5, 200), 0.8 * truth + 0.15 * rng.normal(size=200)])
X[:2] = [[4.0, 0.8], [-4.0, -0.8]]
data = Data("strips", X, np.where(np.arange(200) < 2, truth, 0.0), truth, ("-1", "+1"))
problem = ct.Problem(data.X, data.y, C=10.0, C_unlabeled=1.0, balance=0.0)

# %%
# Four formulations.  The paper's C₃ is the cost of compactness; as a factor on the loss it is C₃ / C and C₃ / C*.
weights = ct.formulations.compactness_weights(problem, 1.0)
models = {
    "SVM": ct.svm(balance="linear"),
    "TSVM": ct.cccp_tsvm(0.0),
    "RMM": ct.relative_margin(1.0, weights[0], balance="linear"),
    "CMM": ct.compact_margin(1.0, *weights),
}
print(models["CMM"])
solutions = {name: ct.cccp(model, problem) for name, model in models.items()}
ct.plot.boundaries(data, solutions)

# %%
errors = {name: data.error(solution.labels) for name, solution in solutions.items()}
for name, error in errors.items():
    print(f"{name:5s} {error:.1%} of the unlabelled points wrong")
assert errors["CMM"] == 0 < errors["RMM"] < 1 / 3 < min(errors["SVM"], errors["TSVM"])

# %%
# The start of CCCP decides.  The convex envelope of the CMM's objective is the RMM, which already charges the spread;
# from the SVM of the labelled points, as in the paper's Algorithm 1, CCCP stays near that SVM.
from_svm = ct.cccp(models["CMM"], problem, start=solutions["SVM"])
print(f"CMM from the SVM: objective {from_svm.objective:.2f}, {data.error(from_svm.labels):.1%} wrong")
print(f"CMM from its envelope: objective {solutions['CMM'].objective:.2f}")
assert solutions["CMM"].objective < from_svm.objective
plt.show()
