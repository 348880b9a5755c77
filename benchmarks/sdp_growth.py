"""How the time of the relaxations of De Bie and Cristianini (2004) grows with the unlabelled points (10 minutes).

    python benchmarks/sdp_growth.py

The worst cases that the paper states are of order 6.5 for the SDP of §2.2 and 4.5 for that of §3 on a subspace.  Points
are like g50c's, 20 of them labelled, hinge loss without bias, one core.  Every solver goes on to larger sizes
while the next is expected to take less than a minute.  Exponents are slopes of log-log lines through the last three.
"""

import os

if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from common import HERE, Results, compile_native, exponent, gaussians

import convex_tsvm as ct
from convex_tsvm.instance import labelling
from convex_tsvm.methods.spectral import spectral_subspace
from convex_tsvm.methods.subspace import solve_subspace
from convex_tsvm.modeling.label_matrix import DualSDP, FullSDP, ReducedSDP, SubspaceSDP
from convex_tsvm.relaxations import solve_low_rank

MODEL = ct.cccp_tsvm(0.0, balance=None, fit_intercept=False)
MOST_SECONDS, N_LABELED = 60.0, 20
SIZES = (10, 15, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560)


def search(n_unlabeled):
    """The search for labels of a problem with so many unlabelled points, and a basis of the subspace."""
    X, truth = gaussians(N_LABELED + n_unlabeled)
    y = np.where(np.arange(len(truth)) < N_LABELED, truth, 0.0)
    problem = ct.Problem(X, y, kernel=ct.RBF(17.0), C=10, C_unlabeled=1, balance=None)
    return labelling(MODEL, problem), spectral_subspace(problem.gram, y, 4)[0]


def by_cvxpy(form, solver):
    """A solver of CVXPY's on a form of the relaxation."""
    return lambda found, _: form(found).problem.solve(solver=solver)


#: Label, which SDP, and what solves it.
SOLVERS = (
    ("§2.1, Γ, Clarabel", "whole", by_cvxpy(FullSDP, "CLARABEL")),
    ("§2.2, Γ̃, Clarabel", "whole", by_cvxpy(ReducedSDP, "CLARABEL")),
    ("dual, Clarabel", "whole", by_cvxpy(DualSDP, "CLARABEL")),
    ("dual, SCS", "whole", by_cvxpy(DualSDP, "SCS")),
    ("ours, low rank", "whole", lambda found, _: solve_low_rank(found, tol=1e-4)),
    ("§3, M, Clarabel", "subspace", lambda found, V: SubspaceSDP(found, V).problem.solve(solver="CLARABEL")),
    ("ours, cutting planes", "subspace", lambda found, V: solve_subspace(found, V, tol=1e-4)),
)


def seconds_of(solve):
    """Seconds by number of unlabelled points."""
    found, ratio = {}, 1.0
    for n in SIZES:
        given = search(n)
        began = time.perf_counter()
        solve(*given)
        found[n] = time.perf_counter() - began
        before = list(found.values())[-2:]
        ratio = before[-1] / before[0] if len(found) > 2 else ratio
        if found[n] * ratio > MOST_SECONDS:
            break
    return found


def main():
    warnings.simplefilter("ignore")
    compile_native()
    results = Results("sdp_growth", "Growth of the SDP relaxations with the unlabelled points")
    results("Seconds; the exponent is that of the last three sizes.  The paper's worst cases: 6.5 and 4.5.", "")
    results.table("solver", "SDP", *map(str, SIZES), "exponent", "the paper's")
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for label, kind, solve in SOLVERS:
        solve(*search(6))  # compiled, and imported
        seconds = seconds_of(solve)
        slope = f"{exponent(list(seconds)[-3:], list(seconds.values())[-3:]):.1f}"
        shown = [f"{seconds[n]:.2g}" if n in seconds else "" for n in SIZES]
        results.row(label, kind, *shown, slope, "6.5" if kind == "whole" else "4.5")
        style = "-" if kind == "whole" else "--"
        axes.loglog(list(seconds), list(seconds.values()), "o" + style, label=f"{label}: {slope}")
    axes.set(xlabel="unlabelled points", ylabel="seconds", title="Solid: the relaxation; dashed: on a subspace")
    axes.legend(title="exponent", fontsize=9)
    figure.savefig(HERE / "results" / "sdp_growth.png", dpi=110)
    results("", "![seconds against unlabelled points](sdp_growth.png)")
    results.done()


if __name__ == "__main__":
    main()
