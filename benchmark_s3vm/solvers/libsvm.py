"""libsvm, through scikit-learn's ``SVC``."""

from benchmark_utils.peers import LabelledOnly, expansion, kernel_of
from sklearn.svm import SVC


class Solver(LabelledOnly):
    """The SVM of the labelled points; its dual variables prove a bound."""

    name = "libsvm"
    requirements = ["pip::scikit-learn"]
    parameters = {"tol": [1e-3]}

    def fit(self, task, X, y):
        """Train, with scikit-learn's defaults."""
        found = expansion(SVC(C=task.C, tol=self.tol, **kernel_of(task)).fit(X, y), len(y))
        return {**found, "dual": found["coefficients"]}
