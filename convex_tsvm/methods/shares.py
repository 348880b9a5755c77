"""How large the classes are among the unlabelled points, inferred from counts of labels and from labels left out.

Bayes' rule puts three sources together.  Labels that were drawn from all points are evidence of how large the classes
are, and labels that were drawn per class are none; which of the two it was is not known, but as many labels of each
class are rarely due to chance, so that the prior is a mixture for both.  Under a wrong balance a transductive SVM puts
its boundary through a class, which is seen at labelled points whose labels it has not been given.  And the supervised
SVM finds some number of positive points, which is what it should be for the right share and the rates of error that it
has at labels left out (the adjusted count of Forman 2008, with the rates' own uncertainty).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, betaln, gammaln

from ..deadline import time_is_up
from ..formulations import tsvm
from ..kernels import DeformedKernel, Linear, centred_gram
from ..kernels.rows import Rows
from ..points import LinearPoints
from ..problem import Array, Problem
from ..solvers.dual.small import BalancedProblem, SmallProblems
from ..ties import falling

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Inference:
    """What is assumed where shares are inferred, and how much is done for it.

    Attributes
    ----------
    unlabeled, labeled : int
        At most so many points of each kind are looked at; more would take longer and say little more.
    digits : float
        Points are told apart if their variance is more than this share of their squared distance from the origin.
    cost : float
        The mean cost C of labelled points, beside points of unit variance.
    parts : int
        Parts that labels are left out in.
    scale, doubt : float
        A left-out label has the probability 1 / (1 + exp(-y f / scale)) of being as it is, or is wrong with doubt / 2.
    alike : float
        Labels left out are wrong together where a boundary is: the likelihood of m is that of m / (1 + m / alike).
    per_class, at_random : float
        Dirichlet parameter of each class, by how labels were drawn; at random there is one more for each of its labels.
    rate, rate_quantiles : float, int
        A rate of error is beta distributed, with one more for each label left out; so many quantiles are averaged.
    count_error : float
        The standard deviation to which the supervised SVM's share of positive points is known.
    known : float
        A share that counts alone tell to this standard deviation is not looked at any closer.
    quantiles : tuple of float
        The quantiles of the prior at which shares are tried first.
    most_tried, worth_another : int, float
        At most so many are tried, and another one where probability times width of a gap between two is worth it.
    tol, max_iter : float, int
        Tolerance and number of convex steps of a descent, which only has to tell points apart.
    """

    unlabeled: int = 400
    labeled: int = 200
    digits: float = 1e-7
    cost: float = 10.0
    parts: int = 5
    scale: float = 0.5
    doubt: float = 0.04
    alike: float = 100.0
    per_class: float = 1.0
    at_random: float = 0.5
    rate: float = 0.5
    rate_quantiles: int = 15
    count_error: float = 0.03
    known: float = 0.02
    quantiles: tuple[float, ...] = (0.05, 0.35, 0.65, 0.95)
    most_tried: int = 6
    worth_another: float = 0.05
    tol: float = 0.1
    max_iter: int = 20


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
    log_likelihood : array, shape (m,)
        Of the labels left out, for each of them.
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
    log_likelihood: Array
    left_out: Array


@dataclass(frozen=True)
class _Prior:
    """What counts of labels say of the share of a class: a mixture of two beta distributions."""

    positive: int
    total: int
    n_classes: int
    per_class: float
    how: Inference

    @classmethod
    def of(cls, points: _Points, y: Array, counts: Sequence[int] | None) -> _Prior:
        """By the labels of some points, and those of every class where there are several."""
        total, positive = len(points.known), int((y[points.known] > 0).sum())
        given = np.array([positive, total - positive]) if counts is None else np.asarray(counts)
        return cls(positive, total, len(given), per_class_probability(given), points.how)

    @cached_property
    def moments(self) -> tuple[float, float]:
        """The mean and the standard deviation."""
        grid, weight = _fine_grid()
        return _moments(grid, self.density(grid) * weight)

    @property
    def settles_it(self) -> bool:
        """Whether counts tell the share well enough."""
        return self.moments[1] <= self.how.known

    @property
    def parameters(self) -> tuple[tuple[float, float, float], ...]:
        """Weight, a and b of each part."""
        rest, at_random, per_class = self.n_classes - 1, self.how.at_random, self.how.per_class
        counted = self.positive + at_random, self.total - self.positive + at_random * rest
        return (1 - self.per_class, *counted), (self.per_class, per_class, per_class * rest)

    def density(self, shares: Array) -> Array:
        """At some shares, shape (m,)."""
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


def per_class_probability(counts: NDArray[np.intp], a: float = 1000.0) -> float:
    """The probability that labels were drawn per class, by how nearly equal their counts are; it was a half before.

    Counts of labels drawn per class are equal, or Dirichlet-multinomial with parameter ``a``.
    """
    total, k = int(counts.sum()), len(counts)
    at_random = gammaln(k) + gammaln(total + 1) - gammaln(total + k)
    nearly = float(gammaln(total + 1) - gammaln(k * a + total) + gammaln(k * a))
    nearly += float(np.sum(gammaln(counts + a) - gammaln(a) - gammaln(counts + 1)))
    equal = 0.0 if counts.min() == counts.max() else -np.inf
    per_class = np.logaddexp(np.log(0.5) + equal, np.log(0.5) + nearly)
    return float(1 / (1 + np.exp(at_random - per_class)))


def infer_share(
    problem: Problem,
    *,
    counts: Sequence[int] | None = None,
    fit_intercept: bool = True,
    random_state: int = 0,
    callback: Callable[[int], None] | None = None,
) -> ShareEstimate:
    """The share of the positive class among the unlabelled points, with its standard deviation.

    The transductive SVM that is asked has the ramp loss (Collobert et al. 2006), C = 10 with points scaled to unit
    variance, and C* = C / 10, whatever the share is wanted for.  It is fitted for at most six shares times five folds
    of the labels, on at most six hundred of the points.

    Parameters
    ----------
    problem : Problem
        Its costs C of labelled points count against each other, its C* and balance do not.  Points of cost 0 are left
        out.
    counts : sequence of int, optional
        Labels of every class, the positive one first, where it is told from several others; by default of two classes.
    random_state : int, default 0
        Of the folds, and of the points that are taken where there are many.
    callback : callable, optional
        Called with the number of shares that have been tried.

    Raises
    ------
    ValueError
        If the problem has no unlabelled point.

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
    points = _Points(problem, [problem.y], random_state)
    with _nothing_kept():
        return _inferred(points, problem.y, counts, fit_intercept, callback)


def leave_labels_out(problem: Problem, share: float, *, fit_intercept: bool = True, random_state: int = 0) -> Array:
    """Labels that are left out, and what the transductive and the supervised SVM make of these points, shape (m, 3).

    ``share`` is that of the positive class among the unlabelled points; other arguments and the transductive SVM are as
    in :func:`infer_share`, and columns as in ``left_out`` of :class:`ShareEstimate`.  m is 0 where every class has one
    label.
    """
    points = _Points(problem, [problem.y], random_state)
    tried = _Tried.of(points, problem.y, fit_intercept)
    if tried is None:
        return np.empty((0, 3))
    with _nothing_kept():
        tried.evaluate(share)
        return tried.left_out(share)


def _inferred(
    points: _Points,
    y: Array,
    counts: Sequence[int] | None,
    fit_intercept: bool,
    callback: Callable[[int], None] | None,
) -> ShareEstimate:
    """The share of the points of which y is +1; see :func:`infer_share`."""
    prior = _Prior.of(points, y, counts)
    (mean, deviation), counted = prior.moments, prior.positive / prior.total
    tried = None if prior.settles_it else _Tried.of(points, y, fit_intercept)
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
    if tried is None or not tried.shares:
        return ShareEstimate(mean, deviation, counted, np.empty(0), np.empty(0), np.empty((0, 3)))
    order = np.argsort(tried.shares)
    values = np.array(tried.shares)[order], np.array(tried.values)[order]
    return ShareEstimate(mean, deviation, counted, *values, tried.left_out(mean))


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


def class_shares(estimates: Sequence[ShareEstimate], least: float = 1e-3) -> Array:
    """The shares of all classes, which add up to 1, by an estimate of the second of two, or of each of several.

    No class is said to be smaller than ``least`` before they are made to add up.
    """
    shares = np.array([one.share for one in estimates])
    if len(shares) == 1:
        shares = np.array([1 - shares[0], shares[0]])
    shares = np.clip(shares, least, 1 - least)
    return np.asarray(shares / shares.sum())


class ClassShares(NamedTuple):
    """The shares of the classes among the unlabelled points, as they have been inferred."""

    shares: Array  # shape (n_classes,), which add up to 1
    errors: Array  # their standard deviations
    estimates: tuple[ShareEstimate, ...]  # of the second of two classes, or of each of several


def infer_class_shares(
    problem: Problem,
    signs: Sequence[Array],
    *,
    fit_intercept: bool = True,
    callback: Callable[[int], None] | None = None,
) -> ClassShares:
    """Infer the shares of all classes, each against the rest (:func:`infer_share`).

    The problem is that of any class against the rest; ``signs`` are +1, -1 and 0 for unlabelled points, shape (n,), of
    the second of two classes, or of each of several.  What was inferred last is kept, so that a search over costs asks
    only once.
    """
    points = _Points(problem, signs)
    counts = np.array([np.sum(y[points.known] > 0) for y in signs])
    counts = np.array([counts[0], len(points.known) - counts[0]]) if len(signs) == 1 else counts
    against_rest = [[int(counts[k]), *np.delete(counts, k).tolist()] for k in range(len(signs))]
    settled = all(_Prior.of(points, *given).settles_it for given in zip(signs, against_rest, strict=True))
    gram = None if settled else points.gram
    asked: tuple[Any, ...] = (np.array([y[points.keep] for y in signs]), counts, points.cost, gram, fit_intercept)
    for given, known in _kept:
        if all(np.array_equal(one, other) for one, other in zip(asked, given, strict=True)):
            return known
    with _nothing_kept():
        found = tuple(
            _inferred(points, y, own, fit_intercept, callback) for y, own in zip(signs, against_rest, strict=True)
        )
    errors = np.array([one.error for one in found])
    shares = ClassShares(class_shares(found), np.repeat(errors, 2) if len(found) == 1 else errors, found)
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


class _Points:
    """Some of the points, whatever their number: labelled and unlabelled ones, whose C* is C / 10.

    ``keep`` are their places, and ``known`` those of all points whose labels say something.
    """

    how = Inference()

    def __init__(self, problem: Problem, signs: Sequence[Array], random_state: int = 0) -> None:
        self._problem, self.random_state = problem, random_state
        self.known = known = problem.labeled[problem.cost[problem.labeled] > 0]
        unknown = problem.unlabeled[problem.cost[problem.unlabeled] > 0]
        unknown = problem.unlabeled if len(unknown) == 0 else unknown
        random = np.random.default_rng(random_state)
        if len(known) > self.how.labeled:
            # One label of each class, and one of the others, is always there.
            first = [known[y[known] == sign][0] for y in signs for sign in (1, -1)]
            known = np.union1d(first, random.choice(known, self.how.labeled, replace=False))
        if len(unknown) > self.how.unlabeled:
            unknown = random.choice(unknown, self.how.unlabeled, replace=False)
        self.keep: Indices = np.sort(np.concatenate([known, unknown]))
        labeled, cost = problem.y[self.keep] != 0, problem.cost[self.keep]
        self.cost = np.where(labeled, self.how.cost * cost / cost[labeled].mean(), self.how.cost / 10)

    @cached_property
    def gram(self) -> Rows | None:
        """Their kernel matrix: points are taken from their mean and have unit variance, so that costs mean the same.

        It is in single precision, in which descents take two thirds of the time.  None if points are so far from the
        origin, or so near each other, that rounding has spoilt inner products.
        """
        problem = self._problem
        if isinstance(problem.kernel, DeformedKernel):
            # A graph's kernel of some of the points takes as long as that of all.
            problem = problem.replace(kernel=problem.kernel.base)
        as_it_is = len(self.keep) == problem.n and not isinstance(problem.X, LinearPoints)
        part = problem if as_it_is else problem.part(self.keep)
        if isinstance(part.kernel, Linear) and not isinstance(part.X, LinearPoints):
            # Differences from the mean keep their digits, however far the points are from the origin.
            found = centred_gram(part.kernel, part.X, np.arange(part.n))
            gram, size = found.matrix, found.error * float((found.scale**2).mean()) / self.how.digits
        else:
            mean = part.gram.mean(axis=0)
            gram, size = part.gram - mean, float(np.abs(mean).max())
            gram -= (mean - mean.mean())[:, None]
        variance = float(gram.diagonal().mean())
        if variance <= self.how.digits * size:
            return None
        return np.asarray((gram / variance).astype(np.float32))


def costs_without(cost: Array, y: Array, fewer: Array) -> Array:
    """The costs of points of which fewer have labels: where a label is left out, 0 in ``fewer``, that of the others."""
    cost = cost.copy()
    cost[(fewer == 0) & (y != 0)] = cost[y == 0].mean()
    return cost


class _Tried:
    """Transductive SVMs without some of the labels, for one share after the other."""

    @classmethod
    def of(cls, points: _Points, y: Array, fit_intercept: bool) -> _Tried | None:
        """Those of some points; None if they cannot be told apart, or no class has two labels."""
        if points.gram is None:
            return None
        tried = cls(points, points.gram, y, fit_intercept)
        return tried if (tried.fold >= 0).any() else None

    def __init__(self, points: _Points, gram: Rows, y: Array, fit_intercept: bool) -> None:
        self.how, self.y, self.cost = points.how, y[points.keep], points.cost
        self.known = np.flatnonzero(self.y)
        random = np.random.default_rng(points.random_state)
        self.fold = self._folds(random)
        self.shares: list[float] = []
        self.values: list[float] = []
        self._outputs: list[Array] = []
        parts: Any = tsvm(fit_intercept=fit_intercept).parts
        self._small = SmallProblems(
            gram, parts, fit_intercept=fit_intercept, tol=self.how.tol, max_iter=self.how.max_iter
        )

    def _folds(self, random: np.random.Generator) -> Indices:
        """The part that each label is left out with; -1 for the only label of a class, shape (n_labeled,)."""
        signs = self.y[self.known]
        fold, begin = np.full(len(signs), -1), 0
        for sign in (1, -1):
            own = random.permutation(np.flatnonzero(signs == sign))
            if len(own) > 1:
                fold[own] = (begin + np.arange(len(own))) % min(self.how.parts, len(signs))
                begin += len(own)
        return fold

    def evaluate(self, share: float) -> None:
        """Leave labels out under the balance of a share."""
        outputs = self._left_out({k: one.outputs(2 * share - 1) for k, one in self._balanced.items()})
        signs = self.y[self.known]
        right = 1 / (1 + np.exp(-np.clip(signs * outputs / self.how.scale, -50, 50)))
        self.shares.append(share)
        count = int((~np.isnan(outputs)).sum())
        likely = np.log(self.how.doubt / 2 + (1 - self.how.doubt) * right)
        self.values.append(float(np.nansum(likely)) / (1 + count / self.how.alike))
        self._outputs.append(outputs)

    def _left_out(self, found: dict[int, Array]) -> Array:
        """Outputs at labelled points of functions that do not know their labels, NaN where there is none."""
        outputs = np.full(len(self.known), np.nan)
        for k, values in found.items():
            outputs[self.fold == k] = values[self.known[self.fold == k]]
        return outputs

    @cached_property
    def _learned_from(self) -> dict[int, tuple[Array, Array]]:
        """Labels and costs of all points, by the part that is left out; both classes have labels."""
        found = {}
        for k in np.unique(self.fold[self.fold >= 0]).tolist():
            y = self.y.copy()
            y[self.known[self.fold == k]] = 0.0
            if (y > 0).any() and (y < 0).any():
                found[k] = y, costs_without(self.cost, self.y, y)
        return found

    @cached_property
    def _balanced(self) -> dict[int, BalancedProblem]:
        """The problems with labels left out; none where without a bias means cannot be met."""
        found = {}
        for k, (y, cost) in self._learned_from.items():
            with suppress(ValueError):
                found[k] = BalancedProblem(self._small, y, cost)
        return found

    def worth_trying(self, grid: Array, density: Array) -> list[float]:
        """A share between two that have been tried, or beyond them, where the posterior is not known well enough."""
        ends = np.concatenate([[grid[0]], np.sort(self.shares), [grid[-1]]])
        posterior = self.posterior(grid, density)
        gap = np.clip(np.searchsorted(ends, grid, side="right") - 1, 0, len(ends) - 2)
        worth = np.bincount(gap, weights=posterior, minlength=len(ends) - 1) * np.diff(ends)
        own = gap == falling(worth)[0]
        if worth.max() < self.how.worth_another:
            return []
        return [float(posterior[own] @ grid[own] / posterior[own].sum())]

    def posterior(self, grid: Array, density: Array) -> Array:
        """Probabilities on a grid; likelihoods are interpolated between shares that have been tried."""
        order = np.argsort(self.shares)
        values = np.interp(grid, np.array(self.shares)[order], np.array(self.values)[order])
        found = density * np.exp(values - values.max())
        return np.asarray(found / found.sum())

    def left_out(self, share: float) -> Array:
        """Labels that were left out, and both outputs there (see :class:`ShareEstimate`)."""
        nearest = int(falling(-np.abs(np.array(self.shares) - share))[0])
        found = np.column_stack([self.y[self.known], self._outputs[nearest], self._alone])
        return found[~np.isnan(found).any(axis=1)]

    def count_likelihood(self, grid: Array) -> Array:
        """How well each share explains the number of points that the supervised SVM labels positive, shape (m,)."""
        outputs = self._small.svm(self.y, self.cost)
        found = float((outputs[self.y == 0] > 0).mean())
        judged = ~np.isnan(self._alone)
        labels, said = self.y[self.known][judged] > 0, self._alone[judged] > 0
        rate, n = self.how.rate, self.how.rate_quantiles
        middles = (np.arange(n) + 0.5) / n
        true, false = (
            betaincinv(rate + (said & own).sum(), rate + (~said & own).sum(), middles) for own in (labels, ~labels)
        )
        shares = grid[:, None]
        expected = shares * np.repeat(true, n) + (1 - shares) * np.tile(false, n)
        likelihood = np.exp(-0.5 * ((found - expected) / self.how.count_error) ** 2).mean(axis=1)
        return np.asarray(likelihood + 1e-3)  # that rates are the same for points without labels is not certain

    @cached_property
    def _alone(self) -> Array:
        """Left-out outputs of the supervised SVM, with the same folds, shape (n_labeled,)."""
        return self._left_out({k: self._small.svm(*given) for k, given in self._learned_from.items()})
