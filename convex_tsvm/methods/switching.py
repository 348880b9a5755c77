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

#: C* is raised from this share of it, by this factor each time (chapelle2008 Algorithm 1); in reheats from the last.
FIRST, RATIO, WARM = 1e-5, 1.5, 0.03

#: Rounds at fixed costs that do not lower the objective, after which rounding is all that moves it.
STALLS = 10


class Switching(Method):
    """The procedure with its settings (see :func:`switching`)."""

    name = "switching"
    keeps_number = True

    def __init__(
        self, annealing: int | Sequence[float] | None = None, max_pairs: int | None = None, reheats: int = 0
    ) -> None:
        self.scales = growing(FIRST, RATIO) if annealing is None else annealing_schedule(annealing)
        self.max_pairs = None if max_pairs is None else integer("max_pairs", max_pairs, least=1)
        self.reheats = integer("reheats", reheats, least=0)
        self.best = self.reheats > 0

    def descend(self, run: Run) -> str:
        """SVMs of all points' labels, and exchanges of labels, for every factor on C*."""
        run.instance.formulation.label_loss()  # complains about a loss without labels
        outputs = run.envelope().outputs if run.start is None else run.start
        labels, status = run.instance.best_labels(outputs), "converged"
        for scale in self.scales:
            status, labels = settle(run, labels, float(scale), self.max_pairs)
        for _ in range(self.reheats):
            before = run.history[-1].objective
            for scale in self.scales[self.scales >= WARM]:
                status, labels = settle(run, labels, float(scale), self.max_pairs)
            if run.history[-1].objective >= before:
                break
        return status


def settle(run: Run, labels: Array, scale: float = 1.0, max_pairs: int | None = None) -> tuple[str, Array]:
    """Rounds of SVMs and exchanges at fixed costs until no exchange lowers the objective; status and labels."""
    instance, cost = run.instance, run.instance.scaled_cost(scale)
    changed, before, exact, n_stalls = np.zeros(0, dtype=np.intp), np.inf, not run.improves, 0
    for _ in range(run.settings.max_iter):
        point = (run.solve if exact else run.improve)(instance.svm(labels, cost))
        losses = instance.losses_of_labels(point.outputs, labels)
        now, full = (point.regularization + instance.total(losses, c) for c in (cost, instance.problem.cost))
        stalls = not now < before
        n_stalls += stalls
        if stalls and len(changed):
            # Below the inner solver's accuracy: the labels before were as good.
            labels[changed], changed = -labels[changed], changed[:0]
            if exact:
                return "converged", labels
            exact = True
            continue
        known = {"step_objective": now, "objective": full}
        run.record(point, stage=scale, changed=len(changed), labels=labels.copy(), **known)
        changed = exchanges(instance, point.outputs, labels, cost, max_pairs)
        settled = len(changed) == 0 and (exact or stalls or point.status == "optimal")
        if (settled and (exact or scale < 1)) or n_stalls > STALLS:
            return "converged", labels
        # The last point is to be one that the solver answers for.
        exact, before = settled or not run.improves, now
        labels[changed] *= -1
    return "max_iter", labels


def exchanges(
    instance: Instance, outputs: Array, labels: Array, cost: Array, most: int | None = None
) -> NDArray[np.intp]:
    """Unlabelled points whose labels are to be changed: at fixed outputs that lowers the objective.

    Where the number of positive labels is prescribed these are pairs, one label of each sign, that satisfy chapelle2008
    eq. 6, those that gain most first, ``most`` of them at most; otherwise single points.  A new SVM can only be better
    still, so that no labelling comes twice.  ``outputs``, ``labels`` and ``cost`` are of all points, shape (n,).
    """
    points = instance.problem.unlabeled
    f, y = outputs[points], labels[points]
    # What a point saves with its other label.
    gain = cost[points] * (instance.losses_of_labels(f, y) - instance.losses_of_labels(f, -y))
    if instance.n_positive is None:
        order = np.flatnonzero(gain > 0)
        return points[order[np.argsort(-gain[order], kind="stable")]][:most]
    is_up = y > 0
    least = 1e-12 * float(np.abs(gain).max(initial=0.0))
    # A point is in no pair that gains if it loses more than the best one of the other sign saves.
    best_up, best_down = (float(gain[sign].max(initial=-np.inf)) for sign in (is_up, ~is_up))
    up, down = np.flatnonzero(is_up & (gain > least - best_down)), np.flatnonzero(~is_up & (gain > least - best_up))
    up, down = up[np.argsort(-gain[up], kind="stable")], down[np.argsort(-gain[down], kind="stable")]
    count = min(len(up), len(down))
    count = int((gain[up[:count]] + gain[down[:count]] > least).sum())
    return points[np.concatenate([up[:count][:most], down[:count][:most]])]


def switching(
    formulation: Formulation,
    problem: Problem,
    *,
    solver: str | StepSolver = "native",
    start: ArrayLike | Solution | None = None,
    annealing: int | Sequence[float] | None = None,
    max_pairs: int | None = None,
    reheats: int = 0,
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
    reheats : int, default 0
        C* is lowered to 3 % in the end, and raised again, up to so many times, as long as that leads to a lower
        objective; the best point is returned.
    max_iter : int, default 1000
        Limit on rounds for each factor.

    Returns
    -------
    Solution
        Its labels have the number of positive ones that was prescribed.
    """
    settings, method = Settings(tol, max_iter, callback), Switching(annealing, max_pairs, reheats)
    return minimize(method, formulation, problem, solver=solver, start=start, settings=settings, options=options)
