"""What boxes of weights are for, and their features: those of the points, or the monomials of a polynomial kernel."""

import math

import numpy as np

from ...instance import Instance
from ...kernels import Polynomial
from ...losses import PLQ
from ...points import LinearPoints
from ...problem import Array
from ...validation import is_sparse


def n_features(instance: Instance) -> int:
    """Number of features that boxes of weights have."""
    problem, d = instance.problem, instance.problem.X.shape[1]
    if not isinstance(problem.kernel, Polynomial):
        return d
    degree, with_constant = problem.kernel.degree, problem.kernel.coef0 > 0
    # A constant feature makes no difference where the bias is free or the origin is a mean.
    is_idle = with_constant and (instance.bias.free or instance.bias.centred)
    return math.comb(d + degree - 1 + with_constant, degree) - is_idle


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


def _why_no_balance(instance: Instance) -> str | None:
    """Why boxes of weights know nothing of a balance, or None if they do."""
    formulation, costs = instance.formulation, instance.problem.cost[instance.problem.unlabeled]
    taken = None
    if instance.target_sum is not None:
        taken = "take a mean output, a number of labels, or None"
    elif instance.n_positive is not None and not formulation.is_about_labels:
        taken = "take a number of labels where labels are to be found"
    elif instance.n_positive is not None and (np.ptp(costs) > 0 or not costs[0]):
        taken = "take a number of labels of points that cost the same"
    elif instance.n_positive is None and instance.target is not None and not formulation.fit_intercept:
        taken = "meet a mean output by a bias, and fit_intercept=False"
    return taken and f"{instance.balance}: boxes of weights {taken}"


def why_no_planes(instance: Instance, most: int = 1000) -> str | None:
    """Why a search has no boxes of weights, or None if it has; they are for so many features at ``most``."""
    formulation, problem = instance.formulation, instance.problem
    if not (problem.is_linear or isinstance(problem.kernel, Polynomial)):
        return f"kernel={problem.kernel!r}: boxes of weights are for the linear kernel and polynomials"
    if n_features(instance) > most:
        return f"{n_features(instance)} features are more than the {most} that boxes of weights are for"
    if formulation.constraints:
        return "boxes of weights know a balance, and no other constraints on outputs"
    if formulation.class_spread is not None:
        return f"additions=[{formulation.class_spread!r}]: boxes of weights know no labels"
    others = formulation.additions or formulation.regularizer.separable(n_features(instance)) is None
    if others and not (isinstance(problem.X, np.ndarray) and problem.is_linear):
        return "boxes of weights with additions, or a regularizer that is no sum over weights, are for arrays of points"
    if (why := _why_no_balance(instance)) is not None:
        return why
    for kind in formulation.by_kind:
        loss = kind.of_output
        if loss is not None and not (isinstance(loss, PLQ) and loss.is_finite and np.isfinite(loss.minimizers()[0])):
            return (
                f"{kind.field}={kind.loss!r}: boxes of weights are for piecewise linear-quadratic losses that are "
                "finite and bounded below"
            )
    return None


def is_faster(instance: Instance) -> bool:
    """Whether a search of an instance is expected to be faster over boxes of weights than over labels or outputs.

    ``benchmarks/exact_weights.py`` has what that was decided by.
    """
    problem = instance.problem
    if why_no_planes(instance) is not None:
        return False
    n = n_features(instance) + instance.bias.free
    return n <= 5 and problem.n_unlabeled >= (50 if n < 5 else 200)
