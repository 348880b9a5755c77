"""Convex steps of linear problems by whichever of two solvers is faster: coordinate descent, or finite Newton.

Both solve the same steps to the same tolerance.  Coordinate descent needs few epochs where points have many features,
finite Newton few steps where they have few, and how many the first needs is seen only while it goes on.  A step
therefore begins with coordinate descent, for a share of what finite Newton is expected to cost, and ends with it if
that is enough; otherwise finite Newton takes over, for all steps to come.  What both cost is stated in one place
(:func:`epoch_cost`, :func:`newton_steps`, :func:`newton_step_cost`), in seconds of a common processor, of which only
the ratio matters.
``benchmarks/linear_solvers.py`` measures the choice over a grid of shapes.
"""

import dataclasses
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from ..deadline import time_is_up
from ..instance.convex_step import ConvexStep
from ..instance.step_solution import StepSolution
from ..instance.takes import Takes
from ..notice import warn
from ..points import LinearPoints, SparsePoints
from ..problem import Problem
from ..validation import finite
from .coordinates import CoordinateDescent
from .finite_newton import FiniteNewton
from .finite_newton.directions import Directions


class LinearSolver:
    """Solver of the convex steps of one linear problem: coordinate descent, finite Newton, or one after the other.

    Parameters
    ----------
    problem : Problem
        With a linear kernel.  Of points that are known by their products only, finite Newton solves all steps.
    tol : float > 0, default 1e-3
        Largest relative duality gap; no output is further than ten times as much from where its multiplier belongs to.
    progress : callable, optional
        Called as ``progress(n_iter, gap)`` after every epoch and before every Newton step.
    """

    name = "linear"
    takes = Takes(losses="finite PLQ", constraints=False, kernels=False)

    # When finite Newton takes over.
    trial = 0.3  # the share of what it is expected to cost that coordinate descent is given
    epochs = 8  # finite Newton is asked at once where it is expected to cost no more than so many epochs
    # Without kinks it is also where there are so many points for a feature, since a few steps then suffice.
    points = 10

    def __init__(
        self, problem: Problem, *, tol: float = 1e-3, progress: Callable[[int, float], None] | None = None
    ) -> None:
        self.takes.check_points(problem, self.name)
        self.problem, self.tol = problem, finite("tol", tol, above=0)
        self.newton = FiniteNewton(problem, tol=tol, progress=progress)
        self.coordinates = None
        if not isinstance(problem.X, LinearPoints):
            self.coordinates = CoordinateDescent(problem, tol=tol, progress=progress)
        self._n_steps: float | None = None

    @property
    def keeps_vectors(self) -> bool:
        """Whether runs may keep a vector of n numbers for every step: not where points are larger than memory."""
        return self.coordinates is not None

    def threads(self) -> AbstractContextManager[Any]:
        """What runs are to hold while they use this solver: one thread of BLAS (:meth:`FiniteNewton.threads`)."""
        return self.newton.threads()

    def solve(self, step: ConvexStep, start: StepSolution | None = None) -> StepSolution:
        """Solve one step, from the solution of a similar one, to a duality gap of ``tol``.

        The status is "max_iter" or "inaccurate" if neither solver reached the gap (which warns), and "interrupted" or
        "time_limit" if Ctrl-C or a deadline ended it.  Errors are those of
        :meth:`~convex_tsvm.solvers.CoordinateDescent.solve`.
        """
        began, coordinates, before = time.perf_counter(), self.coordinates, 0
        coordinates = coordinates if step.shift is None else None  # it knows no targets
        points, sparse = self.newton.points, isinstance(self.newton.points, SparsePoints)
        n, d = points.shape
        cost = self._newton_steps(step) * newton_step_cost(d, points.n_entries, _is_smooth(step), sparse)
        if coordinates is not None and not self._newton_at_once(step, cost):
            found = coordinates.descend(step, start, self.trial * cost * n / epoch_cost(n, points.n_entries))
            if found.status != "max_iter":
                return found
            before = found.n_iter
        # From a solution of a similar step finite Newton needs fewer steps than from where coordinate descent has come.
        found = self.newton.descend(step, start)
        self._n_steps = 0.5 * (self._newton_steps(step) + found.n_iter)
        if found.status in ("max_iter", "inaccurate") and coordinates is not None and not time_is_up():
            last = coordinates.descend(step, found)
            before, found = before + found.n_iter, min(found, last, key=lambda one: (one.status != "optimal", one.gap))
        found = dataclasses.replace(found, n_iter=before + found.n_iter, seconds=time.perf_counter() - began)
        if found.status in ("max_iter", "inaccurate"):
            warn(
                f"the linear solver ended with a relative duality gap of {found.gap:.2g}, and outputs {found.kkt:.2g} "
                f"from optimal, for tol={self.tol:g}; scale the points, or raise tol"
            )
        return found

    def improve(self, step: ConvexStep, start: StepSolution | None = None) -> StepSolution:
        """One Newton step from ``start`` where all losses are smooth, otherwise a solution (FiniteNewton.improve)."""
        if _is_smooth(step):
            return self.newton.improve(step, start)
        return self.solve(step, start)

    def _newton_at_once(self, step: ConvexStep, cost: float) -> bool:
        if self._n_steps is not None:
            return True  # it has taken over before, and a step that is like the last one takes it a few steps
        points = self.newton.points
        n, d = points.shape
        if _is_smooth(step) and not isinstance(points, SparsePoints) and self.points * d <= n:
            return True
        return cost <= self.epochs * epoch_cost(n, points.n_entries)

    def _newton_steps(self, step: ConvexStep) -> float:
        """How many steps finite Newton is expected to need; those it took lately count, the last half of all."""
        return newton_steps(*self.newton.points.shape, _is_smooth(step)) if self._n_steps is None else self._n_steps


def _is_smooth(step: ConvexStep) -> bool:
    return all(loss.is_smooth for loss in LinearSolver.takes.check(step, LinearSolver.name))


def epoch_cost(n: int, entries: int) -> float:
    """Seconds of an epoch of coordinate descent over n points with so many entries in all."""
    return 4e-8 * n + 6e-10 * entries


def newton_steps(n: int, d: int, smooth: bool) -> float:
    """Number of steps of finite Newton from the origin; most of them are for the kinks of losses."""
    return 4.0 + 6.0 * min(d / n, 1.0) if smooth else 20.0 + 0.2 * min(d, n)


def newton_step_cost(d: int, entries: int, smooth: bool, sparse: bool) -> float:
    """Seconds of a step of finite Newton on points with d features and so many entries in all.

    A step has a few products with the points, and a factorization where the features are few; where they are many,
    conjugate gradients, of which sparse points with kinks need most.
    """
    if not sparse and d <= Directions.most_dense:
        # Where there are no kinks, most steps form the sum of the squares of all points whose curvature is not zero.
        forming = 2e-11 * entries * d if smooth else 0.0
        return 3e-4 + 1.5e-9 * entries + forming + 2e-11 * d**3
    return 3e-4 + (7e-9 if smooth else 2e-8) * entries
