"""Convex losses, and the conjugates of PLQ ones, as CVXPY expressions."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

from ..losses import PLQ, Convex, ConvexLoss, Segments, conjugate_pieces


def loss_expression(
    loss: Convex, t: cp.Expression, scale: cp.Expression | None = None
) -> tuple[cp.Expression, list[cp.Constraint]]:
    """A convex loss of every entry of ``t``, and the constraints that keep ``t`` in its domain.

    With a ``scale`` z, for polyhedral losses that are finite, the perspective z ℓ(t / z).

    Written from a minimizer outwards: a ``pos`` term for every kink, ``huber(pos)`` for a curved piece of finite
    width, ``square(pos)`` for one without end.  The hinge is ``pos(1 - t)``, the squared hinge ``square(pos(1 - t))``.
    """
    if isinstance(loss, ConvexLoss):
        return loss.expression(cp, t), []
    if not loss.is_convex:
        raise ValueError(f"{loss!r} is not convex: only its convex part has a CVXPY expression (split() it first)")
    constraints: list[cp.Constraint] = []
    if np.isfinite(loss.lower):
        constraints.append(t >= loss.lower)
    if np.isfinite(loss.upper):
        constraints.append(t <= loss.upper)
    anchor = _anchor(loss)
    left, right = (float(d) for d in loss.derivatives(anchor))
    slope = float(np.clip(0.0, left, right))
    slope = slope if abs(slope) > 1e-14 else 0.0  # Less is rounding of the pieces of a loss.
    terms = [_times(slope, t)] if slope else []
    terms += _outwards(loss, anchor, right - slope, t, +1, scale)
    terms += _outwards(loss, anchor, slope - left, t, -1, scale)
    constant = float(loss(anchor)) - slope * anchor
    if constant or not terms:
        terms.append(cp.Constant(np.full(t.shape, constant)) if scale is None else _number_of(constant, scale))
    return sum_of(terms), constraints


def conjugate_segments(loss: PLQ) -> tuple[float, float, Segments]:
    """A conjugate as a sum of bounded variables: the slope nearest to 0, the value there, and the segments around it.

    For c ℓ + β (·) the variables become c times as long, which is how an SVM's dual has the box 0 <= α <= C; a loss
    with two kinks, such as the convex part of the symmetric ramp, gets two bounded variables, as collobert2006 has one
    for each label.
    """
    conjugate = loss.conjugate()
    anchor = float(np.clip(0.0, conjugate.lower, conjugate.upper))
    return anchor, float(conjugate(anchor)), conjugate_pieces((loss,)).outwards(np.array([anchor]))


def sum_of(terms: list[cp.Expression]) -> cp.Expression:
    """Sum of expressions, without a leading zero."""
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


def rows_of(instance: Any, f: cp.Expression) -> list[cp.Constraint]:
    """The linear constraints of an instance on outputs f."""
    found: list[cp.Constraint] = []
    for sums, low, high in instance.dense_rows():
        total = cp.Constant(sums, name="row") @ f
        ends = [total == low] if low == high else [total >= low, total <= high]
        found += [end for end, size in zip(ends, (low, high), strict=False) if np.isfinite(size)]
    return found


def _anchor(loss: PLQ) -> float:
    """A finite point to write the loss from: a minimizer if there is one, else the end or breakpoint nearest to one."""
    _, first, last = loss.minimizers()
    if not np.isnan(first) and (np.isfinite(first) or np.isfinite(last)):
        return float(
            (first + last) / 2 if np.isfinite(first) and np.isfinite(last) else first if np.isinf(last) else last
        )
    finite = loss.edges[np.isfinite(loss.edges)]
    return float(finite[np.argmin(np.abs(finite))]) if len(finite) else 0.0


def _number_of(number: float, scale: cp.Expression | None) -> float | cp.Expression:
    """A number, or that number of scales."""
    return number if scale is None else _times(number, scale)


def _outwards(
    loss: PLQ, anchor: float, kink: float, t: cp.Expression, direction: int, scale: cp.Expression | None
) -> list[cp.Expression]:
    """Terms of the loss on one side of the anchor, as functions of the distance from it in that direction."""

    def beyond(place: float) -> cp.Expression:
        away = t - _number_of(place, scale) if direction > 0 else _number_of(place, scale) - t
        return cp.pos(away if place else t if direction > 0 else -t)

    terms = [_times(kink, beyond(anchor))] if 0 < kink < np.inf else []
    jumps = dict(zip(loss.breaks.tolist(), loss.slope_jumps().tolist(), strict=True))
    for (a, _, _), left, right in loss.spans()[::direction]:
        near, far = (max(left, anchor), right) if direction > 0 else (min(right, anchor), left)
        if direction * (far - near) <= 0:
            continue
        if near != anchor and jumps[near] > 0:
            terms.append(_times(jumps[near], beyond(near)))
        if a > 0:
            width = abs(far - near)
            terms.append(_times(a, cp.square(beyond(near)) if np.isinf(far) else cp.huber(beyond(near), width)))
    return terms


def _times(factor: float, expression: cp.Expression) -> cp.Expression:
    return expression if factor == 1 else -expression if factor == -1 else float(factor) * expression
