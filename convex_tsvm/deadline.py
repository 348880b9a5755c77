"""A time at which work is to end: set around it, asked for by every loop that may take long.

Loops end at their next step, with the best they have; what they return holds, whatever the time was.  A deadline counts
in the thread that set it, and one that is set inside another one can only be earlier.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from typing import Any

from .validation import finite

_deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))

#: Seconds between two looks at a call that runs in the background.
LOOK = 0.2


class TimeIsUp(Exception):
    """The deadline came inside something that has nothing to give before its end."""


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Work inside is to end at ``deadline``, a time in seconds as ``time.time()`` counts them."""
    token = _deadline.set(min(deadline, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(token)


def within(seconds: float | None) -> AbstractContextManager[None]:
    """Work inside is to end after so many seconds, a ``time_limit`` as users give it; None is no limit.

    Parameters
    ----------
    seconds : float > 0 or None

    Raises
    ------
    ValueError
        If it is neither.
    """
    return until(float("inf") if seconds is None else time.time() + finite("time_limit", seconds, above=0))


def share_of_time(n: int) -> AbstractContextManager[None]:
    """Work inside is the next of n pieces, and may take an equal share of what time is left for all of them."""
    return until(time.time() + time_left() / n)


@contextmanager
def unlimited() -> Iterator[None]:
    """Work inside goes to its end whatever the deadline: it is the least that there must be."""
    token = _deadline.set(float("inf"))
    try:
        yield
    finally:
        _deadline.reset(token)


class Carried:
    """A function that keeps the deadline of whoever wraps it, in whatever thread or process it is called.

    Parameters
    ----------
    function : callable
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.deadline = function, _deadline.get()

    def __call__(self, *arguments: Any) -> Any:
        """What the function gives."""
        with until(self.deadline):
            return self.function(*arguments)


def time_is_up() -> bool:
    """Whether the deadline of this thread's work has passed."""
    return time.time() > _deadline.get()


def time_left() -> float:
    """Seconds to the deadline, at least 0; infinite without one."""
    return max(0.0, _deadline.get() - time.time())


def in_background(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that takes long, looks at no clock and lets other threads run, such as those of LAPACK in NumPy.

    The call is in a thread of its own, so that Ctrl-C and the deadline end the waiting at once; the thread goes on to
    its end, or to that of the program, and what it finds is dropped.

    Parameters
    ----------
    function : callable
    *arguments
        Which it must not change.

    Raises
    ------
    TimeIsUp
        If the deadline comes first.
    """
    found: list[tuple[Any, BaseException | None]] = []
    done, context = threading.Event(), copy_context()

    def work() -> None:
        try:
            found.append((context.run(function, *arguments), None))
        except BaseException as error:
            found.append((None, error))
        done.set()

    threading.Thread(target=work, daemon=True).start()
    while not done.wait(min(LOOK, time_left())):
        if time_is_up():
            raise TimeIsUp
    result, error = found[0]
    if error is not None:
        raise error
    return result
