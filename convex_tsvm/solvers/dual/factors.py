"""Factors of a dual's matrix, kept from one convex step to the next, for methods that take all variables at once."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dpstrf

from .dual_problem import Array

#: The ridge on the diagonal, as a share of its largest entry: more than what rounding can make eigenvalues negative by.
MATRIX_RIDGE = 1e-9

#: A matrix whose rank is below this share of its size counts as of low rank: products with its factor are cheaper.
LOW_RANK = 1 / 6

#: The penalty of operator splitting times the mean of the diagonal.
SPLITTING_PENALTY = 30.0


class Factors:
    """A matrix G in memory, in double precision, with factors that are computed once: they are costly.

    G is symmetric, and positive semidefinite up to rounding.  Its rank is low below ``low_rank`` times its size.
    """

    def __init__(self, G: Array, low_rank: float = LOW_RANK) -> None:
        self.G, self.low_rank = G, low_rank
        diagonal = G.diagonal()
        self.ridge = MATRIX_RIDGE * float(diagonal.max(initial=0.0))
        self.penalty = SPLITTING_PENALTY / max(float(diagonal.mean()), 1e-300)

    @cached_property
    def factor(self) -> Array | None:
        """Z with G = Z Zᵀ up to the ridge, shape (n, rank), where the rank is low; otherwise None."""
        piled, order, rank, _ = dpstrf(self.G, tol=self.ridge, lower=1)
        if rank >= self.low_rank * len(self.G):
            return None
        factor = np.empty((len(self.G), rank))
        factor[order - 1] = np.tril(piled[:, :rank])
        return factor

    @cached_property
    def resolvent(self) -> np.ndarray:
        """(I + penalty G)⁻¹ in single precision: it is for many products, which are faster so, and accurate enough."""
        system = self.penalty * self.G
        system[np.diag_indices_from(system)] += 1.0
        lower = scipy.linalg.lapack.dpotrf(system, lower=1, overwrite_a=1)[0]
        inverse, info = scipy.linalg.lapack.dpotri(lower, lower=1, overwrite_c=1)
        if info:
            raise np.linalg.LinAlgError("the matrix has lost its digits")
        inverse = inverse.astype(np.float32)
        below = np.tril(inverse, -1)
        return np.asarray(below + below.T + np.diag(inverse.diagonal()))
