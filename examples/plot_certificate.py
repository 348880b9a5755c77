"""
Reading a certificate
=====================

Exact search finds the best labelling of all and writes down why no other is better.  Claims: the certificate is
checked without the search, from its contents alone; and a certificate that claims too much is refused.
"""

import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.data import load_data

# %%
# Thirty points of the two moons with six labels, and an S3VM with the squared hinge loss.
data = load_data("two_moons")
truth = data.truth[:30]
y = np.where(np.arange(30) < 6, truth, 0.0)
problem = ct.Problem(data.X[:30], y, kernel=ct.RBF(sigma=0.5), C=1)
model = ct.tsvm("squared_hinge")
path = Path(tempfile.mkdtemp()) / "optimum.npz"
solution = ct.exact_search(model, problem, bounds="svm", certificate=path)
print(solution)

# %%
# The tree of the search: every edge gives a point a label, every square is a node that is closed because its bound
# is no better than the best labelling.  On the right, the lower bound during the search.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
ct.plot.tree(solution, ax=left)
ct.plot.progress(solution, ax=right)

# %%
# The labels that are proven best, as a matrix: an entry is orange-red if both of its points are of one class.
ct.plot.label_matrix(solution.labels)

# %%
# Checking it takes a moment: the leaves cover all labellings, and each leaf's bound follows from dual variables
# that the file holds.
verdict = ct.prove_certificate(path)
print(verdict)
assert verdict.holds

# %%
# No heuristic ends below this bound; CCCP and label switching end above the optimum.
heuristic = ct.cccp(model, problem)
rated = ct.switching(model, problem, start=None)
print(f"exact {solution.objective:.6f}, CCCP {heuristic.objective:.6f}, label switching {rated.objective:.6f}")
assert solution.lower_bound <= min(heuristic.objective, rated.objective) + 1e-9

# %%
# A file that claims more than it proves is refused: here a bound that is above the best objective.
arrays = dict(np.load(path))
header = json.loads(str(arrays["header"]))
header["lower_bound"] = header["objective"] + 0.1
forged = path.with_name("forged.npz")
np.savez(forged, **{**arrays, "header": np.array(json.dumps(header))})
forgery = ct.prove_certificate(forged)
print(forgery)
assert not forgery.holds
plt.show()
