"""Deadlines: a time at which work is to end is set around it, and every loop that may take long asks for it.

Loops end at their next step with the best result they have, which is valid whenever they end.  A deadline counts in the
thread that set it, and one that is set inside another one can only be earlier.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from typing import Any

from .validation import finite

_deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))


class TimeIsUp(Exception):
    """Raised where a deadline passes inside work that has no result before its end."""


@contextmanager
def _ending(deadline: float) -> Iterator[None]:
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def until(deadline: float) -> AbstractContextManager[None]:
    """Work inside is to end at ``deadline``, a time in seconds as ``time.time()`` counts them."""
    return _ending(min(deadline, _deadline.get()))


def within(seconds: float | None) -> AbstractContextManager[None]:
    """Work inside is to end after so many seconds; None is no limit.

    It is the users' ``time_limit``, and ValueError names that if it is neither None nor a finite number > 0.
    """
    return until(float("inf") if seconds is None else time.time() + finite("time_limit", seconds, above=0))


def share_of_time(n: int) -> AbstractContextManager[None]:
    """Work inside is the next of n pieces, and may take an equal share of what time is left for all of them."""
    return until(time.time() + time_left() / n)


def unlimited() -> AbstractContextManager[None]:
    """Work inside goes to its end whatever the deadline, because without it there would be no result."""
    return _ending(float("inf"))


class Carried:
    """A function with the deadline that was set where it was wrapped, in whatever thread or process it is called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.deadline = function, _deadline.get()

    def __call__(self, *arguments: Any) -> Any:
        with until(self.deadline):
            return self.function(*arguments)


def time_is_up() -> bool:
    """Whether the deadline of this thread's work has passed."""
    return time.time() > _deadline.get()


def time_left() -> float:
    """Seconds to the deadline, at least 0; infinite without one."""
    return max(0.0, _deadline.get() - time.time())


def in_background(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that takes long, checks no deadline and lets other threads run, as NumPy's calls of LAPACK do.

    The call is in a thread of its own, so that Ctrl-C and the deadline, with TimeIsUp, end the waiting at once.  The
    thread then goes on to its end, for which the program waits when it ends, as compiled code that is cut off there
    would bring it down.  Its result is dropped, so the function must not change its arguments.
    """
    pool = ThreadPoolExecutor(1)
    try:
        call = pool.submit(copy_context().run, function, *arguments)
    except RuntimeError:  # no thread can be started, as in a browser
        return function(*arguments)
    pool.shutdown(wait=False)
    # Seconds after which the state of a call in the background is looked at again.
    while not wait([call], min(0.2, time_left())).done:
        if time_is_up():
            raise TimeIsUp
    return call.result()
