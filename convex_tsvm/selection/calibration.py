"""Probabilities of classes, by scikit-learn's calibration on the labelled points."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils import _safe_indexing

from ..estimators.labels import labeled_points
from .pool import WithUnlabeled


class CalibratedTransduction(CalibratedClassifierCV):
    """Probabilities for a semi-supervised classifier: ``CalibratedClassifierCV`` with unlabelled points in ``y``.

    Outputs at labelled points that were left out of a fit are turned into probabilities (Platt 1999, or isotonic
    regression); every fit has all unlabelled points.  With few labels a probability is a rough one.

    Parameters
    ----------
    estimator : estimator
        A classifier of this package, or a pipeline that ends in one.
    method : {"sigmoid", "isotonic", "temperature"}, default "sigmoid"
        As in scikit-learn; "isotonic" takes a thousand labels, "temperature" its version 1.8.
    cv : int or splitter, default 5
        Folds of the labelled points; every class needs as many labels.
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
        known, labels = labeled_points(y, self.unlabeled)
        others = np.setdiff1d(np.arange(len(np.asarray(y))), known)
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        given: Any = self.estimator
        if len(others):
            self.estimator = WithUnlabeled(given, _safe_indexing(X, others), unlabeled=self.unlabeled)
        try:
            super().fit(_safe_indexing(X, known), labels, sample_weight=weights, **fit_params)
        finally:
            self.estimator = given
        return self
