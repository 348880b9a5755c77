"""SDPA as an optional solver, in a process of joblib's that is replaced now and then.

SDPA's package keeps the whole solver in memory at every call (sdpa-python 0.2.3: 20 MB for n = 270 and 1000
constraints), writes to the standard output, and cannot be interrupted.  None of that matters in a process that is
replaced after some calls.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import BrokenProcessPool

from ...deadline import time_left
from ...parallel import n_threads
from ...problem import Array

#: Calls after which the process is replaced: its leaks have come to up to half a gigabyte by then.
CALLS = 25


def solve(
    A: sp.csc_matrix, b: Array, c: Array, n_signed: int, n: int, tol: float, max_iter: int | None
) -> tuple[Array, Array, str]:
    """Solve min cᵀx, A x = b, for x of ``n_signed`` non-negative numbers and a positive semidefinite n × n matrix.

    Returns the solution x, the multipliers, and SDPA's word for how it ended, or "failed" if it crashed or a deadline
    has passed.
    """
    options = {"print": "no", "epsilonStar": tol, "epsilonDash": tol, "numThreads": n_threads()}
    if max_iter is not None:
        options["maxIteration"] = max_iter
    call = _pool().submit(_solve, A, sp.csc_matrix(b[:, None]), sp.csc_matrix(c[:, None]), n_signed, n, options)
    try:
        found: tuple[Array, Array, str] = call.result(time_left() if np.isfinite(time_left()) else None)
        return found
    except (BrokenProcessPool, TimeoutError):
        end()
        return np.zeros(len(c)), np.zeros(len(b)), "failed"
    except BaseException:
        end()
        raise


#: Empty, or the pool of one process and the number of calls that it has had.
_held: list[Any] = []


def _pool() -> Any:
    """The pool of one process, a new one if the last has had as many calls as it may have; one more call is counted."""
    if _held and _held[1] >= CALLS:
        end()
    if not _held:
        _held.extend([ProcessPoolExecutor(1, initializer=_quiet), 0])
    _held[1] += 1
    return _held[0]


def end() -> None:
    """Stop the process, whatever it is doing."""
    if _held:
        pool = _held[0]
        _held.clear()
        pool.shutdown(wait=False, kill_workers=True)


def _quiet() -> None:
    """Prepare the process: throw away what the solver writes, and leave Ctrl-C to the caller."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.setpgrp()


def _solve(A: Any, b: Any, c: Any, n_signed: int, n: int, options: dict[str, Any]) -> tuple[Array, Array, str]:
    """Solve one semidefinite program; this runs in the other process."""
    # The package's own entry point takes as long as the solver to compute errors that are not used here.
    from sdpap.param import param
    from sdpap.sdpacall import solve_sdpa
    from sdpap.symcone import SymCone

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x, y, _, info = solve_sdpa(A, b, c, SymCone(l=n_signed, s=(n,)), param(options))
    return np.asarray(x.todense()).ravel(), np.asarray(y.todense()).ravel(), info["phasevalue"]
