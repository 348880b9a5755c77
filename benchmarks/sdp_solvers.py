"""Relaxations with cuts: how fast are the solvers beside each other? (3 minutes; --slow: SCS and Clarabel too, an hour)

The relaxations of four instances of exact.py, without cuts and after two and four rounds of them: products and triangle
inequalities, n of each kind a round.  All solvers get the same program, one after the other; ratios are to the native
one.  Gaps are those of the bound that is proven with the multipliers, to the best labels known.
"""

import argparse
import time

from common import Results
from exact_instances import equal

import convex_tsvm as ct
from convex_tsvm.exact.incumbent import Incumbent
from convex_tsvm.relaxations.model import BoundModel
from convex_tsvm.relaxations.output_space.convexified import Convexified
from convex_tsvm.relaxations.output_space.cuts import Cuts
from convex_tsvm.relaxations.output_space.tightening import Tightening
from convex_tsvm.solvers.sdp.sparse_sdp import available_solvers

INSTANCES = (("art100", 0.1, False), ("connectionist", 0.3, False), ("heart", 0.2, True), ("ionosphere", 0.3, True))


def prepared(name, share, other):
    """Model, cutoff and root box."""
    problem = equal(name, share, other).problem
    model = BoundModel(ct.s3vm(balance="targets", fit_intercept=False), problem)
    point, incumbent = model.svm.solve(model.search.y), Incumbent(model)
    incumbent.begin(point.outputs)
    box = model.root()
    return model, incumbent.objective, box.meet(*model.svm.consequences(box.labels, point, incumbent.objective))


def bound(model, box, relaxed):
    """What the multipliers prove."""
    quadratic = Convexified(model.space, relaxed.multipliers)
    return quadratic.bound(box.low, box.high, quadratic.minimize(box.low, box.high))


def main():
    """One table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slow", action="store_true", help="SCS and Clarabel too")
    options = parser.parse_args()
    solvers = [name for name in available_solvers() if options.slow or name in ("native", "sdpa")]
    results = Results("sdp_solvers", "Solvers of the relaxations with cuts")
    results.table("instance", "n", "cuts", *(f"{name}: s, gap" for name in solvers), "ratios")
    for name, share, other in INSTANCES:
        model, objective, box = prepared(name, share, other)
        cuts = Cuts.none()
        for turn in range(5):
            found = {}
            for solver in solvers if turn % 2 == 0 else solvers[:1]:
                tightening = Tightening(model.space, solver=solver, cuts_per_round=model.n)
                if turn == 0:
                    tightening.relax(box.low, box.high, Cuts.none())  # compiles or starts what it needs
                began = time.perf_counter()
                relaxed = tightening.relax(box.low, box.high, cuts)
                found[solver] = (time.perf_counter() - began, relaxed)
            if turn % 2 == 0:
                gaps = [1 - bound(model, box, relaxed) / objective for _, relaxed in found.values()]
                seconds = [one for one, _ in found.values()]
                cells = [f"{one:.2f}, {gap:.3%}" for one, gap in zip(seconds, gaps, strict=True)]
                ratios = " : ".join(f"{one / seconds[0]:.1f}" for one in seconds)
                results.row(f"{name}, {share:.0%}", model.n, cuts.m, *cells, ratios)
            relaxed = found["native"][1]
            cuts = relaxed.kept.join(tightening.fresh(relaxed.X, box.low, box.high))
    results.done()


if __name__ == "__main__":
    main()
