"""A convex step as the working-set solver takes it: constraints on outputs are points with rows of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...instance.convex_step import ConvexStep, StepSolution, mean_row, same_points
from ...losses import PLQ, Pieces, WeightedSums, conjugate_pieces, indicator
from ...problem import Array, Problem
from .dual_problem import DualProblem
from .rows_held import HeldRows


class StepDual:
    """A step as the working-set solver takes it: its points, and after them one for each constraint on outputs.

    A balance constraint is met by centring the kernel, or is the first of these constraints: a point x₀ whose output
    must be c, hence with a loss that is finite at c only.

    Attributes
    ----------
    way : {"plain", "centred"}
    problem : DualProblem
    n_sums : int
        Number of points for constraints.
    held : HeldRows
        Where the rows of its points come from.
    """

    def __init__(self, step: ConvexStep, balance_by: str, held: HeldRows) -> None:
        self.step, self.n, self.held = step, step.problem.n, held
        target = 0.0 if step.target is None else float(step.target)
        balanced = step.target is not None
        self.with_x0 = balanced and (balance_by == "x0" or not step.fit_intercept)
        self.way = "centred" if balanced and not self.with_x0 else "plain"
        free_bias = step.fit_intercept and self.way == "plain"
        conjugates, kind = conjugates_of(step)
        losses: list[PLQ] = []
        sums = []
        if self.with_x0:
            losses.append(indicator(target, target))
            sums.append(mean_row(step))
        self.rows = None if step.rows is None or not len(step.rows) else step.rows.unit
        bias = np.ones(self.n + len(losses))
        if self.rows is not None:
            losses += [indicator(low, high) for low, high in zip(self.rows.lower, self.rows.upper, strict=True)]
            sums.append(self.rows.A)
            bias = np.append(bias, self.rows.bias)
        self.n_sums = len(losses)
        self.sums = sp.csr_array(sp.vstack(sums)) if sums else None
        if losses:
            kind = np.append(kind, len(conjugates.count) + np.arange(self.n_sums))
            conjugates = conjugates.joined(conjugate_pieces(tuple(losses)))
        self.problem = DualProblem(
            conjugates,
            kind,
            np.append(step.point_cost, np.ones(self.n_sums)),
            np.append(step.point_slope, np.zeros(self.n_sums)),
            held.rows(self.way, self.sums),
            offset=(target if self.rows is None else target * bias) if self.way == "centred" else 0.0,
            free_bias=free_bias,
            tied=None if not free_bias or (bias > 0).all() else bias > 0,
        )

    def coefficients(self, gamma: Array) -> Array:
        """a of the expansion over the points, from the dual variables of all, shape (n,)."""
        own = gamma[: self.n]
        return own if self.sums is None else own + self.sums.T @ gamma[self.n :]

    def multipliers(self, gamma: Array) -> dict[str, Any]:
        """The dual variables as a step's solution has them."""
        rest, rows = gamma[self.n + self.with_x0 :], self.step.rows
        return {
            "gamma": gamma[: self.n],
            "gamma0": float(gamma[self.n]) if self.with_x0 else 0.0,
            "multipliers": None if rows is None else rest / rows.scale,
        }

    def begin(self, start: StepSolution | None, problem: Problem) -> tuple[Array | None, Array | None]:
        """Dual variables to start from, and G γ + c if the start knows it."""
        if start is None or len(start.gamma) != self.n:
            return None, None
        parts, kept = [start.gamma], True
        if self.with_x0:
            parts.append(np.array([start.gamma0]))
        elif self.way == "plain":
            kept = start.gamma0 == 0
        if self.rows is not None:
            same = _same_rows(self.step, start.step)
            parts.append(start.multipliers * start.step.rows.scale if same else np.zeros(len(self.rows)))  # type: ignore[union-attr]
            kept = kept and (same or not start.multipliers.any())
        elif start.multipliers.any():
            kept = False
        gamma = np.concatenate(parts)
        known = kept and same_points(problem, start.step.problem) and start.step.regularizer == "l2"
        if self.way == "centred":
            known = known and start.step.target is not None and start.step.fit_intercept
        if not known:
            return gamma, None
        outputs, shift = start.outputs - start.bias, 0.0
        if self.sums is not None:
            outputs = np.append(outputs, self.sums @ outputs)
        if self.way == "centred":
            shift = start.bias + float(self.step.target or 0.0) - float(start.step.target or 0.0)
        bias = 1.0 if self.problem.tied is None and self.rows is None else np.append(np.ones(self.n), self._bias)
        return gamma, outputs + shift * bias

    @property
    def _bias(self) -> Array:
        """By how much a bias raises the output of each constraint's point."""
        x0 = np.ones(int(self.with_x0))
        return x0 if self.rows is None else np.append(x0, self.rows.bias)


def _same_rows(step: ConvexStep, other: ConvexStep) -> bool:
    """Whether two steps have the same coefficients in their constraints."""
    if step.rows is other.rows:
        return True
    if step.rows is None or other.rows is None or step.rows.A.shape != other.rows.A.shape:
        return False
    return abs(step.rows.A - other.rows.A).sum() == 0


def conjugates_of(step: ConvexStep) -> tuple[Pieces, NDArray[np.intp]]:
    """The conjugates of the losses of a step's points, and which of them each point has.

    Points that pay sums of several losses have one each.  A loss that is not piecewise linear-quadratic is a
    ValueError.
    """
    losses = tuple(loss for loss in step.losses if isinstance(loss, PLQ))
    if len(losses) < len(step.losses):
        other = next(loss for loss in step.losses if not isinstance(loss, PLQ))
        raise ValueError(f"{other.name}: the native solver takes convex PLQ losses only; use solver='cvxpy'")
    found = conjugate_pieces(losses)
    if step.point is None:
        return found, np.asarray(step.kind, dtype=np.intp)
    kind, sums, size = np.zeros(step.problem.n, dtype=np.intp), [], len(losses)
    for loss, where, kinds in step.groups:
        if isinstance(loss, WeightedSums):
            sums.append(loss.conjugate_pieces())
            kind[where] = size + np.arange(len(where))
            size += len(where)
        else:
            kind[where] = kinds[0]
    return found.joined(*sums), kind
