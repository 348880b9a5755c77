"""The small semidefinite program of cutting planes for label matrices from a subspace (debie2004 §3)."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np

from ..problem import Array
from .solver import ACCURATELY, solve_by


def best_of_planes(values: list[float], slopes: list[Array], Q: Array, cvxpy_solver: str) -> tuple[Array, Array, Array]:
    """The M ⪰ 0 with diag(Q M Qᵀ) <= e at which the largest of some planes, values_k - ½ <slopes_k, M>, is least.

    With it the multipliers of the planes, which sum to 1, and those of the diagonal, shape (n,).
    """
    d = Q.shape[1]
    M, t = cp.Variable((d, d), PSD=True), cp.Variable()
    flat = cp.vec(M, order="C")
    planes = t >= np.array(values) - 0.5 * np.array([slope.ravel() for slope in slopes]) @ flat
    diagonal = np.einsum("ij,ik->ijk", Q, Q).reshape(len(Q), -1) @ flat <= 1
    with warnings.catch_warnings():
        # What the solver finds need not be accurate: the value is computed anew, and the bound repaired.
        warnings.simplefilter("ignore", UserWarning)
        solve_by(cp.Problem(cp.Minimize(t), [planes, diagonal]), cvxpy_solver, **ACCURATELY.get(cvxpy_solver, {}))
    weights = np.maximum(planes.dual_value, 0.0)
    return np.asarray(M.value), weights / weights.sum(), np.asarray(diagonal.dual_value)
