"""Pipelines that end in a classifier of this package: what stands before it, and the classifier itself."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..estimators.base import Transduction
from ..estimators.labels import Labels
from ..estimators.transductive import TransductiveSVC
from ..problem import Problem


@dataclass(frozen=True)
class Steps:
    """A classifier of this package and the transformers before it."""

    whole: Any  # both together
    before: Pipeline | None
    name: str  # of the classifier's step in the pipeline, "" without a pipeline
    classifier: Any

    @classmethod
    def of(cls, estimator: Any) -> Steps:
        """The steps of an estimator, fitted or not; a ValueError if it does not end in a classifier of this package."""
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

    def begun(self, X: Any, y: Any, what: str) -> tuple[Any, Labels, Problem]:
        """A copy of the classifier, the labels, and the problem of the first class; an error if all are known."""
        own = clone(self.classifier)
        points, labels = own._read(self.transformed(X, y)[1], y)
        if not labels.unlabeled.any():
            raise ValueError(f"y has no unlabelled point: {what}")
        return own, labels, own._problem(points, labels, labels.positives[0])

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


def fitted(estimator: Any, X: Any, y: Any, weights: Any = None) -> Any:
    """Fit an estimator and return it; weights go to the classifier at the end of a pipeline."""
    if weights is None:
        return estimator.fit(X, y)
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    try:
        inspect.signature(last.fit).bind(X, y, sample_weight=weights)
    except TypeError:
        raise ValueError(f"sample_weight: estimator={last!r} takes no weights") from None
    prefix = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) and not routes() else ""
    return estimator.fit(X, y, **{f"{prefix}sample_weight": weights})


def routes() -> bool:
    """Whether scikit-learn's metadata routing is on."""
    return bool(sklearn.get_config()["enable_metadata_routing"])


def default_estimator(**options: Any) -> Any:
    """What wrappers fit if the user names no estimator; it requests weights."""
    made: Any = TransductiveSVC(**options)
    return made.set_fit_request(sample_weight=True) if routes() else made


class RoutesWeights:
    """What a meta-estimator has to whose ``fit`` weights come as the estimator inside requests them, or it itself."""

    estimator: Any

    def get_metadata_routing(self) -> Any:
        own = super().get_metadata_routing()  # type: ignore[misc]
        if own.fit.requests.get("sample_weight") is not None:
            return own
        inner = default_estimator() if self.estimator is None else self.estimator
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=inner, method_mapping=to_fit)

    def _requested(self, weights: Any) -> Any:
        """The weights, or None if the estimator inside refuses them; an error if it neither does nor requests them."""
        if weights is None or not routes() or not isinstance(self.get_metadata_routing(), MetadataRouter):
            return weights
        return process_routing(self, "fit", sample_weight=weights).estimator.fit.get("sample_weight")


def _within(name: str) -> Any:
    def has(self: Any) -> bool:
        inner = getattr(self, self._fitted_as, self.estimator)
        return hasattr(TransductiveSVC() if inner is None else inner, name)

    return available_if(has)


class ActsAsFitted:
    """What a meta-estimator has that says what the fitted estimator inside says, its attribute ``_fitted_as``."""

    _fitted_as = "estimator_"

    def _said(self, name: str, X: Any) -> Any:
        check_is_fitted(self, self._fitted_as)
        return np.asarray(getattr(getattr(self, self._fitted_as), name)(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each point of X, shape (n,)."""
        return self._said("predict", X)

    @_within("decision_function")
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Outputs at points X, shape (n,) for two classes, else (n, n_classes)."""
        return self._said("decision_function", X)

    @_within("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes at points X, shape (n, n_classes), if the estimator has them."""
        return self._said("predict_proba", X)


def fitted_apart(estimator: Any, X: Any, y: Any, members: Any) -> Any:
    """Fit an estimator's transformers to all points, and its classifier to ``members``, indices of some of them."""
    steps = Steps.of(estimator)
    before, points = steps.transformed(X, y)
    classifier = clone(steps.classifier).fit(_safe_indexing(points, members), _safe_indexing(y, members))
    return steps.joined(before, classifier)
