"""Says when loops are compiled: the first time on a machine, some seconds long; later they come from a cache."""

from __future__ import annotations

import sys
from typing import Any

from numba.core import event


class _Told(event.Listener):
    """Says so once, where somebody looks: on a terminal or in a notebook."""

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
        """Called by numba after it has."""


def tell_of_compilation() -> None:
    """Listen to numba, which is only told so once, whoever asks."""
    if not any(isinstance(listener, _Told) for listener in _LISTENING):
        _LISTENING.append(_Told())
        event.register("numba:compile", _LISTENING[0])


_LISTENING: list[_Told] = []
