"""Where methods begin when no point is labelled: f and -f are then equally good, and f = 0 is a stationary point."""

import numpy as np
import scipy.linalg

from ..parallel import one_blas_thread
from ..points import LinearPoints
from ..problem import Array, Problem
from ..ties import eigenvectors
from .instance import Instance, largest


def first_guess(instance: Instance) -> Array:
    """Labels to begin with as outputs, shape (n,): those of the points' first principal component.

    It is that in the feature space; as many labels are positive as the balance has.
    """
    return labels_of(instance, principal_components(instance.problem, 1)[:, 0])


def has_mirror_image(instance: Instance) -> bool:
    """Whether -f is as good as f, whatever f is: then the first point's label is -1, by a rule."""
    formulation, problem = instance.formulation, instance.problem
    t = np.linspace(0, 3, 31)
    if problem.n_labeled or formulation.unlabeled is None or formulation.additions or formulation.groups:
        return False
    if instance.n_positive is not None and 2 * instance.n_positive != problem.n_unlabeled:
        return False
    return bool(
        formulation.regularizer.is_squared_norm
        and not instance.target
        and all(one.lower == -one.upper for one in formulation.constraints)
        and np.allclose(formulation.unlabeled(t), formulation.unlabeled(-t))
    )


def labels_of(instance: Instance, scores: Array) -> Array:
    """The labels +1 of the largest scores and -1 of the others, by the balance; half of them without one.

    Where mirror images are equally good it is that in which the first point's label is -1.
    """
    n = len(scores)
    if instance.n_positive is not None:
        most = instance.n_positive
    else:
        most = round(n * (1 + np.clip(instance.target or 0.0, -1, 1)) / 2)
    labels = largest(scores, min(max(most, 1), n - 1))
    return -labels if labels[0] > 0 and has_mirror_image(instance) else labels


def principal_components(problem: Problem, k: int, most: int = 400) -> Array:
    """The first k principal components of the points in the feature space, shape (n, k), by falling variance.

    Of more than ``most`` points they are those of a sample, in which all have their places.
    """
    n = problem.n
    k = min(k, n - 1)
    sample = np.arange(n)
    if n > most:
        sample = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
    whole = len(sample) == n and not isinstance(problem.X, LinearPoints)
    with one_blas_thread():
        matrix = (problem if whole else problem.part(sample)).gram
        matrix = matrix - matrix.mean(axis=0)
        matrix -= matrix.mean(axis=1)[:, None]
        values, vectors = scipy.linalg.eigh((matrix + matrix.T) / 2)
    found = eigenvectors(values, vectors, min(k, len(sample) - 1))[1]
    if len(sample) == n:
        return found
    places = np.zeros((n, found.shape[1]))
    places[sample] = found
    outputs = np.column_stack([problem.apply_kernel(one) for one in places.T])
    outputs -= outputs.mean(axis=0)
    return np.asarray(outputs / np.linalg.norm(outputs, axis=0))
