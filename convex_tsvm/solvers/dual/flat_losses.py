"""PLQ losses as flat arrays: the description that compiled loops read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...instance.convex_step import ConvexStep
from ...losses import PLQ, WeightedSums

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

    def joined(self, other: FlatLosses) -> FlatLosses:
        """These losses, and others after them."""
        return _stacked([(self.S, self.P, self.R, self.m), (other.S, other.P, other.R, other.m)])


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


def flatten_step(step: ConvexStep) -> tuple[FlatLosses, NDArray[np.intp]]:
    """The losses of a step's points as flat arrays, and which of them each point pays.

    Points that pay sums of several losses have a row each.

    Raises
    ------
    ValueError
        If a loss is not piecewise linear-quadratic.
    """
    losses = tuple(loss for loss in step.losses if isinstance(loss, PLQ))
    if len(losses) < len(step.losses):
        other = next(loss for loss in step.losses if not isinstance(loss, PLQ))
        raise ValueError(f"{other.name}: the native solver takes convex PLQ losses only; use solver='cvxpy'")
    flat = flatten(losses)
    if step.point is None:
        return flat, np.asarray(step.kind, dtype=np.intp)
    kind = np.zeros(step.problem.n, dtype=np.intp)
    parts, size = [(flat.S, flat.P, flat.R, flat.m)], len(flat.m)
    for loss, where, kinds in step.groups:
        if isinstance(loss, WeightedSums):
            S, P, R = loss.flat()
            parts.append((S, P, R, np.full(len(where), P.shape[1], dtype=np.intp)))
            kind[where] = size + np.arange(len(where))
            size += len(where)
        else:
            kind[where] = kinds[0]
    return _stacked(parts), kind


def _stacked(parts: list[tuple[Array, Array, Array, NDArray[np.intp]]]) -> FlatLosses:
    """Tables below each other, unused entries at the ends of rows filled as in :func:`flatten`."""
    size, width = sum(len(m) for _, _, _, m in parts), max(P.shape[1] for _, P, _, _ in parts)
    joint = FlatLosses(
        np.full((size, width + 1), np.nan), np.zeros((size, width)), np.zeros((size, width)), np.zeros(size, np.intp)
    )
    start = 0
    for S, P, R, m in parts:
        rows, columns = slice(start, start + len(m)), P.shape[1]
        joint.S[rows, : columns + 1], joint.P[rows, :columns], joint.R[rows, :columns], joint.m[rows] = S, P, R, m
        start += len(m)
    return joint
