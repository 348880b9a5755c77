"""The pieces of piecewise quadratic functions, as arrays: roots, sums and minima, conjugates, samples and formulas."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

#: Breakpoints, pieces and domain of a PLQ function: what its class is made with.
Stretches = tuple[Sequence[float], ArrayLike, tuple[float, float]]

#: What a piece becomes between two ends: breakpoints inside, and the new pieces.
Rule = Callable[[list[Array], float, float], tuple[list[float], list[Array]]]


def along(piece: Array, t: Array) -> Array:
    """The quadratic at some points, without overflow where it is a line."""
    a, b, c = piece.tolist()
    if a == 0:
        return b * t + c if b else np.where(np.isnan(t), t, c)
    return (a * t + b) * t + c


def polynomial(piece: Sequence[float] | Array, t: float) -> float:
    """The quadratic at one point."""
    a, b, c = piece
    return float((a * t + b) * t + c)


def combine(functions: Sequence[Any], rule: Rule) -> Stretches:
    """What ``rule`` makes of the common pieces of PLQ functions; it returns inner breakpoints and the new pieces."""
    lower, upper = max(f.lower for f in functions), min(f.upper for f in functions)
    if lower > upper:
        raise ValueError(f"the domains {[f.domain for f in functions]} have no point in common")
    breaks = np.unique(np.concatenate([f.breaks for f in functions]))
    edges = np.concatenate([[lower], breaks[(breaks > lower) & (breaks < upper)], [upper]])
    new_breaks: list[float] = []
    pieces: list[Array] = []
    for left, right in zip(edges[:-1], edges[1:], strict=True):
        middle = between(left, right)
        rows = [f.pieces[np.searchsorted(f.breaks, middle, side="right")] for f in functions]
        inner, parts = rule(rows, left, right)
        new_breaks += ([float(left)] if pieces else []) + inner
        pieces += parts
    return new_breaks, np.array(pieces), (lower, upper)


def pick(choose: Callable[[list[float]], np.intp]) -> Rule:
    """Rule for :func:`combine`: cut a piece where the two polynomials cross, then choose one on each part."""

    def rule(rows: list[Array], left: float, right: float) -> tuple[list[float], list[Array]]:
        a, b, c = rows[0] - rows[1]
        cuts = [t for t in roots(a, b, c) if left < t < right]
        ends = [left, *cuts, right]
        parts = []
        for l, r in zip(ends[:-1], ends[1:], strict=True):
            t = between(l, r)
            parts.append(rows[int(choose([polynomial(row, t) for row in rows]))])
        return cuts, parts

    return rule


def check_meeting(breaks: Array, pieces: Array) -> None:
    """Raise ValueError if neighbouring pieces have different values at their breakpoint."""
    for k, t in enumerate(breaks):
        left, right = polynomial(pieces[k], t), polynomial(pieces[k + 1], t)
        scale = 1 + np.abs(pieces[k : k + 2] * [t * t, t, 1]).max()
        if abs(left - right) > 1e-7 * scale:
            raise ValueError(f"pieces {k} and {k + 1} do not meet at breaks[{k}]={t}: {left} and {right}")


def changing(breaks: Array, pieces: Array) -> list[int]:
    """The breakpoints at which the function changes; others are between equal neighbours."""
    apart = np.abs(np.diff(pieces, axis=0)).max(axis=1)
    return [k for k in range(len(breaks)) if apart[k] > 1e-14 * (1 + np.abs(pieces[k : k + 2]).max())]


def roots(a: float, b: float, c: float) -> list[float]:
    """Real roots of a t² + b t + c, increasing; double ones too, so that between roots one sign is strict."""
    if a == 0:
        return [-c / b] if b else []
    discriminant = b * b - 4 * a * c
    if discriminant < 0:
        return []
    q = -0.5 * (b + np.copysign(np.sqrt(discriminant), b))
    return sorted({q / a, c / q} if q else {0.0, -b / a})


def between(left: float, right: float) -> float:
    """A point between two ends, which may be infinite."""
    if np.isfinite(left) and np.isfinite(right):
        return (left + right) / 2
    if np.isfinite(left):
        return left + 1
    return right - 1 if np.isfinite(right) else 0.0


def continuous_constants(breaks: Array, quadratic: Array, linear: Array) -> Array:
    """Constants that make pieces with the given quadratic and linear terms meet; the first is zero."""
    steps = (quadratic[:-1] - quadratic[1:]) * breaks**2 + (linear[:-1] - linear[1:]) * breaks
    return np.concatenate([[0.0], np.cumsum(steps)])


def sample(edges: Array, lower: float, upper: float) -> Array:
    """Points enough to tell two PLQ functions with breakpoints among ``edges`` apart."""
    finite = edges[np.isfinite(edges)]
    if len(finite) == 0:
        finite = np.zeros(1)
    finite = np.concatenate([[finite[0] - 3], finite, [finite[-1] + 3]])
    inner = [finite[:-1] + f * np.diff(finite) for f in (0.0, 1 / 3, 2 / 3)]
    t = np.concatenate([*inner, finite[-1:]])
    return t[(t >= lower) & (t <= upper)]


def formula(piece: Iterable[float], variable: str, power: str) -> str:
    """The quadratic as it is written."""
    terms: list[str] = []
    for value, factor in zip(piece, (variable + power, variable, ""), strict=True):
        if value == 0:
            continue
        size = "" if factor and abs(value) == 1 else f"{abs(value):.6g}"
        sign = ("-" if value < 0 else "") if not terms else (" - " if value < 0 else " + ")
        terms.append(sign + " ".join(part for part in (size, factor) if part))
    return "".join(terms) or "0"


def conjugate(f: Any) -> Stretches:
    """The conjugate of a convex PLQ function."""
    # Walk along the graph of the subdifferential: a kink at t becomes a line of slope t, a curved piece a
    # curved piece, and a straight piece a kink.
    spans: list[tuple[float, float, tuple[float, float, float]]] = []

    def kink(t: float, start: float, stop: float) -> None:
        spans.append((start, stop, (0.0, t, -float(f(t)))))

    if f.lower == f.upper:
        return [], [(0.0, f.lower, -float(f(f.lower)))], (-np.inf, np.inf)
    jumps = np.concatenate([f.slope_jumps(), [0.0]])
    for k, ((a, b, c), left, right) in enumerate(f.spans()):
        start, stop = (2 * a * left + b, 2 * a * right + b) if a > 0 else (b, b)
        if k == 0 and np.isfinite(f.lower):
            kink(f.lower, -np.inf, start)
        if a > 0:
            spans.append((start, stop, (1 / (4 * a), -b / (2 * a), b * b / (4 * a) - c)))
        if k == len(f.breaks) and np.isfinite(f.upper):
            kink(f.upper, stop, np.inf)
        elif jumps[k] > 0:
            kink(right, stop, stop + jumps[k])
    # A piece or a jump as small as rounding has no slopes of its own.
    spans = [span for span in spans if span[0] < span[1]]
    if not spans:
        return [], [(0.0, 0.0, -c)], (b, b)
    starts = [start for start, _, _ in spans]
    return starts[1:], [piece for _, _, piece in spans], (starts[0], spans[-1][1])


def prox(f: Any, v: Array, step: float) -> Array:
    """The minimizer of f(t) + (t - v)² / (2 step), for a convex PLQ function."""
    a, b, _ = f.pieces.T
    # The minimizer stays at a kink t while v - t is in step ∂f(t): two thresholds per kink.
    kinks = f.breaks
    first = kinks + step * (2 * a[:-1] * kinks + b[:-1])
    last = kinks + step * (2 * a[1:] * kinks + b[1:])
    thresholds = np.column_stack([first, np.maximum(first, last)]).ravel()
    place = np.searchsorted(thresholds, v, side="right")
    piece = place // 2
    moved = (v - step * b[piece]) / (1 + 2 * step * a[piece])
    if len(kinks):
        moved = np.where(place % 2 == 1, kinks[np.minimum(piece, len(kinks) - 1)], moved)
    return np.clip(moved, f.lower, f.upper)


def concave_part(f: Any) -> Array | None:
    """The pieces of the concave part of a PLQ function, flat and 0 where f is smallest; None if f is convex."""
    curvature, falls = np.minimum(f.pieces[:, 0], 0.0), np.minimum(f.slope_jumps(), 0.0)
    if not curvature.any() and not falls.any():
        return None
    linear = np.concatenate([[0.0], np.cumsum(falls + 2 * (curvature[:-1] - curvature[1:]) * f.breaks)])
    _, first, last = f.minimizers()
    middle = 0.0 if np.isnan(first) or (first == -np.inf and last == np.inf) else (first + last) / 2
    left, right = (int(np.searchsorted(f.breaks, middle, side=side)) for side in ("left", "right"))
    if np.isinf(middle):
        linear -= linear[right]
    else:
        linear -= np.mean([2 * curvature[k] * middle + linear[k] for k in (left, right)])
    pieces = np.column_stack([curvature, linear, continuous_constants(f.breaks, curvature, linear)])
    pieces[:, 2] -= pieces[right, 2] if np.isinf(middle) else polynomial(pieces[right], middle)
    return pieces
