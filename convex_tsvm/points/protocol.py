"""Points of the linear space for methods that use them in products only, never as an array.

A solver that asks for no more than this protocol works with points in memory, in a file that is larger than memory, or
on several machines.  Vectors with one number for each point, or for each feature, are always in memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..validation import is_sparse

Array = NDArray[np.float64]


class LinearPoints(ABC):
    """n points of d features, x_1 ... x_n, the rows of a matrix X of ``shape`` (n, d).

    ``n_entries`` is the number of stored entries, those that products read.
    """

    shape: tuple[int, int]
    n_entries: int

    @abstractmethod
    def times(self, w: Array) -> Array:
        """X w, shape (n,), for w of shape (d,)."""

    @abstractmethod
    def transposed(self, q: Array) -> Array:
        """Xᵀ q, shape (d,), for q of shape (n,); points where it is 0 are not read."""

    @abstractmethod
    def curved(self, h: Array, p: Array, shift: float = 0.0) -> tuple[Array, float]:
        """Xᵀ u and Σ u for u = h ∘ (X p + shift), in one pass over the points where h is not 0."""

    @abstractmethod
    def gram(self, h: Array) -> Array:
        """Xᵀ Diag(h) X, shape (d, d); points where h is 0 are not read."""

    @abstractmethod
    def squares(self, h: Array) -> Array:
        """The diagonal of :meth:`gram`, shape (d,)."""

    @abstractmethod
    def squared_norms(self) -> Array:
        """‖x_i‖², shape (n,)."""

    @abstractmethod
    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Yield the points in order, a part at a time: a slice of rows, and these rows as an array or CSR array."""

    @abstractmethod
    def take(self, rows: NDArray[np.intp]) -> Any:
        """A copy of some points, as an array or CSR array, in the order of ``rows``."""

    def mean(self, members: NDArray[np.intp]) -> Array:
        """The mean of some points, shape (d,)."""
        share = np.zeros(self.shape[0])
        share[members] = 1 / len(members)
        return self.transposed(share)

    def __repr__(self) -> str:
        n, d = self.shape
        return f"{type(self).__name__}({n} points, {d} features, {self.n_entries} entries)"


class WithConstant(LinearPoints):
    """Points with one more feature, the same number for all: a bias that is regularized like a weight.

    With a large ``constant`` this bias costs next to nothing.
    """

    def __init__(self, base: LinearPoints, constant: float = 1.0) -> None:
        self.base, self.constant = base, float(constant)
        n, d = base.shape
        self.shape, self.n_entries = (n, d + 1), base.n_entries + n

    def times(self, w: Array) -> Array:
        found = self.base.times(w[:-1])
        found += self.constant * w[-1]
        return found

    def transposed(self, q: Array) -> Array:
        return np.append(self.base.transposed(q), self.constant * q.sum())

    def curved(self, h: Array, p: Array, shift: float = 0.0) -> tuple[Array, float]:
        image, total = self.base.curved(h, p[:-1], shift + self.constant * float(p[-1]))
        return np.append(image, self.constant * total), total

    def gram(self, h: Array) -> Array:
        d = self.shape[1]
        found = np.empty((d, d))
        found[:-1, :-1] = self.base.gram(h)
        found[-1, :-1] = found[:-1, -1] = self.constant * self.base.transposed(h)
        found[-1, -1] = self.constant**2 * h.sum()
        return found

    def squares(self, h: Array) -> Array:
        return np.append(self.base.squares(h), self.constant**2 * h.sum())

    def squared_norms(self) -> Array:
        return self.base.squared_norms() + self.constant**2

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        for rows, block in self.base.blocks():
            yield rows, self._extended(block)

    def take(self, rows: NDArray[np.intp]) -> Any:
        return self._extended(self.base.take(rows))

    def _extended(self, block: Any) -> Any:
        import scipy.sparse as sp

        column: Any = np.full((block.shape[0], 1), self.constant, dtype=block.dtype)
        return sp.hstack([block, column], format="csr") if is_sparse(block) else np.hstack([block, column])
