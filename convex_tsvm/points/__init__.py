"""Points of the linear space, by their products: in memory, in files, on several machines."""

from .conversion import linear_points
from .memory import DensePoints, SinglePoints, SparsePoints
from .memory_mapped import SavedPoints, convert_svmlight, open_points, read_svmlight, save_points
from .partitioned import DaskPoints, open_partitioned
from .protocol import LinearPoints, WithConstant

__all__ = [
    "DaskPoints",
    "DensePoints",
    "LinearPoints",
    "SavedPoints",
    "SinglePoints",
    "SparsePoints",
    "WithConstant",
    "convert_svmlight",
    "linear_points",
    "open_partitioned",
    "open_points",
    "read_svmlight",
    "save_points",
]
