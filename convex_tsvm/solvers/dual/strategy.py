"""Which method is next on a dual whose matrix is in memory, and why.

There are three.  *Steps* on single variables (or pairs of them) find out at which breakpoint of its loss each variable
sits; a *Newton* step solves for the variables between breakpoints.  These two take turns, and are fast as long as few
outputs lie on a kink of their loss.  Where classes are far from equal thousands do, which are too many to be found out
one by one: then the *augmented* Lagrangian takes over, whose Newton steps find the breakpoints of all variables at
once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from ...deadline import time_is_up
from .dual_problem import DualProblem, State

# Every constant was chosen by benchmarks/corners.py (seconds beside libsvm's on 270 problems) unless it says otherwise.

#: Violation, in units of the outputs, at which the first steps end: Newton steps are faster from there on.
FIRST_TOL = 1e-3

#: Turns of steps and Newton steps, at most.
MOST_TURNS = 50

#: Turns in a row that bring nothing after which the augmented Lagrangian takes over, on a solver's first problems; once
#: it had to, it does so after the first turn, as it needs about as long whatever the data are.
USELESS_TURNS = 3

#: Variables below which it does not take over, as turns are not long there, unless costs are so large that they fail.
LEAST_FOR_AUGMENTED = 200

#: A turn has brought something if the violation is below this share of the least one before; turns in a row that may
#: bring nothing (rounding, or a cycle).
FALLEN_TURN, STALLED_TURNS = 0.5, 10

#: Share of the violation that is enough to which the augmented Lagrangian is asked to go: what comes after it is not to
#: end just above it, and the duality gap, a sum of violations, is to be small as well.
AUGMENTED_TOL = 0.2

Method = Literal["steps", "newton", "augmented", "double precision", "none"]


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
        Violation at which one may stop once the augmented Lagrangian would have to take over; None: ``tol``.
    """

    dual: DualProblem
    state: State
    tol: float
    enough: float | None
    last: Method = "none"
    turn: int = 0
    n_steps: int = 0
    stalled: int = field(default=0, init=False)
    is_handed_over: bool = field(default=False, init=False)
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

    @property
    def augmented_tol(self) -> float:
        """The violation to which the augmented Lagrangian is to go."""
        return self.tol if self.enough is None else AUGMENTED_TOL * self.enough

    @property
    def is_enough(self) -> bool:
        """Whether one may stop at the violation that is reached, as more of it would take long."""
        return self.violation <= (self.tol if self.enough is None else self.enough)

    def after(self, method: Method, state: State, n_steps: int = 0) -> None:
        """A method has been tried, and has led to a state."""
        self.state, self.last, self.n_steps = state, method, n_steps
        self.is_handed_over |= method == "augmented"
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
        Whether the augmented Lagrangian had to take over on one of the problems; the next is taken to be like it.
    least_for_augmented : int
        The number of variables from which on it may.
    log : list of Choice
        What was chosen for the last problem, and why.
    """

    def __init__(self) -> None:
        self.is_hard = False
        self.least_for_augmented = LEAST_FOR_AUGMENTED
        self.log: list[Choice] = []

    def next(self, reached: Reached) -> Choice:
        """The method that is next."""
        choice = self._next(reached)
        self.log.append(choice)
        return choice

    def _next(self, reached: Reached) -> Choice:
        if reached.last in ("none", "newton"):
            return self._in_a_new_turn(reached)
        if reached.last == "steps":
            return _after_steps(reached)
        if reached.is_enough:
            return Choice("none", "the violation is small enough")
        if not reached.double and reached.enough is not None:
            return Choice("double precision", "the augmented Lagrangian was not enough, and what is next needs digits")
        return Choice("steps", "the augmented Lagrangian has not got there")

    def _in_a_new_turn(self, reached: Reached) -> Choice:
        if reached.turn == MOST_TURNS:
            return Choice("none", f"{MOST_TURNS} turns have been taken")
        if not self._is_time(reached):
            return Choice("steps", "a new turn" if reached.turn else "to find out which variables are at breakpoints")
        if reached.is_enough:
            return Choice("none", "the violation is small enough")
        self.is_hard = True
        return Choice("augmented", f"{reached.turn} turns were not enough")

    def _is_time(self, reached: Reached) -> bool:
        """Whether the augmented Lagrangian is to take over, once for a problem: turns were many, the last of no use."""
        if reached.is_handed_over or len(reached.dual.kind) < self.least_for_augmented:
            return False
        return reached.turn > 0 if self.is_hard else reached.stalled >= USELESS_TURNS


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
