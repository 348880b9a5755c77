"""
A loss of your own
==================

Take a loss that no paper has: a squared hinge on either side, capped, so that a point deep inside the margin has no
pull.  Claims: written as a minimum of known functions, it gives everything else, the convex and the concave part, the
primal and the dual of a step with one value, CCCP by CVXPY and by the native solver with one answer, and every line of
its derivation holds.
"""

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct
from convex_tsvm.data import load_data

# %%
# The loss is ``min(0.5, max(0, 1 - |t|)²)``: two squared hinges and a constant.
side = ct.squared_hinge()
cap = ct.losses.PLQ([], [(0, 0, 0.5)])
loss = side.minimum(side.reflect()).minimum(cap).named("capped squared hinge")
print(loss)
ct.plot.loss(loss, at=0.6)

# %%
# A formulation with this loss, and a problem.  Notebooks show ``model`` as formulas; ``model.latex()`` has their LaTeX.
model = ct.Formulation(labeled=side, unlabeled=loss, balance="linear", name="capped S3VM")
data = load_data("two_moons")
problem = ct.Problem(data.X, data.y, kernel=ct.RBF(sigma=0.3), C=10)
print(model)

# %%
# What follows from it.  The step that CCCP takes at outputs of 0, as a CVXPY problem, and its dual:
outputs = np.zeros(problem.n)
primal, dual = model.primal(problem, outputs), model.dual(problem, outputs)
print(primal)
values = primal.solve(solver="CLARABEL"), dual.solve(solver="CLARABEL")
print(f"least primal {values[0]:.8f}, greatest dual {values[1]:.8f}")
assert abs(values[0] - values[1]) < 1e-6 * abs(values[0])

# %%
# Its dual and its CCCP are derived in steps that are proven: for every output, every point and every multiplier.
derivation = model.derive("dual")
print(derivation)
print(derivation.prove())
assert derivation.prove().proven
assert model.derive("cccp").prove().proven
assert len(derivation) == 10

# %%
# The same for another loss, whose cap is a parabola.
pieces = [(0, 0, 0), (0, 1, 1.5), (-1, 0, 1.25), (0, -1, 1.5), (0, 0, 0)]
roof = ct.losses.PLQ([-1.5, -0.5, 0.5, 1.5], pieces, name="a roof")
assert ct.Formulation(ct.hinge(), roof).derive("dual").prove().proven
assert ct.Formulation(ct.hinge(), roof).derive("cccp").prove().proven

# %%
# CCCP, by CVXPY and by the native solver.
native, cvxpy = ct.cccp(model, problem, solver="native"), ct.cccp(model, problem, solver="cvxpy")
print(f"objective {cvxpy.objective:.8f} by CVXPY, {native.objective:.8f} by the native solver")
assert abs(native.objective - cvxpy.objective) < 1e-6 * abs(native.objective)
ct.plot.boundary(native)

# %%
# And every line of the derivation, with numbers.
report = ct.verify(model, problem)
print(report)
assert report.passed

# %%
# As an estimator.
clf = ct.TransductiveSVC(loss=model, sigma=0.3, unlabeled=0).fit(data.X, data.y)
print(f"{data.error(clf.transduction_):.1%} of the unlabelled points wrong")
plt.show()
