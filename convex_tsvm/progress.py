"""A line about long work, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .solution import Iteration


@dataclass(frozen=True)
class StatusLine:
    """What to call on the way: with every step of a method, with working sets and violation inside one, or a text."""

    step: Callable[[Iteration], None]
    inner: Callable[[int, float], None]
    tell: Callable[[str], None]


@contextmanager
def status_line(name: Callable[[], str]) -> Iterator[StatusLine | None]:
    """A line that says where the work called ``name()`` is, if standard error is a terminal; otherwise None."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{name()}: starting") as status:
        count, reached = 0, ""

        def update(inside: str) -> None:
            status.update(f"{name()}: {reached}{inside} (Ctrl-C keeps the best so far)")

        def step(iteration: Iteration) -> None:
            nonlocal count, reached
            count += 1
            reached = f"step {count}, objective {iteration.step_objective:.6g}, {iteration.changed} points changed; "
            update("next step")

        def inner(n_sets: int, violation: float) -> None:
            update(f"{n_sets} working sets, violation {violation:.2g}")

        yield StatusLine(step, inner, update)
