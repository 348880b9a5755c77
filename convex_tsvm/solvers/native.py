"""The native path: convex steps solved in the dual by compiled code."""

from __future__ import annotations

import dataclasses
import time
import warnings

import numpy as np

from ..convex_step import Array, ConvexStep, StepSolution, certify, check_same_points
from ..kernels import CentredRows, GramRows, RowSource, RowsWithMean, within_budget
from ..losses import indicator
from ..problem import Problem
from ..validation import finite, one_of
from .dual import DualPoint, DualProblem, solve_dual
from .flat import flatten


class NativeSolver:
    """Solver of the convex steps of one problem; kernel rows are kept from step to step.

    Parameters
    ----------
    problem : Problem
    tol : float > 0, default 1e-3
        Largest allowed violation of the optimality conditions, in units of the outputs.
    max_iter : int, default 1000
        Limit on working sets per step.
    cache_size : float, default 200
        Budget for kernel rows in MB, as in ``sklearn.svm.SVC``.  A matrix that fits is formed once.
    balance_by : {"centring", "x0"}, default "centring"
        How a balance constraint is met: by centring the kernel on the unlabelled points and fixing the bias
        (chapelle2008 eq. 13), or by the extra point x₀ with a free bias (collobert2006 eq. 10).  Same solution.

    Raises
    ------
    ValueError
        If an argument is not as stated.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        tol: float = 1e-3,
        max_iter: int = 1000,
        cache_size: float = 200,
        balance_by: str = "centring",
    ) -> None:
        self.problem, self.max_iter = problem, max_iter
        self.tol = finite("tol", tol, above=0)
        self.balance_by = one_of("balance_by", balance_by, ("centring", "x0"))
        self.max_bytes = int(finite("cache_size", cache_size, above=0) * 2**20)
        self._sources: dict[str, RowSource] = {}

    def solve(self, step: ConvexStep, start: StepSolution | None = None) -> StepSolution:
        """Solve one step.

        Parameters
        ----------
        step : ConvexStep
        start : StepSolution, optional
            A solution of a similar step, whose dual variables are the start.

        Returns
        -------
        StepSolution
            Its ``status`` is "max_iter" if the tolerance was not met within the limit, and "inaccurate" if rounding
            keeps it from being met; both also warn.

        Raises
        ------
        ValueError
            If the step is unbounded below, infeasible, or has another regularizer than "l2".
        """
        check_same_points(self.problem, step)
        if step.regularizer != "l2":
            raise ValueError(f"regularizer={step.regularizer!r}: the native solver takes 'l2' only; use solver='cvxpy'")
        began = time.perf_counter()
        balanced = step.target is not None
        with_x0 = balanced and (self.balance_by == "x0" or not step.fit_intercept)
        gamma = None if start is None else start.gamma
        losses, kind, cost, slope = step.losses, step.kind, step.cost, step.slope
        if with_x0:
            # x₀ is one more point, whose output must be c: a loss that is finite at c only.
            target = float(step.target)  # type: ignore[arg-type]
            losses = (*losses, indicator(target, target))
            kind, cost, slope = np.append(kind, len(losses) - 1), np.append(cost, 1.0), np.append(slope, 0.0)
            gamma = None if start is None else np.append(start.gamma, start.gamma0)
        centred = balanced and not with_x0
        dual = DualProblem(
            flatten(losses),
            np.asarray(kind, dtype=np.intp),
            np.asarray(cost, dtype=float),
            np.asarray(slope, dtype=float),
            self._rows("centred" if centred else "x0" if with_x0 else "plain"),
            offset=float(step.target) if centred else 0.0,  # type: ignore[arg-type]
            free_bias=step.fit_intercept and not centred,
        )
        before_solver = time.perf_counter()
        point = solve_dual(dual, gamma=gamma, tol=self.tol, max_iter=self.max_iter)
        solver_seconds = time.perf_counter() - before_solver
        solution = self._certify(step, dual, point, began, solver_seconds, with_x0)
        if solution.status != "optimal" and step.infeasibility(solution.outputs).max(initial=0.0) > self.tol:
            raise ValueError(
                "no point was found that meets the constraints written as losses: outputs miss them by "
                f"{solution.primal_infeasibility:.2g}; the problem is probably infeasible"
            )
        if solution.status == "max_iter":
            warnings.warn(
                f"the native solver stopped after {point.n_iter} working sets with a violation of "
                f"{point.violation:.2g} > tol={self.tol:g}; raise max_iter or tol",
                stacklevel=2,
            )
        elif solution.status == "inaccurate":
            warnings.warn(
                f"the native solver met tol={self.tol:g} only up to rounding: violation {solution.kkt:.2g}; "
                "the kernel's values are too large or too far apart (scale the points)",
                stacklevel=2,
            )
        return solution

    def _certify(
        self, step: ConvexStep, dual: DualProblem, point: DualPoint, began: float, solver_seconds: float, with_x0: bool
    ) -> StepSolution:
        gamma: Array = dual.gamma(point.s)
        gamma0 = float(gamma[-1]) if with_x0 else 0.0
        solution = certify(
            step, gamma[: self.problem.n], gamma0, point.bias, n_iter=point.n_iter, solver_seconds=solver_seconds
        )
        status = point.status
        if status == "optimal" and solution.kkt > 2 * self.tol:
            status = "inaccurate"
        return dataclasses.replace(solution, status=status, seconds=time.perf_counter() - began)

    def _rows(self, kind: str) -> RowSource:
        if kind not in self._sources:
            problem = self.problem
            base = problem.rows()
            if 8 * problem.n**2 <= self.max_bytes:
                base = GramRows(problem.gram)
            if kind == "centred":
                base = CentredRows(base, problem.unlabeled)
            elif kind == "x0":
                base = RowsWithMean(base, problem.unlabeled)
            self._sources[kind] = within_budget(base, self.max_bytes)
        return self._sources[kind]
