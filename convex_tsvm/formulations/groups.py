"""Groups of points with a loss of their own, besides the labelled and the unlabelled ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..losses import Loss
from ..problem import Problem
from ..validation import finite
from .row_numbers import AS_THEY_ARE, RowNumbers


@dataclass(frozen=True, eq=False)
class PointGroup:
    """Some of a problem's points, what they pay, and how much that counts.

    Points of a group pay its loss, and neither that of labelled nor that of unlabelled points; they are not counted by
    a balance.

    Parameters
    ----------
    points : sequence of int
        Their indices.
    loss : PLQ, DCLoss or ConvexLoss
        Of f(x), and for points that have a label of y f(x).
    cost : float > 0, or sequence of float >= 0
        Of all, or of each.
    name : str, default "group"
        How messages and printed problems call them.
    X : array or sparse matrix, optional
        The points whose row numbers ``points`` are (for a precomputed kernel its matrix); by default those of the first
        problem that the group is used on.  Other points are refused, a :meth:`Problem.part` is followed.

    Examples
    --------
    >>> ct.PointGroup([4, 5], ct.losses.epsilon_insensitive(0.1), cost=2.0, name="universum")
    PointGroup('universum', 2 points, loss=epsilon_insensitive(0.1))
    """

    points: Sequence[int] | NDArray[np.intp]
    loss: Loss
    cost: float | ArrayLike
    name: str = "group"
    X: InitVar[Any] = None
    numbers: RowNumbers | None = None

    def __post_init__(self, X: Any) -> None:
        if self.numbers is None:
            object.__setattr__(self, "numbers", RowNumbers(X))
        points: NDArray[Any] = np.asarray(self.points)
        if points.ndim != 1 or len(points) == 0 or not np.issubdtype(points.dtype, np.integer):
            raise ValueError(f"group {self.name!r}: points={self.points!r} must be a sequence of indices")
        if len(np.unique(points)) < len(points) or points.min() < 0:
            raise ValueError(f"group {self.name!r}: points must be distinct, and counted from 0")
        if not isinstance(self.loss, Loss):
            raise ValueError(f"group {self.name!r}: loss={self.loss!r} must be a PLQ, DCLoss or ConvexLoss")
        if np.ndim(self.cost) == 0:
            cost = np.full(len(points), finite("cost", self.cost, above=0))
        else:
            cost = np.array([finite("cost", one, least=0) for one in np.ravel(self.cost)])
        if len(cost) != len(points):
            raise ValueError(f"group {self.name!r}: cost has {len(cost)} entries for {len(points)} points")
        object.__setattr__(self, "points", points.astype(np.intp))
        object.__setattr__(self, "cost", cost)

    def placed(self, problem: Problem) -> PointGroup:
        """The group with row numbers of a problem; of a part of its points those that are there.

        Raises
        ------
        ValueError
            If the problem is not one of the points that the group is of, or is a part without any of them.
        """
        assert self.numbers is not None
        places = self.numbers.places(problem, f"group {self.name!r}")
        if places is None:
            return self
        if self.where.max() >= len(places):
            raise ValueError(f"group {self.name!r} contains point {self.where.max()}; there are {len(places)} points")
        there = places[self.where] >= 0
        if not there.any():
            raise ValueError(f"group {self.name!r}: none of its points is in this part of the problem")
        return replace(self, points=places[self.where][there], cost=np.asarray(self.cost)[there], numbers=AS_THEY_ARE)

    @property
    def where(self) -> NDArray[np.intp]:
        """The points as an array."""
        return np.asarray(self.points, dtype=np.intp)

    def __repr__(self) -> str:
        return f"PointGroup({self.name!r}, {len(self.points)} points, loss={getattr(self.loss, 'name', self.loss)})"


def check_groups(groups: Sequence[PointGroup], problem: Problem) -> None:
    """Raise ValueError if groups have points in common, or some that a problem does not have."""
    taken: set[int] = set()
    for group in groups:
        points = group.where
        if points.max() >= problem.n:
            raise ValueError(
                f"group {group.name!r} contains point {points.max()}; the problem has {problem.n}, counted from 0"
            )
        if both := taken.intersection(points.tolist()):
            raise ValueError(f"group {group.name!r} contains point {min(both)}, which is in another group, too")
        taken.update(points.tolist())
