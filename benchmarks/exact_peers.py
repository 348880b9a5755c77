"""Exact search on chapelle2008's own problems, and beside mixed-integer solvers (2 hours; --quick: 3 minutes).

Table 1: two moons (200 points in the plane, 2 labelled; written out below), σ = 0.5, C = 10; Coil3 (216 images of
three cars, 6 labelled), pixels × 255, σ = 3000, C = 100, one against the rest.  C* = C, squared hinge, free bias, the
true share of positive labels prescribed (eq. 3) as in the paper.

Peers: the same mixed-integer program (Bennett and Demiriz 1998; chapelle2008 eq. 4) given to SCIP through CVXPY, with
the optimum as its upper bound.  HiGHS takes no quadratic objective with integers; it gets the program with the 1-norm.
"""

import argparse
import time
import warnings

import numpy as np
from common import DATA, Results, compile_native

import convex_tsvm as ct

GAP = 1e-4


def two_moons(n=200, noise=0.05, seed=0):
    """Points on two half circles with Gaussian noise; the middle point of each is labelled."""
    rng = np.random.default_rng(seed)
    angle, truth = np.pi * rng.random(n), np.resize([1.0, -1.0], n)
    X = np.column_stack([np.cos(angle) * truth + (truth < 0), np.sin(angle) * truth + 0.5 * (truth < 0)])
    X += noise * rng.normal(size=X.shape)
    y = np.zeros(n)
    for sign, middle in ((1, (0, 1)), (-1, (1, -0.5))):
        own = np.flatnonzero(truth == sign)
        y[own[((X[own] - middle) ** 2).sum(axis=1).argmin()]] = sign
    return X, y, truth


def chapelle(results, limit):
    """Table 1."""
    results("## chapelle2008, Table 1", "")
    results.table("data", "status", "objective", "gap", "nodes", "s", "error, %", "CCCP's objective", "error, %")
    X, y, truth = two_moons()
    tasks = [("two moons", X, y, truth, ct.RBF(0.5), 10.0)]
    file = np.load(DATA / "coil3.npz")
    X, classes = 255.0 * file["X"], file["y"]
    rng = np.random.default_rng(0)
    labelled = np.concatenate([rng.choice(np.flatnonzero(classes == k), 2, replace=False) for k in np.unique(classes)])
    for k in np.unique(classes):
        truth = np.where(classes == k, 1.0, -1.0)
        y = np.where(np.isin(np.arange(len(X)), labelled), truth, 0.0)
        tasks.append((f"Coil3, class {k} against the rest", X, y, truth, ct.RBF(3000.0), 100.0))
    for name, X, y, truth, kernel, C in tasks:
        share = float((truth[y == 0] > 0).mean())
        problem = ct.Problem(X, y, kernel=kernel, C=C, C_unlabeled=C, balance=("exact", share))
        found = ct.exact_search(ct.s3vm(), problem, gap=GAP, time_limit=limit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            local = ct.cccp(ct.s3vm(), problem)
        errors = [100 * (labels != truth)[y == 0].mean() for labels in (found.labels, local.labels)]
        figures = (f"{found.gap:.1e}", found.n_nodes, f"{found.seconds:.1f}", f"{errors[0]:.1f}")
        results.row(
            name, found.status, f"{found.objective:.6g}", *figures, f"{local.objective:.6g}", f"{errors[1]:.1f}"
        )


def solve_program(model, solver, limit):
    """Status and seconds of a mixed-integer solver."""
    options = {
        "SCIP": {"scip_params": {"limits/time": limit, "limits/gap": GAP}},
        "HIGHS": {"highs_options": {"time_limit": limit, "mip_rel_gap": GAP}},
    }[solver]
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.problem.solve(solver=solver, **options)
        except Exception as error:
            return f"failed ({error})"[:40], time.perf_counter() - began
    return model.problem.status, time.perf_counter() - began


def peers(results, sizes, limit):
    """Two overlapping moons (noise 0.15) with four labels, more and more unlabelled points, until nobody ends."""
    results("", f"## Mixed-integer solvers, at most {limit:.0f} s", "")
    results.table(
        "unlabelled", "exact search, s", "nodes", "SCIP, s", "status", "ratio", "HiGHS on the 1-norm, s", "status"
    )
    # Who has not solved one size is not asked for the next.
    alive = {"search": True, "SCIP": True, "HIGHS": True}
    for u in sizes:
        X, _, truth = two_moons(u + 4, 0.15)
        problem = ct.Problem(X, np.where(np.arange(u + 4) < 4, truth, 0.0), kernel=ct.RBF(0.5), C=1, C_unlabeled=0.3,
                             balance=0.0)  # fmt: skip
        seconds, status = dict.fromkeys(alive, float("nan")), dict.fromkeys(alive, "not tried")
        nodes, upper = 0, float(problem.cost.sum())
        if alive["search"]:
            began = time.perf_counter()
            found = ct.exact_search(ct.s3vm(), problem, gap=GAP, time_limit=limit)
            seconds["search"], status["search"] = time.perf_counter() - began, found.status
            nodes, upper = found.n_nodes, found.objective * (1 + GAP)
        linear = ct.Formulation(ct.hinge(), ct.symmetric_hinge(), regularizer="l1")
        plain = problem.replace(kernel="linear")
        if alive["SCIP"]:
            model = ct.MixedIntegerModel(ct.s3vm(), problem, upper)
            status["SCIP"], seconds["SCIP"] = solve_program(model, "SCIP", limit)
        if alive["HIGHS"]:
            model = ct.MixedIntegerModel(linear, plain, float(plain.cost.sum()))
            status["HIGHS"], seconds["HIGHS"] = solve_program(model, "HIGHS", limit)
        alive = {name: status[name] == "optimal" for name in alive}
        search, scip, highs = seconds.values()
        results.row(u, f"{search:.2f} ({status['search']})", nodes, f"{scip:.1f}", status["SCIP"],
                    f"{scip / search:.0f}", f"{highs:.1f}", status["HIGHS"])  # fmt: skip
        if not any(alive.values()):
            break


def main():
    """Both parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="up to 40 unlabelled points, a minute at most for each")
    options = parser.parse_args()
    compile_native()
    X, y, _ = two_moons(40)
    ct.exact_search(ct.s3vm(), ct.Problem(X, y, kernel=ct.RBF(0.5), balance=0.0), bounds="svm")
    results = Results("exact_peers", "Exact search: chapelle2008's problems, and mixed-integer solvers")
    limit = 60.0 if options.quick else 600.0
    chapelle(results, limit)
    peers(results, (20, 30, 40) if options.quick else (10, 20, 30, 40, 60, 80, 100, 150, 200, 300, 400), limit)
    results.done()


if __name__ == "__main__":
    main()
