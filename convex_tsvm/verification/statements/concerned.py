"""Whether a formulation and a problem are what a paper is about."""

from __future__ import annotations

import numpy as np

from ...formulations import Formulation
from ...losses import PLQ
from ...problem import Problem


def pays_squared_hinge(formulation: Formulation) -> bool:
    """Whether all points pay the squared hinge loss, of their better label where it is unknown (chapelle2008 eq. 5).

    Parameters
    ----------
    formulation : Formulation

    Returns
    -------
    bool
    """
    t, unlabeled = np.linspace(-3, 3, 25), formulation.unlabeled
    if formulation.regularizer != "l2" or formulation.constraints or not isinstance(unlabeled, PLQ):
        return False
    known = np.allclose(formulation.labeled(t), np.maximum(0, 1 - t) ** 2)
    return bool(known and np.allclose(unlabeled(t), np.maximum(0, 1 - np.abs(t)) ** 2))


def has_two_costs(problem: Problem) -> bool:
    """Whether all labelled points have one cost, and all unlabelled ones another.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    bool
    """
    return all(len(np.unique(problem.cost[where])) == 1 for where in (problem.labeled, problem.unlabeled))


def labelled_first(problem: Problem) -> Problem:
    """The same problem with its labelled points first, as papers have them; its kernel is a matrix.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    Problem
    """
    order = np.concatenate([problem.labeled, problem.unlabeled])
    cost, gram = problem.cost[order], problem.gram[np.ix_(order, order)]
    return Problem(gram, problem.y[order], kernel="precomputed", C=cost, C_unlabeled=cost)
