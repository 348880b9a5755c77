"""
A constraint of your own: links, shares of the classes
======================================================

A linear constraint on outputs is one more point with a loss of its own, and so one dual variable: primal, dual, CCCP
and the native solver treat it like any other point.  Claims: two links tell four groups of points apart, of which two
have a label, and cost what their multipliers say; and where labels were drawn per class, a share of the classes that is
known from elsewhere lowers the error.
"""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.data import Data

# %%
# Four groups, one label in each of two of them.  The points do not say to which class each of the other two belongs.
centres = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
group = np.repeat(np.arange(4), 20)
X = centres[group] + 0.25 * np.random.default_rng(0).standard_normal((80, 2))
truth = np.where(group % 2 == 0, 1.0, -1.0)
y = np.where(np.arange(80) % 20 == 0, truth, 0.0) * (group < 2)
problem = ct.Problem(X, y, kernel=ct.RBF(sigma=0.7), C=10)
free = ct.cccp_tsvm(s=-0.3)

# %%
# A link says that two points are of one class: their outputs are equal.
linked = dataclasses.replace(free, constraints=(ct.must_link(0, 40), ct.must_link(20, 60)))
print(linked)
solutions = {"TSVM": ct.cccp(free, problem), "with two links": ct.cccp(linked, problem)}
data = Data("four groups", X, y, truth, ("-1", "+1"))
ct.plot.boundaries(data, solutions)

# %%
errors = {name: data.error(solution.labels) for name, solution in solutions.items()}
multipliers = solutions["with two links"].step.multipliers
print({name: f"{error:.1%}" for name, error in errors.items()}, "multipliers", multipliers.round(3))
assert errors["with two links"] == 0
assert errors["TSVM"] > 0.2

# %%
# What a multiplier says: loosen a link a little, and the optimum of the last convex step falls by this amount times the
# multiplier.
step = solutions["with two links"].step.step
looser = dataclasses.replace(free, constraints=(ct.must_link(0, 40, within=1e-3), ct.must_link(20, 60)))
instance = ct.Instance(looser, problem)
tight = ct.solvers.NativeSolver(problem, tol=1e-9).solve(step)
loose = ct.solvers.NativeSolver(problem, tol=1e-9).solve(instance.step().replace(slope=step.slope))
fallen = (tight.primal - loose.primal) / 1e-3
print(f"the optimum falls by {fallen:.4f} a unit; the multiplier is {abs(tight.multipliers[0]):.4f}")
assert abs(fallen - abs(tight.multipliers[0])) < 0.01 * abs(fallen)

# %%
# A share of the classes is a constraint as well: that on the mean output, which is 2 r - 1 where a share of r is
# positive and all outputs are +1 or -1.  Two Gaussians of 80 and 20 %, and five labels of each.
rng = np.random.default_rng(3)
truth = np.where(np.arange(200) % 5 == 0, 1.0, -1.0)
X = 1.1 * truth[:, None] * np.array([1.0, 0.3]) + rng.normal(size=(200, 2))
y = np.zeros(200)
for sign in (1, -1):
    y[np.flatnonzero(truth == sign)[:5]] = sign
shares = Data("80 and 20 %", X, y, truth, ("-1", "+1"))
given = ct.Problem(X, y, kernel=ct.RBF(sigma=2.0), C=10, C_unlabeled=1)
solutions = {
    "share of the labels, 50 %": ct.cccp(free, given),
    "true share, 20 %": ct.cccp(free, given.replace(balance=2 * 0.2 - 1)),
}
ct.plot.boundaries(shares, solutions)
for name, solution in solutions.items():
    positive = (solution.labels[y == 0] > 0).mean()
    print(f"{name}: {positive:.0%} of the unlabelled points are positive, {shares.error(solution.labels):.1%} wrong")
wrong, right = (shares.error(solution.labels) for solution in solutions.values())
assert right < wrong - 0.05
plt.show()
