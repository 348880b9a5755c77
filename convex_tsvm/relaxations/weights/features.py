"""The features that boxes of weights are about: those of the points, or the monomials of a polynomial kernel."""

import math

import numpy as np

from ...instance import Instance
from ...kernels import Polynomial
from ...points import LinearPoints
from ...problem import Array
from ...validation import is_sparse


def n_features(instance: Instance) -> int:
    """Number of features that boxes of weights have."""
    problem, d = instance.problem, instance.problem.X.shape[1]
    if not isinstance(problem.kernel, Polynomial):
        return d
    degree, with_constant = problem.kernel.degree, problem.kernel.coef0 > 0
    return math.comb(d + degree - 1 + with_constant, degree) - (with_constant and _no_constant(instance))


def _no_constant(instance: Instance) -> bool:
    """Whether a constant feature makes no difference, as the bias is free or the origin is a mean."""
    return instance.bias.free or instance.bias.centred


def features(instance: Instance) -> Array:
    """The points as rows of features."""
    problem = instance.problem
    if isinstance(problem.kernel, Polynomial):
        found = problem.kernel.features(problem.X)
        return np.asarray(found[:, : n_features(instance)])
    if isinstance(problem.X, LinearPoints):
        return np.column_stack([problem.linear_outputs(axis) for axis in np.eye(problem.X.shape[1])])
    return np.asarray(problem.X.toarray() if is_sparse(problem.X) else problem.X)


def principal(Z: Array) -> Array:
    """The principal axes of rows as columns, the first the one in which they vary most; none is turned by its sign."""
    axes = np.linalg.eigh(Z.T @ Z)[1][:, ::-1]
    largest = np.abs(axes).argmax(axis=0)
    return np.asarray(axes * np.sign(axes[largest, np.arange(len(axes))]))
