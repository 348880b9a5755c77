"""Choices among what is equal but for rounding, by rules, so that every machine makes the same ones.

Numbers that are equal in exact arithmetic count as equal here, and the first of equals in the order of places is taken.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

#: Numbers that differ by less than about this share of their median size are equal.
EQUAL = 1e-9

#: Outputs f, whose margin is 1, from -ZERO_OUTPUT to ZERO_OUTPUT are 0.
ZERO_OUTPUT = 1e-12


def rounded(values: ArrayLike) -> Array:
    """The same numbers as multiples of EQUAL times their median size: where they were equal they are the same."""
    given = np.asarray(values, dtype=float)
    sizes = np.abs(given[np.isfinite(given)])
    # What is only rounding beside the largest has no say in the median.
    sizes = sizes[sizes > ZERO_OUTPUT * sizes.max(initial=0.0)]
    return np.rint(given / (EQUAL * float(np.median(sizes)) if len(sizes) else 1.0))


def falling(values: ArrayLike) -> NDArray[np.intp]:
    """Places of numbers, the largest first, equals in their order."""
    return np.argsort(-rounded(values), kind="stable")


def is_positive(outputs: Array) -> NDArray[np.bool_]:
    """Which outputs stand for the label +1: those that are 0 or more."""
    return np.asarray(outputs >= -ZERO_OUTPUT)


def clearest(sizes: Array) -> int:
    """The place of the first of the clear ones among numbers >= 0."""
    # An entry of a vector is clear if it is at least this share of the largest; no ratio that entries often have.
    return int(np.argmax(sizes >= 0.77 * sizes.max()))


def eigenvectors(values: Array, vectors: Array, count: int) -> tuple[Array, Array]:
    """The first ``count`` eigenvalues and orthonormal eigenvectors, shape (n, count), of more, by falling eigenvalue.

    An eigenvector is known up to its sign, and those of equal eigenvalues up to a rotation.  The rule: of the span that
    is left the vector is taken that is nearest to the unit vector of the first point that is clearly near to the span.
    """
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    # Eigenvalues that differ by less than this share of the largest one are equal.
    room = 1e-12 * np.abs(values).max(initial=0.0)
    chosen: list[Any] = []
    while len(chosen) < count:
        start = len(chosen)
        span = vectors[:, start : start + int(np.sum(values[start:] >= values[start] - room))]
        while span.shape[1] and len(chosen) < count:
            mirror = span[clearest(np.linalg.norm(span, axis=1))].copy()
            sign, length = np.copysign(1.0, mirror[0]), np.linalg.norm(mirror)
            # A reflection makes the vector the first of the span's basis.
            mirror[0] += sign * length
            span = span - np.outer(span @ mirror, mirror / (length * abs(mirror[0])))
            chosen.append(-sign * span[:, 0])
            span = span[:, 1:]
    return values[:count], np.column_stack(chosen)
