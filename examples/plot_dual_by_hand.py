"""
A dual by hand, and by the machine
==================================

Six points, two labels, one convex step of the CCCP-TSVM (Collobert et al. 2006): every matrix of the primal and of the
dual is printed, and some fifty lines of NumPy find the solution (the dual variables γ, the bias b and the outputs f)
without the library's solver.  Claim: both solutions are equal to 1e-8.
"""

import itertools

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
# Their matrices.  K has the kernel values of the points, and K₀ has those of x₀ too, the mean of the unlabelled points
# in the feature space; mᵀa + b is the mean output of the unlabelled points.  The slopes β are those of the ramp's
# concave part,
# min(0, 0.3 - \|f\|): -sign(f) where \|f\| > 0.3.
K = np.exp(-0.2 * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=-1))
unlabeled = y == 0
mean = unlabeled / unlabeled.sum()
K0 = np.block([[K, (K @ mean)[:, None]], [mean @ K, mean @ K @ mean]])
cost = np.where(unlabeled, 1.0, 4.0)
beta = np.where(unlabeled, -np.sign(outputs) * (np.abs(outputs) > 0.3), 0.0)
print("K =", K, "K₀ =", K0, "m =", K0[-1], "C =", cost, "β =", beta, sep="\n")

# %%
# The library's constants of these names are the same.
constants = {constant.name(): constant.value for constant in primal.constants()}
assert np.abs(K - problem.gram).max() < 1e-12
assert np.abs(K0 - constants["K_x0"]).max() < 1e-8
assert np.abs(K0[:6] - constants["K_points"]).max() < 1e-8
assert np.abs(K0[-1] - constants["mean"]).max() < 1e-8

# %%
# By hand.  The loss ψ of a point is piecewise linear in its output f: a hinge for a labelled point, with its kink
# at f = y, and for an unlabelled one max(0, f - 1) + max(0, -f - 1), with kinks at -1 and 1, plus the tangent β f.  At
# the optimum -γ is a slope of ψ at f.  A point is at a kink, where f is known and γ is not, or on a piece, where γ is
# known.  For each choice of kinks and pieces, the γ of the points at kinks, the γ₀ of the balance and b solve linear
# equations.
#
# The kernel matrix of distinct points has an inverse (Micchelli 1986), and so has that of some of them and x₀, unless
# the four unlabelled points, whose mean x₀ is, are all among them.  Where all four are at kinks, the equation of x₀
# follows from theirs: their kinks must have the mean 0, or there is no solution.  If they have it, γ₀ may be set to 0:
# adding t to the four γ, with γ₀ = -4 t, changes no output.


def pieces(i):
    """The pieces of ψ_i: ends and slope of each; between two of them is a kink."""
    if y[i] > 0:
        return [(-np.inf, 1.0, -cost[i]), (1.0, np.inf, 0.0)]
    if y[i] < 0:
        return [(-np.inf, -1.0, 0.0), (-1.0, np.inf, cost[i])]
    return [(-np.inf, -1.0, beta[i] - cost[i]), (-1.0, 1.0, beta[i]), (1.0, np.inf, beta[i] + cost[i])]


def tied(at):
    """Whether all unlabelled points are at kinks."""
    return set(at) >= {2, 3, 4, 5}


def solved(on, at):
    """γ, b and f where points are on the pieces ``on``, and at the kinks ``at``: indices of the pieces before them.

    None where the four unlabelled points are at kinks whose mean is not 0.
    """
    gamma, free, kinks = np.zeros(6), list(at), {i: pieces(i)[k][1] for i, k in at.items()}
    if tied(at) and kinks[2] + kinks[3] + kinks[4] + kinks[5] != 0:
        return None
    for i, k in on.items():
        gamma[i] = -pieces(i)[k][2]
    # Unknown: γ of the free points, γ₀, b.  Equations: f there, mean of f, sum of all dual variables.
    n, A, right = len(free), np.zeros((len(free) + 2,) * 2), np.zeros(len(free) + 2)
    A[: n + 1, : n + 1] = K0[np.ix_([*free, 6], [*free, 6])]
    A[: n + 1, n + 1] = A[n + 1, : n + 1] = 1.0
    right[:n] = list(kinks.values())
    right[: n + 1] -= K0[[*free, 6], :6] @ gamma
    right[n + 1] = -gamma.sum()
    if tied(at):
        A[n], right[n] = np.eye(n + 2)[n], 0.0  # γ₀ = 0 in place of the equation of x₀
    *gamma[free], gamma0, b = np.linalg.solve(A, right)
    return gamma, b, K0[:6] @ [*gamma, gamma0] + b


def optimal(on, at, gamma, f):
    """Whether each f is on its piece, and each γ, after some shift if it is free, between the slopes at its kink."""
    inside = all(pieces(i)[k][0] - 1e-9 <= f[i] <= pieces(i)[k][1] + 1e-9 for i, k in on.items())
    least = {i: -pieces(i)[k + 1][2] - gamma[i] for i, k in at.items()}
    most = {i: -pieces(i)[k][2] - gamma[i] for i, k in at.items()}
    t = max(least[i] for i in range(2, 6)) if tied(at) else 0.0
    return inside and all(least[i] - 1e-9 <= t * unlabeled[i] <= most[i] + 1e-9 for i in at)


# %%
# All 3² · 5⁴ combinations of pieces and kinks are tried; one of them satisfies the inequalities, and so is optimal.  In
# 3² · 2⁴ = 144 all four unlabelled points are at kinks, and in 3² · 6 of these the mean of the kinks is 0.
counts = [len(pieces(i)) for i in range(6)]
choices = [[("on", k) for k in range(count)] + [("at", k) for k in range(count - 1)] for count in counts]
found_by_hand, impossible = [], 0
for chosen in itertools.product(*choices):
    on, at = ({i: k for i, (kind, k) in enumerate(chosen) if kind == name} for name in ("on", "at"))
    one = solved(on, at)
    impossible += one is None
    if one is not None and optimal(on, at, one[0], one[2]):
        found_by_hand.append((at, *one))
print(f"{len(found_by_hand)} of {np.prod([len(choice) for choice in choices])} combinations is optimal")
assert len(found_by_hand) == 1
assert impossible == 144 - 54
at, gamma, b, f = found_by_hand[0]
print("at kinks:", {i: pieces(i)[k][1] for i, k in at.items()}, "\nγ =", gamma, "\nf =", f, f"\nb = {b:.8f}")

# %%
# By the machine.
found = ct.solvers.NativeSolver(problem, tol=1e-12).solve(model.on(problem).step(outputs))
differences = {
    "γ": np.abs(gamma - found.gamma).max(),
    "f": np.abs(f - found.outputs).max(),
    "b": abs(b - found.bias),
}
print({name: f"{value:.0e}" for name, value in differences.items()})
assert max(differences.values()) < 1e-8

# %%
# The values of the primal and the dual agree as well.
values = primal.solve(solver="CLARABEL"), dual.solve(solver="CLARABEL")
print("primal and dual: {:.6f}, {:.6f}".format(*values))
assert abs(values[0] - values[1]) < 1e-5

# %%
# The loss of an unlabelled point with the tangent at its output 0.7, and the boundary: CCCP ends with this step.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
ct.plot.loss(ct.symmetric_ramp(-0.3), at=0.7, ax=left)
ct.plot.boundary(ct.cccp(model, problem), ax=right)
plt.show()
