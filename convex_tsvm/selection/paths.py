"""The cost of unlabelled points, or the shares of the classes, chosen along a path on which they change.

That of the cost is from sindhwani2006 §1.5, that of shares from Selvaraj et al. (2012).
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ..deadline import within
from ..decision import chosen_classes
from ..estimators.labels import Labels
from ..methods.run import unless_interrupted
from ..problem import Array
from ..solution import Solution
from ..ties import falling
from ..validation import finite
from .fits import Steps
from .splits import left_out


@dataclass(frozen=True, eq=False)
class CostPath:
    """Errors at labelled points that were left out, along a path on which C* rises.

    Attributes
    ----------
    factors : array, shape (m,)
        On the C* that was asked for, increasing.
    costs : array, shape (m,)
        C*, its mean over the unlabelled points.
    left_out_error : array, shape (m,)
        Share of the labelled points left out that are labelled wrongly, in [0, 1].
    n_left_out : int
        Number of these points.
    estimator : object
        The estimator with the chosen cost, not fitted.

    Examples
    --------
    >>> path = ct.selection.cost_path(ct.TransductiveSVC(balance=0.0), points, few, factors=(0.01, 0.1, 1), cv=2)
    >>> path.chosen, path.left_out_error
    (1.0, array([0., 0., 0.]))
    """

    factors: Array
    costs: Array
    left_out_error: Array
    n_left_out: int
    estimator: Any

    @property
    def standard_error(self) -> Array:
        """Of ``left_out_error``, by the number of points, shape (m,)."""
        return np.sqrt(self.left_out_error * (1 - self.left_out_error) / self.n_left_out)

    @property
    def chosen(self) -> float:
        """The largest of the factors with the least error: where labels do not tell, C* is what was asked for."""
        least = self.left_out_error <= self.left_out_error.min() + 1e-9
        return float(self.factors[least][-1])

    def __str__(self) -> str:
        lines = ["  factor        C*  error at labels left out"]
        for k, factor in enumerate(self.factors):
            error, spread = 100 * self.left_out_error[k], 100 * self.standard_error[k]
            mark = "  chosen" if factor == self.chosen else ""
            lines.append(f"{factor:8.4g}  {self.costs[k]:8.4g}  {error:5.1f} ± {spread:.1f} %{mark}")
        return "\n".join(lines)


def cost_path(
    estimator: Any, X: Any, y: ArrayLike, *, factors: Sequence[float] | None = None, cv: int = 5, random_state: int = 0
) -> CostPath:
    """Let the cost C* of unlabelled points rise, and choose it by the labelled points that are left out.

    As C* rises each solution starts where the one before ended, so that a path costs little more than one fit.  With
    small costs it is the supervised SVM: where classes are no clusters, the best C* is small (sindhwani2006 §1.5).
    ``path.estimator.fit(X, y)`` fits with what the path chose.  Ctrl-C is raised again, as a part of a path
    chooses nothing.

    Parameters
    ----------
    estimator : TransductiveSVC, LinearTransductiveSVC, CompactMarginClassifier or RelativeMarginClassifier
        Or a pipeline that ends in one, whose transformers are fitted to all points.  Its ``C_unlabeled`` (or
        ``lambda_unlabeled``) is the end of the path.
    X : array, sparse matrix or DataFrame, shape (n, n_features)
    y : array, shape (n,)
        Labels, with the estimator's ``unlabeled`` where unknown.
    factors : sequence of float > 0, optional
        On C*; by default ten from 1/1000 to 1.
    cv : int, default 5
        Folds of the labelled points, fewer if the largest class has fewer labels.
    random_state : int, default 0
        Of the folds.

    Examples
    --------
    >>> path = ct.selection.cost_path(ct.TransductiveSVC(balance=0.0), points, few, factors=(0.01, 1), cv=2)
    >>> path.estimator.fit(points, few).score(points, truth) > 0.9
    True
    """
    factors = np.geomspace(1e-3, 1, 10).tolist() if factors is None else factors
    tried = np.unique([finite("factors", factor, above=0) for factor in factors])
    steps = Steps.of(estimator)
    if not hasattr(steps.classifier, "_descents"):
        raise ValueError(f"estimator={estimator!r} must be one that minimizes by a descent, such as TransductiveSVC")
    own, labels, first = steps.begun(X, y, "C* is the cost of unlabelled points")
    if not left_out(labels, cv, random_state):
        raise ValueError("y has one labelled point of each class: none can be left out to choose by")
    if not first.cost[first.unlabeled].any():
        raise ValueError(f"estimator={estimator!r} has unlabelled points that cost nothing: there is no C* to choose")
    labels = own._with_shares(first, labels)
    wrong, n = np.zeros(len(tried)), 0
    with warnings.catch_warnings(action="ignore"):
        for left, test in left_out(labels, cv, random_state):
            scores = np.array([_scores(own, first, left, k, tried, test) for k in labels.positives])
            wrong += [np.count_nonzero(chosen_classes(one.T) != labels.index[test]) for one in scores.swapaxes(0, 1)]
            n += len(test)
    costs = first.cost[first.unlabeled]
    path = CostPath(tried, tried * float(costs.mean()), wrong / n, n, None)
    return replace(path, estimator=_with_factor(estimator, steps, path.chosen, costs))


def _scores(own: Any, first: Any, labels: Labels, k: int, tried: Array, test: NDArray[np.intp]) -> Array:
    """Outputs of class k at the points left out, shape (m, n_test), one row for each factor."""
    problem = own._other_class(first, labels, k)
    formulation = own._formulation(problem)
    rows: list[Array] = []
    known: list[Any] = []
    before: Solution | None = None
    with within(own.time_limit):
        descents = own._descents(formulation)
        for factor in tried.tolist():
            cost = np.where(problem.y == 0, factor * problem.cost, problem.cost)
            found, known = descents.solve(formulation, problem.replace(C=cost, C_unlabeled=cost), known, before)
            unless_interrupted([found])
            before = found
            rows.append(found.scores[test])
    return np.array(rows)


def _with_factor(estimator: Any, steps: Steps, factor: float, costs: Array) -> Any:
    """The estimator, or pipeline, with C* times a factor."""
    own = steps.classifier
    if getattr(own, "lambda_unlabeled", None) is not None:
        changed = {"lambda_unlabeled": factor * own.lambda_unlabeled}
    else:
        changed = {"C_unlabeled": factor * float(costs[0]) if np.ptp(costs) == 0 else factor * costs}
    if "multi_class" in own.get_params(deep=False):
        changed["multi_class"] = "ovr"  # as along the path
    return clone(estimator).set_params(**{steps.prefix + name: value for name, value in changed.items()})


@dataclass(frozen=True, eq=False)
class SharePath:
    """Solutions along a path of shares, for every class that is told from the others.

    Attributes
    ----------
    classes : array, shape (n_classes,)
    positives : list of int
        The classes of the rows below, as places in ``classes``: the second of two, or all.
    tried : array, shape (m,)
        Shares.
    labeled_loss : array, shape (len(positives), m)
        Mean loss of the labelled points.
    objective : array, shape (len(positives), m)
    found : array, shape (len(positives), m)
        Share of the unlabelled points that are labelled positive.
    left_out_error : array, shape (len(positives), m), or None
        Error at labelled points that were left out, in [0, 1], one class against the rest; None without
        cross-validation.

    Examples
    --------
    >>> path = ct.selection.share_path(ct.TransductiveSVC(), points, few, shares=(0.3, 0.5, 0.7), cv=2)
    >>> path.shares
    {0: 0.5, 1: 0.5}
    """

    classes: NDArray[Any]
    positives: list[int]
    tried: Array
    labeled_loss: Array
    objective: Array
    found: Array
    left_out_error: Array | None = None

    @property
    def chosen(self) -> Array:
        """The share that is chosen for each of ``positives``, shape (len(positives),).

        The middle of those with the least error at labelled points that were left out; without cross-validation the
        one with the least labelled loss.
        """
        if self.left_out_error is None:
            return np.asarray(self.tried[[falling(-row)[0] for row in self.labeled_loss]])
        return np.array([self.tried[row <= row.min() + 1e-9].mean() for row in self.left_out_error])

    @property
    def shares(self) -> dict[Any, float]:
        """The chosen share of every class, made to add up to 1: for ``balance=``."""
        found = self.chosen
        chosen = np.array([1 - found[0], found[0]]) if len(self.classes) == 2 else found / found.sum()
        return {name: float(share) for name, share in zip(self.classes.tolist(), chosen, strict=True)}


def share_path(
    estimator: Any, X: Any, y: ArrayLike, *, shares: Sequence[float] | None = None, cv: int = 5, random_state: int = 0
) -> SharePath:
    """Fit a classifier for many shares of its classes, each of them against the rest.

    Where a share is wrong, the balance constraint pushes the boundary into the labelled points.  That is seen at
    labelled points that are left out: the share is chosen that is right at most of them.  Selvaraj, Bhar, Sellamanickam
    and Shevade (Semi-supervised SVMs for classification with unknown class proportions and a small labeled dataset,
    2012) look at the loss of the labelled points that are learned from (``cv=0``), which says nothing where C is so
    large that all these losses are 0.  The objective prefers that everything be of one class.
    ``TransductiveSVC(balance=path.shares)`` takes what the path chose, and so does
    ``LinearTransductiveSVC(positive_fraction=path.shares)``.  Ctrl-C is raised again, as a part of a path chooses
    no share.

    Parameters
    ----------
    estimator : TransductiveSVC, CompactMarginClassifier, RelativeMarginClassifier, or LinearTransductiveSVC
        Or a pipeline that ends in one, whose transformers are fitted to all points.
    X, y, random_state
        As for :func:`cost_path`.
    shares : sequence of float in (0, 1), optional
        Those to try; by default 0.02, and the multiples of 0.05.
    cv : int, default 5
        Folds of the labelled points, fewer if the largest class has fewer labels; 0 leaves none out, and chooses by
        the loss of the labelled points.

    Examples
    --------
    >>> path = ct.selection.share_path(ct.TransductiveSVC(), points, few, shares=(0.3, 0.5, 0.7), cv=2)
    >>> sorted(path.shares)
    [0, 1]
    """
    shares = (0.02, *(k / 20 for k in range(1, 20))) if shares is None else shares
    tried = np.unique([finite("shares", share, above=0, below=1) for share in shares])
    steps = Steps.of(estimator)
    if not {"balance", "positive_fraction"} & set(steps.classifier.get_params(deep=False)):
        raise ValueError(
            f"estimator={steps.classifier!r} must be one that takes shares of classes, as balance= or "
            "positive_fraction="
        )
    estimator, labels, first = steps.begun(X, y, "shares are those of the unlabelled points")

    def path(labels: Labels, k: int) -> list[Solution]:
        own = estimator._other_class(first, labels, k)
        # Along the path only the balance changes, so each solution is started from the one before.
        problems = {
            f"{labels.classes[k]}, share {share:g}": own.replace(balance=estimator._share_balance(share))
            for share in tried.tolist()
        }
        formulation = estimator._formulation(next(iter(problems.values())))
        with within(estimator.time_limit):
            return list(unless_interrupted(estimator._solve(formulation, problems)))

    with warnings.catch_warnings(action="ignore"):
        rows = [path(labels, k) for k in labels.positives]
        errors = _left_out_errors(labels, path, len(tried), cv, random_state) if cv else None
    return SharePath(
        classes=labels.classes,
        positives=labels.positives,
        tried=tried,
        labeled_loss=np.array([[_labeled_loss(one) for one in row] for row in rows]),
        objective=np.array([[one.objective for one in row] for row in rows]),
        found=np.array([[float((one.labels[one.problem.unlabeled] > 0).mean()) for one in row] for row in rows]),
        left_out_error=errors,
    )


def _left_out_errors(
    labels: Labels, path: Callable[[Labels, int], list[Solution]], m: int, cv: int, random_state: int
) -> Array | None:
    """Errors at labelled points that count as unlabelled ones, shape (len(positives), m); None if there is no fold."""
    folds = left_out(labels, cv, random_state)
    if not folds:
        return None
    wrong, n = np.zeros((len(labels.positives), m)), 0
    for left, test in folds:
        n += len(test)
        for row, k in enumerate(labels.positives):
            truth = labels.index[test] == k
            wrong[row] += [((one.scores[test] > 0) != truth).sum() for one in path(left, k)]
    return wrong / n


def _labeled_loss(solution: Solution) -> float:
    known, loss = solution.problem.labeled, solution.formulation.labeled
    return float(loss(solution.problem.y[known] * solution.scores[known]).mean())
