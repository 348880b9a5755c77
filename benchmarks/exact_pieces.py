"""Exact search for the ramp and the compact margin machine: nodes, seconds, SCIP, and what heuristics reach (1 hour).

The problems are the README's two moons, draws like g50c with 40 to 80 points, and 20 + 40 digits 8 and 9 of MNIST.
SCIP gets the same formulation as a mixed-integer program, with the optimum as the objective that is reached.
"""

import argparse
import time
import warnings

import numpy as np
from common import DATA, Results, compile_native

import convex_tsvm as ct
from convex_tsvm.data import load_data

#: Relative gap up to which all are asked to search.
GAP = 1e-3


def scip(formulation, problem, objective, limit):
    """Seconds, status and the bound that is left of SCIP."""
    model = ct.modeling.MixedIntegerModel(formulation, problem, objective * (1 + GAP))
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.problem.solve(solver="SCIP", scip_params={"limits/time": limit, "limits/gap": GAP})
            status = "closed" if model.problem.status == "optimal" else f"open ({model.problem.status})"
        except Exception as error:
            status = f"open ({type(error).__name__})"
    return time.perf_counter() - began, status


def heuristics(formulation, problem):
    """The objectives of the concave-convex procedure from the SVM, with annealing, and of label switching."""
    found = []
    hinge = ct.tsvm("hinge", balance=formulation.balance)
    for method in (
        lambda: ct.cccp(formulation, problem),
        lambda: ct.cccp(formulation, problem, annealing=10),
        # Switching is of the hinge; concave-convex steps go on from what it finds.
        lambda: ct.cccp(formulation, problem, start=ct.switching(hinge, problem)),
    ):
        try:
            found.append(method().objective)
        except ValueError:
            found.append(np.nan)
    return found


def row(results, name, formulation, problem, limit, peer_limit):
    """A row: our search, SCIP, and how far heuristics are above the optimum."""
    solution = ct.exact_search(formulation, problem, gap=GAP, time_limit=limit)
    over = [f"{max(0.0, 100 * (value / solution.objective - 1)):.2f}" for value in heuristics(formulation, problem)]
    peer = ("-", "not tried")
    if peer_limit:
        seconds, status = scip(formulation, problem, solution.objective, peer_limit)
        peer = (f"{seconds:.1f}", status)
    gap = "closed" if solution.status == "optimal" else f"{100 * solution.gap:.2f} % left"
    results.row(
        name, problem.n, f"{solution.objective:.6g}", gap, solution.n_nodes, f"{solution.seconds:.1f}", *peer, *over
    )


def g50(n, seed, d=10):
    """Points like g50c: two spherical Gaussians with means apart so that the Bayes error is 5 %, in d dimensions."""
    rng = np.random.default_rng(seed)
    truth = np.resize([1.0, -1.0], n)
    X = rng.normal(size=(n, d)) + truth[:, None] * 1.645 / np.sqrt(d)
    return X, np.where(np.arange(n) < 8, truth, 0.0)


def moons(n):
    """The README's problem, or the first n of its points: two moons of which six labels are known."""
    data = load_data("two_moons")
    known, unknown = np.flatnonzero(data.y), np.flatnonzero(data.y == 0)
    keep = np.concatenate([known, unknown[: n - len(known)]])
    return ct.Problem(data.X[keep], data.y[keep], kernel=ct.RBF(sigma=0.3), C=10, C_unlabeled="balanced")


def digits(seed):
    """20 labelled and 40 unlabelled digits 8 and 9, in the unit cube."""
    file = np.load(DATA / "mnist.npz")
    rng = np.random.default_rng(seed)
    chosen = np.concatenate([rng.permutation(np.flatnonzero(file["y"] == digit))[:30] for digit in (8, 9)])
    labels = np.where(np.arange(60) % 30 < 10, np.resize(np.repeat([1.0, -1.0], 30), 60), 0.0)
    return file["X"][chosen] / 255, labels


def main():
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="40 points, and half a minute for each")
    parser.add_argument("--time-limit", type=float, default=600.0, help="seconds for each search (default: 600)")
    parser.add_argument("--peer-limit", type=float, default=120.0, help="seconds for SCIP (default: 120)")
    options = parser.parse_args()
    limit = 30.0 if options.quick else options.time_limit
    peer_limit = min(limit, options.peer_limit)
    compile_native()
    results = Results("exact_pieces", "Exact search for the ramp and for the compact margin machine")
    results(f"Gap {GAP:g}, at most {limit:.0f} s for our search and {peer_limit:.0f} s for SCIP.  The last columns: by "
            "how much the objectives that heuristics reach are above the best one known, in percent.", "")  # fmt: skip
    results.table(
        "problem", "points", "objective", "gap", "nodes", "s", "SCIP, s", "SCIP", "CCCP", "annealed", "switching"
    )
    ramp = ct.tsvm("ramp")
    X, y = g50(30, 0)
    ct.exact_search(ramp, ct.Problem(X, y, kernel=ct.RBF(sigma=3.0), balance=0.0), gap=GAP, time_limit=5)
    for n in (40,) if options.quick else (40, 50, 60, 70, 80):
        for seed in range(1 if options.quick else 3):
            X, y = g50(n, seed)
            problem = ct.Problem(X, y, kernel=ct.RBF(sigma=np.sqrt(10)), C=1, C_unlabeled=0.5, balance=0.0)
            row(results, f"like g50c, draw {seed}", ramp, problem, limit, peer_limit)
    for n in (40,) if options.quick else (40, 60, 80, 120, 200):
        row(results, "two moons", ramp, moons(n), limit, peer_limit)
    for seed in range(1 if options.quick else 3):
        X, y = digits(seed)
        problem = ct.Problem(X, y, kernel=ct.RBF(sigma=7.0), C=10, C_unlabeled=1.0, balance="labeled")
        compact = ct.compact_margin(1.0, 0.5, 0.5)
        row(results, f"8 and 9, draw {seed}, compact margin", compact, problem, limit, peer_limit)
    results.done()


if __name__ == "__main__":
    main()
