"""SDPA in a process of its own: the program of that process.

SDPA's package keeps the whole solver in memory at every call (sdpa-python 0.2.3: 20 MB for n = 270 and 1000
constraints), writes to the standard output, and cannot be interrupted.  None of that matters in a process that is
replaced now and then; :mod:`~convex_tsvm.solvers.sdp.sdpa` does so.  This file is run as it is, without the package
around it, so that it starts in a third of a second.

It reads pickled calls (A, b, c, l, n, options) from the standard input until that ends, and writes pickled answers
(x, y, phase) to the standard output.
"""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from typing import Any

import numpy as np


def solve(A: Any, b: Any, c: Any, n_signed: int, n: int, options: dict[str, Any]) -> tuple[Any, Any, str]:
    """One semidefinite program: a cone of ``n_signed`` non-negative numbers, and a matrix of order ``n``."""
    # The package's own entry point spends as long as the solver on errors that are not used here.
    from sdpap.param import param
    from sdpap.sdpacall import solve_sdpa
    from sdpap.symcone import SymCone

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x, y, _, info = solve_sdpa(A, b, c, SymCone(l=n_signed, s=(n,)), param(options))
    return np.asarray(x.todense()).ravel(), np.asarray(y.todense()).ravel(), info["phasevalue"]


def main() -> None:
    """Answer calls until there are no more."""
    calls, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # What the solver writes is not part of the answers.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    while True:
        try:
            call = pickle.load(calls)
        except EOFError:
            return
        pickle.dump(solve(*call), answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()


if __name__ == "__main__":
    main()
