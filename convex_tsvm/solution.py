"""What a method returns: labels, a decision function, and numbers that anyone can recompute."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .decision import DecisionFunctions
from .derivatives import Derivative, FixedPoint, backward
from .formulations import Formulation
from .instance import Instance, SmoothPoint, StepSolution
from .problem import Array, Problem
from .ties import is_positive


def relative_gap(objective: float, lower_bound: float) -> float:
    """(objective - lower bound) / |objective|."""
    return float((objective - lower_bound) / max(abs(objective), 1e-300))


@dataclass(frozen=True, eq=False)
class Expansion:
    """A decision function that came without a convex step; w is there where it is not Σ a_i x_i."""

    outputs: Array
    coefficients: Array
    bias: float
    regularization: float
    weights: Array | None = None


#: What every method ends with: a decision function and its outputs at a problem's points.
Point = StepSolution | SmoothPoint | Expansion


@dataclass(frozen=True, eq=False)
class Iteration:
    """One step of a method.

    Attributes
    ----------
    objective : float
        The formulation's objective at the full costs, whatever the step had.
    step_objective : float
        What the method lowers at this stage: the objective at the stage's costs, or with an entropy at its temperature.
        It cannot rise while the stage stays the same.
    stage : float
        The parameter of the schedule: a factor on C*, which is 1 in the end, or a temperature.
    changed : int
        Number of points whose part in the convex step had changed before it: their tangents, labels or probabilities.
    outputs : array, shape (n,), or None
        f after the step; None from solvers for so many points that it is not kept.
    primal, dual, kkt : float
        Certificate of the convex step; NaN for methods without one.
    n_inner : int
        Iterations of the inner solver.
    seconds, solver_seconds : float
        Whole time of the step, and the part inside the inner solver.

    Examples
    --------
    >>> step = ct.cccp(ct.cccp_tsvm(), problem).history[-1]
    >>> step.stage, step.kkt < 1e-3
    (1.0, True)
    """

    objective: float
    step_objective: float
    stage: float
    changed: int
    outputs: Array | None = field(repr=False)
    primal: float = np.nan
    dual: float = np.nan
    kkt: float = np.nan
    n_inner: int = 0
    seconds: float = 0.0
    solver_seconds: float = 0.0


@dataclass(frozen=True)
class Certificate:
    """Recomputed figures of the last convex step of a solution.

    Attributes
    ----------
    objective : float
        The objective at the solution.
    primal, dual, gap : float
        Values of the last convex step and its dual, and their relative difference.  Where its tangents are those at the
        solution, the values have the constant of the tangents, and so are that of the objective.
    kkt, primal_infeasibility, dual_infeasibility : float
        How far the point is from the optimality conditions (see ``StepSolution``).
    tangents_changed : int or None
        Number of points whose tangent at the solution is not the one used in the step: zero says that the step is
        tangent to the objective at its own solution, which is therefore a stationary point (CCCP has converged).  None
        for a step that is not made of tangents.
    word : str
        Whose word it is that the last convex step is solved, where that cannot be recomputed: the formulation has
        additions, whose dual is not known, so that ``dual``, ``gap`` and ``kkt`` are NaN.

    Examples
    --------
    >>> certificate = ct.cccp(ct.cccp_tsvm(), problem).certificate()
    >>> certificate.primal_infeasibility < 1e-9, certificate.gap < 1e-3, certificate.tangents_changed
    (True, True, 0)
    """

    objective: float
    primal: float
    dual: float
    gap: float
    kkt: float
    primal_infeasibility: float
    dual_infeasibility: float
    tangents_changed: int | None
    word: str = ""

    def __str__(self) -> str:
        missed = max(self.primal_infeasibility, self.dual_infeasibility)
        lines = [
            f"objective {self.objective:.8g}",
            f"last convex step: primal {self.primal:.10g}, dual {self.dual:.10g}, relative gap {self.gap:.1e}",
            f"optimality conditions met to {self.kkt:.1e}, constraints to {missed:.1e}",
        ]
        if self.word:
            lines[1:] = [
                f"last convex step: {self.primal:.10g}, constraints met to {self.primal_infeasibility:.1e}; that it is "
                f"optimal is {self.word}'s word, as the dual of additions is not known"
            ]
        if self.tangents_changed is not None:
            lines.append(f"tangents that differ at the solution: {self.tangents_changed}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """A point of a formulation.

    Attributes
    ----------
    point : Point
        The decision function; the solution of the last convex step, if there was one.
    objective : float
        The formulation's objective.
    status : {"converged", "max_iter", "inaccurate", "interrupted", "time_limit"}
        "inaccurate": the last step is not solved to the tolerance, as its recomputed gap and residuals have it.
    history : tuple of Iteration
    lower_bound : float or None
        A proven lower bound of the formulation's optimum, where one is known.
    solver : str
        What solved the method's problems, where it poses any.
    given_labels : array, shape (n,), or None
        The labels that the method chose, where they need not be the signs of the outputs: those of a prescribed number
        of positive ones, or of an exact search.
    n_positive : int or None
        The number of positive labels that a mean output, which ``problem`` has as its balance, was searched for.

    Examples
    --------
    >>> solution = ct.cccp(ct.cccp_tsvm(), problem)
    >>> solution.labels, solution.status
    (array([-1., -1., -1.,  1.,  1.,  1.]), 'converged')
    >>> solution.decision_function(np.array([[0.5]])) > 0
    array([ True])
    """

    formulation: Formulation
    problem: Problem
    point: Point
    objective: float
    status: str
    history: tuple[Iteration, ...] = ()
    seconds: float = 0.0
    lower_bound: float | None = None
    given_labels: Array | None = None
    solver: str = ""
    n_positive: int | None = None

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(objective={self.objective:.8g}, status={self.status!r}, n_iter={self.n_iter}, "
            f"n={self.problem.n})"
        )

    def __str__(self) -> str:
        problem = self.problem
        found = self.labels[self.formulation.kinds(problem) == 2]  # those without a label that are in no group
        bound = "" if self.lower_bound is None else f", lower bound {self.lower_bound:.8g}, gap {self.gap:.2%}"
        return "\n".join(
            [
                f"{self.formulation.name or 'Formulation'} on {problem.n_labeled} labelled and {problem.n_unlabeled} "
                f"unlabelled points, {problem.kernel}",
                f"objective {self.objective:.8g}{bound}",
                *([f"{(found > 0).sum()} of the {len(found)} unlabelled points are labelled +1"] if len(found) else []),
                f"{self.status} after {self.n_iter} steps{self.solver and f' by {self.solver}'}, {self.seconds:.3g} s",
            ]
        )

    @property
    def step(self) -> StepSolution:
        """The solution of the last convex step; an AttributeError if the method went without convex steps."""
        if not isinstance(self.point, StepSolution):
            raise AttributeError(f"this {type(self).__name__} came without a convex step")
        return self.point

    @property
    def has_step(self) -> bool:
        """Whether there is a last convex step, and with it a certificate."""
        return isinstance(self.point, StepSolution)

    @property
    def has_certificate(self) -> bool:
        """Whether there are figures that can be recomputed (:meth:`certificate`)."""
        return hasattr(self.point, "recomputed")

    @property
    def n_iter(self) -> int:
        """Number of steps, the supervised start not counted."""
        return len(self.history)

    @property
    def gap(self) -> float | None:
        """(objective - lower bound) / |objective|, None without a bound."""
        if self.lower_bound is None:
            return None
        return relative_gap(self.objective, self.lower_bound)

    @property
    def scores(self) -> Array:
        """Outputs f of all points, shape (n,)."""
        return self.point.outputs

    @property
    def labels(self) -> Array:
        """The labels chosen, or the signs of the outputs (+1 for zero), shape (n,)."""
        return np.where(is_positive(self.scores), 1.0, -1.0) if self.given_labels is None else self.given_labels

    @property
    def coefficients(self) -> Array:
        """a in f(x) = Σ a_i k(x_i, x) + b, shape (n,)."""
        return self.point.coefficients

    @property
    def bias(self) -> float:
        """The bias b."""
        return self.point.bias

    @property
    def regularization(self) -> float:
        """½ ‖w‖², or what else w costs."""
        return self.point.regularization

    @cached_property
    def function(self) -> DecisionFunctions:
        """The decision function, with no more than it needs of the problem."""
        return joint_function([self])

    @property
    def weights(self) -> Array | None:
        """w, shape (d,), for a linear kernel; otherwise None."""
        return self.function.weights[0] if self.problem.is_linear else None

    def decision_function(self, X: Any) -> Array:
        """f at new points, shape (m,).

        Parameters
        ----------
        X : array or sparse matrix, shape (m, d)
            New points; for a precomputed kernel its values with the training points, shape (m, n).
        """
        return self.function(X)[:, 0]

    def predict(self, X: Any) -> Array:
        """+1 or -1 for new points, shape (m,).

        Parameters
        ----------
        X
            As in :meth:`decision_function`.
        """
        return np.where(self.decision_function(X) >= 0, 1.0, -1.0)

    @cached_property
    def fixed_point(self) -> FixedPoint:
        """The stationary point that the solution is at, to the last digits, with its active set.

        A ValueError says if there is none, as where the mean output was searched for a number of labels.
        """
        if self.n_positive is not None:
            raise ValueError(f"balance: a number of labels, {self.n_positive}, has no derivative, as the mean moves")
        return FixedPoint(self.formulation, self.problem, self.point)

    def derivative(self, parameter: str | Callable[[float], tuple[Formulation, Problem]], side: int = 1) -> Derivative:
        """How outputs, coefficients, bias and objective move with a parameter.

        The active set stays: which outputs are at a kink of their loss, on which piece the others are, and which
        constraints are tight.  So do the tangents of concave parts: it is the derivative of a fixed point of
        concave-convex steps.  A ValueError says if the solution is not near enough to a stationary point, if there is
        no such parameter, or what of the formulation has no derivatives here (other regularizers than ½ ‖w‖²,
        additions, a number of labels).

        Parameters
        ----------
        parameter : str or callable
            "C", "C_unlabeled", "balance" (the mean output), "sigma", "gamma" or "coef0" of the kernel; a number of a
            loss of the catalogue, such as "s" (that of unlabelled points if both have one), "unlabeled.s" or
            "labeled.epsilon"; or a function of h that returns the formulation and the problem at h, for the derivative
            at h = 0 in any direction.
        side : {1, -1}, default 1
            Where an output is just about to reach or to leave a kink (``nearest_kink`` is 0) left and right derivative
            differ: 1 is for a parameter that rises, -1 for one that falls.

        Examples
        --------
        >>> solution = ct.cccp(ct.cccp_tsvm(), problem)
        >>> solution.derivative("balance").outputs[problem.unlabeled].mean().round(6)
        np.float64(1.0)
        """
        if side not in (1, -1):
            raise ValueError(f"side={side!r} must be 1 or -1")
        return self.fixed_point.derivative(parameter, side)

    def backward(self, gradient: Any, X: Any = None) -> dict[str, Any]:
        """Gradients of a function of outputs with respect to everything that the solution depends on.

        Parameters
        ----------
        gradient : array, shape (n,) or (m,)
            The function's gradient with respect to the outputs of the training points, or of X.
        X : array, shape (m, d), optional
            Other points.

        Returns
        -------
        dict
            A number for each parameter of :meth:`derivative`, NaN where it has none; "cost", shape (n,), with respect
            to every point's cost; for linear, Gaussian and polynomial kernels of dense points "X", shape (n, d), with
            respect to the training points, and "points", shape (m, d), to the others.

        Examples
        --------
        >>> solution = ct.cccp(ct.cccp_tsvm(), problem)
        >>> found = solution.backward(np.ones(6) / 6)
        >>> bool(np.isclose(found["C"], solution.derivative("C").outputs.mean()))
        True
        """
        return backward(self.fixed_point, gradient, X)

    def certificate(self) -> Certificate:
        """Recompute every figure from the dual variables, with nothing but the kernel.

        Where a descent on the smooth primal ended, the convex step is the one that is tangent there, and its dual
        variables are minus the slopes of the losses.  An AttributeError says if the method went without either.
        """
        instance = Instance(self.formulation, self.problem)
        changed, constant = None, 0.0
        point: Any = self.point if self.has_certificate else self.step
        again = point.recomputed()
        if not isinstance(point, SmoothPoint):
            step = point.step
            if instance.made_of_tangents(step):
                tangents = instance.tangents(again.outputs, step.cost)
                changed = int((np.abs(tangents - step.slope) > 1e-3 * step.cost).sum())
                constant = 0.0 if changed else instance.tangents_at_zero(again.outputs, step.cost)
        if self.given_labels is None or not self.formulation.is_about_labels:
            objective = instance.objective(again.outputs, again.regularization)
        else:
            objective = instance.labelled_objective(again.outputs, again.regularization, self.given_labels)
        return Certificate(
            objective=objective,
            primal=again.primal + constant,
            dual=again.dual + constant,
            gap=again.gap,
            kkt=again.kkt,
            primal_infeasibility=again.primal_infeasibility,
            dual_infeasibility=again.dual_infeasibility,
            tangents_changed=changed,
            word=getattr(again, "word", ""),
        )


def joint_function(solutions: Sequence[Solution]) -> DecisionFunctions:
    """The decision functions of solutions on the same points, as one object with a column of outputs for each."""
    points = [solution.point for solution in solutions]
    weights = [point.weights for point in points if point.weights is not None]
    intercept = np.array([point.bias for point in points])
    if len(weights) == len(points):
        return DecisionFunctions.on(solutions[0].problem, None, intercept, np.array(weights))
    return DecisionFunctions.on(solutions[0].problem, np.array([point.coefficients for point in points]), intercept)
