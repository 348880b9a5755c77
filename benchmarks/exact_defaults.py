"""Exact search with default arguments beside its halves: the tree with the SVM's bound alone, and strong bounds only.

    python benchmarks/exact_defaults.py [--limit SECONDS]

Instances that one of the two closes in seconds; the target is a ratio of at most 2 to the better one, and 5 seconds for
the README's two moons.  One thread, processor seconds.
"""

import argparse
import os
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything loads BLAS

from common import Results
from exact_instances import FORMULATION, GAP, equal, published

import convex_tsvm as ct
from convex_tsvm.data import load_data

#: Both kinds are tried: where the tree alone closes, and where only strong bounds do.
SHARED = (("art100", 0.3), ("art100", 0.1), ("art150", 0.3), ("art150", 0.2), ("art150", 0.1), ("2moons", 0.3))
#: By the published protocol, seed 0 or 1: the tree alone closes the second and third in time, the others do not end.
PUBLISHED = (
    ("heart", 0.2, 0),
    ("2moons", 0.2, 1),
    ("powercons", 0.3, 1),
    ("connectionist", 0.1, 1),
    ("art150", 0.3, 1),
)
PATIENCE = {"defaults": None, "the tree alone": 10**9, "strong bounds only": 0}


def instances():
    """Name, formulation, problem and gap."""
    moons = load_data("two_moons")
    for cost in ("tenth", "balanced"):
        problem = ct.Problem(moons.X, moons.y, kernel=ct.RBF(sigma=0.3), C=10, C_unlabeled=cost)
        yield f"two_moons, C* {cost}", ct.s3vm(), problem, 1e-6
    for name, share in SHARED:
        made = equal(name, share)
        kind, problem = made.kind, made.problem
        yield f"{name}, {share:.0%}, {kind}", FORMULATION, problem, GAP
    made = equal("2moons", 0.3, other=True)
    kind, problem = made.kind, made.problem
    yield f"2moons, 30%, {kind}", FORMULATION, problem, GAP
    for name, share, seed in PUBLISHED:
        made = published(name, share, seed)
        yield f"{name}, {share:.0%}, published, seed {seed}", FORMULATION, made.problem, GAP


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=120.0, help="seconds a search (default: 120)")
    options = parser.parse_args()
    # What is compiled is compiled.
    y = [1.0, -1.0] + [0.0] * 38
    ct.exact_search(ct.s3vm(), ct.Problem(load_data("two_moons").X[:40], y, kernel=ct.RBF(sigma=0.3)), patience=5)
    out = Results("exact_defaults", "Exact search: defaults beside its two halves")
    out.table("instance", *(f"{name}: seconds (nodes)" for name in PATIENCE), "defaults / the better")
    for name, formulation, problem, gap in instances():
        seconds, cells = {}, []
        for way, patience in PATIENCE.items():
            began = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = ct.exact_search(formulation, problem, gap=gap, patience=patience, time_limit=options.limit)
            closed = found.status == "optimal"
            seconds[way] = time.process_time() - began if closed else float("inf")
            cells.append(f"{seconds[way]:.1f} ({found.n_nodes})" if closed else f"gap {found.gap:.1%}")
        better = min(seconds["the tree alone"], seconds["strong bounds only"])
        out.row(name, *cells, f"{seconds['defaults'] / better:.1f}")
    out.done()


if __name__ == "__main__":
    main()
