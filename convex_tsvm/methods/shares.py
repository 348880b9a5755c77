"""How large the classes are among the unlabelled points, inferred from counts of labels and from labels left out.

Bayes' rule puts three sources together.  Labels that were drawn from all points are evidence of how large the classes
are, and labels that were drawn per class are none; which of the two it was is not known, but as many labels of each
class are rarely due to chance, so that the prior is a mixture for both.  Under a wrong balance a transductive SVM puts
its boundary through a class, which is seen at labelled points whose labels it has not been given.  And the supervised
SVM finds some number of positive points, which is what it should be for the right share and the rates of error that it
has at labels left out (the adjusted count of Forman 2008, with the rates' own uncertainty).
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, betaln, expit, gammaln, logit

from ..deadline import time_is_up
from ..problem import Array, Problem
from .left_out import FewPoints, Inference, TriedShares
from .several_shares import shares_together


@dataclass(frozen=True, eq=False)
class ShareEstimate:
    """What is known of the share of one class, against the rest, among the unlabelled points.

    Attributes
    ----------
    share : float
        The posterior mean, in (0, 1).
    error : float
        The posterior standard deviation.
    counted : float
        The share among the labels.
    tried : array, shape (m,)
        Shares for which labels were left out, increasing; empty where counts settle it, or nothing could be left out.
    left_out : array, shape (m, 3)
        Of every label that was left out: the label, the output of the transductive SVM at the share
        tried that is nearest to ``share``, and that of the supervised SVM.

    Examples
    --------
    >>> X = np.array([[-1.1], [-1.0], [-0.9], [-0.8], [0.9], [1.0], [1.1]])
    >>> problem = ct.Problem(X, [-1, 0, 0, -1, 1, 0, 1], kernel=ct.RBF(1.0), C=10)
    >>> estimate = ct.infer_share(problem)
    >>> bool(0.2 < estimate.share < 0.6), estimate.counted
    (True, 0.5)
    """

    share: float
    error: float
    counted: float
    tried: Array
    left_out: Array


@dataclass(frozen=True)
class _Prior:
    """What counts of labels say of the share of a class: a mixture of two beta distributions."""

    positive: int
    total: int
    per_class: float
    how: Inference

    @classmethod
    def of(cls, points: FewPoints, y: Array) -> Self:
        """By the labels of some points."""
        total, positive = len(points.known), int((y[points.known] > 0).sum())
        return cls(positive, total, per_class_probability(np.array([positive, total - positive])), points.how)

    @cached_property
    def moments(self) -> tuple[float, float]:
        grid, weight = _fine_grid()
        return _moments(grid, self.density(grid) * weight)

    @property
    def settles_it(self) -> bool:
        return self.moments[1] <= self.how.known

    @property
    def parameters(self) -> tuple[tuple[float, float, float], ...]:
        """Weight, a and b of each part."""
        at_random, per_class = self.how.at_random, self.how.per_class
        counted = self.positive + at_random, self.total - self.positive + at_random
        return (1 - self.per_class, *counted), (self.per_class, per_class, per_class)

    def density(self, shares: Array) -> Array:
        found = np.zeros(len(shares))
        for weight, a, b in self.parameters:
            found += weight * np.exp((a - 1) * np.log(shares) + (b - 1) * np.log1p(-shares) - betaln(a, b))
        return found

    def quantiles(self, probabilities: Sequence[float]) -> list[float]:
        """The shares below which the probabilities lie, by bisection."""
        asked = np.array(probabilities)
        ends = [betaincinv(a, b, asked) for weight, a, b in self.parameters if weight > 0]
        low, high = np.min(ends, axis=0), np.max(ends, axis=0)
        for _ in range(25):
            middle = (low + high) / 2
            below = sum(weight * betainc(a, b, middle) for weight, a, b in self.parameters) < asked
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        found: list[float] = ((low + high) / 2).tolist()
        return found


def per_class_probability(counts: NDArray[np.intp]) -> float:
    """The probability that labels were drawn per class, by how nearly equal their counts are; it was a half before.

    Counts of labels drawn per class are equal, or Dirichlet-multinomial with a large parameter.
    """
    a = 1000.0
    total, k = int(counts.sum()), len(counts)
    at_random = gammaln(k) + gammaln(total + 1) - gammaln(total + k)
    nearly = float(gammaln(total + 1) - gammaln(k * a + total) + gammaln(k * a))
    nearly += float(np.sum(gammaln(counts + a) - gammaln(a) - gammaln(counts + 1)))
    equal = 0.0 if counts.min() == counts.max() else -np.inf
    per_class = np.logaddexp(np.log(0.5) + equal, np.log(0.5) + nearly)
    return float(1 / (1 + np.exp(at_random - per_class)))


def infer_share(problem: Problem) -> ShareEstimate:
    """The share of the positive class among the unlabelled points, with its standard deviation.

    The transductive SVM that is fitted has the ramp loss (Collobert et al. 2006), C = 10 with points scaled to unit
    variance, and C* = C / 10, whatever the share is wanted for.  It is fitted for at most six shares times five folds
    of the labels, on at most six hundred of the points.

    Parameters
    ----------
    problem : Problem
        Its costs C of labelled points count against each other, its C* and balance do not.  Points of cost 0 are left
        out.

    Examples
    --------
    >>> X = np.concatenate([np.linspace(-2, -1, 30), np.linspace(1, 2, 10)])[:, None]
    >>> y = np.zeros(40)
    >>> y[[0, 8, 16, 24]], y[[30, 33, 36, 39]] = -1, 1  # as many labels of both classes
    >>> estimate = ct.infer_share(ct.Problem(X, y, kernel=ct.RBF(1.0), C=10))
    >>> estimate.counted, bool(estimate.share < 0.4)
    (0.5, True)
    """
    if problem.n_unlabeled == 0:
        raise ValueError("y has no unlabelled point (no 0); shares are those of the unlabelled points")
    with _nothing_kept():
        return _inferred(FewPoints(problem, [problem.y]), problem.y)


def leave_labels_out(problem: Problem, share: float, *, fit_intercept: bool) -> Array:
    """Labels that are left out, and what the transductive and the supervised SVM make of these points, shape (m, 3).

    ``share`` is that of the positive class among the unlabelled points; the transductive SVM is as in
    :func:`infer_share`, and columns as in ``left_out`` of :class:`ShareEstimate`.  m is 0 where every class has one
    label.
    """
    points = FewPoints(problem, [problem.y])
    tried = TriedShares.of(points, problem.y, fit_intercept)
    if tried is None:
        return np.empty((0, 3))
    with _nothing_kept():
        tried.evaluate(share)
        return tried.left_out(share)


def _inferred(
    points: FewPoints, y: Array, fit_intercept: bool = True, callback: Callable[[int], None] | None = None
) -> ShareEstimate:
    """The share of the points of which y is +1."""
    prior = _Prior.of(points, y)
    (mean, deviation), counted = prior.moments, prior.positive / prior.total
    tried = None if prior.settles_it else TriedShares.of(points, y, fit_intercept)
    if tried is not None:
        grid, weight = _fine_grid()
        density = prior.density(grid) * weight
        density *= tried.count_likelihood(grid)
        waiting = prior.quantiles(points.how.quantiles)
        while waiting and not time_is_up():
            tried.evaluate(waiting.pop(0))
            if callback is not None:
                callback(len(tried.shares))
            if not waiting and len(tried.shares) < points.how.most_tried:
                waiting = tried.worth_trying(grid, density)
        if tried.shares:
            density = tried.posterior(grid, density)
        mean, deviation = _moments(grid, density)
        # What supervised SVMs say of all points is another estimate, with errors of its own: odds are averaged.
        others, errors = shares_together(points, [-y, y], 1 - prior.per_class, fit_intercept)
        apart = float(others[1]) - mean
        mean = float(expit((logit(mean) + logit(others[1])) / 2))
        deviation = float(np.sqrt((deviation**2 + errors[1] ** 2) / 2 + apart**2 / 4))
    if tried is None or not tried.shares:
        return ShareEstimate(mean, deviation, counted, np.empty(0), np.empty((0, 3)))
    return ShareEstimate(mean, deviation, counted, np.sort(tried.shares), tried.left_out(mean))


@contextmanager
def _nothing_kept() -> Iterator[None]:
    """Say what has become of the work when Ctrl-C comes."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the shares of the classes were not known yet: nothing is kept") from None


def spoilt(left_out: Array, deviations: float) -> tuple[int, int] | None:
    """Errors at labels left out, of the transductive and of the supervised SVM, if the former are too many.

    Too many are so many standard ``deviations`` of what chance does more; ``left_out`` is as in :class:`ShareEstimate`.
    """
    wrong = np.sign(left_out[:, 1:]) != left_out[:, :1]
    ours, theirs = int((wrong[:, 0] & ~wrong[:, 1]).sum()), int((wrong[:, 1] & ~wrong[:, 0]).sum())
    if ours - theirs <= deviations * np.sqrt(ours + theirs):
        return None
    return int(wrong[:, 0].sum()), int(wrong[:, 1].sum())


class ClassShares(NamedTuple):
    """The shares of the classes among the unlabelled points, as they have been inferred."""

    shares: Array  # shape (n_classes,), which add up to 1
    errors: Array  # their standard deviations
    estimate: ShareEstimate | None = None  # of the second of two classes


def infer_class_shares(
    problem: Problem,
    signs: Sequence[Array],
    *,
    fit_intercept: bool = True,
    callback: Callable[[int], None] | None = None,
) -> ClassShares:
    """Infer the shares of all classes, of two by :func:`infer_share`, of several together.

    The problem is that of any class against the rest; ``signs`` are +1, -1 and 0 for unlabelled points, shape (n,), of
    the second of two classes, or of each of several.  What was inferred last is kept, so that a search over costs asks
    only once.
    """
    points = FewPoints(problem, signs)
    counts = np.array([np.sum(y[points.known] > 0) for y in signs])
    is_settled = len(signs) == 1 and _Prior.of(points, signs[0]).settles_it
    gram = None if is_settled else points.gram
    asked: tuple[Any, ...] = (np.array([y[points.keep] for y in signs]), counts, points.cost, gram, fit_intercept)
    for given, known in _kept:
        if all(np.array_equal(one, other) for one, other in zip(asked, given, strict=True)):
            return known
    with _nothing_kept():
        if len(signs) == 1:
            one = _inferred(points, signs[0], fit_intercept, callback)
            found, errors, estimate = np.array([1 - one.share, one.share]), np.repeat(one.error, 2), one
        else:
            found, errors = shares_together(points, signs, 1 - per_class_probability(counts), fit_intercept)
            estimate = None
    found = np.clip(found, 1e-3, 1 - 1e-3)  # no class is said to be smaller
    shares = ClassShares(found / found.sum(), errors, estimate)
    if not time_is_up():
        _kept.append((asked, shares))
    return shares


#: What was asked last, and what was inferred; few data sets are compared with each other at a time.
_kept: deque[tuple[tuple[Any, ...], ClassShares]] = deque(maxlen=4)


def _fine_grid() -> tuple[Array, Array]:
    """Shares, evenly spaced in log-odds, and the width of each."""
    odds = np.linspace(-6.0, 6.0, 401)
    shares = 1 / (1 + np.exp(-odds))
    return shares, np.gradient(shares)


def _moments(shares: Array, weights: Array) -> tuple[float, float]:
    weights = weights / weights.sum()
    mean = float(weights @ shares)
    return mean, float(np.sqrt(np.sum(weights * (shares - mean) ** 2)))
