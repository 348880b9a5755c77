"""
Two moons: what unlabelled points are good for
==============================================

Six labelled points say little about two moons.  A supervised SVM draws its boundary between those six; the transductive
SVM of Collobert et al. (2006) also keeps the boundary away from the points without labels, and so finds the gap.
Claim: over ten draws of the six labels the transductive SVM errs at most a third as often.
"""

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.data import load_data
from convex_tsvm.plot import COLORS

# %%
# Two hundred points; +1 and -1 where the label is known, 0 where it is not.
data = load_data("two_moons", split=2)
print(data)

# %%
# The problem says what is given: points, labels, a kernel and costs.  The formulation says what is minimized: a hinge
# loss for labelled points, and for the others a ramp on both sides, which is small where the output is far from 0.
problem = ct.Problem(data.X, data.y, kernel=ct.RBF(sigma=0.3), C=10)
model = ct.cccp_tsvm(s=-0.3)
print(model)

# %%
# The boundary (solid) and the margins (dashed) of both; the six labels are the large markers.
solutions = {"SVM": ct.cccp(ct.svm(), problem), "TSVM": ct.cccp(model, problem)}
ct.plot.boundaries(data, solutions)

# %%
# The same for ten draws of the six labels.
errors = {"SVM": [], "TSVM": []}
for split in range(10):
    data = load_data("two_moons", split=split)
    problem = ct.Problem(data.X, data.y, kernel=ct.RBF(sigma=0.3), C=10)
    for name, formulation in (("SVM", ct.svm()), ("TSVM", model)):
        errors[name].append(100 * data.error(ct.cccp(formulation, problem).labels))
for name, found in errors.items():
    print(f"{name:5s} {np.mean(found):.1f} % of the unlabelled points wrong; in the worst draw {max(found):.1f} %")
assert np.mean(errors["TSVM"]) < np.mean(errors["SVM"]) / 3

# %%
figure, axes = plt.subplots(figsize=(7.2, 4), layout="constrained")
for (name, found), of in zip(errors.items(), ("supervised", "semi-supervised"), strict=True):
    axes.plot(found, "o", color=COLORS[of], label=name)
axes.set(xlabel="draw of the labels", ylabel="error, %", title="Ten draws of six labels")
axes.legend()
plt.show()
