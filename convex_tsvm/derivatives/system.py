"""The linear system of an active set, by its functionals' inner products or, where these are many, by weights."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from ..problem import Array


class System:
    """(G + D) x + b t = r and tᵀ x = ρ, or without b, of functionals with inner products G.

    In the linear space G = Z Zᵀ.  Where more functionals than it has dimensions have D ≠ 0, these are eliminated: what
    is left is in Zᵀ x, b, and the x of the others.
    """

    #: x that change nothing, where there is one direction of them.
    null: Array | None = None
    #: Below this reciprocal condition number a system counts as singular, and eigenvalues below ten times this share.
    singular = 1e-13

    def __init__(self, D: Array, t: Array, free: bool, *, gram: Any = None, Z: Array | None = None) -> None:
        self.D, self.free, self.bent = D, free, D != 0
        self.Z = Z if Z is not None and int(self.bent.sum()) > Z.shape[1] else None
        #: Whose x are unknowns of the system that is solved, and after how many others.
        self.kept = np.full(len(D), True) if self.Z is None else ~self.bent
        self.first = 0 if self.Z is None else self.Z.shape[1]
        if self.Z is None:
            self.inverse = self._inverse((gram if Z is None else Z @ Z.T) + np.diag(D), t, 0.0)
            return
        bent, fixed, weights = self.Z[self.bent], self.Z[~self.bent], 1 / D[self.bent]
        H = np.eye(bent.shape[1]) + bent.T @ (bent * weights[:, None])
        matrix = np.block([[H, -fixed.T], [-fixed, np.zeros((len(fixed),) * 2)]])
        self.inverse = self._inverse(matrix, np.r_[bent.T @ weights, -t[~self.bent]], float(weights.sum()))

    def _inverse(self, matrix: Array, border: Array, corner: float) -> Callable[[Array], Array]:
        """What solves the system of a symmetric matrix, with a border for b."""
        if self.free:
            matrix = np.block([[matrix, border[:, None]], [border[None], np.array([[corner]])]])
        size = np.abs(matrix).max(axis=0, initial=0.0)
        scale = 1 / np.sqrt(np.where(size > 0, size, 1.0))
        matrix = scale[:, None] * matrix * scale
        if not len(matrix):
            return lambda right: right
        with warnings.catch_warnings(action="ignore", category=scipy.linalg.LinAlgWarning):
            factors = scipy.linalg.lu_factor(matrix, check_finite=False)
        condition: Any = scipy.linalg.lapack.dgecon
        if condition(factors[0], np.abs(matrix).sum(axis=0).max())[0] > self.singular:
            return lambda right: np.asarray(scale * scipy.linalg.lu_solve(factors, scale * right))
        # Of equal points that are held only the sum of the multipliers is known: the shortest ones are taken.
        values, vectors = scipy.linalg.eigh(matrix)
        used = np.abs(values) > 10 * self.singular * np.abs(values).max()
        if np.sum(~used) == 1:
            self.null = np.zeros(len(self.D))
            self.null[self.kept] = (scale * vectors[:, ~used][:, 0])[self.first :][: int(self.kept.sum())]
        values, vectors = values[used], vectors[:, used]
        return lambda right: np.asarray(scale * (vectors @ ((vectors.T @ (scale * right)) / values)))

    def solve(self, r: Array, rho: float) -> tuple[Array, float]:
        """x and b."""
        if self.Z is None:
            found = self.inverse(np.append(r, rho) if self.free else r)
            return (found[:-1], float(found[-1])) if self.free else (found, 0.0)
        bent, d = self.bent, self.first
        scaled = r[bent] / self.D[bent]
        right = np.r_[self.Z[bent].T @ scaled, -r[~bent]]
        found = self.inverse(np.append(right, scaled.sum() - rho) if self.free else right)
        b, x = float(found[-1]) if self.free else 0.0, np.zeros(len(r))
        x[self.kept] = found[d:][: int(self.kept.sum())]
        x[bent] = scaled - (self.Z[bent] @ found[:d] + b) / self.D[bent]
        return x, b
