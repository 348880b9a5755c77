"""
A method of your own
====================

A method says which convex steps are solved, one after the other.  All else (the solver, the trace, the best
solution, Ctrl-C, time limits, an exact balance, estimators) is there already.  The method on this page is the boosted
concave-convex procedure of Aragón Artacho and Vuong (2020): a step of CCCP gives a direction, along which the objective
goes on falling for a while, and the next tangents are taken where it has fallen most.

Claims: the objective falls at every step; on three problems the boosted procedure takes less than half as many steps as
CCCP, to objectives that are no higher in the mean; and it is a method like any other, in ``minimize``, in
``TransductiveSVC`` and with an exact balance.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct


# %%
# The whole method.  ``run.solve`` solves a step, ``run.record`` adds it to the trace, ``run.value`` is the objective.
class Boosted(ct.Method):
    """CCCP whose tangents are taken further on: at f + λ (f - f before), for the best λ that is tried."""

    name = "boosted CCCP"

    def __init__(self, longest=8.0, shrink=0.5):
        self.longest, self.shrink = longest, shrink

    def descend(self, run):
        instance, before = run.instance, run.begun(run.solve(run.envelope_step()))
        tangents_at, value = before.outputs, np.inf
        for _ in range(run.settings.max_iter):
            slopes = instance.tangents(tangents_at, instance.cost)
            point, last = run.solve(instance.step(tangents_at)), value
            run.record(point)
            value = run.value(point)
            moved = np.abs(instance.tangents(point.outputs, instance.cost) - slopes)
            if (moved <= run.settings.tol * instance.cost).all() or value > last - 1e-9 * abs(last):
                return "converged"
            tangents_at, before = self.further(instance, before, point), point
        return "max_iter"

    def further(self, instance, before, point):
        """Outputs beyond a point, on the line from the one before, where the objective is lower; or those at it."""
        # ‖w + λ (w - w before)‖² is a quadratic in λ, whose products are sums over the points.
        w, v = point.coefficients, before.coefficients
        square, inner = w @ (point.outputs - point.bias), v @ (point.outputs - point.bias)
        other = v @ (before.outputs - before.bias)
        least, found, length = instance.objective(point.outputs, square / 2), point.outputs, self.longest
        while length > 0.05:
            outputs = point.outputs + length * (point.outputs - before.outputs)
            norm = (1 + length) ** 2 * square - 2 * (1 + length) * length * inner + length**2 * other
            value = instance.objective(outputs, norm / 2)
            if value < least:
                least, found = value, outputs
            length *= self.shrink
        return found


# %%
# A loss at which CCCP is slow: exp(-5 t²) as the parabola 5 t² and what is left, which is concave.  Its tangents go on
# changing for hundreds of steps, where those of the ramp have few slopes.
rest = ct.losses.SmoothConcave(lambda t: np.exp(-5 * t**2) - 5 * t**2, lambda t: -10 * t * np.exp(-5 * t**2) - 10 * t)
model = ct.Formulation(ct.squared_hinge(), ct.losses.DCLoss(ct.losses.PLQ([], [(5, 0, 0)]), rest, name="exp(-5 t²)"))


def problem_of(seed):
    """Two Gaussians in the plane that overlap, a hundred and fifty points, ten of them labelled."""
    rng, truth = np.random.default_rng(seed), np.resize([1.0, -1.0], 150)
    X = rng.normal(size=(150, 2)) + 0.8 * truth[:, None]
    return ct.Problem(X, np.where(np.arange(150) < 10, truth, 0.0), kernel=ct.RBF(1.0), C=10, C_unlabeled=1)


problems = [problem_of(seed) for seed in range(3)]
plain = [ct.cccp(model, problem, max_iter=2000) for problem in problems]
boosted = [ct.minimize(Boosted(), model, problem, settings=ct.methods.Settings(max_iter=2000)) for problem in problems]
steps = [np.array([solution.n_iter for solution in found]) for found in (plain, boosted)]
print(f"steps: CCCP {steps[0].mean():.1f}, boosted {steps[1].mean():.1f}")
objectives = [np.array([solution.objective for solution in found]) for found in (plain, boosted)]
print(f"objectives: CCCP {objectives[0].mean():.3f}, boosted {objectives[1].mean():.3f}")
for solution in boosted:
    assert solution.status == "converged"
    trace = np.array([step.objective for step in solution.history])
    assert (np.diff(trace) <= 1e-6 * trace[:-1]).all()
assert steps[1].mean() < steps[0].mean() / 2
assert objectives[1].mean() <= objectives[0].mean() + 1e-3

# %%
# Their traces on the problem where they differ most.
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
most = int(np.argmax(steps[0] - steps[1]))
for name, found in (("CCCP", plain[most]), ("boosted CCCP", boosted[most])):
    trace = np.array([step.objective for step in found.history])
    axes.plot(np.arange(1, len(trace) + 1), trace, marker="o", label=name)
axes.set(xlabel="step", ylabel="objective", xscale="log", title="the boosted procedure needs fewer convex problems")
axes.legend()

# %%
# In an estimator, and with a prescribed number of positive labels, met as nearly as a mean output allows:
problem = problems[0]
y = np.where(problem.y == 0, -1, problem.y > 0)
classifier = ct.TransductiveSVC(method=Boosted(), loss=model, sigma=1.0, balance=0.0).fit(problem.X, y)
print(classifier.status_, classifier.n_iter_)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)
    small = problem.part(np.arange(80)).replace(balance=("exact", 0.4))
    counted = ct.minimize(Boosted(), model, small)
n_positive = int((counted.labels[small.unlabeled] > 0).sum())
print(f"{n_positive} of {small.n_unlabeled} are labelled +1, 28 were asked for")
assert abs(n_positive - 28) <= 3

plt.show()
