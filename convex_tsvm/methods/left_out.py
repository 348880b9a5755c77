"""Labels that are left out, and what transductive SVMs make of these points under the balance of some share."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.special import betaincinv

from ..formulations import tsvm
from ..kernels import DeformedKernel, Linear, centred_gram
from ..kernels.rows import Indices, Rows
from ..points import LinearPoints
from ..problem import Array, Problem
from ..solvers.dual.small import BalancedProblem, SmallProblems
from ..ties import falling


@dataclass(frozen=True)
class Inference:
    """What is assumed where shares are inferred, and how much is done for it."""

    # At most so many points of each kind are looked at; more would take longer and say little more.
    unlabeled: int = 400
    labeled: int = 200
    # Points are told apart if their variance is more than this share of their squared distance from the origin.
    digits: float = 1e-7
    cost: float = 10.0  # the mean cost C of labelled points, beside points of unit variance
    parts: int = 5  # parts that labels are left out in
    # A left-out label has the probability 1 / (1 + exp(-y f / scale)) of being as it is, or is wrong with doubt / 2.
    scale: float = 0.5
    doubt: float = 0.04
    # Labels left out are wrong together where a boundary is: the likelihood of m is that of m / (1 + m / alike).
    alike: float = 100.0
    # Dirichlet parameter of each class, by how labels were drawn; at random there is one more for each of its labels.
    per_class: float = 1.0
    at_random: float = 0.5
    # A rate of error is beta distributed, with one more for each label left out; so many quantiles are averaged.
    rate: float = 0.5
    rate_quantiles: int = 15
    count_error: float = 0.03  # the standard deviation to which the supervised SVM's share of positive points is known
    known: float = 0.02  # a share that counts alone tell to this standard deviation is not looked at any closer
    # The quantiles of the prior at which shares are tried first.
    quantiles: tuple[float, ...] = (0.05, 0.35, 0.65, 0.95)
    # At most so many are tried, and another one where probability times width of a gap between two is worth it.
    most_tried: int = 6
    worth_another: float = 0.05
    # Outputs become probabilities by a scale and offsets, whose priors have these inverse variances.
    sure_of_offsets: float = 1.0
    sure_of_scale: float = 0.1  # of its logarithm, around 1
    # All unlabelled points together say as much of shares as so many labels for each one that was left out.
    judged_alike: float = 3.0
    most_alike: float = 1000.0  # the largest concentration of the prior of shares, for each class; 1 is flat
    # Tolerance and number of convex steps of a descent, which only has to tell points apart.
    tol: float = 0.1
    max_iter: int = 20


class FewPoints:
    """Some of the points, whatever their number: labelled and unlabelled ones, whose C* is C / 10.

    ``keep`` are their places, and ``known`` those of all points whose labels say something.
    """

    how = Inference()

    def __init__(self, problem: Problem, signs: Sequence[Array]) -> None:
        self._problem = problem
        self.known = known = problem.labeled[problem.cost[problem.labeled] > 0]
        unknown = problem.unlabeled[problem.cost[problem.unlabeled] > 0]
        unknown = problem.unlabeled if len(unknown) == 0 else unknown
        random = np.random.default_rng(0)
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


def without_parts(y: Array, cost: Array, part: Indices) -> Iterator[tuple[int, Array, Array]]:
    """Each part, labels without its own, and costs, of all points; both classes have labels, or it is passed over."""
    for k in np.unique(part[part >= 0]).tolist():
        out = part == k
        fewer = np.where(out, 0.0, y)
        if (fewer > 0).any() and (fewer < 0).any():
            yield k, fewer, np.where(out, cost[y == 0].mean(), cost)


def folds_of(index: Indices, parts: int) -> Indices:
    """The part that each label is left out with, shape (n_labeled,), by its class; -1 for the only one of a class."""
    random, fold, begin = np.random.default_rng(0), np.full(len(index), -1), 0
    for k in np.unique(index):
        own = random.permutation(np.flatnonzero(index == k))
        if len(own) > 1:
            fold[own] = (begin + np.arange(len(own))) % min(parts, len(index))
            begin += len(own)
    return fold


class TriedShares:
    """Transductive SVMs without some of the labels, for one share after the other."""

    @classmethod
    def of(cls, points: FewPoints, y: Array, fit_intercept: bool) -> Self | None:
        """Those of some points; None if they cannot be told apart, or no class has two labels."""
        if points.gram is None:
            return None
        tried = cls(points, points.gram, y, fit_intercept)
        return tried if (tried.fold >= 0).any() else None

    def __init__(self, points: FewPoints, gram: Rows, y: Array, fit_intercept: bool) -> None:
        self.how, self.y, self.cost = points.how, y[points.keep], points.cost
        self.known = np.flatnonzero(self.y)
        self.fold = folds_of((self.y[self.known] < 0).astype(np.intp), self.how.parts)
        self.shares: list[float] = []
        self.values: list[float] = []
        self._outputs: list[Array] = []
        parts: Any = tsvm(fit_intercept=fit_intercept).parts
        self._small = SmallProblems(
            gram, parts, fit_intercept=fit_intercept, tol=self.how.tol, max_iter=self.how.max_iter
        )

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
        part = np.full(len(self.y), -1)
        part[self.known] = self.fold
        return {k: (y, cost) for k, y, cost in without_parts(self.y, self.cost, part)}

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
