"""CVXPY against the native path on g50c and text, all ten splits: objective, labels, seconds (about half an hour)."""

import argparse
import time

import numpy as np
from common import TABLE_5, Results, hidden, load

import convex_tsvm as ct

MODELS = [
    ("SVM", ct.svm(balance="linear"), "balanced"),
    ("CCCP-TSVM, s = -0.3, UC* = LC", ct.cccp_tsvm(-0.3), "balanced"),
    ("S3VM (squared hinge), C* = C", ct.s3vm(), "C"),
]


def main():
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="g50c,text")
    parser.add_argument("--splits", type=int, default=10)
    options = parser.parse_args()
    results = Results("solver_agreement", "CVXPY and the native path, default tolerances")
    results("Relative difference of the objectives and number of labels that differ, worst over the splits.", "")
    results.table("data", "formulation", "objective", "labels", "steps", "native, s", "CVXPY, s", "CVXPY / native")
    for name in options.data.split(","):
        X, truth, splits = load(name)
        sigma, C = TABLE_5[name]
        # One kernel matrix, in double precision, for both solvers.
        matrix = ct.Problem(X, hidden(truth, splits[0]), kernel=ct.RBF(sigma), C=C).gram
        base = ct.Problem(matrix, hidden(truth, splits[0]), kernel="precomputed", C=C)
        ct.cccp(ct.cccp_tsvm(), base)  # compiles, or loads what was compiled
        for title, model, cost in MODELS:
            differences, labels, steps, seconds = [], [], [], {"native": [], "cvxpy": []}
            for row in splits[: options.splits]:
                problem = base.replace(y=hidden(truth, row), C=C, C_unlabeled=C if cost == "C" else cost)
                found = {}
                for solver, times in seconds.items():
                    began = time.perf_counter()
                    found[solver] = ct.cccp(model, problem, solver=solver)
                    times.append(time.perf_counter() - began)
                native, cvxpy = found["native"], found["cvxpy"]
                differences.append(abs(native.objective - cvxpy.objective) / abs(native.objective))
                labels.append(int((native.labels != cvxpy.labels).sum()))
                steps.append(native.n_iter)
            medians = {solver: float(np.median(times)) for solver, times in seconds.items()}
            results.row(
                name,
                title,
                f"{max(differences):.1e}",
                max(labels),
                f"{np.median(steps):g}",
                f"{medians['native']:.3f}",
                f"{medians['cvxpy']:.2f}",
                f"{medians['cvxpy'] / medians['native']:.0f}",
            )
    results.done()


if __name__ == "__main__":
    main()
