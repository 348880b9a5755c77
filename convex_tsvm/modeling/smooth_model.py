"""A formulation with smooth losses as a smooth, nonconvex CVXPY problem (disciplined nonlinear programming, CVXPY 1.9).

CVXPY hands such a problem, with all derivatives, to a solver such as Uno or IPOPT: ``problem.solve(nlp=True)``.  It is
there to be read and changed, as an oracle for the methods on the smooth primal, and for additions that are not convex.
"""

from typing import Any

import cvxpy as cp
import numpy as np

from ..kernels import kernel_factor
from ..kernels.functions import dense
from ..losses import PLQ, ConvexLoss, DCLoss, Exponential, Loss
from ..problem import Array
from .expressions import added_terms, loss_expression, rows_of, sum_of, written
from .printing import ReadableProblem


class SmoothModel:
    """min over w and b of R(w) + Σ c_i ℓ_i(f_i), with the losses themselves in place of tangents.

    A solver begins at the function whose outputs are nearest to ``outputs``, shape (n,), or at zero.  A ValueError says
    if a loss has no smooth expression.
    """

    def __init__(self, instance: Any, outputs: Array | None = None) -> None:
        instance = instance.without_targets()
        formulation, problem = instance.formulation, instance.problem
        linear = problem.is_linear
        features = dense(problem.X) if linear else kernel_factor(problem.gram, 1e-12)
        # Weights in the linear space, else coordinates in a factor of the kernel matrix.
        self.w = cp.Variable(features.shape[1], name="w")
        self.b: cp.Expression = cp.Variable(name="b") if formulation.fit_intercept else cp.Constant(0.0)
        self.f = cp.Variable(problem.n, name="f")
        objective, constraints = written(formulation.regularizer, self.w)
        product = cp.Constant(features, name="X" if linear else "Z") @ self.w
        constraints = [self.f - (product + self.b) == 0, *constraints]
        parts: dict[str, Any] = {}
        for kind, where in instance.paying():
            cost = cp.Constant(instance.cost[where], name=f"cost_{kind.name}")
            value, domain = smooth_expression(kind.of_output, self.f[where])
            objective, parts[kind.name] = objective + cost @ value, where
            constraints += domain
        constraints += rows_of(instance, self.f)
        terms, limits = added_terms(formulation.additions, self.w, self.b, self.f, convex=False)
        terms += [-one.minus(self.f) for one in formulation.additions if one.minus is not None]
        self.problem = ReadableProblem(cp.Minimize(sum_of([objective, *terms])), [*constraints, *limits], parts=parts)
        self._begin(features, np.zeros(problem.n) if outputs is None else np.asarray(outputs, dtype=float))

    def _begin(self, features: Array, outputs: Array) -> None:
        """Give the variables the values of the function whose outputs are nearest to some given ones."""
        columns = np.column_stack([features, np.ones(len(features))]) if isinstance(self.b, cp.Variable) else features
        x = np.linalg.lstsq(columns, outputs, rcond=1e-8)[0]
        self.w.value = x[: features.shape[1]]
        if isinstance(self.b, cp.Variable):
            self.b.value = x[-1]
        self.f.value = columns @ x


def smooth_expression(loss: Loss, t: cp.Expression) -> tuple[cp.Expression, list[cp.Constraint]]:
    """A loss of every entry of t, and the constraints that keep t in its domain.

    A ValueError says if it is neither convex nor smooth, or a concave part has no expression.
    """
    if isinstance(loss, Exponential):
        return loss.height * cp.exp(-loss.s * cp.square(t)), []
    if isinstance(loss, ConvexLoss) or (isinstance(loss, PLQ) and loss.is_convex):
        return loss_expression(loss, t)
    if isinstance(loss, DCLoss):
        written = getattr(loss.concave, "expression", None)
        if written is None:
            raise ValueError(
                f"{loss.name}: its concave part has no CVXPY expression; SmoothConcave(..., expression=) has one"
            )
        value, domain = smooth_expression(loss.convex, t)
        return value + written(cp, t), domain
    raise ValueError(
        f"{loss!r} is neither convex nor smooth: smooth problems are for exponential(), convex losses, and DCLoss "
        "whose concave part has an expression"
    )
