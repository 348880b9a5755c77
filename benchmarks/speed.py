"""Speed: native fits beside scikit-learn's SVC, the Compact Margin Machine, CVXPY's overhead, start-up (a minute)."""

import os
import subprocess
import sys
import tempfile
import time
from functools import partial

import clarabel
import numpy as np
from common import DATA, TABLE_5, Results, hidden, load, moved
from sklearn.svm import SVC

import convex_tsvm as ct


def seconds_of(function, repeats):
    """Every duration of ``repeats`` calls."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return np.array(times)


def native_fits(results):
    """A whole fit, kernel matrix included, on each split; libsvm's SVM on all true labels in the same run."""
    X, truth, splits = load("g50c")
    sigma, C = TABLE_5["g50c"]
    ct.cccp(ct.cccp_tsvm(), ct.Problem(X, hidden(truth, splits[0]), kernel=ct.RBF(sigma), C=C))
    results("## A native CCCP fit of g50c (550 points), after compilation", "")
    results.table("formulation", "median s", "slowest split (median of 9) s", "of libsvm's SVM on all labels", "target")
    for title, model, cost in [
        ("ramp, s = -0.3, UC* = LC", ct.cccp_tsvm(-0.3), "balanced"),
        ("symmetric hinge, UC* = LC", ct.cccp_tsvm(0.0), "balanced"),
        ("ramp, s = -0.3, C* = C", ct.cccp_tsvm(-0.3), C),
        ("squared hinge, C* = C", ct.s3vm(), C),
    ]:
        medians, libsvm = [], []
        for row in splits:
            y = hidden(truth, row)

            def fit(y=y, cost=cost, model=model):
                return ct.cccp(model, ct.Problem(X, y, kernel=ct.RBF(sigma), C=C, C_unlabeled=cost))

            medians.append(np.median(seconds_of(fit, 9)))
            libsvm.append(np.median(seconds_of(lambda: SVC(C=C, gamma=1 / (2 * sigma**2)).fit(X, truth), 3)))
        ratio = np.median(medians) / np.median(libsvm)
        results.row(title, f"{np.median(medians):.4f}", f"{max(medians):.4f}", f"{ratio:.1f} ×", "0.05 s")
    for balance in ("labeled", "auto"):
        clf, times = ct.TransductiveSVC(sigma=sigma, C=C, balance=balance, unlabeled=0), []
        for row in splits:
            y = hidden(truth, row)
            times.append(np.median([seconds_of(partial(clf.fit, moved(X, k), y), 1)[0] for k in range(5)]))
        ratio = np.median(times) / np.median(libsvm)
        what = f"TransductiveSVC, balance={balance!r}{', the default' if balance == 'auto' else ''}"
        results.row(what, f"{np.median(times):.4f}", f"{max(times):.4f}", f"{ratio:.1f} ×", "–")


def compact_margin(results):
    """The relaxed Compact Margin Machine on 10 labelled and 800 unlabelled points."""
    results("", "## A native fit of the relaxed CMM: MNIST, 8 against 9, 10 labelled and 800 unlabelled points", "")
    results.table("parameters", "median s", "slowest draw (median of 5) s", "steps", "target")
    file = np.load(DATA / "mnist.npz")
    chosen = np.flatnonzero(np.isin(file["y"], (8, 9)))
    for C, cost, epsilon in ((10.0, "balanced", 1.0), (10.0, 1.0, 1.0), (10.0, 10.0, 1.0), (10.0, 1.0, 1.5)):
        medians, steps = [], []
        for seed in range(5):
            drawn = np.random.default_rng(seed).permutation(chosen)[:810]
            X, truth = file["X"][drawn].astype(float) / 255, np.where(file["y"][drawn] == 8, 1.0, -1.0)
            known = np.concatenate([np.flatnonzero(truth == sign)[:5] for sign in (1, -1)])
            y = hidden(truth, known)

            def fit(X=X, y=y, C=C, cost=cost, epsilon=epsilon):
                problem = ct.Problem(X, y, kernel=ct.RBF(gamma=0.01), C=C, C_unlabeled=cost)
                C_compact = float(problem.cost[problem.unlabeled[0]])
                model = ct.compact_margin(epsilon, *ct.formulations.compactness_weights(problem, C_compact))
                return ct.cccp(model, problem)

            steps.append(fit().n_iter)
            medians.append(np.median(seconds_of(fit, 5)))
        results.row(f"C = {C:g}, C* = C₃ = {cost}, ε = {epsilon:g}", f"{np.median(medians):.3f}",
                    f"{max(medians):.3f}", f"{min(steps)} to {max(steps)}", "0.2 s")  # fmt: skip


class TimedSolver:
    """Clarabel's solver object with the wall time spent inside it."""

    spent = 0.0
    original = clarabel.DefaultSolver

    def __init__(self, *arguments):
        began = time.perf_counter()
        self.solver = TimedSolver.original(*arguments)
        TimedSolver.spent += time.perf_counter() - began

    def __getattr__(self, name):
        method = getattr(self.solver, name)
        if not callable(method):
            return method

        def timed(*arguments, **keywords):
            began = time.perf_counter()
            result = method(*arguments, **keywords)
            TimedSolver.spent += time.perf_counter() - began
            return result

        return timed


def cvxpy_overhead(results):
    """Whole time of the steps after the first, over the time spent inside Clarabel."""
    X, truth, splits = load("g50c")
    sigma, C = TABLE_5["g50c"]
    clarabel.DefaultSolver = TimedSolver
    results("", "## CVXPY's steps on g50c, after the first", "")
    results("Whole step (parameters, solver, recovery, certificate) over the wall time inside Clarabel.", "")
    results.table(
        "formulation", "steps", "median step, s", "median ratio", "largest ratio", "as Clarabel reports", "target"
    )
    for title, model, cost in [
        ("ramp, s = -0.3, UC* = LC", ct.cccp_tsvm(-0.3), "balanced"),
        ("squared hinge, C* = C", ct.s3vm(), C),
    ]:
        whole, inside, reported = [], [], []
        for row in splits[:3]:
            problem = ct.Problem(X, hidden(truth, row), kernel=ct.RBF(sigma), C=C, C_unlabeled=cost)
            marks = []

            def mark(iteration, marks=marks):
                marks.append((TimedSolver.spent, iteration))

            ct.cccp(model, problem, solver="cvxpy", annealing=5, callback=mark)
            for (before, _), (after, iteration) in zip(marks[:-1], marks[1:], strict=True):
                whole.append(iteration.seconds)
                inside.append(after - before)
                reported.append(iteration.solver_seconds)
        ratios = np.array(whole) / np.array(inside)
        own = np.median(np.array(whole) / np.array(reported))
        median, largest = np.median(ratios), ratios.max()
        results.row(
            title, len(whole), f"{np.median(whole):.3f}", f"{median:.3f}", f"{largest:.3f}", f"{own:.3f}", "1.1"
        )
    clarabel.DefaultSolver = TimedSolver.original


def start_up(results):
    """Import time against CVXPY's, and a first fit with and without the cache of compiled loops."""
    results("", "## Start-up", "")

    def run(code, **environment):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, **environment})
        return time.perf_counter() - began

    pairs = [(run("import convex_tsvm"), run("import cvxpy"), run("pass")) for _ in range(9)]
    ours, theirs, nothing = np.median(np.array(pairs), axis=0)
    ratio = (ours - nothing) / (theirs - nothing)
    faces = {
        "Problem, Formulation, hinge, cccp": "from convex_tsvm import Problem, Formulation, hinge, cccp",
        "TransductiveSVC": "from convex_tsvm import TransductiveSVC",
    }
    everything = "import cvxpy, convex_tsvm as ct; [getattr(ct, n) for n in ct.__all__]"
    eager = np.median([run(everything) for _ in range(5)])
    fit = (
        "import numpy as np, convex_tsvm as ct; X = np.random.default_rng(0).standard_normal((60, 3));"
        "ct.cccp(ct.cccp_tsvm(), ct.Problem(X, np.resize([1, -1, 0], 60)))"
    )
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = run(fit, NUMBA_CACHE_DIR=folder), run(fit, NUMBA_CACHE_DIR=folder)
    results.table("what", "seconds", "ratio", "target")
    results.row(
        "import convex_tsvm / import cvxpy", f"{ours - nothing:.3f} / {theirs - nothing:.3f}", f"{ratio:.2f}", "1.5"
    )
    for title, code in faces.items():
        needed = np.median([run(code) for _ in range(5)]) - nothing
        results.row(
            f"{title} / import cvxpy",
            f"{needed:.3f} / {theirs - nothing:.3f}",
            f"{needed / (theirs - nothing):.2f}",
            "-",
        )
    results.row("every public name loaded / import cvxpy", f"{eager - nothing:.3f} / {theirs - nothing:.3f}",
                f"{(eager - nothing) / (theirs - nothing):.2f}", "-")  # fmt: skip
    results.row(
        "process with a small fit: compiling / from the cache", f"{cold:.1f} / {warm:.1f}", f"{cold / warm:.1f}", "-"
    )


def main():
    """Run all."""
    results = Results("speed", "Speed")
    native_fits(results)
    compact_margin(results)
    cvxpy_overhead(results)
    start_up(results)
    results.done()


if __name__ == "__main__":
    main()
