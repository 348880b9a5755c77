"""Sweeps and paths of solutions (2 minutes).

    python benchmarks/paths.py

Two overlapping Gaussians of 500 points in five dimensions, 50 labelled.  A sweep is over 20 widths of the kernel and
ten C, C* = C / 10.  On a path the solution is fitted anew, from the path's outputs, a thousandth of the way after each
of its breakpoints and before the next: told are the largest differences of outputs and, relatively, of objectives.
"""

import time
import warnings

import numpy as np
from common import Results

import convex_tsvm as ct

FORMULATIONS = {
    "SVM": ct.Formulation(ct.hinge(), balance=None), "CCCP-TSVM": ct.cccp_tsvm(-0.3),
    "TSVM without a balance": ct.tsvm("ramp", balance=None),
}  # fmt: skip
WAYS = {"C": (0.05, 10.0), "C_unlabeled": (0.01, 1.0)}


def fit(formulation, problem, start=None):
    return ct.cccp(formulation, problem, solver="native", tol=1e-9, start=start)


def checked(formulation, problem, name, path):
    """The largest differences of outputs and objectives on both sides of all breakpoints."""
    worst, objectives = 0.0, 0.0
    for k in np.flatnonzero(np.abs(np.diff(path.values)) > 1e-9):
        for share in (1e-3, 0.999):
            value = (1 - share) * path.values[k] + share * path.values[k + 1]
            outputs = (1 - share) * path.outputs[k] + share * path.outputs[k + 1]
            a = (1 - share) * path.coefficients[k] + share * path.coefficients[k + 1]
            given = problem.replace(**{name: value})
            beside = fit(formulation, given, outputs)
            own = ct.Instance(formulation, given).objective(outputs, 0.5 * a @ given.apply_kernel(a))
            worst = max(worst, np.abs(beside.scores - outputs).max())
            objectives = max(objectives, abs(own / beside.objective - 1))
    return worst, objectives


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    results = Results("paths", "Sweeps and paths of solutions", "paths.py")
    results(*__doc__.split("\n\n")[2].split("\n"), "")
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(500) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(500, 5))
    X[:, 0] += 1.2 * truth
    y = np.where(np.arange(500) < 50, truth, 0.0)
    whole = ct.Problem(X, y, kernel=ct.RBF(2.0), C=0.5, C_unlabeled="tenth", balance=0.0)
    fit(ct.cccp_tsvm(), whole)  # compiled
    began = time.perf_counter()
    grid = {"sigma": np.geomspace(1, 10, 20), "C": np.geomspace(0.1, 100, 10)}
    ct.sweep(ct.cccp_tsvm(), whole, **grid)
    results(f"Sweep of 200 solutions: {time.perf_counter() - began:.1f} s.", "")
    results.table("formulation", "kernel", "along", "from", "to", "breakpoints", "jumps", "s", "outputs", "objective")
    for title, formulation in FORMULATIONS.items():
        for kernel in ("linear", ct.RBF(2.0)):
            for name, ends in WAYS.items():
                if name == "C_unlabeled" and formulation.unlabeled is None:
                    continue
                balance = None if formulation.balance is None else 0.0
                problem = whole.replace(kernel=kernel, C_unlabeled=0.1, balance=balance)
                for to in ends:
                    began = time.perf_counter()
                    path = ct.methods.solution_path(fit(formulation, problem), name, to)
                    spent = time.perf_counter() - began
                    worst, objectives = checked(formulation, problem, name, path)
                    told = [name, f"{path.values[0]:g}", f"{to:g}", len(path.values), len(path.jumps), f"{spent:.2f}"]
                    space = kernel if isinstance(kernel, str) else "rbf"
                    results.row(title, space, *told, f"{worst:.0e}", f"{objectives:.0e}")
    results.done()
