"""The shares of the classes among the unlabelled points, chosen from data along a path (Selvaraj et al. 2012)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..deadline import within
from ..estimators.labels import Labels
from ..methods.run import unless_interrupted
from ..problem import Array
from ..solution import Solution
from ..ties import falling
from ..validation import finite
from .splits import left_out
from .steps import Steps


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

    Parameters
    ----------
    estimator : TransductiveSVC, CompactMarginClassifier, RelativeMarginClassifier, or LinearTransductiveSVC
        Or a pipeline that ends in one, whose transformers are fitted to all points.
    X : array, sparse matrix or DataFrame, shape (n, n_features)
    y : array, shape (n,)
        Labels, with the estimator's ``unlabeled`` where unknown.
    shares : sequence of float in (0, 1), optional
        Those to try; by default 0.02, and the multiples of 0.05.
    cv : int, default 5
        Folds of the labelled points, fewer if the largest class has fewer labels; 0 leaves none out, and chooses by
        the loss of the labelled points.
    random_state : int, default 0
        Of the folds.

    Returns
    -------
    SharePath
        ``TransductiveSVC(balance=path.shares)`` takes what it chose, and so does
        ``LinearTransductiveSVC(positive_fraction=path.shares)``.

    Raises
    ------
    ValueError
        If nothing is unlabelled, or a share is not in (0, 1).
    KeyboardInterrupt
        If it came: a part of a path chooses no share.

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

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
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
