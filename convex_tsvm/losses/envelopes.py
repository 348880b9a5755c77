"""Convex pieces of a loss, and the convex envelope of the least of some functions.

A PLQ loss that is nowhere concave between its kinks is the least of finitely many convex functions: it is cut where its
slope falls, and each stretch is continued so that it stays above the loss.  To know on which stretch an output is makes
the loss convex, as a label does for a transductive SVM.  Until that is known the convex envelope of the stretches that
are left is the best convex bound of what a point pays.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce

import numpy as np

from .plq import PLQ


@lru_cache(maxsize=256)
def convex_pieces(loss: PLQ) -> tuple[PLQ, ...]:
    """Convex functions whose least is the loss; each is the loss itself on one stretch between falls of its slope.

    Beyond its stretch a piece rises steeply, or, where that would be below the loss, goes on as it ends.  Pieces come
    from left to right; a convex loss is its only one.  A ValueError says if the loss is infinite somewhere, a piece has
    negative curvature, or no continuation stays above the loss.

    Examples
    --------
    >>> pieces = ct.losses.convex_pieces(ct.ramp(-0.3))
    >>> t = np.array([-2.0, -0.3, 0.5, 2.0])
    >>> pieces[1](t), np.allclose(np.min([piece(t) for piece in pieces], axis=0), ct.ramp(-0.3)(t))
    (array([6.4, 1.3, 0.5, 0. ]), True)
    """
    if not loss.is_finite:
        raise ValueError(f"{loss!r} is not finite everywhere: it has no convex pieces that are")
    if (loss.pieces[:, 0] < 0).any():
        raise ValueError(f"{loss!r} has a piece of negative curvature, which no finite number of convex ones makes")
    cuts = np.flatnonzero(loss.slope_jumps() < 0).tolist()
    # The steeper a stretch is continued, the more an output is held where the stretch is.
    steep = 3.0 * float(np.abs(np.concatenate(loss.derivatives(loss.breaks))).max(initial=0.0))
    ends = enumerate(zip([-1, *cuts], [*cuts, len(loss.breaks)], strict=True))
    return tuple(_continued(loss, first, last, steep, number) for number, (first, last) in ends)


def _continued(loss: PLQ, first: int, last: int, steep: float, number: int) -> PLQ:
    """The loss between its breakpoints ``first`` and ``last`` (-1 and their number stand for no end), continued."""
    name = f"{loss.name}[{number}]"
    breaks, pieces = loss.breaks[first + 1 : last], loss.pieces[first + 1 : last + 1]
    left = loss.breaks[first : first + 1] if first >= 0 else loss.breaks[:0]
    right = loss.breaks[last : last + 1]
    rising = [
        [0.0, sign * steep, float(loss(end)) - sign * steep * float(end)]
        for sign, ends in ((-1.0, left), (1.0, right))
        for end in ends
    ]
    before, after = rising[: len(left)], rising[len(left) :]
    steeply = PLQ(np.concatenate([left, breaks, right]), [*before, *pieces.tolist(), *after], name=name)
    for piece in (steeply, PLQ(breaks, pieces, name=name)):
        if piece.is_convex and not _falls_below(piece, loss):
            return piece
    raise ValueError(f"{loss!r}: stretch {number} does not stay above the loss where it is continued")


def _falls_below(piece: PLQ, loss: PLQ) -> bool:
    """Whether a function is below a loss somewhere by more than rounding."""
    least, _, _ = (piece - loss).minimizers()
    return bool(np.isnan(least) or least < -1e-9 * (1 + float(np.abs(loss(loss.breaks)).max(initial=0.0))))


def envelope_of(functions: Sequence[PLQ]) -> PLQ:
    """The convex envelope of the least of some convex functions: the conjugate of the greatest of their conjugates.

    A ValueError says if there is none, since the least is not bounded below by a line.

    Examples
    --------
    >>> right = ct.losses.convex_pieces(ct.symmetric_ramp(-0.3))[1:]  # the output is on the plateau, or positive
    >>> print(ct.losses.envelope_of(right))
    PLQ: -3 t - 0.2 on [-inf, -0.3]; -0.538462 t + 0.538462 on [-0.3, 1]; 0 on [1, inf]
    """
    if len(functions) == 1:
        return functions[0]
    return _envelope_of(tuple(functions))


@lru_cache(maxsize=1024)
def _envelope_of(functions: tuple[PLQ, ...]) -> PLQ:
    conjugates = [f.conjugate() for f in functions]
    lower, upper = max(f.lower for f in conjugates), min(f.upper for f in conjugates)
    if lower > upper:
        raise ValueError(f"the least of {list(functions)} has no convex envelope: no line is below it")
    return reduce(PLQ.maximum, conjugates).conjugate()
