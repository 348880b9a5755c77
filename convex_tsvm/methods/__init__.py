"""How a good point of a formulation is found."""

from .balance import search_balance
from .cccp import annealing_schedule, cccp
from .inner import make_solver

__all__ = ["annealing_schedule", "cccp", "make_solver", "search_balance"]
