"""Derivatives of solutions: against differences of fits on random problems, and their time beside that of the fit.

    python benchmarks/derivatives.py [--count 1000]

Random problems of 30 to 60 points: three kernels, seven formulations, a third of them with a link and a sum of outputs
in an interval, costs of all points or of each, balances; a parameter drawn from all that there are, or a direction of
the costs or of the points.  The difference of two fits is over a tenth of the way to the nearest kink of both sides,
at most a ten-thousandth of the parameter, relative to the largest derivative of an output (or to the outputs, if that
is larger).  Where a fit on one side has another active set, or tangents, the problem is drawn again, and counted.
"""

import argparse
import dataclasses
import itertools
import time
import warnings

import numpy as np
from common import Results

import convex_tsvm as ct

KERNELS = ("linear", ct.RBF(1.3), ct.Polynomial(degree=2, gamma=0.5, coef0=1.0))
FORMULATIONS = (
    lambda rng: ct.cccp_tsvm(-rng.uniform(0.05, 0.9)),
    lambda rng: ct.s3vm(),
    lambda rng: ct.tsvm("ramp", balance=None),
    lambda rng: ct.Formulation(ct.losses.huber_hinge(rng.uniform(0.1, 0.9)), ct.symmetric_ramp(-0.2)),
    lambda rng: ct.Formulation(ct.ramp(-rng.uniform(0.1, 2)), ct.symmetric_ramp(-rng.uniform(0.05, 0.9))),
    lambda rng: ct.Formulation(ct.losses.epsilon_insensitive(rng.uniform(0.1, 0.5)), ct.symmetric_ramp(-0.3)),
    lambda rng: ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), balance=None, fit_intercept=False),
)


def drawn(seed):
    """A formulation and a problem."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 61))
    X = rng.normal(size=(n, 3))
    truth = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    formulation = FORMULATIONS[rng.integers(len(FORMULATIONS))](rng)
    C, C_unlabeled = np.exp(rng.uniform(-1, 2, n // 4)), np.exp(rng.uniform(-2.5, 0, n - n // 4))
    if rng.random() < 0.7:
        C, C_unlabeled = float(C[0]), float(C_unlabeled[0])
    if rng.random() < 0.33:
        weights = rng.normal(size=n) * (rng.random(n) < 0.2)
        constraints = ct.must_link(n - 1, n - 2), ct.output_constraint(weights, -0.3, float(rng.uniform(-0.1, 0.3)))
        formulation = dataclasses.replace(formulation, constraints=constraints)
    problem = ct.Problem(
        X, np.where(np.arange(n) < n // 4, truth, 0.0), kernel=KERNELS[rng.integers(len(KERNELS))],
        C=C, C_unlabeled=C_unlabeled, balance=None if formulation.balance is None else float(rng.uniform(-0.3, 0.3)),
    )  # fmt: skip
    return rng, formulation, problem


def direction(rng, formulation, problem):
    """A path of the costs, or of the points where constraints are not about them."""
    costs = rng.uniform(0, 1, problem.n_labeled) * problem.cost[problem.labeled]
    move = rng.normal(size=problem.X.shape)
    if formulation.constraints or rng.random() < 0.5:
        return lambda h: (formulation, problem.replace(C=problem.cost[problem.labeled] + h * costs))
    return lambda h: (formulation, problem.replace(X=problem.X + h * move))


def fit(formulation, problem):
    return ct.cccp(formulation, problem, solver="native", tol=1e-9)


def active(solution):
    point = solution.fixed_point
    return np.where(point.held < 0, point.piece, -1).tolist(), point.held.tolist()


def error(seed):
    """The relative error of a derivative by a difference of fits, or None where there is none between two kinks."""
    rng, formulation, problem = drawn(seed)
    solution = fit(formulation, problem)
    names = [*solution.fixed_point.parameters, direction(rng, formulation, problem)]
    name = names[rng.integers(len(names))]
    value, at = (0.0, name) if callable(name) else solution.fixed_point.parameters[name][:2]
    found = solution.derivative(name)
    h = min(1e-4 * max(abs(value), 0.1), 0.1 * found.nearest_kink)
    sides = [fit(*at(value + side * h)) for side in (1, -1)]
    if h < 1e-7 or any(active(one) != active(solution) for one in sides):
        return None
    difference = (sides[0].scores - sides[1].scores) / (2 * h)
    size = max(np.abs(difference).max(), 1e-3 * np.abs(solution.scores).max())
    return float(np.abs(found.outputs - difference).max() / size)


def seconds(call, times=5):
    """The least of some times of a call."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        found.append(time.perf_counter() - began)
    return min(found)


def times(n, kernel, balance, model):
    """Seconds of a fit, and of what is found of it."""
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(n, 20))
    X[:, 0] += 1.2 * truth
    y = np.where(np.arange(n) < n // 10, truth, 0.0)
    given = ct.Formulation(model.labeled, model.unlabeled, balance=None if balance is None else "linear")

    def fitted():
        return ct.cccp(given, ct.Problem(X, y, kernel=kernel, C=1.0, C_unlabeled=0.1, balance=balance))

    whole, solution = seconds(fitted), fitted()
    parts = [seconds(lambda: type(solution.fixed_point)(given, solution.problem, solution.point), 3)]
    for name in ("C", "C_unlabeled", "sigma"):
        known = name in solution.fixed_point.parameters
        parts.append(seconds(lambda name=name: solution.derivative(name)) if known else np.nan)
    return whole, [*parts, seconds(lambda: solution.backward(np.ones(n)), 2)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    count = parser.parse_args().count
    warnings.simplefilter("ignore")
    results = Results("derivatives", "Derivatives of solutions", "derivatives.py")
    results(*__doc__.split("\n\n")[2].split("\n"), "")
    errors, again, seed = [], 0, 0
    while len(errors) < count:
        found = error(seed)
        seed, again = seed + 1, again + (found is None)
        errors += [] if found is None else [found]
    errors = np.array(errors)
    results(f"{count} problems ({again} drawn again): {100 * np.mean(errors <= 1e-6):.1f} % within 1e-6, median "
            f"{np.median(errors):.1e}, largest {errors.max():.1e}.", "")  # fmt: skip
    results("Milliseconds, and in brackets the share of the fit's: of the active set, which is found once, of each",
            "derivative, and of all gradients, those of the points among them.  Two overlapping Gaussians in 20",
            "dimensions, a tenth labelled, C = 1, C* = 0.1.", "")  # fmt: skip
    results.table("points", "kernel", "formulation", "balance", "fit", "active set", "C", "C*", "sigma", "gradients")
    models = ct.cccp_tsvm(-0.3), ct.s3vm()
    for n, kernel, balance, model in itertools.product((500, 5000), ("linear", ct.RBF(4.0)), (None, 0.0), models):
        whole, parts = times(n, kernel, balance, model)
        shown = ["" if np.isnan(one) else f"{1000 * one:.1f} ({one / whole:.2f})" for one in parts]
        name = kernel if isinstance(kernel, str) else "rbf"
        results.row(n, name, model.name, "none" if balance is None else balance, f"{1000 * whole:.1f}", *shown)
    results.done()


if __name__ == "__main__":
    main()
