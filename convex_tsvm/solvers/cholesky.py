"""Cholesky factors of matrices that are positive semidefinite up to rounding."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray


def cholesky(H: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]:
    """The lower factor, as ``scipy.linalg.cho_solve`` takes it, of H with a ridge: a small one, or the least that does.

    What is above the diagonal of the factor means nothing.
    """
    diagonal = H.diagonal()
    ridge = 1e-12 * (diagonal.sum() / max(1, len(H)) + 1e-300)
    while True:
        # By columns, as LAPACK has it, a symmetric matrix is its transpose.
        ridged = H.T.copy(order="F")
        np.fill_diagonal(ridged, diagonal + ridge)
        try:
            return scipy.linalg.cho_factor(ridged, lower=True, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            ridge *= 100
