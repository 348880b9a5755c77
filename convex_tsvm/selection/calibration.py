"""Probabilities of classes, by scikit-learn's calibration on the labelled points."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ..estimators.calibration import n_folds
from ..estimators.labels import ScoresLabeled, check_labels_count, checked_weights, labeled_points, marker_of
from ..validation import is_sparse
from .pool import WithUnlabeled
from .steps import default_estimator


class CalibratedTransduction(ScoresLabeled, CalibratedClassifierCV):
    """Probabilities for a semi-supervised classifier: ``CalibratedClassifierCV`` with unlabelled points in ``y``.

    Outputs at labelled points that were left out of a fit are turned into probabilities (Platt 1999, or isotonic
    regression); every fit has all unlabelled points.  With few labels a probability is a rough one.

    Parameters
    ----------
    estimator : estimator, optional
        A classifier of this package, or a pipeline that ends in one; by default a :class:`TransductiveSVC`.
    method : {"sigmoid", "isotonic", "temperature"}, default "sigmoid"
        As in scikit-learn; "isotonic" takes a thousand labels, "temperature" its version 1.8.
    cv : int or splitter, default 5
        Folds of the labelled points; fewer, at least 2, if a class has fewer labels.
    n_jobs, ensemble
        As in scikit-learn.
    unlabeled : object, default "auto"
        Marks unlabelled points in ``y``; "auto" is the estimator's marker, and -1 without an estimator.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Without the marker.
    calibrated_classifiers_ : list

    Examples
    --------
    >>> ct.CalibratedTransduction(ct.TransductiveSVC(), cv=2).fit(points, few).predict_proba(points).shape
    (60, 2)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "sigmoid",
        cv: Any = 5,
        n_jobs: int | None = None,
        ensemble: bool | str = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        super().__init__(estimator, method=method, cv=cv, n_jobs=n_jobs, ensemble=ensemble)
        self.estimator: Any = estimator
        self.cv: Any = cv
        self.unlabeled = unlabeled

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any) -> Self:
        """Fit and calibrate.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (n, n_features)
            All points, labelled or not.
        y : array, shape (n,)
            Labels, with ``unlabeled`` where unknown.
        sample_weight : array, shape (n,), optional
            Those of unlabelled points are not used.
        """
        given_labels = column_or_1d(y, warn=True)
        X = X.tocsr() if is_sparse(X) else X if hasattr(X, "iloc") else np.asarray(X)
        check_consistent_length(X, given_labels)
        n, marker = len(given_labels), marker_of(self.estimator, self.unlabeled)
        known, labels = labeled_points(given_labels, marker)
        check_classification_targets(labels)
        others = np.setdiff1d(np.arange(n), known)
        weights = None
        if sample_weight is not None:
            weights = checked_weights(sample_weight, n)[known]
            check_labels_count(weights, labels)
        given, cv = self.estimator, self.cv  # parameters as the user gave them, which are restored after the fit
        inner = self._get_estimator()
        if len(others):
            inner = WithUnlabeled(inner, _safe_indexing(X, others), unlabeled=marker)
        elif given is None:
            inner.set_params(unlabeled=None)
        self.estimator, self.cv = inner, n_folds(labels, int(cv)) if isinstance(cv, numbers.Integral) else cv
        try:
            super().fit(_safe_indexing(X, known), labels, sample_weight=weights, **fit_params)
        finally:
            self.estimator, self.cv = given, cv
        return self

    def _get_estimator(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return default_estimator(unlabeled=marker_of(None, self.unlabeled))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = self._get_estimator().__sklearn_tags__().input_tags
        return tags
