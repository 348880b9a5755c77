"""Points of the linear space, by their products: in memory, in files, on several machines."""

from .memory import DensePoints, SparsePoints, linear_points
from .protocol import LinearPoints, WithConstant

__all__ = ["DensePoints", "LinearPoints", "SparsePoints", "WithConstant", "linear_points"]
