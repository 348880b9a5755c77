"""Exact search: branching rules, strategies and bounds compared, nodes and seconds (15 minutes).

The SVM's bound alone for the rules and strategies, on problems that it closes; then the bounds, each to a gap of 0.1 %
and for at most a minute.
"""

from common import Results, compile_native
from exact_chapelle import planar_moons
from exact_instances import equal

import convex_tsvm as ct
from convex_tsvm.table import BRANCHING, STRATEGIES

LIMIT = 60.0


def problems():
    """Formulations and problems by name."""
    found = {}
    for name, share in (("art100", 0.1), ("art150", 0.2)):
        problem = equal(name, share).problem
        found[f"{name}, {share:.0%} labelled"] = (ct.s3vm(balance="targets", fit_intercept=False), problem)
    X, y, _ = planar_moons()
    moons = ct.Problem(X, y, kernel=ct.RBF(0.5), C=10, C_unlabeled=10, balance=0.0)
    found["two moons, 2 labelled"] = (ct.s3vm(), moons)
    hinge = moons.replace(C=1.0, C_unlabeled=1.0)
    found["two moons, hinge"] = (ct.cccp_tsvm(0.0), hinge)
    return found


def cell(formulation, problem, **options):
    """Nodes and seconds, or the gap that is left."""
    found = ct.exact_search(formulation, problem, gap=1e-3, time_limit=LIMIT, **options)
    left = "" if found.status == "optimal" else f", gap {found.gap:.1%}"
    return f"{found.n_nodes} nodes, {found.seconds:.1f} s{left}"


def main():
    """Three tables."""
    compile_native()
    results = Results("exact_rules", "Exact search: branching rules, strategies, bounds")
    tasks = problems()
    cell(*tasks["art100, 10% labelled"], bounds="svm")
    results("## Branching, best first in dives", "")
    results.table("rule", *tasks)
    for rule in BRANCHING:
        results.row(rule, *(cell(*task, bounds="svm", branching=rule) for task in tasks.values()))
    results("", "## Strategies", "")
    results.table("strategy", *tasks)
    for strategy in STRATEGIES:
        results.row(strategy, *(cell(*task, bounds="svm", strategy=strategy) for task in tasks.values()))
    published = {"strategy": "depth", "branching": "confidence"}
    as_published = (cell(*task, bounds="svm", **published) for task in tasks.values())
    results.row("depth, by confidence (as published)", *as_published)
    results("", "## Bounds, from the first node on", "")
    results.table("bounds", *tasks)
    for bounds in ("svm", "sdp", "signs"):
        results.row(bounds, *(
            cell(*task, bounds=bounds, patience=0) if bounds in ("svm", "sdp") or "hinge" not in name else "-"
            for name, task in tasks.items()
        ))  # fmt: skip
    results.done()


if __name__ == "__main__":
    main()
