"""A time at which work is to end: set around it, asked for by every loop that may take long.

Loops end at their next step, with the best they have; what they return holds, whatever the time was.  A deadline counts
in the thread that set it, and one that is set inside another one can only be earlier.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Work inside is to end at ``deadline``, a time in seconds as ``time.time()`` counts them."""
    token = _deadline.set(min(deadline, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(token)


def time_is_up() -> bool:
    """Whether the deadline of this thread's work has passed."""
    return time.time() > _deadline.get()


def time_left() -> float:
    """Seconds to the deadline, at least 0; infinite without one."""
    return max(0.0, _deadline.get() - time.time())
