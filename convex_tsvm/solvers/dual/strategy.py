"""Which method is next on a dual whose matrix is in memory.

There are three.  *Steps* on single variables (or pairs of them) find out at which breakpoint of its loss each variable
sits; a *Newton* step solves for the variables between breakpoints.  These two take turns, and are fast as long as few
outputs lie on a kink of their loss.  Where classes are far from equal thousands do, which are too many to be found out
one by one: then the *augmented* Lagrangian takes over, whose Newton steps find the breakpoints of all variables at
once.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ...deadline import time_is_up
from .dual_problem import DualProblem, State

#: "none": it is over.
Method = Literal["steps", "newton", "augmented", "double precision", "none"]


@dataclass(frozen=True)
class Effort:
    """When methods take turns (by ``benchmarks/corners.py``), and how many compiled steps a turn has (``speed.py``)."""

    # Violation, in units of the outputs, at which the first steps end: Newton steps are faster from there on.
    first_tol: float = 1e-3
    # Turns of steps and Newton steps at most, and turns in a row that may bring nothing (rounding, or a cycle).
    turns: int = 50
    stalled: int = 10
    fallen: float = 0.5  # a turn has brought something if the violation is below this share of the least one before
    # Turns in a row that bring nothing after which the augmented Lagrangian takes over, on a solver's first problems.
    useless: int = 3
    # Variables below which it does not, as turns are not long there, unless costs are so large that they fail.
    least_for_augmented: int = 200
    # Where it ends, as a share of the violation that is enough: the duality gap is to be small as well.
    augmented_share: float = 0.2
    at_once: int = 1024  # variables that compiled steps go over at once: a step passes over two rows of so many
    without_sets: float = 2.5  # a matrix of up to this many times as many variables is gone over without working sets
    # Steps before a Newton step is tried, besides a share of n², since it costs n³ and a step costs n.
    least_steps: int = 300
    steps_per_square: float = 1 / 400  # this share
    # By working sets: steps for a variable at most, and how many times as many steps before a Newton step.
    passes: int = 20
    more_by_sets: int = 3
    # Working sets are solved to these shares of the violation outside them, and of the one that is wanted.
    share_of_violation: float = 0.1
    share_of_tol: float = 0.5


@dataclass
class Reached:
    """How far the work on one problem has come, as the strategy looks at it."""

    dual: DualProblem  # its matrix is in memory
    state: State
    tol: float  # the violation that is wanted, in units of the outputs
    enough: float | None  # where one may stop once the augmented Lagrangian would have to take over; None: ``tol``
    effort: Effort = Effort()
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
        return self.dual.rows.dtype == np.float64

    @property
    def steps_tol(self) -> float:
        """The violation to which steps are to go: at first no further than Newton steps need it.

        In single precision solutions of a working set are to have variables at breakpoints, so that others can be
        chosen in their place.
        """
        return self.tol if self.turn or not self.double else max(self.tol, self.effort.first_tol)

    @property
    def is_enough(self) -> bool:
        """Whether one may stop at the violation that is reached, as more of it would take long."""
        return self.violation <= (self.tol if self.enough is None else self.enough)

    def after(self, method: Method, state: State, n_steps: int = 0) -> None:
        self.state, self.last, self.n_steps = state, method, n_steps
        self.is_handed_over |= method == "augmented"
        self.violation = self.dual.survey(state).violation
        if method == "newton":
            self.turn += 1
        elif method == "steps":
            fallen = self.violation < self.effort.fallen * self._least
            self._least, self.stalled = (self.violation, 0) if fallen else (self._least, self.stalled + 1)


class Strategy:
    """What a solver has learnt about its problems, and which method is next.

    Where the augmented Lagrangian had to take over on a problem, the next is taken to be as hard.
    """

    effort = Effort()

    def __init__(self) -> None:
        self.is_hard = False
        self.least_for_augmented = self.effort.least_for_augmented

    def next(self, reached: Reached) -> Method:
        if reached.last in ("none", "newton"):
            return self._in_a_new_turn(reached)
        if reached.last == "steps":
            return _after_steps(reached)
        if reached.is_enough:
            return "none"
        if not reached.double and reached.enough is not None:
            return "double precision"  # the augmented Lagrangian was not enough, and what is next needs digits
        return "steps"  # the augmented Lagrangian has not got there

    def _in_a_new_turn(self, reached: Reached) -> Method:
        if reached.turn == self.effort.turns:
            return "none"
        # The augmented Lagrangian takes over once for a problem: if turns were many, the last of no use.
        is_tried = reached.turn > 0 if self.is_hard else reached.stalled >= self.effort.useless
        if reached.is_handed_over or len(reached.dual.kind) < self.least_for_augmented or not is_tried:
            return "steps"  # to find out which variables are at breakpoints
        if reached.is_enough:
            return "none"
        self.is_hard = True
        return "augmented"


def _after_steps(reached: Reached) -> Method:
    none_moves = bool(reached.turn) and reached.n_steps == 0
    is_enough_for_single = not reached.double and reached.violation <= reached.tol
    is_over = none_moves or is_enough_for_single or reached.stalled > reached.effort.stalled or time_is_up()
    return "none" if is_over else "newton"  # for the variables between breakpoints
