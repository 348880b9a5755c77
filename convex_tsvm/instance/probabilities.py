"""Probabilities of labels, of one or several classes: the best ones at a temperature, how uncertain they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, logsumexp

from ..problem import Array
from ..ties import EQUAL, rounded


class Probabilities:
    """p of some points, each the probability that its label is +1, known by their logits z = log p / (1 - p).

    Parameters
    ----------
    logits : array, shape (u,)
    p : array, shape (u,), optional
        The probabilities, where they are known already.
    """

    #: The logit of a probability that is 1 as far as floating point can tell.
    certain = 745.0

    def __init__(self, logits: Array, p: Array | None = None) -> None:
        self.logits = np.clip(logits, -self.certain, self.certain)
        self.p = expit(self.logits) if p is None else p

    @classmethod
    def best(cls, g: Array, temperature: float, n_positive: int | None = None, start: float = 0.0) -> Probabilities:
        """p_i = 1 / (1 + exp((g_i - ν) / T)), chapelle2008 eq. 8; ν = 0, or that for which they sum to ``n_positive``.

        g, shape (u,), is by how much more each point costs with the label +1; ν is sought from ``start`` on, and is
        the attribute ``nu`` of what is returned.
        """
        nu, p = 0.0, None
        if n_positive is not None:
            if n_positive in (0, len(g)):
                return cls(np.full(len(g), cls.certain if n_positive else -cls.certain))
            nu, p = multiplier(g, temperature, n_positive, start)
        found = cls((nu - g) / temperature, p)
        found.nu = nu
        return found

    #: The multiplier of the balance, ν.
    nu = 0.0

    @cached_property
    def _log_sums(self) -> Array:
        """log(1 + exp(z))."""
        return np.maximum(self.logits, 0.0) + np.log1p(np.exp(-np.abs(self.logits)))

    def entropy(self) -> float:
        """Mean of -p log p - (1 - p) log(1 - p)."""
        return max(0.0, float((self._log_sums - self.p * self.logits).sum()) / max(len(self.p), 1))

    def divergence(self, other: Probabilities) -> float:
        """Mean of the Kullback-Leibler divergences of other probabilities from these (sindhwani2006 eq. 1.17)."""
        change = self.p * (self.logits - other.logits) - self._log_sums + other._log_sums
        return max(0.0, float(change.sum()) / max(len(self.p), 1))


def multiplier(g: Array, temperature: float, n_positive: float, start: float) -> tuple[float, Array]:
    """ν and the probabilities, by Newton's steps kept inside what brackets the root (sindhwani2006 §1.4.2)."""
    # At these ends each p_i is on one side of the mean that is asked for; the sum rises with ν in between.
    shift = temperature * np.log(n_positive / (len(g) - n_positive))
    low, high = float(g.min()) + shift, float(g.max()) + shift
    if high - low <= 1e-14 * max(abs(low), abs(high)):
        return low, np.full(len(g), n_positive / len(g))
    nu = start if low < start < high else (low + high) / 2
    for _ in range(200):
        p = expit((nu - g) / temperature)
        excess, rate = float(p.sum()) - n_positive, float(p @ (1 - p)) / temperature
        low, high = (low, nu) if excess > 0 else (nu, high)
        if abs(excess) <= 1e-12 * len(g) or high - low <= 1e-14 * (abs(low) + abs(high)):
            break
        nu = nu - excess / rate if rate > 0 else low
        if not low < nu < high:
            nu = (low + high) / 2
    return nu, p


@dataclass(frozen=True, eq=False)
class PottsProbabilities:
    """p_ik, the probability that the label of point i is k; they sum to 1 for every point.

    Attributes
    ----------
    logs : array, shape (u, K)
        log p.
    nu : array, shape (K,)
        ν, the multipliers of the numbers of points of the classes; 0 if these are free.
    """

    logs: Array
    nu: Array

    @classmethod
    def best(
        cls, g: Array, temperature: float, counts: NDArray[np.intp] | None = None, start: Array | None = None
    ) -> PottsProbabilities:
        """The p that minimize Σ p_ik g_ik + T Σ p_ik log p_ik, p_ik ∝ exp((ν_k - g_ik) / T).

        Parameters
        ----------
        g : array, shape (u, K)
            What each label of each point costs, up to a number for each point.
        temperature : float > 0
            The temperature T.
        counts : int array, shape (K,), optional
            What p sums to for every label, u in all; ν maximizes Σ ν_k n_k - T Σ_i log Σ_k exp((ν_k - g_ik) / T).
        start : array, shape (K,), optional
            ν to start from.
        """
        nu = np.zeros(g.shape[1])
        if counts is not None:
            nu = _multipliers(g, temperature, np.asarray(counts, dtype=float), nu if start is None else start)
        with np.errstate(over="ignore"):  # at a temperature of nearly 0 all but the least costs are infinite
            scaled = (nu - g - (nu - g).max(axis=1, keepdims=True)) / temperature
        return cls(log_softmax(scaled, axis=1), nu)

    @cached_property
    def p(self) -> Array:
        """The probabilities, shape (u, K)."""
        return np.exp(self.logs)

    def entropy(self) -> float:
        """Mean over the points of - Σ_k p_ik log p_ik."""
        return max(0.0, -float((self.p * np.where(self.p > 0, self.logs, 0.0)).sum()) / max(len(self.p), 1))

    def divergence(self, other: PottsProbabilities) -> float:
        """Mean of the Kullback-Leibler divergences of other probabilities from these (sindhwani2006 eq. 1.17)."""
        change = np.where(self.p > 0, self.logs - other.logs, 0.0)
        return max(0.0, float((self.p * change).sum()) / max(len(self.p), 1))

    def labels(self, g: Array, counts: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
        """The most probable label of each point, shape (u,); with ``counts`` so many of each.

        Points are moved from labels that have too many to labels that have too few, that which costs least first.
        """
        found = np.argmax(self.logs >= self.logs.max(axis=1, keepdims=True) - EQUAL, axis=1)
        if counts is None:
            return found
        excess = np.bincount(found, minlength=len(counts)) - counts
        cost = g - self.nu
        while excess.any():
            points = np.flatnonzero(excess[found] > 0)
            lacking = np.flatnonzero(excess < 0)
            rise = cost[np.ix_(points, lacking)] - cost[points, found[points]][:, None]
            i, k = np.unravel_index(np.argmin(rounded(rise)), rise.shape)
            excess[found[points[i]]] -= 1
            excess[lacking[k]] += 1
            found[points[i]] = lacking[k]
        return found


def _multipliers(g: Array, temperature: float, counts: Array, nu: Array) -> Array:
    """ν by Newton's method on the concave dual, whose gradient is counts - Σ_i p_i."""
    inside = counts > 0
    if not inside.all():  # a label that no point has
        found = np.full(len(counts), -1e300)
        found[inside] = _multipliers(g[:, inside], temperature, counts[inside], nu[inside])
        return found

    def dual(nu: Array) -> float:
        with np.errstate(over="ignore"):  # far from the best ν, at a temperature of nearly 0
            return float(nu @ counts) - temperature * float(logsumexp((nu - g) / temperature, axis=1).sum())

    nu = nu - nu.mean()
    value = dual(nu)
    for _ in range(100):
        p = np.exp(log_softmax((nu - g) / temperature, axis=1))
        lacking = counts - p.sum(axis=0)
        if np.abs(lacking).max() <= 1e-9 * len(g):
            break
        curvature = (np.diag(p.sum(axis=0)) - p.T @ p) / temperature
        step = scipy.linalg.lstsq(curvature, lacking, cond=1e-12, check_finite=False)[0]
        for _ in range(30):
            risen = dual(nu + step)
            if risen > value:
                break
            if risen > value - 1e-13 * abs(value):  # too near to tell: what counts is what p sums to
                sums = np.exp(log_softmax((nu + step - g) / temperature, axis=1)).sum(axis=0)
                if np.abs(counts - sums).max() < 0.5 * np.abs(lacking).max():
                    break
            step = step / 2
        else:
            before = nu
            nu = _one_after_the_other(g, temperature, counts, nu)
            risen = dual(nu)
            if risen <= value:
                return before if risen < value else nu
            value = risen
            continue
        nu, value = nu + step, risen
    return np.asarray(nu - nu.mean())


def _one_after_the_other(g: Array, temperature: float, counts: Array, nu: Array) -> Array:
    """Each ν_k in turn such that its label has as many points as it should, the others as they are."""
    nu = nu.copy()
    for k in range(len(nu)):
        others = np.delete((nu - g) / temperature, k, axis=1)
        own = g[:, k] + temperature * logsumexp(others, axis=1)
        nu[k] = multiplier(own, temperature, counts[k], float(nu[k]))[0]
    return nu
