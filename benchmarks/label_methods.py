"""Switching and annealing: the error rates of chapelle2008 Tables 2 and 8, time, and agreement of the solvers.

    python benchmarks/label_methods.py [--quick]

All ten original splits of g50c and text, σ and C of Table 5, C* = C, the true share of positive labels prescribed.
"""

import argparse
import time
import warnings

import numpy as np
from common import TABLE_5, Results, compile_native, gaussians, hidden, load

import convex_tsvm as ct

METHODS = {"switching": ct.switching, "annealing": ct.annealing}

#: Unlabelled errors in %: S3VMlight of Table 8, DA of Table 2 (its columns C* = C).
PAPER = {
    ("g50c", "switching"): 6.2, ("text", "switching"): 8.1,
    ("g50c", "annealing"): 6.5, ("text", "annealing"): 13.6,
}  # fmt: skip
SECOND = {"switching": {"one pair a round": {"max_pairs": 1}}, "annealing": {"settled 1e-4": {"settled": 1e-4}}}


def problem_of(name, split):
    """One split with the true share of positive labels, and which unlabelled points are positive."""
    X, truth, splits = load(name)
    sigma, C = TABLE_5[name]
    y = hidden(truth, splits[split])
    share = float((truth[y == 0] > 0).mean())
    return ct.Problem(X, y, kernel=ct.RBF(sigma), C=C, C_unlabeled=C, balance=("exact", share)), truth


def errors(results, splits):
    """Error rates and seconds of a fit."""
    results("", "## Error rates", "", "Unlabelled error, mean over the splits; seconds, median.", "")
    results.table("data", "method", "loss", "error, %", "paper, %", "objective", "steps", "seconds", "status")
    for name in TABLE_5:
        for method, function in METHODS.items():
            for loss in ("hinge", "squared_hinge"):
                for shown, options in {"": {}, **SECOND[method]}.items():
                    row(results, name, method, function, loss, shown, options, splits)


def row(results, name, method, function, loss, shown, options, splits):
    """One row of the table."""
    wrong, seconds, values, steps, states = [], [], [], [], set()
    for split in range(splits):
        problem, truth = problem_of(name, split)
        began = time.perf_counter()
        solution = function(ct.tsvm(loss), problem, **options)
        seconds.append(time.perf_counter() - began)
        wrong.append((solution.labels != truth)[problem.unlabeled].mean())
        values.append(solution.objective)
        steps.append(solution.n_iter)
        states.add(solution.status)
    results.row(
        name, f"{method}{', ' if shown else ''}{shown}", loss, f"{100 * np.mean(wrong):.1f}", PAPER[name, method],
        f"{np.mean(values):.6g}", f"{np.median(steps):.0f}", f"{np.median(seconds):.2f}", " ".join(sorted(states)),
    )  # fmt: skip


def agreement(results, quick):
    """Both solvers along the whole path, on the first split."""
    results("", "## Native and CVXPY at every C* and temperature", "")
    results("First split: the largest relative difference of what the method lowers, at the end of each stage.", "")
    results.table("data", "method", "loss", "stages", "largest difference", "native, s", "CVXPY, s")
    for name in ["g50c"] if quick else TABLE_5:
        problem, _ = problem_of(name, 0)
        for method, function in METHODS.items():
            if (name, method) == ("text", "annealing"):
                continue  # CVXPY takes half an hour for it
            for loss in ("hinge",) if name == "text" else ("hinge", "squared_hinge"):
                ends, seconds = [], []
                for solver in ("native", "cvxpy"):
                    began = time.perf_counter()
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        solution = function(ct.tsvm(loss), problem, solver=solver, tol=1e-8)
                    seconds.append(time.perf_counter() - began)
                    ends.append({i.stage: i.step_objective for i in solution.history})
                same = ends[0].keys() == ends[1].keys()
                apart = max(abs(ends[1][s] - v) / max(1.0, abs(v)) for s, v in ends[0].items()) if same else np.inf
                results.row(name, method, loss, len(ends[0]), f"{apart:.1e}", *(f"{s:.1f}" for s in seconds))


def step_times(results):
    """A step in which every point pays two losses, beside one in which it pays one."""
    results("## A step of annealing beside a plain one", "")
    results("g50c-like Gaussians, 50 labelled and 2000 unlabelled points, from no start: seconds, median of five.", "")
    results.table("loss", "SVM of labels", "both labels, weighted", "ratio")
    X, truth = gaussians(2050)
    y = np.where(np.arange(2050) < 50, truth, 0.0)
    problem = ct.Problem(X, y, kernel=ct.RBF(17.0), C=10, balance=("exact", 0.5))
    uniform = np.random.default_rng(0).uniform(size=2050)
    for loss in ("hinge", "squared_hinge"):
        instance = ct.Instance(ct.tsvm(loss), problem)
        steps = [
            instance.svm(instance.best_labels(X.sum(axis=1))),
            instance.weighted_svm(np.where(y == 0, uniform, 1.0 * (y > 0))),
        ]
        solver, seconds = ct.solvers.NativeSolver(problem), []
        for step in steps:
            solver.solve(step)
            times = []
            for _ in range(5):
                began = time.perf_counter()
                solver.solve(step)
                times.append(time.perf_counter() - began)
            seconds.append(np.median(times))
        results.row(loss, f"{seconds[0]:.3f}", f"{seconds[1]:.3f}", f"{seconds[1] / seconds[0]:.1f}")


def main():
    """All parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three splits, and agreement on g50c only")
    options = parser.parse_args()
    compile_native()
    results = Results("label_methods", "Switching and annealing")
    step_times(results)
    errors(results, 3 if options.quick else 10)
    agreement(results, options.quick)
    results.done()


if __name__ == "__main__":
    main()
