"""Whether unlabelled points help: the supervised classifier beside a semi-supervised one, and learning curves."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from ..estimators.advice import acting
from ..estimators.labels import labeled_points, marked, marker_of, unlabeled_points
from ..instance import Instance
from ..methods.cccp import supervised_svms
from ..notice import warn
from ..problem import Array
from ..validation import integer
from .fits import Steps, fitted_apart
from .splits import Judge, LabeledKFold, judged


@dataclass(frozen=True)
class SupervisedComparison:
    """A fitted classifier beside the supervised SVM with the same kernel and the same C.

    Attributes
    ----------
    agreement : float
        Share of the unlabelled points that both label alike.
    acting : float
        Share of the unlabelled points that have a say: whose loss changes with their output.
    objective, supervised_objective : float
        The semi-supervised objective of both, the mean over the classifiers if there are several.  That of the
        supervised SVM may be lower, as it need not meet a balance constraint.
    error, supervised_error : float
        Errors at labelled points that were left out (cross-validation), in [0, 1]; NaN, as the next one, if every class
        has a single label, so that none can be left out.
    standard_error : float
        Of the difference of the two errors: a smaller difference says nothing.
    score, supervised_score : float or None
        The mean over the folds of what ``scoring`` asked for; None without it.

    Examples
    --------
    >>> comparison = ct.selection.compare_supervised(ct.TransductiveSVC(), points, few, cv=2)
    >>> comparison.error, comparison.supervised_error
    (0.0, 0.0)
    """

    agreement: float
    acting: float
    objective: float
    supervised_objective: float
    error: float
    supervised_error: float
    standard_error: float
    score: float | None = None
    supervised_score: float | None = None

    def __str__(self) -> str:
        error = f"{self.error:<11.2%} {self.supervised_error:.2%}   (difference ± {self.standard_error:.2%})"
        return (
            "                 here        supervised SVM\n"
            f"objective        {self.objective:<11.6g} {self.supervised_objective:.6g}\n"
            f"labelled error   {error}\n"
            f"{self.agreement:.1%} of the unlabelled points are labelled alike, {self.acting:.1%} have a say"
        )


def compare_supervised(
    estimator: Any, X: Any, y: ArrayLike, *, cv: int = 5, n_repeats: int = 1, scoring: Any = None, random_state: int = 0
) -> SupervisedComparison:
    """Compare a classifier with the supervised SVM on the same data.

    Ctrl-C is raised again, as half a comparison says nothing.

    Parameters
    ----------
    estimator : estimator
        A classifier of this package, or a pipeline that ends in one, whose transformers are fitted to all points for
        both; fitted to ``X`` and ``y``, or it is fitted here.
    X, y
        As for :func:`cost_path`.
    cv : int >= 2, default 5
        Folds of the labelled points; fewer if the largest class has fewer labels.
    n_repeats, random_state : int
        As in :class:`LabeledKFold`.
    scoring : str or callable, optional
        A name of scikit-learn's, a scorer, or a function of true and predicted labels: what is computed besides errors.

    Examples
    --------
    >>> comparison = ct.selection.compare_supervised(ct.TransductiveSVC(), points, few, cv=2)
    >>> round(comparison.agreement, 2), comparison.error, comparison.supervised_error
    (0.98, 0.0, 0.0)
    """
    classifier = Steps.of(estimator).classifier
    if scoring is not None:
        Judge.of(scoring)  # raises ValueError for a wrong ``scoring`` before anything is fitted
    known, marked = labeled_points(y, classifier.unlabeled)
    options = {"n_repeats": n_repeats, "random_state": random_state, "unlabeled": classifier.unlabeled}
    if len(known) == len(np.asarray(y)):
        options["unlabeled"] = None  # there is nothing to mark
    folds = LabeledKFold.at_most(integer("cv", cv, least=2), marked, **options)
    parts: list[Any] = []
    if np.unique(marked, return_counts=True)[1].max() > 1:
        parts = list(folds.split(y, y))
    else:
        warn("every class has a single label: none can be left out, and there are no errors")
    if not hasattr(classifier, "solutions_"):
        estimator = clone(estimator).fit(X, y)
        classifier = Steps.of(estimator).classifier
    solutions = classifier.solutions_
    alone = supervised_svms(solutions[0].formulation, [one.problem for one in solutions])
    unknown = solutions[0].problem.unlabeled
    labels = classifier.transduction_[unknown]
    scores = np.column_stack([one.scores for one in alone])[unknown]
    others = classifier.model_.decide(scores)
    objectives = [
        Instance(one.formulation, one.problem).objective(svm.scores, svm.regularization)
        for one, svm in zip(solutions, alone, strict=True)
    ]
    (wrong, wrong_alone), scores = _left_out(estimator, X, y, parts, known, scoring)
    difference = wrong - wrong_alone
    deviation = float(difference.std()) if len(difference) else np.nan
    return SupervisedComparison(
        agreement=float((labels == others).mean()) if len(unknown) else 1.0,
        acting=float(np.mean([acting(one).mean() for one in solutions])) if len(unknown) else 0.0,
        objective=float(np.mean([one.objective for one in solutions])),
        supervised_objective=float(np.mean(objectives)),
        error=_mean(wrong),
        supervised_error=_mean(wrong_alone),
        standard_error=deviation / np.sqrt(max(len(difference) / n_repeats - 1, 1)),
        score=None if scoring is None else _mean(scores[0]),
        supervised_score=None if scoring is None else _mean(scores[1]),
    )


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else np.nan


def _left_out(
    estimator: Any, X: Any, y: ArrayLike, parts: Sequence[Any], known: NDArray[np.intp], scoring: Any
) -> tuple[list[Array], list[Array]]:
    """Of the estimator and of the supervised SVM: whether left-out points are labelled wrongly, and scores of folds."""
    labels = np.asarray(y)
    wrong: tuple[list[Any], list[Any]] = ([], [])
    scores: tuple[list[float], list[float]] = ([], [])
    with warnings.catch_warnings(action="ignore"):
        for train, test in parts:
            given, own = _safe_indexing(X, train), labels[train]
            alone = fitted_apart(estimator, given, own, np.flatnonzero(np.isin(train, known)))
            for k, fitted in enumerate((clone(estimator).fit(given, own), alone)):
                wrong[k].append(fitted.predict(_safe_indexing(X, test)) != labels[test])
                scores[k].append(judged(fitted, X, labels, test, scoring))
    errors = [np.concatenate([*one, []]).astype(float) for one in wrong]
    return errors, [np.array(one) for one in scores]


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Errors at the points whose labels were hidden.

    Attributes
    ----------
    n_labeled : int array, shape (m,)
        Labels shown.
    errors, supervised_errors : array, shape (m, n_draws)
        In [0, 1], for every draw of labels, of the semi-supervised and of the supervised classifier.
    scores, supervised_scores : array, shape (m, n_draws), or None
        What ``scoring`` asked for at the same points, if it was given.
    status : {"converged", "interrupted"}
        "interrupted" if Ctrl-C came: the draws are those that were done by then.

    Examples
    --------
    >>> curve = ct.selection.learning_curve(ct.TransductiveSVC(), points, truth, n_labeled=(4, 8), n_draws=2)
    >>> curve.n_labeled, curve.errors.shape
    (array([4, 8]), (2, 2))
    """

    n_labeled: NDArray[np.intp]
    errors: Array
    supervised_errors: Array
    scores: Array | None = None
    supervised_scores: Array | None = None
    status: str = "converged"

    def __str__(self) -> str:
        rows = ["labels  error            supervised       gain"]
        for n, one, other in zip(self.n_labeled, self.errors, self.supervised_errors, strict=True):
            rows.append(f"{n:<7} {_shown(one):<16} {_shown(other):<16} {_shown(other - one)}")
        return "\n".join(rows)


def learning_curve(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    n_labeled: Sequence[int] = (10, 20, 50, 100),
    n_draws: int = 10,
    per_class: bool = False,
    supervised: Any = None,
    scoring: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> LearningCurve:
    """Fit a classifier to few labels, then to more.

    After Ctrl-C there is, with a warning, the curve of the draws that were done; before one is done Ctrl-C is
    raised again.

    Parameters
    ----------
    estimator : estimator
        A classifier of this package, or a pipeline that ends in one.
    X : array, sparse matrix or DataFrame, shape (n, n_features)
    y : array, shape (n,)
        True labels; where they are unknown, the estimator's ``unlabeled``: such points are always unlabelled, and
        count in no error.
    n_labeled : sequence of int
        Numbers of labels, each at least the number of classes.
    n_draws : int, default 10
        Random draws of labels for every number; larger ones contain the smaller ones.
    per_class : bool, default False
        Whether as many labels of every class are drawn; otherwise they are drawn at random, with one of each class.
    supervised : estimator, optional
        What is fitted to the labelled points alone; by default the same classifier, which then is a supervised SVM,
        while a pipeline's transformers are fitted to all points.
    scoring : str or callable, optional
        A name of scikit-learn's, a scorer, or a function of true and predicted labels: what is computed besides errors.
    n_jobs : int, optional
        Draws at the same time (joblib).

    Examples
    --------
    >>> curve = ct.selection.learning_curve(ct.TransductiveSVC(), points, truth, n_labeled=(4, 8), n_draws=2)
    >>> curve.errors.mean(axis=1) < 0.2
    array([ True,  True])
    """
    truth, marker = np.asarray(y), marker_of(estimator)
    if scoring is not None:
        Judge.of(scoring)  # raises ValueError for a wrong ``scoring`` before anything is fitted
    known = np.flatnonzero(~unlabeled_points(y, marker))
    classes = np.unique(truth[known].astype(str))
    for n in n_labeled:
        if integer("n_labeled", n, least=len(classes)) >= len(known):
            raise ValueError(f"n_labeled={n} must be less than the {len(known)} points with known labels")

    def judged_with(shown: NDArray[np.intp], hidden: NDArray[np.intp]) -> tuple[float, ...]:
        """Errors and scores of both classifiers with the labels of ``shown``, at the points of ``hidden``."""
        own = marked(truth, ~np.isin(np.arange(len(truth)), shown), marker)
        fitted = clone(estimator).fit(X, own)
        if supervised is None and isinstance(fitted, Pipeline):
            alone = fitted_apart(estimator, X, own, shown)
        else:
            other = estimator if supervised is None else supervised
            alone = clone(other).fit(_safe_indexing(X, shown), truth[shown])
        last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
        found = (last.transduction_[hidden], alone.predict(_safe_indexing(X, hidden)))
        errors = [float((labels != truth[hidden]).mean()) for labels in found]
        return (*errors, *(judged(one, X, truth, hidden, scoring) for one in (fitted, alone)))

    def draw_of(seed: int) -> list[tuple[float, ...]]:
        """The same for every number of labels, which are drawn at random."""
        order = np.random.default_rng(seed).permutation(known)
        names = truth[order].astype(str)
        # The first point of every class comes first; after that, if classes count alike, the second of every class.
        rank = np.zeros(len(order), dtype=int)
        for name in np.unique(names):
            rank[names == name] = np.arange((names == name).sum())
        order = order[np.argsort(rank if per_class else rank > 0, kind="stable")]
        with warnings.catch_warnings(action="ignore"):
            return [judged_with(np.sort(order[:n]), order[n:]) for n in sorted(n_labeled)]

    found: list[list[tuple[float, ...]]] = []
    status, seeds = "converged", range(random_state, random_state + integer("n_draws", n_draws, least=1))
    try:
        for errors_of_draw in Parallel(n_jobs=n_jobs, return_as="generator")(delayed(draw_of)(seed) for seed in seeds):
            found.append(errors_of_draw)
    except KeyboardInterrupt:
        if not found:
            raise KeyboardInterrupt(f"none of {n_draws} draws was done: there is no learning curve") from None
        status = "interrupted"
        warn(f"interrupted: the learning curve is of {len(found)} of {n_draws} draws")
    of_draws = np.transpose(found)  # errors of both classifiers, and their scores
    own = of_draws[:2] if scoring is None else of_draws
    fields = ("errors", "supervised_errors", "scores", "supervised_scores")
    return LearningCurve(np.array(sorted(n_labeled)), **dict(zip(fields, own, strict=False)), status=status)


def _shown(values: Array) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{100 * values.mean():.2f} ± {100 * error:.2f} %"
