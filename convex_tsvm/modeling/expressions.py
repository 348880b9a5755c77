"""Convex PLQ losses and their conjugates as CVXPY expressions."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from ..losses import PLQ

Array = NDArray[np.float64]


def loss_expression(loss: PLQ, t: cp.Expression) -> tuple[cp.Expression, list[cp.Constraint]]:
    """A convex PLQ loss of every entry of ``t``, and the constraints that keep ``t`` in its domain.

    The loss is written from one of its breakpoints outwards as a sum of ``pos`` terms for kinks, ``huber(pos)``
    for curved pieces of finite width and ``square(pos)`` for those without end, plus an affine function; for the
    hinge that is ``pos(1 - t)``.

    Raises
    ------
    ValueError
        If the loss is not convex.
    """
    if not loss.is_convex:
        raise ValueError(f"{loss!r} is not convex: only its convex part has a CVXPY expression (split() it first)")
    constraints: list[cp.Constraint] = []
    if np.isfinite(loss.lower):
        constraints.append(t >= loss.lower)
    if np.isfinite(loss.upper):
        constraints.append(t <= loss.upper)
    piece = _start(loss)
    a, b, c = loss.pieces[piece]
    left, right = loss.edges[piece], loss.edges[piece + 1]
    if a > 0 and np.isfinite(left):
        # A curved first piece grows out of its left end, so that only one-sided terms are needed.
        terms = _affine(b + 2 * a * left, c - a * left**2, t) + _curve(a, cp.pos(t - left), right - left)
    elif a > 0 and np.isfinite(right):
        terms = _affine(b + 2 * a * right, c - a * right**2, t) + _curve(a, cp.pos(right - t), np.inf)
    else:
        terms = _affine(b, c, t) + ([a * cp.square(t)] if a > 0 else [])
    slopes = loss._slope_jumps()
    for k in range(piece, len(loss.breaks)):
        beyond = cp.pos(t - loss.breaks[k])
        terms += [slopes[k] * beyond] if slopes[k] > 0 else []
        terms += _curve(loss.pieces[k + 1, 0], beyond, loss.edges[k + 2] - loss.breaks[k])
    for k in range(piece - 1, -1, -1):
        beyond = cp.pos(loss.breaks[k] - t)
        terms += [slopes[k] * beyond] if slopes[k] > 0 else []
        terms += _curve(loss.pieces[k, 0], beyond, loss.breaks[k] - loss.edges[k])
    if not terms:
        return cp.Constant(np.zeros(t.shape)), constraints
    return _total(terms), constraints


@dataclass(frozen=True)
class Segment:
    """One piece of the derivative of a conjugate, seen from the anchor.

    Attributes
    ----------
    sign : int
        +1 if the slope rises along it, -1 if it falls.
    length : float
        Change of slope it allows, possibly infinite.
    start : float
        Output at the end nearer to the anchor.
    rate : float
        Change of the output per unit of slope (zero for a kink of the loss).
    """

    sign: int
    length: float
    start: float
    rate: float


def conjugate_segments(loss: PLQ) -> tuple[float, float, list[Segment]]:
    """A conjugate as a sum of bounded variables: anchor slope, value there, and the segments around it.

    ℓ*(s) is the least value of ℓ*(anchor) + Σ_k sign_k start_k u_k + rate_k u_k² / 2 over 0 <= u_k <= length_k with
    s = anchor + Σ_k sign_k u_k.  For c ℓ + β (·) the u_k become c times as long, which is how an SVM's dual has
    the box 0 <= α <= C; a loss with two kinks, such as the convex part of the symmetric ramp, gets the two α of
    collobert2006, one for each label.
    """
    f = loss.conjugate()
    if f.lower == f.upper:
        return f.lower, float(f(f.lower)), []
    finite = f.edges[np.isfinite(f.edges)]
    anchor = float(finite[np.argmin(np.abs(finite))]) if len(finite) else 0.0
    segments = []
    for (a, b, _), left, right in zip(f.pieces, f.edges[:-1], f.edges[1:], strict=True):
        for sign, near, far in ((1, max(left, anchor), right), (-1, min(right, anchor), left)):
            if sign * (far - near) > 0:
                segments.append(Segment(sign, abs(far - near), 2 * a * near + b, 2 * a))
    return anchor, float(f(anchor)), segments


def _start(loss: PLQ) -> int:
    """The piece from which the loss is written: that of its minimizer, or else the flattest one."""
    _, first, last = loss.minimizers()
    if not np.isnan(first):
        middle = (
            (first + last) / 2 if np.isfinite(first) and np.isfinite(last) else (last if np.isinf(first) else first)
        )
        if np.isinf(middle):
            return 0 if np.isinf(first) and first < 0 else len(loss.breaks)
        flat = [k for k, (a, b, _) in enumerate(loss.pieces) if a == 0 and b == 0]
        return flat[0] if flat else int(np.searchsorted(loss.breaks, middle, side="right"))
    return int(np.argmin(np.abs(loss.pieces[:, 1]) + np.abs(loss.pieces[:, 0])))


def _affine(slope: float, constant: float, t: cp.Expression) -> list[cp.Expression]:
    terms = [slope * t] if slope else []
    return terms + ([cp.Constant(np.full(t.shape, constant))] if constant else [])


def _curve(a: float, beyond: cp.Expression, width: float) -> list[cp.Expression]:
    """The curvature ``a`` along ``width``, then its tangent, as a function of the distance ``beyond`` >= 0."""
    if a == 0:
        return []
    return [a * cp.square(beyond)] if np.isinf(width) else [a * cp.huber(beyond, width)]


def _total(terms: list[cp.Expression]) -> cp.Expression:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
