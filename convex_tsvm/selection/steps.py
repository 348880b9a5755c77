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
    """A classifier of this package and the transformers before it, None if there are none; ``whole`` is both together.

    ``name`` is that of the classifier's step in the pipeline, "" without a pipeline.
    """

    whole: Any
    before: Pipeline | None
    name: str
    classifier: Any

    @classmethod
    def of(cls, estimator: Any) -> Steps:
        """The steps of an estimator, fitted or not.

        ValueError is raised if it is neither a classifier of this package nor a pipeline that ends in one.
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
        """The prefix of the classifier's parameters among those of the whole estimator, such as "svc__"; or ""."""
        return f"{self.name}__" if self.name else ""

    def transformed(self, X: Any, y: Any) -> tuple[Pipeline | None, Any]:
        """Copies of the transformers, fitted to all points, and the transformed points; None and X without any."""
        if self.before is None:
            return None, X
        before = clone(self.before)
        return before, before.fit_transform(X, y)

    def joined(self, before: Pipeline | None, classifier: Any) -> Any:
        """The whole estimator, of fitted transformers and another classifier."""
        if not self.name:
            return classifier
        steps = [*(() if before is None else before.steps), (self.name, classifier)]
        return clone(self.whole).set_params(steps=steps)  # other settings of the pipeline, such as memory, stay

    def own(self, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
        """The whole estimator's parameters by the classifier's names; None if one is not the classifier's."""
        found = {}
        for name, value in parameters.items():
            if not name.startswith(self.prefix) or "__" in name[len(self.prefix) :]:
                return None
            found[name[len(self.prefix) :]] = value
        return found


def marker_of(estimator: Any) -> Any:
    """How an estimator marks unlabelled points in ``y``; pipelines and meta-estimators around it are looked through.

    ValueError is raised if it has no such marker.
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
    """Fit an estimator's transformers to all points, and its classifier to ``members``, indices of some of them.

    With the labelled points as members that gives the supervised classifier to compare with.
    """
    steps = Steps.of(estimator)
    before, points = steps.transformed(X, y)
    classifier = clone(steps.classifier).fit(_safe_indexing(points, members), _safe_indexing(y, members))
    return steps.joined(before, classifier)
