"""Points of the linear space, by their products: in memory, in files, on several machines."""

from .memory import DensePoints as DensePoints
from .memory import SinglePoints as SinglePoints
from .memory import SparsePoints as SparsePoints
from .memory_mapped import SavedPoints as SavedPoints
from .memory_mapped import convert_svmlight as convert_svmlight
from .memory_mapped import open_points as open_points
from .memory_mapped import read_svmlight as read_svmlight
from .memory_mapped import save_points as save_points
from .partitioned import DaskPoints as DaskPoints
from .partitioned import linear_points as linear_points
from .partitioned import open_partitioned as open_partitioned
from .protocol import LinearPoints as LinearPoints
from .protocol import WithConstant as WithConstant
