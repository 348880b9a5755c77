"""What to branch on: a rule says an output and the place at which its interval is split, 0 for a label.

A rule of one's own is a function of what is known of a node (:class:`~convex_tsvm.relaxations.Work`), ``branching=``
takes it.  It returns an output and a place, or None where nothing can be split.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps

import numpy as np

from ..problem import Array
from ..relaxations.region import Work
from ..table import BRANCHING
from ..validation import one_of

Rule = Callable[[Work], tuple[int, float] | None]


@dataclass(frozen=True, eq=False)
class Candidates:
    """What a branching rule sees of a node's relaxation: the points without a label, and all outputs v, shape (n,).

    ``rates()``, shape (len(unknown),), is by how much the bound rises with the square of a change of each of these
    outputs, and ``halves(points)``, shape (k, 2), by how much the bounds of halves rise at least; the node is closed
    when its bound has risen by ``lacking``. ``correlation``, shape (n,), is that of
    :class:`~convex_tsvm.relaxations.Work`.
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


def of_labels(choose: Callable[[Candidates], int]) -> Rule:
    """A rule for searches for labels, from a choice among the points without one."""

    @wraps(choose)
    def rule(work: Work) -> tuple[int, float] | None:
        if not len(work.box.unknown):
            return None
        leaning, lacking = work.outputs if work.signs is None else work.signs, work.cutoff - work.bound
        seen = Candidates(work.box.unknown, leaning, work.rates, lacking, work.correlation, work.halves)
        return choose(seen), 0.0

    return rule


@of_labels
def by_confidence(node: Candidates) -> int:
    """The point whose label is surest: the tree follows label propagation (chapelle2008 §3.1)."""
    return int(node.unknown[np.argmax(np.abs(node.v[node.unknown]))])


@of_labels
def by_ambiguity(node: Candidates) -> int:
    """The point whose output is nearest to zero."""
    return int(node.unknown[np.argmin(np.abs(node.v[node.unknown]))])


@of_labels
def by_gain(node: Candidates) -> int:
    """The point for which the bounds of both halves rise most."""
    lesser, larger = node.rises
    return int(node.unknown[np.argmax(lesser + 0.15 * larger)])


def _worst(node: Candidates) -> int:
    """The point for which the bound of the better half rises most."""
    lesser, larger = node.rises
    return int(node.unknown[np.lexsort((larger, lesser))[-1]])


def _correlation(node: Candidates) -> int:
    """The point that varies most together with others in the SDP relaxation, with more weight where it is unsure.

    A node without such a relaxation is branched as :func:`_worst` says.
    """
    if node.correlation is None:
        return _worst(node)
    unsure = np.maximum(1 - np.abs(node.v[node.unknown]), 1e-3)
    return int(node.unknown[np.argmax(node.correlation[node.unknown] * unsure)])


by_worst, by_correlation = of_labels(_worst), of_labels(_correlation)


def _halves(node: Candidates) -> int:
    """The point whose halves' bounds are best, of some that look best: one half is closed at once, or both rise much.

    A point with a half that is closed costs one node and no branch, so that it comes first, unless the other half's
    bound hardly rises.  Otherwise the product of both rises is largest, as usual in mixed-integer programming
    (Achterberg 2007).
    """
    assert node.halves is not None
    (lesser, larger), lacking = node.rises, node.lacking
    closing = np.flatnonzero(larger >= 0.5 * lacking)
    tried = 4  # points whose halves are bounded, of those that look best in each of two ways
    chosen = np.union1d(
        closing[np.argsort(-lesser[closing], kind="stable")[:tried]],
        np.argsort(-_product(lesser, larger, lacking), kind="stable")[:tried],
    )
    rises = node.halves(node.unknown[chosen])
    lesser, larger = rises.min(axis=1), rises.max(axis=1)
    # A half that is closed at once is worth a node if the other's bound rises by this share of what is lacking.
    one_is_closed = (larger >= lacking) & (lesser >= 1e-2 * lacking)
    if one_is_closed.any():
        return int(node.unknown[chosen[np.argmax(np.where(one_is_closed, lesser, -np.inf))]])
    return int(node.unknown[chosen[np.argmax(_product(lesser, larger, lacking))]])


def _product(lesser: Array, larger: Array, lacking: float) -> Array:
    """The product of two rises, up to what closes a node, with a little added so that one that is zero counts, too."""
    little = 1e-4 * lacking
    return np.asarray((np.clip(lesser, 0, lacking) + little) * (np.clip(larger, 0, lacking) + little))


@of_labels
def _label(node: Candidates) -> int:
    """By halves where these are known; by the better half if some levels of it close the node; else by correlation."""
    if node.halves is not None:
        return _halves(node)
    lesser, _ = node.rises
    # Levels of branching within which the bounds at hand should close a node: with more, an SDP relaxation is faster.
    return _worst(node) if 8 * lesser.max() >= node.lacking else _correlation(node)


def by_excess(work: Work) -> tuple[int, float] | None:
    """The output whose loss is furthest above what the bound reckons with, where a convex stretch of the loss ends."""
    return None if work.split is None else work.split()


def automatic(work: Work) -> tuple[int, float] | None:
    """What is fastest: by excess where losses are split, else a label."""
    return by_excess(work) if work.model.about == "outputs" else _label(work)


def rule(name: str | Rule, about: str = "labels") -> Rule:
    """The rule of that name for searches about labels or outputs; ValueError if there is none."""
    if callable(name):
        return name
    one_of("branching", name, tuple(BRANCHING))
    if name != "auto" and (name == "excess") != (about == "outputs"):
        others = "'excess'" if about == "outputs" else ", ".join(repr(one) for one in BRANCHING if one != "excess")
        raise ValueError(f"branching={name!r} is none for a search about {about}; there are 'auto' and {others}")
    found: Rule = BRANCHING[name].load()
    return found
