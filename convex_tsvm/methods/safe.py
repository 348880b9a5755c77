"""Safe labels of several low-density separators (Li and Zhou 2015), and where separators come from."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..deadline import unlimited
from ..formulations import Formulation
from ..formulations.s4vm import SafeLabels
from ..instance import Instance, StepSolution
from ..notice import warn
from ..problem import Array, Problem
from ..solution import Solution
from ..solvers import NativeSolver
from ..ties import falling
from ..validation import integer
from .cccp import CCCP, supervised_svms
from .descents import Descents
from .left_out import without_parts
from .run import STOPPED
from .settings import Settings
from .shares import spoilt


@dataclass(frozen=True, eq=False, repr=False)
class SafeSolution(Solution):
    """Safe labels; its decision function is the SVM trained on them.

    Attributes
    ----------
    safe : SafeLabels or None
        The problem that the labels solve: the separators' labels of the unlabelled points, and the supervised SVM's.
    worst_improvement : float
        Points by which the labels are better than the supervised SVM's, weighted, if one of the separators has the true
        labels, whichever it is: a bound under that assumption, which nothing proves.  At least 0.
    separators : tuple of Solution
        The low-density separators that were candidates; none if all were wrong at more of the labelled points than the
        supervised SVM, or had impossible shares of the classes.
    left_out_errors : (int, int), or None
        Errors at labels that were left out, of labels found in this way and of the supervised SVM's; None if none were.
    given_up : bool
        Whether the labels are the supervised SVM's because the former are more than chance explains.

    Examples
    --------
    >>> solution = ct.safe_transduction(ct.s3vm(), problem, n_starts=5)
    >>> solution.worst_improvement >= 0, len(solution.separators) >= 1
    (True, True)
    """

    safe: SafeLabels | None = None
    worst_improvement: float = 0.0
    separators: tuple[Solution, ...] = field(default=())
    left_out_errors: tuple[int, int] | None = None
    given_up: bool = False


class _Asked(NamedTuple):
    """What separators are asked for, by the arguments of :func:`safe_transduction`."""

    formulation: Formulation
    n_separators: int
    n_starts: int
    random_state: int


def _separators(
    asked: _Asked, problem: Problem, alone: Solution, callback: Callable[[int], None] | None = None
) -> tuple[tuple[Solution, ...], str]:
    """Different local minima of a formulation, from many starts (Li and Zhou 2015, §3.1), and a status.

    One start is the supervised SVM ``alone``, one is annealed, and the others are labels drawn at random, near the
    SVM's and far from them.  The status is "converged", or that of the start that Ctrl-C or a deadline ended; later
    starts are left out then.
    """
    formulation, n_separators, n_starts, random_state = asked
    n_separators, n_starts = integer("n_separators", n_separators, least=1), integer("n_starts", n_starts, least=1)
    random, unknown = np.random.default_rng(random_state), problem.unlabeled
    descents, annealed = (
        Descents(CCCP(steps), solver="auto", settings=Settings(1e-3, 100, None), options={}) for steps in (None, 10)
    )
    outputs = alone.scores

    def descend(k: int) -> Solution:
        if k < 2:
            return (descents, annealed)[k].solve(formulation, problem)[0]
        # The share of noise grows from start to start, up to 1; its deviation is that of the SVM's outputs.
        share = (k - 1) / (n_starts - 2)
        noise = random.standard_normal(len(unknown)) * max(float(outputs[unknown].std()), 1e-12)
        start = outputs.copy()
        start[unknown] = (1 - share) * outputs[unknown] + share * noise
        return descents.solve(formulation, problem, start=2 * start / max(np.abs(start).max(), 1e-300))[0]

    found: list[Solution] = []
    status = "converged"
    with warnings.catch_warnings(action="ignore"):
        for k in range(n_starts):
            try:
                solution = descend(k)
            except KeyboardInterrupt:
                if not found:
                    raise
                status = "interrupted"
                break
            if solution.status in STOPPED:
                status = solution.status
            if not found or status == "converged":
                found.append(solution)
            if status != "converged":
                break
            if callback is not None:
                callback(k + 1)
    if status != "converged":
        warn(f"{status}: separators are chosen among {len(found)} starts, in place of {n_starts}")
    return _different(found, unknown, n_separators, random_state), status


def _different(
    solutions: Sequence[Solution], unknown: Any, n_separators: int, random_state: int
) -> tuple[Solution, ...]:
    """Solutions with different labels, the lowest objective first: all of them, if they are at most ``n_separators``.

    Of more, labels are divided into so many clusters by k-means, and the best solution of each is taken.
    """
    from sklearn.cluster import KMeans

    ordered = [solutions[i] for i in falling([-one.objective for one in solutions])]
    labels = np.array([one.labels[unknown] for one in ordered])
    _, first = np.unique(labels, axis=0, return_index=True)
    ordered, labels = [ordered[i] for i in np.sort(first)], labels[np.sort(first)]
    if len(ordered) <= n_separators:
        return tuple(ordered)
    clusters = KMeans(n_separators, n_init=3, random_state=random_state).fit_predict(labels)
    return tuple(one for i, one in enumerate(ordered) if clusters[i] not in clusters[:i])


def safe_transduction(
    formulation: Formulation,
    problem: Problem,
    *,
    separators: Sequence[Solution] | None = None,
    n_separators: int = 10,
    n_starts: int = 30,
    penalty: float = 3.0,
    share_range: tuple[float, float] = (0.0, 1.0),
    folds: int = 5,
    random_state: int = 0,
    callback: Callable[[int], None] | None = None,
) -> SafeSolution:
    """Labels that improve on the supervised SVM's if one of several separators is right: S4VM (Li and Zhou 2015).

    The paper's guarantee holds if the true labels are those of one of the separators.  Where they are none of them it
    says nothing; so a separator has to be as good as the supervised SVM at the labelled points, with possible shares of
    the classes, and the labels found are given up for the SVM's if labels left out speak against them.

    Parameters
    ----------
    formulation : Formulation
        A TSVM whose losses are those of labels, such as ``tsvm("hinge")``.
    separators : sequence of Solution, optional
        Low-density separators of the problem from elsewhere, such as annealing or exact search; by default different
        local minima of the formulation, from the supervised SVM, annealing, and labels drawn at random.
    n_separators, n_starts : int >= 1, default 10 and 30
        T, the most separators, of as many clusters of labels by k-means the best each; and starts that they are from.
    callback : callable, optional
        Called with the number of starts that are done.
    penalty : float >= 0, default 3.0
        λ: what a label that is spoilt costs, in labels that are corrected.
    share_range : (float, float), default (0.0, 1.0)
        The share of positive labels among the unlabelled points that a separator may have; 0 and 1 themselves never.
    folds : int >= 2, or 0, default 5
        Parts of the labelled points that are left out to see whether the labels found are as good as the supervised
        SVM's, with so many times fewer starts each; 0 leaves none out.  Separators from elsewhere are not judged so.

    Examples
    --------
    >>> solution = ct.safe_transduction(ct.s3vm(), problem, n_starts=5)
    >>> solution.labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    began, instance = time.perf_counter(), Instance(formulation, problem)
    formulation.label_loss(compared=True)
    alone = supervised_svms(formulation, [problem])[0]
    judged = separators is None and integer("folds", folds, least=0) > 0
    status = "converged"
    if separators is None:
        asked = _Asked(formulation, n_separators, n_starts, random_state)
        separators, status = _separators(asked, problem, alone, callback)
    for one in separators:
        if len(one.labels) != problem.n:
            raise ValueError(f"separators: one has labels for {len(one.labels)} points, the problem has {problem.n}")
    candidates = [one for one in separators if _may_be_right(one, alone, problem, share_range)]
    safe, labels = _safe_labels(candidates, alone, problem, penalty)
    alike = _with_given(alone.labels, problem)
    changed = not np.array_equal(labels, alike)
    errors, given_up = None, False
    if judged and changed and status == "converged":
        asked = _Asked(formulation, n_separators, max(2, n_starts // folds), random_state)
        errors, given_up = _left_out_errors(asked, problem, folds, penalty, share_range)
    if given_up or not changed:
        labels, point = alike, alone.point
    else:
        with unlimited():
            point = _trained(formulation, problem, labels, alone)
    return SafeSolution(
        formulation=formulation,
        problem=problem,
        point=point,
        objective=instance.objective(point.outputs, point.regularization),
        status=status,
        seconds=time.perf_counter() - began,
        given_labels=labels,
        safe=safe,
        worst_improvement=0.0 if safe is None or given_up else safe.worst(labels[problem.unlabeled]),
        separators=tuple(candidates),
        left_out_errors=errors,
        given_up=given_up,
    )


def _may_be_right(separator: Solution, alone: Solution, problem: Problem, share_range: tuple[float, float]) -> bool:
    """Whether a separator is as good as the supervised SVM at labelled points, and its shares are possible."""
    low, high = share_range
    share = float((separator.labels[problem.unlabeled] > 0).mean())
    return 0 < share < 1 and low <= share <= high and _errors(separator, problem) <= _errors(alone, problem)


def _with_given(labels: Array, problem: Problem) -> Array:
    """Labels of all points, those that are known as given."""
    return np.where(problem.y == 0, labels, problem.y)


def _errors(solution: Solution, problem: Problem) -> int:
    """The number of labelled points whose output has not the sign of the label."""
    known = problem.labeled
    return int((np.sign(solution.point.outputs[known]) != problem.y[known]).sum())


def _safe_labels(
    candidates: Sequence[Solution], alone: Solution, problem: Problem, penalty: float
) -> tuple[SafeLabels | None, Array]:
    """The problem of safe labels and its solution, shape (n,): the supervised SVM's labels if there is no candidate."""
    labels, unknown = _with_given(alone.labels, problem), problem.unlabeled
    if not candidates:
        return None, labels
    safe = SafeLabels(np.array([one.labels[unknown] for one in candidates]), alone.labels[unknown], penalty)
    # Of points at which the same separators differ from the SVM, those are turned first whose outputs are larger in
    # size for the separators, on average, than for the SVM.
    sure: Array = np.mean([np.abs(one.scores[unknown]) for one in candidates], axis=0) - np.abs(alone.scores[unknown])
    labels[unknown] = safe.solve(sure)
    return safe, labels


def _trained(formulation: Formulation, problem: Problem, labels: Array, alone: Solution) -> StepSolution:
    """The SVM of the labels found, with costs of unlabelled points at which it is as right as the supervised SVM.

    Costs are lowered until it is wrong at no more of the given labels than that; the last try is taken in any case.
    """
    known, unknown, most = problem.labeled, problem.unlabeled, _errors(alone, problem)
    # Once they have labels, all points count alike: at a C* of C L / U the bias would be that of the larger class.
    both = [problem.cost[where][problem.cost[where] > 0].mean() for where in (known, unknown)]
    free = problem.replace(balance=None)
    solver = NativeSolver(free)
    for trust in (1.0, 0.3, 0.1, 0.03, 0.01):
        cost = problem.cost.copy()
        cost[unknown] *= trust * both[0] / both[1]
        weighed = free.replace(C=cost, C_unlabeled=cost)
        point = solver.solve(Instance(formulation.balanced_as(weighed), weighed).svm(labels))
        if int((np.sign(point.outputs[known]) != problem.y[known]).sum()) <= most:
            break
    return point


def _left_out_errors(
    asked: _Asked, problem: Problem, folds: int, penalty: float, share_range: tuple[float, float]
) -> tuple[tuple[int, int] | None, bool]:
    """Errors at labels left out, of labels found without them and of the SVM's, and whether the former are too many.

    In place of the errors there is None if no label can be left out.
    """
    random, y = np.random.default_rng(asked.random_state), problem.y
    fold = np.full(problem.n, -1)
    for sign in (1, -1):
        own = random.permutation(np.flatnonzero(y == sign))
        if len(own) > 1:
            fold[own] = np.arange(len(own)) % folds
    left_out = []
    for k, fewer, cost in without_parts(y, problem.cost, fold):
        test = fold == k
        part = problem.replace(balance_sample=None, y=fewer, C=cost, C_unlabeled=cost)
        alone = supervised_svms(asked.formulation, [part])[0]
        found, status = _separators(asked, part, alone)
        if status == "interrupted":
            raise KeyboardInterrupt
        candidates = [one for one in found if _may_be_right(one, alone, part, share_range)]
        _, labels = _safe_labels(candidates, alone, part, penalty)
        left_out.append(np.column_stack([y[test], labels[test], alone.labels[test]]))
    if not left_out:
        return None, False
    whole = np.concatenate(left_out)
    ours, theirs = (int((labels != whole[:, 0]).sum()) for labels in whole[:, 1:].T)
    return (ours, theirs), spoilt(whole, 1.0) is not None  # by one standard deviation of chance
