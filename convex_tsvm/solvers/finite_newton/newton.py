"""Modified finite Newton for linear functions: convex steps solved in w, by products with the points alone.

Keerthi and DeCoste (2005), as sindhwani2006 §1.2 has it.  On the set of points where the losses bend, a Newton step is
regularized least squares (eq. 1.4); a line search along it is exact (eq. 1.5); the points that bend change from step to
step, and when they no longer do, the step ends at the solution.  Here the least squares of many variables are solved
roughly, few have the Hessian itself, kept from step to step, and -ψ'(f) is a point of the dual, whose gap is known at
every step: half the squared length of the gradient.
"""

import dataclasses
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import count, pairwise
from typing import Any

import numpy as np

from ...deadline import time_is_up
from ...instance.convex_step import ConvexStep, check_bounded, check_same_points
from ...instance.space import Space
from ...instance.step_solution import StepSolution, certify
from ...instance.takes import Takes
from ...losses import PLQ, Pieces
from ...notice import warn
from ...parallel import in_threads, n_parts, one_blas_thread, unsigned
from ...points import linear_points
from ...problem import Array, Problem
from ...validation import finite, integer
from .directions import Directions


class Terms:
    """Σ over the terms of a step of c ℓ_k(f_i) + β f_i, with ``losses`` without kinks in place of the step's own."""

    def __init__(self, step: ConvexStep, losses: tuple[PLQ, ...]) -> None:
        self.n, table, self._shift = step.problem.n, Pieces.of(losses), step.shift
        # What slopes of the step itself pay for the targets, which its losses are less of.
        self._constant = 0.0 if step.shift is None else float(step.point_slope @ step.shift)
        assert table.constant is not None
        breaks = np.ascontiguousarray(table.ends[:, 1:])  # loops read those between two pieces only
        pieces = np.stack([table.rate / 2, table.offset, table.constant], axis=2)
        sizes = table.count - 1
        point = np.zeros(0, dtype=np.intp) if step.point is None else step.point
        self._arrays = (breaks, pieces, unsigned(sizes), unsigned(step.kind), step.cost, step.slope, unsigned(point))
        # Terms of one run are of different points: threads that share a run do not write to the same place.
        starts = [0, *(np.flatnonzero(np.diff(point) <= 0) + 1).tolist(), len(step.kind)]
        # A run is divided into parts for threads, each with a number: fewer terms are not worth a second thread.
        counts, number = [1 + n_parts(size, 2**16) for size in np.diff(starts).tolist()], count()
        cuts = [np.linspace(*ends, n).astype(int).tolist() for ends, n in zip(pairwise(starts), counts, strict=True)]
        self._runs = [[(next(number), *part) for part in pairwise(run)] for run in cuts]
        self._all = [part for run in self._runs for part in run]

    def at(self, f: Array) -> tuple[float, Array, Array]:
        """The sum, and the slope and curvature for each output, both of shape (n,)."""
        from ._loops import evaluate

        g, h, sums = np.zeros(self.n), np.zeros(self.n), np.zeros(len(self._all))
        f = f if self._shift is None else f - self._shift

        def work(part: tuple[int, int, int]) -> None:
            k, first, last = part
            sums[k] = evaluate(*self._arrays, f, first, last, g, h)

        for run in self._runs:
            in_threads(work, run)
        return float(sums.sum()) + self._constant, g, h

    def along(self, f: Array, change: Array, t: float) -> tuple[float, float]:
        """First and second derivative of the sum at f + t · change, by t."""
        from ._loops import along

        found = np.zeros((len(self._all), 2))
        f = f if self._shift is None else f - self._shift

        def work(part: tuple[int, int, int]) -> None:
            k, first, last = part
            found[k] = along(*self._arrays, f, change, float(t), first, last)

        in_threads(work, self._all)
        down, bend = found.sum(axis=0)
        return float(down), float(bend)


class FiniteNewton:
    """Solver of the convex steps of one linear problem; it asks of the points products X p and Xᵀ q only.

    Parameters
    ----------
    problem : Problem
        With a linear kernel; its points may be larger than memory (:class:`~convex_tsvm.points.LinearPoints`).
    tol : float > 0, default 1e-3
        Largest relative duality gap.
    max_iter : int, default 200
        Limit on Newton steps for a convex step.
    progress : callable, optional
        Called as ``progress(n_iter, gap)`` before every Newton step.
    """

    #: Whether runs may keep a vector of n numbers for every step: no, as there may be millions of points.
    keeps_vectors = False

    name = "finite_newton"
    takes = Takes(losses="finite PLQ", constraints=False, kernels=False)

    # How kinks are rounded, and how far Newton steps go.
    # Widths of outputs over which kinks are rounded, first and last: they fall until the gap is small enough.
    first_width = 0.1
    least_width = 1e-9
    narrower = 0.3  # the width falls to no less than this share at once, since Newton steps would be short
    # It falls to this share where the last width took at most ``quick`` steps.
    much_narrower = 0.03
    quick = 2
    # Where so many steps are not enough from where the step before ended, the width is multiplied by ``widening``.
    near = 30
    widening = 10.0
    line_search = 1e-3  # a line search ends when the derivative has fallen to this share of that at its start
    # A descent ends after more steps in a row that neither halve the gap nor lower the objective by this share of it.
    stalled = 25
    lowered = 1e-9
    accuracy = 0.03  # the residual with which least squares are solved, as a share of the gradient

    def __init__(
        self,
        problem: Problem,
        *,
        tol: float = 1e-3,
        max_iter: int = 200,
        progress: Callable[[int, float], None] | None = None,
    ) -> None:
        self.takes.check_points(problem, self.name)
        self.problem, self.progress = problem, progress
        self.tol, self.max_iter = finite("tol", tol, above=0), integer("max_iter", max_iter, least=1)
        self.points = linear_points(problem.X)
        self._width = self.first_width
        self._directions: list[Directions] = []

    def threads(self) -> AbstractContextManager[Any]:
        """What runs are to hold while they use this solver: one thread of BLAS.

        Products go by parts, in threads of their own, and BLAS threads that wait for the next vector keep cores busy.
        """
        return one_blas_thread()

    def solve(self, step: ConvexStep, start: StepSolution | None = None) -> StepSolution:
        """Solve one step, from the w and bias of a similar one, to a duality gap of ``tol``.

        The status is "max_iter" or "inaccurate" if the gap was not reached (both also warn), and "interrupted" or
        "time_limit" if Ctrl-C or a deadline ended it.  Errors are those of
        :meth:`~convex_tsvm.solvers.CoordinateDescent.solve`.
        """
        found = self.descend(step, start)
        if found.status in ("max_iter", "inaccurate"):
            warn(
                f"the finite Newton solver ended after {found.n_iter} steps with a relative duality gap of "
                f"{found.gap:.2g} > tol={self.tol:g}; "
                + ("raise max_iter or tol" if found.status == "max_iter" and found.gap <= 1 else "scale the points")
            )
        return found

    def descend(self, step: ConvexStep, start: StepSolution | None = None) -> StepSolution:
        """The same without a warning."""
        began, losses = time.perf_counter(), self._check(step)
        x, f = self._begin(step, start)
        has_kinks = not all(loss.is_smooth for loss in losses)
        width, goal, n_iter = self._width if has_kinks else 0.0, 0.1 * self.tol, 0
        while True:
            smooth = tuple(loss.rounded(width) for loss in losses) if has_kinks else losses
            descent = NewtonDescent(self, step, smooth, x, f)
            is_kept = n_iter == 0 and 0 < width < self.first_width
            status = descent.run(min(self.max_iter - n_iter, self.near if is_kept else self.max_iter), goal, n_iter)
            x, f, n_iter = descent.x, descent.f, n_iter + descent.n_iter
            if is_kept and status == "max_iter" and n_iter < self.max_iter:
                width = min(self.widening * width, self.first_width)
                continue
            found = self._certified(step, descent, n_iter, began)
            if status != "optimal" or found.meets(self.tol):
                break
            if has_kinks and width > self.least_width:
                least = self.much_narrower if descent.n_iter <= self.quick else self.narrower
                narrowed = width * float(np.clip(0.5 * self.tol / max(found.gap, 1e-300), least, 0.5))
                width = max(narrowed, self.least_width)
            elif goal > 1e-6 * self.tol:
                goal *= 0.01
            else:
                status = "inaccurate"
                break
        if has_kinks:
            self._width = width
        return dataclasses.replace(found, status=status, seconds=time.perf_counter() - began)

    def improve(self, step: ConvexStep, start: StepSolution | None = None) -> StepSolution:
        """One Newton step from ``start``: its objective is lower; "optimal" if ``start`` was within the tolerance.

        Nothing is evaluated after the step: the dual variables are those of the point before it, and where there was a
        step neither value is known.
        """
        began, losses = time.perf_counter(), self._check(step)
        x, f = self._begin(step, start)
        if not all(loss.is_smooth for loss in losses):
            return self.solve(step, start)
        descent = NewtonDescent(self, step, losses, x, f)
        status = descent.run(1, 0.1 * self.tol, 0, evaluate_last=False)
        w = descent.space.weights(descent.x)
        regularization = 0.5 * float(w @ w)
        primal = regularization + descent.loss if status == "optimal" else np.nan
        return StepSolution(
            step=step,
            gamma=-descent.g,
            gamma0=float(descent.g.sum()) if descent.space.mean is not None else 0.0,
            bias=descent.space.bias(descent.x, step.target),
            weights=w,
            outputs=descent.f,
            regularization=regularization,
            primal=primal,
            dual=primal - descent.gap,
            kkt=0.0,
            primal_infeasibility=0.0,
            dual_infeasibility=0.0,
            doubt=np.inf,
            status=status,
            n_iter=descent.n_iter,
            seconds=time.perf_counter() - began,
        )

    def directions(self, step: ConvexStep) -> Directions:
        """The object that computes Newton directions for a step; one is kept for every way of treating the bias."""
        for known in self._directions:
            if known.space.serves(step.bias_by()):
                return known
        self._directions.append(Directions(Space(self.points, step.bias_by())))
        return self._directions[-1]

    def _begin(self, step: ConvexStep, start: StepSolution | None) -> tuple[Array, Array]:
        """Variables and outputs to start from: those of ``start`` if it has w, otherwise w = 0."""
        space = self.directions(step).space
        x = np.zeros(space.size)
        if start is None or start.weights is None:
            return x, np.full(self.problem.n, float(step.target or 0.0))
        x[: len(start.weights)] = start.weights
        if space.free_bias:
            x[-1] = start.bias
        bias = space.bias(x, step.target)
        if start.step.problem.X is self.problem.X and len(start.outputs) == self.problem.n:
            return x, start.outputs + (bias - start.bias)
        return x, space.outputs(x, step.target)

    def _check(self, step: ConvexStep) -> tuple[PLQ, ...]:
        check_same_points(self.problem, step)
        check_bounded(step)
        return self.takes.check(step, self.name)

    def _certified(self, step: ConvexStep, descent: "NewtonDescent", n_iter: int, began: float) -> StepSolution:
        bias, w = descent.space.bias(descent.x, step.target), descent.space.weights(descent.x).copy()
        return certify(step, -descent.g, 0.0, bias, w, n_iter=n_iter, seconds=time.perf_counter() - began)


class _Stalled:
    """Tells when steps have stalled: many in a row have neither halved the gap nor lowered the value noticeably."""

    def __init__(self, most: int) -> None:
        self._most, self._least, self._lowest, self._count = most, np.inf, np.inf, 0

    def after(self, gap: float, value: float, rounding: float) -> bool:
        """Whether steps have stalled, counting one more that has led to this gap and this value."""
        halved, lowered = gap < 0.5 * self._least, value < self._lowest - rounding
        self._least, self._lowest = gap if halved else self._least, min(self._lowest, value)
        self._count = 0 if halved or lowered else self._count + 1
        return self._count > self._most


class NewtonDescent:
    """Newton steps on one sum of losses without kinks, from variables x and their outputs f.

    At the current point ``loss`` is the sum of the losses, g and h are their slopes and curvatures at the outputs, all
    of shape (n,), and ``gap`` is the duality gap, which is valid as far as a free bias is optimal.
    """

    def __init__(self, solver: FiniteNewton, step: ConvexStep, losses: tuple[PLQ, ...], x: Array, f: Array) -> None:
        self.solver, self.directions = solver, solver.directions(step)
        self.space, self.terms = self.directions.space, Terms(step, losses)
        self.least = min(1.0, float(step.point_cost.sum()))
        self.x, self.f, self.n_iter, self.gap = x, f, 0, np.inf

    def run(self, max_iter: int, goal: float, n_before: int, evaluate_last: bool = True) -> str:
        """Newton steps until the gap, relative to the objective, is at most ``goal``; the status.

        ``n_before`` steps are counted as done before, for progress.  Without ``evaluate_last`` loss, slopes and gap are
        not computed at the point after the last step that is allowed.
        """
        solver, ridge = self.solver, self.space.ridge
        stalled = _Stalled(solver.stalled)
        while True:
            gradient = self._gradient()
            value = 0.5 * float(self.x @ (ridge * self.x)) + self.loss
            scale = max(self.least, abs(value))
            if self.solver.progress is not None:
                self.solver.progress(n_before + self.n_iter, self.gap / scale)
            if self.gap <= goal * scale:
                return "optimal"
            if self.n_iter >= max_iter:
                return "max_iter"
            if stalled.after(self.gap, value, solver.lowered * scale):
                return "inaccurate"
            if time_is_up():
                return "time_limit"
            try:
                if not self._step(gradient):
                    return "inaccurate"
            except KeyboardInterrupt:
                return "interrupted"
            except np.linalg.LinAlgError:
                return "inaccurate"  # numbers have overflown, or rounding has left none of their digits
            self.n_iter += 1
            if self.n_iter == max_iter and not evaluate_last:
                return "max_iter"

    def _gradient(self) -> Array:
        self.loss, self.g, self.h = self.terms.at(self.f)
        found = self.space.pull(self.g) + self.space.ridge * self.x
        self.gap = 0.5 * float(found @ found)
        return found

    def _step(self, gradient: Array) -> bool:
        """Take a Newton step with an exact line search; False if there is no finite step of positive length."""
        p = self.directions.newton(self.h, gradient, self.solver.accuracy)
        change = self.space.change(p)
        length = self._line_search(p, change, abs(float(gradient @ p)))
        if not (np.isfinite(length) and length > 0):
            return False
        # One assignment for both: Ctrl-C may come between two assignments, which would leave x and f of two points.
        self.x, self.f = self.x + length * p, self.f + length * change
        return True

    def _line_search(self, p: Array, change: Array, first: float) -> float:
        """The length t with the least objective along p: the root of a derivative that is piecewise linear, and rises.

        Newton's steps come to the piece with the root, and from there to the root itself; an interval that holds it
        keeps them from going astray.
        """
        ridge = self.space.ridge
        inner, square = float(self.x @ (ridge * p)), float(p @ (ridge * p))
        low, high, t = 0.0, np.inf, 1.0
        for _ in range(60):
            down, bend = self.terms.along(self.f, change, t)
            slope, bend = inner + t * square + down, square + bend
            if abs(slope) <= self.solver.line_search * first or not bend > 0:
                break
            if slope < 0:
                low = t
            else:
                high = t
            new = t - slope / bend
            if not low < new < high:
                new = 0.5 * (low + high) if high < np.inf else 2 * t
            if abs(new - t) <= 1e-12 * t:
                break
            t = new
        return t
