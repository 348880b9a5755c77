"""Threads for work that releases the interpreter: compiled loops, BLAS, elementwise functions of large arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import joblib
from threadpoolctl import ThreadpoolController

#: Elementwise work goes by pieces of about this many entries, which stay in the cache from one operation to the next.
PIECE = 2**16

#: Elementwise work on fewer entries than this is not worth a second thread.
THREADED = 2**18


#: Matrices of up to this many rows are too small for threads of BLAS: waking them costs more than they bring (ten times
#: more at 200), and if another process has their core, a hundred times more.
SMALL = 1000


@cache
def n_threads() -> int:
    """Number of threads: the cores that this process may use, fewer if joblib or the user says so."""
    cores, limit = int(joblib.cpu_count()), os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, int(limit)) if limit.isdecimal() and int(limit) else cores


@cache
def blas_threads() -> ThreadpoolController:
    """What limits the threads of BLAS: looking for its libraries takes as long as a small problem."""
    return ThreadpoolController()


def blas_threads_for(n: int) -> AbstractContextManager[Any]:
    """One thread of BLAS while matrices of n rows are worked on, if they are small."""
    return blas_threads().limit(limits=1, user_api="blas") if n <= SMALL else nullcontext()


def in_threads(function: Callable[[Any], object], parts: Sequence[Any]) -> None:
    """Call ``function`` with every part, on all cores; errors are raised here."""
    if len(parts) == 1:
        function(parts[0])
        return
    # A thread takes every k-th part: handing them out one by one costs more than the work on a small one.
    shares = [parts[k :: n_threads()] for k in range(min(n_threads(), len(parts)))]

    def work(share: Sequence[Any]) -> None:
        for part in share:
            function(part)

    for _ in _pool().map(work, shares):
        pass


def row_slices(values: Any) -> list[slice]:
    """Slices of rows for elementwise work on a two-dimensional array; one, if the array is small."""
    n_rows = values.shape[0]
    if values.size < THREADED:
        return [slice(0, n_rows)]
    step = max(1, PIECE // max(values.shape[1], 1))
    return [slice(start, start + step) for start in range(0, n_rows, step)]


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads(), thread_name_prefix="convex_tsvm")
