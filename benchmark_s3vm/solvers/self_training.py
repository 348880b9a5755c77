"""Self-training: scikit-learn's ``SelfTrainingClassifier`` around libsvm."""

import warnings

import numpy as np
from benchmark_utils.peers import expansion, kernel_of
from benchopt import BaseSolver
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC


class Graded(SVC):
    """``SVC`` with logistic probabilities 1 / (1 + exp(-2 f)), as its own are no longer there."""

    def predict_proba(self, X):
        """The probabilities of both classes, shape (n, 2)."""
        positive = 1 / (1 + np.exp(-2 * self.decision_function(X)))
        return np.column_stack([1 - positive, positive])


class Solver(BaseSolver):
    """The SVM that is trained on its own labels of the points that it is sure of, with C for all of them."""

    name = "self_training"
    requirements = ["pip::scikit-learn"]
    parameters = {"threshold": [0.75]}
    sampling_strategy = "run_once"

    def skip(self, task):
        """Say no where there is nothing to label."""
        if task.formulation == "svm":
            return True, "the convex problem has no labels to be found"
        return (True, "its loss of labelled points is not the squared_hinge") if task.squared else (False, None)

    def set_objective(self, task):
        """Take the task."""
        self.task = task

    def warm_up(self):
        """Run once, so that what is loaded late is there."""
        self.run_once()

    def run(self, _):
        """Train; scikit-learn marks unlabelled points by -1, so that the classes are 0 and 1."""
        task = self.task
        y = np.where(task.y == 0, -1, (task.y > 0).astype(int))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            svc = Graded(C=task.C, **kernel_of(task))
            self.fitted = SelfTrainingClassifier(svc, threshold=self.threshold).fit(task.X, y)

    def get_result(self):
        """The function of the last SVM, over the points that it was trained on."""
        trained = np.flatnonzero(self.fitted.transduction_ != -1)
        found = expansion(self.fitted.estimator_, len(trained))
        a = np.zeros(len(self.task.y))
        a[trained] = found["coefficients"]
        return {"coefficients": a, "bias": found["bias"]}
