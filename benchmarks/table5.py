"""collobert2006 Table 5: MNIST, ten classes one-vs-rest, up to 60 000 unlabelled points (half an hour).

The unlabelled points are a part of the test set up to 10 000, then the test set and a part of the remainder of the
training set.  Errors are measured on the complete test set.  Every row runs in a process of its own, whose peak memory
is therefore the row's.
"""

import argparse
import multiprocessing
import resource
import time

import numpy as np
from common import DATA, Results, compile_native

import convex_tsvm as ct
from convex_tsvm.solution import joint_function

#: L, U, C* and test error in % of collobert2006 Table 5.
ROWS = [(100, 0, None, 23.44), (100, 2000, 1.0, 16.81), (1000, 0, None, 7.77), (1000, 2000, 5.0, 7.13)]
ROWS += [(1000, 5000, 1.0, 6.28), (1000, 10_000, 0.5, 5.65), (1000, 20_000, 0.3, 5.43)]
ROWS += [(1000, 40_000, 0.2, 5.31), (1000, 60_000, 0.1, 5.38)]
GAMMA, C, S = 0.0128, 10.0, -0.1


def points(n_labeled, n_unlabeled, seed):
    """Points with their classes, labelled ones first, and the test set."""
    file = np.load(DATA / "mnist.npz")
    n_train = int(file["n_train"])
    X, classes = file["X"], file["y"]
    rng = np.random.default_rng(seed)
    train, test = rng.permutation(n_train), n_train + rng.permutation(len(X) - n_train)
    labeled, rest = train[:n_labeled], train[n_labeled:]
    # "60 000" is the test set and what is left of the training set, which is more; so many of it are taken.
    used = np.concatenate([labeled, np.concatenate([test, rest])[:n_unlabeled]])
    known = classes[used].astype(int)
    known[n_labeled:] = -1
    return X[used] / 255.0, known, X[n_train:] / 255.0, classes[n_train:].astype(int)


def fit(n_labeled, n_unlabeled, cost, options):
    """Solutions of every class, one after the other on shared kernel rows."""
    X, known, X_test, truth = points(n_labeled, n_unlabeled, options.seed)
    found = sorted(set(known[known >= 0]))
    chosen = found if options.classes is None else [int(k) for k in options.classes.split(",")]
    formulation = ct.svm() if n_unlabeled == 0 else ct.cccp_tsvm(S)

    def problems():
        first = None
        for k in chosen:
            y = np.where(known < 0, 0.0, np.where(known == k, 1.0, -1.0))
            first = first or ct.Problem(X, y, kernel=ct.RBF(gamma=GAMMA), C=C, C_unlabeled=cost, **sample)
            yield first.replace(y=y)

    sample = {} if options.sample is None or n_unlabeled == 0 else {"balance_sample": options.sample}
    compile_native()
    began = time.perf_counter()
    solutions = ct.methods.cccp_path(formulation, problems(), cache_size=options.cache_size)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    scores = joint_function(solutions)(X_test)
    error = np.mean(np.array(chosen)[scores.argmax(axis=1)] != truth) if chosen == found else None
    return {
        "error": error,
        "seconds": seconds,
        "each": {k: solution.seconds for k, solution in zip(chosen, solutions, strict=True)},
        "steps": [solution.n_iter for solution in solutions],
        "worst": max(solution.step.kkt for solution in solutions),
        "status": sorted({solution.status for solution in solutions}),
        "peak": peak,
    }


def main():
    """One row of the table after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unlabeled", default=",".join(sorted({str(row[1]) for row in ROWS}, key=int)))
    parser.add_argument("--classes", help="such as 8; all ten by default")
    parser.add_argument("--cache-size", type=float, default=1500, help="MB")
    parser.add_argument("--sample", type=int, help="points that stand for the unlabelled ones in the balance")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--name", default="table5", help="of the file in results/")
    options = parser.parse_args()
    wanted = {int(n) for n in options.unlabeled.split(",")}
    results = Results(options.name, "collobert2006 Table 5: MNIST")
    results(
        f"Labelled points drawn with seed {options.seed}, γ = {GAMMA}, C = {C:g}, s = {S}, "
        f"cache_size {options.cache_size:g} MB; largest resident memory of the whole process.",
        "",
    )
    results.table("L", "U", "C*", "test error, %", "the paper's", "s, all classes", "s, 8 vs rest", "s, slowest class",
                  "CCCP steps", "largest violation", "status", "memory, GB")  # fmt: skip
    context = multiprocessing.get_context("spawn")
    for n_labeled, n_unlabeled, cost, theirs in ROWS:
        if n_unlabeled not in wanted:
            continue
        with context.Pool(1) as pool:
            row = pool.apply(fit, (n_labeled, n_unlabeled, cost, options))
        results.row(
            n_labeled,
            n_unlabeled,
            "-" if cost is None else f"{cost:g}",
            "-" if row["error"] is None else f"{100 * row['error']:.2f}",
            f"{theirs:.2f}",
            f"{row['seconds']:.1f}",
            f"{row['each'][8]:.1f}" if 8 in row["each"] else "-",
            f"{max(row['each'].values()):.1f}",
            f"{min(row['steps'])} to {max(row['steps'])}",
            f"{row['worst']:.1e}",
            ", ".join(row["status"]),
            f"{row['peak']:.2f}",
        )
    results.done()


if __name__ == "__main__":
    main()
