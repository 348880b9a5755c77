"""Fits of candidates one by one: any classifier of this package, any parameter, also of a pipeline's other steps."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d

from ..deadline import TimeIsUp, time_is_up
from ..estimators.labels import Labels
from .scoring import Judge
from .steps import Steps, fitted


class PlainFits:
    """Candidates that share nothing: every one of them is fitted to every fold.

    The estimator is a classifier of this package, or a pipeline that ends in one; candidates are dicts of parameters.
    """

    def __init__(self, estimator: Any, candidates: list[dict[str, Any]], X: Any, y: Any, sample_weight: Any) -> None:
        classifier = Steps.of(estimator).classifier
        self.labels = Labels.read(y, classifier.unlabeled, type(classifier).__name__, sample_weight)
        # ``Labels.read`` has already warned where y is a column.
        self.candidates, self.X, self.y = candidates, X, column_or_1d(y)
        check_consistent_length(X, self.y)
        self.estimators = [clone(estimator).set_params(**one) for one in candidates]

    def groups(self, parts: list[tuple[Any, Any]], judge: Judge) -> list[Alone]:
        """Every candidate is a group of its own."""
        return [Alone(i, one, self.X, self.y, self.labels, parts, judge) for i, one in enumerate(self.estimators)]

    def chosen(self, i: int) -> Any:
        """A candidate, not yet fitted."""
        return self.estimators[i]

    def finish(self, i: int, *, alone: bool = False) -> None:
        """Fit the chosen candidate to all points; ``alone`` makes no difference, as no other's outputs are used."""
        fitted(self.estimators[i], self.X, self.y, self.labels.weights)


@dataclass(eq=False)
class Alone:
    """A group of one candidate; ``place`` is its place among all, ``parts`` are pairs of a training and a test set."""

    place: int
    estimator: Any
    X: Any
    y: Any
    labels: Labels
    parts: list[tuple[Any, Any]]
    judge: Judge

    @property
    def estimators(self) -> dict[int, Any]:
        """The candidate by its place."""
        return {self.place: self.estimator}

    def scores(self, fold: int, which: list[int]) -> dict[int, float]:
        """The candidate's score on a fold, by its place; ``which`` is not used."""
        (train, test), weights = self.parts[fold], self.labels.weights
        own = self._fitted(_safe_indexing(self.X, train), self.y[train], None if weights is None else weights[train])
        truth = self.labels.classes[self.labels.index[test]]
        given = None if weights is None else weights[test]
        return {self.place: self.judge(own, _safe_indexing(self.X, test), truth, given)}

    def transductions(self, which: list[int]) -> dict[int, NDArray[np.intp]]:
        """Indices of the unlabelled points' classes, if ``which`` has the candidate's place; otherwise nothing."""
        if self.place not in which:
            return {}
        own = Steps.of(self._fitted(self.X, self.y, self.labels.weights)).classifier
        labels = np.array(own.transduction_[self.labels.unlabeled].tolist())
        return {self.place: np.searchsorted(self.labels.classes, labels)}

    def _fitted(self, X: Any, y: Any, weights: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = fitted(clone(self.estimator), X, y, weights)
        if time_is_up():
            raise TimeIsUp  # the fit may have been cut short
        return found
