"""Calls of SDPA, in processes that are kept for a while and then replaced (see :mod:`.sdpa_process` for why)."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...parallel import n_threads
from ...problem import Array

#: Seconds of solving after which a process is replaced: it has lost up to half a gigabyte by then, and a new one takes
#: a third of a second.
LIFETIME = 30.0

_PROGRAM = Path(__file__).with_name("sdpa_process.py")


class _Process:
    """One process that solves."""

    def __init__(self) -> None:
        # -P: modules beside the program must not hide others. A session of its own: Ctrl-C is for the caller.
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.seconds = 0.0

    def call(self, *arguments: Any) -> tuple[Array, Array, str]:
        """Pass a call on, and wait for its answer."""
        calls, answers = self.process.stdin, self.process.stdout
        assert calls is not None
        assert answers is not None
        began = time.perf_counter()
        pickle.dump(arguments, calls, protocol=pickle.HIGHEST_PROTOCOL)
        calls.flush()
        x, y, phase = pickle.load(answers)
        self.seconds += time.perf_counter() - began
        return x, y, phase

    def end(self) -> None:
        """Stop it, whatever it is doing."""
        self.process.kill()
        self.process.communicate()


#: Processes that wait for a call.
_idle: list[_Process] = []

# A forked process must not talk through its parent's pipes.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)


def _taken() -> _Process:
    while True:
        try:
            process = _idle.pop()
        except IndexError:
            return _Process()
        if process.process.poll() is None:
            return process
        process.end()


def solve(
    A: sp.csc_matrix, b: Array, c: Array, n_signed: int, n: int, tol: float, max_iter: int | None
) -> tuple[Array, Array, str]:
    """Solve min cᵀx, A x = b, for x of ``n_signed`` non-negative numbers and a positive semidefinite n × n matrix.

    Returns
    -------
    x, y : array
        Solution and multipliers.
    phase : str
        SDPA's word for how it ended; "failed" if it crashed.
    """
    options = {
        "print": "no",
        "epsilonStar": tol,
        "epsilonDash": tol,
        "numThreads": n_threads(),
    }
    if max_iter is not None:
        options["maxIteration"] = max_iter
    process = _taken()
    try:
        x, y, phase = process.call(A, sp.csc_matrix(b[:, None]), sp.csc_matrix(c[:, None]), n_signed, n, options)
    except (EOFError, OSError, pickle.UnpicklingError):
        process.end()
        return np.zeros(len(c)), np.zeros(len(b)), "failed"
    except BaseException:
        process.end()
        raise
    if process.seconds > LIFETIME:
        process.end()
    else:
        _idle.append(process)
    return x, y, phase
