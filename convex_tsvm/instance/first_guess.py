"""Where methods begin when no point is labelled: f and -f are then equally good, and f = 0 is a stationary point."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from ..problem import Array, Problem
from .instance import Instance

#: Principal components of up to so many points are found by a dense decomposition, others by Lanczos iterations.
DENSE_UP_TO = 400


def first_guess(instance: Instance) -> Array:
    """Labels to begin with as outputs, shape (n,): those of the points' first principal component.

    It is that in the feature space; as many labels are positive as the balance has.
    """
    return labels_of(instance, principal_components(instance.problem, 1)[:, 0])


def labels_of(instance: Instance, scores: Array) -> Array:
    """The labels +1 of the largest scores and -1 of the others, by the balance; half of them without one."""
    n = len(scores)
    if instance.n_positive is not None:
        most = instance.n_positive
    else:
        most = round(n * (1 + np.clip(instance.target or 0.0, -1, 1)) / 2)
    labels = np.full(n, -1.0)
    labels[np.argsort(-scores, kind="stable")[: min(max(most, 1), n - 1)]] = 1.0
    return labels


def principal_components(problem: Problem, k: int, random_state: int = 0) -> Array:
    """The first k principal components of the points in the feature space, shape (n, k), by falling variance.

    Their signs are such that the largest entry of each is positive.
    """
    n = problem.n
    k = min(k, n - 1)

    def centred(v: Array) -> Array:
        product = problem.apply_kernel(v - v.mean(axis=0))
        return np.asarray(product - product.mean(axis=0))

    if n <= DENSE_UP_TO and not problem.is_linear:
        matrix = centred(np.eye(n))
        vectors = scipy.linalg.eigh((matrix + matrix.T) / 2, subset_by_index=(n - k, n - 1))[1][:, ::-1]
    else:
        operator = scipy.sparse.linalg.LinearOperator((n, n), matvec=centred, dtype=float)
        start = np.random.default_rng(random_state).standard_normal(n)
        values, vectors = scipy.sparse.linalg.eigsh(operator, k=k, which="LA", v0=start, tol=1e-4)
        vectors = vectors[:, np.argsort(-values)]
    return np.asarray(vectors * np.sign(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(k)]))
