"""How a good point of a formulation is found: one file a method, and what they share."""

from .annealing import annealing
from .balance import search_balance
from .cccp import cccp, cccp_path
from .schedule import annealing_schedule
from .switching import switching

__all__ = ["annealing", "annealing_schedule", "cccp", "cccp_path", "search_balance", "switching"]
