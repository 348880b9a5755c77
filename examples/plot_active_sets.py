"""
Newton steps on active sets
===========================

The squared hinge loss is a parabola on one side of the margin and zero on the other.  On the points inside their
margins, the active set, the objective is least squares: Newton's step solves this problem, by conjugate gradients that
need products with the points only, and an exact line search follows.  Claims: a handful of steps leads to the optimum;
the slope along a step is piecewise linear; and conjugate gradients end after at most as many steps as there are
features.
"""

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct

# %%
# Sixty points in the plane, two weights, no bias: ½ λ ‖w‖² + ½ Σ max(0, 1 - y x·w)².
rng = np.random.default_rng(1)
y = np.resize([1.0, -1.0], 60)
X = rng.normal(size=(60, 2)) * [1.0, 2.0] + y[:, None] * [1.0, 0.8]
ridge = 1.0


def objective(w):
    return 0.5 * ridge * w @ w + 0.5 * np.sum(np.maximum(0, 1 - y * (X @ w)) ** 2)


def gradient(w):
    return ridge * w - X.T @ (y * np.maximum(0, 1 - y * (X @ w)))


# %%
# The Newton point of a weight vector depends on it through its active set alone.  The slope along the way there is
# linear between the places where a point enters the active set or leaves it, so that its root is found by sorting.


def newton_point(w):
    active = y * (X @ w) < 1
    A, b = X[active], y[active]
    return np.linalg.solve(ridge * np.eye(2) + A.T @ A, A.T @ b), int(active.sum())


def step(w):
    """The minimum along the line to the Newton point, from the breakpoints of the slope."""
    target, size = newton_point(w)
    d = target - w
    places = (1 - y * (X @ w)) / (y * (X @ d))
    places = np.concatenate([[0.0], np.sort(places[places > 0])])
    slopes = np.array([gradient(w + t * d) @ d for t in places])
    k = int(np.argmax(slopes > 0)) if (slopes > 0).any() else len(places)
    if k == len(places):
        return w + d, size, places, slopes, d
    left, right = places[k - 1], places[k]
    t = left - slopes[k - 1] * (right - left) / (slopes[k] - slopes[k - 1])
    return w + t * d, size, places, slopes, d


path, sizes, lines = [np.array([-1.5, 2.0])], [], []
while np.linalg.norm(gradient(path[-1])) > 1e-9:
    w, size, places, slopes, d = step(path[-1])
    path.append(w)
    sizes.append(size)
    lines.append((places, slopes))
path = np.array(path)
print(f"{len(sizes)} Newton steps, with active sets of {sizes}")
assert len(sizes) <= 8

# %%
# The toolkit's solver ends at the same weights.
problem = ct.Problem(X, y, C=0.5 / ridge, C_unlabeled=None, balance=None)
solution = ct.cccp(ct.svm(ct.squared_hinge(), fit_intercept=False), problem, tol=1e-9)
print(f"w = {path[-1].round(4)}; convex_tsvm has {solution.weights.round(4)}")
np.testing.assert_allclose(solution.weights, path[-1], atol=1e-3)

# %%
# Left the steps on the objective's level lines; right the slope along the first step, with its root.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
u, v = np.meshgrid(np.linspace(-2, 1.5, 120), np.linspace(-1.2, 2.4, 120))
values = [objective(np.array(pair)) for pair in zip(u.ravel(), v.ravel(), strict=True)]
left.contour(u, v, np.reshape(values, u.shape), levels=np.geomspace(min(values) * 1.05, max(values), 14), colors="0.8")
left.plot(*path.T, "o-", color="C3")
for k, w in enumerate(path[:3]):
    left.annotate(str(k), w, xytext=(6, 6), textcoords="offset points")
left.set(xlabel="w₁", ylabel="w₂", title=f"{len(sizes)} Newton steps")
places, slopes = lines[0]
shown = places <= 1.5
right.plot(places[shown], slopes[shown], "o-", ms=4)
right.axhline(0, color="0.7")
right.set(xlabel="step length", ylabel="slope", title="The slope along the first step is piecewise linear")

# %%
# Conjugate gradients on the normal equations, with eight features: the error of the weights after each step, and the
# exact end after eight.
A = rng.normal(size=(200, 8)) * np.geomspace(1, 0.1, 8)
b = np.sign(A[:, 0] + 0.3 * rng.normal(size=200))
exact = np.linalg.solve(ridge * np.eye(8) + A.T @ A, A.T @ b)
w, r = np.zeros(8), A.T @ b
d, errors = r.copy(), [float(np.linalg.norm(exact))]
for _ in range(8):
    product = A.T @ (A @ d) + ridge * d
    length = (r @ r) / (d @ product)
    w, new = w + length * d, r - length * product
    d, r = new + (new @ new) / (r @ r) * d, new
    errors.append(float(np.linalg.norm(w - exact)))
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.semilogy(errors, "o-")
axes.set(xlabel="conjugate gradient step, two products with the points each", ylabel="‖w - exact‖",
         title="Eight features: the end after at most eight steps")  # fmt: skip
print(f"error after 4 steps {errors[4]:.1e}, after 8 steps {errors[8]:.1e}")
assert errors[8] < 1e-8 * errors[0]
plt.show()
