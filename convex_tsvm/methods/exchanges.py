"""Exchanges of labels: which lower the objective, rounds of them until none does, and a new start from the best."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..instance import Instance
from ..problem import Array
from ..ties import falling
from .run import Run
from .settings import growing


def settle(
    run: Run, labels: Array, scale: float = 1.0, max_pairs: int | None = None, by_slacks: bool = False
) -> tuple[str, Array]:
    """Rounds of SVMs and exchanges at fixed costs until no exchange lowers the objective; status and labels.

    After some rounds that do not lower it, rounding is all that moves it.  While C* is below its value, the next one
    comes when hardly any labels change.
    """
    instance, cost = run.instance, run.instance.scaled_cost(scale)
    changed, before, exact, n_stalls = np.zeros(0, dtype=np.intp), np.inf, not run.improves, 0
    left = 2e-4 * instance.problem.n_unlabeled if scale < 1 and max_pairs is None else 0.0
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
        changed = exchanges(instance, point.outputs, labels, cost, max_pairs, by_slacks)
        settled = len(changed) == 0 and (exact or stalls or point.status == "optimal")
        if (settled and (exact or scale < 1)) or 0 < len(changed) <= left or n_stalls > 10:
            return "converged", labels
        # The last point is to be one that the solver answers for.
        exact, before = settled or not run.improves, now
        labels[changed] *= -1
    return "max_iter", labels


def reheat(run: Run, labels: Array, most: int, max_pairs: int | None) -> str:
    """Lower C*, raise it again with rounds of exchanges, from the best labels so far, ``most`` times at most; status.

    It is lowered a little as long as that leads to a lower objective, then more: of many points a few more find their
    labels each time, of few points all are where they are or another labelling altogether is better.
    """
    status, depth = "converged", 0
    # The last share leads to other labellings altogether, and of many points to none that was better.
    shares = (0.3, 0.03) if run.instance.problem.n_unlabeled < 20_000 else (0.3,)
    for _ in range(most):
        before = run.best_objective
        for scale in growing(shares[depth], ratio=2.0):
            status, labels = settle(run, labels, float(scale), max_pairs)
        if not run.best_objective < before - 1e-4 * abs(before):
            depth += 1
        if depth == len(shares):
            break
        if run.best_labels is not None:
            labels = run.best_labels.copy()
    return status


def exchanges(
    instance: Instance, outputs: Array, labels: Array, cost: Array, most: int | None = None, by_slacks: bool = False
) -> NDArray[np.intp]:
    """Unlabelled points whose labels are to be changed: at fixed outputs that lowers the objective.

    Where the number of positive labels is prescribed these are pairs, one label of each sign, that satisfy chapelle2008
    eq. 6, those that gain most first, ``most`` of them at most; otherwise single points.  A new SVM can only be better
    still, so that no labelling comes twice.  ``outputs``, ``labels`` and ``cost`` are of all points, shape (n,).
    ``by_slacks`` takes the pairs of Joachims (1999) in place of these, with slacks ξ_i, ξ_j > 0 and ξ_i + ξ_j > 2
    (collobert2006 §3): for the hinge loss those that satisfy eq. 6 and have no point beyond its margin.
    """
    points = instance.problem.unlabeled
    if by_slacks:
        return points[_by_slacks(outputs[points], labels[points], most)]
    f, y = outputs[points], labels[points]
    # What a point saves with its other label.
    gain = cost[points] * (instance.losses_of_labels(f, y) - instance.losses_of_labels(f, -y))
    if instance.n_positive is None:
        order = np.flatnonzero(gain > 0)
        return points[order[falling(gain[order])]][:most]
    is_up = y > 0
    least = 1e-12 * float(np.abs(gain).max(initial=0.0))
    # A point is in no pair that gains if it loses more than the best one of the other sign saves.
    best_up, best_down = (float(gain[sign].max(initial=-np.inf)) for sign in (is_up, ~is_up))
    up, down = np.flatnonzero(is_up & (gain > least - best_down)), np.flatnonzero(~is_up & (gain > least - best_up))
    up, down = up[falling(gain[up])], down[falling(gain[down])]
    return points[_pairs(up, down, gain, least, most)]


def _by_slacks(f: Array, y: Array, most: int | None) -> NDArray[np.intp]:
    """Places of points in pairs, one label of each sign, with slacks > 0 whose sum is above 2, largest first."""
    slack = 1 - y * f
    up, down = (np.flatnonzero((slack > 0) & (y * sign > 0)) for sign in (1, -1))
    up, down = (side[falling(slack[side])] for side in (up, down))
    return _pairs(up, down, slack, 2 * (1 + 1e-12), most)


def _pairs(up: NDArray[np.intp], down: NDArray[np.intp], value: Array, least: float, most: int | None) -> Any:
    """The first of both sides, by falling values, whose values add up to more than ``least``: at most so many pairs."""
    count = min(len(up), len(down))
    count = int((value[up[:count]] + value[down[:count]] > least).sum())
    return np.concatenate([up[:count][:most], down[:count][:most]])
