"""Which point's label to branch on, and which label to look at first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..problem import Array
from ..table import BRANCHING
from ..validation import one_of

#: Levels in which bounds that are at hand should close a node: so many nodes take about as long as an SDP relaxation.
LEVELS = 8


@dataclass(frozen=True, eq=False)
class Candidates:
    """What a branching rule sees of a node's relaxation.

    Attributes
    ----------
    unknown : int array
        Points without a label.
    v : array, shape (n,)
        Their outputs in the relaxation.
    rates : callable
        By how much the bound rises with the square of a change of each of these outputs, as long as the outputs that
        are at their ends stay there: an array of shape (len(unknown),).  Only some rules ask for it.
    lacking : float
        What the bound lacks to close the node.
    correlation : array, shape (n,), or None
        How much the outputs vary together in the SDP relaxation made at this node: Σ_j of squared correlations.
    """

    unknown: np.ndarray
    v: Array
    rates: Callable[[], Array]
    lacking: float = np.inf
    correlation: Array | None = None

    @cached_property
    def rises(self) -> tuple[Array, Array]:
        """By how much the bounds of both halves rise at least: the lesser and the larger of the two."""
        rates, v = self.rates(), self.v[self.unknown]
        rise = [rates * np.maximum(1 - sign * v, 0.0) ** 2 for sign in (1, -1)]
        return np.minimum(*rise), np.maximum(*rise)


Rule = Callable[[Candidates], int]


def by_confidence(node: Candidates) -> int:
    """The point whose label is surest: the tree follows label propagation (chapelle2008 §3.1)."""
    return int(node.unknown[np.argmax(np.abs(node.v[node.unknown]))])


def by_ambiguity(node: Candidates) -> int:
    """The point whose output is nearest to zero."""
    return int(node.unknown[np.argmin(np.abs(node.v[node.unknown]))])


def by_gain(node: Candidates) -> int:
    """The point for which the bounds of both halves rise most."""
    lesser, larger = node.rises
    return int(node.unknown[np.argmax(lesser + 0.15 * larger)])


def by_worst(node: Candidates) -> int:
    """The point for which the bound of the better half rises most."""
    lesser, larger = node.rises
    return int(node.unknown[np.lexsort((larger, lesser))[-1]])


def by_correlation(node: Candidates) -> int:
    """The unsure point whose label says most about the others: halves that get SDP relaxations of their own."""
    if node.correlation is None:
        return by_worst(node)
    unsure = np.maximum(1 - np.abs(node.v[node.unknown]), 1e-3)
    return int(node.unknown[np.argmax(node.correlation[node.unknown] * unsure)])


def by_worst_or_correlation(node: Candidates) -> int:
    """By the better half where some levels of it close the node, otherwise by correlation."""
    lesser, _ = node.rises
    return by_worst(node) if LEVELS * lesser.max() >= node.lacking else by_correlation(node)


def rule(name: str) -> Rule:
    """The rule of that name.

    Raises
    ------
    ValueError
        If there is none.
    """
    found: Rule = BRANCHING[one_of("branching", name, tuple(BRANCHING))].load()
    return found
