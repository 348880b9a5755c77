"""What kernels take and give."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Points = Any  # an (n, d) array, or a CSR matrix where the kernel takes one
