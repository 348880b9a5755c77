"""Convex steps solved through CVXPY."""

import re
import time
import warnings
from collections.abc import Mapping
from typing import Any

import cvxpy as cp
import numpy as np

from ..instance.convex_step import ConvexStep, check_bounded, check_same_points
from ..instance.step_solution import StepSolution, certify
from ..instance.takes import Takes
from ..losses import PLQ
from ..notice import warn
from ..problem import Problem
from ..validation import is_sparse, one_of
from .models import DualModel, PrimalModel, StepModel, structure

#: Options with which first-order methods are as accurate as certificates are looked at.
ACCURATELY: dict[str, dict[str, Any]] = {
    "SCS": {"eps_abs": 1e-8, "eps_rel": 1e-8, "max_iters": 100_000},
    "OSQP": {"eps_abs": 1e-8, "eps_rel": 1e-8, "max_iter": 100_000},
}


def installed_solver(name: Any) -> str:
    """A CVXPY solver's name as CVXPY writes it; a ValueError if there is none of that name."""
    written: str = name.upper() if isinstance(name, str) else name
    if written not in cp.installed_solvers():
        raise ValueError(f"cvxpy_solver={name!r} is not installed; CVXPY has {', '.join(cp.installed_solvers())}")
    return written


def solve_by(problem: cp.Problem, solver: str, **options: Any) -> None:
    """Solve a CVXPY problem by a solver; a ValueError if that is for problems of another kind, a RuntimeError if it
    fails.
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Forming a nonconvex expression")
            # Where rounding makes an interior-point method fail, shorter steps may do, or numbers as they are.
            others: list[dict[str, Any]] = [{"max_step_fraction": 0.9}, {"equilibrate_enable": False}]
            ways = [{}, *(one for one in others if solver == "CLARABEL" and not one.keys() & options.keys())]
            for number, way in enumerate(ways, start=1):
                try:
                    problem.solve(solver=solver, **options, **way)
                    break
                except cp.SolverError:
                    if number == len(ways):
                        raise
    except ValueError as error:
        if "quad_form canonicalization" not in str(error):
            raise
        raise ValueError(
            f"cvxpy_solver={solver!r} takes no quadratic objective, and a kernel matrix has no exact square root; use "
            "CLARABEL, SCS, OSQP or HIGHS"
        ) from None
    except cp.SolverError as error:
        # CVXPY says so of solvers that are for other problems; those of nonlinear programs are "not installed".
        of_others = r"cannot solve this problem|do not support the cones|no conic solvers exist among|is not installed"
        if re.search(of_others, str(error)):
            raise ValueError(
                f"cvxpy_solver={solver!r} cannot solve a problem of this kind; CLARABEL and SCS solve all of them"
            ) from None
        raise RuntimeError(f"cvxpy_solver={solver!r} failed: {error}") from error


def _why_no_point(step: ConvexStep, status: str) -> str:
    """What to say of a solver that ends with a step's problem, or its dual, as ``status``, without a point.

    A ValueError says so if the step is unbounded below.
    """
    plain = step.regularizer.is_squared_norm and not step.additions and all(isinstance(one, PLQ) for one in step.losses)
    if plain:
        check_bounded(step)
    fails = f"fails at costs up to C={step.point_cost.max(initial=0.0):g}"
    instead = "a smaller C, scaled points" + (", solver='native'" if plain else "") + " or another cvxpy_solver may do"
    if plain and not step.n_rows and all(isinstance(one, PLQ) and one.is_finite for one in step.losses):
        return f"{fails}: it reports a problem that has a solution as {status}; {instead}"
    return (
        f"reports the convex problem as {status}: its constraints cannot be met, it is unbounded below, or the solver "
        f"{fails}, where {instead}"
    )


class CvxpySolver:
    """Solver of the convex steps of one problem; each structure is compiled once.

    Parameters
    ----------
    form : {"auto", "primal", "dual"}, default "auto"
        Which problem is solved.  "auto" takes the primal in w for a linear space whose points have few non-zero
        entries, at most a quarter as many per point as there are points, and for the 1-norm; otherwise the dual.
        ``benchmarks/cvxpy_forms.py`` has the figures behind that.
    cvxpy_solver : str, default "CLARABEL"
        A CVXPY solver for quadratic programs, such as "SCS" or "OSQP", in whatever case.
    cvxpy_options : mapping, optional
        Passed to ``cvxpy.Problem.solve``; first-order methods are asked for 1e-8 by default.
    balance_by : {"centring", "x0"}, default "centring"
        See :class:`~convex_tsvm.modeling.DualModel`.

    Examples
    --------
    >>> by_cvxpy = ct.cccp(ct.cccp_tsvm(), problem, solver=ct.modeling.CvxpySolver(problem))
    >>> by_native = ct.cccp(ct.cccp_tsvm(), problem, tol=1e-8)
    >>> round(by_cvxpy.objective - by_native.objective, 6)
    0.0
    """

    takes = Takes(losses="convex", regularizers=True)

    #: What a point may miss, recomputed, for the word of a solver to be believed.
    accurate = 1e-3

    def __init__(
        self,
        problem: Problem,
        *,
        form: str = "auto",
        cvxpy_solver: str = "CLARABEL",
        cvxpy_options: Mapping[str, Any] | None = None,
        balance_by: str = "centring",
    ) -> None:
        self.form = one_of("form", form, ("auto", "primal", "dual"))
        self.balance_by = one_of("balance_by", balance_by, ("centring", "x0"))
        self.problem, self.solver = problem, installed_solver(cvxpy_solver)
        self.options = {**ACCURATELY.get(self.solver, {}), **(cvxpy_options or {})}
        self._models: dict[tuple[Any, ...], StepModel] = {}

    @property
    def name(self) -> str:
        """How a solution calls it."""
        return f"cvxpy ({self.solver})"

    def model(self, step: ConvexStep) -> StepModel:
        """The compiled problem for ``step``, with its parameters set."""
        check_same_points(self.problem, step)
        key = structure(step)
        if key in self._models:
            self._models[key].set(step)
            return self._models[key]
        form = self.form
        if form == "auto":
            plain = step.regularizer.is_squared_norm and all(isinstance(loss, PLQ) for loss in step.losses)
            readable = not plain or bool(step.additions)
            form = "primal" if readable or self._is_thin(int((step.point_cost > 0).sum())) else "dual"
        self._models[key] = PrimalModel(step) if form == "primal" else DualModel(step, self.balance_by)
        return self._models[key]

    def _is_thin(self, n_active: int) -> bool:
        """Whether X has fewer entries to factor than the kernel matrix of the dual has, by enough."""
        if not self.problem.is_linear:
            return False
        X = self.problem.X
        entries = X.nnz if is_sparse(X) else X.size
        return bool(entries / X.shape[0] <= n_active / 4)

    def solve(self, step: ConvexStep, start: StepSolution | None = None) -> Any:
        """Solve one step.  ``start`` is ignored: interior-point solvers take none.

        Of a step with additions it is an AddedPoint.  A ValueError says if the solver finds the step infeasible or
        unbounded, and a RuntimeError if it fails.
        """
        began = time.perf_counter()
        model = self.model(step)
        solve_by(model.problem, self.solver, enforce_dpp=True, **self.options)
        status = model.problem.status
        if status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
            raise ValueError(f"cvxpy_solver={self.solver!r} {_why_no_point(step, status)}")
        if status == cp.OPTIMAL_INACCURATE:
            warn(f"cvxpy_solver={self.solver!r} reached reduced accuracy only")
        stats = model.problem.solver_stats
        report: dict[str, Any] = {
            "status": "optimal" if status == cp.OPTIMAL else "inaccurate",
            "n_iter": int(stats.num_iters or 0),
            "solver_seconds": float(stats.solve_time or 0.0),
        }
        if step.additions:
            assert isinstance(model, PrimalModel)
            point = model.point(step, word=self.solver, seconds=time.perf_counter() - began, **report)
            return point.judged(self.accurate)
        solved = model.recover()
        gamma = np.zeros(self.problem.n)
        gamma[model.active] = solved.pop("gamma")
        found = certify(step, gamma, **solved, seconds=time.perf_counter() - began, **report)
        solution = found.judged(self.accurate)
        if status == cp.OPTIMAL and solution.status != "optimal":
            warn(
                f"cvxpy_solver={self.solver!r} calls its point optimal, but recomputed from it the relative duality "
                f"gap is {solution.gap:.2g} and the violation {solution.kkt:.2g}: scale the points"
            )
        return solution
