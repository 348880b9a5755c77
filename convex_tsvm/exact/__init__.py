"""Exact search: branch and bound, its certificates, and the references it is held to."""

from .counts import SoftCount as SoftCount
from .counts import soft_count as soft_count
from .page import certificate_page as certificate_page
from .prove import prove_certificate as prove_certificate
from .proven import ProvenLabels as ProvenLabels
from .search import BranchAndBound as BranchAndBound
from .solve import ExactSolution as ExactSolution
from .solve import brute_force as brute_force
from .solve import exact_search as exact_search
from .tree import Progress as Progress
from .trim import Trimmed as Trimmed
from .trim import trim_certificate as trim_certificate
