"""Cross-validation where few points have labels: unlabelled points are always trained on, and never tested."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator, RepeatedStratifiedKFold, StratifiedKFold

from ..estimators.labels import Labels, labeled_points
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
    def at_most(cls, n_splits: int, labels: NDArray[Any], **options: Any) -> LabeledKFold:
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

        Raises
        ------
        ValueError
            If the largest class has fewer labelled points than there are folds, or there is one class only.
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
        folds: Any = StratifiedKFold(self.n_splits, shuffle=True, random_state=self.random_state)
        if self.n_repeats > 1:
            own = {"n_splits": self.n_splits, "n_repeats": self.n_repeats, "random_state": self.random_state}
            folds = RepeatedStratifiedKFold(**own)
        with warnings.catch_warnings():
            # scikit-learn warns if a class has fewer points than folds, which is usual with few labels.
            warnings.simplefilter("ignore")
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
