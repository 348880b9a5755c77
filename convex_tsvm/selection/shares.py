"""The shares of the classes among the unlabelled points, chosen from data along a path (Selvaraj et al. 2012)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ..estimators.base import KernelTransduction
from ..solution import Solution
from ..validation import finite

Array = NDArray[np.float64]

#: Shares that are tried.
SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


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
    """

    classes: NDArray[Any]
    positives: list[int]
    tried: Array
    labeled_loss: Array
    objective: Array
    found: Array

    @property
    def shares(self) -> dict[Any, float]:
        """The share of every class that has the least labelled loss, made to add up to 1: for ``balance=``."""
        least = self.tried[self.labeled_loss.argmin(axis=1)]
        chosen = np.array([1 - least[0], least[0]]) if len(self.classes) == 2 else least / least.sum()
        return {name: float(share) for name, share in zip(self.classes.tolist(), chosen, strict=True)}


def share_path(estimator: Any, X: Any, y: ArrayLike, *, shares: Sequence[float] = SHARES) -> SharePath:
    """Fit a classifier for many shares of its classes, each of them against the rest.

    The share with the least loss of the labelled points is the choice of Selvaraj, Bhar, Sellamanickam and Shevade
    (Semi-supervised SVMs for classification with unknown class proportions and a small labeled dataset, 2012): where a
    share is wrong, the balance constraint pushes the boundary into the labelled points.  The objective, which has been
    proposed as well, prefers that everything be of one class, and is there to be looked at.  It takes a cost C* that
    unlabelled points have a say with; where all losses are near 0 it says nothing.

    Parameters
    ----------
    estimator : TransductiveSVC, CompactMarginClassifier, or RelativeMarginClassifier
    X : array, sparse matrix or DataFrame, shape (n, n_features)
    y : array, shape (n,)
        Labels, with the estimator's ``unlabeled`` where unknown.
    shares : sequence of float in (0, 1)
        Those to try.

    Returns
    -------
    SharePath
        ``TransductiveSVC(balance=path.shares)`` takes what it chose.

    Raises
    ------
    ValueError
        If nothing is unlabelled, or a share is not in (0, 1).
    """
    tried = np.unique([finite("shares", share, above=0, below=1) for share in shares])
    if not isinstance(estimator, KernelTransduction):
        raise ValueError(f"estimator={estimator!r} must be a TransductiveSVC or another classifier with a kernel")
    estimator = clone(estimator)
    X, labels = estimator._read(X, y)
    if not labels.unlabeled.any():
        raise ValueError("y has no unlabelled point: shares are those of the unlabelled points")
    first = estimator._problem(X, labels, labels.positives[0])
    rows: list[list[Solution]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in labels.positives:
            given = estimator._given(labels, k)
            # Signs are the same all along a path, so each solution is started from the one before.
            problems = {
                f"{labels.classes[k]}, share {share:g}": first.replace(**{**given, "balance": 2 * share - 1})
                for share in tried.tolist()
            }
            formulation = estimator._formulation(next(iter(problems.values())))
            rows.append(estimator._solve(formulation, problems))
    return SharePath(
        classes=labels.classes,
        positives=labels.positives,
        tried=tried,
        labeled_loss=np.array([[_labeled_loss(one) for one in row] for row in rows]),
        objective=np.array([[one.objective for one in row] for row in rows]),
        found=np.array([[float((one.labels[one.problem.unlabeled] > 0).mean()) for one in row] for row in rows]),
    )


def _labeled_loss(solution: Solution) -> float:
    known, loss = solution.problem.labeled, solution.formulation.labeled
    return float(loss(solution.problem.y[known] * solution.scores[known]).mean())
