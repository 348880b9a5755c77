"""The Laplacian SVM as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

from ..formulations import Formulation, on_neighbor_graph, svm
from ..kernels import DeformedKernel
from ..problem import Problem
from ..progress import share_line
from .base import KernelExpansion
from .descent import Descent
from .parameters import estimator, taken


@estimator
class LaplacianSVC(KernelExpansion, Descent):
    """Laplacian SVM (Belkin, Niyogi and Sindhwani 2006; chapelle2008 §5.6.2).

    ½ ‖w‖² + C Σ max(0, 1 - y f) + ½ ``C_manifold`` fᵀ L f, with L the Laplacian of the graph of nearest neighbours of
    all points: an SVM on the labelled points, with another kernel (:class:`~convex_tsvm.kernels.DeformedKernel`,
    which any other formulation takes too).  The gap is that of the convex problem, and the coefficients are for the
    deformed kernel.  ``kernel`` is not "precomputed", as the graph needs points.

    If less than a tenth of the n points is labelled, and the matrix of all points does not fit into ``cache_size``,
    only the kernel's rows of the labelled points are computed.  Time grows like n² then, and memory is ``cache_size``
    and 8 bytes for each labelled point and each point (20 000 points of 50 features, 100 labelled: a minute on two
    cores, 0.6 GB).  Otherwise it takes n³ operations and 24 n² bytes (8000 points: 1.5 GB), whatever ``time_limit`` is.

    Parameters
    ----------
    C_manifold : float >= 0
        Weight of the graph; γ_I / (γ_A (l + u)²) of Belkin et al.
    n_neighbors : int >= 1
        All others, if there are fewer.
    normalized : bool
        Whether the Laplacian is normalized.
    power : int >= 1
        Of the Laplacian.

    Examples
    --------
    >>> ct.LaplacianSVC(n_neighbors=2).fit(X, [0, -1, -1, -1, -1, 1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    balance = None

    solver: Any = "auto"
    cvxpy_solver: str | None = None
    cache_size: float | str = "auto"
    C_manifold: float = 1.0
    n_neighbors: int = 6
    normalized: bool = True
    power: int = 1

    def _unlabeled_cost(self) -> Any:
        return None

    def _in_feature_space(self, problem: Problem) -> Problem:
        deformed = on_neighbor_graph(problem, **taken(self, on_neighbor_graph))
        with share_line(f"kernel of the graph, {problem.n_labeled} of {problem.n} rows") as progress:
            if isinstance(deformed.kernel, DeformedKernel):
                deformed.kernel.prepare(problem.labeled, progress)
        return deformed

    def _formulation(self, problem: Problem) -> Formulation:
        return svm(fit_intercept=self.fit_intercept)
