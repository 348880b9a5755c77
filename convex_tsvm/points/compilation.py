"""Says when loops are compiled: the first time on a machine, some seconds long; later they come from a cache."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from numba.core import event


class _Told(event.Listener):
    """Prints the message once, if the error output is a terminal, or in a notebook."""

    def __init__(self) -> None:
        self.told = False

    def on_start(self, event: Any) -> None:
        """Called by numba before it compiles a function that is not in its cache."""
        compiled = getattr(event.data.get("dispatcher"), "py_func", None)
        if self.told or not str(getattr(compiled, "__module__", "")).startswith("convex_tsvm."):
            return
        self.told = True
        if sys.stderr.isatty() or "ipykernel" in sys.modules:
            print("convex_tsvm: compiling its loops, once on this machine; that takes some seconds", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        """Called by numba after it has compiled the function; nothing is printed then."""


@cache
def tell_of_compilation() -> None:
    """Register the listener with numba; repeated calls do nothing."""
    event.register("numba:compile", _Told())
