"""Which method is next on a dual whose matrix is in memory, and why.

There are four.  *Steps* on single variables (or pairs of them) find out at which breakpoint of its loss each variable
sits; a *Newton* step solves for the variables between breakpoints.  These two take turns, and are fast as long as few
outputs lie on a kink of their loss.  Where classes are far from equal thousands do, which are too many to be found out
one by one: then methods take over that have all variables at once: *interior*, an interior-point method, where the
matrix is of low rank, and otherwise *splitting*.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from ...deadline import time_is_up
from ...kernels import RowSource
from .dual_problem import DualProblem, State
from .factors import Factors

# Every constant was chosen by benchmarks/corners.py (seconds beside libsvm's on 270 problems) unless it says otherwise.

#: Violation, in units of the outputs, at which the first steps end: Newton steps are faster from there on.
FIRST_TOL = 1e-3

#: Turns of steps and Newton steps, at most.
MOST_TURNS = 50

#: Turns after which splitting and the interior point take over: on a solver's first problem, and on one where they had
#: to take over before; a third of that where a turn is many working sets.  They need as long whatever the data are.
EASY_TURNS, HARD_TURNS = 6, 1

#: Variables below which they do not take over: turns are never long there.
LEAST_FOR_WHOLE = 200

#: A turn has brought something if the violation is below this share of the least one before; turns in a row that may
#: bring nothing (rounding, or a cycle).
FALLEN_TURN, STALLED_TURNS = 0.5, 10

#: Share of the violation that is enough to which splitting and interior point are asked to go: what comes after them
#: is not to end just above it.
WHOLE_TOL = 0.5

Method = Literal["steps", "newton", "splitting", "interior", "double precision", "none"]


class Choice(NamedTuple):
    """The method that is next ("none": it is over), and the reason in words."""

    method: Method
    why: str


@dataclass
class Reached:
    """How far the work on one problem has come, as the strategy looks at it.

    Attributes
    ----------
    dual : DualProblem
        Its matrix is in memory.
    state : State
    tol : float
        Violation that is wanted, in units of the outputs.
    enough : float or None
        Violation at which one may stop once other methods would have to take over; None: they never do.
    many_sets : bool
        Whether a turn of steps is many working sets.
    """

    dual: DualProblem
    state: State
    tol: float
    enough: float | None
    many_sets: bool
    last: Method = "none"
    turn: int = 0
    n_steps: int = 0
    stalled: int = field(default=0, init=False)
    violation: float = field(default=np.inf, init=False)
    _least: float = field(default=np.inf, init=False)

    def __post_init__(self) -> None:
        self.violation = self.dual.survey(self.state).violation

    @property
    def double(self) -> bool:
        """Whether the matrix is in double precision."""
        return self.dual.rows.dtype == np.float64

    @property
    def steps_tol(self) -> float:
        """The violation to which steps are to go: at first no further than Newton steps need it.

        In single precision solutions of a working set are to have variables at breakpoints, so that others can be
        chosen in their place.
        """
        return self.tol if self.turn or not self.double else max(self.tol, FIRST_TOL)

    def after(self, method: Method, state: State, n_steps: int = 0) -> None:
        """A method has been tried, and has led to a state."""
        self.state, self.last, self.n_steps = state, method, n_steps
        self.violation = self.dual.survey(state).violation
        if method == "newton":
            self.turn += 1
        elif method == "steps":
            fallen = self.violation < FALLEN_TURN * self._least
            self._least, self.stalled = (self.violation, 0) if fallen else (self._least, self.stalled + 1)


class Strategy:
    """What a solver has learnt about its problems, and which method is next.

    Attributes
    ----------
    is_hard : bool
        Whether one of the problems needed more digits than single precision has; the next is taken to be like it.
    log : list of Choice
        What was chosen for the last problem, and why.
    """

    def __init__(self) -> None:
        self.is_hard = False
        self.log: list[Choice] = []
        self._factored: tuple[RowSource, Factors] | None = None

    def next(self, reached: Reached) -> Choice:
        """The method that is next."""
        choice = self._next(reached)
        self.log.append(choice)
        return choice

    def factors(self, rows: RowSource) -> Factors:
        """What splitting and the interior point need of a matrix; that of the last matrix is kept."""
        if self._factored is None or self._factored[0] is not rows:
            self._factored = rows, Factors(np.asarray(rows.full(), dtype=np.float64))
        return self._factored[1]

    def _next(self, reached: Reached) -> Choice:
        if reached.last in ("none", "newton"):
            return self._in_a_new_turn(reached)
        if reached.last == "steps":
            return _after_steps(reached)
        assert reached.enough is not None
        if reached.violation <= reached.enough:
            return Choice("none", "the violation is small enough")
        return Choice("steps", "no method for all variables has got there")

    def _in_a_new_turn(self, reached: Reached) -> Choice:
        if reached.turn == MOST_TURNS:
            return Choice("none", f"{MOST_TURNS} turns have been taken")
        if reached.enough is None or reached.turn != self._patience(reached):
            return Choice("steps", "a new turn" if reached.turn else "to find out which variables are at breakpoints")
        if reached.violation <= reached.enough:
            return Choice("none", "the violation is small enough")
        if not reached.double:
            return Choice("double precision", f"{reached.turn} turns were not enough, and what is next needs digits")
        if self.factors(reached.dual.rows).factor is None:
            return Choice("splitting", f"{reached.turn} turns were not enough, and the rank is not low")
        return Choice("interior", f"{reached.turn} turns were not enough, and the rank is low")

    def _patience(self, reached: Reached) -> int:
        """Turns after which methods for all variables take over; -1 where they do not."""
        dual = reached.dual
        if dual.free_bias or len(dual.kind) < LEAST_FOR_WHOLE:
            return -1
        known = self._factored is not None and self._factored[0] is dual.rows
        turns = HARD_TURNS if self.is_hard or known else EASY_TURNS
        return turns // 3 if reached.many_sets else turns


def _after_steps(reached: Reached) -> Choice:
    if reached.turn and reached.n_steps == 0:
        return Choice("none", "no variable moves any more")
    if not reached.double and reached.violation <= reached.tol:
        return Choice("none", "the violation is small enough for single precision")
    if reached.stalled > STALLED_TURNS:
        return Choice("none", f"{STALLED_TURNS} turns have brought nothing")
    if time_is_up():
        return Choice("none", "the time is up")
    return Choice("newton", "to solve for the variables between breakpoints")
