from .kernels import RBF as RBF
from .kernels import CallableKernel as CallableKernel
from .kernels import Linear as Linear
from .kernels import Polynomial as Polynomial
from .kernels import Precomputed as Precomputed
from .losses import PLQ as PLQ
from .losses import DCLoss as DCLoss
from .losses import SmoothConcave as SmoothConcave
from .losses import epsilon_insensitive as epsilon_insensitive
from .losses import flat_newton as flat_newton
from .losses import hinge as hinge
from .losses import indicator as indicator
from .losses import ramp as ramp
from .losses import relaxed_compact_hinge as relaxed_compact_hinge
from .losses import relaxed_compact_symmetric_hinge as relaxed_compact_symmetric_hinge
from .losses import squared_hinge as squared_hinge
from .losses import symmetric_hinge as symmetric_hinge
from .losses import symmetric_ramp as symmetric_ramp
from .losses import symmetric_squared_hinge as symmetric_squared_hinge
from .losses import two_slope_symmetric_ramp as two_slope_symmetric_ramp
from .modeling import CvxpySolver as CvxpySolver
from .problem import Problem as Problem
from .solvers import NativeSolver as NativeSolver

__version__: str
