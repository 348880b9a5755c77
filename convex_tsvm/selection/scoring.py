"""Scorers that leave unlabelled points out."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score, balanced_accuracy_score, check_scoring, get_scorer
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import get_routing_for_object

from ..estimators.labels import labeled_points, marker_of

Scorer = Callable[..., float]


@dataclass(frozen=True)
class Judge:
    """What ``scoring=`` asks for: a scorer of scikit-learn, by name or not, or a function of labels."""

    metric: Callable[..., float] | None  # of true and predicted classes, as places in ``classes_``, or else
    scorer: Scorer | None  # of an estimator, points and labels
    bounded: bool = True  # scores are at most 1
    weighted: bool = False  # it takes ``sample_weight``

    @classmethod
    def of(cls, scoring: Any) -> Judge:
        """The judge for a value of ``scoring=``; ValueError if it is neither a scorer's name nor a function."""
        if isinstance(scoring, str):
            if scoring == "accuracy":
                return cls(accuracy_score, None, weighted=True)
            if scoring == "balanced_accuracy":
                return cls(balanced_accuracy_score, None, weighted=True)
            # How the names of scorers begin that are never above 1.
            at_most_one = "accuracy balanced average_precision f1 jaccard matthews precision recall roc_auc top_k"
            try:
                scorer = get_scorer(scoring)
            except ValueError:
                raise ValueError(
                    f"scoring={scoring!r} must be a name out of sklearn.metrics.get_scorer_names(), a scorer, or a "
                    "function of true and predicted labels"
                ) from None
            return cls(None, scorer, bounded=scoring.startswith(tuple(at_most_one.split())), weighted=True)
        if not callable(scoring):
            raise ValueError(f"scoring={scoring!r} must be a name or a function")
        return cls(scoring, None) if _takes_labels(scoring) else cls(None, scoring, bounded=False)

    def __call__(self, estimator: Any, X: Any, y: NDArray[Any], weights: Any = None) -> float:
        """The score of a fitted estimator at points with known labels, shape (n,)."""
        own = {"sample_weight": weights} if self.weighted and weights is not None else {}
        if self.metric is None:
            return float(self.scorer(estimator, X, y, **own))  # type: ignore[misc]
        truth, found = (np.searchsorted(estimator.classes_, one) for one in (y, estimator.predict(X)))
        return float(self.metric(truth, found, **own))


def _takes_labels(function: Callable[..., Any]) -> bool:
    """Whether a function is one of true and predicted labels, rather than of an estimator, points and labels."""
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    except ValueError:
        pass  # it has no signature that can be read
    return True


def judged(estimator: Any, X: Any, y: ArrayLike, members: NDArray[np.intp], scoring: Any) -> float:
    """The score of a fitted estimator at some points, NaN without ``scoring``."""
    if scoring is None:
        return np.nan
    labels = _safe_indexing(y, members)
    labels = np.array(np.asarray(labels).tolist()) if np.asarray(labels).dtype == object else np.asarray(labels)
    return Judge.of(scoring)(estimator, _safe_indexing(X, members), labels)


class LabeledScorer:
    """One of scikit-learn's scorers, on the labelled points of what it is given (see :func:`labeled_scorer`)."""

    def __init__(self, scoring: Any, unlabeled: Any) -> None:
        self.scoring, self.unlabeled = scoring, unlabeled

    def __call__(self, estimator: Any, X: Any, y: Any, **arguments: Any) -> float:
        """The score at the labelled points; arguments, such as weights, are reduced to these points, too."""
        known, labels = labeled_points(y, marker_of(estimator, self.unlabeled), " to score")
        own = {name: value if value is None else np.asarray(value)[known] for name, value in arguments.items()}
        scorer = check_scoring(estimator, scoring=self.scoring)
        return float(scorer(estimator, _safe_indexing(X, known), labels, **own))

    def get_metadata_routing(self) -> Any:
        return get_routing_for_object(get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring)

    def __repr__(self) -> str:
        return f"labeled_scorer({self.scoring!r}, unlabeled={self.unlabeled!r})"


def labeled_scorer(scoring: str | Scorer = "accuracy", *, unlabeled: Any = "auto") -> LabeledScorer:
    """One of scikit-learn's scorers, with the unlabelled points left out.

    For ``scoring=`` of ``GridSearchCV``, ``cross_val_score`` and the like, where ``y`` has unlabelled points: they
    would count as a class.  With :class:`LabeledKFold` no test set has any, and scikit-learn's own scorers will do.

    Parameters
    ----------
    scoring : str or callable, default "accuracy"
        As in scikit-learn.
    unlabeled : object, default "auto"
        Marks unlabelled points in ``y``; "auto" is the marker of the estimator that is scored.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> scorer = ct.selection.labeled_scorer("balanced_accuracy")
    >>> cross_val_score(ct.TransductiveSVC(), points, few, cv=ct.selection.LabeledKFold(2), scoring=scorer)
    array([1., 1.])
    """
    return LabeledScorer(scoring, unlabeled)
