"""Semidefinite programs with sparse constraints, solved as a linear matrix inequality in the multipliers.

    min <C, X>  s.t.  <B_k, X> = b_k or >= b_k,  X ⪰ 0          (primal)
    max bᵀ z    s.t.  C - Σ z_k B_k ⪰ 0,  z_k >= 0 where >=      (dual)

The dual has one variable per constraint and one matrix; solvers that take it as it is need 10 to 100 times less than
for the primal with a matrix variable.
"""

from __future__ import annotations

import importlib.util
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...deadline import TimeIsUp, in_background, time_is_up, time_left
from ...problem import Array
from ...table import SDP_SOLVERS
from ...validation import one_of
from . import sdpa
from .interior_point import InteriorPoint
from .sparse_matrices import SparseMatrices

#: SCS catches Ctrl-C itself, and ends with this status.
SCS_INTERRUPTED = -5


@dataclass(frozen=True, eq=False)
class SDPPoint:
    """What a solver found: multipliers z, shape (m,), and a matrix X, shape (n, n).

    ``value`` is bᵀ z, which is no proven bound, since z may be slightly infeasible.  ``status`` is "optimal",
    "inaccurate" or "failed".
    """

    z: Array
    X: Array
    value: float
    status: str
    seconds: float


def available_solvers() -> tuple[str, ...]:
    """Solvers that are installed, the best first."""
    packages = {"sdpa": "sdpap", "scs": "scs", "clarabel": "clarabel"}
    there = [name for name, package in packages.items() if importlib.util.find_spec(package) is not None]
    return ("native", *there)


def check_solver(solver: str) -> str:
    """The name of a solver, if it is "auto" or the solver is installed; otherwise a ValueError."""
    one_of("solver", solver, ("auto", *SDP_SOLVERS))
    if solver != "auto" and solver not in available_solvers():
        raise ValueError(f"solver={solver!r} is not installed; installed are {', '.join(available_solvers())}")
    return solver


def solve_sdp(
    C: Array,
    rows: SparseMatrices,
    *,
    solver: str = "auto",
    tol: float = 1e-4,
    max_iter: int | None = None,
    start: tuple[Array, Array] | None = None,
    enough: float = np.inf,
) -> SDPPoint:
    """Solve a sparse SDP.

    Parameters
    ----------
    C : array, shape (n, n)
    rows : SparseMatrices
    solver : {"auto", "native", "sdpa", "scs", "clarabel"}
        "native" is :class:`~convex_tsvm.solvers.sdp.interior_point.InteriorPoint`; SDPA is an extra
        (``pip install sdpa-python``).  "auto" takes the native one, and SCS where that fails.
    tol : float
        Relative accuracy of the value, about; the others are asked for a thousandth of it, as their tolerances are
        of something else.
    max_iter : int, optional
    start : tuple of X and z, optional
        To begin at; "native" only.
    enough : float
        A dual value that is enough; "native" only.

    Raises
    ------
    ValueError
        If the solver is unknown or not installed.
    """
    check_solver(solver)
    began = time.perf_counter()
    backends = {"sdpa": _sdpa, "scs": _scs, "clarabel": _clarabel}
    X: Array | None = None
    for name in ("native", "scs") if solver == "auto" else (solver,):
        if name == "native":
            z, X, status = InteriorPoint(C, rows).solve(tol, max_iter or 100, start, enough)
        else:
            z, X, status = backends[name](C, rows, 1e-3 * tol, max_iter)
        if (status != "failed" and np.isfinite(z).all()) or time_is_up():
            break
        z, status = np.zeros(rows.m), "failed"
    X = np.zeros_like(C) if X is None or not np.isfinite(X).all() else (X + X.T) / 2
    return SDPPoint(z, X, float(rows.b @ z), status, time.perf_counter() - began)


def _svec(rows: SparseMatrices, n: int) -> tuple[NDArray[np.intp], Array]:
    """Places and values of the entries of B_k in the scaled lower triangle, column by column."""
    row, column = rows.j, rows.i
    place = column * n - column * (column - 1) // 2 + row - column
    return place, np.where(row == column, rows.f, rows.f / np.sqrt(2))


def _from_svec(x: Array, n: int) -> Array:
    i, j = np.triu_indices(n)
    X = np.zeros((n, n))
    X[j, i] = X[i, j] = np.where(i == j, 1.0, 1 / np.sqrt(2)) * x
    return X


def _cone_form(C: Array, rows: SparseMatrices) -> tuple[sp.csc_matrix, Array, Array, int]:
    """A z + s = h with s >= 0 for the signs of multipliers, then s ⪰ 0."""
    n = len(C)
    signed = np.flatnonzero(~rows.equal)
    place, value = _svec(rows, n)
    i, j = np.triu_indices(n)
    dense = np.where(i == j, 1.0, np.sqrt(2)) * C[j, i]
    A = sp.vstack(
        [
            sp.csc_matrix((-np.ones(len(signed)), (np.arange(len(signed)), signed)), shape=(len(signed), rows.m)),
            sp.csc_matrix((value, (place, rows.k)), shape=(len(dense), rows.m)),
        ]
    ).tocsc()
    return A, np.concatenate([np.zeros(len(signed)), dense]), -rows.b, len(signed)


def _scs(C: Array, rows: SparseMatrices, tol: float, max_iter: int | None) -> tuple[Array, Array | None, str]:
    import scs

    A, h, c, signed = _cone_form(C, rows)
    options: dict[str, Any] = {"eps_abs": tol, "eps_rel": tol, "max_iters": max_iter or 20_000, "verbose": False}
    if np.isfinite(time_left()):
        options["time_limit_secs"] = max(time_left(), 1e-3)
    found = scs.SCS({"A": A, "b": h, "c": c}, {"l": signed, "s": [len(C)]}, **options).solve()
    if found["info"]["status_val"] == SCS_INTERRUPTED:
        raise KeyboardInterrupt
    status = {1: "optimal", 2: "inaccurate"}.get(found["info"]["status_val"], "failed")
    return found["x"], _from_svec(found["y"][signed:], len(C)), status


def _clarabel(C: Array, rows: SparseMatrices, tol: float, max_iter: int | None) -> tuple[Array, Array | None, str]:
    import clarabel

    n = len(C)
    A, h, c, signed = _cone_form(C, rows)
    # Clarabel wants the upper triangle, column by column: the same order as the lower one, row by row.
    i, j = np.triu_indices(n)
    lower = i * n - i * (i - 1) // 2 + j - i
    order = np.lexsort((i, j))
    place = np.concatenate([np.arange(signed), signed + lower[order]])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = min(tol, 1e-7)
    if max_iter is not None:
        settings.max_iter = max_iter
    if np.isfinite(time_left()):
        settings.time_limit = max(time_left(), 1e-3)
    cones = [clarabel.NonnegativeConeT(signed), clarabel.PSDTriangleConeT(n)]
    zero = sp.csc_matrix((rows.m, rows.m))
    problem = (zero, c, A[place].tocsc(), h[place], cones, settings)
    try:
        found = in_background(lambda: clarabel.DefaultSolver(*problem).solve())
    except TimeIsUp:
        return np.zeros(rows.m), None, "failed"
    word = str(found.status)
    status = "optimal" if word == "Solved" else "inaccurate" if word == "AlmostSolved" else "failed"
    x = np.empty(len(lower))
    x[lower[order]] = np.asarray(found.z)[signed:]
    return np.asarray(found.x), _from_svec(x, n), status


def _sdpa(C: Array, rows: SparseMatrices, tol: float, max_iter: int | None) -> tuple[Array, Array | None, str]:
    n = len(C)
    signed = np.flatnonzero(~rows.equal)
    off = rows.i != rows.j
    row = np.concatenate([rows.i * n + rows.j, (rows.j * n + rows.i)[off]])
    column = np.concatenate([rows.k, rows.k[off]])
    value = np.concatenate([np.where(off, rows.f / 2, rows.f), (rows.f / 2)[off]])
    signs = sp.csc_matrix((-np.ones(len(signed)), (np.arange(len(signed)), signed)), shape=(len(signed), rows.m))
    A = sp.vstack([signs, sp.csc_matrix((value, (row, column)), shape=(n * n, rows.m))]).T.tocsc()
    # SDPA's tolerances are absolute near zero, and its start suits numbers of about 1, to which C is therefore scaled.
    size = float(np.abs(np.diag(C)).mean()) or 1.0
    c = np.concatenate([np.zeros(len(signed)), C.ravel() / size])
    x, y, phase = sdpa.solve(A, rows.b, c, len(signed), n, tol, max_iter)
    status = "optimal" if phase == "pdOPT" else "inaccurate" if phase in ("pdFEAS", "pFEAS", "dFEAS") else "failed"
    return size * y, x[len(signed) :].reshape(n, n), status
