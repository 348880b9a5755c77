"""Which points the row numbers of a constraint, a group or an addition are of.

A row number means another point in every other array of points, so that a part of the data, as cross-validation makes
it, would silently bind the wrong ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problem import PointsSource, Problem, points_source


class RowNumbers:
    """The points that row numbers are of: X if it is given, or those of the first problem that they are used on.

    X is an array or a sparse matrix, for a precomputed kernel its matrix.  Copies are the same object, since copies of
    a formulation are about the same points.  What is sent to another process before it has met a problem cannot know
    which one is the first, and must be told its points.
    """

    def __init__(self, X: Any = None) -> None:
        self._source: PointsSource | None = None if X is None else points_source(X)
        self._key: tuple[int, str] | None = None
        self._was_sent = False

    def places(self, problem: Problem, name: str) -> NDArray[np.intp] | None:
        """The row that each of the points has in a problem, -1 for those it has not; None if all are as they were.

        ValueError is raised if the problem is one of other points.
        """
        if self._key is None and self._source is not None:
            self._key = self._source.key
        key = problem.source.key
        if self._key is None:
            if self._was_sent:
                raise ValueError(
                    f"{name} has row numbers, and was sent to another process before it was used on any points: say "
                    "which points they are of with X=..."
                )
            self._key = key
        if self._key != key:
            raise ValueError(
                f"{name} has row numbers of {self._key[0]} points, and this problem is not of these points, but of "
                f"{key[0]} others: make it anew for them; Problem.part makes parts that it follows"
            )
        if problem.source_rows is None:
            return None
        found = np.full(key[0], -1, dtype=np.intp)
        found[problem.source_rows] = np.arange(problem.n)
        return found

    def __deepcopy__(self, memo: Any) -> RowNumbers:
        return self

    def __getstate__(self) -> dict[str, Any]:
        key = self._key if self._source is None else self._source.key
        return {"_source": None, "_key": key, "_was_sent": key is None}


class _AsTheyAre(RowNumbers):
    """Row numbers of whatever problem they are used on: those that were placed in one already."""

    def places(self, problem: Problem, name: str) -> None:
        return None


AS_THEY_ARE = _AsTheyAre()
