"""A line on standard error that says how far long work is."""

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
    """What long work calls to update its line."""

    step: Callable[[Iteration], None]  # after a step of a method
    inner: Callable[[int, float], None]  # within a step, with the number of working sets solved and the violation
    tell: Callable[[str], None]


def remaining(seconds: float, share: float) -> str:
    """The time left, in words, if ``share`` of the work has taken ``seconds``; empty if that is too little to tell."""
    if not 0.02 <= share < 1 or seconds < 1:
        return ""
    left = seconds * (1 - share) / share
    return f", about {left / 60:.0f} min left" if left > 90 else f", about {left:.0f} s left"


#: Seconds between two lines, where there is no terminal and where a program reads them.
PAUSES = {"auto": 10.0, "json": 1.0}

#: How progress is told; see :func:`told`.
_way = ContextVar("_way", default="auto")


@contextmanager
def told(way: str) -> Iterator[None]:
    """Progress of the work inside is told a person, "auto", a program, "json", or nobody, "none".

    For a program there is a JSON object a line on standard error: the name of the work, ``progress``, the ``seconds``
    since it began, the ``text`` for a person, and what is known of the ``share`` that is done, and of the last
    ``step``, its ``stage``, ``objective`` and how many points ``changed``.
    """
    token = _way.set(way)
    try:
        yield
    finally:
        _way.reset(token)


@contextmanager
def _shown(first: str, lines: bool) -> Iterator[Callable[[str, str, dict[str, Any]], None] | None]:
    """A function that shows a text, and an end if there is room, in a line on a terminal, which begins with ``first``.

    Elsewhere it prints lines now and then, if ``lines`` are asked for, with figures for a program; or it is None.
    """
    began = last = time.perf_counter()
    way = _way.get()

    def print_line(text: str, end: str, figures: dict[str, Any]) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last >= PAUSES[way]:
            last = now
            told = json.dumps({**figures, "seconds": round(now - began, 3), "text": text + end})
            print(told if way == "json" else text + end, file=sys.stderr, flush=True)

    if way == "none" or (way == "auto" and not lines and not sys.stderr.isatty()):
        yield None
        return
    if way == "json" or not sys.stderr.isatty():
        yield print_line
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    with console.status(first) as status:
        yield lambda text, end, _: status.update(Text(_cut(text, end, console.width - 4)))


def _cut(text: str, end: str, width: int) -> str:
    """A text with its end, or, where both have no room in a line, without it, and cut if that is too long as well."""
    if len(text + end) <= width:
        return text + end
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


@contextmanager
def status_line(
    name: Callable[[], str],
    share: Callable[[float, float], float] | None = None,
    lines: bool = False,
    keeps: bool = True,
) -> Iterator[StatusLine | None]:
    """A line on standard error that says how far the work called ``name()`` is; see :func:`_shown` for ``lines``.

    ``share`` tells from the first stage and the current one how much is done (see ``Method.share``); ``keeps`` says
    that Ctrl-C ends the work with the best so far.
    """
    with _shown(f"{name()}: starting", lines) as show:
        if show is None:
            yield None
            return
        count, reached, first, done, began = 0, "", 0.0, 0.0, time.perf_counter()
        figures: dict[str, Any] = {}

        def update(inside: str) -> None:
            end = " (Ctrl-C keeps the best so far)" if keeps else ""
            show(f"{name()}: {reached}{inside}", end, {"progress": name(), **figures})

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
            f"{what}: {share:.0%}{remaining(time.perf_counter() - began, share)}",
            "",
            {"progress": what, "share": share},
        )
