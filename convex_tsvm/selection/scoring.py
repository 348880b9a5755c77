"""Scorers that leave unlabelled points out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing

from ..estimators.labels import labeled_points

Scorer = Callable[..., float]


class LabeledScorer:
    """One of scikit-learn's scorers, on the labelled points of what it is given (see :func:`labeled_scorer`)."""

    def __init__(self, scoring: Any, unlabeled: Any) -> None:
        self.scoring, self.unlabeled = scoring, unlabeled

    def __call__(self, estimator: Any, X: Any, y: Any, **arguments: Any) -> float:
        """The score; arguments that have one entry per point lose those of unlabelled points."""
        known, labels = labeled_points(y, self.unlabeled, " to score")
        own = {name: value if value is None else np.asarray(value)[known] for name, value in arguments.items()}
        scorer = check_scoring(estimator, scoring=self.scoring)
        return float(scorer(estimator, _safe_indexing(X, known), labels, **own))

    def __repr__(self) -> str:
        return f"labeled_scorer({self.scoring!r}, unlabeled={self.unlabeled!r})"


def labeled_scorer(scoring: str | Scorer = "accuracy", *, unlabeled: Any = -1) -> LabeledScorer:
    """One of scikit-learn's scorers, with the unlabelled points left out.

    For ``scoring=`` of ``GridSearchCV``, ``cross_val_score`` and the like, where ``y`` has unlabelled points: they
    would count as a class.  With :class:`LabeledKFold` no test set has any, and scikit-learn's own scorers will do.

    Parameters
    ----------
    scoring : str or callable, default "accuracy"
        As in scikit-learn.
    unlabeled : object, default -1
        Marks unlabelled points in ``y``.

    Returns
    -------
    callable
        As ``scorer(estimator, X, y)``.

    Examples
    --------
    >>> import numpy as np, convex_tsvm as ct
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [4, 0]], 30, axis=0)
    >>> y = np.full(60, -1)
    >>> y[[0, 1, 2, 3, 30, 31, 32, 33]] = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> from sklearn.model_selection import cross_val_score
    >>> scorer = ct.labeled_scorer("balanced_accuracy")
    >>> cross_val_score(ct.TransductiveSVC(), X, y, cv=ct.LabeledKFold(2), scoring=scorer)
    array([1., 1.])
    """
    return LabeledScorer(scoring, unlabeled)
