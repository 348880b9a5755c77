"""Enumeration of all labellings: the reference for problems with a handful of unlabelled points."""

import itertools

import numpy as np

from ..formulations import Formulation
from ..problem import Array, Problem
from ..relaxations import LabelModel
from ..relaxations.box import LabelBox


def brute_force(formulation: Formulation, problem: Problem) -> tuple[float, Array]:
    """The least objective over all labellings, and the labelling that has it.

    Parameters
    ----------
    formulation, problem
        As for :class:`~convex_tsvm.exact.BranchAndBound`, with up to 20 unlabelled points.

    Raises
    ------
    ValueError
        If there are more.

    Examples
    --------
    >>> objective, labels = ct.brute_force(ct.s3vm(), problem)
    >>> labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    model = LabelModel(formulation, problem)
    svm = model.svm
    unknown = model.search.unknown
    if len(unknown) > 20:
        raise ValueError(f"the problem has {len(unknown)} unlabelled points; brute force goes through up to 20")
    best, best_labels = np.inf, model.search.y.copy()
    for signs in itertools.product((1.0, -1.0), repeat=len(unknown)):
        labels = model.search.y.copy()
        labels[unknown] = signs
        if model.count(LabelBox.of_labels(labels)).is_empty:
            continue
        value = svm.objective(labels, svm.solve(labels, tol=1e-9))
        if value < best:
            best, best_labels = value, labels
    return best, best_labels
