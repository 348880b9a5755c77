"""Probabilities of classes by scikit-learn's calibration, and unlabelled points as a part of an estimator."""

import numbers
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ..estimators.labels import ScoresLabeled, check_labels_count, checked_weights, labeled_points, marked, marker_of
from ..validation import is_sparse
from .fits import ActsAsFitted, RoutesWeights, default_estimator, fitted


@dataclass(eq=False, repr=False)
class WithUnlabeled(ActsAsFitted, RoutesWeights, ScoresLabeled, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A semi-supervised classifier that brings its unlabelled points along: to others it is a supervised one.

    ``fit`` takes labelled points only, so that every tool of scikit-learn can divide, calibrate, and score them; the
    estimator is fitted to them and to the unlabelled points.

    Parameters
    ----------
    estimator : estimator
        A classifier of this package, or a pipeline that ends in one.
    X_unlabeled : array, sparse matrix or DataFrame, shape (n_unlabeled, n_features)
    unlabeled : object, default "auto"
        How the estimator marks unlabelled points in ``y``; "auto" takes it from the estimator.

    Attributes
    ----------
    estimator_ : estimator
        The fitted one; its ``transduction_`` has the labelled points first.
    classes_ : array, shape (n_classes,)

    Examples
    --------
    >>> clf = ct.selection.WithUnlabeled(ct.TransductiveSVC(kernel="linear"), np.array([[-1.0], [-0.9], [0.9], [1.0]]))
    >>> clf.fit(np.array([[-1.1], [1.1]]), ["a", "b"]).predict(np.array([[-0.2], [0.3]]))
    array(['a', 'b'], dtype='<U1')
    """

    estimator: Any
    X_unlabeled: Any
    _: KW_ONLY
    unlabeled: Any = "auto"

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to labelled points and to the unlabelled ones, which have the weight 1.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (n, n_features)
        y : array, shape (n,)
            Without unknown ones.
        sample_weight : array, shape (n,), optional
        """
        n, known = self.X_unlabeled.shape[0], column_or_1d(y, warn=True)
        others = np.arange(len(known) + n) >= len(known)
        labels = marked(np.resize(known, len(others)), others, marker_of(self))
        weights = None if sample_weight is None else np.append(checked_weights(sample_weight, len(known)), np.ones(n))
        self.estimator_ = fitted(clone(self.estimator), _stacked(X, self.X_unlabeled), labels, self._requested(weights))
        self.classes_ = self.estimator_.classes_
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.estimator.__sklearn_tags__().input_tags.sparse
        return tags


def _stacked(first: Any, second: Any) -> Any:
    """Rows of both: data frames, sparse matrices or arrays."""
    if is_sparse(first) or is_sparse(second):
        return sp.vstack([sp.csr_matrix(first), sp.csr_matrix(second)], format="csr")
    if hasattr(first, "iloc") and hasattr(second, "iloc"):
        import pandas as pd

        return pd.concat([first, second], ignore_index=True)
    return np.concatenate([np.asarray(first), np.asarray(second)])


def n_folds(labels: ArrayLike, cv: int) -> int:
    """The number of folds of the known ``labels``, shape (n_labeled,): ``cv``, or fewer if a class has fewer labels."""
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"y has one class only, {classes[0]!r}; the number of classes has to be at least 2")
    if counts.min() < 2:
        raise ValueError(
            f"class {classes[counts.argmin()]} has a single label; calibration leaves labels out, and takes at "
            "least 2 of every class"
        )
    return min(int(cv), int(counts.min()))


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
