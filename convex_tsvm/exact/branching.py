"""Which point's label to branch on, and which label to look at first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..problem import Array
from ..table import BRANCHING
from ..validation import one_of

#: Levels of branching within which the bounds at hand should close a node: with more, an SDP relaxation is faster.
LEVELS_WITHOUT_SDP = 8


@dataclass(frozen=True, eq=False)
class Candidates:
    """What a branching rule sees of a node's relaxation: the points without a label, and all outputs v, shape (n,).

    Attributes
    ----------
    rates : callable
        Returns an array of shape (len(unknown),): by how much the bound rises with the square of a change of each of
        these outputs, as long as the outputs that are at their ends stay there.  Only some rules ask for it.
    lacking : float
        By how much the bound has to rise to close the node.
    correlation : array, shape (n,), or None
        For every output the sum of its squared correlations with all outputs in the SDP relaxation made at this node.
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
    """The point that varies most together with others in the SDP relaxation, with more weight where it is unsure.

    A node without such a relaxation is branched as :func:`by_worst` says.
    """
    if node.correlation is None:
        return by_worst(node)
    unsure = np.maximum(1 - np.abs(node.v[node.unknown]), 1e-3)
    return int(node.unknown[np.argmax(node.correlation[node.unknown] * unsure)])


def by_worst_or_correlation(node: Candidates) -> int:
    """By the better half where some levels of it close the node, otherwise by correlation."""
    lesser, _ = node.rises
    return by_worst(node) if LEVELS_WITHOUT_SDP * lesser.max() >= node.lacking else by_correlation(node)


def rule(name: str) -> Rule:
    """The rule of that name; ValueError if there is none."""
    found: Rule = BRANCHING[one_of("branching", name, tuple(BRANCHING))].load()
    return found
