"""A line on standard error that says how far long work is."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

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

#: Seconds between two lines where a program reads them.
MACHINE_PAUSE = 1.0

#: What a line says at its end.
KEEPS = " (Ctrl-C keeps the best so far)"

#: How progress is told; see :func:`told`.
_way = ContextVar("_way", default="auto")


@contextmanager
def told(way: str) -> Iterator[None]:
    """Progress of the work inside is told a person, "auto", a program, "json", or nobody, "none".

    A person has a line on a terminal.  For a program there is a JSON object a line on standard error, about one a
    second: ``progress`` is the name of the work, ``seconds`` the time since it began, ``text`` what a person is told;
    where they are known also the ``share`` of the work that is done, and of the last step of a method its number
    ``step``, its ``stage``, its ``objective``, and ``changed``, how many points changed.
    """
    token = _way.set(way)
    try:
        yield
    finally:
        _way.reset(token)


@contextmanager
def _shown(first: str, lines: bool) -> Iterator[Callable[[str, dict[str, Any]], None] | None]:
    """A function that shows a text on standard error: on a terminal in one line, which begins with ``first``.

    Elsewhere it prints a line every ten seconds at most, if ``lines`` are asked for; otherwise there is None.  A
    program is told the figures beside the text.
    """
    began = last = time.perf_counter()
    machine = _way.get() == "json"

    def print_line(text: str, figures: dict[str, Any]) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last >= (MACHINE_PAUSE if machine else PAUSE):
            last = now
            if machine:
                text = json.dumps({**figures, "seconds": round(now - began, 3), "text": text})
            print(text, file=sys.stderr, flush=True)

    if _way.get() == "none":
        yield None
        return
    if machine or not sys.stderr.isatty():
        yield print_line if lines or machine else None
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    with console.status(first) as status:
        yield lambda text, _: status.update(Text(_cut(text, console.width - 4)))


def _cut(text: str, width: int) -> str:
    """A text that has room in a line: without what it says of Ctrl-C, or cut, if it is too long."""
    if len(text) > width:
        text = text.removesuffix(KEEPS)
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


@contextmanager
def status_line(
    name: Callable[[], str],
    share: Callable[[float, float], float] | None = None,
    lines: bool = False,
    keeps: bool = True,
) -> Iterator[StatusLine | None]:
    """A line on standard error that says how far the work called ``name()`` is.

    ``share`` tells from the first stage and the current one how much of the work is done (see ``Method.share``).
    Where standard error is no terminal there is a line every ten seconds, if ``lines`` are asked for; otherwise None.
    It says that Ctrl-C ends the work with the best so far, if the work ``keeps`` that.
    """
    with _shown(f"{name()}: starting", lines) as show:
        if show is None:
            yield None
            return
        count, reached, first, done, began = 0, "", 0.0, 0.0, time.perf_counter()
        figures: dict[str, Any] = {}

        def update(inside: str) -> None:
            kept = KEEPS if keeps else ""
            show(f"{name()}: {reached}{inside}{kept}", {"progress": name(), **figures})

        def step(iteration: Iteration) -> None:
            nonlocal count, reached, first, done
            count += 1
            first = first or iteration.stage
            if share is not None:
                done = max(done, share(first, iteration.stage))
                figures["share"] = done
            left = remaining(time.perf_counter() - began, done)
            reached = (
                f"step {count}, objective {iteration.step_objective:.6g}, {iteration.changed} points changed{left}; "
            )
            figures.update(
                step=count, stage=iteration.stage, objective=iteration.step_objective, changed=int(iteration.changed)
            )
            update("next step")

        def inner(n_sets: int, violation: float) -> None:
            update(f"{n_sets} working sets, violation {violation:.2g}")

        yield StatusLine(step, inner, update)


@contextmanager
def share_line(what: str) -> Iterator[Callable[[float], None] | None]:
    """A function that shows the share of the work that is done, and the time left; None if nobody can see it."""
    with _shown(what, lines=False) as show:
        if show is None:
            yield None
            return
        began = time.perf_counter()
        yield lambda share: show(
            f"{what}: {share:.0%}{remaining(time.perf_counter() - began, share)}", {"progress": what, "share": share}
        )
