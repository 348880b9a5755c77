"""Some of a problem's points, for checks whose programs grow fast."""

from __future__ import annotations

import numpy as np

from ..problem import Problem

#: Points that derivations are followed on.
SIX = np.array([[-1.3, 0.2], [1.0, 0.4], [0.6, -0.3], [-0.9, -0.5], [-0.2, 0.3], [1.4, -0.1]])


def few_points(problem: Problem, count: int = 16) -> Problem:
    """Keep the first ``count // 4`` labelled points of each class, and the first unlabelled ones up to ``count``.

    With more than 16, an interior-point solver takes minutes for a label matrix.  A balance that fixes the number of
    positive labels becomes one that fixes the mean output.
    """
    positive, negative = (np.flatnonzero(problem.y == sign)[: count // 4] for sign in (1, -1))
    known = np.concatenate([positive, negative])
    keep = np.sort(np.concatenate([known, problem.unlabeled[: count - len(known)]]))
    return problem.by_mean().part(keep)
