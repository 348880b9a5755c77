"""Whether unlabelled points are used, and whether they help: the supervised SVM beside a semi-supervised one."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from ..estimators.advice import acting
from ..estimators.labels import unlabeled_points
from ..instance import Instance
from ..methods.supervised import supervised_svms
from .splits import LabeledKFold


@dataclass(frozen=True)
class SupervisedComparison:
    """A fitted classifier beside the supervised SVM with the same kernel and the same C.

    Attributes
    ----------
    agreement : float
        Share of the unlabelled points that both label alike.
    acting : float
        Share of the unlabelled points that have a say: whose loss changes with their output.  Where it is near 0 the
        unlabelled points are not used.
    objective, supervised_objective : float
        The semi-supervised objective of both, the mean over the classifiers if there are several.  That of the
        supervised SVM may be lower, as it need not meet a balance constraint.
    error, supervised_error : float
        Errors at labelled points that were left out (cross-validation), in [0, 1].
    standard_error : float
        Of the difference of the two errors: a smaller difference says nothing.

    Examples
    --------
    >>> import numpy as np, convex_tsvm as ct
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [4, 0]], 30, axis=0)
    >>> y = np.full(60, -1)
    >>> y[[0, 1, 2, 3, 30, 31, 32, 33]] = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> comparison = ct.compare_supervised(ct.TransductiveSVC(), X, y, cv=2)
    >>> comparison.error, comparison.supervised_error
    (0.0, 0.0)
    """

    agreement: float
    acting: float
    objective: float
    supervised_objective: float
    error: float
    supervised_error: float
    standard_error: float

    def __str__(self) -> str:
        return "\n".join(
            [
                "                 here        supervised SVM",
                f"objective        {self.objective:<11.6g} {self.supervised_objective:.6g}",
                f"labelled error   {self.error:<11.2%} {self.supervised_error:.2%}   (difference ± "
                f"{self.standard_error:.2%})",
                f"{self.agreement:.1%} of the unlabelled points are labelled alike, {self.acting:.1%} have a say",
            ]
        )


def compare_supervised(
    estimator: Any, X: Any, y: ArrayLike, *, cv: int = 5, n_repeats: int = 1, random_state: int = 0
) -> SupervisedComparison:
    """Compare a classifier with the supervised SVM on the same data.

    Parameters
    ----------
    estimator : estimator
        A classifier of this package; fitted to ``X`` and ``y``, or it is fitted here.
    X : array, sparse matrix or DataFrame, shape (n, n_features)
    y : array, shape (n,)
        Labels, with the estimator's ``unlabeled`` where unknown.
    cv : int >= 2, default 5
        Folds of the labelled points.
    n_repeats, random_state : int
        As in :class:`LabeledKFold`.

    Returns
    -------
    SupervisedComparison

    Examples
    --------
    >>> import numpy as np, convex_tsvm as ct
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [4, 0]], 30, axis=0)
    >>> y = np.full(60, -1)
    >>> y[[0, 1, 2, 3, 30, 31, 32, 33]] = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> comparison = ct.compare_supervised(ct.TransductiveSVC(), X, y, cv=2)
    >>> round(comparison.agreement, 2), comparison.error, comparison.supervised_error
    (0.98, 0.0, 0.0)
    """
    folds = LabeledKFold(cv, n_repeats=n_repeats, random_state=random_state, unlabeled=estimator.unlabeled)
    parts = list(folds.split(X, y))
    if not hasattr(estimator, "solutions_"):
        estimator = clone(estimator).fit(X, y)
    solutions = estimator.solutions_
    alone = supervised_svms(solutions[0].formulation, [one.problem for one in solutions])
    unknown = solutions[0].problem.unlabeled
    labels = estimator.transduction_[unknown]
    scores = np.column_stack([one.scores for one in alone])[unknown]
    others = estimator.model_.decide(scores)
    objectives = [
        Instance(one.formulation, one.problem).objective(svm.scores, svm.regularization)
        for one, svm in zip(solutions, alone, strict=True)
    ]
    wrong, wrong_alone = _errors(estimator, X, y, parts)
    difference = wrong - wrong_alone
    return SupervisedComparison(
        agreement=float((labels == others).mean()) if len(unknown) else 1.0,
        acting=float(np.mean([acting(one).mean() for one in solutions])) if len(unknown) else 0.0,
        objective=float(np.mean([one.objective for one in solutions])),
        supervised_objective=float(np.mean(objectives)),
        error=float(wrong.mean()),
        supervised_error=float(wrong_alone.mean()),
        standard_error=float(difference.std() / np.sqrt(max(len(difference) / n_repeats - 1, 1))),
    )


def _errors(estimator: Any, X: Any, y: ArrayLike, parts: Any) -> tuple[Any, Any]:
    """Whether left-out labelled points are labelled wrongly, by the estimator and by the supervised SVM."""
    labels = np.asarray(y)
    wrong: list[Any] = []
    alone: list[Any] = []
    unknown = unlabeled_points(y, estimator.unlabeled)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in parts:
            for errors, members in ((wrong, train), (alone, train[~unknown[train]])):
                fitted = clone(estimator).fit(_safe_indexing(X, members), labels[members])
                errors.append(fitted.predict(_safe_indexing(X, test)) != labels[test])
    return np.concatenate(wrong).astype(float), np.concatenate(alone).astype(float)
