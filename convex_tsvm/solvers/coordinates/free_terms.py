"""Newton steps on the free terms of coordinate descent: those whose slopes are strictly between two ends.

The outputs of free terms are linear functions of their slopes, so that a system of their number gives the point where
all of them are met at once.  Single coordinate steps come near to it only slowly where points resemble each other; and
once the free terms are the right ones, that point is the solution to rounding.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ...problem import Array
from ...validation import is_sparse


class Origin(NamedTuple):
    """Squared norms of the points and products with their mean, as a balance or a free bias has them (see _loops)."""

    norms: Array
    away: Array
    room: float
    mean: Array | None


class Terms(Protocol):
    """What is known of the terms of a step, with all arrays one entry a term but those of the origin; see _loops."""

    points: Any
    origin: Origin
    is_bias_free: bool
    tables: tuple[Any, ...]
    point: NDArray[np.intp]
    kind: NDArray[np.intp]
    cost: Array
    s: Array
    u: Array
    sigma: float
    shift: float


def meet_free_terms(descent: Terms) -> None:
    """Move the slopes of the free terms to where their outputs are met, as far as no slope passes an end."""
    free, low, high, p, r = _free_terms(descent)
    # Products of more free points with each other would cost as much as several epochs over the points.
    if not 0 < len(free) <= min(100, max(32, (20 * len(descent.origin.norms)) ** 0.5)):
        return
    origin, is_free = descent.origin, descent.is_bias_free
    at, cost, s = descent.point[free], descent.cost[free], descent.s[free]
    rows, away = descent.points.take(at), origin.away[at]
    inner = rows @ rows.T
    inner = inner.toarray() if is_sparse(inner) else np.asarray(inner, dtype=float)
    outputs = np.asarray(rows @ descent.u).ravel() - descent.sigma * away + descent.shift
    if origin.mean is not None:
        inner = inner - away[:, None] - away[None, :] + origin.room
    total, bias, changes = descent.sigma, 0.0, np.zeros(len(free))
    left = np.arange(len(free))
    for _ in range(16):  # a step ends where a slope comes to its end, and the next does without that term
        missing = (p + r * s - outputs)[left]
        found = _solved(inner[np.ix_(left, left)], (r / cost)[left], missing, -total if is_free else None)
        if found is None:
            break
        change, rise = found
        moved = -change / cost[left]
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(moved > 0, high[left] - s[left], low[left] - s[left]) / moved
        first = int(np.argmin(np.where(moved == 0, np.inf, room)))
        t = min(1.0, float(room[first])) if moved[first] else 1.0
        change = t * change
        s[left] = np.clip(s[left] + t * moved, low[left], high[left])
        changes[left] += change
        total += float(change.sum())
        bias += t * rise
        outputs += inner[:, left] @ change + t * rise
        if t == 1.0 or len(left) == 1:
            break
        left = np.delete(left, first)
    descent.s[free] = s
    descent.u += np.asarray(rows.T @ changes).ravel()
    descent.sigma = total
    descent.shift += bias if is_free else float(changes @ (origin.room - away))


def _free_terms(descent: Terms) -> tuple[NDArray[np.intp], Array, Array, Array, Array]:
    """Free terms, the ends of their pieces, and the line of the derivative of ℓ* between these ends."""
    S, P, R, _, m = descent.tables
    s, kind = descent.s, descent.kind
    piece, is_free = np.zeros(len(s), dtype=np.intp), np.zeros(len(s), dtype=bool)
    for place in range(P.shape[1]):
        low, high = S[kind, place], S[kind, place + 1]
        margin = 1e-9 * np.minimum(high - low, 1 + np.abs(s))  # a slope this near to an end is at the end
        here = (place < m[kind]) & (s > low + margin) & (s < high - margin)
        piece[here] = place
        is_free |= here
    chosen = np.flatnonzero(is_free)
    k, j = kind[chosen], piece[chosen]
    return chosen, S[k, j], S[k, j + 1], P[k, j], R[k, j]


def _solved(inner: Array, ridge: Array, missing: Array, total: float | None) -> tuple[Array, float] | None:
    """(δ, β) with (inner + Diag(ridge)) δ + β = missing, and Σ δ = total unless that is None, when β is 0."""
    size = len(missing)
    system = np.zeros((size + (total is not None),) * 2)
    system[:size, :size] = inner
    diagonal = np.arange(size)
    # Something is added to the diagonal, since points may be there twice.
    system[diagonal, diagonal] += ridge + 1e-11 * float(np.abs(np.diag(inner)).max())
    wanted = missing
    if total is not None:
        system[:size, -1] = system[-1, :size] = 1.0
        wanted = np.append(missing, total)
    found: Array
    if total is None:
        _, found, failed = scipy.linalg.lapack.dposv(system, wanted, lower=1)
    else:
        *_, found, failed = scipy.linalg.lapack.dgesv(system, wanted)
    if failed:
        return None
    if not np.isfinite(found).all():
        return None
    return found[:size], 0.0 if total is None else float(found[-1])
