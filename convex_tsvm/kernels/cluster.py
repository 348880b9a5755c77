"""Kernels that are made of points without labels: points of one cluster are alike in them (collobert2006 §6.1).

Each is a matrix for all points, labelled and unlabelled, and goes wherever ``kernel="precomputed"`` does: first comes
the representation, then any TSVM on it (Chapelle and Zien 2005).  New points have no place in it.
"""

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path

from ..ties import rounded
from ..validation import canonical, finite, integer, is_sparse, one_of
from .types import Array


def cluster_kernel(
    K: ArrayLike, *, transfer: str = "step", n_components: int = 10, power: int = 3, normalized: bool = True
) -> Array:
    """A kernel with other eigenvalues: those of clusters are raised (Chapelle, Weston and Schölkopf 2002).

    With L = D^-½ K D^-½ = U Λ Uᵀ, the kernel is U φ(Λ) Uᵀ, shape (n, n), scaled to a unit diagonal.

    Parameters
    ----------
    K : array, shape (n, n)
        Similarities >= 0, such as an RBF kernel matrix.
    transfer : {"step", "linear_step", "polynomial", "linear"}, default "step"
        φ: 1 for the ``n_components`` largest eigenvalues and 0 for the others; λ in place of 1; λ^power; or λ itself.
    n_components : int >= 1, default 10
    power : int >= 1, default 3
    normalized : bool, default True
        Whether to scale the result to a unit diagonal.

    Examples
    --------
    >>> K = ct.kernels.cluster_kernel(ct.RBF(0.5)(X, X), n_components=2)
    >>> bool(K[0, 2] > 0.99), bool(K[0, 5] < 0.01)
    (True, True)
    """
    K = _square(K)
    if (K < 0).any():
        raise ValueError(f"K has an entry {K.min():g}; similarities must be >= 0")
    one_of("transfer", transfer, ("step", "linear_step", "polynomial", "linear"))
    n_components = integer("n_components", n_components, least=1, most=len(K))
    degree = np.maximum(K.sum(axis=1), 1e-300)
    values, vectors = scipy.linalg.eigh(K / np.sqrt(np.outer(degree, degree)))
    values = np.maximum(values, 0.0)
    largest = np.arange(len(K)) >= len(K) - n_components
    changed = {
        "step": np.where(largest, 1.0, 0.0),
        "linear_step": np.where(largest, values, 0.0),
        "polynomial": values ** integer("power", power, least=1),
        "linear": values,
    }[transfer]
    made = (vectors * changed) @ vectors.T
    if not normalized:
        return made
    root = np.sqrt(np.maximum(np.diag(made), 1e-300))  # a point that is 0 stays so
    return np.asarray(made / np.outer(root, root))


def bagged_cluster_kernel(
    X: Any, K: ArrayLike | None = None, *, n_clusters: int = 10, n_runs: int = 50, random_state: int = 0
) -> Array:
    """The share of runs of k-means that put two points into one cluster, shape (n, n) (Weston et al. 2003).

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
    K : array, shape (n, n), optional
        A kernel that the result is multiplied with, entry by entry.
    n_clusters, n_runs : int >= 1, default 10, 50
    random_state : int, default 0

    Examples
    --------
    >>> ct.kernels.bagged_cluster_kernel(X, n_clusters=2, n_runs=5)[0]
    array([1., 1., 1., 0., 0., 0.])
    """
    from sklearn.cluster import MiniBatchKMeans

    X = canonical(X) if is_sparse(X) else np.asarray(X, dtype=float)
    n = X.shape[0]
    n_clusters, n_runs = integer("n_clusters", n_clusters, least=1, most=n), integer("n_runs", n_runs, least=1)
    together = np.zeros((n, n))
    for seed in np.random.default_rng(random_state).integers(0, 2**31, n_runs).tolist():
        one = MiniBatchKMeans(n_clusters, n_init=1, batch_size=max(1024, n_clusters), random_state=seed).fit(X).labels_
        together += one[:, None] == one
    together /= n_runs
    return together if K is None else together * _square(K, n)


def density_kernel(
    X: Any,
    *,
    rho: float = 4.0,
    n_neighbors: int | None = None,
    sigma: float | None = None,
    kept: float = 0.9,
    scale: float | None = None,
) -> Array:
    """A kernel of distances along paths through dense regions, as in low density separation (Chapelle and Zien 2005).

    A step from x to z costs exp(ρ ‖x - z‖) - 1, so that many short steps cost less than a long one; with the cost s of
    the cheapest path the distance is d = log(1 + s) / ρ.  Of the points that have these distances (multi-dimensional
    scaling) the main directions are kept.  The matrix is positive semidefinite.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
    rho : float > 0, default 4.0
        ρ, for points whose distances are divided by ``scale``.
    n_neighbors : int, optional
        Steps are to so many nearest neighbours only (and as many as join all points); to all points by default.
    sigma : float > 0, optional
        Width of an RBF kernel of the distances; without it the inner products of the points themselves.
    kept : float in (0, 1], default 0.9
        Share of the sum of the eigenvalues that is kept.
    scale : float > 0, optional
        What distances are divided by; the median distance to the nearest other point by default.

    Examples
    --------
    >>> np.sign(ct.kernels.density_kernel(X)[0].round(6))
    array([ 1.,  1.,  1., -1., -1., -1.])
    """
    from sklearn.metrics import pairwise_distances

    rho, kept = finite("rho", rho, above=0), finite("kept", kept, above=0, most=1)
    distances = np.asarray(pairwise_distances(canonical(X)))
    n = len(distances)
    if scale is None:
        nearest = np.where(distances == 0, np.inf, distances).min(axis=1)
        nearest = nearest[np.isfinite(nearest)]
        scale = float(np.median(nearest)) if len(nearest) else 1.0
    # Beyond this exponent a step would overflow; it is longer than any path there is.
    steps = np.expm1(np.minimum(rho * distances / finite("scale", scale, above=0), 600.0))
    if n_neighbors is not None:
        steps = _to_neighbors(steps, integer("n_neighbors", n_neighbors, least=1, most=n - 1))
    # No step is free: SciPy takes what is nearly 0 for a step that is not there, and equal points are at distance 0.
    paths = shortest_path(np.maximum(steps, 1e-7), directed=False)
    squares = (np.log1p(paths) / rho) ** 2
    if sigma is not None:
        made = np.exp(-squares / (2 * finite("sigma", sigma, above=0) ** 2))
    else:
        centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
        made = -centred / 2
    values, vectors = scipy.linalg.eigh((made + made.T) / 2)
    values = np.maximum(values, 0.0)
    total = np.cumsum(values[::-1])
    count = int(np.searchsorted(total, kept * total[-1] * (1 - 1e-12))) + 1
    return np.asarray((vectors[:, -count:] * values[-count:]) @ vectors[:, -count:].T)


def _to_neighbors(steps: Array, n_neighbors: int) -> Array:
    """The same steps with those to other than the nearest neighbours forbidden (∞), but what joins all points."""
    others = np.log1p(steps) + np.diag(np.full(len(steps), np.inf))
    order = np.argsort(rounded(others), axis=1, kind="stable")[:, :n_neighbors]
    allowed = np.zeros(steps.shape, dtype=bool)
    np.put_along_axis(allowed, order, True, axis=1)
    tree = minimum_spanning_tree(steps).toarray() > 0
    allowed |= allowed.T | tree | tree.T
    return np.where(allowed, steps, np.inf)


def _square(K: ArrayLike, n: int | None = None) -> Array:
    matrix = np.asarray(K, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or n not in (None, len(matrix)):
        raise ValueError(f"K has shape {matrix.shape}; it must be square{'' if n is None else f', {(n, n)}'}")
    if not np.isfinite(matrix).all():
        raise ValueError("K contains NaN or infinity")
    return matrix
