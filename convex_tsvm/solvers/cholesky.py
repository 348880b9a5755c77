"""Cholesky factors of matrices that are positive semidefinite up to rounding."""

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray


def cholesky(H: NDArray[Any], *, overwrite: bool = False) -> tuple[NDArray[Any], bool]:
    """The lower factor of H plus a ridge, as ``scipy.linalg.cho_solve`` takes it.

    The ridge is small, and is raised until there is a factor.  It is relative to each diagonal entry, so that large
    entries elsewhere do not drown small ones.  Entries above the diagonal of the factor mean nothing; ``overwrite``
    allows to write it in the place of H.  A LinAlgError if H has entries that are not finite, or no ridge is enough.
    """
    diagonal = H.diagonal()
    size = np.abs(diagonal)
    if not size.all():
        # Rounding may leave a zero on the diagonal; the ridge there is relative to the largest entry of H.
        size = np.where(size > 0, size, np.abs(H).max(initial=0.0) or 1.0)
    ridge = {"f": 1e-6, "d": 1e-12}[H.dtype.char] * size
    diagonal = diagonal.copy()
    # LAPACK stores matrices by columns: the transpose of a symmetric matrix by rows is one, without a copy.
    ridged = H.T if overwrite and H.flags.c_contiguous else H.T.copy(order="F")
    for attempt in range(11):  # the last ridge, 10⁸ times the diagonal, makes every matrix of finite numbers definite
        if attempt:
            # The attempt that failed has overwritten entries below the diagonal; those above are as they were.
            ridged = np.asfortranarray(np.triu(ridged) + np.triu(ridged, 1).T)
        np.fill_diagonal(ridged, diagonal + ridge)
        try:
            factor = scipy.linalg.cho_factor(ridged, lower=True, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            ridge = ridge * 100.0
            continue
        if np.isfinite(factor[0].diagonal()).all():
            return factor
        break
    what = "is not positive semidefinite" if np.isfinite(H).all() else "has entries that are not finite"
    raise np.linalg.LinAlgError(f"a matrix of {len(H)} rows {what}; no ridge makes a Cholesky factor of it")
