"""2moons of chapelle2008, which is lost: what the choices that the paper leaves open do to its errors.

    python benchmarks/two_moons.py [--minutes 60] [--report]

The paper says (§5.1, Table 4): two moons, 102 dimensions, 200 points, two of them labelled, which stay while the others
are drawn anew.  It does not say how large the noise is or where the labelled points lie.  Here both are varied, and the
shape of the moons, with the paper's σ and C; ten printed errors are compared with the means over ten draws.  What is
nearest is what the review and the exact search of Table 1 use.  Finished runs are in results/two_moons.csv.
"""

import os
import sys
import warnings
from dataclasses import asdict, dataclass

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything loads BLAS

import numpy as np
from common import HERE
from document import Document
from store import Keyed, resume

import convex_tsvm as ct

sys.path.append(str(HERE / "review"))

import paper
from datasets import NOISE, PLACES, SPLITS, TABLE_5, Set, two_moons
from tasks import Cell, solved

PATH = HERE / "results" / "two_moons.csv"
FIGURES = ("error", "deviation", "lower", "seconds")

#: Columns: the method, its settings, and the printed error.
COLUMNS = {
    **{method: (method, {}, paper.TABLE_8["2moons", method]) for method in paper.SIX},
    "DA": ("DA", {}, paper.TABLE_2["2moons", "DA"]),
    "SVM": ("SVM", {"share": "estimated"}, paper.TABLE_13["2moons", "SVM"]),
    "quadratic Newton": ("quadratic Newton", {}, paper.TABLE_3["2moons", "quadratic Newton"]),
    "CCCP, no annealing": ("CCCP", {"steps": 1}, paper.TABLE_12["2moons", "no annealing"]),
}

#: Places that are the same on both moons, and some that are not.
SAME = (0.0, 0.05, 0.1, 0.13, 0.15, 0.17, 0.19, 0.21, 0.23, 0.25, 0.3, 0.5, 0.75, 1.0)

PAIRS = (
    (0.0, 0.5), (0.05, 0.15), (0.05, 0.2), (0.05, 0.9), (0.1, 0.15), (0.1, 0.2), (0.1, 0.23), (0.1, 0.3), (0.1, 0.9),
    (0.1, 1.0), (0.12, 0.2), (0.15, 0.2), (0.15, 0.3), (0.15, 1.0), (0.2, 0.8),
)  # fmt: skip


@dataclass(frozen=True)
class Run(Keyed):
    """One column on ten draws of one setting: see :func:`two_moons` of the review's data sets."""

    noise: float
    place: float
    other: float
    lift: float
    method: str


def settings():
    """What is tried: noise and places, unequal places, and moons that reach less far into each other."""
    found = [(NOISE, place, place, 0.5) for place in SAME]
    found += [
        (noise, place, place, 0.5) for noise in (0.03, 0.05, 0.1) for place in (0.0, 0.1, 0.15, 0.19, 0.25, 0.5, 1.0)
    ]
    found += [(NOISE, *pair, 0.5) for pair in PAIRS]
    return found + [(NOISE, place, place, lift) for lift in (0.0, 0.25) for place in (0.03, 0.05, 0.07, 0.1, 0.15, 0.2)]


def run(one):
    """Mean error, its standard error, and how many of the draws have a labelling that is lower than the truth."""
    errors, lower, (method, options, _) = [], 0, COLUMNS[one.method]
    seconds = 0.0
    warnings.simplefilter("ignore")
    for split in range(SPLITS):
        X, truth, labeled = two_moons(split, one.noise, (one.place, one.other), one.lift)
        data = Set("2moons", X, truth, labeled, *TABLE_5["2moons"])
        began = os.times().user
        found = solved(Cell("2moons", split, method, **options), data)
        seconds += os.times().user - began
        known = ct.Problem(X, truth, kernel=ct.RBF(data.sigma), C=data.C, C_unlabeled=None, balance=None)
        right = ct.cccp(ct.svm(ct.squared_hinge()), known).objective
        errors.append(found["error"])
        lower += found["objective"] < (1 - 1e-4) * right
    deviation = float(np.std(errors, ddof=1) / np.sqrt(SPLITS))
    return {**asdict(one), "error": float(np.mean(errors)), "deviation": deviation, "lower": float(lower),
            "seconds": seconds}  # fmt: skip


def say(_1, _2, _3, found):
    """A line for each run."""
    print(*(f"{key} {value:.3g}" if isinstance(value, float) else value for key, value in found.items()), flush=True)


def apart(known, setting, columns):
    """Mean distance of some columns' errors from the printed ones, or None while one is missing."""
    errors = [known.get(Run(*setting, name).key) for name in columns]
    if None in errors:
        return None
    return float(np.mean([abs(e["error"] - COLUMNS[name][2]) for e, name in zip(errors, columns, strict=True)]))


def report(known):
    """The table, the nearest first."""
    out = Document("two_moons", "2moons of chapelle2008: errors by noise, labelled points and shape")
    far = {one: [apart(known, one, columns) for columns in (paper.SIX, COLUMNS)] for one in settings()}
    far = {one: both for one, both in far.items() if None not in both}
    chosen = (NOISE, *PLACES, 0.5)
    out.text(
        f"`python benchmarks/two_moons.py`: errors in %, means over ten draws; {len(far)} of {len(settings())} "
        "settings are done.  Places are half turns from the inner ends of the moons; the second of the usual moons is "
        "raised by 0.5.  *Apart* is the mean distance from the printed errors of Table 1, and then of all ten; *truth "
        "is not best* says on how many draws of ten a method found labels of a lower objective than the right ones, "
        "which are the paper's optimum.",
        f"The review and the exact search use noise {NOISE:g} and the places {PLACES[0]:g} and {PLACES[1]:g}, which "
        "are nearest to Table 1 among moons that reach into each other; those that are raised by 0 are separated by a "
        "straight line.",
    )
    gaps = [
        max(abs(known[Run(*one, name).key]["error"] - COLUMNS[name][2]) for name in ("∇DA", "S3VMlight")) for one in far
    ]
    out.text(f"No setting has both ∇DA and S3VMlight within {min(gaps):.1f} points of what is printed.")
    out.facts |= {"noise": NOISE, "places": PLACES, "apart": far.get(chosen)}
    heads = ("noise", "places", "raised", "apart, Table 1", "apart, all", "truth is not best", *COLUMNS)
    out.table(*heads)
    out.row("**printed**", "", "", "", "", 0, *(printed for _, _, printed in COLUMNS.values()))
    for one in sorted(far, key=far.get):
        found = [known[Run(*one, name).key] for name in COLUMNS]
        noise, place, other, lift = one
        mark = "**" if one == chosen else ""
        where = f"{mark}{place:g}{mark}" if place == other else f"{mark}{place:g} and {other:g}{mark}"
        shown = [f"{f['error']:.1f} ± {f['deviation']:.1f}" for f in found]
        most = int(max(f["lower"] for f in found))
        out.row(f"{noise:g}", where, f"{lift:g}", *(f"{x:.1f}" for x in far[one]), most, *shown)
    print(out.save())


if __name__ == "__main__":
    todo = [Run(*setting, name) for setting in settings() for name in COLUMNS]
    resume(__doc__, todo, run, FIGURES, PATH, report, say)
