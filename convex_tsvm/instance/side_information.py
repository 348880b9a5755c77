"""What exact links between points say about their labels (debie2004, footnote 3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from ..formulations.constraints import Link, OutputConstraint
from ..problem import Array


@dataclass(frozen=True, eq=False)
class SideInformation:
    """Labels that follow from links, and groups of points whose labels are unknown but tied to each other.

    Examples
    --------
    >>> from convex_tsvm.instance import SideInformation
    >>> found = SideInformation.of([1, 0, 0, 0, 0], [ct.cannot_link(0, 2), ct.must_link(1, 4), ct.cannot_link(4, 3)])
    >>> found.y, found.group, found.sign
    (array([ 1.,  0., -1.,  0.,  0.]), array([-1,  0, -1,  0,  0]), array([ 1.,  1.,  1., -1.,  1.]))
    """

    # Shape (n,): +1 and -1 for labels that were given or that follow from links to points with a given label, else 0.
    y: Array
    # Shape (n,): the number of the group of every point whose label is unknown, in the order of their first points; -1
    # for the others.
    group: NDArray[np.intp]
    # Shape (n,): +1 for points with the label of the first point of their group, -1 for those with the opposite one.
    sign: Array

    @classmethod
    def of(cls, y: Array, constraints: Iterable[OutputConstraint] = ()) -> SideInformation:
        """What labels, shape (n,), and the exact links among constraints say; other constraints say nothing.

        A ValueError says if a point would be of both classes, or a link has an index that is none of a point.
        """
        y = np.asarray(y, dtype=float)
        links = [one for one in constraints if isinstance(one, Link) and one.is_exact]
        n = len(y)
        for one in links:
            ends: tuple[Any, Any] = one.i, one.j
            for index in ends:
                if not isinstance(index, (int, np.integer)) or not 0 <= index < n:
                    raise ValueError(f"{one.name}: {index!r} is not the index of a point, from 0 to {n - 1}")
        # Nodes 0 to n - 1 say that the label of a point is +1, node n is what is true; nodes from n + 1 on say the
        # opposite.  Two nodes are joined if they say the same.
        known = np.flatnonzero(y)
        first = np.concatenate([known, np.array([one.i for one in links], dtype=np.intp)])
        second = np.concatenate([np.full(len(known), n), np.array([one.j for one in links], dtype=np.intp)])
        opposite = np.concatenate([y[known], np.array([one.sign for one in links])]) < 0
        rows = np.concatenate([first, first + n + 1])
        columns = np.concatenate(
            [np.where(opposite, second + n + 1, second), np.where(opposite, second, second + n + 1)]
        )
        graph = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(2 * n + 2, 2 * n + 2))
        _, part = connected_components(graph, directed=False)
        positive, negative, true, false = part[:n], part[n + 1 : -1], part[n], part[-1]
        both = np.flatnonzero(positive == negative)
        if len(both):
            raise ValueError(f"the links and labels contradict each other: point {both[0]} would be of both classes")
        labels = (positive == true).astype(float) - (positive == false)
        unknown = np.flatnonzero(labels == 0)
        _, where, number = np.unique(np.minimum(positive, negative)[unknown], return_index=True, return_inverse=True)
        group, sign = np.full(n, -1), np.ones(n)
        group[unknown] = np.argsort(np.argsort(where))[number]
        sign[unknown] = np.where(positive[unknown] == positive[unknown[where[number]]], 1.0, -1.0)
        return cls(labels, group.astype(np.intp), sign)

    @cached_property
    def n_groups(self) -> int:
        return int(self.group.max(initial=-1)) + 1

    @cached_property
    def first(self) -> NDArray[np.intp]:
        """The first point of every group."""
        unknown = np.flatnonzero(self.group >= 0)
        return np.asarray(unknown[np.unique(self.group[unknown], return_index=True)[1]])

    @cached_property
    def basis(self) -> Array:
        """B with Γ = B Γ̃ Bᵀ, shape (n, 1 + m): a column for the known labels, one for each of m groups (§2.2)."""
        B = np.zeros((len(self.y), 1 + self.n_groups))
        B[:, 0] = self.y
        unknown = np.flatnonzero(self.group >= 0)
        B[unknown, 1 + self.group[unknown]] = self.sign[unknown]
        return B
