"""Pipelines that end in a classifier of this package: what stands before it, and the classifier itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from ..estimators.base import Transduction
from ..estimators.transductive import TransductiveSVC


@dataclass(frozen=True)
class Steps:
    """A classifier of this package with the transformers before it, if there are some.

    Attributes
    ----------
    whole : estimator
        All of it.
    before : Pipeline or None
        The transformers.
    name : str
        What the classifier is called in the pipeline; "" without one.
    classifier : estimator
    """

    whole: Any
    before: Pipeline | None
    name: str
    classifier: Any

    @classmethod
    def of(cls, estimator: Any) -> Steps:
        """The steps of an estimator, fitted or not.

        Parameters
        ----------
        estimator : estimator
            A classifier of this package, or a pipeline that ends in one.

        Raises
        ------
        ValueError
            If it is neither.
        """
        before, name, classifier = None, "", estimator
        if isinstance(estimator, Pipeline):
            name, classifier = estimator.steps[-1]
            before = estimator[:-1] if len(estimator.steps) > 1 else None
        if not isinstance(classifier, Transduction):
            raise ValueError(
                f"estimator={estimator!r} must be a classifier of this package, such as TransductiveSVC, or a pipeline "
                "that ends in one"
            )
        return cls(estimator, before, name, classifier)

    @property
    def prefix(self) -> str:
        """What stands before the names of the classifier's parameters."""
        return f"{self.name}__" if self.name else ""

    def transformed(self, X: Any, y: Any) -> tuple[Pipeline | None, Any]:
        """Transformers that are fitted to points, labelled or not, and what they make of these."""
        if self.before is None:
            return None, X
        before = clone(self.before)
        return before, before.fit_transform(X, y)

    def joined(self, before: Pipeline | None, classifier: Any) -> Any:
        """The whole estimator, of fitted transformers and another classifier."""
        if not self.name:
            return classifier
        steps = [*(() if before is None else before.steps), (self.name, classifier)]
        return clone(self.whole).set_params(steps=steps)  # its memory and kind of output stay

    def own(self, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
        """The classifier's parameters out of the whole estimator's; None if there are others as well."""
        found = {}
        for name, value in parameters.items():
            if not name.startswith(self.prefix) or "__" in name[len(self.prefix) :]:
                return None
            found[name[len(self.prefix) :]] = value
        return found


def marker_of(estimator: Any) -> Any:
    """How an estimator marks unlabelled points in ``y``, whatever is around the classifier.

    Parameters
    ----------
    estimator : estimator

    Raises
    ------
    ValueError
        If it has no such marker.
    """
    while True:
        if isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        if hasattr(estimator, "unlabeled"):
            return estimator.unlabeled
        if not hasattr(estimator, "estimator"):
            raise ValueError(f"estimator={estimator!r} marks no unlabelled points: it must be one of this package")
        estimator = TransductiveSVC() if estimator.estimator is None else estimator.estimator


def fitted_apart(estimator: Any, X: Any, y: Any, members: Any) -> Any:
    """Transformers fitted to all points, and the classifier to some of them: the supervised one, of labelled points.

    Parameters
    ----------
    estimator : estimator
        As for :meth:`Steps.of`.
    X, y
        All points and their labels.
    members : int array, shape (m,)
        The points that the classifier is fitted to.

    Returns
    -------
    estimator
        The fitted whole.
    """
    steps = Steps.of(estimator)
    before, points = steps.transformed(X, y)
    classifier = clone(steps.classifier).fit(_safe_indexing(points, members), _safe_indexing(y, members))
    return steps.joined(before, classifier)
