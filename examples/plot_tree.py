"""
The tree of branch and bound
============================

A node of the search is a set of labels that are fixed.  Its bound is a number that no labelling with these labels is
below: the weakest is the value of the SVM of the points with fixed labels.  Claims: bounds never fall along a branch, a
node is closed when its bound is no better than the best labelling known, the leaves together cover all labellings, and
a stronger bound needs fewer nodes for the same optimum.
"""

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.data import load_data

# %%
# The six labels of the two moons and twelve points without.
data = load_data("two_moons")
some = np.r_[np.flatnonzero(data.y), np.flatnonzero(data.y == 0)[:12]]
problem = ct.Problem(data.X[some], data.y[some], kernel=ct.RBF(0.5), C=1, C_unlabeled=1, balance=0.0)
model = ct.s3vm()

# %%
# With the weakest bound, that of the SVM, and a simple rule for the point to branch on, the tree is small enough to be
# drawn: an edge gives a point its label, orange-red for +1 and blue for -1; squares are closed nodes.
weak = ct.exact_search(model, problem, bounds="svm", branching="confidence")
print(weak)
figure, axes = plt.subplots(figsize=(11, 6), layout="constrained")
ct.plot.tree(weak, ax=axes)

# %%
# Bounds never fall: a node has the labels of its parent, and one more.
bounds = [node.bound for node in weak.tree]
rising = [node.bound >= bounds[node.parent] - 1e-9 for node in weak.tree if node.parent >= 0]
print(f"{sum(rising)} of {len(rising)} nodes have a bound no lower than their parent's")
assert all(rising)

# %%
# Every node that is not closed has two halves, one for each label of a point, so that nothing is left out; and a node
# is closed where its bound is within the gap of the best labelling.
children = np.bincount([node.parent for node in weak.tree if node.parent >= 0], minlength=len(weak.tree))
closed = np.array([node.variable < 0 for node in weak.tree])
assert (children[closed] == 0).all()
assert (children[~closed] == 2).all()
assert all(node.bound >= weak.objective * (1 - 1e-6) - 1e-9 for node in weak.tree if node.variable < 0)
print(f"{closed.sum()} leaves, {(~closed).sum()} nodes that were halved")

# %%
# The same optimum by brute force over all 4096 labellings, and by a search with stronger bounds.
least, labels = ct.brute_force(model, problem)
strong = ct.exact_search(model, problem, patience=0)
print(f"brute force {least:.6f}, search {weak.objective:.6f} in {weak.n_nodes} nodes, {strong.n_nodes} with SDP bounds")
assert abs(least - weak.objective) < 1e-6 * least
assert (labels == weak.labels).all()
assert strong.n_nodes <= weak.n_nodes

# %%
# The best labelling is found early; most of the work is to prove that none is better.
ct.plot.progress(weak)
plt.show()
