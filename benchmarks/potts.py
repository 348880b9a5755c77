"""Annealing of all classes at once, with one Potts variable a point, against one class against the rest.

    python benchmarks/potts.py [--minutes 60] [--report]

Ten draws each: three labels of each of the 10 digits of scikit-learn, two of each of the 20 objects of coil20, and 20
of each of the 20 newsgroups (linear, tf-idf).  The true shares of the classes are prescribed to both, and both have the
same options.  Draws that are done are kept in results/potts.csv, so that it may be stopped at any time.
"""

import time
import warnings
from dataclasses import dataclass

import numpy as np
from common import HERE, Results, read
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfTransformer
from store import Keyed, resume

import convex_tsvm as ct

PATH = HERE / "results" / "potts.csv"
FIGURES = ("error_potts", "error_ovr", "error_svm", "objective_potts", "objective_ovr", "apart_ovr", "seconds_potts",
           "seconds_ovr", "off_shares")  # fmt: skip
DRAWS, SETS = 10, {"digits": 3, "coil20": 2, "news20": 20}


@dataclass(frozen=True)
class Draw(Keyed):
    """Labels of one draw of a data set."""

    data: str
    split: int


def points(name):
    """Points and classes."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X / 16.0, y
    file = read(name)
    X = TfidfTransformer().fit_transform(file.X) if name == "news20" else file.X
    return X, np.unique(file.y, return_inverse=True)[1]


def run(draw):
    """Both ways on one draw."""
    warnings.simplefilter("ignore")
    X, truth = points(draw.data)
    K, rng = int(truth.max()) + 1, np.random.default_rng(draw.split)
    known = np.zeros(len(truth), dtype=bool)
    for k in range(K):
        known[rng.choice(np.flatnonzero(truth == k), SETS[draw.data], replace=False)] = True
    y = np.where(known, truth, -1)
    shares = {k: float(np.mean(truth[~known] == k)) for k in range(K)}
    if draw.data == "news20":
        options = {"cooling": 1.5, "settled": 1e-4, "certain": 1e-2}
        made = ct.LinearTransductiveSVC(method="annealing", C=10, positive_fraction=shares, method_options=options)
    else:
        options = {"settled": 1e-4, "certain": 1e-3}
        made = ct.TransductiveSVC(
            method="annealing", C=10, balance=("exact", shares), method_options=options, sigma=widths(X), cache_size=500
        )
    found = {}
    fitted = {}
    for way in ("potts", "ovr"):
        began = time.perf_counter()
        clf = made.__class__(**{**made.get_params(), "multi_class": way}).fit(X, y)
        found[f"seconds_{way}"] = time.perf_counter() - began
        found[f"error_{way}"] = 100 * float(np.mean(clf.transduction_[~known] != truth[~known]))
        fitted[way] = clf
    supervised = made.__class__(**{**made.get_params(), "method_options": None, "method": "cccp"})
    supervised = supervised.set_params(**({"loss": ct.svm(ct.squared_hinge())}))
    found["error_svm"] = 100 * float(np.mean(supervised.fit(X, y).predict(X)[~known] != truth[~known]))
    found["objective_potts"] = sum(one.objective for one in fitted["potts"].solutions_)
    found["apart_ovr"] = sum(one.objective for one in fitted["ovr"].solutions_)
    found["objective_ovr"] = together(fitted["ovr"].solutions_, np.where(known, truth, fitted["ovr"].transduction_))
    counts = np.bincount(fitted["potts"].transduction_[~known], minlength=K)
    found["off_shares"] = float(np.abs(counts - np.bincount(truth[~known], minlength=K)).max())
    return {"data": draw.data, "split": draw.split, "method": "Potts", "error": found["error_potts"],
            "seconds": found["seconds_potts"], **found}  # fmt: skip


def widths(X):
    """σ with γ = 1 / (d Var X), the default."""
    return float(np.sqrt(X.shape[1] * X.var() / 2))


def together(solutions, labels):
    """Σ of the objectives of the SVMs trained on labels of which each point has one."""
    total = 0.0
    for k, one in enumerate(solutions):
        instance, y = one.formulation.on(one.problem), np.where(labels == k, 1.0, -1.0)
        point = ct.cccp(one.formulation.supervised(), one.problem.replace(y=y, C_unlabeled=None, C=one.problem.cost,
                        balance=None, balance_sample=None),
                        solver="finite_newton" if one.problem.is_linear else "auto")  # fmt: skip
        total += instance.labelled_objective(point.point.outputs, point.point.regularization, y)
    return total


def report(rows):
    """The table of what is done."""
    results = Results("potts", "Several classes at once")
    results(
        "Annealing with one Potts variable a point, and one class against the rest; unlabelled error in %, mean and",
        "standard deviation over the draws; the objective is that of labels of which each point has one, Σ over the",
        "classes; in brackets what the classes apart have, of which a point may be in several or in none.",
        "",
    )
    results.table("data", "draws", "Potts: error", "one against the rest", "difference, paired", "SVM",
                  "Potts: objective", "one against the rest", "(apart)", "s", "s",
                  "largest miss of a share")  # fmt: skip
    for name in SETS:
        mine = [row for key, row in rows.items() if key[0] == name]
        if not mine:
            continue
        column = {figure: np.array([row[figure] for row in mine]) for figure in FIGURES}
        gain = column["error_potts"] - column["error_ovr"]
        results.row(
            name,
            len(mine),
            *(f"{column[c].mean():.1f} ± {column[c].std():.1f}" for c in ("error_potts", "error_ovr")),
            f"{gain.mean():+.1f} ± {gain.std(ddof=1) / np.sqrt(len(gain)):.1f}"
            if len(gain) > 1
            else f"{gain.mean():+.1f}",
            f"{column['error_svm'].mean():.1f}",
            *(f"{column[c].mean():.1f}" for c in ("objective_potts", "objective_ovr", "apart_ovr")),
            *(
                "-" if np.isnan(column[c]).all() else f"{np.nanmedian(column[c]):.0f}"
                for c in ("seconds_potts", "seconds_ovr")
            ),
            f"{column['off_shares'].max():.0f}",
        )
    results.done()


if __name__ == "__main__":
    resume(__doc__, [Draw(name, split) for split in range(DRAWS) for name in SETS], run, FIGURES, PATH, report)
