"""Cross-validation and scorers where few points have labels: unlabelled points are trained on, and never tested."""

import inspect
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score, balanced_accuracy_score, check_scoring, get_scorer
from sklearn.model_selection import BaseCrossValidator, RepeatedStratifiedKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import get_routing_for_object

from ..estimators.labels import Labels, labeled_points, marker_of
from ..notice import warn
from ..validation import integer

Indices = NDArray[np.intp]


class LabeledKFold(BaseCrossValidator):
    """Folds of the labelled points; the unlabelled points are in every training set, and in no test set.

    Takes the place of ``StratifiedKFold`` in ``cross_val_score``, ``GridSearchCV`` and the like, for labels with a
    marker for unknown ones.  With it every scorer of scikit-learn sees known labels only.

    Parameters
    ----------
    n_splits : int >= 2, default 5
        Folds.  Each has labelled points of every class, as nearly as their number allows; a class with fewer labels
        than folds is missing from some test sets, one with a single label from all.
    n_repeats : int >= 1, default 1
        How often the labelled points are divided anew: with few labels one division says little.
    random_state : int, default 0
        Of the divisions.
    unlabeled : object, default -1
        Marks unlabelled points in ``y``: -1, 0, NaN, a string, or None for none, as in the estimators; there is a
        warning if it marks none.

    Examples
    --------
    >>> y = np.array([0, 0, 1, 1, -1, -1])
    >>> for train, test in ct.selection.LabeledKFold(2).split(y[:, None], y):
    ...     print(train, test)
    [0 3 4 5] [1 2]
    [1 2 4 5] [0 3]
    """

    def __init__(self, n_splits: int = 5, *, n_repeats: int = 1, random_state: int = 0, unlabeled: Any = -1) -> None:
        self.n_splits = integer("n_splits", n_splits, least=2)
        self.n_repeats = integer("n_repeats", n_repeats, least=1)
        self.random_state, self.unlabeled = random_state, unlabeled

    @classmethod
    def at_most(cls, n_splits: int, labels: NDArray[Any], **options: Any) -> Self:
        """So many folds, or as many as the largest class has labels, but at least two.

        Parameters
        ----------
        labels : array, shape (n_labeled,)
            The known labels.
        **options
            As for :class:`LabeledKFold`.
        """
        largest = int(np.unique(labels, return_counts=True)[1].max())
        return cls(max(2, min(int(n_splits), largest)) if n_splits >= 2 else int(n_splits), **options)

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Number of pairs of a training and a test set; no argument is used."""
        return self.n_splits * self.n_repeats

    def split(self, X: Any, y: ArrayLike, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Training and test sets.

        A ValueError says if the largest class has fewer labelled points than there are folds, or there is one class
        only.

        Parameters
        ----------
        y : array, shape (n,)
            Labels, with ``unlabeled`` where unknown.
        X, groups : object
            Not used.

        Yields
        ------
        train, test : int arrays
            Indices; ``train`` has all unlabelled points.
        """
        known, labels = labeled_points(y, self.unlabeled)
        others = np.setdiff1d(np.arange(len(np.asarray(y))), known)
        if self.unlabeled is not None and len(others) == 0:
            warn(
                f"no point of y is marked by unlabeled={self.unlabeled!r}, and all are divided into folds: if some are "
                "unlabelled pass their marker, and unlabeled=None if none is"
            )
        classes, index, counts = np.unique(labels.astype(str), return_inverse=True, return_counts=True)
        if len(classes) < 2:
            raise ValueError(f"y has {len(known)} labelled points of {len(classes)} classes; two classes are needed")
        if counts.max() < self.n_splits:
            most = f"the {counts.max()} labelled points of the largest class"
            raise ValueError(f"n_splits={self.n_splits} is more than {most}")
        # The only labelled point of a class is in every training set: without it the class could not be learned.
        only = np.isin(index, np.flatnonzero(counts == 1))
        always, divided = np.concatenate([known[only], others]), np.flatnonzero(~only)
        own = {"n_splits": self.n_splits, "n_repeats": self.n_repeats, "random_state": self.random_state}
        folds = RepeatedStratifiedKFold(**own)
        # scikit-learn warns if a class has fewer points than folds, which is usual with few labels.
        with warnings.catch_warnings(action="ignore"):
            for train, test in folds.split(divided, index[divided]):
                yield np.sort(np.concatenate([known[divided[train]], always])), known[divided[test]]


def left_out(labels: Labels, cv: int, random_state: int) -> list[tuple[Labels, Indices]]:
    """Labels with one fold after the other counted as unlabelled, each with its points; none without two of a class."""
    known = labels.index[~labels.unlabeled]
    folds = LabeledKFold.at_most(integer("cv", cv, least=2), known, random_state=random_state)
    if np.bincount(known).max() < 2:
        return []
    found = []
    for _, test in folds.split(labels.index, labels.index):
        unlabeled = labels.unlabeled.copy()
        unlabeled[test] = True
        found.append((replace(labels, unlabeled=unlabeled), test))
    return found


Scorer = Callable[..., float]


@dataclass(frozen=True)
class Judge:
    """What ``scoring=`` asks for: a scorer of scikit-learn, by name or not, or a function of labels."""

    metric: Callable[..., float] | None  # of true and predicted classes, as places in ``classes_``, or else
    scorer: Scorer | None  # of an estimator, points and labels
    bounded: bool = True  # scores are at most 1
    weighted: bool = False  # it takes ``sample_weight``

    @classmethod
    def of(cls, scoring: Any) -> Self:
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


class labeled_scorer:
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

    def __init__(self, scoring: str | Scorer = "accuracy", *, unlabeled: Any = "auto") -> None:
        self.scoring, self.unlabeled = scoring, unlabeled

    def __call__(self, estimator: Any, X: Any, y: Any, **arguments: Any) -> float:
        """The score at the labelled points; arguments, such as weights, are reduced to these points, too."""
        known, labels = labeled_points(y, marker_of(estimator, self.unlabeled), " to score")
        own = {name: value if value is None else np.asarray(value)[known] for name, value in arguments.items()}
        scorer = check_scoring(estimator, scoring=self.scoring)
        return float(scorer(estimator, _safe_indexing(X, known), labels, **own))

    def get_metadata_routing(self) -> Any:
        """What the scorer requests, as scikit-learn asks for it."""
        return get_routing_for_object(get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring)

    def __repr__(self) -> str:
        return f"labeled_scorer({self.scoring!r}, unlabeled={self.unlabeled!r})"
