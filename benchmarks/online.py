"""``partial_fit``, stochastic CCCP, against the batch CCCP: errors, objectives, time.

    python benchmarks/online.py

g50c and text with their original splits, and the 10 % file of KDD 1999 (normal against attacks, 494 021 rows, 1000
labels) as a stream of chunks.  λ = 1 / (2 L) and λ' = 1, which is C = 1; the true share of positive points is given.
"""

import time
import warnings

import numpy as np
from common import Results, alone, load, read
from sklearn.preprocessing import MaxAbsScaler

import convex_tsvm as ct

PASSES = (1, 2, 5, 20, 50)

DIGITS = """
from common import compile_native, read
file = read("mnist")
rng = np.random.default_rng(0)
chosen = rng.permutation(len(file.y))[:50_000]
X, truth = np.asarray(file.X[chosen], dtype=np.float32) / 255, file.y[chosen].astype(int)
hidden = rng.permutation(50_000) >= 1000
y = np.where(hidden, -1, truth)
compile_native()
clf = ct.LinearTransductiveSVC(loss={0!r}, kernel_approximation="nystroem", n_components={1}, gamma=0.0128,
                               lambda_=1 / (2 * 10 * 1000), lambda_unlabeled=1.0, positive_fraction="labeled")
began = time.perf_counter()
"""
AFTER = "found = [100 * float(np.mean(clf.predict(X)[hidden] != truth[hidden])), seconds]"
PROGRAMS = {
    "batch": f"clf.set_params(method='cccp').fit(X, y)\nseconds = time.perf_counter() - began\n{AFTER}",
    "one pass, chunks of 2000": f"""
for part in np.array_split(np.arange(50_000), 25):
    clf.partial_fit(X[part], y[part], classes=range(10))
seconds = time.perf_counter() - began
{AFTER}""",
}


def both(X, truth, known, loss, passes, chunk=None):
    """Errors, objectives and seconds of the batch and of so many passes, and the supervised SVM's error."""
    y = np.where(known, truth, -1)
    share, L = float(truth[~known].mean()), int(known.sum())
    options = {"loss": loss, "positive_fraction": share, "lambda_": 1 / (2 * L), "lambda_unlabeled": 1.0}
    began = time.perf_counter()
    batch = ct.LinearTransductiveSVC(method="cccp", **options).fit(X, y)
    seconds = [time.perf_counter() - began]
    solution = batch.solutions_[0]
    instance = solution.formulation.on(solution.problem)
    base = ct.squared_hinge() if loss == "squared_hinge" else ct.hinge()
    svm = ct.LinearTransductiveSVC(method="cccp", loss=ct.svm(base), lambda_=1 / (2 * L)).fit(X, y)
    values, errors = [solution.objective], [wrong(svm, X, truth, known), wrong(batch, X, truth, known)]
    online, spent = ct.LinearTransductiveSVC(**options), 0.0
    order = np.random.default_rng(0).permutation(len(truth))
    for done in range(1, max(passes) + 1):
        began = time.perf_counter()
        for part in np.array_split(order, 1 if chunk is None else -(-len(truth) // chunk)):
            online.partial_fit(X[part], y[part], classes=[0, 1])
        spent += time.perf_counter() - began
        if done in passes:
            f = online.decision_function(X)
            values.append(instance.objective(f, 0.5 * float((online.coef_**2).sum())))
            errors.append(wrong(online, X, truth, known))
            seconds.append(spent)
    return errors, values, seconds


def wrong(clf, X, truth, known):
    """Error at the unlabelled points in %."""
    return 100 * float(np.mean(clf.predict(X)[~known] != truth[~known]))


def main():
    """Run all."""
    warnings.simplefilter("ignore")
    results = Results("online", "Online and batch CCCP")
    results(
        "Unlabelled error in %, objective and seconds, means over the draws.  The batch is",
        "`LinearTransductiveSVC(method='cccp')`; online is so many passes of `partial_fit`.",
        "",
    )
    results.table("data", "loss", "draws", "what", "SVM", "batch", *(f"online, {k}" for k in PASSES))
    for name in ("g50c", "text"):
        X, signs, splits = load(name)
        for loss in ("ramp", "squared_hinge"):
            found = []
            for split in splits:
                known = np.isin(np.arange(len(signs)), split)
                found.append(both(X, (signs > 0).astype(int), known, loss, PASSES))
            rows(results, name, loss, found, PASSES)
    file = read("kdd99")
    X, truth = MaxAbsScaler().fit_transform(file.X).tocsr(), (file.y > 0).astype(int)
    for loss in ("ramp", "squared_hinge"):
        found = []
        for seed in range(3):
            known = np.zeros(len(truth), dtype=bool)
            known[np.random.default_rng(seed).choice(len(truth), 1000, replace=False)] = True
            found.append(both(X, truth, known, loss, (1, 2, 5), chunk=10_000))
        rows(results, "kdd99, chunks of 10 000", loss, found, (1, 2, 5))
    of_a_kernel(results)
    results.done()


def of_a_kernel(results):
    """Digits with features of an RBF kernel: one pass in chunks beside the batch with as many features."""
    results(
        "",
        "50 000 points of MNIST, 1000 of them labelled, ten classes, γ = 0.0128, C = 10, λ' = 1, Nyström's features",
    )
    results("(of partial_fit from the first chunk); seconds and memory of a process of its own, features included.", "")
    results.table("features", "loss", "what", "error, %", "s", "GB")
    for n_components in (500, 1000):
        for loss in ("squared_hinge", "ramp"):
            for what, program in PROGRAMS.items():
                (error, seconds), memory = alone(DIGITS.format(loss, n_components) + program, threads=1)
                results.row(n_components, loss, what, f"{error:.2f}", f"{seconds:.1f}", f"{memory:.2f}")


def rows(results, name, loss, found, passes):
    """A row of each figure."""
    errors, values, seconds = (np.mean([one[k] for one in found], axis=0) for k in range(3))
    rest = ["-"] * (len(PASSES) - len(passes))
    results.row(name, loss, len(found), "error, %", *(f"{value:.2f}" for value in errors), *rest)
    results.row(name, loss, len(found), "objective", "-", *(f"{value:.4g}" for value in values), *rest)
    results.row(name, loss, len(found), "seconds", "-", *(f"{value:.2f}" for value in seconds), *rest)


if __name__ == "__main__":
    main()
