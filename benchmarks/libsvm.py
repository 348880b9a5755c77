"""The native path beside libsvm (scikit-learn's SVC) and, through it, UniverSVM; and beside CVXPY (10 minutes).

All ratios are of medians over fits that take turns in one run, after compilation.
"""

import argparse
import time

import numpy as np
from common import DATA, Results, compile_native, gaussians, moved
from sklearn.svm import SVC

import convex_tsvm as ct

#: The plain SVM: data, n, C.
PLAIN = [(n, C) for n in (1000, 2000, 4000, 8000) for C in (1.0, 10.0)]

#: The transductive SVM: U, and UniverSVM 1.22's seconds as multiples of libsvm's for the plain SVM on the same data
#: (8000 points like g50c's with C = 10, or MNIST's test part), measured on one machine; and the target.
UNIVERSVM = {500: (0.07 / 0.35, None), 2000: (0.87 / 0.35, 30), 8000: (19.7 / 0.35, 60), "MNIST": (134 / 3.2, 20)}

MNIST_GAMMA, G50C_SIGMA = 0.0128, 17.0


def digits():
    """MNIST's test part, eights against the rest."""
    file = np.load(DATA / "mnist.npz")
    test = slice(int(file["n_train"]), None)
    return file["X"][test] / 255.0, np.where(file["y"][test] == 8, 1.0, -1.0)


def in_turn(functions, repeats):
    """Median seconds of every function, and what its last call returned."""
    times, values = np.empty((repeats, len(functions))), [None] * len(functions)
    for turn in range(repeats):
        for k, function in enumerate(functions):
            began = time.perf_counter()
            values[k] = function()
            times[turn, k] = time.perf_counter() - began
    return np.median(times, axis=0), values


def plain(results, repeats):
    """Hinge loss, free bias, tolerance 1e-3, cache 200 MB on both sides."""
    results("## The plain SVM", "")
    results("Objective and labels are compared with a native solution in double precision at tolerance 1e-6.", "")
    results.table("data", "n", "C", "libsvm, s", "native, s", "libsvm / native", "target", "objective off by",
                  "libsvm's off by", "labels that differ")  # fmt: skip
    X, y = digits()
    cases = [("like g50c", *gaussians(n), 1 / (2 * G50C_SIGMA**2), C) for n, C in PLAIN]
    for title, X, y, gamma, C in [*cases, ("MNIST, 8 vs rest", X, y, MNIST_GAMMA, 10.0)]:  # noqa: B020

        def native(X=X, y=y, gamma=gamma, C=C, **options):
            return ct.cccp(ct.svm(), ct.Problem(X, y, kernel=ct.RBF(gamma=gamma), C=C, C_unlabeled=None), **options)

        def libsvm(X=X, y=y, gamma=gamma, C=C):
            return SVC(C=C, gamma=gamma, tol=1e-3, cache_size=200).fit(X, y)

        n = len(y)
        (theirs, ours), (svc, solution) = in_turn([libsvm, native], repeats if n < 10_000 else max(3, repeats // 3))
        exact = native(tol=1e-6, precision="double", cache_size=2000)
        dual = np.zeros(n)
        dual[svc.support_] = svc.dual_coef_.ravel()
        other = ct.instance.certify(exact.step.step, dual, 0.0, float(svc.intercept_[0]))
        target = "2 ×" if n >= 8000 else "1 ×"
        results.row(
            title,
            n,
            f"{C:g}",
            f"{theirs:.4f}",
            f"{ours:.4f}",
            f"{theirs / ours:.2f} ×",
            target,
            f"{solution.objective / exact.objective - 1:.1e}",
            f"{other.primal / exact.objective - 1:.1e}",
            int((solution.labels != exact.labels).sum()),
        )


def transductive(results, repeats):
    """CCCP as multiples of libsvm's time on the plain SVM, beside UniverSVM's multiples."""
    results("", "## The transductive SVM", "")
    results(
        "The ramp loss with s = -0.3 (MNIST: -0.1), C = 10, C* = LC/U (MNIST: 0.5), 50 (MNIST: 1000) labelled points. "
        "libsvm solves the plain SVM on 8000 points (MNIST: the same 10 000), C = 10, in turn with it.",
        "",
    )
    heads = ("native / libsvm", "UniverSVM / libsvm", "faster by", "target", "CCCP steps", "largest violation")
    results.table("data", "U", "libsvm, s", "native, s", "default fit, s", *heads, "errors, %")
    X8, y8 = gaussians(8000)
    XM, yM = digits()
    for name, (multiple, target) in UNIVERSVM.items():
        on_digits = name == "MNIST"
        X, truth = (XM, yM) if on_digits else gaussians(name + 50)
        L, gamma = (1000, MNIST_GAMMA) if on_digits else (50, 1 / (2 * G50C_SIGMA**2))
        y = np.where(np.arange(len(truth)) < L, truth, 0.0)
        formulation = ct.cccp_tsvm(-0.1 if on_digits else -0.3)
        cost = 0.5 if on_digits else "balanced"

        def native(X=X, y=y, gamma=gamma, cost=cost, formulation=formulation):
            problem = ct.Problem(X, y, kernel=ct.RBF(gamma=gamma), C=10.0, C_unlabeled=cost)
            return ct.cccp(formulation, problem)

        def libsvm(X=X if on_digits else X8, y=truth if on_digits else y8, gamma=gamma):
            return SVC(C=10.0, gamma=gamma, tol=1e-3, cache_size=200).fit(X, y)

        def default(X=X, y=y, gamma=gamma, formulation=formulation, cost=cost, turns=iter(range(10**6))):  # noqa: B008
            clf = ct.TransductiveSVC(gamma=gamma, loss=formulation, C_unlabeled=cost, unlabeled=0)
            return clf.fit(moved(X, next(turns)), y)

        number = max(3, repeats // 3) if on_digits else repeats
        (theirs, ours, auto), (_, solution, _) = in_turn([libsvm, native, default], number)
        unlabeled = solution.problem.unlabeled
        results.row(
            "MNIST, 8 vs rest" if on_digits else "like g50c",
            len(unlabeled),
            f"{theirs:.3f}",
            f"{ours:.4f}",
            f"{auto:.4f}",
            f"{ours / theirs:.3f}",
            f"{multiple:.2f}",
            f"{multiple * theirs / ours:.0f} ×",
            "-" if target is None else f"{target} ×",
            solution.n_iter,
            f"{max(iteration.kkt for iteration in solution.history):.1e}",
            f"{100 * np.mean(solution.labels[unlabeled] != truth[unlabeled]):.1f}",
        )


def against_cvxpy(results):
    """The same CCCP run through CVXPY's dual (Clarabel)."""
    results("", "## CCCP through CVXPY", "")
    results.table("data", "U", "CVXPY, s", "native, s", "CVXPY / native", "objectives differ by", "labels that differ")
    for n_unlabeled in (500, 1000, 2000):
        X, truth = gaussians(n_unlabeled + 50)
        y = np.where(np.arange(len(truth)) < 50, truth, 0.0)

        def fit(solver, X=X, y=y):
            return ct.cccp(ct.cccp_tsvm(), ct.Problem(X, y, kernel=ct.RBF(G50C_SIGMA), C=10.0), solver=solver)

        (theirs,), (cvxpy,) = in_turn([lambda: fit("cvxpy")], 1)
        (ours,), (native,) = in_turn([lambda: fit("native")], 5)
        results.row(
            "like g50c",
            n_unlabeled,
            f"{theirs:.2f}",
            f"{ours:.4f}",
            f"{theirs / ours:.0f} ×",
            f"{abs(cvxpy.objective / native.objective - 1):.1e}",
            int((cvxpy.labels != native.labels).sum()),
        )


def main():
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    compile_native()
    results = Results("libsvm", "The native path beside libsvm, UniverSVM and CVXPY")
    plain(results, options.repeats)
    transductive(results, options.repeats)
    against_cvxpy(results)
    results.done()


if __name__ == "__main__":
    main()
