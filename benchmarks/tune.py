"""Five hyperparameters by gradient, in at most 20 fits, and by a grid of 400, on ten sets (half an hour).

    python benchmarks/tune.py [--draws 2]

C, C*, sigma, s of the ramp and the mean output of the balance are chosen by half of 100 labelled points, whose labels
are left out: their logistic loss log(1 + exp(-3 y f)) is lowered, or its least value on the grid taken.  The gradient
is ``Solution.backward``'s, its signs are followed with steps that grow or shrink (Rprop).  Errors are those at
unlabelled points of the solution with all 100 labels at what was chosen, in per cent; "start" are the parameters that
both begin with, the defaults.
"""

import argparse
import itertools
import time
import warnings

import numpy as np
import scipy.sparse as sp
from common import Results, hidden, read
from scipy.special import expit, logit
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import scale

import convex_tsvm as ct

FITS, LABELED, MOST = 20, 100, 1500
STEEPNESS = 3.0  # of the logistic loss, in units of outputs


def sets():
    """Ten sets with two classes: points and signs, at most so many."""
    rng = np.random.default_rng(0)
    found = {name: (file.X, file.y) for name in ("g50c", "ssl_digit1", "ssl_usps", "ssl_g241c", "exact_wdbc")
             for file in [read(name)]}  # fmt: skip
    for name, positive in (("isolet", 13), ("uspst", 5), ("coil20", 10)):
        file = read(name)
        found[name] = file.X, np.where(file.y < positive, 1.0, -1.0)
    digits, cancer = load_digits(), load_breast_cancer()
    found["digits"] = digits.data / 16, np.where(digits.target % 2 == 0, 1.0, -1.0)
    found["cancer"] = scale(cancer.data), np.where(cancer.target > 0, 1.0, -1.0)
    for name, (given, y) in found.items():
        X = given.toarray() if sp.issparse(given) else np.asarray(given, dtype=float)
        keep = rng.permutation(len(X))[:MOST]
        yield name, X[keep], np.where(np.asarray(y)[keep] > 0, 1.0, -1.0)


class Tuned:
    """Fits of a TSVM at five numbers without bounds: logarithms of C, C* and sigma, the logit of -s, a mean output."""

    names = ("C", "C_unlabeled", "sigma", "unlabeled.s", "balance")

    def __init__(self, X, truth, labeled, left_out):
        self.X, self.truth, self.left_out = X, truth, left_out
        self.y = hidden(truth, np.setdiff1d(labeled, left_out))
        self.start = np.array([0.0, np.log(0.1), 0.5 * np.log(X.var() * X.shape[1] / 2), logit(0.3), self.y.sum() / 50])

    def given(self, at, y):
        C, C_unlabeled, sigma = np.exp(at[:3])
        balance = float(np.clip(at[4], -0.9, 0.9))
        problem = ct.Problem(self.X, y, kernel=ct.RBF(sigma), C=C, C_unlabeled=C_unlabeled, balance=balance)
        return ct.cccp_tsvm(-float(np.clip(expit(at[3]), 0.01, 0.99))), problem

    def loss(self, at, gradient=False):
        """The left-out points' loss, and its gradient."""
        solution = ct.cccp(*self.given(at, self.y))
        margins = STEEPNESS * self.truth[self.left_out] * solution.scores[self.left_out]
        value = float(np.logaddexp(0, -margins).mean())
        if not gradient:
            return value, None
        slopes = np.zeros(len(self.X))
        slopes[self.left_out] = -STEEPNESS * self.truth[self.left_out] * expit(-margins) / len(margins)
        found = solution.backward(slopes)
        share = expit(at[3])
        units = np.array([*np.exp(at[:3]), -share * (1 - share), 1.0])
        return value, units * [found[name] for name in self.names]

    def by_gradient(self):
        """The best of so many fits, each a step from the one before."""
        at, steps, before = self.start.copy(), np.array([1.0, 1.0, 0.5, 0.5, 0.1]), np.zeros(5)
        best = (np.inf, at)
        for _ in range(FITS):
            try:
                value, slopes = self.loss(at, gradient=True)
            except ValueError:  # no stationary point is near enough: half of the way back
                at, before = 0.5 * (at + best[1]), np.zeros(5)
                continue
            best = min(best, (value, at.copy()), key=lambda one: one[0])
            steps *= np.where(slopes * before > 0, 1.3, np.where(slopes * before < 0, 0.5, 1.0))
            at, before = at - steps * np.sign(slopes), slopes
        return best[1]

    def by_grid(self):
        """The best of 400: five C, five C* / C, four widths, four s; the mean output is that of the labels."""
        grid = itertools.product(np.log(10) * np.linspace(-1, 2, 5), np.log(10) * np.linspace(-2, 0, 5),
                                 np.log([0.25, 0.5, 1, 2]), logit([0.05, 0.3, 0.6, 0.9]))  # fmt: skip
        points = [self.start * [0, 0, 1, 0, 1] + [C, C + ratio, width, s, 0] for C, ratio, width, s in grid]
        return min(points, key=lambda at: self.loss(at)[0])

    def error(self, at, labeled):
        solution = ct.cccp(*self.given(at, hidden(self.truth, labeled)))
        others = np.setdiff1d(np.arange(len(self.X)), labeled)
        return 100 * float((solution.labels != self.truth)[others].mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2)
    draws = parser.parse_args().draws
    warnings.simplefilter("ignore")
    results = Results("tune", "Five hyperparameters by gradient and by a grid", "tune.py")
    results(*__doc__.split("\n\n")[2].split("\n"), "")
    results.table("data", "points", "start, %", "gradient, %", "grid, %", "gradient, s", "grid, s")
    rows = []
    for name, X, truth in sets():
        of_set = []
        for draw in range(draws):
            labeled = np.random.default_rng(draw).permutation(len(X))[:LABELED]
            tuned = Tuned(X, truth, labeled, labeled[: LABELED // 2])
            moments = [time.perf_counter()]
            found = []
            for search in (tuned.by_gradient, tuned.by_grid):
                found.append(tuned.error(search(), labeled))
                moments.append(time.perf_counter())
            of_set.append([tuned.error(tuned.start, labeled), *found, *np.diff(moments)])
        rows.append(np.mean(of_set, axis=0))
        results.row(name, len(X), *(f"{one:.2f}" for one in rows[-1][:3]), *(f"{one:.1f}" for one in rows[-1][3:]))
    mean = np.mean(rows, axis=0)
    results.row("mean", "", *(f"{one:.2f}" for one in mean[:3]), *(f"{one:.1f}" for one in mean[3:]))
    results.done()


if __name__ == "__main__":
    main()
