"""How a good point of a formulation is found."""

from .balance import search_balance
from .cccp import annealing_schedule, cccp, cccp_path
from .inner import make_solver

__all__ = ["annealing_schedule", "cccp", "cccp_path", "make_solver", "search_balance"]
