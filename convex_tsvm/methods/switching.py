"""Label switching: S3VMlight of Joachims (1999) as chapelle2008 Algorithm 1 has it, with several pairs a round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..formulations import Formulation
from ..instance import Instance, StepSolver
from ..problem import Array, Problem
from ..solution import Solution
from ..validation import integer
from .frame import Callback, Method, Run, Settings, minimize
from .schedule import annealing_schedule, growing

#: C* is raised from this share of it, each time by this factor (chapelle2008 Algorithm 1).
FIRST, RATIO = 1e-5, 1.5


class Switching(Method):
    """The procedure with its settings (see :func:`switching`)."""

    name = "switching"
    keeps_number = True

    def __init__(self, annealing: int | Sequence[float] | None = None, max_pairs: int | None = None) -> None:
        self.scales = growing(FIRST, RATIO) if annealing is None else annealing_schedule(annealing)
        self.max_pairs = None if max_pairs is None else integer("max_pairs", max_pairs, least=1)

    def descend(self, run: Run) -> str:
        """SVMs of all points' labels, and exchanges of labels, for every factor on C*."""
        run.instance.formulation.label_loss()  # complains about a loss without labels
        outputs = run.envelope().outputs if run.start is None else run.start
        labels, status = run.instance.best_labels(outputs), "converged"
        for scale in self.scales:
            status, labels = self.stage(run, labels, float(scale))
        return status

    def stage(self, run: Run, labels: Array, scale: float) -> tuple[str, Array]:
        """Rounds at fixed costs until no exchange lowers the objective."""
        instance, cost = run.instance, run.instance.scaled_cost(scale)
        changed, before = np.zeros(0, dtype=np.intp), np.inf
        for _ in range(run.settings.max_iter):
            point = run.solve(instance.svm(labels, cost))
            now = run.value(point, labels, cost)
            if now >= before:
                # Below the inner solver's accuracy: the labels before were as good.
                labels[changed] *= -1
                return "converged", labels
            run.record(point, stage=scale, changed=len(changed), step_objective=now, labels=labels.copy())
            changed, before = exchanges(instance, point.outputs, labels, cost, self.max_pairs), now
            if len(changed) == 0:
                return "converged", labels
            labels[changed] *= -1
        return "max_iter", labels


def exchanges(
    instance: Instance, outputs: Array, labels: Array, cost: Array, most: int | None = None
) -> NDArray[np.intp]:
    """Unlabelled points whose labels are to be changed: at fixed outputs that lowers the objective.

    Where the number of positive labels is prescribed these are pairs, one label of each sign, that satisfy chapelle2008
    eq. 6, those that gain most first; otherwise single points.  A new SVM can only be better still, so that no
    labelling comes twice.

    Parameters
    ----------
    instance : Instance
    outputs, labels, cost : array, shape (n,)
    most : int, optional
        Pairs (or points) at most.
    """
    positive, negative = instance.label_losses(outputs)
    gain = cost * labels * (positive - negative)  # what a point saves with its other label
    points = instance.problem.unlabeled
    points = points[np.argsort(-gain[points], kind="stable")]
    if instance.n_positive is None:
        return points[gain[points] > 0][:most]
    up, down = points[labels[points] > 0], points[labels[points] < 0]
    count = min(len(up), len(down))
    saved = gain[up[:count]] + gain[down[:count]]
    count = int((saved > 1e-12 * np.abs(gain[points]).max(initial=0.0)).sum())
    return np.concatenate([up[:count][:most], down[:count][:most]])


def switching(
    formulation: Formulation,
    problem: Problem,
    *,
    solver: str | StepSolver = "native",
    start: ArrayLike | Solution | None = None,
    annealing: int | Sequence[float] | None = None,
    max_pairs: int | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    callback: Callback | None = None,
    **options: Any,
) -> Solution:
    """Minimize over labels by SVMs and exchanges of labels (chapelle2008 Algorithm 1, sindhwani2006 §1.3).

    Parameters
    ----------
    formulation, problem, solver, start, tol, callback, **options
        As in :func:`~convex_tsvm.cccp`; a labelled point's loss is also that of an unlabelled one with a label.  With
        an exact balance, ("exact", r), labels are exchanged in pairs, and the SVMs have no other balance constraint.
    annealing : int or sequence of float, optional
        Factors on C*, as in :func:`~convex_tsvm.cccp`; by default from 10⁻⁵ on, each 1.5 times the one before.
    max_pairs : int, optional
        Pairs exchanged in a round: 1 is the method of Joachims (1999), None all that gain.
    max_iter : int, default 1000
        Limit on rounds for each factor.

    Returns
    -------
    Solution
        Its labels have the number of positive ones that was prescribed.
    """
    settings, method = Settings(tol, max_iter, callback), Switching(annealing, max_pairs)
    return minimize(method, formulation, problem, solver=solver, start=start, settings=settings, options=options)
