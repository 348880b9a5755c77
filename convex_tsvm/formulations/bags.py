"""Losses of bags of points: what is paid for a bag's largest output, as in multi-instance learning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..losses import PLQ
from ..problem import Array, Problem
from ..validation import integer
from .groups import Addition, RowNumbers

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Bags:
    """What bags pay: bag B pays ``cost`` times p(m) - q(m) of its largest output m, with p and q convex and rising.

    Attributes
    ----------
    points : tuple of int array
        The points of each bag.
    cost : array, shape (number of bags,)
    kind : int array, shape (number of bags,)
        Which of ``parts`` is that of a bag.
    parts : list of (PLQ, PLQ)
        The pairs (p, q).
    """

    points: tuple[Indices, ...]
    cost: Array
    kind: Indices
    parts: list[tuple[PLQ, PLQ]]

    def witnesses(self, outputs: Array) -> Indices:
        """The point with the largest output of each bag, the first of several."""
        return np.array([bag[int(np.argmax(outputs[bag]))] for bag in self.points], dtype=np.intp)

    def values(self, part: int, largest: Array, bag: Indices | None = None) -> Array:
        """p (``part`` 0) or q (1) of bags, by default of all, at their largest outputs, shape (number of bags,)."""
        kinds, found = self.kind if bag is None else self.kind[bag], np.zeros(len(largest))
        for kind, parts in enumerate(self.parts):
            found[kinds == kind] = parts[part](largest[kinds == kind])
        return found

    def charged(self, w: Any, b: Any, f: Any) -> Any:
        """Σ cost p(max f) as a CVXPY expression."""
        return self._expression(0, f)

    def subtracted(self, f: Any) -> Any:
        """Σ cost q(max f) as a CVXPY expression."""
        return self._expression(1, f)

    def _expression(self, part: int, f: Any) -> Any:
        import cvxpy as cp

        written, total = import_module("convex_tsvm.modeling.expressions").loss_expression, cp.Constant(0.0)
        for kind, parts in enumerate(self.parts):
            own = np.flatnonzero(self.kind == kind)
            largest = cp.hstack([cp.max(f[self.points[bag]]) for bag in own])
            total = total + self.cost[own] @ written(parts[part], largest)[0]
        return total


@dataclass(frozen=True, eq=False, repr=False)
class BagAddition(Addition):
    """The addition of what bags pay; :func:`bag_loss` makes it."""

    bags: Bags | None = None

    def subtracted(self, outputs: Array) -> tuple[float, Array]:
        assert self.bags is not None
        bags, slope = self.bags, np.zeros(len(outputs))
        witnesses = bags.witnesses(outputs)
        for bag, (i, cost, kind) in enumerate(zip(witnesses, bags.cost, bags.kind, strict=True)):
            slope[i] -= cost * float((-bags.parts[kind][1]).supergradient(outputs[witnesses[bag]]))
        return float(bags.cost @ bags.values(1, outputs[witnesses])), slope

    def placed(self, problem: Problem) -> Addition:
        assert self.bags is not None
        if problem.source_rows is None:  # others are refused for being a part
            for bag in self.bags.points:
                integer(f"addition {self.name!r}: a point of a bag", int(bag.max()), least=0, most=problem.n - 1)
        return super().placed(problem)


def bags_of(additions: Sequence[Addition]) -> Bags | None:
    """All bags of additions that have nothing else; None if there is anything else, or a point is in two of them."""
    found = [one.bags for one in additions if isinstance(one, BagAddition) and one.bags is not None]
    if not found or len(found) < len(additions):
        return None
    points = tuple(bag for bags in found for bag in bags.points)
    if len(np.unique(np.concatenate(points))) < sum(map(len, points)):
        return None
    offsets = np.cumsum([0, *(len(bags.parts) for bags in found)])
    kind = np.concatenate([bags.kind + offset for bags, offset in zip(found, offsets, strict=False)])
    return Bags(points, np.concatenate([bags.cost for bags in found]), kind, [p for bags in found for p in bags.parts])


def bag_loss(
    loss: PLQ,
    bags: Sequence[ArrayLike],
    signs: ArrayLike | None = None,
    *,
    cost: float | ArrayLike = 1.0,
    name: str = "bags",
    X: Any = None,
) -> Addition:
    """A loss of the largest output of each bag of points: Σ cost ℓ(sign max f), as in multi-instance learning.

    With the hinge loss it is the MI-SVM of Andrews, Tsochantaridis and Hofmann (2003).  It is for
    ``Formulation(additions=[...])``, as a difference of two convex terms: what is subtracted is replaced by its
    tangent, at the point with the largest output of each bag.  Where points of bags pay no other loss and are in one
    bag only, the native solver takes it.

    Parameters
    ----------
    loss : PLQ
        With slopes that are bounded, both as written and reflected where signs are negative, towards -∞.
    bags : sequence of int arrays
        The points of each bag, by row numbers.
    signs : array of +1 and -1, shape (number of bags,), optional
        The bags' labels; +1 by default.
    cost : float or array, shape (number of bags,), default 1.0
    name : str, default "bags"
        How messages and reports call it.
    X : array or sparse matrix, optional
        The points whose row numbers these are, as in :func:`~convex_tsvm.output_constraint`.

    Raises
    ------
    ValueError
        If a bag is empty or has no row numbers, numbers are not one a bag, or the slopes of a loss have no bound.

    Examples
    --------
    >>> X = np.array([[-1.0], [-2.0], [-1.5], [2.0], [-1.0], [1.0]])
    >>> bags = ct.formulations.bag_loss(ct.hinge(), [[0, 1], [2, 3], [4, 5]], [-1, 1, 1], cost=5)
    >>> problem = ct.Problem(X, np.zeros(6), balance=None)
    >>> model = ct.Formulation(ct.hinge(), balance=None, additions=[bags])
    >>> solution = ct.cccp(model, problem, start=X.ravel())
    >>> np.sign(solution.scores)
    array([-1., -1., -1.,  1., -1.,  1.])
    """
    if not isinstance(loss, PLQ):
        raise ValueError(f"loss={loss!r} must be a PLQ loss, such as losses.hinge()")
    points = tuple(np.unique(np.array(bag)) for bag in bags)
    for bag in points:
        if len(bag) == 0 or bag.dtype.kind not in "iu" or bag.min() < 0:
            raise ValueError(f"bags: {bag.tolist()!r} must be row numbers of one point or more, from 0")
    points = tuple(bag.astype(np.intp) for bag in points)
    sign = np.ones(len(points)) if signs is None else np.array(signs, dtype=float).ravel()
    costs = np.array(np.broadcast_to(np.asarray(cost, dtype=float), len(points)))
    if not points or len(sign) != len(points) or not np.isin(sign, (-1, 1)).all():
        raise ValueError(f"signs={signs!r} must be +1 or -1 for each of {len(points)} bags")
    if not (np.isfinite(costs).all() and (costs >= 0).all()):
        raise ValueError(f"cost={cost!r} must be finite numbers, and at least 0")
    kinds, kind = np.unique(sign, return_inverse=True)
    own = Bags(points, costs, kind.astype(np.intp), [_rising(loss, float(sign)) for sign in kinds])
    least: float | None = float(costs.sum()) * loss.minimizers()[0]
    minus = None if all(falls.is_constant for _, falls in own.parts) else own.subtracted
    least = least if least is not None and np.isfinite(least) else None
    return BagAddition(own.charged, name, rf"\text{{{name}}}(f)", minus, least, RowNumbers(X), own)


def _rising(loss: PLQ, sign: float) -> tuple[PLQ, PLQ]:
    """p and q with ℓ(sign m) = p(m) - q(m), both convex and nowhere falling."""
    convex, concave = (loss if sign > 0 else loss.reflect()).split()
    far = convex.edges[np.isfinite(convex.edges)].min(initial=0.0) - 1
    slope = float(convex.derivative(far)), float(concave.derivative(far))
    if not (convex.is_finite and convex.pieces[0][0] == 0 and concave.pieces[0][0] == 0):
        raise ValueError(f"loss={loss!r}: with the sign {sign:+g} its slopes have no bound towards -∞")
    line = PLQ([], [[0.0, max(0.0, -slope[0], slope[1]), 0.0]])
    return convex + line, line - concave
