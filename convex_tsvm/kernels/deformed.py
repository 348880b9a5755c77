"""Kernels deformed by a graph of the points: manifold regularization as another kernel.

Adding ½ fᵀ M f over some points to ½ ‖w‖² is the same as another kernel (Sindhwani, Niyogi and Belkin 2005;
chapelle2008 §5.4.5),

    k̃(x, z) = k(x, z) - k_xᵀ (I + M K)⁻¹ M k_z,   k_x = (k(x_1, x), …, k(x_n, x)),

so that an SVM with k̃ is a Laplacian SVM, and a TSVM with k̃ a Laplacian TSVM.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from ..validation import finite, integer
from .functions import Kernel, Precomputed
from .types import Array, Points
from .wrappers import dense_laplacian


@dataclass(frozen=True, eq=False)
class DeformedKernel:
    """A kernel deformed by a quadratic form of the outputs at some points.

    For some thousand points: k̃ between any two depends on all of them.

    Parameters
    ----------
    base : Kernel
    points : array or CSR matrix, shape (n, d)
    laplacian : array or sparse matrix, shape (n, n)
        M, symmetric and positive semidefinite.

    Raises
    ------
    ValueError
        If M does not fit the points or is not symmetric, or the base kernel is precomputed.

    Examples
    --------
    >>> import numpy as np, convex_tsvm as ct
    >>> X = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], C=10)
    >>> kernel = ct.laplacian_kernel(ct.RBF(1.0), X, C_manifold=0.1, n_neighbors=2)
    >>> isinstance(kernel, ct.DeformedKernel), kernel(X[:2], X).shape
    (True, (2, 6))
    """

    base: Kernel
    points: Points
    laplacian: Any

    def __post_init__(self) -> None:
        if isinstance(self.base, Precomputed):
            raise ValueError("kernel='precomputed' cannot be deformed: deform the matrix itself (DeformedRows)")
        object.__setattr__(self, "laplacian", dense_laplacian(self.laplacian, self.points.shape[0]))

    @property
    def accepts_sparse(self) -> bool:
        """As the base kernel."""
        return self.base.accepts_sparse

    def __call__(self, X: Points, Z: Points) -> Array:
        left = self._own if X is self.points else self.base(X, self.points)
        if Z is self.points:
            return np.asarray(left - left @ self._corrected_own)
        return np.asarray(self.base(X, Z) - left @ (self._correction @ self.base(self.points, Z)))

    def diag(self, X: Points) -> Array:
        """k̃(x, x).

        Parameters
        ----------
        X : array or CSR matrix, shape (m, d)

        Returns
        -------
        array, shape (m,)
        """
        if X is self.points:
            return self._own_diag  # asked for at every step
        left = self.base(X, self.points)
        return np.asarray(self.base.diag(X) - np.einsum("ij,ij->i", left @ self._correction, left))

    def expand(self, coefficients: Array) -> Array:
        """Σ a_i k̃(x_i, ·) in terms of the base kernel: the c with Σ c_i k(x_i, ·), (I + M K)⁻¹ a.

        Parameters
        ----------
        coefficients : array, shape (n,)

        Returns
        -------
        array, shape (n,)
        """
        return np.asarray(scipy.linalg.lu_solve(self._factor, coefficients))

    def to_dict(self) -> dict[str, Any]:
        """Not saved: fitted models are expanded in the base kernel."""
        raise ValueError("a deformed kernel holds its points, and is not saved; expand() the model in its base kernel")

    def __repr__(self) -> str:
        return f"DeformedKernel({self.base!r}, {self.points.shape[0]} points)"

    @cached_property
    def _own(self) -> Array:
        return self.base(self.points, self.points)

    @cached_property
    def _factor(self) -> tuple[Array, Array]:
        n = self.points.shape[0]
        return scipy.linalg.lu_factor(np.eye(n) + self.laplacian @ self._own)

    @cached_property
    def _correction(self) -> Array:
        """(I + M K)⁻¹ M, symmetric."""
        correction = scipy.linalg.lu_solve(self._factor, self.laplacian)
        return np.asarray((correction + correction.T) / 2)

    @cached_property
    def _corrected_own(self) -> Array:
        return np.asarray(self._correction @ self._own)

    @cached_property
    def _own_diag(self) -> Array:
        return np.asarray(self.base.diag(self.points) - np.einsum("ij,ij->j", self._own, self._corrected_own))


def neighbor_graph(X: Points, n_neighbors: int) -> Any:
    """Sparse matrix of ones where one of two points is among the nearest neighbours of the other."""
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(X, n_neighbors)
    return graph.maximum(graph.T)


def graph_laplacian(X: Points, n_neighbors: int = 6, *, normalized: bool = True, power: int = 1) -> Array:
    """Laplacian of the graph in which each point is joined to its nearest neighbours.

    Parameters
    ----------
    X : array or CSR matrix, shape (n, d)
    n_neighbors : int >= 1, default 6
        Euclidean, and no more than there are; two points are joined if one is among the other's.
    normalized : bool, default True
        I - D^{-1/2} W D^{-1/2} in place of D - W.
    power : int >= 1, default 1

    Returns
    -------
    array, shape (n, n)
    """
    from scipy.sparse.csgraph import laplacian

    graph = neighbor_graph(X, min(integer("n_neighbors", n_neighbors, least=1), X.shape[0] - 1))
    L = np.asarray(laplacian(graph.toarray(), normed=normalized), dtype=float)
    L = (L + L.T) / 2
    return np.asarray(np.linalg.matrix_power(L, integer("power", power, least=1)))


def laplacian_kernel(
    kernel: Kernel, X: Points, C_manifold: float, n_neighbors: int = 6, *, normalized: bool = True, power: int = 1
) -> DeformedKernel:
    """The kernel for which ½ ‖w‖² is ½ ‖w‖² + ½ C_manifold fᵀ L f, f the outputs at the points X.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix, shape (n, d)
    C_manifold : float >= 0
        In Belkin, Niyogi and Sindhwani (2006) γ_I / (γ_A n²).
    n_neighbors, normalized, power
        As for :func:`graph_laplacian`.

    Examples
    --------
    >>> import numpy as np, convex_tsvm as ct
    >>> X = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], C=10)
    >>> kernel = ct.laplacian_kernel(ct.RBF(1.0), X, C_manifold=1.0, n_neighbors=2)
    >>> ct.cccp(ct.cccp_tsvm(), problem.replace(kernel=kernel)).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    L = graph_laplacian(X, n_neighbors, normalized=normalized, power=power)
    return DeformedKernel(kernel, X, finite("C_manifold", C_manifold, least=0) * L)
