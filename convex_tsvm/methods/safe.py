"""Safe labels of several low-density separators (Li and Zhou 2015), and where separators come from."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..formulations import Formulation
from ..formulations.s4vm import SafeLabels
from ..instance import Instance
from ..problem import Array, Problem
from ..solution import Solution
from ..solvers import NativeSolver
from ..validation import integer
from .cccp import CCCP
from .frame import STOPPED, Descents, Settings
from .supervised import supervised_svms

#: Steps of the annealing of C*, with which one of the separators is found.
ANNEALED = 10


@dataclass(frozen=True, eq=False, repr=False)
class SafeSolution(Solution):
    """Safe labels; its decision function is the SVM trained on them.

    Attributes
    ----------
    safe : SafeLabels or None
        The problem that the labels solve: the separators' labels of the unlabelled points, and the supervised SVM's.
    worst_improvement : float
        Points by which the labels are better than the supervised SVM's in the worst case, weighted; at least 0.
    separators : tuple of Solution
        The low-density separators.

    Examples
    --------
    >>> import numpy as np, convex_tsvm as ct
    >>> X = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], kernel=ct.RBF(1.0), C=10)
    >>> solution = ct.safe_transduction(ct.s3vm(), problem, n_starts=5)
    >>> solution.worst_improvement >= 0, len(solution.separators) >= 1
    (True, True)
    """

    safe: SafeLabels | None = None
    worst_improvement: float = 0.0
    separators: tuple[Solution, ...] = field(default=())


def low_density_separators(
    formulation: Formulation,
    problem: Problem,
    *,
    n_separators: int = 10,
    n_starts: int = 30,
    random_state: int = 0,
    callback: Callable[[int], None] | None = None,
) -> tuple[Solution, ...]:
    """Different local minima of a formulation, from many starts (Li and Zhou 2015, §3.1).

    One start is the supervised SVM, one is annealed, and the others are labels drawn at random, near the SVM's and far
    from them.  The solutions are divided into clusters of labels by k-means, and the best of each is taken.

    Parameters
    ----------
    formulation : Formulation
        A TSVM.
    problem : Problem
    n_separators : int >= 1, default 10
        T.
    n_starts : int >= 1, default 30
    random_state : int, default 0
    callback : callable, optional
        Called with the number of starts that are done.

    Returns
    -------
    tuple of Solution
        At most ``n_separators``, the one with the lowest objective first.

    Examples
    --------
    >>> import numpy as np, convex_tsvm as ct
    >>> X = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], kernel=ct.RBF(1.0), C=10)
    >>> separators = ct.low_density_separators(ct.s3vm(), problem, n_starts=5)
    >>> all(len(one.labels) == len(X) for one in separators)
    True
    """
    alone = supervised_svms(formulation, [problem])[0]
    return _separators(formulation, problem, alone, n_separators, n_starts, random_state, callback)[0]


def _separators(
    formulation: Formulation,
    problem: Problem,
    alone: Solution,
    n_separators: int,
    n_starts: int,
    random_state: int,
    callback: Callable[[int], None] | None,
) -> tuple[tuple[Solution, ...], str]:
    """The same, where the supervised SVM is known, with "converged", or what ended it before all starts were done."""
    n_separators, n_starts = integer("n_separators", n_separators, least=1), integer("n_starts", n_starts, least=1)
    random, unknown = np.random.default_rng(random_state), problem.unlabeled
    descents, annealed = (
        Descents(CCCP(steps), solver="native", settings=Settings(1e-3, 100, None), options={})
        for steps in (None, ANNEALED)
    )
    outputs = alone.scores

    def descend(k: int) -> Solution:
        if k < 2:
            return (descents, annealed)[k].solve(formulation, problem)[0]
        # From a little noise to nothing but noise, in units of the outputs' spread.
        share = (k - 1) / (n_starts - 2)
        noise = random.standard_normal(len(unknown)) * max(float(outputs[unknown].std()), 1e-12)
        start = outputs.copy()
        start[unknown] = (1 - share) * outputs[unknown] + share * noise
        return descents.solve(formulation, problem, start=2 * start / max(np.abs(start).max(), 1e-300))[0]

    found: list[Solution] = []
    status = "converged"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
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
        warnings.warn(f"{status}: of {n_starts} starts {len(found)} are looked at", stacklevel=3)
    return _different(found, unknown, n_separators, random_state), status


def _different(
    solutions: Sequence[Solution], unknown: Any, n_separators: int, random_state: int
) -> tuple[Solution, ...]:
    """The best of each cluster of labels."""
    from sklearn.cluster import KMeans

    ordered = sorted(solutions, key=lambda one: one.objective)
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
    random_state: int = 0,
    callback: Callable[[int], None] | None = None,
) -> SafeSolution:
    """Labels that are never knowingly worse than the supervised SVM's: S4VM (Li and Zhou 2015).

    Parameters
    ----------
    formulation : Formulation
        A TSVM whose losses are those of labels, such as ``tsvm("hinge")``.
    problem : Problem
    separators : sequence of Solution, optional
        Low-density separators of the problem from elsewhere, such as annealing or exact search; by default those of
        :func:`low_density_separators`.
    n_separators, n_starts, random_state, callback
        As in :func:`low_density_separators`.
    penalty : float >= 0, default 3.0
        λ: what a label that is spoilt costs, in labels that are corrected.

    Returns
    -------
    SafeSolution

    Raises
    ------
    ValueError
        If the formulation has no loss of labels, or an argument is not as stated.

    Examples
    --------
    >>> import numpy as np, convex_tsvm as ct
    >>> X = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], kernel=ct.RBF(1.0), C=10)
    >>> solution = ct.safe_transduction(ct.s3vm(), problem, n_starts=5)
    >>> solution.labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    began, instance = time.perf_counter(), Instance(formulation, problem)
    formulation.label_loss()
    alone = supervised_svms(formulation, [problem])[0]
    status = "converged"
    if separators is None:
        separators, status = _separators(formulation, problem, alone, n_separators, n_starts, random_state, callback)
    unknown = problem.unlabeled
    for one in separators:
        if len(one.labels) != problem.n:
            raise ValueError(f"separators: one has labels for {len(one.labels)} points, the problem has {problem.n}")
    safe = SafeLabels(np.array([one.labels[unknown] for one in separators]), alone.labels[unknown], penalty)
    # Of points that are alike those are turned first that the separators are surer of than the SVM.
    sure: Array = np.mean([np.abs(one.scores[unknown]) for one in separators], axis=0) - np.abs(alone.scores[unknown])
    labels = np.where(problem.y == 0, 1.0, problem.y)
    labels[unknown] = safe.solve(sure)
    # Once they have labels, all points count alike: at a C* of C L / U the bias would be that of the larger class.
    cost = problem.cost.copy()
    both = [cost[where][cost[where] > 0].mean() for where in (problem.labeled, unknown)]
    cost[unknown] *= both[0] / both[1]
    free = problem.replace(balance=None, C_unlabeled=cost)
    point = NativeSolver(free).solve(Instance(formulation.balanced_as(free), free).svm(labels))
    return SafeSolution(
        formulation=formulation,
        problem=problem,
        point=point,
        objective=instance.objective(point.outputs, point.regularization),
        status=status,
        seconds=time.perf_counter() - began,
        given_labels=labels,
        safe=safe,
        worst_improvement=safe.worst(labels[unknown]),
        separators=tuple(separators),
    )
