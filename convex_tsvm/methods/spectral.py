"""Constrained spectral transduction (debie2004 §4): eigenvectors that respect the known labels, and links of points."""

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator, eigsh

from ..formulations import Formulation, OutputConstraint
from ..instance import SideInformation
from ..kernels import Precomputed, neighbor_graph
from ..kernels.functions import dense
from ..modeling.label_matrix import SpectralSDP
from ..problem import Array, Problem
from ..ties import EQUAL, clearest, eigenvectors
from ..validation import finite, integer, one_of
from .sdp import RelaxedSolution, trained_on_labels


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
        For the SVM trained on the labels found.  Its exact :func:`~convex_tsvm.must_link` and
        :func:`~convex_tsvm.cannot_link` are side information for the eigenvectors, too.
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
    >>> ct.spectral_transduction(ct.s3vm(), problem, n_components=2).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    began = time.perf_counter()
    rules = {"constrained": constrained, "outliers": outliers, "random_state": random_state}
    scores = spectral_scores(formulation, problem, _similarity(problem, affinity, n_neighbors), n_components, **rules)
    return trained_on_labels(formulation, problem, scores, began, "converged")


def spectral_sdp(
    formulation: Formulation,
    problem: Problem,
    *,
    n_components: int = 1,
    affinity: str = "kernel",
    n_neighbors: int = 10,
    constrained: bool = True,
) -> SpectralSDP:
    """The eigenvalue problem of :func:`spectral_transduction` as an SDP in CVXPY, to read, change and solve.

    Its ``problem`` is the ``cvxpy.Problem``; once that is solved its value is the sum of the dominant eigenvalues.

    Parameters
    ----------
    formulation, problem, n_components, affinity, n_neighbors, constrained
        As for :func:`spectral_transduction`.

    Examples
    --------
    >>> from convex_tsvm.methods.spectral import spectral_sdp, spectral_subspace
    >>> sdp = spectral_sdp(ct.s3vm(), problem, n_components=2)
    >>> value = sdp.problem.solve(solver="CLARABEL")
    >>> _, eigenvalues = spectral_subspace(problem.gram, problem.y, 2)
    >>> bool(abs(value - eigenvalues.sum()) < 1e-6)
    True
    """
    similarity = _similarity(problem, affinity, n_neighbors)
    L, scaled = _tied(similarity, SideInformation.of(problem.y, formulation.constraints) if constrained else None)
    integer("n_components", n_components, least=1, most=L.shape[1] - 1)
    return SpectralSDP(dense(scaled.T @ (similarity @ scaled)), L, n_components)


def spectral_scores(
    formulation: Formulation, problem: Problem, similarity: Any, n_components: int = 4, **rules: Any
) -> Array:
    """Scores of points, shape (n,), by the eigenvectors of their similarities; ``rules`` of the subspace."""
    V, _ = spectral_subspace(similarity, problem.y, n_components, links=formulation.constraints, **rules)
    V = V / np.maximum(V.std(axis=0), 1e-300)
    return np.asarray(V @ _apart(V, formulation, problem))


def _apart(V: Array, formulation: Formulation, problem: Problem) -> Array:
    """The direction in which vectors, shape (n, d), have the classes apart, shape (d,): of the labels, or of links.

    Without either it is the second vector: the dominant one has one sign, and the next one divides points best in two.
    """
    positive, negative = problem.y > 0, problem.y < 0
    if positive.any() and negative.any():
        return np.asarray(V[positive].mean(axis=0) - V[negative].mean(axis=0))
    opposites = _opposites(SideInformation.of(problem.y, formulation.constraints))
    if opposites:
        differences = np.array([V[one].mean(axis=0) - V[other].mean(axis=0) for one, other in opposites])
        direction = np.linalg.svd(differences)[2][0]
    else:
        direction = np.eye(V.shape[1])[min(1, V.shape[1] - 1)]
    scores = V @ direction
    sign = np.sign(float(problem.y @ scores))
    if not problem.n_labeled:  # the first point's label is -1, or if it is between both that of the first clear one
        sign = -np.sign(scores[0 if abs(scores[0]) > EQUAL * np.abs(scores).max() else clearest(np.abs(scores))])
    return np.asarray((sign or 1.0) * direction)


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
    links: Iterable[OutputConstraint] = (),
) -> tuple[Array, Array]:
    """The d dominant eigenvectors of D^-½ K D^-½ that are constant on the known points of a class, centred.

    A ValueError says if a point has no similarity to any other.

    Parameters
    ----------
    similarity : array, sparse matrix or LinearOperator, shape (n, n)
        K, symmetric, with non-negative entries (a linear operator is only multiplied with vectors).
    y : array, shape (n,)
        +1, -1, or 0 for unknown.
    n_components : int
        d, the number of vectors.
    constrained : bool, default True
        False is plain spectral clustering, eq. (11), and takes no notice of the labels but for centring.
    outliers : float in [0, 1), default 0
        Share of the entries of every centred eigenvector, the largest ones, that are cut down to the next smaller one
        (footnote 4).
    random_state : int
        Of the vector that Lanczos iterations start from.
    links : iterable of OutputConstraint
        Of which exact :func:`~convex_tsvm.must_link` and :func:`~convex_tsvm.cannot_link` are side information
        (footnote 3): points of one class have one entry of an eigenvector, as the known points of a class have.

    Returns
    -------
    V : array, shape (n, d)
        Centred eigenvectors v_i + const, dominant first: the entries of known positive points are minus those of
        known negative ones (§4.2), and so are those of linked points of different classes.  One constant can do that
        for one pair of such sides; where links make several, it is the best one, and what is left is averaged out.
        Where nothing tells the classes apart, as in clustering, means are 0.
        A direction that does not tell the classes apart is not made to.
    eigenvalues : array, shape (d,)

    Examples
    --------
    >>> from convex_tsvm.methods.spectral import spectral_subspace
    >>> V, _ = spectral_subspace(ct.RBF(1.0)(X, X), np.zeros(6), 2, links=[ct.cannot_link(0, 5), ct.must_link(0, 1)])
    >>> np.sign(V[:, 1] * V[0, 1])
    array([ 1.,  1.,  1., -1., -1., -1.])
    """
    n = similarity.shape[0]
    y = np.asarray(y, dtype=float)
    if similarity.shape != (n, n) or y.shape != (n,):
        raise ValueError(f"similarity has shape {similarity.shape}, y {y.shape}; they must be (n, n) and (n,)")
    side = SideInformation.of(y, links)
    opposites = _opposites(side)
    L, scaled = _tied(similarity, side if constrained else None)
    integer("n_components", n_components, least=1, most=L.shape[1] - 1)
    finite("outliers", outliers, least=0, below=1)
    values, h = _dominant(similarity, scaled, n_components, random_state)
    v = np.asarray(L @ h)
    # A constant is added so that the means of the two classes become ± the same number.
    means = [(v[one].mean(axis=0), v[other].mean(axis=0)) for one, other in opposites]
    v -= np.mean([(one + other) / 2 for one, other in means], axis=0) if means else v.mean(axis=0)
    if constrained:
        for (one, other), (mean, opposite) in zip(opposites, means, strict=True):
            v[one], v[other] = (mean - opposite) / 2, (opposite - mean) / 2
    if outliers:
        most = np.quantile(np.abs(v), 1 - outliers, axis=0, method="lower")
        v = np.clip(v, -most, most)
    return v, values


def _tied(similarity: Any, side: SideInformation | None) -> tuple[sp.csr_array, sp.csr_array]:
    """L, and D^-½ L with the degrees D of the points; a ValueError if one has none."""
    n = similarity.shape[0]
    L = sp.eye_array(n, format="csr") if side is None else tie(side)
    degree = np.asarray(similarity @ np.ones(n)).ravel()
    if not (degree > 0).all():
        k = int(np.argmin(degree))
        raise ValueError(f"the similarities of point {k} add up to {degree[k]:g}; they must be positive")
    return L, (sp.diags_array(1 / np.sqrt(degree)) @ L).tocsr()


def tie(side: SideInformation) -> sp.csr_array:
    """L with v = L h (Proposition 4.1): one entry of h for all points that are known to be of the same class.

    These are the known points of a class, and unknown ones that are linked; any other point has an entry of its own.
    """
    _, column, count = np.unique(_place(side), return_inverse=True, return_counts=True)
    n = len(side.y)
    return sp.csr_array((1 / np.sqrt(count[column]), (np.arange(n), column)), shape=(n, len(count)))


def _place(side: SideInformation) -> Array:
    """A number for each point, the same for points of the same class: 0 and 1 of known ones, then 2 for each group."""
    return np.where(side.group < 0, side.y < 0, 2 + 2 * side.group + (side.sign < 0))


def _opposites(side: SideInformation) -> list[tuple[np.ndarray, np.ndarray]]:
    """Two sets of points that are known to be of different classes: the known ones, and those of groups with links."""
    place = _place(side)
    both = np.intersect1d(place[place % 2 == 0], place[place % 2 == 1] - 1)
    return [(np.flatnonzero(place == one), np.flatnonzero(place == one + 1)) for one in both]


def _dominant(
    similarity: Any, scaled: sp.csr_array, d: int, random_state: int, most_dense: int = 400
) -> tuple[Array, Array]:
    """Largest eigenvalues of scaledᵀ K scaled and their eigenvectors, largest first; of many by Lanczos iterations."""
    m = scaled.shape[1]
    if m <= most_dense and not isinstance(similarity, LinearOperator):
        product = dense(scaled.T @ (similarity @ scaled))
        values, vectors = scipy.linalg.eigh((product + product.T) / 2)
        return eigenvectors(values, vectors, d)
    outer = aslinearoperator(scaled)
    operator = outer.T @ aslinearoperator(similarity) @ outer
    start = np.random.default_rng(random_state).standard_normal(m)
    values, vectors = eigsh(operator, k=d, which="LA", v0=start)
    return eigenvectors(values, vectors, d)
