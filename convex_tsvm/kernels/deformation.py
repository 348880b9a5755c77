"""Rows of a kernel deformed by a quadratic form of the outputs, without a dense inverse.

With ½ fᵀ M f added to ½ ‖w‖², a kernel matrix K becomes (Sindhwani, Niyogi and Belkin 2005; chapelle2008 §5.6.2)

    K̃ = K - K (I + M K)⁻¹ M K = (I + K M)⁻¹ K = (K⁻¹ + M)⁻¹.

All of K̃ costs n³.  A Laplacian SVM needs only the rows of its labelled points, and a row is the solution of one
system with I + K M, in which K appears in products only: nothing of the order of n × n need be held.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..parallel import one_blas_thread
from .distances import EPS
from .rows import GramRows, Indices, Rows, RowSource, multiplied
from .types import Array

Progress = Callable[[float], None]


class DeformedRows(RowSource):
    """Rows of K̃ = (K⁻¹ + M)⁻¹; with K̃ an S3VM is a Laplacian S3VM.

    If three n × n matrices fit into the budget of ``max_bytes`` (None for no limit), or so many rows are ``expected``
    that nothing else is faster, all of K̃ is computed at once and held, in n³ operations.  Otherwise rows are computed
    when they are asked for, and held on top of the budget, by conjugate gradients in the inner product uᵀ M v, in which
    I + K M is symmetric: with a low-rank approximation of K for a preconditioner that takes some twenty passes over K.
    Rows that are expected are computed together, as soon as one of them is asked for.

    ``source`` has the rows of K; ``laplacian`` is M, shape (n, n), symmetric and positive semidefinite: a multiple of a
    power of the Laplacian.  ValueError is raised if M has another shape or is not symmetric.
    """

    keeps = True
    # Largest error of a solution that is allowed, relative to the largest entry of the right-hand side.
    most_error = 1e-8
    iterations = 1000  # steps of conjugate gradients after which a system is given up
    landmarks = 512  # largest number of points whose rows approximate K in the preconditioner
    together = 256  # systems solved together: a pass over K takes nearly as long for one vector as for a hundred
    # If at least one in so many rows is expected, the whole matrix at once is faster than they are.
    all_from_one_in = 10

    def __init__(self, source: RowSource, laplacian: Any, max_bytes: int | None = None) -> None:
        self.source, self.n, self.max_bytes = source, source.n, max_bytes
        self.M = checked_laplacian(laplacian, source.n)
        self._place = np.full(source.n, -1, dtype=np.intp)
        self._known = np.empty((0, source.n))
        self.expected: Indices = np.empty(0, dtype=np.intp)

    def __getstate__(self) -> dict[str, Any]:
        # The preconditioner and the copy of K are large, and can be computed again when a further row is asked for.
        return {name: value for name, value in self.__dict__.items() if name not in ("_landmarks", "_rows_of_K")}

    @property
    def in_memory(self) -> bool:  # type: ignore[override]
        fits = self.max_bytes is None or 24 * self.n**2 <= self.max_bytes
        return fits or self.all_from_one_in * len(self.expected) >= self.n

    @property
    def error(self) -> float:
        """A bound on the error of entries, relative to the largest entry of the diagonal of K."""
        return 16 * self.n * EPS if self.in_memory else 2 * self.most_error

    def prepare(self, progress: Progress | None = None) -> None:
        """Compute the rows that are expected; ``progress`` is called with the share of them that is done."""
        if self.in_memory:
            self.matrix  # noqa: B018
        elif len(missing := self._unknown(self.expected)):
            self._compute(missing, progress)

    def rows(self, indices: Indices) -> Rows:
        """Rows of K̃; if one has to be computed that is expected, all expected ones are."""
        indices = np.asarray(indices, dtype=np.intp)
        if self.in_memory:
            return self.matrix[indices]
        missing = np.unique(self._unknown(indices))
        if len(missing):
            expected = np.isin(missing, self.expected).any()
            self._compute(np.union1d(missing, self._unknown(self.expected)) if expected else missing)
        return self._known[self._place[indices]]

    def diag(self) -> Array:
        """The diagonal, for which all rows are computed."""
        if self.in_memory:
            return np.array(np.diag(self.matrix))
        found = np.empty(self.n)
        step = self.together
        for start in range(0, self.n, step):
            part = np.arange(start, min(start + step, self.n))
            found[part] = self._outputs(self.source.rows(part).T)[part, np.arange(len(part))]
        return found

    def combine(self, indices: Indices, coefficients: Array) -> Array:
        """K̃ a: from the rows if they are known, else by solving one system."""
        indices = np.asarray(indices, dtype=np.intp)
        if not self.in_memory and len(self._unknown(indices)):
            if not np.isin(indices, self.expected).all():
                return self._outputs(self.source.combine(indices, coefficients)[:, None])[:, 0]
            self.prepare()
        known, place = (self.matrix, indices) if self.in_memory else (self._known, self._place[indices])
        every = np.zeros(len(known))
        np.add.at(every, place, coefficients)
        return np.asarray(every @ known)

    def full(self) -> Rows:
        return self.matrix

    @cached_property
    def matrix(self) -> Array:
        """K̃, shape (n, n), computed even if it does not fit into the budget."""
        K = np.array(self.source.full(), dtype=float)
        system = np.asarray((self.M @ K).T)  # K M, as both are symmetric
        system[np.diag_indices(self.n)] += 1.0
        deformed = scipy.linalg.solve(system, K, overwrite_a=True, overwrite_b=True)
        deformed += deformed.T.copy()
        deformed /= 2
        return np.asarray(deformed)

    def solve(self, right: Array) -> Array:
        """(I + K M)⁻¹ times vectors, shape (n, k): outputs that the graph has smoothed."""
        if self.in_memory:
            return np.asarray(right - self.matrix @ (self.M @ right))
        step = self.together
        parts = [self._outputs(right[:, k : k + step]) for k in range(0, right.shape[1], step)]
        return np.hstack([np.empty((self.n, 0)), *parts])

    def expand(self, coefficients: Array) -> Array:
        """The c with K c = K̃ a, for a of shape (n,) or (n, k): coefficients of the same function in the base kernel."""
        columns = coefficients.reshape(self.n, -1)
        outputs = np.column_stack([self.combine(np.flatnonzero(a), a[a != 0]) for a in columns.T])
        return np.asarray(columns - self.M @ outputs).reshape(coefficients.shape)

    def _unknown(self, indices: Indices) -> Indices:
        return indices[self._place[indices] < 0]

    # --- conjugate gradients ------------------------------------------------------------------------------------------

    def _compute(self, indices: Indices, progress: Progress | None = None) -> None:
        """Compute rows that are not known yet, and add them to those that are held."""
        fresh, step = np.empty((len(indices), self.n)), self.together
        for start in range(0, len(indices), step):
            part = slice(start, min(start + step, len(indices)))
            size = (part.stop - start) / len(indices)

            def inside(share: float, before: float = start / len(indices), size: float = size) -> None:
                if progress is not None:
                    progress(before + size * share)

            fresh[part] = self._outputs(self.source.rows(indices[part]).T, inside).T
        self._place[indices] = len(self._known) + np.arange(len(indices))
        self._known = np.vstack([self._known, fresh])

    def _outputs(self, right: Array, progress: Progress | None = None) -> Array:
        """(I + K M)⁻¹ times few vectors, by preconditioned conjugate gradients in the inner product of M."""
        with one_blas_thread():
            M, (F, factor, rest, most) = self.M, self._landmarks

            def precondition(vectors: Array, seen: Array) -> Array:
                """(I + F Fᵀ M)⁻¹ v, from v and Fᵀ M v."""
                return np.asarray(vectors - multiplied(F, scipy.linalg.cho_solve(factor, seen)))

            found = precondition(right, F.T @ (M @ right))
            residual = right - found - self._rows_of_K.times(M @ found)
            goal = np.maximum(self.most_error * np.abs(right).max(axis=0, initial=0.0), 1e-300)
            active, first = np.arange(right.shape[1]), 0.0
            direction, previous = np.zeros(right.shape), np.ones(right.shape[1])
            for _ in range(self.iterations):
                smoothed = M @ residual[:, active]
                seen = F.T @ smoothed
                # |K M r| <= √K_ii √(rᵀ M K M r): how wrong the outputs are if the residual is added to them.
                left = np.sqrt(most * (_products(seen, seen) + rest * _products(smoothed, smoothed)))
                worst = float((left / goal[active]).max(initial=1.0))
                first = max(first, worst, 1.0 + 1e-9)
                if progress is not None:
                    progress(1.0 - np.log(max(worst, 1.0)) / np.log(first))
                kept = left > goal[active]
                active, smoothed, seen = active[kept], smoothed[:, kept], seen[:, kept]
                if not len(active):
                    break
                z = precondition(residual[:, active], seen)
                slope = _products(z, smoothed)
                direction = z + direction[:, kept] * (slope / previous[kept])
                pull = M @ direction
                image = direction + self._rows_of_K.times(pull)
                length = slope / np.maximum(_products(pull, image), 1e-300)
                found[:, active] += length * direction
                residual[:, active] -= length * image
                previous = slope
            # With the residual r added, what is left of the error is (I + K M)⁻¹ K M r, and |K M r| is within the goal.
            return np.asarray(found + residual)

    @cached_property
    def _landmarks(self) -> tuple[Array, tuple[Array, bool], float, float]:
        """F with F Fᵀ ≈ K (Nyström, from the rows of some points), a factor of I + Fᵀ M F, an error, and max K_ii.

        The error of the approximation is taken to be ten times the largest entry of the diagonal of K - F Fᵀ.
        """
        n, most = self.n, self.landmarks
        room = most if self.max_bytes is None else self.max_bytes // (16 * n)
        some = np.sort(np.random.default_rng(0).choice(n, int(np.clip(room, 1, min(n, most))), replace=False))
        rows = np.asarray(self.source.rows(some), dtype=float)
        among = rows[:, some]
        values, basis = scipy.linalg.eigh((among + among.T) / 2)
        kept = values > 1e-10 * max(values[-1], 1e-300)  # the others are rounding errors
        F = rows.T @ (basis[:, kept] / np.sqrt(values[kept]))
        diagonal = self.source.diag()
        rest = 10 * max(float((diagonal - _products(F.T, F.T)).max()), EPS * float(diagonal.max()))
        return F, scipy.linalg.cho_factor(np.eye(F.shape[1]) + F.T @ (self.M @ F)), rest, float(diagonal.max())

    @cached_property
    def _rows_of_K(self) -> RowSource:
        """Rows of K, held in memory if two n × n matrices fit into the budget, otherwise the source itself."""
        fits = self.max_bytes is None or 16 * self.n**2 <= self.max_bytes
        return GramRows(self.source.full()) if fits else self.source


def _products(left: Array, right: Array) -> Array:
    """Inner products of columns."""
    return np.asarray(np.einsum("ij,ij->j", left, right))


def checked_laplacian(laplacian: Any, n: int) -> sp.csr_array:
    """A quadratic form of the outputs at n points as a sparse array, checked."""
    M = sp.csr_array(laplacian, dtype=float)
    if M.shape != (n, n):
        raise ValueError(f"laplacian has shape {M.shape}; the kernel has {n} points, so it must be ({n}, {n})")
    apart = float(abs(M - M.T).max())
    if apart > 1e-10 * (float(abs(M).max()) or 1.0):
        raise ValueError(f"laplacian is not symmetric: entries differ by up to {apart:.3g}")
    return M
