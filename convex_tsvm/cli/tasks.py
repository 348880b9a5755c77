"""What the command line is asked to do: the names of formulations and methods of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..methods.solvers import check_taken
from ..table import FORMULATIONS, METHODS


@dataclass(frozen=True)
class Task:
    """A formulation and a method, and what the user called them."""

    name: str
    formulation: str
    method: str

    @property
    def solvers(self) -> tuple[str, ...]:
        """The solvers that the user may choose from."""
        return METHODS[self.method].solvers

    def solvers_of(self, asked: Sequence[str]) -> list[str]:
        """Those asked for that solve the method's problems, or "auto"; methods without one have "-"."""
        first = self.solver_of("auto")
        found = [first if name == "auto" else name for name in asked if name in ("auto", *self.solvers)]
        return list(dict.fromkeys(found)) or [first]

    def solver_of(self, asked: str) -> str:
        """The solver asked for, or the only one that takes both, "-" without any; "auto" where the problem decides."""
        if not self.solvers:
            return "-"
        own = FORMULATIONS[self.formulation].solver
        if asked == "auto":
            return own if own in self.solvers else self.solvers[0] if len(self.solvers) == 1 else "auto"
        check_taken(self.solvers, asked, self.method)
        return asked

    def loss(self, asked: str | None) -> str:
        """The name of the loss of unlabelled points: the one asked for, or the method's own."""
        return METHODS[self.method].loss if asked is None else asked


def read_task(name: str, formulation: str | None = None) -> Task:
    """The task that a name is: a method, a formulation (by CCCP), or ``formulation:method``; else a ValueError."""
    first, colon, second = name.partition(":")
    given, method = (None, first) if first in METHODS and not colon else (first, second if colon else "cccp")
    if (given is not None and given not in FORMULATIONS) or method not in METHODS:
        raise ValueError(f"{name!r} must be one of {', '.join(task_names())}, or FORMULATION:METHOD, such as cmm:cccp")
    if given is not None and formulation is not None and given != formulation:
        raise ValueError(f"formulation={formulation!r} and method={name!r} are two formulations")
    return Task(name, given or formulation or "tsvm", method)


def formulation_names() -> tuple[str, ...]:
    """Names by which one can ask for formulations by CCCP: that of a TSVM is its method's."""
    return tuple(dict.fromkeys(["svm", "cccp", *(name for name in FORMULATIONS if name != "tsvm")]))


def task_names() -> tuple[str, ...]:
    """Names by which one can ask for something: formulations by CCCP, and methods."""
    return tuple(dict.fromkeys([*formulation_names(), *METHODS]))
