"""chapelle2008's own problems solved exactly: two moons and Coil3 (25 minutes; --quick: a minute for each at most).

Table 1: two moons (200 points in the plane, 2 labelled; written out below), σ = 0.5, C = 10; Coil3 (216 images of
three cars, 6 labelled, drawn four times), pixels × 255, σ = 3000, C = 100, one against the rest.  C* = C, squared
hinge, free bias, the true share of positive labels prescribed (eq. 3) as in the paper.
"""

import argparse
import warnings

import numpy as np
from common import DATA, Results, compile_native

import convex_tsvm as ct

GAP = 1e-4

#: Draws of Coil3's labelled points, two of each class.
DRAWS = 4


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
    limit = 60.0 if parser.parse_args().quick else 600.0
    compile_native()
    X, y, truth = two_moons(40)
    ct.exact_search(ct.s3vm(), ct.Problem(X, y, kernel=ct.RBF(0.5), balance=0.0), bounds="svm")
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
    results.done()


if __name__ == "__main__":
    main()
