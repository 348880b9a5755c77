"""When methods take turns on a dual whose matrix is in memory.

There are three.  *Steps* on single variables (or pairs of them) find out at which breakpoint of its loss each variable
sits; a *Newton* step solves for the variables between breakpoints.  These two take turns, and are fast as long as few
outputs lie on a kink of their loss.  Where classes are far from equal thousands do, which are too many to be found out
one by one: then the *augmented* Lagrangian takes over, whose Newton steps find the breakpoints of all variables at
once.
"""

from dataclasses import dataclass


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
    # Steps before a Newton step is tried, besides a share of n², since it costs n³ and a step costs n.
    least_steps: int = 300
    steps_per_square: float = 1 / 400  # this share


class Strategy:
    """What a solver has learnt about its problems.

    Where the augmented Lagrangian had to take over on a problem, the next is taken to be as hard.
    """

    effort = Effort()

    def __init__(self) -> None:
        self.is_hard = False
        self.least_for_augmented = self.effort.least_for_augmented

    def hands_over(self, n: int, turn: int, stalled: int, before: bool = False) -> bool:
        """Whether the augmented Lagrangian is to take over n variables: if the last turns were of no use, and once."""
        is_tried = turn > 0 if self.is_hard else stalled >= self.effort.useless
        return is_tried and n >= self.least_for_augmented and not before
