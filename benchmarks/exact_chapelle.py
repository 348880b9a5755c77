"""chapelle2008's own problems solved exactly: two moons and Coil3 (25 minutes; --quick: a minute for each at most).

Table 1: two moons (200 points in the plane, 2 labelled; written out below), σ = 0.5, C = 10; Coil3 (216 images of
three cars, 6 labelled, drawn four times), pixels × 255, σ = 3000, C = 100, one against the rest.  C* = C, squared
hinge, free bias, the true share of positive labels prescribed (eq. 3) as in the paper.  Then two moons with 100
dimensions of noise besides, as in the paper's §5.1, ten draws with each of two noises and default arguments but for the
gap: is the optimum the truth, and is it found?  (--moons: these alone, a minute each at most.)
"""

import argparse
import warnings

import numpy as np
from common import DATA, Results, compile_native

import convex_tsvm as ct

GAP = 1e-4

#: Draws of Coil3's labelled points, two of each class.
DRAWS = 4

#: Draws of two moons in noise.
DRAWS_OF_MOONS = 10


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


def moons_in_noise(results):
    """Two moons in 102 dimensions: what is found in a minute, beside the true labelling's objective."""
    results("", "## Two moons in 102 dimensions", "")
    results.table("noise", "draw", "status", "objective", "of the truth", "gap", "s", "error, %")
    for noise in (0.01, 0.05):
        for seed in range(DRAWS_OF_MOONS):
            X, y, truth = two_moons(noise=noise, seed=seed)
            X = np.hstack([X, noise * np.random.default_rng(1000 + seed).normal(size=(len(X), 100))])
            share = ("exact", float((truth[y == 0] > 0).mean()))
            problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=10.0, C_unlabeled=10.0, balance=share)
            found = ct.exact_search(ct.s3vm(), problem, gap=GAP, time_limit=60)
            true = ct.exact.BranchAndBound(ct.s3vm(), problem).incumbent.evaluate(truth)[0]
            error = 100 * (found.labels != truth)[y == 0].mean()
            results.row(
                noise, seed, found.status, f"{found.objective:.4f}", f"{true:.4f}", f"{100 * found.gap:.2g} %",
                f"{found.seconds:.1f}", f"{error:.1f}",
            )  # fmt: skip


def coil3(seed):
    """Points, and for every class its labels and the truth."""
    file = np.load(DATA / "coil3.npz")
    classes, rng = file["y"], np.random.default_rng(seed)
    labelled = np.concatenate([rng.choice(np.flatnonzero(classes == k), 2, replace=False) for k in np.unique(classes)])
    for k in np.unique(classes):
        truth = np.where(classes == k, 1.0, -1.0)
        yield (
            f"Coil3, class {k}, draw {seed}",
            255.0 * file["X"],
            truth * np.isin(np.arange(len(truth)), labelled),
            truth,
        )


def main():
    """One table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="at most a minute for each")
    parser.add_argument("--moons", action="store_true", help="only two moons in 102 dimensions")
    options = parser.parse_args()
    limit = 60.0 if options.quick else 600.0
    compile_native()
    X, y, truth = two_moons(40)
    ct.exact_search(ct.s3vm(), ct.Problem(X, y, kernel=ct.RBF(0.5), balance=0.0), bounds="svm")
    if options.moons:
        results = Results("exact_moons", "Exact search: two moons in noise", "exact_chapelle.py --moons")
        moons_in_noise(results)
        results.done()
        return
    results = Results("exact_chapelle", "Exact search: chapelle2008, Table 1")
    results.table("data", "status", "objective", "gap", "nodes", "s", "error, %", "CCCP's objective", "error, %")
    tasks = [("two moons", *two_moons(), ct.RBF(0.5), 10.0)]
    tasks += [(*task, ct.RBF(3000.0), 100.0) for seed in range(DRAWS) for task in coil3(seed)]
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
    moons_in_noise(results)
    results.done()


if __name__ == "__main__":
    main()
