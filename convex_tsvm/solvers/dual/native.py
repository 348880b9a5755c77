"""The native path: convex steps solved in the dual by compiled code."""

import dataclasses
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...deadline import time_is_up
from ...instance.convex_step import ConvexStep, check_same_points
from ...instance.step_solution import StepSolution, certify
from ...instance.takes import Takes
from ...kernels import Device, why_not_on_device
from ...memory import cache_megabytes
from ...notice import warn
from ...parallel import one_blas_thread
from ...problem import Array, Problem
from ...validation import InfeasibleError, finite, integer, one_of
from .bags import solve_with_bags
from .dual_problem import DualPoint, DualProblem
from .rows_held import HeldRows
from .step_dual import RepeatedPoints, StepDual
from .working_sets import Strategy, solve_dual


class NativeSolver:
    """Solver of the convex steps of one problem; kernel rows are kept from step to step.

    Parameters
    ----------
    problem : Problem
        Steps may be about other signs of its labels, as in one-vs-rest: what is kept serves them all.
    tol : float > 0, default 1e-3
        Largest allowed violation of the optimality conditions, in units of the outputs, and relative duality gap.
    max_iter : int, default 1000
        Limit on working sets per step.
    cache_size : float or "auto", default "auto"
        Budget for kernel values in MB: the kernel matrix if it fits, otherwise the matrix of a working set and the rows
        used last.  "auto" is a quarter of the memory that is free, but 200 at least (as in ``sklearn.svm.SVC``), and no
        more than all rows take.
    precision : {"auto", "single", "double"}, default "auto"
        Of the kernel values that steps work with; sums of them are always double.  Single precision is twice as
        fast and holds twice as much.  "auto" takes it from 1000 points on, if ``tol`` is 1e-4 or more and the points
        are not so far apart that rounding would show.  What
        rounding does to the outputs is measured for every solution; if it is too much, the step is finished in double
        precision.
    balance_by : {"centring", "x0"}, default "centring"
        How a balance constraint is met: by centring the kernel on the unlabelled points and fixing the bias
        (chapelle2008 eq. 13), or by the extra point x₀ with a free bias (collobert2006 eq. 10).  Same solution.
    device : str, optional
        Where kernel rows are computed, by which library of the array API: ``"torch"``, ``"torch:cuda"``, ``"cupy"``.
        For dense points and the kernels "rbf" and "poly"; by NumPy if not given.
    progress : callable, optional
        Called as ``progress(n_iter, violation)`` before every working set.

    Attributes
    ----------
    strategy : Strategy
        What it has learnt of its problems: whether they are hard.

    Examples
    --------
    >>> solver = ct.solvers.NativeSolver(problem, tol=1e-6, cache_size=100)
    >>> ct.cccp(ct.cccp_tsvm(), problem, solver=solver).status
    'converged'
    """

    name = "native"
    takes = Takes(products=False, bags=True)

    gap_rounds = 6  # how often violations are made smaller for the sake of the duality gap

    def __init__(
        self,
        problem: Problem,
        *,
        tol: float = 1e-3,
        max_iter: int = 1000,
        cache_size: float | str = "auto",
        precision: str = "auto",
        balance_by: str = "centring",
        device: str | None = None,
        progress: Callable[[int, float], None] | None = None,
    ) -> None:
        self.problem, self.progress = problem, progress
        self.max_iter = integer("max_iter", max_iter, least=1)
        self.tol = finite("tol", tol, above=0)
        self.balance_by = one_of("balance_by", balance_by, ("centring", "x0"))
        one_of("precision", precision, ("auto", "single", "double"))
        on = None if device is None else Device(device)
        if on is not None and (why_not := why_not_on_device(problem.kernel, problem.X)) is not None:
            raise ValueError(f"device={device!r}: {why_not}")
        self._options = (int(cache_megabytes(cache_size, problem.n) * 2**20), precision, self.tol, on)
        self._repeated = RepeatedPoints.of(problem)
        self.strategy = Strategy()
        self.rises = True

    def threads(self) -> AbstractContextManager[Any]:
        """What runs are to hold while they use this solver: one thread of BLAS."""
        return one_blas_thread()

    def solve(self, step: ConvexStep, start: StepSolution | None = None) -> StepSolution:
        """Solve one step, from the dual variables of a solution of a similar one.

        That may be of another kernel or other costs; if it is of the same kernel, its outputs are used as well.  The
        status is "max_iter" if the tolerance was not met within the limit, "inaccurate" if rounding keeps it from being
        met (both also warn), and "interrupted" or "time_limit" if Ctrl-C or a deadline ended it: the solution is then
        the best point so far.  A ValueError says if the step is unbounded below, infeasible, or has another regularizer
        than "l2".
        """
        check_same_points(self.problem, step)
        self.takes.check(step, self.name)
        repeated = self._repeated if self._repeated is not None and self._repeated.can_merge(step) else None
        held = self._held if repeated is None else self._held_distinct
        with one_blas_thread():
            if step.additions:
                solution = solve_with_bags(self.solve, step, start, tol=self.tol)
            else:
                solving = _Solving(self, step, start, held, repeated)
                while solving.goes_on:
                    solving.take(solve_dual(solving.dual.problem, **solving.next()))
                solution = solving.solution
        self._complain(step, solution)
        return solution

    @cached_property
    def _held(self) -> HeldRows:
        return HeldRows(self.problem, *self._options)

    @cached_property
    def _held_distinct(self) -> HeldRows:
        assert self._repeated is not None
        return HeldRows(self._repeated.distinct, *self._options)

    def _complain(self, step: ConvexStep, solution: StepSolution) -> None:
        if solution.status not in ("max_iter", "inaccurate"):
            return
        if step.infeasibility(solution.outputs).max(initial=0.0) > self.tol:
            raise InfeasibleError(
                "no point was found that meets the constraints written as losses: outputs miss them by "
                f"{solution.primal_infeasibility:.2g}; the problem is probably infeasible"
            )
        if solution.status == "max_iter":
            warn(
                f"the native solver stopped after {solution.n_iter} working sets with a violation of "
                f"{solution.kkt:.2g} > tol={self.tol:g}; raise max_iter or tol"
            )
        else:
            largest = float((step.point_cost * step.problem.kernel.diag(step.problem.X)).max())
            warn(
                f"the native solver did not meet tol={self.tol:g}: violation {solution.kkt:.2g}, relative duality gap "
                f"{solution.gap:.2g}; costs times kernel values are up to {largest:.2g}, for which double precision "
                "has too few digits (scale the points, or take smaller costs)"
            )


class _Solving:
    """One call of :meth:`NativeSolver.solve`: the dual is solved again, while it ``goes_on``, until the gap is small.

    ``dual`` is the step in the precision and with the points that it is solved with.
    """

    solution: StepSolution  # the last one

    def __init__(
        self,
        solver: NativeSolver,
        step: ConvexStep,
        start: StepSolution | None,
        held: HeldRows,
        repeated: RepeatedPoints | None,
    ) -> None:
        self._began, self._solver_seconds, self.goes_on = time.perf_counter(), 0.0, True
        self._solver, self._step, self._held, self._repeated = solver, step, held, repeated
        self._has_risen, self._is_started = False, start is not None
        self._begin(start)

    def _begin(self, start: StepSolution | None) -> None:
        step, repeated = self._step, self._repeated
        if repeated is not None:
            step, start = repeated.merged(step), repeated.start(start)
        self.dual = StepDual(step, self._solver.balance_by, self._held)
        self._gamma, self._outputs = self.dual.begin(start, self._held.problem)
        self._n_before, self._round, self._tol = 0, 0, self._solver.tol

    def next(self) -> dict[str, Any]:
        """Arguments of :func:`solve_dual`."""
        self._before_solver = time.perf_counter()
        held, way = self._held, self.dual.way
        return {
            "gamma": self._gamma,
            "outputs": self._outputs,
            "tol": self._tol,
            "max_iter": self._solver.max_iter - self._n_before,
            "block_size": held.block_size(way) + self.dual.n_sums,
            "measure_rounding": self._measure if held.measures_rounding(way) else None,
            "rounding_tol": 0.25 * self._solver.tol,
            "within": self._solver.tol,
            "progress": self._progress,
            "strategy": self._solver.strategy,
        }

    def _measure(self, gamma: Array, outputs: Array) -> float:
        dual, held = self.dual, self._held
        own = (outputs - dual.problem.offset)[: held.problem.n]
        return held.rounding(dual.way, dual.coefficients(gamma), own)

    def _progress(self, n_iter: int, violation: float) -> None:
        if self._solver.progress is not None and (n_iter or not self._n_before):
            self._solver.progress(self._n_before + n_iter, violation)

    def take(self, point: DualPoint) -> None:
        """Make a solution of a dual point, and see whether another is needed: a smaller gap, or double precision."""
        self._solver_seconds += time.perf_counter() - self._before_solver
        self._n_before += point.n_iter
        self._round += 1
        self.solution = self._certified(point)
        self.goes_on = False
        if self.solution.gap > self._solver.tol and point.status == "optimal":
            # The gap is a sum of violations, of many points perhaps: it falls with them.
            self._tol *= float(np.clip(0.8 * self._solver.tol / self.solution.gap, 0.1, 0.5))
            # Single precision cannot be asked for violations below 1e-5.
            if self._round == self._solver.gap_rounds or (self._held.single and self._tol < 1e-5):
                self.solution = dataclasses.replace(self.solution, status="inaccurate")
            else:
                self._gamma, self._outputs, self.goes_on = self.dual.problem.gamma(point.s), point.h, True
        if self.solution.status != "inaccurate" or self.goes_on:
            return
        if self._held.use_double(whole=True):
            self._solver.strategy.is_hard = True
            self._begin(self.solution)
            self.goes_on = True
        elif self._is_started:
            # A start may be far out, where costs or constraints are others now: nothing is a start as good.
            self._is_started, self.goes_on = False, True
            self._begin(None)
        elif self._solver.rises and not self._has_risen:
            self._rise()

    def _rise(self) -> None:
        """Solve the dual with costs that rise to those that are asked for, and take that point if it is better.

        If its gap is above a tenth of the last one, it is not tried again for other steps of the problem.
        """
        self._has_risen, strategy = True, self._solver.strategy
        strategy.is_hard, strategy.least_for_augmented = True, 1
        began = time.perf_counter()
        options = self.next() | {"gamma": None, "outputs": None, "progress": None, "tol": self._solver.tol}
        point = solve_with_rising_costs(self.dual.problem, options)
        if point is None:
            return
        self._solver_seconds += time.perf_counter() - began
        self._n_before += point.n_iter
        risen = self._certified(point)
        self._solver.rises = risen.gap <= 0.1 * self.solution.gap or risen.status == "optimal"
        if risen.gap < self.solution.gap:
            good = risen.gap <= self._solver.tol or risen.status != "optimal"
            self.solution = risen if good else dataclasses.replace(risen, status="inaccurate")

    def _certified(self, point: DualPoint) -> StepSolution:
        step, dual, repeated = self._step, self.dual, self._repeated
        gamma = dual.problem.gamma(point.s)
        multipliers, applied = dual.multipliers(gamma), None
        if not dual.held.exact:
            applied = (point.h + dual.shift)[: dual.n]
            if dual.bias.centred:
                applied = applied - dual.held.centred_bias(dual.coefficients(gamma), dual.bias.offset)
        if repeated is not None:
            outputs = point.h + point.bias if dual.problem.free_bias else point.h
            multipliers["gamma"] = repeated.shares(step, dual.problem, point.s, outputs)
            applied = None if applied is None else applied[repeated.which]
        solution = certify(
            step,
            **multipliers,
            bias=point.bias,
            applied=applied,
            rounding=point.rounding,
            n_iter=point.n_iter,
            solver_seconds=self._solver_seconds,
        )
        status = point.status
        if not np.isfinite(solution.primal):
            # Squares have overflown: the point next to no multipliers at all is finite.
            none = dual.multipliers(np.zeros_like(gamma)) | {"gamma": np.zeros(step.problem.n)}
            solution, status = certify(step, **none, bias=0.0, n_iter=point.n_iter), "inaccurate"
        if status == "optimal" and not solution.kkt <= 2 * self._solver.tol:
            status = "inaccurate"
        return dataclasses.replace(solution, status=status, seconds=time.perf_counter() - self._began)


def solve_with_rising_costs(
    dual: DualProblem, options: dict[str, Any], *, rise: float = 10**0.5, begin_at: float = 1e3, most: int = 5000
) -> DualPoint | None:
    """Solve a dual whose costs are too large for its multipliers to be found from nothing.

    Costs multiply the box in which multipliers are, and not the outputs at which points pay: so the points that pay,
    and their shares of their costs, change little from one cost to the next, and are a start from which few steps are
    needed.  None if there are more variables than ``most``, as the dual is solved often, or if costs are not large.

    Options are those of :func:`solve_dual`.  Costs rise by the factor ``rise`` from one problem to the next, and begin
    where the largest, times the diagonal, is ``begin_at``.
    """
    largest = float((dual.cost * dual.rows.diag()).max(initial=0.0))
    if len(dual.kind) > most or not np.isfinite(largest) or largest <= begin_at * rise:
        return None
    shares = np.geomspace(begin_at / largest, 1.0, 1 + int(np.ceil(np.log(largest / begin_at) / np.log(rise))))
    s, n_iter = None, 0
    for share in shares:
        part = replace(dual, cost=share * dual.cost, slope=share * dual.slope)
        point = solve_dual(part, **options | {"gamma": None if s is None else part.gamma(s)})
        s, n_iter = point.s, n_iter + point.n_iter
        if share < 1 and (point.status == "interrupted" or time_is_up()):
            return None
    point.n_iter = n_iter
    return point
