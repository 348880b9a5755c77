"""Points that occur several times are merged into one point that pays the sum of their losses.

Equal points have equal outputs, so that the step with these sums is a smaller problem with the same solution.  Its
matrix has no equal rows, with which steps on single variables would converge slowly.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...instance.convex_step import ConvexStep, same_points
from ...instance.rows import OutputRows
from ...instance.step_solution import StepSolution
from ...kernels.types import Points
from ...losses import PLQ
from ...problem import Array, Problem
from ...validation import is_sparse
from .dual_problem import DualProblem, Indices


@dataclass(frozen=True)
class RepeatedPoints:
    """The distinct points of a problem, themselves as a problem ``distinct``.

    ``first`` has the place in ``problem`` where each distinct point is for the first time, and ``which``, shape (n,),
    the distinct point that each point is.
    """

    problem: Problem
    distinct: Problem
    first: Indices
    which: Indices

    @staticmethod
    def of(problem: Problem, *, least: int = 200) -> RepeatedPoints | None:
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
        return all(isinstance(loss, PLQ) and loss.is_finite for loss in step.losses)

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
