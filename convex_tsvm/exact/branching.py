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

#: Points whose halves are bounded, of those that look best in each of two ways; and the least rise of the other half's
#: bound that makes a half that is closed at once worth a node, relative to what closes the node.
TRIED, WORTH_A_NODE = 4, 1e-2


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
    halves : callable or None
        Takes points, and returns by how much the bounds of their halves rise at least, shape (k, 2).
    """

    unknown: np.ndarray
    v: Array
    rates: Callable[[], Array]
    lacking: float = np.inf
    correlation: Array | None = None
    halves: Callable[[np.ndarray], Array] | None = None

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


def by_halves(node: Candidates) -> int:
    """The point whose halves' bounds are best, of some that look best: one half is closed at once, or both rise much.

    A point with a half that is closed costs one node and no branch, so that it comes first, unless the other half's
    bound hardly rises.  Otherwise the product of both rises is largest, as usual in mixed-integer programming
    (Achterberg 2007).
    """
    assert node.halves is not None
    (lesser, larger), lacking = node.rises, node.lacking
    closing = np.flatnonzero(larger >= 0.5 * lacking)
    chosen = np.union1d(
        closing[np.argsort(-lesser[closing], kind="stable")[:TRIED]],
        np.argsort(-_product(lesser, larger, lacking), kind="stable")[:TRIED],
    )
    rises = node.halves(node.unknown[chosen])
    lesser, larger = rises.min(axis=1), rises.max(axis=1)
    one_is_closed = (larger >= lacking) & (lesser >= WORTH_A_NODE * lacking)
    if one_is_closed.any():
        return int(node.unknown[chosen[np.argmax(np.where(one_is_closed, lesser, -np.inf))]])
    return int(node.unknown[chosen[np.argmax(_product(lesser, larger, lacking))]])


def _product(lesser: Array, larger: Array, lacking: float) -> Array:
    """The product of two rises, up to what closes a node, with a little added so that one that is zero counts, too."""
    little = 1e-4 * lacking
    return np.asarray((np.clip(lesser, 0, lacking) + little) * (np.clip(larger, 0, lacking) + little))


def by_worst_or_correlation(node: Candidates) -> int:
    """By halves where these are known; by the better half if some levels of it close the node; else by correlation."""
    if node.halves is not None:
        return by_halves(node)
    lesser, _ = node.rises
    return by_worst(node) if LEVELS_WITHOUT_SDP * lesser.max() >= node.lacking else by_correlation(node)


def rule(name: str) -> Rule:
    """The rule of that name; ValueError if there is none."""
    found: Rule = BRANCHING[one_of("branching", name, tuple(BRANCHING))].load()
    return found
