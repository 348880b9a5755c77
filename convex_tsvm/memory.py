"""How much memory a store of kernel rows may take."""

import multiprocessing
import os
from pathlib import Path
from typing import Any

import joblib

from .validation import finite

#: The memory that a store of rows may take in any case, in MB, which is the default of ``sklearn.svm.SVC``.
USUAL = 200.0

#: Limits of containers, and what they use of them: control groups of the second and the first version.
LIMITS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def cache_megabytes(cache_size: Any, n: int = 0) -> float:
    """The budget for kernel values of n points in MB; a ValueError if ``cache_size`` is not "auto" or > 0.

    "auto" is a quarter of the free memory, but 200 at least and no more than all rows take.
    """
    if not isinstance(cache_size, str):
        return finite("cache_size", cache_size, above=0)
    if cache_size != "auto":
        raise ValueError(f"cache_size={cache_size!r} must be 'auto' or a number > 0, of MB")
    whole = 8.0 * n**2 / 2**20
    if whole <= 0.1 * USUAL:
        return USUAL  # asking how much memory is free would take longer than a fit to few points
    # A worker process shares the free memory with as many others as there are cores.
    others = int(joblib.cpu_count()) if multiprocessing.parent_process() is not None else 1
    beside = 256.0  # MB beside all rows, for the matrix of a working set and for rows on their way into the store
    return max(USUAL, min(0.25 * free_bytes() / 2**20 / others, whole + beside))


def free_bytes() -> int:
    """Memory that is available without swapping, in bytes: of the machine, or of the container if that has less."""
    try:
        import psutil

        free = int(psutil.virtual_memory().available)
    except ImportError:  # then all the memory that there is counts as free, or where nothing tells it a gigabyte
        names = getattr(os, "sysconf_names", {})
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if "SC_PHYS_PAGES" in names else 2**30
    for limit, used in LIMITS:
        try:
            free = min(free, int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # there is no such file, or it says "max"
            continue
    return max(free, 0)
