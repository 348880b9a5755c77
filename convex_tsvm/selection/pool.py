"""Unlabelled points as a part of an estimator, for tools that know labelled data only."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import column_or_1d

from ..estimators.labels import ScoresLabeled, checked_weights, marked, marker_of
from ..validation import is_sparse
from .steps import ActsAsFitted, RoutesWeights, fitted


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
