"""Fits of the candidates of a search, one by one or with the kernel matrix and the starts that they share."""

from __future__ import annotations

import contextlib
import numbers
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d

from ..deadline import TimeIsUp, share_of_time, time_is_up, within
from ..decision import chosen_classes
from ..estimators.calibration import AsTheyAre, n_calibrations
from ..estimators.labels import Labels
from ..methods.run import unless_interrupted
from ..solution import Solution
from .splits import Judge
from .steps import Steps, fitted


class PlainFits:
    """Candidates that share nothing, dicts of parameters: every one of them is fitted to every fold."""

    def __init__(self, estimator: Any, candidates: list[dict[str, Any]], X: Any, y: Any, sample_weight: Any) -> None:
        classifier = Steps.of(estimator).classifier
        self.labels = Labels.read(y, classifier.unlabeled, type(classifier).__name__, sample_weight)
        # ``Labels.read`` has already warned where y is a column.
        self.candidates, self.X, self.y = candidates, X, column_or_1d(y)
        check_consistent_length(X, self.y)
        self.estimators = [clone(estimator).set_params(**one) for one in candidates]

    def groups(self, parts: list[tuple[Any, Any]], judge: Judge) -> list[Alone]:
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
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
        self.points, self.y = points, y
        self.X, self.labels = self.fitted._read(points, y, sample_weight)
        if self.labels.unlabeled.any() and self.fitted._asked_balance() == "auto":
            # Shares of the classes are inferred once, from all points, for all candidates and folds.
            first = self.fitted._problem(self.X, self.labels, self.labels.positives[0])
            self.labels = self.fitted._with_shares(first, self.labels)
        self.candidates, self.tol = candidates or [], tol

    def groups(self, parts: list[tuple[Any, Any]], judge: Judge) -> list[Group]:
        """Candidates that share a kernel matrix, together."""
        rough = clone(self.steps.classifier).set_params(tol=max(self.tol, self.steps.classifier.tol))
        own = [self.steps.own(one) or {} for one in self.candidates]
        return [Group(members, self.X, self.labels, parts, judge, self.warm_start) for members in _sharing(rough, own)]

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
        with share_of_time(1 + n_calibrations(self.fitted.probability, self.points, self.labels)):
            solutions = group.follow(before, self.fitted)
        self.fitted._finish(self.labels, solutions)
        self.fitted._calibrate(self.points, self.y, self.labels)


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
    _descents: Any = field(default=None, init=False)

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
        for chain in _chains(parameters, self.warm_start):
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
        descents = self._descents
        if exactly or descents is None:
            descents = estimator._descents(formulation)
            self._descents = self._descents if exactly else descents
        with warnings.catch_warnings():
            warnings.simplefilter("default" if exactly else "ignore")
            with within(estimator.time_limit):
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


def _sharing(estimator: Any, candidates: list[dict[str, Any]]) -> list[dict[int, Any]]:
    """Groups of estimators with the same kernel matrix, each group by the candidates' places."""
    shared: dict[str, dict[int, Any]] = {}
    for i, parameters in enumerate(candidates):
        candidate = clone(estimator).set_params(**parameters)
        # Parameters of which candidates with the same kernel matrix may have different values.
        others = ("C", "C_unlabeled", "C_compact", "balance", "epsilon", "loss", "s")
        own = {name: value for name, value in candidate.get_params(deep=False).items() if name not in others}
        shared.setdefault(repr(sorted(own.items(), key=lambda item: item[0])), {})[i] = candidate
    return list(shared.values())
