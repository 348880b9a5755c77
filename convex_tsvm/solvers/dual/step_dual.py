"""A convex step as the working-set solver takes it: constraints on outputs are points with rows of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...instance.convex_step import ConvexStep, mean_row, same_points
from ...instance.step_solution import StepSolution
from ...losses import PLQ, Pieces, WeightedSums, conjugate_pieces, indicator
from ...problem import Array, Problem
from .dual_problem import DualProblem
from .rows_held import HeldRows, same_matrices


class StepDual:
    """A step as the working-set solver takes it: its points, and after them one for each constraint on outputs.

    A balance constraint is met by centring the kernel, or is the first of these constraints: a point x₀ whose output
    must be c, hence with a loss that is finite at c only.  There are ``n_sums`` points for constraints.
    """

    def __init__(self, step: ConvexStep, balance_by: str, held: HeldRows) -> None:
        self.step, self.n, self.held = step, step.problem.n, held
        self.bias = step.bias_by(balance_by)
        self.way = "centred" if self.bias.centred else "plain"
        self.rows = None if step.rows is None or not len(step.rows) else step.rows.unit
        conjugates, kind = conjugates_of(step)
        losses, self.sums = self._constraints()
        self.n_sums = len(losses)
        if losses:
            kind = np.append(kind, len(conjugates.count) + np.arange(self.n_sums))
            conjugates = conjugates.joined(conjugate_pieces(losses))
        tied = self._raised_by_bias > 0
        self.problem = DualProblem(
            conjugates,
            kind,
            np.append(step.point_cost, np.ones(self.n_sums)),
            np.append(step.point_slope, np.zeros(self.n_sums)),
            held.rows(self.way, self.sums),
            offset=self.bias.offset if self.rows is None else self.bias.offset * self._raised_by_bias,
            free_bias=self.bias.free,
            tied=None if not self.bias.free or tied.all() else tied,
        )

    def _constraints(self) -> tuple[tuple[PLQ, ...], sp.csr_array | None]:
        """The losses of the points that stand for constraints, and the sums of points that they are."""
        losses, sums = [], []
        if self.bias.with_x0:
            assert self.bias.target is not None
            losses.append(indicator(float(self.bias.target), float(self.bias.target)))
            sums.append(mean_row(self.step))
        if self.rows is not None:
            losses += [indicator(low, high) for low, high in zip(self.rows.lower, self.rows.upper, strict=True)]
            sums.append(self.rows.A)
        return tuple(losses), sp.csr_array(sp.vstack(sums)) if sums else None

    @property
    def _raised_by_bias(self) -> Array:
        """By how much a bias raises the output of each point, and of those that stand for constraints."""
        ones = np.ones(self.n + self.bias.with_x0)
        return ones if self.rows is None else np.append(ones, self.rows.bias)

    def coefficients(self, gamma: Array) -> Array:
        """a of the expansion over the points, from the dual variables of all, shape (n,)."""
        own = gamma[: self.n]
        return own if self.sums is None else own + self.sums.T @ gamma[self.n :]

    def multipliers(self, gamma: Array) -> dict[str, Any]:
        rest, rows = gamma[self.n + self.bias.with_x0 :], self.step.rows
        return {
            "gamma": gamma[: self.n],
            "gamma0": float(gamma[self.n]) if self.bias.with_x0 else 0.0,
            "multipliers": None if rows is None else rest / rows.scale,
        }

    def begin(self, start: StepSolution | None, problem: Problem) -> tuple[Array | None, Array | None]:
        """Dual variables to start from, and G γ + c if the start knows it."""
        if start is None or len(start.gamma) != self.n:
            return None, None
        mine, theirs = (None if rows is None else rows.A for rows in (self.step.rows, start.step.rows))
        same_rows = self.rows is None or same_matrices(mine, theirs)
        parts = [start.gamma]
        if self.bias.with_x0:
            parts.append(np.array([start.gamma0]))
        if self.rows is not None:
            parts.append(start.multipliers * start.step.rows.scale if same_rows else np.zeros(len(self.rows)))  # type: ignore[union-attr]
        gamma = np.concatenate(parts)
        return gamma, self._outputs_at(start, problem) if self._keeps_all(start, same_rows) else None

    def _keeps_all(self, start: StepSolution, same_rows: bool) -> bool:
        """Whether the dual variables to start from are all that the start has, so that its outputs are theirs."""
        if start.gamma0 and self.bias.target is None:
            return False
        return (self.rows is not None and same_rows) or not start.multipliers.any()

    def _outputs_at(self, start: StepSolution, problem: Problem) -> Array | None:
        """G γ + c at a start whose dual variables are all kept, from its outputs; None if it is of other points."""
        if not same_points(problem, start.step.problem) or not start.step.regularizer.is_squared_norm:
            return None
        outputs, shift = start.outputs - start.bias, 0.0
        if self.sums is not None:
            outputs = np.append(outputs, self.sums @ outputs)
        if self.bias.centred:
            if not start.step.bias_by().centred:
                return None
            shift = start.bias + self.bias.offset - float(start.step.target or 0.0)
        return outputs + shift * (1.0 if self.rows is None else self._raised_by_bias)


def conjugates_of(step: ConvexStep) -> tuple[Pieces, NDArray[np.intp]]:
    """The conjugates of the losses of a step's points, and which of them each point has.

    Points that pay sums of several losses have one each.
    """
    losses = tuple(loss for loss in step.losses if isinstance(loss, PLQ))
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
