"""On the path of Python the package runs without what it can do without: numba, psutil, SCS and HiGHS."""

import sys

for name in ("numba", "psutil", "scs", "highspy"):
    sys.modules[name] = None
