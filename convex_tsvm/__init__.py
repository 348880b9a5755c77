"""A convex-optimization modelling toolkit for semi-supervised support vector machines.

A formulation is written once, as losses and constraints; the readable CVXPY problem, its dual, the concave-convex
steps and the native solver's input follow from it.

Names are loaded when they are first used, so that importing the package costs neither CVXPY, nor scikit-learn, nor
numba; ``__init__.pyi`` lists them.  What is used less often is in rooms: ``ct.losses``, ``ct.kernels``, ``ct.plot``.
What can be asked for by a name is listed in ``ct.table``.
"""

import lazy_loader

from . import table as table

__version__ = "0.1.0.dev0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
