"""A line on standard error that says how far long work is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .solution import Iteration


@dataclass(frozen=True)
class StatusLine:
    """What long work calls to update its line: after a step of a method, within a step, or with a text.

    ``inner`` takes the number of working sets solved and the violation.
    """

    step: Callable[[Iteration], None]
    inner: Callable[[int, float], None]
    tell: Callable[[str], None]


def remaining(seconds: float, share: float) -> str:
    """The time left, in words, if ``share`` of the work has taken ``seconds``; empty if that is too little to tell."""
    if not 0.02 <= share < 1 or seconds < 1:
        return ""
    left = seconds * (1 - share) / share
    return f", about {left / 60:.0f} min left" if left > 90 else f", about {left:.0f} s left"


#: Seconds between two lines where there is no terminal.
PAUSE = 10.0


@contextmanager
def _shown(first: str, lines: bool) -> Iterator[Callable[[str], None] | None]:
    """A function that shows a text on standard error: on a terminal in one line, which begins with ``first``.

    Elsewhere it prints a line every ten seconds at most, if ``lines`` are asked for; otherwise there is None.
    """
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status(first) as status:
            yield status.update
        return
    last = time.perf_counter()

    def print_line(text: str) -> None:
        nonlocal last
        if time.perf_counter() - last >= PAUSE:
            last = time.perf_counter()
            print(text, file=sys.stderr, flush=True)

    yield print_line if lines else None


@contextmanager
def status_line(
    name: Callable[[], str], share: Callable[[float, float], float] | None = None, lines: bool = False
) -> Iterator[StatusLine | None]:
    """A line on standard error that says how far the work called ``name()`` is.

    ``share`` tells from the first stage and the current one how much of the work is done (see ``Method.share``).
    Where standard error is no terminal there is a line every ten seconds, if ``lines`` are asked for; otherwise None.
    """
    with _shown(f"{name()}: starting", lines) as show:
        if show is None:
            yield None
            return
        count, reached, first, done, began = 0, "", 0.0, 0.0, time.perf_counter()

        def update(inside: str) -> None:
            show(f"{name()}: {reached}{inside} (Ctrl-C keeps the best so far)")

        def step(iteration: Iteration) -> None:
            nonlocal count, reached, first, done
            count += 1
            first = first or iteration.stage
            if share is not None:
                done = max(done, share(first, iteration.stage))
            left = remaining(time.perf_counter() - began, done)
            reached = (
                f"step {count}, objective {iteration.step_objective:.6g}, {iteration.changed} points changed{left}; "
            )
            update("next step")

        def inner(n_sets: int, violation: float) -> None:
            update(f"{n_sets} working sets, violation {violation:.2g}")

        yield StatusLine(step, inner, update)


@contextmanager
def share_line(what: str) -> Iterator[Callable[[float], None] | None]:
    """A function that shows the share of the work that is done, and the time left; None if there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    began = time.perf_counter()
    with Console(stderr=True).status(what) as status:
        yield lambda share: status.update(f"{what}: {share:.0%}{remaining(time.perf_counter() - began, share)}")
