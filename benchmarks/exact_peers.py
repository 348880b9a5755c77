"""Exact search beside mixed-integer solvers (1 hour; --quick: 2 minutes).

The same mixed-integer program (Bennett and Demiriz 1998; chapelle2008 eq. 4) is given to SCIP through CVXPY, with the
optimum as its upper bound.  HiGHS takes no quadratic objective with integers; it gets the program with the 1-norm.
"""

import argparse
import time
import warnings

import numpy as np
from common import Results, compile_native
from exact_chapelle import GAP, planar_moons

import convex_tsvm as ct


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
    """Two overlapping moons (noise 0.15) with four labels, more and more unlabelled points, as long as anybody ends."""
    results(f"Two moons with noise, at most {limit:.0f} s for each.", "")
    results.table(
        "unlabelled", "exact search, s", "nodes", "SCIP, s", "status", "ratio", "HiGHS on the 1-norm, s", "status"
    )
    # Who has not solved one size is not asked for the next.
    alive = {"search": True, "SCIP": True, "HIGHS": True}
    for u in sizes:
        X, _, truth = planar_moons(u + 4, 0.15)
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
            model = ct.modeling.MixedIntegerModel(ct.s3vm(), problem, upper)
            status["SCIP"], seconds["SCIP"] = solve_program(model, "SCIP", limit)
        if alive["HIGHS"]:
            model = ct.modeling.MixedIntegerModel(linear, plain, float(plain.cost.sum()))
            status["HIGHS"], seconds["HIGHS"] = solve_program(model, "HIGHS", limit)
        alive = {name: status[name] == "optimal" for name in alive}
        search, scip, highs = seconds.values()
        results.row(u, f"{search:.2f} ({status['search']})", nodes, f"{scip:.1f}", status["SCIP"],
                    f"{scip / search:.0f}", f"{highs:.1f}", status["HIGHS"])  # fmt: skip
        if not any(alive.values()):
            break


def main():
    """One table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="up to 40 unlabelled points, a minute at most for each")
    options = parser.parse_args()
    compile_native()
    X, y, _ = planar_moons(40)
    ct.exact_search(ct.s3vm(), ct.Problem(X, y, kernel=ct.RBF(0.5), balance=0.0), bounds="svm")
    results = Results("exact_peers", "Exact search and mixed-integer solvers")
    sizes = (20, 30, 40) if options.quick else (10, 20, 30, 40, 60, 80, 100, 150, 200, 300)
    peers(results, sizes, 60.0 if options.quick else 600.0)
    results.done()


if __name__ == "__main__":
    main()
