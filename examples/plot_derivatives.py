"""
Learning through the fit
========================

A solution has derivatives with respect to everything that it depends on: ``solution.derivative("C")``, and, for a
function of its outputs, ``solution.backward(gradient)`` for all numbers and points at once.  Claims: on digits, five
hyperparameters that are tuned by the gradient of a left-out loss, twenty fits in all, leave fewer errors than the
defaults; and a linear map in front of the kernel, learned end to end, finds the two features out of twenty that tell
two moons apart; and along C* the outputs are straight lines from breakpoint to breakpoint.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.datasets import load_digits

import convex_tsvm as ct

# %%
# Even and odd digits.  100 of 700 have labels, half of which are left out to judge by.
rng = np.random.default_rng(0)
digits = load_digits()
keep = rng.permutation(len(digits.data))[:700]
X, truth = digits.data[keep] / 16, np.where(digits.target[keep] % 2 == 0, 1.0, -1.0)


def hidden(labeled, left_out):
    """Labels with 0 for points without, and for those left out."""
    shown = (np.arange(len(truth)) < labeled) & ~np.isin(np.arange(len(truth)), left_out)
    return np.where(shown, truth, 0.0)


def model(numbers, Z, y):
    """The TSVM at C, C*, the kernel's width, s and the mean output, of points Z."""
    C, C_unlabeled, sigma, s, balance = numbers
    problem = ct.Problem(Z, y, kernel=ct.RBF(sigma), C=C, C_unlabeled=C_unlabeled, balance=balance)
    return ct.cccp_tsvm(s), problem


def left_out_loss(solution, left_out):
    """log(1 + exp(-3 y f)) at the labelled points that were left out, and its gradient with respect to all outputs."""
    margins = 3 * truth[left_out] * solution.scores[left_out]
    gradient = np.zeros(len(truth))
    gradient[left_out] = -3 * truth[left_out] * expit(-margins) / len(left_out)
    return np.logaddexp(0, -margins).mean(), gradient


def errors(numbers, Z, labeled):
    """Wrong labels among the points without any, in per cent, by a fit with all labels."""
    solution = ct.cccp(*model(numbers, Z, hidden(labeled, [])))
    return 100 * np.mean((solution.labels != truth)[labeled:])


# %%
# One derivative, compared with the difference of two fits.
numbers, left_out = np.array([1.0, 0.1, np.sqrt(32 * X.var()), -0.3, 0.0]), np.arange(50)
y = hidden(100, left_out)
solution = ct.cccp(*model(numbers, X, y), tol=1e-9)
derivative = solution.derivative("C_unlabeled")
h = min(1e-4, 0.5 * derivative.nearest_kink)
unit = np.array([0, 1, 0, 0, 0])
beside = [ct.cccp(*model(numbers + step * unit, X, y), tol=1e-9).scores for step in (h, -h)]
difference = (beside[0] - beside[1]) / (2 * h)
error = np.abs(derivative.outputs - difference).max() / np.abs(difference).max()
print(
    f"df/dC* agrees with two fits to {error:.0e}; the active set stays for {derivative.nearest_kink:.1g} on both sides"
)
assert error < 1e-6

# %%
# Five hyperparameters, of which the first three are moved on a logarithmic scale.  The signs of the gradient are
# followed, by steps that grow as long as a sign stays and are halved when it changes (Rprop); the best of twenty fits
# is taken.
names = ("C", "C_unlabeled", "sigma", "unlabeled.s", "balance")


def tuned(numbers, Z, fits=20):
    """The numbers with the least left-out loss among so many fits, and the losses on the way."""
    step, before, losses, best = np.array([1.0, 1.0, 0.4, 0.1, 0.1]), np.zeros(5), [], numbers
    for _ in range(fits):
        solution = ct.cccp(*model(numbers, Z, y))
        loss, gradient = left_out_loss(solution, left_out)
        best = numbers.copy() if loss < min(losses, default=np.inf) else best
        losses.append(loss)
        found = solution.backward(gradient)
        slopes = np.array([found[name] for name in names])
        step = step * np.where(slopes * before > 0, 1.3, np.where(slopes * before < 0, 0.5, 1.0))
        move, before = -step * np.sign(slopes), slopes
        numbers = np.r_[numbers[:3] * np.exp(move[:3]), numbers[3:] + move[3:]]
        numbers[3:] = np.clip(numbers[3:], [-0.95, -0.5], [-0.05, 0.5])
    return best, losses


best, losses = tuned(numbers, X)
before, after = (errors(one, X, 100) for one in (numbers, best))
print(f"defaults: {before:.1f} % errors; after 20 fits {after:.1f} %, at", *map("{}={:.2g}".format, names, best))
assert after < 0.8 * before

# %%
# Two moons under eighteen features of noise; 200 of 600 points have labels.  The map scales every feature: the gradient
# with respect to the mapped points gives that of the map by the chain rule.  Labels serve in turn to fit and to judge.
truth = np.where(rng.random(600) < 0.5, 1.0, -1.0)
angle = np.pi * rng.random(600)
plane = np.column_stack([truth * (np.cos(angle) - 0.5), truth * (np.sin(angle) - 0.25)])
X = np.column_stack([plane + 0.1 * rng.normal(size=(600, 2)), 0.6 * rng.normal(size=(600, 18))])
numbers = [3.0, 0.1, 1.0, -0.3, 0.0]
scales, mean, square, mapped_losses = np.full(20, 0.4), np.zeros(20), np.zeros(20), []
unmapped = errors(numbers, X * scales, 200)
for turn in range(1, 41):
    judged = rng.permutation(200)[:100]
    solution = ct.cccp(*model(numbers, X * scales, hidden(200, judged)))
    loss, gradient = left_out_loss(solution, judged)
    slope = scales * (X * solution.backward(gradient)["X"]).sum(axis=0)  # of the scales' logarithms
    mean, square = 0.8 * mean + 0.2 * slope, 0.95 * square + 0.05 * slope**2
    scales = scales * np.exp(-0.1 * mean / (1 - 0.8**turn) / (np.sqrt(square / (1 - 0.95**turn)) + 1e-8))  # Adam
    mapped_losses.append(loss)
learned = errors(numbers, X * scales, 200)
print(f"two moons: {unmapped:.1f} % errors before, {learned:.1f} % with the map")
assert learned < 0.2 * unmapped
assert set(np.argsort(scales)[-2:]) == {0, 1}

# %%
# Sixty points of two moons, eight of which are labelled, along C* from 0.01 to 0.5: every line is a point's output.
# Where one comes to a kink of its loss (at -1 and 1), or leaves one, all lines bend; where a tangent of the concave
# parts changes they jump.
formulation, problem = model([1.0, 0.01, 0.5, -0.3, 0.0], plane[:60], hidden(8, [])[:60])
path = ct.methods.solution_path(ct.cccp(formulation, problem, tol=1e-9), "C_unlabeled", 0.5)
middle = 0.5 * (path.values[10] + path.values[11])
fitted = ct.cccp(formulation, problem.replace(C_unlabeled=middle), tol=1e-9, start=path.at(middle))
away = np.abs(path.at(middle) - fitted.scores).max()
print(f"{len(path.values)} breakpoints, {len(path.jumps)} jumps; between two of them a fit is {away:.0e} away")
assert away < 1e-6
ct.plot.path(path, parameter="C*")

# %%
# Left: the left-out losses while hyperparameters and scales are learned; from fit to fit the labels that judge the
# scales change.  Right: the learned scales; the moons are in the first two features.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
left.plot(losses, label="five hyperparameters, digits")
left.plot(mapped_losses, label="scales of the features, two moons")
left.set(xlabel="fit", ylabel="left-out loss", title="What is lowered")
left.legend()
right.bar(np.arange(1, 21), scales)
right.set(xlabel="feature", ylabel="scale", title="What is learned", xticks=[1, 2, 5, 10, 15, 20])
plt.show()
