"""How a good point of a formulation is found: one file a method, and what they share."""

from .annealing import annealing
from .balance import search_balance
from .cccp import cccp, cccp_path
from .continuation import continuation
from .descents import minimize, minimize_path
from .gradient import gradient
from .linearization import linearization
from .newton import newton
from .run import Method, Run
from .schedule import annealing_schedule
from .settings import Settings
from .switching import switching

__all__ = [
    "Method",
    "Run",
    "Settings",
    "annealing",
    "annealing_schedule",
    "cccp",
    "cccp_path",
    "continuation",
    "gradient",
    "linearization",
    "minimize",
    "minimize_path",
    "newton",
    "search_balance",
    "switching",
]
