"""
A solver of your own
====================

Every method poses convex problems of one kind, and takes any solver of these.  Here it is some twenty lines of operator
splitting (ADMM; Boyd et al. 2011): one factorization of the kernel matrix, and in every iteration a product with it and
the proximal map of each point's loss, which every loss of the library has.  Claims: CCCP with it finds what the native
solver finds, and the certificate, which is recomputed from the dual variables alone, says so.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import cho_factor, cho_solve

import convex_tsvm as ct
from convex_tsvm.data import load_data
from convex_tsvm.instance import certify

# %%
# The step is min ½ aᵀ K a + Σ ψ(z) subject to z = K a, where ψ_i(z) = cost · loss(z) + slope · z.  With a multiplier u
# for z = K a and a penalty ρ, one minimizes over a, then over z, and updates u.


class Splitting:
    """Solves convex steps without bias and balance by ADMM."""

    def __init__(self, problem, rho=1.0, n_iter=2000):
        self.K = problem.kernel(problem.X, problem.X)
        self.factor = cho_factor(self.K + np.eye(problem.n) / rho)
        self.rho, self.n_iter = rho, n_iter

    def solve(self, step, start=None):
        """The step's solution, certified from its dual variables γ."""
        u = np.zeros(len(self.K)) if start is None else -start.gamma / self.rho
        z = np.zeros(len(self.K)) if start is None else start.outputs
        for _ in range(self.n_iter):
            a = cho_solve(self.factor, z - u)
            f = self.K @ a
            z = self.proximal(step, f + u)
            u = u + f - z
            if np.abs(f - z).max() < 1e-9:
                break
        return certify(step, -self.rho * u, 0.0, 0.0, status="optimal")

    def proximal(self, step, v):
        """For every point the minimizer of ψ(z) + ρ / 2 (z - v)²."""
        z = v - step.slope / self.rho
        for k, loss in enumerate(step.losses):
            for cost in np.unique(step.cost[(step.kind == k) & (step.cost > 0)]):
                where = (step.kind == k) & (step.cost == cost)
                z[where] = loss.prox(z[where], cost / self.rho)
        return z


# %%
# Two moons, without bias and balance, to keep the solver short.
data = load_data("two_moons")
problem = ct.Problem(data.X, data.y, kernel=ct.RBF(sigma=0.3), C=10, balance=None)
model = ct.Formulation(ct.hinge(), ct.symmetric_ramp(s=-0.3), balance=None, fit_intercept=False)
solver = Splitting(problem)
mine, native = ct.cccp(model, problem, solver=solver), ct.cccp(model, problem, tol=1e-8)
print(mine, native, sep="\n\n")
print(mine.certificate())

# %%
# The same solution, to the accuracy that splitting has reached.
assert abs(mine.objective - native.objective) < 1e-4 * native.objective
assert (mine.labels == native.labels).all()
assert mine.certificate().gap < 1e-4

# %%
# The other methods take it as well: here label switching.
labels = ct.Formulation(ct.hinge(), ct.symmetric_hinge(), balance=None, fit_intercept=False)
switched = ct.switching(labels, problem, solver=solver)
print(f"label switching: {switched.objective:.6f}, {data.error(switched.labels):.1%} wrong")

# %%
# How fast?  The largest violation that is left in the first step, by the number of iterations.
step = ct.Instance(model, problem).step()
counts, left = (10, 30, 100, 300, 1000), {}
for rho in (0.1, 1.0, 10.0):
    left[rho] = [Splitting(problem, rho, count).solve(step).kkt for count in counts]
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for rho, found in left.items():
    axes.loglog(counts, np.maximum(found, 1e-16), "o-", label=f"ρ = {rho:g}")
exact = ct.solvers.NativeSolver(problem, tol=1e-8).solve(step)
axes.axhline(max(exact.kkt, 1e-16), color="black", linestyle=":", label="native solver")
axes.set(xlabel="iterations", ylabel="largest violation", title="Operator splitting on one convex step")
axes.legend()
assert min(found[-1] for found in left.values()) < 1e-3
plt.show()
