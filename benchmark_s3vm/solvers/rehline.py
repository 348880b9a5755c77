"""ReHLine, by its own scikit-learn classifier."""

import numpy as np
import scipy.sparse as sp
from benchmark_utils.peers import LabelledOnly
from rehline import plq_Ridge_Classifier


class Solver(LabelledOnly):
    """The linear SVM of the labelled points, whose bias ReHLine regularizes, as liblinear does."""

    name = "ReHLine"
    requirements = ["pip::rehline"]
    parameters = {"intercept_scaling": [1.0], "tol": [1e-4]}
    linear = True
    losses = ("hinge", "squared_hinge")

    def fit(self, task, X, y):
        """Train; it takes dense points only."""
        named = "squared SVM" if task.squared else "svm"
        points = X.toarray() if sp.issparse(X) else X
        svc = plq_Ridge_Classifier(
            {"name": named}, C=task.C, tol=self.tol, intercept_scaling=self.intercept_scaling, max_iter=10_000
        ).fit(points, y)
        return {"weights": svc.coef_.ravel(), "bias": float(np.ravel(svc.intercept_)[0])}
