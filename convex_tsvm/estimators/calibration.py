"""Probabilities of classes from outputs, by scikit-learn's calibration at labelled points left out of fits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.metaestimators import _safe_split

from ..deadline import share_of_time
from ..decision import chosen_classes
from ..points import LinearPoints
from ..validation import one_of
from .labels import Labels


def n_folds(labels: NDArray[Any], cv: int = 5) -> int:
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


def n_calibrations(probability: Any, X: Any, labels: Labels) -> int:
    """How many fits probabilities take besides the fit to all points; a ValueError if they cannot be had."""
    if probability in (False, None):
        return 0
    one_of("probability", probability, ("calibrated",))
    if isinstance(X, LinearPoints) or hasattr(X, "dask"):
        raise ValueError(
            "probability='calibrated' takes points in memory, an array, a sparse matrix or a DataFrame, to leave some "
            f"of them out; X is {type(X).__name__}"
        )
    return n_folds(labels.classes[labels.index[~labels.unlabeled]])


def calibrated(estimator: Any, X: Any, y: Any, labels: Labels) -> CalibratedClassifierCV:
    """The calibration (Platt 1999) of a fitted estimator's outputs, shape (n, 1) for two classes, else (n, n_classes).

    It is fitted to outputs of clones that had a fold of the labels left out; ``y`` is as the user gave it.
    """
    known = np.flatnonzero(~labels.unlabeled)
    truth = labels.classes[labels.index[known]]
    folds = StratifiedKFold(n_folds(truth))
    like = clone(estimator).set_params(probability=False)
    outputs = np.empty((len(known), len(labels.positives)))
    for k, (_, test) in enumerate(folds.split(known, truth)):
        members = np.setdiff1d(np.arange(len(labels.index)), known[test])
        points, own = _safe_split(like, X, y, members)
        weights = {} if labels.weights is None else {"sample_weight": labels.weights[members]}
        with share_of_time(folds.n_splits - k):
            fitted = clone(like).fit(points, own, **weights)
        left_out, _ = _safe_split(like, X, y, known[test], members)
        outputs[test] = fitted.decision_function(left_out).reshape(len(test), -1)
    calibration = CalibratedClassifierCV(AsTheyAre(), cv=folds.n_splits, ensemble=False)
    return calibration.fit(outputs, truth, sample_weight=None if labels.weights is None else labels.weights[known])


class AsTheyAre(ClassifierMixin, BaseEstimator):
    """A classifier whose points are outputs, shape (n, 1 or n_classes), which it returns as its decision function."""

    __metadata_request__fit = {"sample_weight": True}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AsTheyAre:
        # Nothing is learned, and weights change nothing; scikit-learn warns of classifiers that take none.
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> Any:
        return X.ravel() if X.shape[1] == 1 else X

    def predict(self, X: Any) -> Any:
        return self.classes_[chosen_classes(X)]
