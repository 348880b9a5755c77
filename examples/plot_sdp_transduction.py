"""
The SDP relaxation: an S3VM with vectors for outputs
====================================================

De Bie and Cristianini (2004) replace the label matrix y yᵀ by any matrix Γ that is positive semidefinite with ones on
its diagonal.  Claims, on their Figure 1 (ten labelled points, sixty without labels): the labels come out near +1 and -1
before anything is thresholded, and the bound proves that no labelling is more than a per cent better; and with Γ = R Rᵀ
the relaxation is an S3VM again, in which outputs are vectors, and is solved in this form.
"""

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.plot import label_map
from convex_tsvm.relaxations import solve_low_rank

# %%
# Two elongated clusters.
rng = np.random.default_rng(1)
truth = np.resize([1.0, -1.0], 70)
X = np.column_stack([rng.normal(0, 1, 70), 1.2 * truth + rng.normal(0, 0.2, 70)])
X = X @ np.array([[np.cos(0.5), np.sin(0.5)], [-np.sin(0.5), np.cos(0.5)]])
y = np.where(np.arange(70) < 10, truth, 0.0)
problem = ct.Problem(X, y, kernel=ct.RBF(sigma=4.0), C=10, C_unlabeled=10)
model = ct.cccp_tsvm(s=0.0)

# %%
# The relaxation as a problem to read, and its dual, every feasible point of which is a lower bound.
builder = ct.LowerBoundBuilder(model, problem, relaxation="sdp")
print(builder.primal())
print(builder.dual())

# %%
# Labels, before thresholding and after.
solution = ct.sdp_transduction(model, problem)
print(solution)
unknown = y == 0
certain = float((np.abs(solution.relaxed[unknown]) > 0.95).mean())
print(f"{certain:.0%} of the labels are within 0.05 of +1 or -1; {(solution.labels != truth).sum()} are wrong")
assert (solution.labels == truth).all()
assert certain >= 0.9
assert solution.gap < 0.01

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
shown = left.scatter(*X[unknown].T, c=solution.relaxed[unknown], cmap=label_map(), vmin=-1, vmax=1, s=22)
left.scatter(*X[y > 0].T, marker="o", edgecolors="k", facecolors="none", s=70, label="+1")
left.scatter(*X[y < 0].T, marker="s", edgecolors="k", facecolors="none", s=70, label="-1")
left.set(title="Labels before thresholding", xlabel="$x_1$", ylabel="$x_2$")
left.legend(title="given")
figure.colorbar(shown, ax=left)
ct.plot.boundary(solution, ax=right).set_title("The SVM of all labels found")

# %%
# Vectors for outputs: every unlabelled point pays ``ℓ(‖F‖)`` for its vector F where the S3VM pays ``ℓ(|f|)``.  Where
# all of them lie on a line, Γ has rank one, and the relaxation is the S3VM.  Here the largest eigenvalue of Γ carries
# nearly all of their sum.
point = solve_low_rank(builder.search)
gram = point.vectors @ point.vectors.T
gram /= np.sqrt(np.outer(np.diag(gram), np.diag(gram)))
values = np.linalg.eigvalsh(gram)[::-1]
print("largest eigenvalues of the label matrix, as shares of their sum:", (values[:4] / values.sum()).round(4))
assert values[0] > 0.95 * values.sum()
order = np.argsort(truth[unknown])
ct.plot.label_matrix(gram[np.ix_(order, order)])
plt.show()
