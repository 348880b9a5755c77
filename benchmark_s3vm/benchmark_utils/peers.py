"""What solvers of labelled points from other packages share."""

from __future__ import annotations

import warnings

import numpy as np
from benchopt import BaseSolver


class LabelledOnly(BaseSolver):
    """A solver of the convex problem of the labelled points, which is a baseline where unlabelled points pay.

    A subclass has ``linear`` and ``losses``, what it takes, and ``fit(task, X, y)``, which returns a result whose
    arrays over points are over those with labels.  None knows of a balance: the judge moves the bias.
    """

    sampling_strategy = "run_once"
    linear = False
    losses = ("hinge",)

    def skip(self, task):
        """Say no to other kernels and other losses of labelled points."""
        if self.linear and task.sigma is not None:
            return True, "it takes the linear kernel only"
        named = "squared_hinge" if task.squared else "hinge"
        if named not in self.losses:
            return True, f"its loss of labelled points is not the {named}"
        return False, None

    def set_objective(self, task):
        """Take the task."""
        self.task = task

    def warm_up(self):
        """Run once, so that what is loaded late is there."""
        self.run_once()

    def run(self, _):
        """Train on the labelled points."""
        known = self.task.labeled
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.result = self.fit(self.task, self.task.X[known], self.task.y[known])

    def get_result(self):
        """The function over all points."""
        return {
            name: spread(value, self.task) if name in ("coefficients", "dual") else value
            for name, value in self.result.items()
        }


def spread(values, task):
    """An array over the labelled points as one over all points, with 0 for the others."""
    found = np.zeros(len(task.y))
    found[task.labeled] = values
    return found


def expansion(svc, n):
    """The coefficients and the bias of a fitted ``SVC`` over the n points that it was fitted to.

    Its classes are in increasing order, and the last one is positive.
    """
    a = np.zeros(n)
    a[svc.support_] = np.asarray(svc.dual_coef_.todense() if hasattr(svc.dual_coef_, "todense") else svc.dual_coef_)
    return {"coefficients": a, "bias": float(svc.intercept_[0])}


def kernel_of(task):
    """How ``SVC`` is told the kernel."""
    return {"kernel": "linear"} if task.sigma is None else {"kernel": "rbf", "gamma": task.kernel_width}
