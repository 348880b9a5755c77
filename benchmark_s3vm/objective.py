"""The objective: one S3VM problem, or its convex supervised part."""

import numpy as np
from benchmark_utils.judging import Judge
from benchmark_utils.task import Task
from benchopt import BaseObjective

LOSSES = ("hinge", "ramp", "squared_hinge", "flat", "exp")


class Objective(BaseObjective):
    """½ ‖w‖² + C Σ ℓ(y_i f_i) over labelled points + C* Σ ℓ*(f_i) over unlabelled ones, under a mean output.

    Parameters
    ----------
    formulation, balance : ("s3vm" or "svm", "labeled", "none" or float)
        "svm" is the convex problem of the labelled points alone.  The balance is the mean output over the unlabelled
        points: the mean of the known labels, a number, or nothing.
    loss : {"hinge", "ramp", "squared_hinge", "flat", "exp"}
        The pair of losses that ``convex_tsvm.tsvm`` knows by this name.
    C : float
    C_unlabeled : float or "balanced"
        C*; "balanced" is C L / U.
    sigma : float, "linear" or "scale"
        Width of the Gaussian kernel; "scale" is scikit-learn's rule γ = 1 / (d Var X).
    """

    name = "S3VM"
    url = "https://example.org/convex_tsvm/benchmark_s3vm"  # PLACEHOLDER, as in pyproject.toml
    min_benchopt_version = "1.10"
    requirements = ["pip::convex_tsvm", "pip::python-flint"]
    sampling_strategy = "run_once"
    test_dataset_name = "gaussians"

    parameters = {
        "formulation, balance": [("s3vm", "labeled"), ("svm", "none")],
        "loss": ["hinge"],
        "C": [1.0],
        "C_unlabeled": ["balanced"],
        "sigma": ["linear"],
    }

    def set_data(self, X, y, truth, missing=None):
        """Take the points, the labels that are shown, and the truth, which only the judge sees."""
        labeled, unlabeled = np.flatnonzero(y), np.flatnonzero(y == 0)
        given = {"labeled": float(y[labeled].mean()), "none": None}
        self.task = Task(
            X=X,
            y=y,
            formulation=self.formulation,
            loss=self.loss,
            C=float(self.C),
            C_unlabeled=self.C * len(labeled) / len(unlabeled) if self.C_unlabeled == "balanced" else self.C_unlabeled,
            sigma=self._width(X),
            target=given.get(self.balance, self.balance),
        )
        self.judge = Judge(self.task, truth)

    def _width(self, X):
        if self.sigma == "linear":
            return None
        if self.sigma == "scale":
            mean_of_squares = float(X.multiply(X).mean() if hasattr(X, "multiply") else (X**2).mean())
            return float(np.sqrt(X.shape[1] * (mean_of_squares - float(X.mean()) ** 2) / 2))
        return float(self.sigma)

    def skip(self, X, y, truth, missing=None):
        """Say no to data that is not there, and to losses that there are not."""
        if missing is not None:
            return True, missing
        if self.loss not in LOSSES:
            return True, f"loss={self.loss!r} must be one of {', '.join(LOSSES)}"
        return False, None

    def get_objective(self):
        """Hand the task to a solver, as plain numbers."""
        return {"task": self.task}

    def evaluate_result(self, **result):
        """Judge a result; see ``benchmark_utils/judging.py``."""
        return self.judge(**result)

    def get_one_result(self):
        """A result that is always there: the function that is zero."""
        return {"coefficients": np.zeros(len(self.task.y)), "bias": 0.0}
