"""Threads for work that releases the interpreter: compiled loops, BLAS, elementwise functions of large arrays."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

#: Elementwise work on fewer entries than this is not worth a second thread.
THREADED_ENTRIES = 2**18


@cache
def n_threads() -> int:
    """Number of threads: the cores that this process may use, or OMP_NUM_THREADS if that is fewer."""
    cores, limit = int(joblib.cpu_count()), os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, int(limit)) if limit.isdecimal() and int(limit) else cores


@cache
def blas_threads() -> ThreadpoolController:
    """The object that limits the threads of BLAS, made once: finding its libraries takes as long as a small problem."""
    return ThreadpoolController()


def blas_threads_for(n: int) -> AbstractContextManager[Any]:
    """A context for work on matrices of n rows: with one thread of BLAS, if they are small."""
    # Waking threads costs ten times more than they bring at 200 rows, far more if another process has their core.
    return one_blas_thread() if n <= 1000 else nullcontext()


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context with one thread of BLAS for each of ours, which take tiles of large products.

    BLAS's own threads get equal shares, and wait for the one whose core another process has.
    """
    return _limit


class _Limit:
    """One thread of BLAS from where the first context is entered to where the last is left; others cost nothing."""

    def __init__(self) -> None:
        self._lock, self._depth = Lock(), 0
        self._limiter: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._limiter = blas_threads().limit(limits=1, user_api="blas")

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._limiter.restore_original_limits()


_limit = _Limit()


def tiles(n_rows: int, size: int) -> list[slice]:
    """Slices of rows for matrix products with ``size`` entries in all: some for each thread, none with few rows."""
    parts = n_parts(size, THREADED_ENTRIES)
    # Matrix products with fewer rows than this take longer for each row.
    step = max(48, -(-n_rows // parts))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def n_parts(size: int, least: int) -> int:
    """Parts for work of a size: one if it is less than ``least``, where threads cost more than they bring."""
    # There are several parts for each thread, since one whose core is free takes more of them than one that shares it.
    return 3 * n_threads() if size >= least and n_threads() > 1 else 1


def in_threads(function: Callable[[Any], object], parts: Sequence[Any]) -> None:
    """Call ``function`` with every part, on all cores; errors are raised here."""
    others = min(n_threads(), len(parts)) - 1
    left = iter(parts)

    def work() -> None:
        for part in left:  # a thread that is free takes the next part
            function(part)

    if others < 1:
        work()
        return
    helpers = [_pool().submit(work) for _ in range(others)]
    try:
        work()
    finally:
        # A helper that has not begun, since another process uses its core, is cancelled: no parts are left for it.
        started = [helper for helper in helpers if not helper.cancel()]
        wait(started)
    for helper in started:
        helper.result()


def row_slices(values: Any) -> list[slice]:
    """Slices of rows for elementwise work on a two-dimensional array; one, if the array is small."""
    n_rows = values.shape[0]
    if values.size < THREADED_ENTRIES:
        return [slice(0, n_rows)]
    # Elementwise work is done on pieces of about this many entries, which stay in the cache between operations.
    step = max(1, 2**16 // max(values.shape[1], 1))
    return [slice(start, start + step) for start in range(0, n_rows, step)]


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads(), thread_name_prefix="convex_tsvm")


def unsigned(places: Any) -> Any:
    """Integers >= 0 as unsigned ones, not copied: compiled loops then need not check for negative indices."""
    return places.view(np.dtype(f"u{places.dtype.itemsize}"))
