"""Some of a problem's points, for checks whose programs grow fast."""

from __future__ import annotations

import numpy as np

from ..problem import Problem

#: Label matrices of more points take an interior-point solver minutes.
FEW = 16


def few_points(problem: Problem, count: int = FEW) -> Problem:
    """A quarter of ``count`` labelled points of each class, as far as there are, and others up to that number.

    Parameters
    ----------
    problem : Problem
    count : int

    Returns
    -------
    Problem
    """
    positive, negative = (np.flatnonzero(problem.y == sign)[: count // 4] for sign in (1, -1))
    known = np.concatenate([positive, negative])
    keep = np.sort(np.concatenate([known, problem.unlabeled[: count - len(known)]]))
    return problem.by_mean().part(keep)
