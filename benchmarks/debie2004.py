"""De Bie and Cristianini (2004), §5 and §3, and the solvers of the relaxations (3 minutes; --cvxpy: 10 minutes).

USPS digits 0 and 1 against 2 and 3, 20 labelled points drawn evenly over the digits, area under the ROC curve over the
unlabelled ones.  What the paper leaves open: pixels are in [-1, 1], where the mean distance of a sample to its nearest
neighbour is 7 as the paper says of its σ; the kernel is exp(-‖x - z‖² / σ²); hard margin is C = 10⁴; large entries of
the eigenvectors, one in twenty, are thresholded (footnote 4).
"""

import argparse
import time

import cvxpy as cp
import numpy as np
from common import DATA, Results, compile_native, gaussians
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import kneighbors_graph

import convex_tsvm as ct
from convex_tsvm.instance import labelling
from convex_tsvm.methods.spectral import spectral_subspace
from convex_tsvm.methods.subspace import solve_subspace
from convex_tsvm.modeling.label_matrix import DualSDP, ReducedSDP
from convex_tsvm.relaxations import solve_low_rank
from convex_tsvm.relaxations.safe_bounds import stationary_multipliers

SIGMA, HARD, OUTLIERS = 7.0, 1e4, 0.05
NO_BIAS = ct.cccp_tsvm(0.0, balance=None, fit_intercept=False)


def digits(per_digit, seed):
    """Points, truth, and which are labelled: five of each digit."""
    file = np.load(DATA / "usps.npz")
    rng = np.random.default_rng(seed)
    chosen = [rng.permutation(np.flatnonzero(file["y"] == digit))[:per_digit] for digit in range(4)]
    known = np.concatenate([np.arange(per_digit) < 5] * 4)
    return file["X"][np.concatenate(chosen)], np.repeat([1.0, 1.0, -1.0, -1.0], per_digit), known


def reproduction(results, draws):
    """§5."""
    results("## §5: area under the ROC curve", "")
    results.table("points", "d", "subspace SDP", "the paper's", "target", "SVM", "the paper's", "s, subspace SDP",
                  "largest gap to its bound")  # fmt: skip
    for per_digit, d, theirs, target in ((100, 4, "0.959 ± 0.03", "0.95"), (250, 3, "0.993 ± 0.004", "0.985")):
        found, svm, seconds, gaps = [], [], [], []
        for seed in range(draws):
            X, truth, known = digits(per_digit, seed)
            y = np.where(known, truth, 0.0)
            problem = ct.Problem(X, y, kernel=ct.RBF(gamma=1 / SIGMA**2), C=HARD, C_unlabeled=HARD, balance=None)
            began = time.perf_counter()
            V, _ = spectral_subspace(problem.gram, y, d, outliers=OUTLIERS)
            point = solve_subspace(labelling(NO_BIAS, problem), V, tol=1e-3)
            seconds.append(time.perf_counter() - began)
            gaps.append((point.value - point.bound) / point.value)
            found.append(roc_auc_score(truth[~known], point.scores[~known]))
            inductive = ct.cccp(ct.svm(fit_intercept=False), problem).scores
            svm.append(roc_auc_score(truth[~known], inductive[~known]))
        results.row(
            4 * per_digit,
            d,
            f"{np.mean(found):.3f} ± {np.std(found):.3f}",
            theirs,
            f"≥ {target}",
            f"{np.mean(svm):.3f} ± {np.std(svm):.3f}",
            "0.75 ± 0.03" if per_digit == 100 else "-",
            f"{np.median(seconds):.2f}",
            f"{max(gaps):.0e}",
        )


def times(results, with_cvxpy):
    """The SDP relaxation by the solver made for it, and through CVXPY."""
    results("", "## The SDP relaxation, soft margin, 20 labelled points like g50c's, σ = 17, C = 10, C* = 1", "")
    results.table("unlabelled", "formulation", "low rank: s", "bound", "gap to its value", "through CVXPY", "s",
                  "value", "safe bound")  # fmt: skip
    forms = {
        "hinge, no bias": NO_BIAS,
        "hinge, balance": ct.cccp_tsvm(0.0),
        "squared hinge, balance": ct.s3vm(),
    }
    for n_unlabeled, (title, formulation) in ((n, form) for n in (100, 500) for form in forms.items()):
        X, truth = gaussians(20 + n_unlabeled)
        y = np.where(np.arange(len(truth)) < 20, truth, 0.0)
        search = labelling(formulation, ct.Problem(X, y, kernel=ct.RBF(17.0), C=10, C_unlabeled=1))
        point = solve_low_rank(search)
        cells = [n_unlabeled, title, f"{point.seconds:.2f}", f"{point.bound:.5f}"]
        cells.append(f"{(point.value - point.bound) / point.value:.0e}")
        runs = []
        if n_unlabeled == 100:
            runs = [("dual form, SCS", DualSDP, {"solver": "SCS", "eps": 1e-6, "max_iters": 20_000})]
            if "SDPA" in cp.installed_solvers():
                runs.append(("dual form, SDPA", DualSDP, {"solver": "SDPA"}))
            if with_cvxpy:
                runs.append(("reduced form, Clarabel", ReducedSDP, {"solver": "CLARABEL"}))
        for name, form, options in runs or [("-", None, {})]:
            if form is None:
                results.row(*cells, "-", "-", "-", "-")
                continue
            began = time.perf_counter()
            model = form(search)
            try:
                model.problem.solve(**options)
            except cp.SolverError:
                results.row(*cells, name, "-", "failed", "-")
                continue
            seconds = time.perf_counter() - began
            if form is DualSDP:
                safe = ct.relaxations.transduction_bound(search, model.alpha.value, model.multipliers.value)
            else:
                multipliers = stationary_multipliers(search, model.alpha, model.reduced())
                safe = ct.relaxations.transduction_bound(search, model.alpha, multipliers)
            results.row(*cells, name, f"{seconds:.1f}", f"{model.problem.value:.5f}", f"{safe:.5f}")


def spectral(results):
    """§4 on MNIST's test part."""
    file = np.load(DATA / "mnist.npz")
    test = slice(int(file["n_train"]), None)
    X, truth = file["X"][test] / 255.0, np.where(np.isin(file["y"][test], (3, 5, 8)), 1.0, -1.0)
    known = np.zeros(len(truth), dtype=bool)
    known[np.random.default_rng(0).permutation(len(truth))[:100]] = True
    began = time.perf_counter()
    graph = kneighbors_graph(X, 10)
    graph = graph.maximum(graph.T)
    made = time.perf_counter() - began
    V, _ = spectral_subspace(graph, np.where(known, truth, 0.0), 20)
    seconds = time.perf_counter() - began
    weights, *_ = np.linalg.lstsq(V[known], truth[known], rcond=None)
    error = np.mean(np.sign(V[~known] @ weights) != truth[~known])
    results("", "## Constrained spectral transduction: MNIST's test part, 3, 5, 8 against the rest, 100 labels", "")
    results.table("points", "d", "s", "of these, the graph of 10 neighbours", "error of a linear fit on V, %")
    results.row(len(truth), 20, f"{seconds:.1f}", f"{made:.1f}", f"{100 * error:.1f}")


def main():
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--cvxpy", action="store_true", help="Clarabel on the reduced form as well")
    options = parser.parse_args()
    compile_native()
    results = Results("debie2004", "De Bie and Cristianini (2004)")
    reproduction(results, options.draws)
    times(results, options.cvxpy)
    spectral(results)
    results.done()


if __name__ == "__main__":
    main()
