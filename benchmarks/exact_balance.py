"""What an exact balance costs: trainings per answer, and positive labels missed, on the sets of chapelle2008.

    python benchmarks/exact_balance.py                    what is missing
    python benchmarks/exact_balance.py --sets g50c,text   some sets
    python benchmarks/exact_balance.py --state before     the same with the package that PYTHONPATH names, kept beside
    python benchmarks/exact_balance.py --report           the table of what there is

A training is a descent at a fixed mean output, c = 2 r - 1.  The answer is the solution with the number of positive
labels wanted (``balance=("exact", r)``), found by descents at several c.  One against the rest, the first split, the
hyperparameters of the paper's Table 5, tolerance 10⁻³.  Finished cells are in results/exact_balance.csv.
"""

import argparse
import os
import sys
import time
import warnings
from dataclasses import asdict, dataclass

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything loads BLAS

import numpy as np
from common import HERE
from document import Document
from store import Keyed, compute, finished

import convex_tsvm as ct

sys.path.insert(0, str(HERE / "review"))

from datasets import load

RESULTS = HERE / "results" / "exact_balance.csv"

SETS = ("2moons", "g50c", "text", "coil3", "isolet", "coil20", "uspst")

METHODS = {
    "∇S3VM": lambda problem: ct.gradient(ct.tsvm("exp"), problem),
    "cS3VM": lambda problem: ct.continuation(ct.tsvm("exp"), problem),
    "CCCP": lambda problem: ct.cccp(ct.tsvm("squared_hinge"), problem, annealing=10),
    "Newton": lambda problem: ct.newton(ct.tsvm("flat"), problem),
}

FIGURES = ("trainings", "median", "most", "missed", "beyond", "answers", "seconds")

#: A miss is beyond what is allowed if it is more than this share of the number wanted.
ALLOWED = 0.01

#: The target: so many trainings for an answer.
TRAININGS = 5.0


@dataclass(frozen=True)
class Cell(Keyed):
    """All classes of one set with one method; ``state`` says of which state of the package."""

    state: str
    data: str
    method: str


def run(cell):
    """Trainings per answer, in total, median and most; the mean number of labels missed, and how many miss too many."""
    data, solve = load(cell.data, 0), METHODS[cell.method]
    unknown, first = data.unlabeled, None
    spent, fixed, missed, beyond = [], [], [], 0
    for positive in data.positives:
        truth = data.signs(positive)
        share = float((truth[unknown] > 0).mean())
        given = {"y": data.hidden(truth), "C": data.C, "C_unlabeled": data.C}
        if first is None:
            first = ct.Problem(data.X, kernel=ct.RBF(data.sigma), balance=2 * share - 1, **given)
        seconds = {}
        for name, balance in (("fixed", 2 * share - 1), ("exact", ("exact", share))):
            problem = first.replace(balance=balance, **given)
            began = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                solution = solve(problem)
            seconds[name] = time.process_time() - began
        wanted = int((truth[unknown] > 0).sum())
        miss = abs(int((solution.labels[unknown] > 0).sum()) - wanted)
        spent.append(seconds["exact"])
        fixed.append(seconds["fixed"])
        missed.append(miss)
        beyond += miss > ALLOWED * wanted
    ratios = np.array(spent) / np.array(fixed)
    return {
        **asdict(cell),
        "trainings": sum(spent) / sum(fixed),
        "median": float(np.median(ratios)),
        "most": float(ratios.max()),
        "missed": float(np.mean(missed)),
        "beyond": float(beyond),
        "answers": float(len(spent)),
        "seconds": sum(spent),
    }


def say(count, total, spent, found):
    """A line a cell."""
    print(
        f"{count} of {total}, {spent:.1f} min: {found['data']} {found['method']}: {found['trainings']:.1f} trainings, "
        f"missed {found['missed']:.1f}, {found['beyond']:.0f} of {found['answers']:.0f} beyond {ALLOWED:.0%}",
        flush=True,
    )


def report(known):
    """The table, every state beside the others."""
    out = Document("exact_balance", "What an exact balance costs")
    out.text(
        "`python benchmarks/exact_balance.py`: processor time of `balance=('exact', r)` as a multiple of that of one",
        f"descent at c = 2 r - 1 (target: {TRAININGS:g} at most), the mean number of positive labels missed, and",
        f"answers that miss more than {ALLOWED:.0%} of the number wanted; all classes, the first split, one thread.",
    )
    states = sorted({key[0] for key in known}, key=lambda state: (state == "now", state))
    heads = [f"{what}, {state}" for what in ("trainings", "missed", "beyond", "seconds") for state in states]
    out.table("data", "method", *heads)
    for data in SETS:
        for method in METHODS:
            found = [known.get((state, data, method)) for state in states]
            if any(found):
                shown = [["–"] * 4 if f is None else figures(f) for f in found]
                out.row(data, method, *(shown[i][j] for j in range(4) for i in range(len(states))))
    out.save()


def figures(f):
    """A cell of the table for each head."""
    beyond = f"{f['beyond']:.0f} of {f['answers']:.0f}"
    return [f"{f['trainings']:.1f}", f"{f['missed']:.1f}", beyond, f"{f['seconds']:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS), help="comma-separated")
    parser.add_argument("--methods", default=",".join(METHODS), help="comma-separated")
    parser.add_argument("--state", default="now", help="a name for the state of the package")
    parser.add_argument("--report", action="store_true", help="compute nothing")
    options = parser.parse_args()
    if not options.report:
        asked = [Cell(options.state, d, m) for d in options.sets.split(",") for m in options.methods.split(",")]
        missing = [cell for cell in asked if cell.key not in finished(Cell, RESULTS)]
        if missing:
            for method in ("∇S3VM", "CCCP"):  # what is compiled, or read, once
                run(Cell("", "g50c", method))
            compute(run, missing, FIGURES, 1, RESULTS, say)
    report(finished(Cell, RESULTS))


if __name__ == "__main__":
    sys.exit(main())
