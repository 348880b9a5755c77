"""How far is the time that is told before a fit from the time that it takes?  Problems of the map of corners.

    python benchmarks/estimates.py                 16 000 points, then 4000 (an hour)
    python benchmarks/estimates.py --most 5        no more than so many problems that are not known yet
    python benchmarks/estimates.py --report        the report of what there is

A fit is ended after two minutes, and then counts as one of two minutes or more.  Finished ones are in
results/estimates.csv, one a line, and are never computed again.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import corners
import numpy as np
from document import Document
from store import compute, finished

import convex_tsvm as ct
from convex_tsvm.deadline import until
from convex_tsvm.estimators.advice import PILOT, expected_seconds

RESULTS = Path(__file__).parent / "results"

FIGURES = ("expected", "asking", "seconds")

#: Seconds after which a fit is ended.
MOST = 120.0


def run(cell):
    """What is expected, how long that took to find out, and how long the fit takes."""
    _, _, problem, loss = corners.problem_of(cell)
    options = {"balance": None if problem.balance is None else "linear"} | ({"s": -0.3} if loss == "ramp" else {})
    model = ct.tsvm(loss, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        expected = expected_seconds(problem, lambda part: ct.cccp(model, part))
        asking = time.perf_counter() - began
        began = time.perf_counter()
        with until(time.time() + MOST):
            ct.cccp(model, problem)
    key = {"data": cell.data, "n": cell.n, "positive": cell.positive, "setting": cell.setting}
    return {**key, "expected": expected, "asking": asking, "seconds": time.perf_counter() - began}


def say(count, total, spent, found):
    """A line a problem."""
    print(
        f"{count} of {total}, {spent:.1f} min: {found['data']}, n = {found['n']}, {found['positive']:.0%}, "
        f"{found['setting']}: expected {found['expected']:.1f} s, took {found['seconds']:.1f} s",
        flush=True,
    )


def report(known):
    """The table of those that take long."""
    long = {key: figures for key, figures in known.items() if figures["seconds"] > PILOT.announced}
    factors = [max(f["expected"] / f["seconds"], f["seconds"] / f["expected"]) for f in long.values()]
    out = Document("estimates", "The time that is told before a fit")
    out.text(
        "`python benchmarks/estimates.py`: problems of the map of corners that take more than ten seconds, one thread."
    )
    out.text(
        f"{len(long)} of {len(known)} problems took so long; within a factor of three: "
        f"{sum(f <= 3 for f in factors)} of {len(long)}; the largest factor is {max(factors, default=np.nan):.1f}."
    )
    out.table("data", "n", "positive", "setting", "expected, s", "took, s", "seconds of asking")
    for key, f in sorted(long.items(), key=lambda item: -item[1]["seconds"]):
        took = f"{f['seconds']:.0f}" + (" (ended)" if f["seconds"] > 0.98 * MOST else "")
        out.row(*key, f"{f['expected']:.0f}", took, f"{f['asking']:.1f}")
    print(out.save())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, help="problems at most")
    parser.add_argument("--report", action="store_true", help="compute nothing")
    options = parser.parse_args()
    path = RESULTS / "estimates.csv"
    if not options.report:
        known = finished(corners.Cell, path)
        large = [corners.Cell(name, 16000, p, "defaults") for name in corners.DATA for p in corners.POSITIVE]
        cells = [*large, *corners.cells(sizes=(4000,))]
        missing = [cell for cell in dict.fromkeys(cells) if cell.key not in known][: options.most]
        if missing:
            compute(run, missing, FIGURES, 1, path, say)
    report(finished(corners.Cell, path))


if __name__ == "__main__":
    main()
