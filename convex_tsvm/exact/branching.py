"""Which point's label to branch on, and which label to look at first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..problem import Array
from ..validation import one_of

#: From unknown points, their outputs in the relaxation, and what a unit of distance costs, the point to branch on.
Rule = Callable[[np.ndarray, Array, Array], int]


def _confidence(unknown: np.ndarray, v: Array, rate: Array) -> int:
    """The point whose label is surest: the tree follows label propagation (chapelle2008 §3.1)."""
    return int(unknown[np.argmax(np.abs(v[unknown]))])


def _ambiguity(unknown: np.ndarray, v: Array, rate: Array) -> int:
    """The point whose output is nearest to zero."""
    return int(unknown[np.argmin(np.abs(v[unknown]))])


def _gain(unknown: np.ndarray, v: Array, rate: Array) -> int:
    """The point for which the bounds of both halves rise most, as far as its own row says."""
    rise = [rate[unknown] * np.maximum(1 - sign * v[unknown], 0.0) ** 2 for sign in (1, -1)]
    score = np.minimum(*rise) + 0.15 * np.maximum(*rise)
    return int(unknown[np.argmax(score)])


def _worst(unknown: np.ndarray, v: Array, rate: Array) -> int:
    """The point for which the bound of the better half rises most."""
    rise = [rate[unknown] * np.maximum(1 - sign * v[unknown], 0.0) ** 2 for sign in (1, -1)]
    return int(unknown[np.lexsort((np.maximum(*rise), np.minimum(*rise)))[-1]])


RULES: dict[str, Rule] = {"gain": _gain, "confidence": _confidence, "ambiguity": _ambiguity, "worst": _worst}


def rule(name: str) -> Rule:
    """The rule of that name.

    Raises
    ------
    ValueError
        If there is none.
    """
    return RULES[one_of("branching", name, tuple(RULES))]
