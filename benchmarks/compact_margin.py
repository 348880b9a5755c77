"""Dai and Niu (2010), Table 1: the Compact Margin Machine beside its rivals (an hour; --quick: 3 minutes).

MNIST, 8 against 9: 5 to 200 labelled points a class, 400, 600 and 800 unlabelled ones from the training part, accuracy
on the test part.  The text set of the book "Semi-Supervised Learning" (2006) stands for TDT2: 300 and 600 unlabelled
points, accuracy on the rest.  Ten trials, mean ± standard error.

Parameters by cross-validation on the labelled points only, in at most five folds; a held-out point joins the unlabelled
ones.  The SVM chooses kernel width and C, and all others take them; what else a method has is chosen for it in the same
way, the first of the best: C* (CL/U or C) for TSVM and CMM, ε and C₃ / C* for CMM, ε and C₂ for RMM, the graph's weight
for LapSVM.  LDA and kernel LDA have Ledoit and Wolf's shrinkage, the latter (and LDA on text, whose covariance would be
too large) on all kernel principal components.  RMM is the supervised one (Shivaswamy and Jebara 2008), as in the paper,
RMM+ its semi-supervised extension (eq. 9).
"""

import argparse
import itertools
import warnings

import numpy as np
from common import DATA, Results, compile_native, load
from joblib import Parallel, delayed
from sklearn.decomposition import KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import convex_tsvm as ct

#: The paper's accuracies: labels a class, then by method and number of unlabelled points.
PAPER = {
    "MNIST": {
        "labels": (5, 10, 20, 40, 50, 100, 200),
        "SVM": (71.19, 89.76, 92.36, 94.12, 94.41, 95.32, 95.50),
        "LDA": (84.31, 89.34, 92.13, 93.16, 92.85, 93.23, 93.84),
        "RMM": (84.62, 89.90, 92.58, 94.43, 94.81, 95.95, 96.13),
        ("TSVM", 400): (87.18, 93.54, 95.11, 95.15, 95.20, 95.23, 95.50),
        ("LapSVM", 400): (88.83, 91.68, 93.22, 94.52, 94.63, 95.11, 95.50),
        ("CMM", 400): (88.29, 93.80, 95.07, 95.60, 95.76, 96.10, 96.13),
        ("TSVM", 600): (90.32, 93.59, 94.76, 95.20, 95.26, 95.72, 96.22),
        ("LapSVM", 600): (91.23, 92.31, 93.50, 94.33, 94.69, 95.39, 96.47),
        ("CMM", 600): (90.73, 94.62, 95.27, 95.83, 96.01, 96.33, 96.72),
        ("TSVM", 800): (94.52, 93.86, 94.65, 95.41, 95.45, 96.12, 96.42),
        ("LapSVM", 800): (92.13, 93.44, 94.13, 95.00, 95.20, 95.87, 96.67),
        ("CMM", 800): (91.37, 94.99, 95.70, 96.10, 96.31, 96.63, 96.89),
    },
    "text": {"labels": (5, 15, 50, 150)},
}
#: With more than these, LDA is on principal components.
MANY_FEATURES = 2000
SUPERVISED = ("SVM", "LDA", "kernel LDA", "RMM")
SEMI_SUPERVISED = ("TSVM", "LapSVM", "RMM+", "CMM")
METHODS = SUPERVISED + SEMI_SUPERVISED


def mnist():
    """Points of the training part and of the test part."""
    file = np.load(DATA / "mnist.npz")
    chosen = np.isin(file["y"], (8, 9))
    X, y = file["X"][chosen].astype(float) / 255, np.where(file["y"][chosen] == 8, 0, 1)
    n_train = int(chosen[: int(file["n_train"])].sum())
    return (X[:n_train], y[:n_train]), (X[n_train:], y[n_train:])


def text():
    """All points, to be divided in every trial."""
    X, y, _ = load("ssl_text", "labeled10")
    return (X, (y == y.max()).astype(int)), None


def candidates(method, kernel, C, balanced):
    """Estimators that a method chooses from, the plainest first; ``balanced`` is C L / U."""
    shared = {"kernel": kernel[0], "gamma": kernel[1], "C": C}
    if method == "RMM":
        hard = {"C_compact": np.inf, "semi_supervised": False}
        return [ct.RelativeMarginClassifier(**shared, **hard, epsilon=e) for e in (2.0, 1.5, 1.0)]
    if method == "TSVM":
        return [ct.TransductiveSVC(**shared, loss="hinge", C_unlabeled=cost) for cost in (balanced, C)]
    if method == "LapSVM":
        return [ct.LaplacianSVC(**shared, C_manifold=weight) for weight in (1.0, 10.0, 0.1)]
    if method == "RMM+":
        pairs = itertools.product((balanced, 0.1 * C), (1.0, 1.5))
        return [ct.RelativeMarginClassifier(**shared, C_compact=cost, epsilon=e) for cost, e in pairs]
    return [
        ct.CompactMarginClassifier(**shared, C_unlabeled=cost, C_compact=share * cost, epsilon=e)
        for cost, e, share in itertools.product((balanced, C), (1.0, 1.5), (1.0, 0.1))
    ]


def fit(estimator, X, y):
    """Fitted, without warnings about steps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y)


def choose(estimators, X, y, folds):
    """The first with the most held-out labelled points right, fitted to all."""
    hits = np.zeros(len(estimators))
    for k, estimator in enumerate(estimators):
        for held in folds if len(estimators) > 1 else ():
            masked = y.copy()
            masked[held] = -1
            hits[k] += (fit(estimator, X, masked).transduction_[held] == y[held]).sum()
    return fit(estimators[int(hits.argmax())], X, y)


def trial(data, test, n_labeled, sizes, kernels, seed):
    """Accuracies by method and number of unlabelled points."""
    (X, truth), rng = data, np.random.default_rng(seed)
    labeled = np.concatenate([rng.permutation(np.flatnonzero(truth == k))[:n_labeled] for k in (0, 1)])
    others = rng.permutation(np.setdiff1d(np.arange(len(truth)), labeled))
    n_folds = min(5, n_labeled)
    split = list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(labeled, truth[labeled]))
    known, y_known = X[labeled], truth[labeled]
    grid = [{"kernel": [kind], "gamma": [gamma], "C": [1.0, 10.0, 100.0]} for kind, gamma in kernels]
    svm = GridSearchCV(SVC(), grid, cv=split).fit(known, y_known)
    kernel, C = (svm.best_params_["kernel"], svm.best_params_["gamma"]), svm.best_params_["C"]
    found = {}
    for size in sizes:
        chosen = np.concatenate([labeled, others[:size]])
        points, y = X[chosen], np.concatenate([y_known, np.full(size, -1)])
        X_test, y_test = test if test is not None else (X[others[max(sizes) :]], truth[others[max(sizes) :]])
        folds = [held for _, held in split]
        for method in METHODS:
            if method in SUPERVISED and size != sizes[0]:
                continue
            if method == "SVM":
                model, where = svm, X_test
            elif method in ("LDA", "kernel LDA"):
                model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
                if method == "kernel LDA" or X.shape[1] > MANY_FEATURES:
                    pca = KernelPCA(kernel="linear" if method == "LDA" else kernel[0], gamma=kernel[1])
                    model = make_pipeline(pca, model)
                model, where = model.fit(known, y_known), X_test
            else:
                model, where = choose(candidates(method, kernel, C, 2 * n_labeled * C / size), points, y, folds), X_test
            found[method, "" if method in SUPERVISED else size] = 100 * float((model.predict(where) == y_test).mean())
    return found


def experiment(results, name, data, test, kernels, sizes, labels, n_trials):
    """One half of Table 1."""
    results("", f"## {name}", "")
    results.table("unlabelled", "method", *(f"{n} a class" for n in labels), "mean")
    rows = {}
    for n in labels:
        tried = Parallel(n_jobs=-1)(delayed(trial)(data, test, n, sizes, kernels, seed) for seed in range(n_trials))
        for key in tried[0]:
            rows.setdefault(key, []).append([one[key] for one in tried])
        print(f"{name}: {n} labels a class done", flush=True)
    printed = PAPER[name]
    for (method, size), found in rows.items():
        key = method if method in SUPERVISED else (method, size)
        means, errors = np.mean(found, axis=1), np.std(found, axis=1, ddof=1) / np.sqrt(n_trials)
        cells = (f"{mean:.2f} ± {error:.2f}" for mean, error in zip(means, errors, strict=True))
        results.row(size, method, *cells, f"{means.mean():.2f}")
        if key in printed:
            theirs = [printed[key][printed["labels"].index(n)] for n in labels]
            results.row("", f"{method}, the paper's", *(f"{value:.2f}" for value in theirs), f"{np.mean(theirs):.2f}")
    summary(results, rows)


def summary(results, rows):
    """Where unlabelled points help, and where they hurt."""
    svm = np.mean(rows["SVM", ""], axis=1)
    cmm = np.array([found for (name, _), found in rows.items() if name == "CMM"])
    results("", "Against the SVM, over all numbers of labels and of unlabelled points:", "")
    results.table("method", "mean accuracy", "gained on average", "hurt in", "at worst by", "CMM ahead by")
    for method in METHODS:
        own = np.array([found for (name, _), found in rows.items() if name == method])
        means = own.mean(axis=2)
        gained = means - svm
        # Trials are paired: the same points for both.
        ahead = (cmm - own).mean(axis=(0, 1))
        lead = "-" if method == "CMM" else f"{ahead.mean():+.2f} ± {ahead.std(ddof=1) / np.sqrt(len(ahead)):.2f}"
        results.row(method, f"{means.mean():.2f}", f"{gained.mean():+.2f}", f"{(gained < 0).sum()} of {gained.size}",
                    f"{max(0.0, -gained.min()):.2f}", lead)  # fmt: skip


def main():
    """Both data sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three trials, 400 (300) unlabelled points, three columns")
    parser.add_argument("--only", choices=list(PAPER), help="one of the sets")
    options = parser.parse_args()
    compile_native()
    results = Results("compact_margin", "The Compact Margin Machine and its rivals: accuracy in %")
    results(__doc__.split("\n\n", 1)[1].strip(), "")
    quick = options.quick
    for name, read, kernels, sizes in (
        ("MNIST", mnist, [("rbf", gamma) for gamma in (0.005, 0.01, 0.02)], (400, 600, 800)),
        ("text", text, [("linear", 1.0), ("rbf", 0.5)], (300, 600)),
    ):
        if options.only not in (None, name):
            continue
        data, test = read()
        labels = PAPER[name]["labels"]
        experiment(results, name, data, test, kernels, sizes[:1] if quick else sizes, labels[::2] if quick else labels,
                   3 if quick else 10)  # fmt: skip
    results.done()


if __name__ == "__main__":
    main()
