"""Whether unlabelled points are used, and whether they help: the supervised SVM beside a semi-supervised one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from ..estimators.advice import acting
from ..estimators.labels import labeled_points
from ..instance import Instance
from ..methods.cccp import supervised_svms
from ..notice import warn
from ..problem import Array
from ..validation import integer
from .scoring import Judge, judged
from .splits import LabeledKFold
from .steps import Steps, fitted_apart


@dataclass(frozen=True)
class SupervisedComparison:
    """A fitted classifier beside the supervised SVM with the same kernel and the same C.

    Attributes
    ----------
    agreement : float
        Share of the unlabelled points that both label alike.
    acting : float
        Share of the unlabelled points that have a say: whose loss changes with their output.
    objective, supervised_objective : float
        The semi-supervised objective of both, the mean over the classifiers if there are several.  That of the
        supervised SVM may be lower, as it need not meet a balance constraint.
    error, supervised_error : float
        Errors at labelled points that were left out (cross-validation), in [0, 1]; NaN, as the next one, if every class
        has a single label, so that none can be left out.
    standard_error : float
        Of the difference of the two errors: a smaller difference says nothing.
    score, supervised_score : float or None
        The mean over the folds of what ``scoring`` asked for; None without it.

    Examples
    --------
    >>> comparison = ct.selection.compare_supervised(ct.TransductiveSVC(), points, few, cv=2)
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
    score: float | None = None
    supervised_score: float | None = None

    def __str__(self) -> str:
        error = f"{self.error:<11.2%} {self.supervised_error:.2%}   (difference ± {self.standard_error:.2%})"
        return (
            "                 here        supervised SVM\n"
            f"objective        {self.objective:<11.6g} {self.supervised_objective:.6g}\n"
            f"labelled error   {error}\n"
            f"{self.agreement:.1%} of the unlabelled points are labelled alike, {self.acting:.1%} have a say"
        )


def compare_supervised(
    estimator: Any, X: Any, y: ArrayLike, *, cv: int = 5, n_repeats: int = 1, scoring: Any = None, random_state: int = 0
) -> SupervisedComparison:
    """Compare a classifier with the supervised SVM on the same data.

    Parameters
    ----------
    estimator : estimator
        A classifier of this package, or a pipeline that ends in one, whose transformers are fitted to all points for
        both; fitted to ``X`` and ``y``, or it is fitted here.
    X : array, sparse matrix or DataFrame, shape (n, n_features)
    y : array, shape (n,)
        Labels, with the estimator's ``unlabeled`` where unknown.
    cv : int >= 2, default 5
        Folds of the labelled points; fewer if the largest class has fewer labels.
    n_repeats, random_state : int
        As in :class:`LabeledKFold`.
    scoring : str or callable, optional
        A name of scikit-learn's, a scorer, or a function of true and predicted labels: what is computed besides errors.

    Raises
    ------
    ValueError
        If an argument is not as stated.
    KeyboardInterrupt
        If it came: half a comparison says nothing.

    Examples
    --------
    >>> comparison = ct.selection.compare_supervised(ct.TransductiveSVC(), points, few, cv=2)
    >>> round(comparison.agreement, 2), comparison.error, comparison.supervised_error
    (0.98, 0.0, 0.0)
    """
    classifier = Steps.of(estimator).classifier
    if scoring is not None:
        Judge.of(scoring)  # raises ValueError for a wrong ``scoring`` before anything is fitted
    known, marked = labeled_points(y, classifier.unlabeled)
    options = {"n_repeats": n_repeats, "random_state": random_state, "unlabeled": classifier.unlabeled}
    if len(known) == len(np.asarray(y)):
        options["unlabeled"] = None  # there is nothing to mark
    folds = LabeledKFold.at_most(integer("cv", cv, least=2), marked, **options)
    parts: list[Any] = []
    if np.unique(marked, return_counts=True)[1].max() > 1:
        parts = list(folds.split(y, y))
    else:
        warn("every class has a single label: none can be left out, and there are no errors")
    if not hasattr(classifier, "solutions_"):
        estimator = clone(estimator).fit(X, y)
        classifier = Steps.of(estimator).classifier
    solutions = classifier.solutions_
    alone = supervised_svms(solutions[0].formulation, [one.problem for one in solutions])
    unknown = solutions[0].problem.unlabeled
    labels = classifier.transduction_[unknown]
    scores = np.column_stack([one.scores for one in alone])[unknown]
    others = classifier.model_.decide(scores)
    objectives = [
        Instance(one.formulation, one.problem).objective(svm.scores, svm.regularization)
        for one, svm in zip(solutions, alone, strict=True)
    ]
    (wrong, wrong_alone), scores = _left_out(estimator, X, y, parts, known, scoring)
    difference = wrong - wrong_alone
    deviation = float(difference.std()) if len(difference) else np.nan
    return SupervisedComparison(
        agreement=float((labels == others).mean()) if len(unknown) else 1.0,
        acting=float(np.mean([acting(one).mean() for one in solutions])) if len(unknown) else 0.0,
        objective=float(np.mean([one.objective for one in solutions])),
        supervised_objective=float(np.mean(objectives)),
        error=_mean(wrong),
        supervised_error=_mean(wrong_alone),
        standard_error=deviation / np.sqrt(max(len(difference) / n_repeats - 1, 1)),
        score=None if scoring is None else _mean(scores[0]),
        supervised_score=None if scoring is None else _mean(scores[1]),
    )


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else np.nan


def _left_out(
    estimator: Any, X: Any, y: ArrayLike, parts: Sequence[Any], known: NDArray[np.intp], scoring: Any
) -> tuple[list[Array], list[Array]]:
    """Of the estimator and of the supervised SVM: whether left-out points are labelled wrongly, and scores of folds."""
    labels = np.asarray(y)
    wrong: tuple[list[Any], list[Any]] = ([], [])
    scores: tuple[list[float], list[float]] = ([], [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in parts:
            given, own = _safe_indexing(X, train), labels[train]
            alone = fitted_apart(estimator, given, own, np.flatnonzero(np.isin(train, known)))
            for k, fitted in enumerate((clone(estimator).fit(given, own), alone)):
                wrong[k].append(fitted.predict(_safe_indexing(X, test)) != labels[test])
                scores[k].append(judged(fitted, X, labels, test, scoring))
    errors = [np.concatenate([*one, []]).astype(float) for one in wrong]
    return errors, [np.array(one) for one in scores]
