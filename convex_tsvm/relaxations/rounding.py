"""What rounding may do to a bound, and the room that is left for it.

A bound here is a claim about exact arithmetic on the problem as it is given.  Floating point comes near to it, and
every bound is lowered by as much as it may be wrong: a sum of k products is within k ε/2 of the sum of their sizes, and
the kernel within what :class:`~convex_tsvm.kernels.AccurateGram` says.  A little more is left on top, so that whoever
checks a search by other arithmetic, with rounding errors of its own, gets at least as far as the search did.
"""

import numpy as np

from ..kernels.distances import EPS
from ..problem import Array

#: Additional room by which bounds are lowered and boxes widened, relative to the sizes of the terms they are made of.
SAFE_ROOM = 1e-9

#: More than underflow can take from a sum.
UNDERFLOW = 1e-290

__all__ = ["EPS", "SAFE_ROOM", "UNDERFLOW", "outward", "safe", "zero_sum"]


def safe(bound: float) -> float:
    """A bound, or -∞ where the numbers that make it have overflown."""
    return float(bound) if np.isfinite(bound) else -np.inf


def outward(low: Array, high: Array) -> tuple[Array, Array]:
    """Move lower ends down and upper ends up by a little, relative to 1 plus their size."""
    with np.errstate(invalid="ignore"):
        return low - SAFE_ROOM * (1 + np.abs(low)), high + SAFE_ROOM * (1 + np.abs(high))


def zero_sum(gamma: Array, least: Array, most: Array) -> Array:
    """γ between its ends with a sum that is exactly zero, near the γ given.

    The entries become whole multiples of a power of two, so that their sum has no rounding error; what it is off by is
    taken from the entries with most room.  Zero, if that is not enough.
    """
    largest = float(np.abs(gamma).max(initial=0.0))
    if not 0 < largest < np.inf:
        return np.zeros_like(gamma)
    # n whole numbers up to 2⁵² / n add up without rounding.
    bits = 52 - int(np.ceil(np.log2(len(gamma)))) - int(np.ceil(np.log2(largest)))
    unit = float(np.ldexp(1.0, -bits))
    low, high = np.ceil(least / unit), np.floor(most / unit)
    counts = np.clip(np.rint(gamma / unit), low, high)
    excess = float(counts.sum())
    room = counts - low if excess > 0 else high - counts
    for i in np.argsort(-room, kind="stable"):
        if excess == 0 or room[i] <= 0:
            break
        move = float(np.sign(excess) * min(abs(excess), room[i]))
        counts[i] -= move
        excess -= move
    return counts * unit if excess == 0 else np.zeros_like(gamma)
