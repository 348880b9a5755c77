"""Convex relaxations: problems whose value is a lower bound of a formulation's optimum, and bounds that hold."""

from .builder import Bound, LowerBoundBuilder, Stage
from .labelling import Labelling, check_relaxable, labelling, svm_of_labels
from .low_rank import LowRankPoint, solve_low_rank
from .outputs import OutputSpace
from .safe import transduction_bound
from .sparse_sdp import solve_sdp
from .spectral import spectral_subspace
from .subspace import SubspacePoint, solve_subspace
from .tightening import RELAXATIONS
from .transduction import DualSDP, FullSDP, ReducedSDP

__all__ = [
    "RELAXATIONS",
    "Bound",
    "DualSDP",
    "FullSDP",
    "Labelling",
    "LowRankPoint",
    "LowerBoundBuilder",
    "OutputSpace",
    "ReducedSDP",
    "Stage",
    "SubspacePoint",
    "check_relaxable",
    "labelling",
    "solve_low_rank",
    "solve_sdp",
    "solve_subspace",
    "spectral_subspace",
    "svm_of_labels",
    "transduction_bound",
]
