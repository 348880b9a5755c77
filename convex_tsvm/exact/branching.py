"""What to branch on: a rule says an output and the place at which its interval is split, 0 for a label.

A rule of one's own is a function of what is known of a node (:class:`~convex_tsvm.relaxations.Work`), ``branching=``
takes it.  It returns a point without a label and 0, or an output and a place between the ends of its interval; None
where nothing can be split.
"""

import operator
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ..problem import Array
from ..relaxations.box import LabelBox
from ..relaxations.region import Work
from ..table import BRANCHING
from ..validation import one_of

Rule = Callable[[Work], tuple[int, float] | None]


def of_labels(choose: Callable[[Work], int]) -> Rule:
    """A rule for searches for labels, from a choice among the points without one: a place among these."""

    @wraps(choose)
    def rule(work: Work) -> tuple[int, float] | None:
        unknown = work.box.unknown
        return (int(unknown[choose(work)]), 0.0) if len(unknown) else None

    return rule


def _outputs(work: Work) -> Array:
    """Outputs of the points without a label, or what the relaxation has for their signs."""
    outputs: Array = (work.outputs if work.signs is None else work.signs)[work.box.unknown]
    return outputs


def _rises(work: Work) -> tuple[Array, Array]:
    """By how much the bounds of both halves of each point rise at least: the lesser and the larger of the two."""
    rates, v = work.rates(), _outputs(work)
    rise = [rates * np.maximum(1 - sign * v, 0.0) ** 2 for sign in (1, -1)]
    return np.minimum(*rise), np.maximum(*rise)


@of_labels
def by_confidence(work: Work) -> int:
    """The point whose label is surest: the tree follows label propagation (chapelle2008 §3.1)."""
    return int(np.argmax(np.abs(_outputs(work))))


@of_labels
def by_ambiguity(work: Work) -> int:
    """The point whose output is nearest to zero."""
    return int(np.argmin(np.abs(_outputs(work))))


@of_labels
def by_gain(work: Work) -> int:
    """The point for which the bounds of both halves rise most."""
    lesser, larger = _rises(work)
    return int(np.argmax(lesser + 0.15 * larger))


def _worst(work: Work) -> int:
    """The point for which the bound of the better half rises most."""
    lesser, larger = _rises(work)
    return int(np.lexsort((larger, lesser))[-1])


def _correlation(work: Work) -> int:
    """The point that varies most together with others in the SDP relaxation, with more weight where it is unsure.

    A node without such a relaxation is branched as :func:`_worst` says.
    """
    if work.correlation is None:
        return _worst(work)
    unsure = np.maximum(1 - np.abs(_outputs(work)), 1e-3)
    return int(np.argmax(work.correlation[work.box.unknown] * unsure))


by_worst, by_correlation = of_labels(_worst), of_labels(_correlation)


@of_labels
def _label(work: Work) -> int:
    """By the better half if some levels of it close the node, else by correlation."""
    (lesser, larger), lacking = _rises(work), work.cutoff - work.bound
    # Levels of branching within which bounds at hand should close a node: with more, an SDP relaxation is faster.
    soon = work.correlation is None or 8 * lesser.max() >= lacking
    return int(np.lexsort((larger, lesser))[-1]) if soon else _correlation(work)


def by_excess(work: Work) -> tuple[int, float] | None:
    """The output whose loss is furthest above what the bound reckons with, where a convex stretch of the loss ends."""
    return None if work.split is None else work.split()


def automatic(work: Work) -> tuple[int, float] | None:
    """What is fastest: by excess where losses are split, else a label."""
    return _label(work) if work.model.about == "labels" else by_excess(work)


def choice(choose: Rule, work: Work) -> tuple[int, float] | None:
    """What a rule chooses, if that splits the box; else a ValueError."""
    found: Any = choose(work)
    chosen, box, splits_labels = None, work.box, isinstance(work.box, LabelBox)
    try:
        if found is None:
            fits = not (len(box.unknown) if splits_labels else work.split and work.split())
        else:
            i, place = chosen = operator.index(found[0]), float(found[1])
            inside = 0 <= i < len(box.low) and len(found) == 2
            fits = inside and (box.labels[i] == place == 0 if splits_labels else box.low[i] < place < box.high[i])
    except (TypeError, IndexError, ValueError):
        fits = False
    if not fits:
        allowed = "a point without a label (work.box.unknown) and 0" if splits_labels else "an output and a place in it"
        name = getattr(choose, "__name__", repr(choose))
        raise ValueError(f"branching={name} returned {found!r}; it must be {allowed}, or None where nothing is left")
    return chosen


def rule(name: str | Rule, about: str = "labels") -> Rule:
    """The rule of that name for searches about labels or outputs; ValueError if there is none."""
    if callable(name):
        return name
    one_of("branching", name, tuple(BRANCHING))
    rules: dict[str, Rule] = {one: entry.load() for one, entry in BRANCHING.items()}
    # What chooses among labels is wrapped by of_labels.
    fits = {one: hasattr(found, "__wrapped__") == (about == "labels") for one, found in rules.items() if one != "auto"}
    if not fits.get(name, True):
        others = ", ".join(repr(one) for one in fits if fits[one])
        raise ValueError(f"branching={name!r} is none for a search about {about}; there are 'auto' and {others}")
    return rules[name]
