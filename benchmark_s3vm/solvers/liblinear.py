"""liblinear, through scikit-learn's ``LinearSVC``."""

from benchmark_utils.peers import LabelledOnly
from sklearn.svm import LinearSVC


class Solver(LabelledOnly):
    """The linear SVM of the labelled points, whose bias is regularized, the less the larger ``intercept_scaling``."""

    name = "liblinear"
    requirements = ["pip::scikit-learn"]
    parameters = {"intercept_scaling": [1.0], "tol": [1e-4]}
    linear = True
    losses = ("hinge", "squared_hinge")

    def fit(self, task, X, y):
        """Train, with scikit-learn's defaults."""
        loss = "squared_hinge" if task.squared else "hinge"
        svc = LinearSVC(C=task.C, loss=loss, dual="auto", tol=self.tol, intercept_scaling=self.intercept_scaling)
        svc.fit(X, y)
        return {"weights": svc.coef_.ravel(), "bias": float(svc.intercept_[0])}
