"""A grid search for few labels, in which everything that candidates share is computed once."""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import column_or_1d

from ..deadline import Carried, TimeIsUp, time_is_up, time_left, until, within
from ..estimators.advice import advise
from ..estimators.base import KernelExpansion
from ..estimators.descent import Descent
from ..estimators.labels import Labels, ScoresLabeled
from ..estimators.transductive import TransductiveSVC
from ..kernels import RBF
from ..notice import warn
from ..problem import Array
from ..progress import status_line
from ..ties import falling
from ..validation import finite, one_of
from .fits import ActsAsFitted, PlainFits, RoutesWeights, SharedFits, Steps
from .splits import Judge, LabeledKFold


@dataclass(eq=False, repr=False)
class TransductiveSearchCV(
    ActsAsFitted, RoutesWeights, ScoresLabeled, MetaEstimatorMixin, ClassifierMixin, BaseEstimator
):
    """Cross-validation over a grid of parameters: ``GridSearchCV`` for semi-supervised SVMs, and several times faster.

    Every candidate is judged at labelled points that are left out; all unlabelled points are always there.  Candidates
    with the same kernel share its matrix, over all folds and classes, and one that could not be the best any more is
    dropped.

    Parameters
    ----------
    estimator : estimator, optional
        By default a :class:`TransductiveSVC`; or another classifier of this package, or a pipeline that ends in one.
        Candidates share their kernel if it is a TransductiveSVC, CompactMarginClassifier, RelativeMarginClassifier or
        LaplacianSVC, and differ in nothing else; a pipeline's transformers are then fitted once, to all points.
        Otherwise every candidate is fitted to every fold as it is, as ``GridSearchCV`` does it.
    param_grid : dict of str to sequence, or list of such, optional
        As in ``GridSearchCV``, with ``step__name`` for a pipeline's.  By default three values of C and three widths of
        an RBF kernel around the default one, without the unlabelled points (the supervised SVM) and with them, balanced
        as the labels are and not at all; and not at all only, if labels look drawn per class.  For other classifiers
        their C, a tenth of it, and ten times as much.
    cv : int, splitter, or pairs of training and test sets, default 5
        Folds of the labelled points; fewer if the largest class has fewer labels.
    n_repeats : int, default 1
        How often the labelled points are divided into folds anew, if ``cv`` is a number.
    scoring : str or callable, default "accuracy"
        A name of scikit-learn's (``sklearn.metrics.get_scorer_names()``), a scorer as from ``make_scorer``, or a
        function of true and predicted labels (as places in ``classes_``) that is at most 1, and larger for better ones.
        Those with a name count points by their ``sample_weight``.
    warm_start : bool, default True
        Whether descents follow C as it rises, and end in the minima that this leads to.  Without it every descent
        begins at the supervised SVM, and scores are, up to ``tol``, those of ``GridSearchCV`` and `LabeledKFold`
        for two classes.  Candidates for several are compared by fits with ``multi_class="ovr"``, which take less time,
        and the chosen one is fitted as the estimator is.
    tol : float > 0, default 0.1
        Tolerance of candidates, in units of the outputs, if it is more than their own, to which the chosen one is
        fitted.  Labels depend on it only where outputs are nearly 0.
    prune : bool, default True
        Whether to drop candidates before they have seen all folds; where scores are known to be at most 1.
    ties : {"agreement", "first"}, default "agreement"
        Which of the candidates with the best score is taken; with few labels there are many.  "agreement": the one
        that labels the unlabelled points most as the others of them do, among those whose shares of the classes are as
        inferred (``balance="auto"``), or that do not label all points alike; "first", as in ``GridSearchCV``.
    caution : float >= 0, default 3.0
        With the default ``param_grid``: the first candidate, whose parameters are the estimator's defaults, is left
        only for one that is better by so many standard errors of the difference of their scores over the folds.  With
        few labels the best of many candidates is so by chance; 0 takes it, and so does a grid of your own.
    random_state : int, default 0
        Of the folds.
    time_limit : float > 0, optional
        Seconds for all of it: the search has four fifths of them, and the best of the candidates that had seen all
        folds by then is fitted in the rest; a warning says so, and ``status_`` is "time_limit".
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
    status_ : str
        How the search ended: "time_limit", or "interrupted" if Ctrl-C came, which also raises ``KeyboardInterrupt``.
        The best candidate is then that of those that had seen all folds.  Otherwise that of ``best_estimator_``.
    cv_results_ : dict of arrays
        ``params``, ``param_*``, ``mean_test_score``, ``std_test_score``, ``rank_test_score``, ``split*_test_score``
        (NaN where a candidate had been dropped), ``n_splits``, the number of folds a candidate has seen, and
        ``agreement`` of those with the best score.  Means are over the folds that were seen; a candidate that was
        dropped has a mean below the best.
    classes_, transduction_, transduction_scores_
        Those of ``best_estimator_``.

    Examples
    --------
    >>> ct.TransductiveSearchCV(cv=3).fit(points, few).best_score_
    1.0
    """

    _fitted_as = "best_estimator_"

    estimator: Any = None
    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] | None = None
    _: KW_ONLY
    cv: Any = 5
    n_repeats: int = 1
    scoring: str | Callable[..., float] = "accuracy"
    warm_start: bool = True
    tol: float = 0.1
    prune: bool = True
    ties: str = "agreement"
    caution: float = 3.0
    random_state: int = 0
    time_limit: float | None = None
    n_jobs: int | None = None
    verbose: int = 0

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose, and fit the chosen candidate to all points; arguments as those of the estimator's ``fit``.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (n, n_features)
        y : array, shape (n,)
            Labels, with the estimator's ``unlabeled`` where unknown.
        sample_weight : array, shape (n,), optional
        """
        with within(self.time_limit):
            fits = self._fit(X, y, self._requested(sample_weight))
        if isinstance(fits, SharedFits):
            advise(fits.labels, fits.fitted.solutions_, fits.fitted._asked_balance())  # others advise in ``fit``
        if self.status_ == "interrupted":
            raise KeyboardInterrupt(
                "the search holds the best of the candidates that had seen all folds, and can be used as after a fit"
            )
        return self

    def _fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> SharedFits | PlainFits:
        """Search and fit inside the time limit, and return the fits; advice for the user is left to :meth:`fit`."""
        one_of("ties", self.ties, ("agreement", "first"))
        judge, tol = Judge.of(self.scoring), finite("tol", self.tol, above=0)
        cautious = self.param_grid is None and finite("caution", self.caution, least=0) > 0
        estimator = TransductiveSVC() if self.estimator is None else self.estimator
        steps = Steps.of(estimator)
        candidates = None if self.param_grid is None else list(ParameterGrid(self.param_grid))
        if _is_shared(steps, candidates, judge):
            shared = SharedFits(steps, candidates, X, y, sample_weight, warm_start=self.warm_start, tol=tol)
            if candidates is None:
                shared.candidates = list(ParameterGrid(_default_grid(shared)))
            fits: SharedFits | PlainFits = shared
        else:
            grid = {f"{steps.prefix}C": tuple(factor * steps.classifier.C for factor in (1.0, 0.1, 10.0))}
            fits = PlainFits(estimator, candidates or list(ParameterGrid(grid)), X, y, sample_weight)
        candidates, labels = fits.candidates, fits.labels
        y = column_or_1d(y)  # without a warning, which making the fits has given
        parts = self._parts(X, y, labels, steps.classifier.unlabeled)
        groups = fits.groups(parts, judge)
        scores, self.status_ = np.full((len(candidates), len(parts)), np.nan), "converged"
        try:
            with until(time.time() + 0.8 * time_left()):  # the rest is for fitting the best candidate
                self._score(groups, scores, self.prune and judge.bounded, cautious)
                self._store_results(candidates, scores, groups)
        except (KeyboardInterrupt, TimeIsUp) as stop:
            self._stop("interrupted" if isinstance(stop, KeyboardInterrupt) else "time_limit", candidates, scores)
        stays = cautious and len(parts) > 0 and self._stays(scores, sum(len(test) for _, test in parts))
        if stays:
            self.best_index_ = 0
            self.best_params_, self.best_score_ = candidates[0], float(scores[0].mean())
        self.best_estimator_ = fits.chosen(self.best_index_)
        try:
            fits.finish(self.best_index_, alone=stays)
        except KeyboardInterrupt:
            self.status_ = "interrupted"
            raise
        finally:
            self._take_over(self.best_estimator_)
        return fits

    def _take_over(self, fitted: Any) -> None:
        """Copy attributes of the best estimator, if it is fitted, to the search."""
        classifier = Steps.of(fitted).classifier
        for owner, names in (
            (classifier, ("classes_", "transduction_", "transduction_scores_")),
            (fitted, ("n_features_in_", "feature_names_in_")),
        ):
            for name in names:
                if hasattr(classifier, "model_") and hasattr(owner, name):
                    setattr(self, name, getattr(owner, name))
        if self.status_ == "converged" and hasattr(classifier, "model_"):
            self.status_ = classifier.status_

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), TransductiveSVC() if self.estimator is None else self.estimator
        tags.input_tags = inner.__sklearn_tags__().input_tags
        return tags

    def _parts(self, X: Any, y: Any, labels: Labels, marker: Any) -> list[tuple[Any, Any]]:
        """Pairs of a training and a test set, of folds or as they were passed; none if classes have a single label."""
        if not isinstance(self.cv, (int, np.integer)):
            parts = list(self.cv.split(X, y) if hasattr(self.cv, "split") else self.cv)
            if any(labels.unlabeled[np.asarray(test)].any() for _, test in parts):
                raise ValueError(
                    f"cv={self.cv!r} has points in a test set that unlabeled={marker!r} marks, and no label to compare "
                    f"with: take LabeledKFold(unlabeled={marker!r})"
                )
            return parts
        if np.bincount(labels.index[~labels.unlabeled]).max() < 2:
            which = "the candidate is taken that agrees most with the others"
            which = which if self.ties == "agreement" else "the first candidate is taken"
            warn(f"every class has a single label: none can be left out, and {which}")
            return []
        marker = marker if labels.unlabeled.any() else None
        options = {"n_repeats": self.n_repeats, "random_state": self.random_state, "unlabeled": marker}
        return list(LabeledKFold.at_most(int(self.cv), labels.index[~labels.unlabeled], **options).split(X, y))

    def _stays(self, scores: Array, n_left_out: int) -> bool:
        """Whether the first candidate is not worse than the best by more than ``caution`` standard errors."""
        difference = scores[self.best_index_] - scores[0]
        if self.best_index_ == 0 or np.isnan(difference).any():
            return self.best_index_ == 0
        n_folds = len(difference)
        error = difference.std(ddof=1) / np.sqrt(n_folds) if n_folds > 1 else 0.5 / np.sqrt(n_left_out)
        # A difference of scores is never surer than half of one labelled point's score.
        return bool(difference.mean() <= self.caution * max(error, 0.5 / n_left_out) + 1e-12)

    def _score(self, groups: Sequence[Any], scores: Array, prune: bool, keep_first: bool) -> None:
        """Fill ``scores``, shape (n_candidates, n_folds), but for candidates that were dropped before a fold.

        With ``prune`` those are dropped that cannot be the best any more; with ``keep_first`` the first never is.
        """
        n_candidates, n_folds = scores.shape
        jobs = min(effective_n_jobs(self.n_jobs), len(groups))

        def look(asked: list[tuple[Any, int, list[int]]]) -> None:
            """Compute the scores that are asked for: a group, a fold, and places of candidates in each entry."""
            if time_is_up():
                raise TimeIsUp
            if jobs > 1:
                calls = [(Carried(replace(group).scores), f, which) for group, f, which in asked]
                found = Parallel(n_jobs=jobs)(delayed(scores_of)(f, which) for scores_of, f, which in calls)
            else:
                found = [group.scores(f, which) for group, f, which in asked]
            for (_, f, _), one in zip(asked, found, strict=True):
                for i, score in one.items():
                    scores[i, f] = score

        with status_line(lambda: "search", lines=True) if self.verbose else contextlib.nullcontext() as progress:
            for f in range(n_folds):
                alive = _alive(scores, prune)
                alive[0] |= keep_first
                if progress is not None:
                    progress.tell(f"fold {f + 1} of {n_folds}, {alive.sum()} of {n_candidates} candidates")
                open_to = alive & np.isnan(scores[:, f])
                asked = [(group, f, [i for i in group.estimators if open_to[i]]) for group in groups]
                look([one for one in asked if one[2]])
                # The candidate that looks best sees all folds at once, so that others can be dropped early.
                best = int(falling(np.where(_alive(scores, prune), np.nansum(scores, axis=1), -np.inf))[0])
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
        warn(f"{status}: {state}; the best of them is fitted now")

    def _agreement(self, groups: Sequence[Any], tied: list[int]) -> tuple[Array, NDArray[np.bool_]]:
        """For each of some candidates: its mean agreement with them on the unlabelled points, whether its shares fit.

        They fit if they are near the inferred ones, or, where none are inferred, if not all points have the same class.
        """
        found: dict[int, NDArray[np.intp]] = {}
        for group in groups:
            found.update(group.transductions([i for i in tied if i in group.estimators]))
        chosen = np.array([found[i] for i in tied])
        agreement = np.array([(chosen == one).mean() for one in chosen])
        labels = groups[0].labels
        shares = np.array([np.bincount(one, minlength=len(labels.classes)) / len(one) for one in chosen])
        if labels.inferred is None:
            return agreement, shares.max(axis=1) < 1
        room = np.maximum(0.1, 2 * labels.inferred.errors)
        return agreement, (np.abs(shares - labels.inferred.shares) <= room).all(axis=1)

    def _store_results(self, candidates: list[dict[str, Any]], scores: Array, groups: Sequence[Any] = ()) -> None:
        """Set the results and the best candidate; without groups that is the first of those with the best score."""
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
        # Candidates that were dropped rank after all others, and those that saw no fold after these.
        span = 1.0 + float(np.ptp(means[some])) if some.any() else 1.0
        order = np.where(some, np.where(done, means, means - span), -np.inf)
        results["rank_test_score"] = np.array([int((order > value + 1e-12).sum()) + 1 for value in order])
        self.cv_results_ = results
        tied = np.flatnonzero(results["rank_test_score"] == 1)
        results["agreement"] = np.full(len(candidates), np.nan)
        if self.ties == "agreement" and len(tied) > 1 and groups and groups[0].labels.unlabeled.any():
            results["agreement"][tied], possible = self._agreement(groups, tied.tolist())
            tied = tied[possible] if possible.any() else tied
            # Of candidates whose agreement is equal up to rounding the first is taken.
            tied = tied[results["agreement"][tied] >= results["agreement"][tied].max() - 1e-12]
        self.best_index_ = int(tied[0])
        self.best_params_, self.best_score_ = candidates[self.best_index_], float(means[self.best_index_])


def _alive(scores: Array, prune: bool) -> NDArray[np.bool_]:
    """Which candidates may still be the best: they would be if they scored 1 on all folds to come."""
    if not prune:
        return np.ones(len(scores), dtype=bool)
    reach = np.where(np.isnan(scores), 1.0, scores).mean(axis=1)
    done = ~np.isnan(scores).any(axis=1)
    best = scores[done].mean(axis=1).max() if done.any() else -np.inf
    return np.asarray(reach >= best - 1e-12)


def _is_shared(steps: Steps, candidates: list[dict[str, Any]] | None, judge: Judge) -> bool:
    """Whether candidates differ in nothing but parameters of a classifier with a kernel, judged by its outputs."""
    own = all(steps.own(one) is not None for one in candidates or ())
    shares = isinstance(steps.classifier, Descent) and isinstance(steps.classifier, KernelExpansion)
    return shares and own and getattr(judge.scorer, "_response_method", None) != "predict_proba"


def _default_grid(fits: SharedFits) -> list[dict[str, Sequence[Any]]]:
    """The candidates of a classifier with a kernel, if the user names none."""
    estimator = fits.steps.classifier
    grid: dict[str, Sequence[Any]] = {"C": (10.0, 1.0, 100.0)}  # the first come first where scores are equal
    parameters = estimator.get_params(deep=False)
    if parameters.get("kernel") == "rbf":
        kernel = estimator._kernel(fits.X, fits.labels.weights)
        if isinstance(kernel, RBF):
            grid["sigma"] = tuple(factor / float(np.sqrt(2 * kernel.gamma)) for factor in (1.0, 0.5, 2.0))
    grids = [grid]
    if "loss" in parameters:
        own = parameters["C_unlabeled"]
        semi_supervised = {**grid, "C_unlabeled": ("auto" if own is None else own,)}
        grids = [semi_supervised, {**grid, "C_unlabeled": (None,)}]
    return [{f"{fits.steps.prefix}{name}": values for name, values in one.items()} for one in grids]
