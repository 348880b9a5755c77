"""Tiny instances of searches over boxes of weights against enumeration, with their certificates.

    python tests/fuzz_weights.py --count 3000 [--seed 0]

Points of any scale, duplicates, collinear ones, constant features, far from the origin or whole numbers, some with a
polynomial kernel; labels by hinge, squared hinge and ramps, with a mean output, a number of labels, a free bias or
none.  A failure is a bound above the least objective of all labellings (or of all convex pieces), an objective below
it, a gap that is reached neither relatively nor up to the rounding of what the points pay at w = 0, or a certificate
that is refused.
"""

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from test_interval_search import least_of_all_pieces

import convex_tsvm as ct

LOSSES = (
    (ct.hinge(), ct.symmetric_hinge()),
    (ct.squared_hinge(), ct.losses.symmetric_squared_hinge()),
    (ct.hinge(), ct.symmetric_ramp(-0.3)),
    (ct.ramp(-0.5), ct.symmetric_ramp(0.0)),
)


def instance(seed):
    """A formulation and a problem of four to nine points, three of which may be labelled."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 10)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4)
    if rng.random() < 0.3:
        X[:, 0] += rng.normal() * 100
    if rng.random() < 0.3:
        X = np.round(X)
    if rng.random() < 0.2:
        X[:, -1] = 1.0
    if rng.random() < 0.3:
        X[rng.integers(2, n)] = X[0]
    if rng.random() < 0.2:
        X = np.outer(X[:, 0], rng.normal(size=d))
    y = np.zeros(n)
    y[:2] = 1.0, -1.0
    y[2] = rng.integers(-1, 2)
    labeled, unlabeled = LOSSES[rng.integers(len(LOSSES))]
    bias = bool(rng.random() < 0.7)
    balance = ["labeled", 0.2, None][rng.integers(3)] if bias else None
    C = 10.0 ** rng.uniform(-2, 2)
    problem = ct.Problem(X, y, C=C, C_unlabeled=C * 10.0 ** rng.uniform(-1.5, 0.5), balance=balance)
    if rng.random() < 0.3 and np.abs(X).max() < 4 and d < 3:
        problem = problem.replace(kernel=ct.Polynomial(degree=2, gamma=0.5, coef0=float(rng.integers(2))))
    linear = None if balance is None else "linear"
    formulation = ct.Formulation(labeled, unlabeled, balance=linear, fit_intercept=bias)
    if balance is not None and formulation.is_about_labels and rng.random() < 0.4:
        problem = problem.replace(balance=("exact", float(rng.uniform(0.01, 0.99))))
    return formulation, problem


def failure(seed, folder, gap=1e-3):
    """What is wrong with one instance, or None; None as well where enumeration is not possible."""
    formulation, problem = instance(seed)
    path = Path(folder) / "certificate.npz"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            enumerate_ = ct.brute_force if formulation.is_about_labels else None
            best = enumerate_(formulation, problem)[0] if enumerate_ else least_of_all_pieces(formulation, problem)
        except ValueError as error:
            return f"enumeration: {error}"
        solution = ct.exact_search(formulation, problem, branch_on="weights", gap=gap, time_limit=60, certificate=path)
    little = 1e-7 * abs(best) + 1e-9
    if solution.lower_bound > best + little:
        return f"a bound of {solution.lower_bound!r} above {best!r}"
    # Enumeration solves its problems to a tolerance; the checker computes the objective of the weights in the file.
    if solution.objective < best - 100 * little:
        return f"an objective of {solution.objective!r} below {best!r}"
    # An objective may be so far below what the points pay at w = 0 that bounds in double precision end before the gap.
    rounding = 1e-9 * float(problem.cost.sum())
    if solution.objective - solution.lower_bound > max(gap * (1 + 1e-6) * solution.objective, rounding):
        return f"{solution.status} with a gap of {solution.gap:.2g} after {solution.n_nodes} nodes"
    verdict = ct.prove_certificate(path, formulation, problem)
    return None if verdict.holds else f"its certificate is refused: {verdict.problem}"


def main():
    """So many instances, and those that failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began, failed = time.time(), 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.count):
            told = failure(seed, folder)
            if told is not None:
                failed += 1
                print(f"seed {seed}: {told}", flush=True)
    print(f"{options.count} instances, {failed} failed, {time.time() - began:.0f} s")
    raise SystemExit(failed > 0)


if __name__ == "__main__":
    main()
