"""A convex step as the working-set solver takes it: constraints are points with rows, equal points are merged."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...instance.convex_step import ConvexStep, mean_row, same_points
from ...instance.rows import OutputRows
from ...instance.step_solution import StepSolution
from ...kernels.types import Points
from ...losses import PLQ, Pieces, WeightedSums, conjugate_pieces, indicator
from ...problem import Array, Problem
from ...validation import is_sparse
from .dual_problem import DualProblem, Indices
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
        offset = self.bias.offset
        plain = self.rows is None and step.shift is None  # else what is added to outputs differs from point to point
        self.problem = DualProblem(
            conjugates,
            kind,
            np.append(step.point_cost, np.ones(self.n_sums)),
            np.append(step.point_slope, np.zeros(self.n_sums)),
            held.rows(self.way, self.sums),
            offset=offset if plain else offset * self._raised_by_bias - self.shift,
            tied=(self._raised_by_bias > 0) & self.bias.free,
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

    @cached_property
    def shift(self) -> Array | float:
        """The targets of all points, 0 for those that stand for constraints."""
        return 0.0 if self.step.shift is None else np.append(self.step.shift, np.zeros(self.n_sums))

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
        # Where these are all that the start has, its outputs are theirs.
        keeps_all = ((self.rows is not None and same_rows) or not start.multipliers.any()) and not (
            start.gamma0 and self.bias.target is None
        )
        return np.concatenate(parts), self._outputs_at(start, problem) if keeps_all else None

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
        return outputs + shift * (1.0 if self.rows is None else self._raised_by_bias) - self.shift


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


@dataclass(frozen=True)
class RepeatedPoints:
    """The distinct points of a problem, themselves as a problem ``distinct``; each pays the sum of its points' losses.

    Equal points have equal outputs, so that the step with these sums is a smaller problem with the same solution.  Its
    matrix has no equal rows, with which steps on single variables would converge slowly.
    """

    problem: Problem
    distinct: Problem
    first: Indices  # the place in ``problem`` where each distinct point is for the first time
    which: Indices  # shape (n,): the distinct point that each point is

    @staticmethod
    def of(problem: Problem, *, least: int = 200) -> "RepeatedPoints | None":
        """The distinct points of a problem; None if they are fewer than ``least``, few are repeated, or not in memory.

        If a sample of the points, 4 √n of n or more, are all distinct, nearly all points are taken to be.  The kernel
        must be one of points themselves, linear or of products; with others the answer is None, too.
        """
        n, rng = problem.n, np.random.default_rng(0)
        of_points = problem.is_linear or hasattr(problem.kernel, "product_form")
        if n < least or not of_points or not (is_sparse(problem.X) or isinstance(problem.X, np.ndarray)):
            return None
        size = max(2000, int(4 * np.sqrt(n)))
        if size < n and len(set(_keys(problem.X, rng.choice(n, size, replace=False)))) == size:
            return None
        places: dict[bytes, int] = {}
        which = np.array([places.setdefault(key, len(places)) for key in _keys(problem.X, np.arange(n))], dtype=np.intp)
        if len(places) > 0.9 * n:  # more would not be worth it
            return None
        first = np.full(len(places), n, dtype=np.intp)
        np.minimum.at(first, which, np.arange(n))
        return RepeatedPoints(problem, problem.distinct(first, which), first, which)

    def can_merge(self, step: ConvexStep) -> bool:
        """Whether the losses of a step can be added up: all must be PLQ functions that are finite everywhere."""
        return step.shift is None and all(isinstance(loss, PLQ) and loss.is_finite for loss in step.losses)

    def merged(self, step: ConvexStep) -> ConvexStep:
        """The step of the distinct points with the same solution."""
        rows = step.rows
        if rows is not None:
            rows = OutputRows(sp.csr_array(rows.A @ self._sums), rows.lower, rows.upper, rows.names)
        point = self.which if step.point is None else self.which[step.point]
        return step.replace(problem=self.distinct, point=point, rows=rows)

    def start(self, found: StepSolution | None) -> StepSolution | None:
        """A solution of another step as one of the distinct points, to start from; None if it has not n points."""
        if found is None or len(found.gamma) != self.problem.n:
            return None
        same = same_points(self.problem, found.step.problem)
        return dataclasses.replace(
            found,
            step=self.merged(found.step) if same else found.step,
            gamma=self._sums.T @ found.gamma,
            outputs=found.outputs[self.first],
        )

    def shares(self, step: ConvexStep, dual: DualProblem, s: Array, outputs: Array) -> Array:
        """γ of all points of a step, from a dual point of its distinct ones and their outputs.

        The multiplier of a distinct point is minus a subgradient of the sum at an output.  Each of its points takes the
        same share of the interval of its own subgradients there.
        """
        low, _, _, high, _, _ = dual.locate(s)
        count, n = len(self.first), self.problem.n
        t = np.clip(outputs[:count], low[:count], high[:count])[self.which]
        point = np.arange(n) if step.point is None else step.point
        left, right = np.zeros(len(point)), np.zeros(len(point))
        for kind, loss in enumerate(step.losses):
            terms = np.flatnonzero((step.kind == kind) & (step.cost > 0))
            at = t[point[terms]]
            near = 1e-9 * (1 + np.abs(at))  # an output within this distance of a breakpoint is at it
            left[terms], right[terms] = loss.derivatives(at - near)[0], loss.derivatives(at + near)[1]  # type: ignore[union-attr]
        least = np.bincount(point, step.cost * left + step.slope, n)
        room = np.bincount(point, step.cost * (right - left), n)
        missing, total = -dual.gamma(s)[:count] - self._sums.T @ least, self._sums.T @ room
        share = np.divide(missing, total, out=np.zeros(count), where=total > 0)
        return step.clip(-(least + share[self.which] * room))

    @property
    def _sums(self) -> sp.csr_array:
        """1 where a point (a row) is a distinct one (a column)."""
        n = self.problem.n
        return sp.csr_array((np.ones(n), self.which, np.arange(n + 1)), shape=(n, len(self.first)))


def _keys(X: Points, points: Indices) -> Iterator[bytes]:
    """The bytes of every point, which are the same for points whose stored numbers are the same, and no others."""
    if not is_sparse(X):
        return (X[i].tobytes() for i in points.tolist())
    ends, columns, values = X.indptr.tolist(), X.indices, X.data
    return (columns[ends[i] : ends[i + 1]].tobytes() + values[ends[i] : ends[i + 1]].tobytes() for i in points.tolist())
