"""A grid search for few labels, in which everything that candidates share is computed once."""

from __future__ import annotations

import contextlib
import numbers
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..deadline import TimeIsUp, time_is_up
from ..decision import chosen_classes
from ..estimators.advice import advise, drawn_per_class
from ..estimators.descent import DescentTransduction
from ..estimators.labels import Labels
from ..estimators.transductive import TransductiveSVC
from ..kernels import RBF
from ..methods.frame import unless_interrupted
from ..progress import status_line
from ..solution import Solution
from ..validation import finite, one_of
from .splits import LabeledKFold

Array = NDArray[np.float64]

#: Parameters of which candidates with the same kernel matrix may have different values.
SHARING = ("C", "C_unlabeled", "C_compact", "balance", "epsilon", "loss", "s")

#: What is tried by default: costs, and factors on the width of the kernel.  Where scores are equal the first is taken.
COSTS, FACTORS = (10.0, 1.0, 100.0), (1.0, 0.5, 2.0)

METRICS: dict[str, Callable[..., float]] = {
    "accuracy": accuracy_score,
    "balanced_accuracy": balanced_accuracy_score,
}


class TransductiveSearchCV(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Cross-validation over a grid of parameters: ``GridSearchCV`` for semi-supervised SVMs, and several times faster.

    Every candidate is judged at labelled points that are left out; all unlabelled points are always there.  Candidates
    with the same kernel share its matrix, over all folds and classes; one that differs from another by a larger C only
    starts at the outputs of that (``warm_start``); they are solved as accurately as it takes to tell points apart
    (``tol``); and one that could not be the best any more, even if it were right at all points to come, is dropped
    (``prune``).

    Parameters
    ----------
    estimator : TransductiveSVC, CompactMarginClassifier, RelativeMarginClassifier or LaplacianSVC, optional
        By default a :class:`TransductiveSVC`.
    param_grid : dict of str to sequence, or list of such, optional
        As in ``GridSearchCV``.  By default three values of C and three widths of an RBF kernel around the default one,
        without the unlabelled points (the supervised SVM) and with them, balanced as the labels are and not at all; and
        not at all only, if labels look drawn per class.
    cv : int, splitter, or pairs of training and test sets, default 5
        Folds of the labelled points; fewer if the largest class has fewer labels.
    n_repeats : int, default 1
        How often the labelled points are divided into folds anew, if ``cv`` is a number.
    scoring : {"accuracy", "balanced_accuracy"} or callable, default "accuracy"
        A function of true and predicted labels, between 0 and 1, larger for better ones.  Those with a name count
        points by their ``sample_weight``.
    warm_start : bool, default True
        Whether descents follow C as it rises, and end in the minima that this leads to; the chosen candidate is fitted
        in the same way.  Without it every descent begins at the supervised SVM, as ``fit`` does, and the scores are
        those of ``GridSearchCV`` with :class:`LabeledKFold`, up to ``tol``.
    tol : float > 0, default 0.1
        Tolerance of candidates, in units of the outputs, if it is more than their own, to which the chosen one is
        fitted.  Labels depend on it only where outputs are nearly 0.
    prune : bool, default True
        Whether to drop candidates before they have seen all folds.
    ties : {"agreement", "first"}, default "agreement"
        Which of the candidates with the best score is taken; with few labels there are many.  "agreement": the one
        that labels the unlabelled points most as the others of them do; "first", as in ``GridSearchCV``.
    random_state : int, default 0
        Of the folds.
    n_jobs : int, optional
        Kernels at the same time (joblib).
    verbose : int, default 0
        1 shows on a terminal how far the search is.

    Attributes
    ----------
    best_estimator_ : estimator
        Fitted to all points.
    best_params_ : dict
    best_score_ : float
    best_index_ : int
    status_ : {"converged", "interrupted"}
        "interrupted" if Ctrl-C came, which also raises ``KeyboardInterrupt``: the best candidate is that of those that
        had seen all folds.
    cv_results_ : dict of arrays
        ``params``, ``param_*``, ``mean_test_score``, ``std_test_score``, ``rank_test_score``, ``split*_test_score``
        (NaN where a candidate had been dropped), ``n_splits``, the number of folds a candidate has seen, and
        ``agreement`` of those with the best score.  Means are over the folds that were seen; a candidate that was
        dropped has a mean below the best.
    classes_, transduction_, transduction_scores_
        Those of ``best_estimator_``.

    Examples
    --------
    >>> import numpy as np
    >>> from convex_tsvm import TransductiveSearchCV
    >>> X = np.linspace(-2, 2, 41)[:, None]
    >>> y = np.where(np.arange(41) % 5 == 0, X.ravel() > 0, -1)
    >>> TransductiveSearchCV(cv=3).fit(X, y).best_score_
    1.0
    """

    def __init__(
        self,
        estimator: Any = None,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] | None = None,
        *,
        cv: Any = 5,
        n_repeats: int = 1,
        scoring: str | Callable[..., float] = "accuracy",
        warm_start: bool = True,
        tol: float = 0.1,
        prune: bool = True,
        ties: str = "agreement",
        random_state: int = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.n_repeats = n_repeats
        self.scoring = scoring
        self.warm_start = warm_start
        self.tol = tol
        self.prune = prune
        self.ties = ties
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose, and fit the chosen candidate to all points; arguments as those of the estimator's ``fit``.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (n, n_features)
        y : array, shape (n,)
            Labels, with the estimator's ``unlabeled`` where unknown.
        sample_weight : array, shape (n,), optional

        Returns
        -------
        self
        """
        estimator = TransductiveSVC() if self.estimator is None else self.estimator
        if not isinstance(estimator, DescentTransduction):
            raise ValueError(
                f"estimator={estimator!r} must be a TransductiveSVC, CompactMarginClassifier, RelativeMarginClassifier "
                "or LaplacianSVC; GridSearchCV(estimator, grid, cv=LabeledKFold()) takes any other"
            )
        scoring = METRICS.get(self.scoring) if isinstance(self.scoring, str) else self.scoring
        if scoring is None:
            raise ValueError(f"scoring={self.scoring!r} must be one of {', '.join(METRICS)}, or a function")
        one_of("ties", self.ties, ("agreement", "first"))
        fitted = clone(estimator)
        checked, labels = fitted._read(X, y, sample_weight)
        y = column_or_1d(y)  # the fit has warned of a column
        parts = self._parts(X, y, labels, estimator.unlabeled)
        grid = _default_grid(estimator, checked, labels) if self.param_grid is None else self.param_grid
        candidates = list(ParameterGrid(grid))
        rough = clone(estimator).set_params(tol=max(finite("tol", self.tol, above=0), estimator.tol))
        groups = [
            _Group(members, checked, labels, parts, scoring, self.warm_start) for members in _sharing(rough, candidates)
        ]
        scores, self.status_ = np.full((len(candidates), len(parts)), np.nan), "converged"
        try:
            self._score(groups, scores)
            self._store_results(candidates, scores, groups)
        except (KeyboardInterrupt, TimeIsUp) as stop:
            self._stop("interrupted" if isinstance(stop, KeyboardInterrupt) else "time_limit", candidates, scores)
        self.best_estimator_ = fitted.set_params(**self.best_params_)
        before = self._before(candidates) if self.warm_start else []
        group = _Group({i: clone(estimator).set_params(**candidates[i]) for i in before}, checked, labels, [], scoring)
        fitted._finish(labels, group.follow(before, fitted))
        advise(labels, fitted.solutions_, fitted._asked_balance())
        for name in ("classes_", "transduction_", "transduction_scores_", "n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        if self.status_ == "interrupted":
            raise KeyboardInterrupt(
                "the search holds the best of the candidates that had seen all folds, and can be used as after a fit"
            )
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each point by the best estimator, shape (n,).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (n, n_features)

        Returns
        -------
        array, shape (n,)
        """
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict(X))

    def decision_function(self, X: Any) -> Array:
        """Outputs of the best estimator.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (n, n_features)

        Returns
        -------
        array, shape (n,) for two classes, else (n, n_classes)
        """
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.decision_function(X))

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of the best estimator; unlabelled points are left out.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (n, n_features)
        y : array, shape (n,)
        sample_weight : array, shape (n,), optional

        Returns
        -------
        float in [0, 1]
        """
        check_is_fitted(self, "best_estimator_")
        return float(self.best_estimator_.score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = (
            (TransductiveSVC() if self.estimator is None else self.estimator).__sklearn_tags__().input_tags
        )
        return tags

    def _parts(self, X: Any, y: Any, labels: Labels, marker: Any) -> list[tuple[Any, Any]]:
        """Training and test sets: of folds, of a splitter, or as they are given."""
        if hasattr(self.cv, "split"):
            return list(self.cv.split(X, y))
        if not isinstance(self.cv, (int, np.integer)):
            return list(self.cv)
        options = {"n_repeats": self.n_repeats, "random_state": self.random_state, "unlabeled": marker}
        return list(LabeledKFold.at_most(int(self.cv), labels.index[~labels.unlabeled], **options).split(X, y))

    def _score(self, groups: list[_Group], scores: Array) -> None:
        """Put scores of candidates on folds in their places, which stay NaN where there is no need to look.

        Parameters
        ----------
        groups : list of _Group
        scores : array, shape (n_candidates, n_folds)

        Raises
        ------
        TimeIsUp
        """
        n_candidates, n_folds = scores.shape
        jobs = min(effective_n_jobs(self.n_jobs), len(groups))

        def look(asked: list[tuple[_Group, int, list[int]]]) -> None:
            """Scores of some candidates of some groups on a fold each."""
            if time_is_up():
                raise TimeIsUp
            if jobs > 1:
                found = Parallel(n_jobs=jobs)(delayed(replace(group).scores)(f, which) for group, f, which in asked)
            else:
                found = [group.scores(f, which) for group, f, which in asked]
            for (_, f, _), one in zip(asked, found, strict=True):
                for i, score in one.items():
                    scores[i, f] = score

        with status_line(lambda: "search") if self.verbose else contextlib.nullcontext() as progress:
            for f in range(n_folds):
                alive = self._alive(scores)
                if progress is not None:
                    progress.tell(f"fold {f + 1} of {n_folds}, {alive.sum()} of {n_candidates} candidates")
                asked = [
                    (group, f, [i for i in group.estimators if alive[i] and np.isnan(scores[i, f])]) for group in groups
                ]
                look([one for one in asked if one[2]])
                # What looks best is looked at to the end, so that others can be dropped.
                best = int(np.where(self._alive(scores), np.nansum(scores, axis=1), -1.0).argmax())
                group = next(group for group in groups if best in group.estimators)
                for rest in range(f + 1, n_folds):
                    if np.isnan(scores[best, rest]):
                        look([(group, rest, [best])])

    def _stop(self, status: str, candidates: list[dict[str, Any]], scores: Array) -> None:
        """Choose among the candidates that had seen all folds when something ended the search."""
        done = int((~np.isnan(scores).any(axis=1)).sum())
        state = f"{done} of {len(candidates)} candidates had seen all folds"
        if status == "interrupted" and not done:
            raise KeyboardInterrupt(f"{state}: the search has nothing to show") from None
        self.status_ = status
        self._store_results(candidates, scores)
        warnings.warn(f"{status}: {state}; the best of them is fitted now", stacklevel=3)

    def _alive(self, scores: Array) -> NDArray[np.bool_]:
        """Candidates that may still be the best: were they right at all points to come, they would be no worse."""
        if not self.prune:
            return np.ones(len(scores), dtype=bool)
        reach = np.where(np.isnan(scores), 1.0, scores).mean(axis=1)
        done = ~np.isnan(scores).any(axis=1)
        best = scores[done].mean(axis=1).max() if done.any() else -np.inf
        return np.asarray(reach >= best - 1e-12)

    def _before(self, candidates: list[dict[str, Any]]) -> list[int]:
        """The candidates that differ from the best one by a smaller C only, in order."""
        found = [chain for chain in _chains(dict(enumerate(candidates)), True) if self.best_index_ in chain]
        return found[0][: found[0].index(self.best_index_)]

    def _agreement(self, groups: Sequence[_Group], tied: list[int]) -> Array:
        """How far each of some candidates labels the unlabelled points as the others of them do, shape (len(tied),)."""
        labels = groups[0].labels
        unlabeled = np.flatnonzero(labels.unlabeled)
        found: dict[int, NDArray[np.intp]] = {}
        for group in groups:
            found.update(group.classes(labels, [i for i in tied if i in group.estimators], unlabeled))
        chosen = np.array([found[i] for i in tied])
        return np.array([(chosen == one).mean() for one in chosen])

    def _store_results(self, candidates: list[dict[str, Any]], scores: Array, groups: Sequence[_Group] = ()) -> None:
        """What has been found, and what is the best of it; without groups, the first of those with the best score."""
        seen = ~np.isnan(scores)
        means, deviations = np.full((2, len(scores)), np.nan)
        some = seen.any(axis=1)
        means[some], deviations[some] = np.nanmean(scores[some], axis=1), np.nanstd(scores[some], axis=1)
        done = ~np.isnan(scores).any(axis=1)
        results: dict[str, Any] = {"params": candidates}
        for name in sorted({name for one in candidates for name in one}):
            results[f"param_{name}"] = np.array([one.get(name) for one in candidates], dtype=object)
        for f in range(scores.shape[1]):
            results[f"split{f}_test_score"] = scores[:, f]
        results["mean_test_score"], results["std_test_score"] = means, deviations
        results["n_splits"] = seen.sum(axis=1)
        # Those that were dropped come after all others, and those that no fold has seen after these.
        order = np.where(some, np.where(done, means, means - 1.0), -np.inf)
        results["rank_test_score"] = np.array([int((order > value + 1e-12).sum()) + 1 for value in order])
        self.cv_results_ = results
        tied = np.flatnonzero(results["rank_test_score"] == 1)
        results["agreement"] = np.full(len(candidates), np.nan)
        if self.ties == "agreement" and len(tied) > 1 and groups and groups[0].labels.unlabeled.any():
            results["agreement"][tied] = self._agreement(groups, tied.tolist())
            # Candidates that label alike agree up to rounding: the first of them is taken.
            tied = tied[results["agreement"][tied] >= results["agreement"][tied].max() - 1e-12]
        self.best_index_ = int(tied[0])
        self.best_params_, self.best_score_ = candidates[self.best_index_], float(means[self.best_index_])


@dataclass(eq=False)
class _Group:
    """Candidates with the same points and kernel, by their places among all; ``replace`` makes one that keeps nothing.

    Attributes
    ----------
    estimators : dict of int to estimator
    X, labels, parts, scoring, warm_start
        Points as they are checked, their labels, pairs of a training and a test set, and as in the search.
    """

    estimators: dict[int, Any]
    X: Any
    labels: Labels
    parts: list[tuple[Any, Any]]
    scoring: Callable[..., float]
    warm_start: bool = True
    _first: Any = field(default=None, init=False)
    _descents: Any = field(default=None, init=False)

    def scores(self, fold: int, which: list[int]) -> dict[int, float]:
        """Scores on a fold of the candidates asked for, and of those that they are started from."""
        test, given = self.parts[fold][1], self.labels.weights
        weights = np.ones(len(self.labels.index)) if given is None else given.copy()
        # Points that are left out stay in the problem, at a cost of 0, so that its kernel matrix is that of all.
        weights[test] = 0.0
        truth, counted = self.labels.index[test], {}
        if given is not None and self.scoring in METRICS.values():
            counted["sample_weight"] = given[test]
        chosen = self.classes(replace(self.labels, weights=weights), which, test)
        return {i: float(self.scoring(truth, found, **counted)) for i, found in chosen.items()}

    def classes(self, labels: Labels, which: list[int], points: NDArray[np.intp]) -> dict[int, NDArray[np.intp]]:
        """Classes of some points by the candidates asked for, and by those that they are started from."""
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
            found.update({chain[place]: chosen_classes(outputs[place]) for place in range(last + 1)})
        return found

    def follow(self, chain: list[int], last: Any) -> list[Solution]:
        """The solutions of a candidate on all points, started from those of others, one after the other."""
        found = []
        for k in self.labels.positives:
            before = None
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
            # The kernel is that of all points, whatever is left out.
            self._first = estimator._problem(self.X, self.labels, k)
        problem = self._first.replace(**estimator._given(labels, k))
        formulation = estimator._formulation(problem)
        if not labels.unlabeled.any():
            formulation = formulation.supervised()
        descents = estimator._descents(formulation) if exactly or self._descents is None else self._descents
        if not exactly:
            self._descents = descents
        with warnings.catch_warnings():
            warnings.simplefilter("default" if exactly else "ignore")
            solution, _ = descents.solve(formulation, problem, start=None if before is None else before.scores)
        if not exactly:
            unless_interrupted([solution])
            if solution.status == "time_limit":
                raise TimeIsUp
        return solution


def _chains(parameters: Mapping[int, Mapping[str, Any]], together: bool) -> list[list[int]]:
    """Places of candidates that differ by C only, from the least C on; each on its own if not ``together``."""
    chains: dict[str, list[int]] = {}
    for i, own in parameters.items():
        others = sorted((name, repr(value)) for name, value in own.items() if name != "C")
        alone = not together or not isinstance(own.get("C"), numbers.Real)
        chains.setdefault(repr((i if alone else -1, others)), []).append(i)
    return [sorted(chain, key=lambda i: float(parameters[i].get("C", 0.0))) if len(chain) > 1 else chain
            for chain in chains.values()]  # fmt: skip


def _sharing(estimator: Any, candidates: list[dict[str, Any]]) -> list[dict[int, Any]]:
    """Estimators of the candidates, by their places, together where the kernel is the same."""
    shared: dict[str, dict[int, Any]] = {}
    for i, parameters in enumerate(candidates):
        candidate = clone(estimator).set_params(**parameters)
        own = {name: value for name, value in candidate.get_params(deep=False).items() if name not in SHARING}
        shared.setdefault(repr(sorted(own.items(), key=lambda item: item[0])), {})[i] = candidate
    return list(shared.values())


def _default_grid(estimator: Any, X: Any, labels: Labels) -> Mapping[str, Any] | list[dict[str, Any]]:
    grid: dict[str, Sequence[Any]] = {"C": COSTS}
    parameters = estimator.get_params(deep=False)
    if parameters.get("kernel") == "rbf":
        every = np.full(X.shape[0], 0)
        kernel = estimator._kernel(X, Labels(np.array([0, 1]), every, every == 1, labels.weights))
        if isinstance(kernel, RBF):
            grid["sigma"] = tuple(factor / float(np.sqrt(2 * kernel.gamma)) for factor in FACTORS)
    if "loss" not in parameters:
        return grid
    own = parameters["C_unlabeled"]
    semi_supervised = {**grid, "C_unlabeled": ("tenth" if own is None else own,)}
    if isinstance(parameters["balance"], str):
        # Labels that were drawn per class say nothing of the shares of the classes.
        semi_supervised["balance"] = (None,) if drawn_per_class(labels) else (parameters["balance"], None)
    return [semi_supervised, {**grid, "C_unlabeled": (None,)}]
