"""
CCCP step by step, in one dimension
===================================

The concave-convex procedure replaces the concave part of an objective by its tangent and minimizes what is left,
which is convex.  Claims: each of these surrogates is nowhere below the objective and touches it where its tangent
is taken, so that the objective never rises; where it ends depends on where it starts; and raising C* in steps helps
it to a lower minimum.
"""

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.data import load_data

# %%
# Forty points on a line, in two groups, with one label each.  A function f(x) = w x without bias has one weight, so
# that the whole objective can be drawn.  The loss of unlabelled points is the smooth one of chapelle2008, whose concave
# part is curved everywhere: no two tangents are the same, and neither are two surrogates.
rng = np.random.default_rng(0)
x = np.concatenate([rng.normal(-1.5, 0.4, 20), rng.normal(1.2, 0.4, 20)])[:, None]
y = np.zeros(40)
y[[0, 20]] = -1, 1
model = ct.Formulation(ct.hinge(), ct.losses.exponential(), balance=None, fit_intercept=False)
problem = ct.Problem(x, y, C=1.0, C_unlabeled=0.3, balance=None)
print(model)

# %%
# From w = 0.1, near the top of the hill in the middle, four surrogates lead down to the right.  Each touches the
# objective at the disc with its number, lies above it everywhere else, and has its minimum where the next one touches.
axes = ct.plot.surrogates(model, problem, start=0.1, n_steps=4, span=(-1.5, 2.5))

# %%
# From w = -0.1 they lead to the left, to the worse of the two minima, against both labels.
axes = ct.plot.surrogates(model, problem, start=-0.1, n_steps=4, span=(-2.0, 2.0))

# %%
# The solver, from both starts.  The objective never rises, and the certificate of the last step has the value of the
# objective, as the surrogate touches the objective there.
ends = {}
for start in (0.1, -0.1):
    solution = ct.cccp(model, problem, start=start * x.ravel(), tol=1e-6, max_iter=100)
    objectives = [iteration.objective for iteration in solution.history]
    assert all(np.diff(objectives) <= 1e-8)
    certificate = solution.certificate()
    assert abs(certificate.primal - solution.objective) < 1e-3
    ends[start] = solution.objective
    print(f"from w = {start}: w = {solution.weights[0]:.4f}, objective {solution.objective:.6f}")
assert ends[0.1] < ends[-0.1]

# %%
# In more dimensions the objective cannot be drawn.  Two moons, from the supervised SVM, with and without raising C* in
# ten steps:
data = load_data("two_moons", split=5)
moons = ct.Problem(data.X, data.y, kernel=ct.RBF(sigma=0.3), C=10, C_unlabeled=10)
solutions = {
    "CCCP": ct.cccp(ct.cccp_tsvm(), moons),
    "CCCP, C* raised in ten steps": ct.cccp(ct.cccp_tsvm(), moons, annealing=10),
}
axes = ct.plot.path(solutions)
for name, solution in solutions.items():
    print(f"{name}: objective {solution.objective:.4f}, {100 * data.error(solution.labels):.1f} % wrong")
plain, raised = solutions.values()
assert raised.objective < 0.6 * plain.objective
assert data.error(raised.labels) < data.error(plain.labels)
plt.show()
