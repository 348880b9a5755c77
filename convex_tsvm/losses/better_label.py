"""The loss of a point whose label is to be found, for labels that are constraints: the outputs allowed have a gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .plq import PLQ, Array


@dataclass(frozen=True)
class BetterLabel:
    """min(ℓ(t), ℓ(-t)) for a loss ℓ that is infinite somewhere; :func:`better_label` makes it.

    The outputs that are allowed have a gap between the labels, so that it is no PLQ function, and has no convex and
    concave part: methods that search for labels take it, and those that follow tangents or slopes do not.
    """

    loss: PLQ  # ℓ, what a point with the label +1 pays

    @property
    def name(self) -> str:
        """How the loss is called in reports."""
        return f"better label of {self.loss.name or 'a loss'}"

    def __repr__(self) -> str:
        return self.name

    def __call__(self, t: ArrayLike) -> Array:
        t = np.asarray(t, dtype=float)
        return np.asarray(np.minimum(self.loss(t), self.loss(-t)))

    def reflect(self) -> BetterLabel:
        """The loss itself, which is even."""
        return self


def better_label(loss: PLQ) -> PLQ | BetterLabel:
    """The loss of a point whose label is to be found: min(ℓ(t), ℓ(-t)), where ℓ is what the label +1 pays.

    It is a BetterLabel where ℓ is infinite somewhere, as for the hard margin.

    Examples
    --------
    >>> print(ct.losses.better_label(ct.hinge()))
    better label of hinge: 0 on [-inf, -1]; t + 1 on [-1, 0]; -t + 1 on [0, 1]; 0 on [1, inf]
    >>> ct.losses.better_label(ct.losses.indicator(1, np.inf))(np.array([-1.0, 0.5, 3.0]))
    array([ 0., inf,  0.])
    """
    if not loss.is_finite:
        return BetterLabel(loss)
    return loss.minimum(loss.reflect()).named(f"better label of {loss.name or 'a loss'}")
