"""σ and C of chapelle2008 Table 5 by cross-validation, as the paper chose them: with the labels of all points.

    python benchmarks/chapelle2008_table5.py

Five folds, an RBF SVM (scikit-learn's SVC, one against the rest), and a grid of factors 1/4 to 4 on the paper's σ and
1/100 to 100 on its C.  Nobody else may do so: it says what the classes look like, not what few labels would tell.
"""

import sys
import time

import numpy as np
from common import HERE, Results
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

sys.path.append(str(HERE / "review"))
from datasets import load

FACTORS_SIGMA, FACTORS_C = (0.25, 0.5, 1.0, 2.0, 4.0), (0.01, 0.1, 1.0, 10.0, 100.0)
SETS = ("g50c", "text", "uspst", "isolet", "coil20", "coil3", "2moons")


def main():
    """Search for every set."""
    results = Results("chapelle2008_table5", "σ and C of chapelle2008 Table 5")
    results("Pixels of the COIL images are in [0, 1] here, and σ with them.", "")
    results.table(
        "data", "σ", "the paper's", "C", "the paper's", "error, %", "at the paper's, %", "standard error", "s"
    )
    for name in SETS:
        data = load(name, 0)
        grid = {
            "estimator__gamma": [0.5 / (factor * data.sigma) ** 2 for factor in FACTORS_SIGMA],
            "estimator__C": [factor * data.C for factor in FACTORS_C],
        }
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        began = time.perf_counter()
        search = GridSearchCV(OneVsRestClassifier(SVC()), grid, cv=folds, scoring="accuracy").fit(data.X, data.y)
        mean = search.cv_results_["mean_test_score"]
        spread = search.cv_results_["std_test_score"] / np.sqrt(5)
        parameters = search.cv_results_["params"]
        here = next(
            k
            for k, one in enumerate(parameters)
            if np.isclose(one["estimator__C"], data.C) and np.isclose(one["estimator__gamma"], 0.5 / data.sigma**2)
        )
        best = search.best_params_
        results.row(
            name,
            f"{np.sqrt(0.5 / best['estimator__gamma']):.3g}",
            f"{data.sigma:.3g}",
            f"{best['estimator__C']:.3g}",
            f"{data.C:.3g}",
            f"{100 * (1 - search.best_score_):.1f}",
            f"{100 * (1 - mean[here]):.1f}",
            f"{100 * spread[search.best_index_]:.1f}",
            f"{time.perf_counter() - began:.0f}",
        )
    results.done()


if __name__ == "__main__":
    main()
