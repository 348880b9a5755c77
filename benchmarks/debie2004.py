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
import scipy.linalg
from common import DATA, Results, compile_native, gaussians
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import kneighbors_graph
from sklearn.svm import SVC

import convex_tsvm as ct
from convex_tsvm.instance import SideInformation, labelling
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


def inductive(results, draws):
    """What has the area 0.75 that the paper has for the inductive SVM."""
    results("", "## §5: which SVM has 0.75", "")
    results(
        "Areas of the inductive SVM of scikit-learn (C = 10⁴), 400 points: of its outputs, and of the labels that they",
        "are thresholded to.  No outputs are near 0.75; labels are, with a bias and a narrower kernel.",
        "",
    )
    results.table("kernel", "outputs", "labels", "labels, bias left out", "the paper's")
    widths = {"exp(-‖x - z‖² / σ²)": 1 / SIGMA**2, "exp(-‖x - z‖² / (2 σ²))": 0.5 / SIGMA**2,
              "exp(-‖x - z‖² / (2 σ))": 0.5 / SIGMA, "exp(-‖x - z‖² / σ)": 1 / SIGMA}  # fmt: skip
    for name, gamma in widths.items():
        areas = []
        for seed in range(draws):
            X, truth, known = digits(100, seed)
            svm = SVC(C=HARD, gamma=gamma).fit(X[known], truth[known])
            f = svm.decision_function(X[~known])
            scores = (f, np.sign(f), np.sign(f - svm.intercept_))
            areas.append([roc_auc_score(truth[~known], score) for score in scores])
        found = zip(np.mean(areas, axis=0), np.std(areas, axis=0), strict=True)
        results.row(name, *(f"{mean:.3f} ± {spread:.3f}" for mean, spread in found), "0.75 ± 0.03")


def kamvar(A, y, links, d):
    """The d dominant eigenvectors of Kamvar, Klein and Manning (2003), for affinities with what is known written in.

    The affinity of points that are known to be of one class is 1, of different classes 0, and
    N = (A + d_max I - D) / d_max.
    """
    A = np.array(A)
    known = SideInformation.of(y, links)
    B = known.basis
    same = B @ B.T
    A[same > 0], A[same < 0] = 1.0, 0.0
    degree = A.sum(axis=1)
    N = (A + np.diag(degree.max() - degree)) / degree.max()
    return scipy.linalg.eigh(N, subset_by_index=(len(N) - d, len(N) - 1))[1][:, ::-1]


def side_information(results, draws):
    """Footnote 3: spectral methods with labels, and with pairs besides."""
    results("", "## §4, footnote 3: labels and side information in spectral methods", "")
    results(
        "Areas for 400 points, 20 labelled, and pairs of which is known whether they are of one class.  The vectors",
        "are scored by the direction between the means of the labelled points, in units of their spreads.",
        "",
    )
    results.table("d", "pairs", "constrained (ours)", "Kamvar et al. 2003", "plain", "subspace SDP with the pairs")
    for d, pairs in ((4, 0), (4, 50), (4, 200), (4, 400)):
        areas = []
        for seed in range(draws):
            X, truth, known = digits(100, seed)
            y = np.where(known, truth, 0.0)
            rng = np.random.default_rng(seed)
            two = [rng.choice(len(y), 2, replace=False).tolist() for _ in range(pairs)]
            links = [(ct.must_link if truth[i] == truth[j] else ct.cannot_link)(i, j) for i, j in two]
            problem = ct.Problem(X, y, kernel=ct.RBF(gamma=1 / SIGMA**2), C=HARD, C_unlabeled=HARD, balance=None)
            V, _ = spectral_subspace(problem.gram, y, d, outliers=OUTLIERS, links=links)
            plain, _ = spectral_subspace(problem.gram, y, d, constrained=False)
            scores = [scored(vectors, y) for vectors in (V, kamvar(problem.gram, y, links, d), plain)]
            scores.append(solve_subspace(labelling(NO_BIAS, problem), V, tol=1e-3).scores)
            hidden = SideInformation.of(y, links).y == 0
            areas.append([roc_auc_score(truth[hidden], score[hidden]) for score in scores])
        found = zip(np.mean(areas, axis=0), np.std(areas, axis=0), strict=True)
        results.row(d, pairs, *(f"{mean:.3f} ± {spread:.3f}" for mean, spread in found))


def scored(V, y):
    """Vectors times the direction between the means of the labelled points of both classes."""
    spread = np.maximum(V.std(axis=0), 1e-300)
    return (V / spread) @ ((V[y > 0].mean(axis=0) - V[y < 0].mean(axis=0)) / spread)


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
    inductive(results, options.draws)
    side_information(results, options.draws)
    times(results, options.cvxpy)
    spectral(results)
    results.done()


if __name__ == "__main__":
    main()
