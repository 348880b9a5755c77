"""Probabilities of labels: the best ones at a temperature, how uncertain they are, and how far they have moved."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.special import expit

from ..problem import Array


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
