"""Growth of time and memory of the native CCCP with the number of unlabelled points, 500 to 60 000 (ten minutes)."""

import argparse
import multiprocessing
import resource
import time

import matplotlib.pyplot as plt
import numpy as np
from common import Results, compile_native, exponent, gaussians
from table5 import GAMMA, ROWS, C, S, points

import convex_tsvm as ct

CACHE_SIZE = 1000
DOUBLING = [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]
SIZES = {
    "like g50c": DOUBLING,
    "like g50c, balance on a sample of 2000": DOUBLING[3:],
    "MNIST, 8 vs rest": [500, 1000, 2000, 5000, 10_000, 20_000, 40_000, 60_000],
}
TARGETS = {"like g50c": "1.7", "MNIST, 8 vs rest": "2.0"}


def problem_of(name, n_unlabeled):
    """The points of collobert2006 §5, or such as g50c's with C* = LC/U."""
    if name.startswith("like g50c"):
        sample = 2000 if name.endswith("2000") else None
        X, truth = gaussians(50 + n_unlabeled)
        y = np.where(np.arange(len(truth)) < 50, truth, 0.0)
        return ct.Problem(X, y, kernel=ct.RBF(17.0), C=10.0, balance_sample=sample), ct.cccp_tsvm(-0.3)
    cost = next((cost for L, U, cost, _ in ROWS if L == 1000 and n_unlabeled == U), 5.0)
    X, known, _, _ = points(1000, n_unlabeled, seed=0)
    y = np.where(known < 0, 0.0, np.where(known == 8, 1.0, -1.0))
    return ct.Problem(X, y, kernel=ct.RBF(gamma=GAMMA), C=C, C_unlabeled=cost), ct.cccp_tsvm(S)


def measure(name, n_unlabeled):
    """Median seconds of a few fits (one, if it is long), and the peak memory of the process."""
    problem, formulation = problem_of(name, n_unlabeled)
    compile_native()
    times = []
    while not times or (sum(times) < 5 and len(times) < 9):
        began = time.perf_counter()
        solution = ct.cccp(formulation, problem, cache_size=CACHE_SIZE)
        times.append(time.perf_counter() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    began = time.perf_counter()
    kernel = {"sigma": 17.0} if name.startswith("like g50c") else {"gamma": GAMMA}
    ct.TransductiveSVC(**kernel, C=10.0, unlabeled=0, cache_size=CACHE_SIZE).fit(problem.X, problem.y)
    default = time.perf_counter() - began
    worst = max(iteration.kkt for iteration in solution.history)
    sets = sum(iteration.n_inner for iteration in solution.history)
    return float(np.median(times)), default, peak, solution.n_iter, sets, worst, solution.status


def main():
    """One process for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=60_000)
    parser.add_argument("--name", default="scaling", help="of the files in results/")
    options = parser.parse_args()
    results = Results(options.name, "Time and memory against the number of unlabelled points")
    results(f"cache_size {CACHE_SIZE} MB; peak resident memory of the whole process, data included.", "")
    results.table(
        "data", "U", "s", "default fit, s", "CCCP steps", "working sets", "largest violation", "status", "memory, GB"
    )
    found = {}
    for name, sizes in SIZES.items():
        found[name] = []
        for n_unlabeled in (n for n in sizes if n <= options.largest):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                seconds, default, peak, n_iter, sets, worst, status = pool.apply(measure, (name, n_unlabeled))
            found[name].append((n_unlabeled, seconds))
            results.row(
                name,
                n_unlabeled,
                f"{seconds:.4f}",
                f"{default:.3f}",
                n_iter,
                sets,
                f"{worst:.1e}",
                status,
                f"{peak:.2f}",
            )
    results("", "Exponents b of seconds ~ U^b, by least squares in the logarithms:", "")
    results.table("data", "all sizes", "from 2000 on", "the last two", "target")
    figure, axes = plt.subplots(figsize=(6, 4.2), layout="constrained")
    for name, pairs in found.items():
        sizes, seconds = np.array(pairs).T
        large = sizes >= 2000
        b = exponent(sizes, seconds)
        results.row(
            name,
            f"{b:.2f}",
            f"{exponent(sizes[large], seconds[large]):.2f}",
            f"{exponent(sizes[-2:], seconds[-2:]):.2f}",
            TARGETS.get(name, "-"),
        )
        (line,) = axes.loglog(sizes, seconds, "o", label=f"{name}: U^{b:.2f}")
        fit = np.exp(np.polyval(np.polyfit(np.log(sizes), np.log(seconds), 1), np.log(sizes)))
        axes.loglog(sizes, fit, "--", color=line.get_color())
    axes.set(xlabel="unlabelled points U", ylabel="seconds, whole fit", title="Native CCCP, RBF kernel, two cores")
    axes.legend()
    axes.grid(alpha=0.3, which="both")
    figure.savefig(results.folder / f"{results.name}.png", dpi=110)
    results("", f"![log-log plot]({results.name}.png)")
    results.done()


if __name__ == "__main__":
    main()
