"""Constrained spectral transduction (debie2004 §4): eigenvectors that respect the known labels."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

from ..formulations import Formulation
from ..kernels import Precomputed, neighbor_graph
from ..problem import Array, Problem
from ..validation import finite, integer, is_sparse, one_of
from .trained import RelaxedSolution, trained_on_labels

#: With more unknowns than this, eigenvectors are found by Lanczos iterations.
LANCZOS_FROM = 400


def spectral_transduction(
    formulation: Formulation,
    problem: Problem,
    *,
    n_components: int = 4,
    affinity: str = "kernel",
    n_neighbors: int = 10,
    constrained: bool = True,
    outliers: float = 0.0,
    random_state: int = 0,
) -> RelaxedSolution:
    """Labels from eigenvectors that respect the known labels (debie2004 §4).

    Of the dominant centred eigenvectors each counts by how far apart it has the two classes, measured by its spread.

    Parameters
    ----------
    formulation : Formulation
        For the SVM trained on the labels found.
    problem : Problem
    n_components : int
        Eigenvectors looked at.
    affinity : {"kernel", "nearest_neighbors"}
        Similarities: the kernel matrix, or the sparse graph of neighbours (either of a pair being one of the other's).
    n_neighbors : int
        Neighbours in that graph.
    constrained, outliers, random_state
        See :func:`~convex_tsvm.methods.spectral.spectral_subspace`.

    Examples
    --------
    >>> import numpy as np, convex_tsvm as ct
    >>> X = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], kernel=ct.RBF(1.0), C=10)
    >>> ct.spectral_transduction(ct.s3vm(), problem, n_components=2).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    began = time.perf_counter()
    V, _ = spectral_subspace(
        _similarity(problem, affinity, n_neighbors),
        problem.y,
        n_components,
        constrained=constrained,
        outliers=outliers,
        random_state=random_state,
    )
    apart = V[problem.y > 0].mean(axis=0) - V[problem.y < 0].mean(axis=0)
    spread = np.maximum(V.std(axis=0), 1e-300)
    return trained_on_labels(formulation, problem, (V / spread) @ (apart / spread), began, "converged")


def _similarity(problem: Problem, affinity: str, n_neighbors: int) -> Any:
    if one_of("affinity", affinity, ("kernel", "nearest_neighbors")) == "kernel":
        return problem.gram
    if isinstance(problem.kernel, Precomputed):
        raise ValueError("affinity='nearest_neighbors' needs points, but the kernel is precomputed")
    return neighbor_graph(problem.X, integer("n_neighbors", n_neighbors, least=1, most=problem.n - 1))


def spectral_subspace(
    similarity: Any,
    y: Array,
    n_components: int = 1,
    *,
    constrained: bool = True,
    outliers: float = 0.0,
    random_state: int = 0,
) -> tuple[Array, Array]:
    """The d dominant eigenvectors of D^-½ K D^-½ that are constant on the known points of a class, centred.

    Parameters
    ----------
    similarity : array, sparse matrix or LinearOperator, shape (n, n)
        K, symmetric, with non-negative entries (a linear operator is only multiplied with vectors).
    y : array, shape (n,)
        +1, -1, or 0 for unknown.
    n_components : int
        d.
    constrained : bool, default True
        False is plain spectral clustering, eq. (11), and takes no notice of the labels but for centring.
    outliers : float in [0, 1), default 0
        Share of the entries of every centred eigenvector, the largest ones, that are cut down to the next smaller one
        (footnote 4).
    random_state : int
        Of the vector that Lanczos iterations start from.

    Returns
    -------
    V : array, shape (n, d)
        Centred eigenvectors v_i + const, dominant first: the entries of known positive points are minus those of
        known negative ones (§4.2).  A direction that does not tell the classes apart is not made to.
    eigenvalues : array, shape (d,)

    Raises
    ------
    ValueError
        If an argument is not as stated, or a point has no similarity to any other.
    """
    n = similarity.shape[0]
    y = np.asarray(y, dtype=float)
    positive, negative, unknown = (np.flatnonzero(y == label) for label in (1, -1, 0))
    if similarity.shape != (n, n) or y.shape != (n,):
        raise ValueError(f"similarity has shape {similarity.shape}, y {y.shape}; they must be (n, n) and (n,)")
    if len(positive) == 0 or len(negative) == 0:
        raise ValueError("y must have a labelled point of each class, +1 and -1")
    unknowns = n if not constrained else 2 + len(unknown)
    integer("n_components", n_components, least=1, most=unknowns - 1)
    finite("outliers", outliers, least=0, below=1)
    degree = np.asarray(similarity @ np.ones(n)).ravel()
    if not (degree > 0).all():
        k = int(np.argmin(degree))
        raise ValueError(f"the similarities of point {k} add up to {degree[k]:g}; they must be positive")
    root = sp.diags_array(1 / np.sqrt(degree))
    L = tie(y) if constrained else sp.eye_array(n, format="csr")
    scaled = root @ L  # D^-½ L
    values, h = _dominant(similarity, scaled.tocsr(), n_components, random_state)
    v = np.asarray(L @ h)
    # A constant is added so that the means of the two classes become ± the same number.
    v -= (v[positive].mean(axis=0) + v[negative].mean(axis=0)) / 2
    if outliers:
        most = np.quantile(np.abs(v), 1 - outliers, axis=0, method="lower")
        v = np.clip(v, -most, most)
    return v, values


def tie(y: Array) -> sp.csr_array:
    """L with v = L h: one entry of h for each class's known points, one for every unknown point (Proposition 4.1)."""
    positive, negative, unknown = (np.flatnonzero(y == label) for label in (1, -1, 0))
    rows = np.concatenate([positive, negative, unknown])
    columns = np.concatenate([np.zeros(len(positive), int), np.ones(len(negative), int), 2 + np.arange(len(unknown))])
    values = np.concatenate(
        [
            np.full(len(positive), 1 / np.sqrt(len(positive))),
            np.full(len(negative), 1 / np.sqrt(len(negative))),
            np.ones(len(unknown)),
        ]
    )
    return sp.csr_array((values, (rows, columns)), shape=(len(y), 2 + len(unknown)))


def _dominant(similarity: Any, scaled: sp.csr_array, d: int, random_state: int) -> tuple[Array, Array]:
    """Largest eigenvalues of scaledᵀ K scaled and their eigenvectors, largest first."""
    m = scaled.shape[1]
    if m <= LANCZOS_FROM and not isinstance(similarity, scipy.sparse.linalg.LinearOperator):
        product = scaled.T @ (similarity @ scaled)
        product = product.toarray() if is_sparse(product) else np.asarray(product)
        values, vectors = scipy.linalg.eigh((product + product.T) / 2, subset_by_index=(m - d, m - 1))
        return values[::-1], vectors[:, ::-1]

    def multiply(h: Array) -> Array:
        return np.asarray(scaled.T @ (similarity @ (scaled @ h)))

    operator = scipy.sparse.linalg.LinearOperator((m, m), matvec=multiply, dtype=float)
    start = np.random.default_rng(random_state).standard_normal(m)
    values, vectors = scipy.sparse.linalg.eigsh(operator, k=d, which="LA", v0=start)
    order = np.argsort(-values)
    return values[order], vectors[:, order]
