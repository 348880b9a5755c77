"""Additions of a formulation as CVXPY expressions, and points of steps that have some."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from ..formulations.groups import Addition
from ..instance.convex_step import ConvexStep
from ..problem import Array


def added_terms(
    additions: Sequence[Addition], w: cp.Expression, b: cp.Expression, f: cp.Expression, *, convex: bool = True
) -> tuple[list[cp.Expression], list[cp.Constraint]]:
    """The terms and constraints of additions, for weights or coefficients w, shape (d,) or (n,), the bias and outputs.

    A ValueError names an addition whose function fails, or returns what is not convex by CVXPY's rules (where it must
    be), no number, or no constraint.
    """
    terms: list[cp.Expression] = []
    constraints: list[cp.Constraint] = []
    for one in additions:
        try:
            found = one.function(w, b, f)
        except Exception as error:
            raise ValueError(f"addition {one.name!r} fails with {type(error).__name__}: {error}") from error
        term, limits = _parts(one, found)
        if term is not None:
            terms.append(_checked_term(one, term, convex))
        constraints += [_checked_constraint(one, limit, convex) for limit in limits]
    return terms, constraints


def _parts(one: Addition, found: Any) -> tuple[Any, list[Any]]:
    """The expression and the constraints of what a function returned."""
    if isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], (list, tuple, cp.Constraint)):
        return found[0], [found[1]] if isinstance(found[1], cp.Constraint) else list(found[1])
    if isinstance(found, (list, tuple)):
        return None, list(found)
    if isinstance(found, cp.Constraint):
        return None, [found]
    return found, []


def _checked_term(one: Addition, term: Any, convex: bool) -> cp.Expression:
    try:
        expression = cp.Expression.cast_to_const(term)
    except Exception:
        raise ValueError(
            f"addition {one.name!r} returns {term!r}; it must be a convex CVXPY expression, a list of constraints, or "
            "a pair of both"
        ) from None
    if expression.size != 1:
        raise ValueError(f"addition {one.name!r} has a term of shape {expression.shape}; it must be one number")
    if convex and not expression.is_convex():
        raise ValueError(
            f"addition {one.name!r} is not convex by CVXPY's rules: its curvature is {expression.curvature.lower()}"
        )
    return cp.sum(expression) if expression.shape else expression


def _checked_constraint(one: Addition, limit: Any, convex: bool) -> cp.Constraint:
    if isinstance(limit, cp.Constraint) and (not convex or limit.is_dcp()):
        return limit
    shown = "is not convex by CVXPY's rules" if isinstance(limit, cp.Constraint) else "is no CVXPY constraint"
    raise ValueError(f"addition {one.name!r}: its constraint {limit} {shown}")


@dataclass(frozen=True, eq=False)
class AddedPoint:
    """A point of a convex step with additions: a function, and figures that are recomputed from it.

    The dual of additions is not known, so that there is no certificate of optimality: that the point is optimal is the
    word of a solver of CVXPY's.
    """

    step: ConvexStep
    weights: Array | None  # w, in the linear space
    coefficients: Array  # a in f(x) = Σ a_i k(x_i, x) + b; zeros in the linear space
    bias: float
    outputs: Array
    regularization: float  # R(w) and the terms of the additions
    primal: float  # the step's objective
    primal_infeasibility: float  # the most by which an output misses its loss's domain, or a constraint is missed
    word: str  # the solver that calls the point optimal
    added: tuple[float, float]  # the terms of the additions, and by how much the worst of their constraints is missed
    status: str = "optimal"
    n_iter: int = 0
    seconds: float = 0.0
    solver_seconds: float = 0.0

    #: Nothing is known of the dual.
    dual = gap = kkt = dual_infeasibility = float("nan")
    lower_bound = None

    def recomputed(self) -> AddedPoint:
        """The same point with every figure computed from its function."""
        variables = self.coefficients if self.weights is None else self.weights
        report = {name: getattr(self, name) for name in ("word", "status", "n_iter", "seconds", "solver_seconds")}
        return added_point(self.step, variables, self.bias, self.added, **report)

    def judged(self, tol: float) -> AddedPoint:
        """The same, "inaccurate" where a constraint is missed by more than a tolerance."""
        if self.status == "optimal" and self.primal_infeasibility > tol:
            return dataclasses.replace(self, status="inaccurate")
        return self


def added_point(
    step: ConvexStep, variables: Array, bias: float, known: tuple[float, float], **report: Any
) -> AddedPoint:
    """The point of a function, w in the linear space or else coefficients, with every figure computed from it.

    ``known`` is what the terms are and by how much constraints are missed, for additions with variables of their own,
    whose values a function does not say; ``report`` is what a solver says of it.
    """
    problem, linear = step.problem, step.problem.is_linear
    outputs = (problem.linear_outputs(variables) if linear else problem.apply_kernel(variables)) + bias
    added = _added(step.additions, variables, bias, outputs) or known
    charged = float(step.regularizer.value(variables)) if linear else 0.5 * float(variables @ (outputs - bias))
    regularization = charged + added[0]
    missed = [added[1], float(step.infeasibility(outputs).max(initial=0.0))]
    if step.target is not None:
        missed.append(abs(float(outputs[step.members].mean()) - step.target))
    if step.rows is not None and len(step.rows):
        missed.append(float(step.rows.infeasibility(outputs).max()))
    return AddedPoint(
        step=step,
        weights=variables if linear else None,
        coefficients=np.zeros(problem.n) if linear else variables,
        bias=bias,
        outputs=outputs,
        regularization=regularization,
        primal=regularization + step.loss_value(outputs),
        primal_infeasibility=max(missed),
        added=added,
        **report,
    )


def _added(additions: Sequence[Addition], variables: Array, bias: float, outputs: Array) -> tuple[float, float] | None:
    """The terms at a function and by how much it misses constraints; None if these have variables of their own."""
    w, b, f = cp.Variable(len(variables)), cp.Variable(), cp.Variable(len(outputs))
    w.value, b.value, f.value = variables, bias, outputs
    terms, constraints = added_terms(additions, w, b, f)
    own = {one.id for part in (*terms, *constraints) for one in part.variables()} - {w.id, b.id, f.id}
    return None if own else values_of(terms, constraints)


def values_of(terms: Sequence[cp.Expression], constraints: Sequence[cp.Constraint]) -> tuple[float, float]:
    """The sum of terms whose variables have values, and by how much the worst constraint is missed."""
    missed = max((float(np.max(limit.violation(), initial=0.0)) for limit in constraints), default=0.0)
    return sum(float(term.value) for term in terms), missed
