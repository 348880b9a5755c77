"""Sindhwani and Keerthi (2006), Tables 1.1 to 1.7: objectives, errors and times on many points.

    python benchmarks/sindhwani2006_large.py [--minutes 60] [--report]

kdd99 is the 10 % file of the 1999 KDD Cup, features divided by their standard deviations, with 1000 labels, ten draws,
and all the rows or 9000; DA cools as SVMlin does.  In place of RCV1, which cannot be had, are the 20 newsgroups, as two
problems: computers and sport against the rest, tf-idf, 100 and 1000 labels, with half of the unlabelled documents and
with all, three draws each; DA has our defaults there.  λ = 0.001 and λ' = 1, as in the paper.  Runs that are done are
kept in results/sindhwani2006_large.csv.
"""

import time
import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
from common import HERE, Results, read
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler
from store import Keyed, resume

import convex_tsvm as ct

PATH = HERE / "results" / "sindhwani2006_large.csv"
FIGURES, DRAWS, KDD_DRAWS, LAMBDA = ("error", "objective", "seconds"), 3, 10, 1e-3
METHODS = ("TSVM", "DA", "SVM")

#: land, logged_in, is_host_login, is_guest_login: symbolic features of kdd99, which have one column each in the file.
TWO_VALUES = ("num6", "num11", "num20", "num21")

#: λ times the objective, error in % and minutes of TSVM(S = max), DA and the SVM in Tables 1.3, 1.5 and 1.7.
KDD = {"objective": (0.0066, 0.0063, None), "error": (0.48, 0.22, 0.29), "minutes": (15.0, 143.0, None)}

#: SVMlin's temperatures, until probabilities are settled: with its 10⁻⁶ for ``settled`` ours would end sooner, since a
#: step here is one of Newton's and not a whole SVM.
AS_SVMLIN = {"best": True, "cooling": 1.5, "settled": 1e-8, "certain": 1e-6}

#: The share of kdd99's unlabelled rows that are 9000, and on draws 0 to 5 of these error in % and objective of SVMlin's
#: own C++: TSVM (S = 10⁷) and DA.  Its objective has for each point the nearer label, whatever their number.
FEW = 0.018255
SVMLIN = {
    "TSVM": ((1.03, 0.00336), (1.07, 0.00275), (0.50, 0.00182), (0.49, 0.00187), (0.73, 0.00291), (0.50, 0.00319)),
    "DA": ((0.58, 0.00358), (1.07, 0.00229), (0.68, 0.00224), (0.61, 0.00170), (0.79, 0.00257), (0.58, 0.00327)),
}


@dataclass(frozen=True)
class Fit(Keyed):
    """A method on a draw of labels, with a share of the unlabelled points."""

    data: str
    labels: int
    share: float
    split: int
    method: str


def missing():
    """All fits."""
    kdd = [Fit("kdd99", 1000, share, k, m) for k in range(KDD_DRAWS) for share in (1.0, FEW) for m in METHODS]
    texts = [(name, n, share) for name in ("computers", "sport") for n in (100, 1000) for share in (0.5, 1.0)]
    return kdd + [Fit(*one, split, method) for split in range(DRAWS) for one in texts for method in METHODS]


@cache
def points(name):
    """Points and classes."""
    if name == "kdd99":
        file = read("kdd99")
        return StandardScaler(with_mean=False).fit_transform(file.X).tocsr(), (file.y > 0).astype(int)
    file = read("news20")
    names = np.array([str(one) for one in file.rest["label_names"]])[file.y.astype(int)]
    topic = "comp." if name == "computers" else "rec."
    return TfidfTransformer().fit_transform(file.X).tocsr(), np.char.startswith(names, topic).astype(int)


def run(fit):
    """One fit."""
    warnings.simplefilter("ignore")
    X, truth = points(fit.data)
    order = np.random.default_rng(fit.split).permutation(len(truth))
    known, rest = order[: fit.labels], order[fit.labels :]
    taken = np.concatenate([known, rest[: round(fit.share * len(rest))]])
    X, truth = X[taken], truth[taken]
    y = np.where(np.arange(len(taken)) < fit.labels, truth, -1)
    share = float(truth[fit.labels :].mean())
    options = {"lambda_": LAMBDA, "lambda_unlabeled": 1.0, "positive_fraction": share}
    if fit.method == "SVM":
        options.update(method="cccp", loss=ct.svm(ct.squared_hinge(), balance=None))
    else:
        options.update(method={"TSVM": "switching", "DA": "annealing"}[fit.method])
        if fit.method == "DA" and fit.data == "kdd99":
            options.update(method_options=AS_SVMLIN)
    began = time.perf_counter()
    clf = ct.LinearTransductiveSVC(**options).fit(X, y)
    seconds = time.perf_counter() - began
    error = 100 * float(np.mean(clf.predict(X)[fit.labels :] != truth[fit.labels :]))
    # The paper's objective has ½ before the losses too: λ times ours.
    return {"data": fit.data, "labels": fit.labels, "share": fit.share, "split": fit.split, "method": fit.method,
            "error": error, "objective": LAMBDA * clf.objective_, "seconds": seconds}  # fmt: skip


def means(rows, figure):
    """Means over the draws, by data set, labels, share and method."""
    found = {}
    for (data, labels, share, _, method), row in rows.items():
        found.setdefault((data, int(labels), float(share), method), []).append(row[figure])
    return {key: float(np.mean(values)) for key, values in found.items()}


def in_full():
    """Features and entries a point of kdd99 if features of two values had a column for each, and the bias one."""
    file = read("kdd99")
    two = np.isin(file.rest["feature_names"], TWO_VALUES)
    more = len(TWO_VALUES) + 1  # columns, and entries of each point but for those that there are
    return file.X.shape[1] + more, (file.X.nnz - file.X[:, two].nnz) / file.X.shape[0] + more


def of_kdd(results, rows):
    """kdd99: all rows beside the paper."""
    results("", "## kdd99 (Tables 1.3, 1.5, 1.7)", "")
    results(
        f"Means over {KDD_DRAWS} draws of labels with their standard errors; the paper has one draw, and the least and "
        "the largest error of ours say what one draw is worth.",
        "",
    )
    results.table("figure", *(f"{m}{s}" for m in METHODS for s in ("", ", the paper's")))
    found = {m: [row for key, row in rows.items() if (key[0], key[2], key[4]) == ("kdd99", "1.0", m)] for m in METHODS}
    for name, printed in KDD.items():
        cells = []
        for method, theirs in zip(METHODS, printed, strict=True):
            own = np.array([row["seconds" if name == "minutes" else name] for row in found[method]])
            own = own / 60 if name == "minutes" else own
            shown = f"{own.mean():.4f} ± {own.std(ddof=1) / np.sqrt(len(own)):.4f}" if len(own) > 1 else "-"
            cells += [shown, "-" if theirs is None else theirs]
        results.row({"error": "error, %", "objective": "λ objective"}.get(name, name), *cells)
    ranges = [[row["error"] for row in found[m]] for m in METHODS]
    shown = [f"from {min(one):.2f} to {max(one):.2f}" if one else "-" for one in ranges]
    results.row("errors, %", *(cell for one in shown for cell in (one, "-")))


def beside_svmlin(results, rows):
    """kdd99: 9000 unlabelled rows beside SVMlin's own program."""
    results("", "## kdd99, 9000 unlabelled rows, beside SVMlin's C++", "")
    results(
        "Error in % and λ objective.  SVMlin's objective takes each point's nearer label, ours as many positive labels "
        "as there are, so ours may be higher at the same weights.",
        "",
    )
    results.table("draw", *(f"{m}, {who}" for m in SVMLIN for who in ("ours", "SVMlin's")))
    for k in range(len(SVMLIN["DA"])):
        cells = []
        for method, theirs in SVMLIN.items():
            own = rows.get(Fit("kdd99", 1000, FEW, k, method).key)
            cells.append("-" if own is None else f"{own['error']:.2f} % at {own['objective']:.5f}")
            cells.append("{:.2f} % at {:.5f}".format(*theirs[k]))
        results.row(k, *cells)
    results(
        "",
        "SVMlin's own DA has 0.58 to 1.07 % here, 0.72 in the mean, which is its TSVM's mean, too: the 0.22 % of the "
        "paper come of its rows, their scaling or its one draw of labels, and not of the program.  Two things set ours "
        "apart from SVMlin's.  It returns the point of its path with the least objective of nearer labels, on draws 1, "
        "4 and 5 one that it passed at a temperature of 0.59 (0.00229, 0.00257, 0.00327; at the end 0.00304, 0.00359, "
        "0.00333), where up to 0.4 % too many points are positive; ours are the best with the right number.  And paths "
        "part: on draw 0 both find the same, on draw 4 ours is a poorer minimum.",
    )


def report(rows):
    """The tables of what is done."""
    results = Results("sindhwani2006_large", "Sindhwani and Keerthi (2006): many points")
    results(
        "The paper's TSVM is switching with all pairs, DA annealing.  Objectives are λ times ours, which is what the",
        "paper has; means over the draws that are done.",
        "",
        "## Data sets (Table 1.1)",
        "",
    )
    results.table("data", "features", "entries a point", "points", "share of positive points")
    for name in ("kdd99", "computers", "sport"):
        X, truth = points(name)
        results.row(name, X.shape[1], f"{X.nnz / X.shape[0]:.1f}", X.shape[0], f"{truth.mean():.2f}")
    features, entries = in_full()
    results(
        "",
        f"With two columns for each of kdd99's {len(TWO_VALUES)} features of two values, and one for the bias, "
        f"it has {features} features and {entries:.1f} entries a point; the paper has 17.3.",
    )
    figures = {name: means(rows, name) for name in FIGURES}
    of_kdd(results, rows)
    beside_svmlin(results, rows)
    results("", "## Texts in place of RCV1 (Tables 1.2, 1.4, 1.6)", "")
    results.table(
        "data", "labels", "unlabelled", *(f"{f}, {m}" for f in ("λ objective", "error, %", "s") for m in METHODS)
    )
    for key in dict.fromkeys(key[:3] for key in figures["error"] if key[0] != "kdd99"):
        cells = [figures[name].get((*key, method)) for name in ("objective", "error", "seconds") for method in METHODS]
        cells[2] = None  # the SVM's objective is that of another problem
        shapes = ["{:.4f}"] * 3 + ["{:.2f}"] * 3 + ["{:.1f}"] * 3
        results.row(
            *key[:2],
            f"{100 * key[2]:.0f} %",
            *("-" if c is None else s.format(c) for c, s in zip(cells, shapes, strict=True)),
        )
    results.done()


if __name__ == "__main__":
    resume(__doc__, missing(), run, FIGURES, PATH, report)
