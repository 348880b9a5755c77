"""Kernels deformed by a graph of the points: manifold regularization as another kernel.

Adding ½ fᵀ M f over some points to ½ ‖w‖² is the same as another kernel (Sindhwani, Niyogi and Belkin 2005;
chapelle2008 §5.6.2),

    k̃(x, z) = k(x, z) - k_xᵀ (I + M K)⁻¹ M k_z,   k_x = (k(x_1, x), …, k(x_n, x)),

so that an SVM with k̃ is a Laplacian SVM, and a TSVM with k̃ a Laplacian TSVM.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import laplacian

from ..memory import cache_megabytes
from ..ties import rounded
from ..validation import canonical, finite, integer, is_sparse
from .deformation import DeformedRows, Progress, checked_laplacian
from .functions import Kernel, Precomputed
from .products import rows_of
from .rows import Indices
from .types import Array, Points


@dataclass(frozen=True, eq=False)
class DeformedKernel:
    """A kernel deformed by a quadratic form of the outputs at some points.

    k̃ between any two points depends on all of them.  The matrix of k̃ at the n points is computed once and held, in n³
    operations and three n × n matrices (24 n² bytes), if these fit into ``cache_size`` or a problem needs more than a
    tenth of the rows.  Otherwise the rows that are needed are computed together, in some twenty passes over the matrix
    of the base kernel: those of a hundred labelled points among 20 000 take a minute, and 16 MB.  A ValueError says if
    M does not fit the points or is not symmetric, or the base kernel is precomputed.

    Parameters
    ----------
    base : Kernel
    points : array or CSR matrix, shape (n, d)
    laplacian : array or sparse matrix, shape (n, n)
        M, symmetric and positive semidefinite.
    cache_size : float > 0 or "auto", default "auto"
        MB for what is held besides the rows that are needed; "auto" is 200: with more, more points take n³ operations.

    Examples
    --------
    >>> kernel = ct.kernels.laplacian_kernel(ct.RBF(1.0), X, C_manifold=0.1, n_neighbors=2)
    >>> isinstance(kernel, ct.kernels.DeformedKernel), kernel(X[:2], X).shape
    (True, (2, 6))
    """

    base: Kernel
    points: Points
    laplacian: Any
    cache_size: float | str = "auto"

    def __post_init__(self) -> None:
        if isinstance(self.base, Precomputed):
            raise ValueError("kernel='precomputed' cannot be deformed: deform the matrix itself (DeformedRows)")
        cache_megabytes(self.cache_size)  # raises ValueError if it is neither "auto" nor a number > 0
        object.__setattr__(self, "laplacian", checked_laplacian(self.laplacian, self.points.shape[0]))

    @property
    def accepts_sparse(self) -> bool:
        """As the base kernel."""
        return self.base.accepts_sparse

    def __call__(self, X: Points, Z: Points) -> Array:
        if self.is_about(X) and self.is_about(Z):
            return np.array(self.rows.full())
        if X.shape[0] < Z.shape[0]:
            return self(Z, X).T
        right = self.base(self.points, Z)
        return np.asarray(self.base(X, Z) - self.base(X, self.points) @ (self.laplacian @ self.rows.solve(right)))

    def diag(self, X: Points) -> Array:
        """k̃(x, x) at the points of X, shape (m, d); shape (m,)."""
        if self.is_about(X):
            return self.rows.diag()
        found = self.base.diag(X)
        step = self.rows.together
        for start in range(0, X.shape[0], step):
            part = slice(start, start + step)
            right = self.base(self.points, X[part])
            found[part] -= np.einsum("ij,ij->j", right, self.laplacian @ self.rows.solve(right))
        return np.asarray(found)

    def bound(self, X: Points) -> tuple[float, Array]:
        """η and numbers >= k̃(x, x), shape (m,), known without solving anything: values are within η times these."""
        if self.rows.in_memory:
            return self.rows.error, self.diag(X)
        return self.rows.error, np.full(X.shape[0], self.base.diag(X).max(initial=0.0))

    def expand(self, coefficients: Array) -> Array:
        """The c of Σ c_i k(x_i, ·), the same as Σ a_i k̃(x_i, ·): (I + M K)⁻¹ a, for a of shape (n,) or (n, k)."""
        return self.rows.expand(coefficients)

    def prepare(self, indices: Indices, progress: Progress | None = None) -> None:
        """Compute k̃ between some of the points and all of them, which is what takes time, before it is asked for.

        They are the points that cost something, as the labelled ones of a Laplacian SVM.  ``progress`` is called with
        the share that is done.
        """
        self.rows_for(indices).prepare(progress)

    def rows_for(self, indices: Indices) -> DeformedRows:
        """Rows at the points of the graph; those of ``indices`` are computed together as soon as one is asked for."""
        self.rows.expected = indices
        return self.rows

    def is_about(self, X: Points) -> bool:
        """Whether X are the points of the graph, as they are or copied."""
        if X is self.points:
            return True
        if X.shape != self.points.shape or is_sparse(X) != is_sparse(self.points):
            return False
        return (self.points != X).nnz == 0 if is_sparse(X) else bool(np.array_equal(X, self.points))

    def to_dict(self) -> dict[str, Any]:
        """Not saved: fitted models are expanded in the base kernel."""
        raise ValueError("a deformed kernel holds its points, and is not saved; expand() the model in its base kernel")

    def __repr__(self) -> str:
        return f"DeformedKernel({self.base!r}, {self.points.shape[0]} points)"

    @cached_property
    def rows(self) -> DeformedRows:
        """Rows of the matrix of k̃ at the points."""
        budget = int(cache_megabytes(self.cache_size) * 2**20)
        return DeformedRows(rows_of(self.base, self.points), self.laplacian, budget)


def neighbor_graph(X: Points, n_neighbors: int) -> Any:
    """Sparse matrix of ones where one of two points is among the nearest neighbours of the other."""
    from sklearn.neighbors import NearestNeighbors

    search, n, asked = NearestNeighbors().fit(canonical(X)), X.shape[0], n_neighbors
    while True:
        asked = min(2 * asked, n - 1)
        distances, places = search.kneighbors(n_neighbors=asked)
        distances = rounded(distances / np.maximum(distances[:, -1:], 1e-300))
        # Of equally distant points those that come first are taken; all of them must have been found for that.
        if asked == n - 1 or (distances[:, -1] > distances[:, n_neighbors - 1]).all():
            break
    nearest = np.take_along_axis(places, np.lexsort((places, distances))[:, :n_neighbors], axis=1)
    graph = sp.csr_matrix((np.ones(nearest.size), nearest.ravel(), np.arange(n + 1) * n_neighbors), shape=(n, n))
    return graph.maximum(graph.T)


def graph_laplacian(X: Points, n_neighbors: int = 6, *, normalized: bool = True, power: int = 1) -> sp.csr_array:
    """Laplacian of the graph in which each point is joined to its nearest neighbours, as CSR, shape (n, n).

    Parameters
    ----------
    X : array or CSR matrix, shape (n, d)
    n_neighbors : int >= 1, default 6
        Euclidean, and no more than there are; two points are joined if one is among the other's.
    normalized : bool, default True
        I - D^{-1/2} W D^{-1/2} in place of D - W.
    power : int >= 1, default 1
        Every power joins the neighbours of neighbours: with ten neighbours the fourth has about as many entries as a
        dense matrix of 10 000 points.
    """
    graph = neighbor_graph(X, min(integer("n_neighbors", n_neighbors, least=1), X.shape[0] - 1))
    made: Any = laplacian(graph.astype(float), normed=normalized)
    L: Any = sp.csr_array(made)
    L = found = (L + L.T) / 2
    for _ in range(integer("power", power, least=1) - 1):
        found = found @ L
    return sp.csr_array((found + found.T) / 2)


def laplacian_kernel(
    kernel: Kernel,
    X: Points,
    C_manifold: float,
    n_neighbors: int = 6,
    *,
    normalized: bool = True,
    power: int = 1,
    cache_size: float | str = "auto",
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
    cache_size : float > 0 or "auto", default "auto"
        In MB, as for :class:`DeformedKernel`.

    Examples
    --------
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], C=10)
    >>> kernel = ct.kernels.laplacian_kernel(ct.RBF(1.0), X, C_manifold=1.0, n_neighbors=2)
    >>> ct.cccp(ct.cccp_tsvm(), problem.replace(kernel=kernel)).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    L = graph_laplacian(X, n_neighbors, normalized=normalized, power=power)
    return DeformedKernel(kernel, X, finite("C_manifold", C_manifold, least=0) * L, cache_size)
