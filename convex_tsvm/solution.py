"""What a method returns: labels, a decision function, and numbers that anyone can recompute."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .convex_step import StepSolution, certify
from .formulations import Formulation
from .problem import Array, Problem


def relative_gap(objective: float, lower_bound: float) -> float:
    """(objective - lower bound) / |objective|."""
    return (objective - lower_bound) / max(abs(objective), 1e-300)


@dataclass(frozen=True, eq=False)
class Iteration:
    """One step of a method.

    Attributes
    ----------
    objective : float
        The formulation's objective at the full costs, whatever costs the step had.
    step_objective : float
        The objective at the costs of the step: what cannot rise while these stay the same.
    scale : float
        Factor on C* in this step (annealing); 1 in the end.
    primal, dual, kkt : float
        Certificate of the convex step.
    changed : int
        Number of points whose tangent had changed before the step.
    n_inner : int
        Iterations of the inner solver.
    seconds, solver_seconds : float
        Whole time of the step, and the part inside the inner solver.
    outputs : array, shape (n,)
        f after the step.
    """

    objective: float
    step_objective: float
    scale: float
    primal: float
    dual: float
    kkt: float
    changed: int
    n_inner: int
    seconds: float
    solver_seconds: float
    outputs: Array = field(repr=False)


@dataclass(frozen=True)
class Certificate:
    """Recomputed figures of the last convex step of a solution.

    Attributes
    ----------
    objective : float
        The formulation's objective at the solution.
    primal, dual, gap : float
        Values of the last convex step and its dual, and their relative difference.
    kkt, primal_infeasibility, dual_infeasibility : float
        How far the point is from the optimality conditions (see ``StepSolution``).
    tangents_changed : int
        Number of points whose tangent at the solution is not the one used in the step: zero says that the step is
        tangent to the objective at its own solution, which is therefore a stationary point (CCCP has converged).
    """

    objective: float
    primal: float
    dual: float
    gap: float
    kkt: float
    primal_infeasibility: float
    dual_infeasibility: float
    tangents_changed: int

    def __str__(self) -> str:
        return (
            f"objective {self.objective:.8g}\n"
            f"last convex step: primal {self.primal:.10g}, dual {self.dual:.10g}, relative gap {self.gap:.1e}\n"
            f"optimality conditions met to {self.kkt:.1e}, constraints to "
            f"{max(self.primal_infeasibility, self.dual_infeasibility):.1e}\n"
            f"tangents that differ at the solution: {self.tangents_changed}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Solution:
    """A point of a formulation.

    Attributes
    ----------
    formulation : Formulation
    problem : Problem
    step : StepSolution
        The last convex step.
    objective : float
        The formulation's objective.
    status : {"converged", "max_iter", "inaccurate", "interrupted"}
        "inaccurate": an inner solver did not meet its tolerance in the last step.
    history : tuple of Iteration
    seconds : float
    lower_bound : float or None
        A proven lower bound of the formulation's optimum, where one is known.
    """

    formulation: Formulation
    problem: Problem
    step: StepSolution
    objective: float
    status: str
    history: tuple[Iteration, ...] = ()
    seconds: float = 0.0
    lower_bound: float | None = None

    @property
    def n_iter(self) -> int:
        """Number of convex steps, the supervised start not counted."""
        return len(self.history)

    @property
    def gap(self) -> float | None:
        """(objective - lower bound) / objective, None without a bound."""
        if self.lower_bound is None:
            return None
        return relative_gap(self.objective, self.lower_bound)

    @property
    def scores(self) -> Array:
        """Outputs f of all points, shape (n,)."""
        return self.step.outputs

    @property
    def labels(self) -> Array:
        """Sign of the outputs, +1 for zero, shape (n,)."""
        return np.where(self.scores >= 0, 1.0, -1.0)

    @property
    def coefficients(self) -> Array:
        """a in f(x) = Σ a_i k(x_i, x) + b, shape (n,)."""
        return self.step.coefficients

    @property
    def bias(self) -> float:
        """b."""
        return self.step.bias

    @property
    def weights(self) -> Array | None:
        """w, shape (d,), for a linear kernel; otherwise None."""
        if not self.problem.is_linear:
            return None
        if self.step.weights is not None:
            return self.step.weights
        return np.asarray(self.problem.X.T @ self.coefficients).ravel()

    def decision_function(self, X: Any) -> Array:
        """f at new points (for a precomputed kernel: at rows of the kernel with the training points)."""
        if self.step.weights is not None:
            return np.asarray(X @ self.step.weights).ravel() + self.bias
        return self.problem.kernel_with(X) @ self.coefficients + self.bias

    def predict(self, X: Any) -> Array:
        """+1 or -1 for new points."""
        return np.where(self.decision_function(X) >= 0, 1.0, -1.0)

    def certificate(self) -> Certificate:
        """Recompute every figure from the dual variables, with nothing but the kernel."""
        step = self.step.step
        again = certify(step, self.step.gamma, self.step.gamma0, self.step.bias, self.step.weights)
        objective = self.formulation.objective(self.problem, again.outputs, again.regularization)
        tangents = self.formulation.tangents(self.problem, again.outputs, step.cost)
        return Certificate(
            objective=objective,
            primal=again.primal,
            dual=again.dual,
            gap=again.gap,
            kkt=again.kkt,
            primal_infeasibility=again.primal_infeasibility,
            dual_infeasibility=again.dual_infeasibility,
            tangents_changed=int((np.abs(tangents - step.slope) > 1e-3 * step.cost).sum()),
        )
