"""Random formulations of every kind of loss, held to points that are found by looking everywhere.

    python tests/fuzz_formulations.py --number 3000 [--seed 0]

Losses are unbounded below, flat, concave at infinity, or finite only in part; biases free, fixed by a balance, or none;
some outputs are constrained.  Points have one feature (with a bias or without) or two (without), so that the objective
is a function of two numbers at most, which is looked at on a grid from near to far and improved from the best places.
No bound may be above what is found there, and nothing called optimal may be above it by more than was asked for; an
objective that falls without end must be refused, with what is missing; one that does not may be refused, too.
"""

import argparse
import time
import warnings

import numpy as np
import scipy.optimize

import convex_tsvm as ct

#: Relative gap asked of searches, and their limit in seconds.
GAP, SECONDS = 1e-4, 10.0

#: How far, relative to one and its size, a bound may be above a value that was computed in double precision.
ROUNDING = 1e-9

#: Words of which each refusal has one: what is missing, or what the formulation has that is not covered.
REASONS = (
    "bias",
    "fall",
    "balance",
    "constraint",
    "domain",
    "infeasible",
    "no point",
    "unbounded",
    "kernel",
    "class",
    "meet",
)


def random_loss(rng, kind):
    """A piecewise linear-quadratic function of a kind, continuous, with one to three breakpoints."""
    breaks = np.sort(rng.choice(np.arange(-8, 9) / 4, size=int(rng.integers(1, 4)), replace=False))
    slopes = rng.integers(-4, 5, len(breaks) + 1) / 4
    curves = np.zeros(len(slopes))
    if kind == "flat":
        slopes[[0, -1]] = 0.0
    elif kind == "rising":
        slopes[0], slopes[-1] = -abs(slopes[0]) - 0.25, abs(slopes[-1]) + 0.25
    elif kind == "falling":
        slopes[rng.choice([0, -1])] = 0.0
        end = rng.choice([0, -1])
        slopes[end] = abs(slopes[end]) + 0.25 if end == 0 else -abs(slopes[end]) - 0.25
    elif kind == "concave":
        curves[rng.choice([0, -1])] = -rng.choice([1e-3, 0.01, 0.1, 1.0])
    elif kind == "bent":
        curves = rng.choice([0.0, 0.0, 0.5, -0.5], len(slopes))
        curves[[0, -1]] = np.maximum(curves[[0, -1]], 0.0)
    pieces, value = [], 0.0
    edges = np.concatenate([[breaks[0]], breaks])
    for left, slope, a in zip(edges, slopes, curves, strict=True):
        b = slope - 2 * a * left  # the slope at the piece's left end, or for the first piece at its right one
        c = value - (a * left + b) * left
        pieces.append((a, b, c))
        right = breaks[len(pieces) - 1] if len(pieces) <= len(breaks) else left
        value = (a * right + b) * right + c
    domain = (-np.inf, np.inf)
    if kind == "part":
        domain = [(-3.0, np.inf), (-np.inf, 3.0), (-3.0, 3.0)][rng.integers(3)]
    return ct.losses.PLQ(breaks, pieces, domain)


KINDS = ("flat", "rising", "falling", "concave", "bent", "part")


def drawn(rng):
    """A random formulation and its problem; ValueError where there is none."""
    n, d = int(rng.integers(3, 6)), int(rng.integers(1, 3))
    X = np.round(rng.normal(size=(n, d)), 1) * rng.choice([0.1, 1.0, 1.0, 10.0])
    y = np.zeros(n)
    y[:2] = rng.choice([-1.0, 1.0], 2) if rng.random() < 0.2 else [1.0, -1.0]
    balance = [None, None, "labeled", float(np.round(rng.uniform(-0.5, 0.5), 2))][rng.integers(4)]
    fit_intercept = bool(d == 1 and rng.random() < 0.6) or (balance is not None and d == 2)
    labeled = ct.hinge() if rng.random() < 0.5 else random_loss(rng, rng.choice(KINDS))
    unlabeled = random_loss(rng, rng.choice(KINDS))
    constraints = []
    if rng.random() < 0.25:
        constraints = [ct.output_constraint({int(rng.integers(n)): 1.0}, -1.0, 2.0)]
    elif rng.random() < 0.2:
        constraints = [ct.must_link(2, int(rng.integers(2)), within=0.5)]
    problem = ct.Problem(
        X, y, C=10 ** rng.uniform(-1.5, 1), C_unlabeled=10 ** rng.uniform(-1.5, 1), balance=balance
    )  # fmt: skip
    model = ct.Formulation(
        labeled, unlabeled, balance=None if balance is None else "linear", fit_intercept=fit_intercept,
        constraints=constraints,
    )  # fmt: skip
    return model, problem


class Landscape:
    """The objective as a function of the numbers that are free: w and b, less one that a balance fixes."""

    def __init__(self, model, problem):
        self.model, self.problem, self.X = model, problem, problem.X
        self.mean = problem.X[problem.balance_points].mean(axis=0)
        self.target = None if model.balance is None else problem.balance_target
        self.size = self.X.shape[1] + (model.fit_intercept and self.target is None)

    def outputs(self, x):
        """f of all points, and ½ ‖w‖²; None where a balance cannot be met."""
        d = self.X.shape[1]
        w, b = x[:d], x[d] if self.size > d else 0.0
        if self.target is not None and self.model.fit_intercept:
            b = self.target - float(self.mean @ w)
        elif self.target is not None:
            square = float(self.mean @ self.mean)
            if square == 0:
                return None if self.target else (self.X @ w, 0.5 * float(w @ w))
            w = w + (self.target - float(self.mean @ w)) / square * self.mean
        return self.X @ w + b, 0.5 * float(w @ w)

    def value(self, x):
        """The objective, infinite where a constraint or a domain is left."""
        found = self.outputs(np.asarray(x, dtype=float))
        if found is None:
            return np.inf
        f, regularization = found
        for one in self.model.constraints:
            total = float(one.on(self.problem) @ f)
            if not one.lower <= total <= one.upper:
                return np.inf
        y, cost = self.problem.y, self.problem.cost
        known = y != 0
        paid = [cost[known] @ self.model.labeled(y[known] * f[known]), cost[~known] @ self.model.unlabeled(f[~known])]
        return regularization + float(sum(paid))

    def least(self):
        """The least value found; infinite if there is none, and -inf if it falls without end along some direction."""
        near = np.concatenate([-np.geomspace(1e-2, 1e2, 12), [0.0], np.geomspace(1e-2, 1e2, 12)])
        places = np.array(np.meshgrid(*[near] * self.size)).reshape(self.size, -1).T
        values = np.array([self.value(x) for x in places])
        if not np.isfinite(values).any():
            return np.inf
        best = np.inf
        with np.errstate(all="ignore"):
            for k in np.argsort(values)[:4]:
                found = scipy.optimize.minimize(self.value, places[k], method="Nelder-Mead",
                                                options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 600})  # fmt: skip
                best = min(best, float(found.fun))
        far = [self.value(10.0**k * np.array(way)) for k in (4, 6, 8) for way in self.ways()]
        return -np.inf if min(far, default=0.0) < best - 1e3 * (1 + abs(best)) else best

    def ways(self):
        """Directions in which the objective may fall without end."""
        angles = np.linspace(0, 2 * np.pi, 33)[:-1] if self.size == 2 else [0.0, np.pi]
        if self.size == 3:
            return np.random.default_rng(0).normal(size=(64, 3))
        ways = [(np.cos(t), np.sin(t)) for t in angles]
        return [way[: self.size] for way in ways] + [(0.0, s * 1e6)[: self.size] for s in (-1, 1) if self.size == 2]


def claims(model, problem):
    """Name, lower bound, what is called reached (or None), and whether it is called optimal, of every public call."""

    def builder(relaxation):
        found = ct.LowerBoundBuilder(model, problem, relaxation=relaxation).bound()
        return found.value, found.upper, False

    def search():
        found = ct.exact_search(model, problem, gap=GAP, time_limit=SECONDS, max_nodes=300)
        return found.lower_bound, found.objective, found.status == "optimal"

    def descent():
        found = ct.cccp(model, problem)
        return found.lower_bound, found.objective if found.status == "converged" else None, False

    calls = {"envelope": lambda: builder("envelope"), "curvature": lambda: builder("curvature"), "search": search}
    return {**calls, "cccp": descent}


def fuzz(number, seed=0, progress=False):
    """Counts by what was found, and the failures."""
    counts, failures = dict.fromkeys(("held", "refused", "unbounded", "infeasible"), 0), []
    for k in range(number):
        try:
            model, problem = drawn(np.random.default_rng([seed, k]))
        except ValueError:
            continue
        land = Landscape(model, problem)
        wrong = held(model, problem, land, counts)
        if wrong:
            failures.append((k, wrong))
            if progress:
                print(f"formulation {seed}/{k}: {wrong}", flush=True)
    return counts, failures


def held(model, problem, land, counts):
    """What is false of a formulation, or None."""
    low = land.least()
    told, reasons = {}, {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name, call in claims(model, problem).items():
            try:
                told[name] = call()
            except (ValueError, RuntimeError) as error:
                reasons[name] = error
            except Exception as error:
                return f"{name} fails: {error!r}"
    for name, error in reasons.items():
        if not any(word in str(error) for word in REASONS):
            return f"{name} refuses without a reason: {error}"
        if isinstance(error, ct.InfeasibleError) and low < np.inf:
            return f"{name} calls infeasible what has {low!r}: {error}"
    counts["refused" if reasons else "held"] += 1
    counts["unbounded"] += low == -np.inf
    counts["infeasible"] += low == np.inf
    room = ROUNDING * (1 + abs(low)) if np.isfinite(low) else 0.0
    best = min([low, *(reached for _, reached, _ in told.values() if reached is not None)])
    for name, (bound, reached, optimal) in told.items():
        if bound is not None and bound > low + room:
            return f"{name} has the bound {bound!r}, above {low!r}"
        if bound is not None and reached is not None and bound > best + ROUNDING * (1 + abs(best)):
            return f"{name} has the bound {bound!r}, above {best!r} that another call reaches"
        if optimal and reached > best + 1.01 * GAP * abs(best) + 1e-6:
            return f"{name} calls {reached!r} optimal, where {best!r} is reached"
        if low == -np.inf and reached is not None and np.isfinite(bound if bound is not None else -np.inf):
            return f"{name} has a bound, {bound!r}, of what falls without end"
    return None


def main():
    """The command line; exit status 1 if something is false."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.time()
    counts, failures = fuzz(options.number, options.seed, progress=True)
    print(f"{counts}, {len(failures)} failures, {time.time() - began:.0f} s")
    return int(bool(failures))


if __name__ == "__main__":
    raise SystemExit(main())
