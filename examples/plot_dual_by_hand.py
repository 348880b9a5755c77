"""
A dual by hand, and by the machine
==================================

Six points, two labels, one convex step of the CCCP-TSVM (Collobert et al. 2006): every matrix is printed, and what
the library finds, the kernel matrix K, the dual variables γ, the bias b and the outputs f, is found again by some
thirty lines of NumPy.  Claim: they are equal to 1e-8.
"""

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct

np.set_printoptions(precision=4, suppress=True)

# %%
# The points, and the problem: the mean output of the four unlabelled points must be that of the labels, c = 0.
X = np.array([[-2.0, 0.0], [2.0, 0.0], [-1.5, 1.0], [-0.8, -1.0], [1.0, 1.2], [1.5, -0.4]])
y = np.array([-1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
problem = ct.Problem(X, y, kernel=ct.RBF(gamma=0.2), C=4.0, C_unlabeled=1.0)
model = ct.cccp_tsvm(s=-0.3)
outputs = np.array([-1.2, 1.1, -0.6, -0.5, 0.4, 0.7])  # where the tangents are taken

# %%
# In symbols: the primal of the step, and its dual.
primal, dual = model.primal(problem, outputs), model.dual(problem, outputs, balance_by="x0")
print(primal, dual, sep="\n\n")

# %%
# By the machine.
step = model.on(problem).step(outputs)
found = ct.NativeSolver(problem, tol=1e-12).solve(step)
print("K =", problem.gram, "γ =", found.gamma, "f =", found.outputs, f"b = {found.bias:.8f}", sep="\n")

# %%
# By hand.  The loss ψ of a point is piecewise linear in its output f: a hinge for a labelled point, with its kink
# at f = y, and for an unlabelled one max(0, f - 1) + max(0, -f - 1) plus the tangent of slope β.  At the optimum -γ
# is a slope of ψ at f.  Away from kinks that says what γ is; at a kink f is known and γ is not.  Given the points
# at kinks, their γ, the γ₀ of the balance and b solve linear equations.
K = np.exp(-0.2 * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=-1))
cost, unlabeled = np.where(y == 0, 1.0, 4.0), y == 0
# The ramp's concave part is min(0, 0.3 - |f|), whose slope is -sign(f) where |f| > 0.3.
beta = np.where(unlabeled, -np.sign(outputs) * (np.abs(outputs) > 0.3), 0.0)


def slopes(i, f):
    """The least and the greatest slope of ψ_i at f."""
    if y[i]:
        left, right = sorted((-y[i] * (y[i] * (f - 1e-9) < 1), -y[i] * (y[i] * (f + 1e-9) < 1)))
    else:
        left, right = (float(f - e > 1) - float(f - e < -1) for e in (1e-9, -1e-9))
    return cost[i] * left + beta[i], cost[i] * right + beta[i]


def by_hand(at):
    """γ, b and f where the points of ``at`` are at the kinks given there, the others where f has them."""
    gamma, free = np.zeros(6), sorted(at)
    f = np.where(y == 0, outputs, 2.0 * y)  # signs of the others, away from kinks
    for i in set(range(6)) - set(at):
        gamma[i] = -slopes(i, f[i])[0]
    mean = unlabeled / unlabeled.sum()
    # Unknown: γ of the free points, γ₀, b.  Equations: f there, mean of f, sum of all dual variables.
    n, A, right = len(free), np.zeros((len(free) + 2,) * 2), np.zeros(len(free) + 2)
    A[:n, :n], A[:n, n], A[:n, n + 1] = K[np.ix_(free, free)], K[free] @ mean, 1.0
    A[n, :n], A[n, n], A[n, n + 1] = mean @ K[:, free], mean @ K @ mean, 1.0
    A[n + 1, :n], A[n + 1, n] = 1.0, 1.0
    right[:n], right[n], right[n + 1] = [at[i] for i in free] - K[free] @ gamma, -mean @ K @ gamma, -gamma.sum()
    solved = np.linalg.solve(A, right)
    gamma[free] = solved[:n]
    f = K @ (gamma + solved[n] * mean) + solved[n + 1]
    return gamma, solved[n + 1], f


# %%
# Which points are at kinks is read off the machine's outputs.  That this is right is seen from the result: every -γ
# is a slope of ψ at f.
at = {i: float(np.round(found.outputs[i])) for i in range(6) if np.abs(np.abs(found.outputs[i]) - 1) < 1e-6}
gamma, b, f = by_hand(at)
for i in range(6):
    low, high = slopes(i, f[i])
    assert low - 1e-8 <= -gamma[i] <= high + 1e-8
print("at kinks:", at, "\nγ =", gamma, "\nf =", f, f"\nb = {b:.8f}")
differences = {
    "K": np.abs(K - problem.gram).max(),
    "γ": np.abs(gamma - found.gamma).max(),
    "f": np.abs(f - found.outputs).max(),
    "b": abs(b - found.bias),
}
print({name: f"{value:.0e}" for name, value in differences.items()})
assert max(differences.values()) < 1e-8

# %%
# The values agree as well: the primal, the dual, and the objective by hand.
values = primal.solve(solver="CLARABEL"), dual.solve(solver="CLARABEL")
print("primal and dual:", values)
assert abs(values[0] - values[1]) < 1e-5

# %%
# What the points pay, and the boundary of the step.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
ct.plot_loss(ct.symmetric_ramp(-0.3), at=0.7, ax=left)
ct.plot_boundary(ct.cccp(model, problem), ax=right)
plt.show()
