"""What people call: every classifier with default arguments, beside what they would call otherwise (on one core).

    python benchmarks/defaults.py               all tables
    python benchmarks/defaults.py --quick       without the table of all classifiers (3 minutes)

Seconds are of whole calls of ``fit``, after compilation, in one process with one thread; points are drawn anew for
every call, so that nothing is known from the call before.  UniverSVM is timed where ``universvm`` is on the PATH or in
the variable UNIVERSVM: its whole process, which reads its points from a file.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import few_labels
import numpy as np
from common import Results, gaussians, moved
from sklearn.datasets import dump_svmlight_file
from sklearn.svm import SVC, LinearSVC

import convex_tsvm as ct

#: What is timed: unlabelled points beside 50 labelled ones, and the number of draws.
SIZES = {50: 15, 500: 15, 2000: 9, 8000: 5}

#: At most so many times the seconds of ``balance="labeled"``, and of UniverSVM's at least so many times as fast.
RATIOS, UNIVERSVM = {50: 2.5, 500: 2.0, 8000: 1.3}, {500: 2, 2000: 12, 8000: 30}

#: σ of the authors of UniverSVM for points like these (Collobert et al. 2006); None is the default, γ = "scale".
SIGMAS = (None, 17.0)

#: A call of a classifier that takes longer than this, in seconds, is ended.
MOST_SECONDS = 20.0

METHODS = (
    "TransductiveSVC",
    "LinearTransductiveSVC",
    "CompactMarginClassifier",
    "RelativeMarginClassifier",
    "LaplacianSVC",
    "SafeTransductiveSVC",
    "SpectralTransduction",
    "SubspaceSDPTransduction",
    "SDPTransduction",
    "ExactTransductiveSVC",
    "TransductiveSearchCV",
)


def drawn(n_unlabeled, seed, n_labeled=50):
    """Points like g50c's, their classes, and the labels that are shown."""
    X, signs = gaussians(n_labeled + n_unlabeled, seed)
    truth = (signs > 0).astype(int)
    return X, truth, np.where(np.arange(len(truth)) < n_labeled, truth, -1)


def seconds(function, *given, **options):
    """How long a call takes, and what it returns."""
    began = time.perf_counter()
    found = function(*given, **options)
    return time.perf_counter() - began, found


def calls_of(function, *given):
    """How many functions of the package, in Python, a call goes through."""
    count, package = 0, str(Path(ct.__file__).parent)

    def watch(frame, event, _):
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(package)

    sys.setprofile(watch)
    try:
        function(*given)
    finally:
        sys.setprofile(None)
    return count


def universvm(X, y, gamma):
    """Seconds of UniverSVM with C = 10, C* = 1 and s = -0.3; NaN where it is not there."""
    program = shutil.which(os.environ.get("UNIVERSVM", "universvm"))
    if program is None:
        return np.nan
    known = y >= 0
    files = {"train": (known, 2 * y[known] - 1), "unlabeled": (~known, np.full((~known).sum(), -3))}
    with tempfile.TemporaryDirectory() as folder:
        for name, (where, labels) in files.items():
            dump_svmlight_file(X[where], labels, f"{folder}/{name}", zero_based=False)
        given = ["-c", "10", "-t", "2", "-g", repr(gamma), "-z", "1", "-S", "-0.3", "-u", "unlabeled", "train", "model"]
        return seconds(subprocess.run, [program, *given], cwd=folder, capture_output=True, check=True)[0]


def against_the_balance(results):
    """The default beside a balance that is given, UniverSVM, and libsvm's SVM on all labels."""
    results("## The default beside a balance that is given, and beside UniverSVM", "")
    results(
        "Points like g50c's, 50 of them labelled; milliseconds, medians over draws that are other points each time. "
        "The default infers the shares of the classes.",
        "",
    )
    heads = ("UniverSVM", "times as fast", "target", "libsvm, all labels")
    results.table("γ", "unlabelled", 'balance="labeled"', "default", "ratio", "target", *heads)
    for sigma in SIGMAS:
        for n, draws in SIZES.items():
            times = []
            for seed in range(draws + 1):
                X, truth, y = drawn(n, seed)
                gamma = 1 / (50 * X.var()) if sigma is None else 1 / (2 * sigma**2)
                given, default = ct.TransductiveSVC(sigma=sigma, balance="labeled"), ct.TransductiveSVC(sigma=sigma)
                peers = universvm(X, y, gamma) if seed < 4 else np.nan, seconds(SVC(C=10, gamma=gamma).fit, X, truth)[0]
                times.append((seconds(given.fit, X, y)[0], seconds(default.fit, X, y)[0], *peers))
            labeled, auto, theirs, libsvm = 1e3 * np.nanmedian(np.array(times[1:]), axis=0)
            ratio, faster = f"{auto / labeled:.2f}", f"{theirs / auto:.1f}"
            ours = (f"{labeled:.1f}", f"{auto:.1f}", ratio, RATIOS.get(n, "–"))
            peers = (f"{theirs:.0f}", faster, UNIVERSVM.get(n, "–"), f"{libsvm:.1f}")
            results.row("scale" if sigma is None else f"σ = {sigma:g}", n, *ours, *peers)


def single_calls(results):
    """A hundred points, a sweep, linear functions, three classes, the first fit of a process."""
    results("", "## Other calls", "")
    results.table("call", "seconds", "target", "a peer's seconds", "ratio")
    X, _, y = drawn(50, 0)
    other, _, labels = drawn(50, 1)
    for balance, most in (("labeled", 2000), ("auto", 6000)):
        calls = calls_of(ct.TransductiveSVC(balance=balance).fit(X, y).fit, other, labels)
        results.row(f"50 + 50, balance={balance!r}: calls in the package", calls, most, "–", "–")
    sweep(results)
    X, truth, y = drawn(19_000, 0, 1000)
    clf = ct.TransductiveSVC(kernel="linear").fit(X[:2000], y[:2000])
    ours = min(seconds(clf.fit, moved(X, k), y)[0] for k in range(3))
    for C in (10, 1):
        theirs = min(seconds(LinearSVC(C=C, loss="hinge", max_iter=10**5).fit, X, truth)[0] for _ in range(3))
        what = f"linear, 1000 + 19 000, d = 50; liblinear's SVM on all labels, C = {C}"
        results.row(what, f"{ours:.2f}", "2.5 ×", f"{theirs:.2f}", f"{ours / theirs:.1f} ×")
    random = np.random.default_rng(0)
    truth = random.integers(0, 3, 3000)
    X = random.standard_normal((3000, 8)) + 2.5 * np.eye(3, 8)[truth]
    y = np.where(np.arange(3000) < 30, truth, -1)
    auto, labeled = (
        min(seconds(ct.TransductiveSVC(balance=balance).fit, moved(X, k), y)[0] for k in range(2))
        for balance in ("auto", "labeled")
    )
    what = 'three classes, 30 + 2970, d = 8; balance="labeled"'
    results.row(what, f"{auto:.2f}", "–", f"{labeled:.2f}", f"{auto / labeled:.1f} ×")
    first_fits(results)


def sweep(results):
    """200 fits of 500 points: twenty costs times ten widths."""
    X, _, y = drawn(450, 0)
    known, grid = y >= 0, [(C, s) for s in np.logspace(0.5, 1.5, 10) for C in np.logspace(-1, 3, 20)]
    for balance, most in (("labeled", 25), ("auto", 35)):
        ours = sum(seconds(ct.TransductiveSVC(C=C, sigma=s, balance=balance).fit, X, y)[0] for C, s in grid)
        theirs = sum(seconds(SVC(C=C, gamma=1 / (2 * s**2)).fit, X[known], y[known])[0] for C, s in grid)
        what = f"a sweep, 200 fits of 500 points, balance={balance!r}, each; libsvm, labels only"
        results.row(what, f"{ours / 200:.4f}", f"{most / 1000:.3f}", f"{theirs / 200:.4f}", f"{ours / theirs:.0f} ×")


def first_fits(results):
    """A process with one small fit, whose loops are compiled, and the next one, which finds them."""
    begin = "import numpy as np, convex_tsvm as ct; X = np.random.default_rng(0).standard_normal((60, 3));"
    programs = {
        "ct.cccp": "ct.cccp(ct.cccp_tsvm(), ct.Problem(X, np.resize([1, -1, 0], 60)))",
        "TransductiveSVC().fit": "ct.TransductiveSVC().fit(X, np.resize([0, 1, -1], 60))",
    }
    for what, program in programs.items():
        command = [sys.executable, "-W", "ignore", "-c", begin + program]
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            cold, warm = (seconds(subprocess.run, command, env=environment, check=True)[0] for _ in range(2))
        results.row(
            f"a process with {what}, compiling; the next one", f"{cold:.1f}", "–", f"{warm:.1f}", f"{cold / warm:.1f} ×"
        )


# --- every classifier -------------------------------------------------------------------------------------------------

#: Ten kinds of data by the number of points: points and classes, and how many labels are shown.
KINDS = {
    "two moons, 50": (lambda: few_labels.datasets.make_moons(50, noise=0.1, random_state=0), 10),
    "iris, 150": (lambda: few_labels.SETS["iris"](0), 15),
    "ionosphere, 351": (lambda: few_labels.SETS["ionosphere"](0), 20),
    "like g50c, 550": (lambda: drawn(500, 0)[:2], 50),
    "breast cancer, 569": (lambda: few_labels.SETS["breast cancer"](0), 20),
    "text, 1946": (lambda: few_labels.SETS["text"](0), 50),
    "digits, 1797": (lambda: few_labels.SETS["digits"](0), 50),
    "1 % positive, 3000": (lambda: few_labels.SETS["1 % positive"](0), 100),
    "like g50c, 8050": (lambda: drawn(8000, 0)[:2], 50),
    "like g50c, 20 000": (lambda: drawn(19_000, 0, 1000)[:2], 1000),
}


class TookTooLong(Exception):
    """Raised in a call that has taken ``MOST_SECONDS``."""


@contextmanager
def limited():
    """A context that ends after ``MOST_SECONDS``."""

    def end(*_):
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def every_classifier(results):
    """Seconds and errors of every classifier with default arguments, and of scikit-learn's SVC() on the labels."""
    results("", "## Every classifier with default arguments", "")
    results(
        "Seconds, and in brackets the error in % of the unlabelled points. SVC is scikit-learn's, and learns from the "
        f"labels alone. A dash is a call that was ended after {MOST_SECONDS:g} seconds, or refused.",
        "",
    )
    results.table("classifier", *KINDS)
    data = {}
    for name, (make, n_labeled) in KINDS.items():
        X, truth = make()
        truth = np.unique(truth, return_inverse=True)[1]
        visible = np.zeros(len(truth), dtype=bool)
        visible[few_labels.practice.at_random(truth, n_labeled, np.random.default_rng(0))] = True
        data[name] = X, truth, visible
    results.row("SVC()", *(cell_of(_of_labels, *one) for one in data.values()))
    for method in METHODS:
        results.row(method, *(cell_of(partial(_of_all, getattr(ct, method)), *one) for one in data.values()))


def _of_labels(X, truth, visible):
    return SVC().fit(X[visible], truth[visible]).predict(X[~visible])


def _of_all(make, X, truth, visible):
    return make().fit(X, np.where(visible, truth, -1)).transduction_[~visible]


def cell_of(predict, X, truth, visible):
    """Seconds and error of one method on one set."""
    try:
        with limited():
            took, found = seconds(predict, X, truth, visible)
    except (TookTooLong, ValueError, MemoryError):
        return "–"
    return f"{took:.3g} ({100 * np.mean(found != truth[~visible]):.0f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the table of all classifiers")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results("defaults", "What people call: default arguments")
    X, _, y = drawn(1200, 99)
    for n in (100, 1250):  # everything is compiled, for both precisions
        for kernel in ("rbf", "linear"):
            ct.TransductiveSVC(kernel=kernel).fit(X[:n], y[:n])
    against_the_balance(results)
    single_calls(results)
    if not options.quick:
        every_classifier(results)
    results.done()


if __name__ == "__main__":
    main()
