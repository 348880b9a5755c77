"""Where a descent on a smooth primal ends, and how far that is from stationary."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..problem import Array


@dataclass(frozen=True, eq=False)
class SmoothPoint:
    """A point of a smooth primal: a decision function, and how far it is from stationary.

    Where every loss is split into a convex and a concave part and the concave ones are replaced by their tangents here,
    the convex problem that results has a dual whose value, at minus the slopes of the losses, is half the squared
    length of the gradient below the primal one.  That is the gap that is reported: 0 at a stationary point.

    Attributes
    ----------
    primal_of : SmoothPrimal
        The function that was descended, at the parameters of its last stage.
    outputs : array, shape (n,)
    coefficients : array, shape (n,)
        a in w = Σ a_i Φ(x_i); for weights of their own, those of the losses' slopes, which are the same in the end.
    weights : array, shape (d,), or None
        w in the linear space.
    primal : float
        The value of the function.
    squared_slope : float
        The squared length of its gradient.
    variables : array, shape (n_variables,)
        What was descended in: w, or β of an expansion, and the bias if that is free.
    status : {"optimal", "inaccurate", "max_iter", "interrupted", "time_limit"}
    """

    primal_of: Any
    outputs: Array
    coefficients: Array
    bias: float
    regularization: float
    weights: Array | None
    primal: float
    squared_slope: float
    variables: Array
    status: str = "optimal"
    n_iter: int = 0
    seconds: float = 0.0

    #: For callers that compare dual values: a stationary point of a non-convex function bounds nothing.
    lower_bound = None
    primal_infeasibility = 0.0
    dual_infeasibility = 0.0

    @property
    def solver_seconds(self) -> float:
        """All of it."""
        return self.seconds

    @property
    def dual(self) -> float:
        """The dual value of the convex problem that is tangent here."""
        return self.primal - 0.5 * self.squared_slope

    @property
    def kkt(self) -> float:
        """The length of the gradient, relative to ‖w‖ + 1."""
        return float(np.sqrt(self.squared_slope) / (1 + np.sqrt(2 * self.regularization)))

    @property
    def gap(self) -> float:
        """Half the squared length of the gradient, relative to the function's value."""
        return 0.5 * self.squared_slope / self.scale

    @property
    def scale(self) -> float:
        """What counts as large for a change of the function."""
        return scale_of(self.primal_of, self.primal, self.regularization)

    def judged(self, tol: float) -> "SmoothPoint":
        """The same with the status that its figures allow: "optimal" only if the gap is within ``tol``."""
        return self if self.gap <= tol or self.status != "optimal" else replace(self, status="inaccurate")

    def recomputed(self) -> "SmoothPoint":
        """The same with every figure computed from the coefficients, or from w, with nothing but the kernel."""
        problem = self.primal_of.instance.problem
        if self.weights is not None:
            x = np.append(self.weights, self.bias) if self.primal_of.free_bias else self.weights
            again = self.primal_of.point(x)
            return replace(again, status=self.status, n_iter=self.n_iter, seconds=self.seconds)
        applied = problem.apply_kernel(self.coefficients)
        outputs, regularization = applied + self.bias, 0.5 * float(self.coefficients @ applied)
        return replace(
            self,
            outputs=outputs,
            regularization=regularization,
            primal=regularization + self.primal_of.loss_at(outputs)[0],
            squared_slope=self.primal_of.slope_of(self.coefficients, outputs),
        )


def scale_of(primal: Any, value: float, regularization: float) -> float:
    """The value of a primal or its regularization, and no less than 1 or the sum of the costs."""
    return max(min(1.0, float(primal.cost.sum())), abs(value), regularization, 1e-300)
