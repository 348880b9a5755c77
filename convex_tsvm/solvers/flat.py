"""PLQ losses as flat arrays: the description that compiled loops read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..losses import PLQ

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FlatLosses:
    """The derivatives of the conjugates ℓ_k*, which are all that a dual method needs of the losses.

    Attributes
    ----------
    S : array, shape (n_losses, m + 1)
        Breakpoints of ℓ_k*, ends of its domain included (they may be infinite); unused entries are NaN.
    P, R : array, shape (n_losses, m)
        The derivative is ``P + R s`` on each piece.
    m : int array, shape (n_losses,)
        Number of pieces; 0 for a linear loss, whose conjugate lives on one point.
    """

    S: Array
    P: Array
    R: Array
    m: NDArray[np.intp]


@lru_cache(maxsize=64)
def flatten(losses: tuple[PLQ, ...]) -> FlatLosses:
    """Flat arrays of convex PLQ losses.

    Raises
    ------
    ValueError
        If a loss is not convex.
    """
    conjugates = [loss.conjugate() for loss in losses]
    counts = np.array([0 if f.lower == f.upper else len(f.pieces) for f in conjugates], dtype=np.intp)
    width = max(1, int(counts.max()))
    S = np.full((len(losses), width + 1), np.nan)
    P, R = np.zeros((len(losses), width)), np.zeros((len(losses), width))
    for k, (f, m) in enumerate(zip(conjugates, counts, strict=True)):
        S[k, : m + 1] = f.edges[: m + 1]
        P[k, :m] = f.pieces[:m, 1]
        R[k, :m] = 2 * f.pieces[:m, 0]
    return FlatLosses(S, P, R, counts)
