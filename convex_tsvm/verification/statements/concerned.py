"""Whether a formulation and a problem are what a paper is about, and the few points that its statements are run on."""

from typing import Any

import numpy as np

from ...formulations import Formulation
from ...losses import PLQ
from ...problem import Problem

#: The solver that CVXPY calls, and its tolerances.
EXACT: dict[str, Any] = {"solver": "CLARABEL", "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}

#: Points that derivations are followed on.
SIX = np.array([[-1.3, 0.2], [1.0, 0.4], [0.6, -0.3], [-0.9, -0.5], [-0.2, 0.3], [1.4, -0.1]])


def pays_squared_hinge(formulation: Formulation) -> bool:
    """Whether the objective is chapelle2008 eq. 5: squared hinge losses, an unlabelled point's for its better label.

    A formulation with another regularizer than ½ ‖w‖², or with constraints, is not.
    """
    t, unlabeled = np.linspace(-3, 3, 25), formulation.unlabeled
    if not formulation.is_plain or not isinstance(unlabeled, PLQ):
        return False
    known = np.allclose(formulation.labeled(t), np.maximum(0, 1 - t) ** 2)
    return bool(known and np.allclose(unlabeled(t), np.maximum(0, 1 - np.abs(t)) ** 2))


def has_two_costs(problem: Problem) -> bool:
    """Whether all labelled points have the same cost, and so have all unlabelled ones (both costs may be equal)."""
    return all(len(np.unique(problem.cost[where])) == 1 for where in (problem.labeled, problem.unlabeled))


def labelled_first(problem: Problem) -> Problem:
    """Reorder the points, the labelled ones first as papers have them; the new problem's kernel is precomputed."""
    order = np.concatenate([problem.labeled, problem.unlabeled])
    cost, gram = problem.cost[order], problem.gram[np.ix_(order, order)]
    return Problem(gram, problem.y[order], kernel="precomputed", C=cost, C_unlabeled=cost)


def few_points(problem: Problem, count: int = 16) -> Problem:
    """Keep the first ``count // 4`` labelled points of each class, and the first unlabelled ones up to ``count``.

    With more than 16, an interior-point solver takes minutes for a label matrix.  A balance that fixes the number of
    positive labels becomes one that fixes the mean output.
    """
    positive, negative = (np.flatnonzero(problem.y == sign)[: count // 4] for sign in (1, -1))
    known = np.concatenate([positive, negative])
    keep = np.sort(np.concatenate([known, problem.unlabeled[: count - len(known)]]))
    return problem.by_mean().part(keep)
