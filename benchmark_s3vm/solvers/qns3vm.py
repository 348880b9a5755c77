"""QN-S3VM of Gieseke, Airola, Pahikkala and Kramer, where its module ``qns3vm`` can be imported."""

import importlib.util
import random

import numpy as np
from benchopt import BaseSolver

#: Up to so many unlabelled points its mean output is over all of them.
MOST = 1000


class Solver(BaseSolver):
    """L-BFGS on a logistic loss and exp(-3 f²), which stand for the hinge losses, under the balance that is asked for.

    Its objective is (1/l) Σ ℓ + (λ'/u) Σ exp(-3 f²) + λ ‖w‖².  The module is a single file that is on no package index.
    """

    name = "QN-S3VM"
    requirements = []
    sampling_strategy = "run_once"

    @staticmethod
    def missing():
        """What to do where the module is not there, or None where it is."""
        if importlib.util.find_spec("qns3vm"):
            return None
        return "qns3vm cannot be imported: put the folder of qns3vm.py on PYTHONPATH (no package index has it)"

    def skip(self, task):
        """Say no where the module is not there, and to what it does not take."""
        reason = self.missing() or self._why_not(task)
        return reason is not None, reason

    def _why_not(self, task):
        if task.formulation == "svm":
            return "it is for the S3VM"
        if task.squared:
            return "its loss of labelled points stands for the hinge"
        if hasattr(task.X, "tocsr") or len(task.unlabeled) > MOST:
            return f"it is used for dense points, {MOST} unlabelled ones at most"
        return None

    def set_objective(self, task):
        """Take the task."""
        self.task = task

    def run(self, _):
        """Train."""
        import qns3vm

        task = self.task
        known, unknown = task.labeled, task.unlabeled
        lam = 1 / (2 * len(known) * task.C)
        options = {
            "lam": lam,
            "lamU": task.C_unlabeled * len(unknown) / (len(known) * task.C),
            "estimate_r": 2 * task.positive_share - 1,
            **({"kernel_type": "RBF", "sigma": task.sigma} if task.sigma is not None else {"kernel_type": "Linear"}),
        }
        labels = task.y[known].astype(int).tolist()
        self.model = qns3vm.QN_S3VM(
            task.X[known].tolist(), labels, task.X[unknown].tolist(), random.Random(0), **options
        )
        self.model.train()

    def get_result(self):
        """Its coefficients, from which the mean over the unlabelled points has been taken, and the bias."""
        task = self.task
        order = np.concatenate([task.labeled, task.unlabeled])
        fitted = self.model._QN_S3VM__model
        c = np.asarray(fitted._QN_S3VM_Dense__c).ravel()
        a = np.zeros(len(task.y))
        a[order] = c[:-1]
        a[task.unlabeled] -= c[:-1].sum() / len(task.unlabeled)
        # Its output at one point says what is left, which is the bias.
        first = float(np.asarray(self.model.mygetPreds(task.X[:1].tolist())).ravel()[0])
        return {"coefficients": a, "bias": first - float(task.problem().apply_kernel(a)[0])}
