"""Steps with losses of bags, by steps in which one point of each bag pays and no other of it has a larger output.

A bag's loss p(max f) is that of its payer k under the constraints f_i <= f_k for the others, as long as k is where the
largest output belongs: with multipliers μ_i >= 0 of the constraints, and d the slope of p that is paid, the multipliers
of the bag itself are μ_i for the others and d - Σ μ for the payer, which must be >= 0 and sum to d.  Where it is
negative the point with the largest multiplier becomes the payer.  The point that was found meets its constraints, too,
and is not optimal for them, so that the objective falls, and no choice of payers comes twice.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...formulations.bags import Bags, Indices, bags_of
from ...instance.convex_step import ConvexStep
from ...instance.rows import OutputRows
from ...instance.step_solution import StepSolution, certify
from ...losses import PLQ
from ...problem import Array


@dataclass(frozen=True, eq=False)
class BagSolution(StepSolution):
    """The solution of a step with losses of bags; ``plain`` is that of the step in which their ``payers`` pay."""

    plain: StepSolution | None = None
    payers: _Payers | None = None

    @property
    def lower_bound(self) -> float | None:
        """That of the plain step, whose multipliers are ones of the bags, too."""
        return None if self.plain is None else self.plain.lower_bound

    @property
    def _gap_scale(self) -> float:
        return super()._gap_scale if self.plain is None else self.plain._gap_scale

    def recomputed(self) -> StepSolution:
        """The same point with every figure computed from its dual variables."""
        assert self.plain is not None
        assert self.payers is not None
        return self.payers.solution(self.plain.recomputed())


def solve_with_bags(
    solve: Callable[[ConvexStep, StepSolution | None], StepSolution],
    step: ConvexStep,
    start: StepSolution | None,
    *,
    tol: float,
    most: int = 200,
) -> StepSolution:
    """Solve a step whose additions are losses of bags by a solver of steps without additions.

    A bag's multiplier that is negative by no more than ``tol``, as a slope of its loss, counts as 0.  After ``most``
    choices of payers the status is "max_iter".
    """
    bags = bags_of(step.additions)
    assert bags is not None
    payers = _Payers(step, bags, bags.witnesses(np.zeros(step.problem.n) if start is None else start.outputs))
    if isinstance(start, BagSolution):
        alpha = -start.gamma - start.step.slope
        payers = _Payers(step, bags, payers.points, alpha > 0)
        start = payers.start(start, alpha)
    for _ in range(most):
        with warnings.catch_warnings(action="ignore"):  # the caller warns of the last step
            found = solve(payers.plain, start)
        after = payers.better(found, tol) if found.status in ("optimal", "inaccurate") else None
        if after is None:
            return payers.solution(found)
        start, payers = after.start(found, payers.alpha(found)), after
    return dataclasses.replace(payers.solution(found), status="max_iter")


class _Payers:
    """A choice of payers, ``points``, and the ``plain`` step with constraints for those of the others that are held."""

    def __init__(self, step: ConvexStep, bags: Bags, points: Indices, held: NDArray[np.bool_] | None = None) -> None:
        self._step, self._bags, self.points = step, bags, points
        self._bag_of = np.full(step.problem.n, -1)
        for number, bag in enumerate(bags.points):
            self._bag_of[bag] = number
        self.held = np.zeros(step.problem.n, dtype=bool) if held is None else held.copy()
        self.held[points] = True  # also when another point pays
        is_other = self.held & (self._bag_of >= 0)
        is_other[points] = False
        # The others of each bag that are held, and the places of their bags.
        self._others = np.flatnonzero(is_other)
        self._bag = self._bag_of[self._others]
        self.plain = self._plain()

    def _plain(self) -> ConvexStep:
        step, bags, kind, cost = self._step, self._bags, self._step.kind.copy(), self._step.cost.copy()
        # A point whose loss is zero, and costs 1, pays the slope of its tangent and nothing else.
        losses = (*step.losses, *(p for p, _ in bags.parts), PLQ([], [[0.0, 0.0, 0.0]]))
        tangents = np.flatnonzero((step.slope != 0) & (cost == 0))
        kind[tangents], cost[tangents] = len(losses) - 1, 1.0
        kind[self.points], cost[self.points] = len(step.losses) + bags.kind, bags.cost
        count, n = len(self._others), step.problem.n
        entries = np.repeat([1.0, -1.0], count), (
            np.tile(np.arange(count), 2), np.concatenate([self._others, self.points[self._bag]])
        )  # fmt: skip
        A, lower, upper = sp.csr_array(entries, shape=(count, n)), np.full(count, -np.inf), np.zeros(count)
        names = tuple(f"f({i}) <= f({k})" for i, k in zip(self._others, self.points[self._bag], strict=True))
        if step.rows is not None:
            A, names = sp.csr_array(sp.vstack([step.rows.A, A])), (*step.rows.names, *names)
            lower, upper = np.append(step.rows.lower, lower), np.append(step.rows.upper, upper)
        rows = OutputRows(A, lower, upper, names) if len(upper) else None
        return step.replace(losses=losses, kind=kind, cost=cost, additions=(), rows=rows)

    def start(self, found: StepSolution, alpha: Array) -> StepSolution:
        """A solution with other payers as one with these: the multipliers of bags, shape (n,), are the same."""
        alpha, gamma = np.maximum(alpha, 0.0), found.gamma.copy()
        for bag, k in zip(self._bags.points, self.points, strict=True):
            gamma[bag] = -self._step.slope[bag]
            gamma[k] -= alpha[bag].sum()
        multipliers = np.append(found.multipliers[: self._step.n_rows], -alpha[self._others])
        return dataclasses.replace(found, step=self.plain, gamma=gamma, multipliers=multipliers)

    def alpha(self, found: StepSolution) -> Array:
        """The multipliers of bags, shape (n,): those of payers may be negative; 0 for points in no bag."""
        alpha, (others, left) = np.zeros(len(found.gamma)), self._multipliers(found)
        alpha[self._others], alpha[self.points] = others, left
        return alpha

    def _multipliers(self, found: StepSolution) -> tuple[Array, Array]:
        """The multipliers of the constraints of bags, at least 0, and what each bag has left for its payer."""
        others = np.maximum(-found.multipliers[self._step.n_rows :], 0.0)
        paid = -found.gamma[self.points] - self.plain.slope[self.points]
        return others, paid - np.bincount(self._bag, others, len(self.points))

    def better(self, found: StepSolution, tol: float) -> _Payers | None:
        """Payers that are better than these, or more constraints; None where none are needed."""
        bags, (others, left) = self._bags, self._multipliers(found)
        points, held = self.points.copy(), self.held.copy()
        for bag in np.flatnonzero(left < -tol * np.maximum(bags.cost, 1.0)):
            own = np.flatnonzero(self._bag == bag)
            points[bag] = self._others[own[np.argmax(others[own])]]
        # Constraints are held where a bag pays more for the output than for its payer's.
        inside = np.flatnonzero(self._bag_of >= 0)
        of = self._bag_of[inside]
        outputs, paid = found.outputs[inside], found.outputs[self.points][of]
        dearer = bags.values(0, outputs, of) - bags.values(0, paid, of) > tol
        held[inside[dearer & (outputs - paid > tol)]] = True
        if np.array_equal(points, self.points) and np.array_equal(held, self.held):
            return None
        return _Payers(self._step, bags, points, held)

    def solution(self, found: StepSolution) -> BagSolution:
        """What a solution of the plain step is one of the step itself."""
        step, bags, own = self._step, self._bags, self._step.n_rows
        others, left = self._multipliers(found)
        fields = [one.name for one in dataclasses.fields(StepSolution)]
        if (left < 0).any():
            # Multipliers that sum to more than the slope that is paid, by no more than the tolerance, are made smaller.
            share = np.minimum(1.0, 1 + left / np.maximum(np.bincount(self._bag, others, len(left)), 1e-300))
            multipliers = np.append(found.multipliers[:own], -others * share[self._bag])
            report = {name: getattr(found, name) for name in ("status", "n_iter", "seconds", "solver_seconds")}
            found = certify(self.plain, found.gamma, found.gamma0, found.bias, None, multipliers, **report)
        gamma = found.gamma.copy()
        for bag in bags.points:
            gamma[bag] = -step.slope[bag]
        largest = found.outputs[bags.witnesses(found.outputs)]
        charged = found.regularization + float(bags.cost @ bags.values(0, largest))
        return BagSolution(
            **{name: getattr(found, name) for name in fields}
            | {
                "step": step,
                "gamma": gamma - self.alpha(found),
                "multipliers": found.multipliers[:own],
                "regularization": charged,
                "primal": charged + step.loss_value(found.outputs),
            },
            plain=found,
            payers=self,
        )
