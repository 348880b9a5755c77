"""Error rates of the papers on g50c and text, all ten original splits (up to an hour; --quick: minutes).

Part A: σ and C of chapelle2008 Table 5, against its Tables 8, 12 and 13.
Part B: collobert2006 Tables 2 and 3, which report the best error over the hyperparameters, tuned on the test points.
"""

import argparse
import itertools
import warnings

import numpy as np
from common import TABLE_5, Results, hidden, load
from joblib import Parallel, delayed

import convex_tsvm as ct

#: name, formulation, C_unlabeled ("C" or "balanced"), annealing, balance, {data: (printed error, where)}
PART_A = [
    ("SVM, hinge, estimated balance", ct.svm(balance="linear"), "C", None, "labeled",
     {"g50c": (9.1, "T13"), "text": (23.1, "T13")}),
    ("SVM, squared hinge, estimated balance", ct.svm(ct.squared_hinge(), balance="linear"), "C", None, "labeled",
     {"g50c": (9.1, "T13"), "text": (23.1, "T13")}),
    ("CCCP, squared, annealed, estimated balance", ct.s3vm(), "C", 10, "labeled",
     {"g50c": (6.7, "T13"), "text": (12.8, "T13")}),
    ("SVM, squared hinge, exact balance", ct.svm(ct.squared_hinge(), balance="linear"), "C", None, "exact",
     {"g50c": (8.2, "T8"), "text": (14.8, "T8")}),
    ("CCCP, squared, exact balance", ct.s3vm(), "C", None, "exact",
     {"g50c": (7.9, "T12"), "text": (14.7, "T12")}),
    ("CCCP, squared, annealed, exact balance", ct.s3vm(), "C", 10, "exact",
     {"g50c": (6.3, "T8"), "text": (8.3, "T8")}),
]  # fmt: skip

#: scenario (the SVM is the plain one, free bias), free s?, C*, {data: printed error} (collobert2006 Tables 2 and 3)
PART_B = [
    ("SVM", None, "balanced", {"g50c": 8.32, "text": 18.86}),
    ("CCCP-TSVM, s = 0, UC* = LC", False, "balanced", {"g50c": 5.62, "text": 7.97}),
    ("CCCP-TSVM, s free, UC* = LC", True, "balanced", {"g50c": 5.04, "text": 5.59}),
    ("CCCP-TSVM, s = 0, C* = C", False, "C", {"g50c": 4.68, "text": 7.76}),
    ("CCCP-TSVM, s free, C* = C", True, "C", {"g50c": 4.28, "text": 5.22}),
]
S_GRID = (0.0, -0.1, -0.2, -0.3, -0.5)
# On text the error has a sharp minimum in C between 1 and 3 for C* = C; beyond 2 σ only C / σ² matters.
C_GRID = {"g50c": (0.1, 1.0, 10.0, 100.0, 1000.0), "text": (1.2, 1.8, 2.5, 10.0, 31.0, 100.0, 1000.0)}
SIGMA_FACTORS = {"g50c": (0.25, 0.5, 1.0, 2.0, 4.0), "text": (0.5, 1.0, 2.0)}


def one_error(formulation, problem, truth, annealing):
    """Error in % on the unlabelled points."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an exact balance that is missed by a point or two says so
        solution = ct.cccp(formulation, problem, annealing=annealing)
    u = problem.unlabeled
    return 100 * np.mean(solution.labels[u] != truth[u])


def errors(formulation, problems, truth, annealing=None):
    """Errors of all problems, in parallel."""
    run = Parallel(n_jobs=-1)
    return np.array(run(delayed(one_error)(formulation, problem, truth, annealing) for problem in problems))


def part_a(results, name):
    """Fixed hyperparameters."""
    X, truth, splits = load(name)
    sigma, C = TABLE_5[name]
    base = ct.Problem(X, hidden(truth, splits[0]), kernel=ct.RBF(sigma), C=C)
    _ = base.gram
    for title, formulation, cost, annealing, balance, printed in PART_A:
        problems = []
        for labeled in splits:
            y = hidden(truth, labeled)
            target = ("exact", float((truth[y == 0] > 0).mean())) if balance == "exact" else balance
            C_unlabeled = C if cost == "C" else cost
            problems.append(base.replace(y=y, C=C, C_unlabeled=C_unlabeled, balance=target))
        found = errors(formulation, problems, truth, annealing)
        paper, where = printed[name]
        difference = found.mean() - paper
        within = "yes" if abs(difference) <= 1.5 else "no"
        error = f"{found.mean():.2f} ± {found.std():.2f}"
        results.row(name, title, error, f"{paper} ({where})", f"{difference:+.2f}", within)


def part_b(results, name):
    """Best mean error over a grid, as the paper reports it."""
    X, truth, splits = load(name)
    bases = {
        factor: ct.Problem(X, hidden(truth, splits[0]), kernel=ct.RBF(factor * TABLE_5[name][0]))
        for factor in SIGMA_FACTORS[name]
    }
    for title, free_s, cost, printed in PART_B:
        best = (np.inf, 0.0, ())
        for (factor, base), C in itertools.product(bases.items(), C_GRID[name]):
            C_unlabeled = C if cost == "C" else cost
            problems = [base.replace(y=hidden(truth, row), C=C, C_unlabeled=C_unlabeled) for row in splits]
            for s in S_GRID if free_s else (0.0,):
                model = ct.svm() if free_s is None else ct.cccp_tsvm(s)
                found = errors(model, problems, truth)
                best = min(best, (found.mean(), found.std(), (factor * TABLE_5[name][0], C, s)))
        error, spread, (sigma, C, s) = best
        difference = error - printed[name]
        within = "yes" if difference <= 1.5 else "no"
        chosen = f"σ = {sigma:g}, C = {C:g}" + (f", s = {s:g}" if free_s else "")
        results.row(name, title, f"{error:.2f} ± {spread:.2f}", printed[name], f"{difference:+.2f}", within, chosen)


def main():
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="part A only")
    parser.add_argument("--data", default="g50c,text")
    options = parser.parse_args()
    results = Results("error_rates", "Error rates on the unlabelled points, %")
    results("## A. Hyperparameters of chapelle2008 Table 5, C* = C", "")
    results.table("data", "method", "here", "paper (chapelle2008)", "difference", "within 1.5")
    for name in options.data.split(","):
        part_a(results, name)
    if not options.quick:
        results("", "## B. Best over a grid, tuned on the test points (collobert2006 Tables 2 and 3)", "")
        results.table("data", "method", "here", "paper (collobert2006)", "difference", "within 1.5", "best at")
        for name in options.data.split(","):
            part_b(results, name)
    results("", NOTES.strip())
    results.done()


NOTES = """
## Where the figures differ from the papers' and why

- Part A uses the loss of chapelle2008 (squared hinge, p = 2) for CCCP. Its Table 13 does not say which loss its SVM
  has; the paper considers p = 2 throughout, and with it the SVM is within 1.5 points on both sets. With the hinge loss
  it is better on text than the paper's SVM, by more than 1.5 points; that row is shown for completeness.
- "Exact balance" is the paper's dichotomic search on the c of the linear constraint, with the true ratio, as in its
  Table 8. CCCP's local minima make the number of positives jump, so the search may miss it by a few points; the paper
  does not say what it does then. The nearest solution is taken here.
- Annealing is that of Table 12: C* in ten steps from its final value / 1000.
- Part B is a minimum over a grid that the paper does not print; ours is in the script, and coarser than a search that
  was meant to find minima would be: all differences are positive or zero, as a coarser grid makes them. The SVM of part
  B is the plain one, with a free bias.
"""

if __name__ == "__main__":
    main()
