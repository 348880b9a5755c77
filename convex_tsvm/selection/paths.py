"""The cost of unlabelled points, chosen along a path on which it rises (sindhwani2006 §1.5)."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ..deadline import within
from ..decision import chosen_classes
from ..estimators.labels import Labels
from ..methods.run import unless_interrupted
from ..problem import Array
from ..solution import Solution
from ..validation import finite
from .fits import Steps
from .splits import left_out


@dataclass(frozen=True, eq=False)
class CostPath:
    """Errors at labelled points that were left out, along a path on which C* rises.

    Attributes
    ----------
    factors : array, shape (m,)
        On the C* that was asked for, increasing.
    costs : array, shape (m,)
        C*, its mean over the unlabelled points.
    left_out_error : array, shape (m,)
        Share of the labelled points left out that are labelled wrongly, in [0, 1].
    n_left_out : int
        Number of these points.
    estimator : object
        The estimator with the chosen cost, not fitted.

    Examples
    --------
    >>> path = ct.selection.cost_path(ct.TransductiveSVC(balance=0.0), points, few, factors=(0.01, 0.1, 1), cv=2)
    >>> path.chosen, path.left_out_error
    (1.0, array([0., 0., 0.]))
    """

    factors: Array
    costs: Array
    left_out_error: Array
    n_left_out: int
    estimator: Any

    @property
    def standard_error(self) -> Array:
        """Of ``left_out_error``, by the number of points, shape (m,)."""
        return np.sqrt(self.left_out_error * (1 - self.left_out_error) / self.n_left_out)

    @property
    def chosen(self) -> float:
        """The largest of the factors with the least error: where labels do not tell, C* is what was asked for."""
        least = self.left_out_error <= self.left_out_error.min() + 1e-9
        return float(self.factors[least][-1])

    def __str__(self) -> str:
        lines = ["  factor        C*  error at labels left out"]
        for k, factor in enumerate(self.factors):
            error, spread = 100 * self.left_out_error[k], 100 * self.standard_error[k]
            mark = "  chosen" if factor == self.chosen else ""
            lines.append(f"{factor:8.4g}  {self.costs[k]:8.4g}  {error:5.1f} ± {spread:.1f} %{mark}")
        return "\n".join(lines)


def cost_path(
    estimator: Any, X: Any, y: ArrayLike, *, factors: Sequence[float] | None = None, cv: int = 5, random_state: int = 0
) -> CostPath:
    """Let the cost C* of unlabelled points rise, and choose it by the labelled points that are left out.

    As C* rises each solution starts where the one before ended, so that a path costs little more than one fit.  With
    small costs it is the supervised SVM: where classes are no clusters, the best C* is small (sindhwani2006 §1.5).
    ``path.estimator.fit(X, y)`` fits with what the path chose.  Ctrl-C is raised again, as a part of a path
    chooses nothing.

    Parameters
    ----------
    estimator : TransductiveSVC, LinearTransductiveSVC, CompactMarginClassifier or RelativeMarginClassifier
        Or a pipeline that ends in one, whose transformers are fitted to all points.  Its ``C_unlabeled`` (or
        ``lambda_unlabeled``) is the end of the path.
    X : array, sparse matrix or DataFrame, shape (n, n_features)
    y : array, shape (n,)
        Labels, with the estimator's ``unlabeled`` where unknown.
    factors : sequence of float > 0, optional
        On C*; by default ten from 1/1000 to 1.
    cv : int, default 5
        Folds of the labelled points, fewer if the largest class has fewer labels.
    random_state : int, default 0
        Of the folds.

    Examples
    --------
    >>> path = ct.selection.cost_path(ct.TransductiveSVC(balance=0.0), points, few, factors=(0.01, 1), cv=2)
    >>> path.estimator.fit(points, few).score(points, truth) > 0.9
    True
    """
    factors = np.geomspace(1e-3, 1, 10).tolist() if factors is None else factors
    tried = np.unique([finite("factors", factor, above=0) for factor in factors])
    steps = Steps.of(estimator)
    if not hasattr(steps.classifier, "_descents"):
        raise ValueError(f"estimator={estimator!r} must be one that minimizes by a descent, such as TransductiveSVC")
    own, labels, first = steps.begun(X, y, "C* is the cost of unlabelled points")
    if not left_out(labels, cv, random_state):
        raise ValueError("y has one labelled point of each class: none can be left out to choose by")
    if not first.cost[first.unlabeled].any():
        raise ValueError(f"estimator={estimator!r} has unlabelled points that cost nothing: there is no C* to choose")
    labels = own._with_shares(first, labels)
    wrong, n = np.zeros(len(tried)), 0
    with warnings.catch_warnings(action="ignore"):
        for left, test in left_out(labels, cv, random_state):
            scores = np.array([_scores(own, first, left, k, tried, test) for k in labels.positives])
            wrong += [np.count_nonzero(chosen_classes(one.T) != labels.index[test]) for one in scores.swapaxes(0, 1)]
            n += len(test)
    costs = first.cost[first.unlabeled]
    path = CostPath(tried, tried * float(costs.mean()), wrong / n, n, None)
    return replace(path, estimator=_with_factor(estimator, steps, path.chosen, costs))


def _scores(own: Any, first: Any, labels: Labels, k: int, tried: Array, test: NDArray[np.intp]) -> Array:
    """Outputs of class k at the points left out, shape (m, n_test), one row for each factor."""
    problem = own._other_class(first, labels, k)
    formulation = own._formulation(problem)
    rows: list[Array] = []
    known: list[Any] = []
    before: Solution | None = None
    with within(own.time_limit):
        descents = own._descents(formulation)
        for factor in tried.tolist():
            cost = np.where(problem.y == 0, factor * problem.cost, problem.cost)
            found, known = descents.solve(formulation, problem.replace(C=cost, C_unlabeled=cost), known, before)
            unless_interrupted([found])
            before = found
            rows.append(found.scores[test])
    return np.array(rows)


def _with_factor(estimator: Any, steps: Steps, factor: float, costs: Array) -> Any:
    """The estimator, or pipeline, with C* times a factor."""
    own = steps.classifier
    if getattr(own, "lambda_unlabeled", None) is not None:
        changed = {"lambda_unlabeled": factor * own.lambda_unlabeled}
    else:
        changed = {"C_unlabeled": factor * float(costs[0]) if np.ptp(costs) == 0 else factor * costs}
    if "multi_class" in own.get_params(deep=False):
        changed["multi_class"] = "ovr"  # as along the path
    return clone(estimator).set_params(**{steps.prefix + name: value for name, value in changed.items()})
