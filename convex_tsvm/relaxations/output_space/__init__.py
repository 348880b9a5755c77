"""The relaxation in V, which stands for v vᵀ, the products of outputs (Bai and Yan 2016), with cuts."""

from .quadratic_program import OutputSpace
from .tightening import Tightening

__all__ = ["OutputSpace", "Tightening"]
