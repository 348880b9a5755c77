"""Threads for work that releases the interpreter: compiled loops, BLAS, elementwise functions of large arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

#: Elementwise work goes by pieces of about this many entries, which stay in the cache from one operation to the next.
PIECE = 2**16

#: Elementwise work on fewer entries than this is not worth a second thread.
THREADED = 2**18


#: A matrix product of fewer rows than this is slower a row.
THIN = 48

#: Parts for each thread: one that has a core to itself takes more of them than one that has not.
PARTS = 3

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
    return one_blas_thread() if n <= SMALL else nullcontext()


def one_blas_thread() -> AbstractContextManager[Any]:
    """One thread of BLAS for each of ours: what is large is cut into tiles, which whoever is free takes.

    BLAS's own threads get equal shares and wait for each other; where another process has one of the cores, that takes
    several times as long as one thread alone.
    """
    return blas_threads().limit(limits=1, user_api="blas")


def tiles(n_rows: int, size: int) -> list[slice]:
    """Slices of rows for matrix products with ``size`` entries in all: some for each thread, none of them thin."""
    parts = n_parts(size, THREADED)
    step = max(THIN, -(-n_rows // parts))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def n_parts(size: int, least: int) -> int:
    """Parts for work of a size: one if it is less than ``least``, where threads cost more than they bring."""
    return PARTS * n_threads() if size >= least and n_threads() > 1 else 1


def in_threads(function: Callable[[Any], object], parts: Sequence[Any]) -> None:
    """Call ``function`` with every part, on all cores; errors are raised here."""
    others = min(n_threads(), len(parts)) - 1
    left = iter(parts)

    def work() -> None:
        for part in left:  # whoever is free takes the next one
            function(part)

    if others < 1:
        work()
        return
    helpers = [_pool().submit(work) for _ in range(others)]
    try:
        work()
    finally:
        # A thread whose core somebody else uses may not have begun: nothing is left for it.
        started = [helper for helper in helpers if not helper.cancel()]
        wait(started)
    for helper in started:
        helper.result()


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


def unsigned(places: Any) -> Any:
    """Whole numbers >= 0 as unsigned ones, uncopied: compiled loops need not ask whether one counts from the end."""
    return places.view(np.dtype(f"u{places.dtype.itemsize}"))
