"""How a good point of a formulation is found: one file a method, and what they share."""

from .annealing import annealing as annealing
from .cccp import cccp as cccp
from .cccp import cccp_path as cccp_path
from .continuation import continuation as continuation
from .descents import minimize as minimize
from .gradient import gradient as gradient
from .linearization import linearization as linearization
from .newton import newton as newton
from .paths import solution_path as solution_path
from .paths import sweep as sweep
from .run import Method as Method
from .run import Run as Run
from .self_training import self_training as self_training
from .settings import Settings as Settings
from .settings import annealing_schedule as annealing_schedule
from .switching import switching as switching
