"""Which CVXPY form of a convex step is fastest: primal or dual, by space and size (some minutes).

The choice of ``CvxpySolver(form="auto")`` rests on this table.
"""

import time

import numpy as np
import scipy.sparse as sp
from common import Results

import convex_tsvm as ct


def main():
    """Time the first solve (with compilation) and the median of three re-solves with other tangents."""
    results = Results("cvxpy_forms", "CVXPY forms of a CCCP step, Clarabel")
    results("Seconds of the first solve, and of a re-solve with other tangents (median of 3).", "")
    results.table("space", "points", "features", "primal: first", "re-solve", "dual: first", "re-solve", "auto takes")
    rng = np.random.default_rng(0)
    for space, n, d in [
        ("linear", 300, 5),
        ("linear", 300, 50),
        ("linear", 300, 300),
        ("linear", 300, 1000),
        ("linear", 1000, 50),
        ("linear", 1000, 250),
        ("linear", 1000, 500),
        ("linear, 1 % dense", 1000, 500),
        ("linear, 1 % dense", 1000, 5000),
        ("rbf", 300, 10),
        ("rbf", 600, 10),
    ]:
        X = rng.standard_normal((n, d)) / np.sqrt(d)
        if "%" in space:
            X = sp.random(n, d, density=0.01, format="csr", random_state=0) * 10
        y = np.where(np.arange(n) < n // 5, np.resize([1, -1], n), 0)
        kernel = ct.RBF(1.0) if space == "rbf" else "linear"
        problem = ct.Problem(X, y, kernel=kernel, C=10)
        figures = []
        for form in ("primal", "dual"):
            solver = ct.modeling.CvxpySolver(problem, form=form)
            times = []
            for _ in range(4):
                step = ct.cccp_tsvm().on(problem).step(rng.normal(0, 1, n))
                began = time.perf_counter()
                solver.solve(step)
                times.append(time.perf_counter() - began)
            figures += [f"{times[0]:.2f}", f"{np.median(times[1:]):.3f}"]
        auto = type(ct.modeling.CvxpySolver(problem).model(step)).__name__.removesuffix("Model").lower()
        results.row(space, n, d, *figures, auto)
    results.done()


if __name__ == "__main__":
    main()
