"""Regression and ranking as groups of points with targets, and as pairs, beside libsvm and liblinear (1 minute).

    python benchmarks/regression.py

The responses are smooth functions with noise; both sides are called with their defaults on the whole call, from points
to solution, ours first, after a small problem has compiled loops.  Told are seconds, their ratio, and by how much our
objective is above the peer's, relatively.  For ranking there is no peer here: told are seconds and the largest memory
of the process, of which the libraries take some 200 MB.
"""

import resource
import time
import warnings

import numpy as np
from common import Results
from sklearn.svm import SVR, LinearSVR

import convex_tsvm as ct

EPSILON = 0.1


def ours(X, response, kernel, C):
    """A solution, from points and responses."""
    n = len(X)
    problem = ct.Problem(X, np.zeros(n), kernel=kernel, balance=None)
    tube = ct.PointGroup(range(n), ct.losses.epsilon_insensitive(EPSILON), C, target=response)
    return ct.cccp(ct.Formulation(ct.hinge(), balance=None, groups=tube), problem)


def timed(call):
    began = time.perf_counter()
    return call(), time.perf_counter() - began


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    results = Results("regression", "Regression and ranking", "regression.py")
    results(*__doc__.split("\n\n")[2].split("\n"), "")
    rng = np.random.default_rng(0)
    ours(rng.normal(size=(300, 2)), rng.normal(size=300), ct.RBF(1.0), 1.0)
    X, n, m = rng.normal(size=(2000, 10)), 2000, 20_000
    utility = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)
    first = rng.integers(0, n, m)
    second = (first + rng.integers(1, n, m)) % n
    model = ct.Formulation(ct.hinge(), balance=None, fit_intercept=False)
    results.table("kernel", "points", "pairs", "s", "MB", "gap", "pairs in order, of other points")
    fresh = rng.normal(size=(500, 10))
    order = np.sin(2 * fresh[:, 0]) + fresh[:, 1]
    for kernel in (ct.RBF(2.0), "linear"):

        def rank(kernel=kernel):
            points, own = ct.kernels.pairs(X, first, second, kernel)
            y = np.sign(utility[first] - utility[second])
            return ct.cccp(model, ct.Problem(points, y, kernel=own, C_unlabeled=None, balance=None))

        found, spent = timed(rank)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        f = found.decision_function(fresh)
        pair = np.triu_indices(len(f), 1)
        right = np.mean(np.sign(f[pair[0]] - f[pair[1]]) == np.sign(order[pair[0]] - order[pair[1]]))
        name = kernel if isinstance(kernel, str) else "rbf"
        results.row(name, n, m, f"{spent:.1f}", f"{memory:.0f}", f"{found.certificate().gap:.0e}", f"{right:.1%}")
    results("")
    results.table("kernel", "n", "d", "C", "peer", "peer s", "s", "ratio", "objective above")
    for kernel, n, d, C in (
        ("rbf", 5000, 3, 10.0), ("rbf", 5000, 10, 1.0), ("rbf", 5000, 10, 10.0), ("linear", 5000, 20, 1.0),
        ("linear", 100_000, 50, 1.0),
    ):  # fmt: skip
        X = rng.normal(size=(n, d))
        response = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=n)
        rbf, gamma = kernel == "rbf", 1 / (d * X.var())
        own = ct.RBF(gamma=gamma) if rbf else "linear"
        found, spent = timed(lambda X=X, response=response, own=own, C=C: ours(X, response, own, C))
        peer = SVR(C=C, epsilon=EPSILON) if rbf else LinearSVR(C=C, epsilon=EPSILON)
        theirs, their_seconds = timed(lambda peer=peer, X=X, response=response: peer.fit(X, response))
        if rbf:
            a = np.zeros(n)
            a[theirs.support_] = theirs.dual_coef_[0]
            square = float(a @ found.problem.apply_kernel(a))
        else:
            square = float(theirs.coef_ @ theirs.coef_)
        paid = C * float(np.maximum(0, np.abs(theirs.predict(X) - response) - EPSILON).sum())
        above = found.objective / (square / 2 + paid) - 1
        name = "libsvm" if rbf else "liblinear"
        told = [f"{their_seconds:.2f}", f"{spent:.2f}", f"{spent / their_seconds:.2f}", f"{above:.0e}"]
        results.row(kernel, n, d, f"{C:g}", name, *told)
    results.done()
