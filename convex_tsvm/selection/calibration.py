"""Probabilities of classes, by scikit-learn's calibration on the labelled points."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils import _safe_indexing, assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ..estimators.calibration import n_folds
from ..estimators.labels import checked_weights, labeled_points
from ..estimators.transductive import TransductiveSVC
from ..validation import is_sparse
from .pool import WithUnlabeled


class CalibratedTransduction(CalibratedClassifierCV):
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
    unlabeled : object, default -1
        Marks unlabelled points in ``y``.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Without the marker.
    calibrated_classifiers_ : list

    Examples
    --------
    >>> import numpy as np
    >>> from convex_tsvm import CalibratedTransduction, TransductiveSVC
    >>> X = np.linspace(-2, 2, 41)[:, None]
    >>> y = np.where(np.arange(41) % 5 == 0, X.ravel() > 0, -1)
    >>> CalibratedTransduction(TransductiveSVC(), cv=2).fit(X, y).predict_proba(X).shape
    (41, 2)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "sigmoid",
        cv: Any = 5,
        n_jobs: int | None = None,
        ensemble: bool | str = "auto",
        unlabeled: Any = -1,
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

        Returns
        -------
        self
        """
        labels = column_or_1d(y, warn=True)
        X = X.tocsr() if is_sparse(X) else X if hasattr(X, "iloc") else np.asarray(X)
        check_consistent_length(X, labels)
        n = len(labels)
        known, labels = labeled_points(labels, self.unlabeled)
        if labels.dtype.kind == "f":
            assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        others = np.setdiff1d(np.arange(n), known)
        weights = None
        if sample_weight is not None:
            weights = checked_weights(sample_weight, n)[known]
        given, cv = self.estimator, self.cv  # parameters as the user gave them, which are restored after the fit
        inner: Any = TransductiveSVC(unlabeled=self.unlabeled if len(others) else None) if given is None else given
        if len(others):
            inner = WithUnlabeled(inner, _safe_indexing(X, others), unlabeled=self.unlabeled)
        self.estimator, self.cv = inner, self._folds(labels)
        try:
            super().fit(_safe_indexing(X, known), labels, sample_weight=weights, **fit_params)
        finally:
            self.estimator, self.cv = given, cv
        return self

    def _folds(self, labels: NDArray[Any]) -> Any:
        """The number of folds, fewer than asked for if a class has fewer labels; a splitter is returned as it is."""
        if not isinstance(self.cv, numbers.Integral):
            return self.cv
        return n_folds(int(self.cv), labels)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The default estimator is a TransductiveSVC, not scikit-learn's default.
        tags.input_tags = (
            (TransductiveSVC() if self.estimator is None else self.estimator).__sklearn_tags__().input_tags
        )
        return tags
