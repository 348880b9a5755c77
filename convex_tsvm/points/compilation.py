"""Loops are compiled by numba, if it is there; says when: the first time on a machine, later they come from a cache."""

import sys
import time
from functools import cache
from typing import Any

import numpy as np

from ..notice import warn

try:
    import numba
    from numba.core import event

    njit: Any = numba.njit
except ImportError:
    event = None

    def njit(**_options: Any) -> Any:
        """The decorator that leaves a loop as it is, but silent where numbers are divided by 0."""
        return np.errstate(divide="ignore", invalid="ignore", over="ignore")


class _Told(event.Listener if event else object):  # type: ignore[misc]
    """Prints the message once, if the error output is a terminal, or in a notebook.

    ``seconds`` is what compilations have taken in this process: 0 where all loops came from numba's cache.
    """

    def __init__(self) -> None:
        self.told, self.seconds, self._depth, self._began = False, 0.0, 0, 0.0

    def on_start(self, event: Any) -> None:
        """Called by numba before it compiles a function that is not in its cache."""
        if self._depth == 0:
            self._began = time.perf_counter()
        self._depth += 1  # a function that is compiled has those compiled that it calls
        compiled = getattr(event.data.get("dispatcher"), "py_func", None)
        if self.told or not str(getattr(compiled, "__module__", "")).startswith("convex_tsvm."):
            return
        self.told = True
        if sys.stderr.isatty() or "ipykernel" in sys.modules:
            print("convex_tsvm: compiling its loops, once on this machine; that takes some seconds", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        """Called by numba after it has compiled the function; nothing is printed then."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began


@cache
def tell_of_compilation() -> _Told:
    """Register the listener with numba; repeated calls do nothing."""
    listener = _Told()
    if event is None:
        warn("numba is not installed: loops run as Python, with the same results, up to a hundred times as slowly")
    else:
        event.register("numba:compile", listener)
    return listener
