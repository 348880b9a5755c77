"""Pipelines that end in a classifier of this package, and fits of the candidates of a search, alone or together."""

import contextlib
import inspect
import numbers
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..deadline import TimeIsUp, share_of_time, time_is_up, within
from ..decision import chosen_classes
from ..estimators.base import Transduction
from ..estimators.labels import Labels
from ..estimators.transductive import TransductiveSVC
from ..methods.run import unless_interrupted
from ..problem import Problem
from ..solution import Solution
from .splits import Judge


@dataclass(frozen=True)
class Steps:
    """A classifier of this package and the transformers before it."""

    whole: Any  # both together
    before: Pipeline | None
    name: str  # of the classifier's step in the pipeline, "" without a pipeline
    classifier: Any

    @classmethod
    def of(cls, estimator: Any) -> Self:
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
        """A copy of the classifier that learns one class against the rest, labels, and the problem of the first class.

        A ValueError says if all labels are known.
        """
        own = clone(self.classifier)
        if "multi_class" in own.get_params(deep=False):
            own.set_params(multi_class="ovr")  # every class has a path of its own
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


class PlainFits:
    """Candidates that share nothing, dicts of parameters: every one of them is fitted to every fold."""

    def __init__(self, estimator: Any, candidates: list[dict[str, Any]], X: Any, y: Any, sample_weight: Any) -> None:
        classifier = Steps.of(estimator).classifier
        self.labels = Labels.read(y, classifier.unlabeled, type(classifier).__name__, sample_weight)
        # ``Labels.read`` has already warned where y is a column.
        self.candidates, self.X, self.y = candidates, X, column_or_1d(y)
        check_consistent_length(X, self.y)
        self.estimators = [clone(estimator).set_params(**one) for one in candidates]

    def groups(self, parts: list[tuple[Any, Any]], judge: Judge) -> list["Alone"]:
        """Every candidate is a group of its own."""
        return [Alone(i, self, parts, judge) for i in range(len(self.candidates))]

    def chosen(self, i: int) -> Any:
        return self.estimators[i]

    def finish(self, i: int, *, alone: bool = False) -> None:
        """Fit the chosen candidate to all points; ``alone`` makes no difference, as no other's outputs are used."""
        fitted(self.estimators[i], self.X, self.y, self.labels.weights)


@dataclass(eq=False)
class Alone:
    """A group of one candidate; ``place`` is its place among all, ``parts`` are pairs of a training and a test set."""

    place: int
    fits: PlainFits
    parts: list[tuple[Any, Any]]
    judge: Judge

    def __post_init__(self) -> None:
        self.estimators = {self.place: self.fits.estimators[self.place]}
        self.X, self.y, self.labels = self.fits.X, self.fits.y, self.fits.labels

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
        with warnings.catch_warnings(action="ignore"):
            found = fitted(clone(self.estimators[self.place]), X, y, weights)
        if time_is_up():
            raise TimeIsUp  # the fit may have been cut short
        return found


class SharedFits:
    """Candidates that differ in parameters of one classifier with a kernel only, on the same transformed points.

    ``candidates`` are parameters of the whole estimator, or None if the attribute is set later.  With ``warm_start``
    descents follow C; ``tol`` is the tolerance of candidates if it is larger than their own.
    """

    def __init__(
        self,
        steps: Steps,
        candidates: list[dict[str, Any]] | None,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        warm_start: bool,
        tol: float,
    ) -> None:
        self.steps, self.warm_start = steps, warm_start
        self.before, points = steps.transformed(X, y)
        self.fitted = clone(steps.classifier)
        self.X, self.labels = self.fitted._read(points, y, sample_weight)
        if self.labels.unlabeled.any() and self.fitted._asked_balance() == "auto":
            # Shares of the classes are inferred once, from all points, for all candidates and folds.
            first = self.fitted._problem(self.X, self.labels, self.labels.positives[0])
            self.labels = self.fitted._with_shares(first, self.labels)
        self.candidates, self.tol = candidates or [], tol

    def groups(self, parts: list[tuple[Any, Any]], judge: Judge) -> list["Group"]:
        """Candidates that share a kernel matrix, together."""
        rough = clone(self.steps.classifier).set_params(tol=max(self.tol, self.steps.classifier.tol))
        if len(self.labels.classes) > 2 and "multi_class" in rough.get_params(deep=False):
            rough.set_params(multi_class="ovr")  # candidates are compared by fits of one class, which are faster
        # Parameters of which candidates with the same kernel matrix may have different values.
        others = ("C", "C_unlabeled", "C_compact", "balance", "epsilon", "loss", "s")
        shared: dict[str, dict[int, Any]] = {}
        for i, one in enumerate(self.candidates):
            candidate = clone(rough).set_params(**(self.steps.own(one) or {}))
            candidate._sizes = self.fitted._sizes
            own = {name: value for name, value in candidate.get_params(deep=False).items() if name not in others}
            shared.setdefault(repr(sorted(own.items(), key=lambda item: item[0])), {})[i] = candidate
        return [Group(some, self.X, self.labels, parts, judge, self.warm_start) for some in shared.values()]

    def chosen(self, i: int) -> Any:
        self.fitted.set_params(**(self.steps.own(self.candidates[i]) or {}))
        return self.steps.joined(self.before, self.fitted)

    def finish(self, i: int, *, alone: bool = False) -> None:
        """Fit the chosen candidate to all points, as accurately as it asks for; ``alone``: from no other's outputs."""
        own = [self.steps.own(one) or {} for one in self.candidates]
        before: list[int] = []
        if self.warm_start and not alone:
            chain = next(chain for chain in _chains(dict(enumerate(own)), True) if i in chain)
            before = chain[: chain.index(i)]
        classifier = self.steps.classifier
        estimators = {k: clone(classifier).set_params(**own[k]) for k in before}
        group = Group(estimators, self.X, self.labels, [], Judge.of("accuracy"))
        self.fitted._finish(self.labels, group.follow(before, self.fitted))


class AsTheyAre(ClassifierMixin, BaseEstimator):
    """A classifier whose points are outputs, shape (n, 1 or n_classes), which it returns as its decision function."""

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> Any:
        return X.ravel() if X.shape[1] == 1 else X

    def predict(self, X: Any) -> Any:
        return self.classes_[chosen_classes(X)]


@dataclass(eq=False)
class Group:
    """Candidates with the same points and kernel, by their places among all; ``replace`` copies no kernel matrix."""

    estimators: dict[int, Any]
    X: Any
    labels: Labels
    parts: list[tuple[Any, Any]]
    judge: Judge
    warm_start: bool = True
    _first: Any = field(default=None, init=False)
    _descents: dict[type, Any] = field(default_factory=dict, init=False)

    def scores(self, fold: int, which: list[int]) -> dict[int, float]:
        """Scores on a fold of the candidates asked for, and of those that they are started from."""
        test, given = self.parts[fold][1], self.labels.weights
        weights = np.ones(len(self.labels.index)) if given is None else given.copy()
        # Points that are left out stay in the problem, at a cost of 0, so that its kernel matrix is that of all.
        weights[test] = 0.0
        classes, own = self.labels.classes, None if given is None else given[test]
        truth = classes[self.labels.index[test]]
        found = self.outputs(replace(self.labels, weights=weights), which, test)
        return {i: self.judge(AsTheyAre().fit(None, classes), one, truth, own) for i, one in found.items()}

    def transductions(self, which: list[int]) -> dict[int, NDArray[np.intp]]:
        """Indices of the unlabelled points' classes by the candidates asked for, and by those that they start from."""
        found = self.outputs(self.labels, which, np.flatnonzero(self.labels.unlabeled))
        return {i: chosen_classes(one) for i, one in found.items()}

    def outputs(self, labels: Labels, which: list[int], points: NDArray[np.intp]) -> dict[int, NDArray[np.float64]]:
        """Outputs at some points, shape (n_points, 1 or n_classes), of candidates and of those that they start from."""
        parameters = {i: estimator.get_params(deep=False) for i, estimator in self.estimators.items()}
        found = {}
        together = any(estimator._is_joint for estimator in self.estimators.values())  # which begins anew
        for chain in _chains(parameters, self.warm_start and not together):
            last = max((place for place, i in enumerate(chain) if i in which), default=-1)
            outputs = np.empty((last + 1, len(points), len(labels.positives)))
            for column, k in enumerate(labels.positives):
                before = None
                for place, i in enumerate(chain[: last + 1]):
                    before = self._solution(self.estimators[i], labels, k, before)
                    outputs[place, :, column] = before.scores[points]
            found.update({chain[place]: outputs[place] for place in range(last + 1)})
        return found

    def follow(self, chain: list[int], last: Any) -> list[Solution]:
        """Solutions of ``last`` on all points, one for each class, each started from those of ``chain`` in turn."""
        if last._is_joint:
            return self._together(last)
        found: list[Solution] = []
        for k in self.labels.positives:
            before = None
            with share_of_time(len(self.labels.positives) - len(found)):
                with contextlib.suppress(TimeIsUp):
                    for i in chain:
                        before = self._solution(self.estimators[i], self.labels, k, before)
                found.append(self._solution(last, self.labels, k, before, exactly=True))
            if found[-1].status == "interrupted":
                break
        return found

    def _together(self, estimator: Any) -> list[Solution]:
        """The solutions of all classes on all points, learned together."""
        first = estimator._problem(self.X, self.labels, self.labels.positives[0])
        formulation = estimator._formulation(first)
        formulation = formulation if self.labels.unlabeled.any() else formulation.supervised()
        with within(estimator.time_limit):
            parts = estimator._parts(first, self.labels, formulation)
            return [solution for part in parts for solution in estimator._solve(formulation, part)]

    def _solution(
        self, estimator: Any, labels: Labels, k: int, before: Solution | None, exactly: bool = False
    ) -> Solution:
        """Class k against the rest, from the outputs of another solution, if there is one."""
        if self._first is None:
            # Its kernel matrix, of all points, serves every fold and class.
            self._first = estimator._problem(self.X, self.labels, k)
        problem = self._first.replace(**estimator._given(labels, k))
        formulation = estimator._formulation(problem)
        if not labels.unlabeled.any():
            formulation = formulation.supervised()
        # Without unlabelled points the method may be another one.
        method = type(estimator._method(formulation))
        descents = None if exactly else self._descents.get(method)
        if descents is None:
            descents = estimator._descents(formulation)
            self._descents |= {} if exactly else {method: descents}
        with warnings.catch_warnings(action="default" if exactly else "ignore"), within(estimator.time_limit):
            solution, _ = descents.solve(formulation, problem, start=None if before is None else before.scores)
        if not exactly:
            unless_interrupted([solution])
            if time_is_up():
                raise TimeIsUp
        return solution


def _chains(parameters: Mapping[int, Mapping[str, Any]], together: bool) -> list[list[int]]:
    """Chains of candidates that differ in C only, with C increasing; unless ``together`` each is a chain of its own."""
    chains: dict[str, list[int]] = {}
    for i, own in parameters.items():
        others = sorted((name, repr(value)) for name, value in own.items() if name != "C")
        alone = not together or not isinstance(own.get("C"), numbers.Real)
        chains.setdefault(repr((i if alone else -1, others)), []).append(i)
    for chain in chains.values():
        if len(chain) > 1:
            chain.sort(key=lambda i: float(parameters[i]["C"]))
    return list(chains.values())
