"""Convex losses, conjugates of PLQ ones, and additions as CVXPY expressions, and points of steps with additions."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

from ..formulations.groups import Addition
from ..formulations.regularizers import Regularizer
from ..instance.convex_step import ConvexStep
from ..losses import PLQ, Convex, ConvexLoss
from ..problem import Array


def loss_expression(
    loss: Convex, t: cp.Expression, scale: cp.Expression | None = None
) -> tuple[cp.Expression, list[cp.Constraint]]:
    """A convex loss of every entry of ``t``, and the constraints that keep ``t`` in its domain.

    With a ``scale`` z, for polyhedral losses that are finite, the perspective z ℓ(t / z).

    Written from a minimizer outwards: a ``pos`` term for every kink, ``huber(pos)`` for a curved piece of finite
    width, ``square(pos)`` for one without end.  The hinge is ``pos(1 - t)``, the squared hinge ``square(pos(1 - t))``.
    """
    if isinstance(loss, ConvexLoss):
        return loss.expression(cp, t), []
    if not loss.is_convex:
        raise ValueError(f"{loss!r} is not convex: only its convex part has a CVXPY expression (split() it first)")
    constraints: list[cp.Constraint] = []
    if np.isfinite(loss.lower):
        constraints.append(t >= loss.lower)
    if np.isfinite(loss.upper):
        constraints.append(t <= loss.upper)
    anchor = _anchor(loss)
    left, right = (float(d) for d in loss.derivatives(anchor))
    slope = float(np.clip(0.0, left, right))
    slope = slope if abs(slope) > 1e-14 else 0.0  # Less is rounding of the pieces of a loss.
    terms = [_times(slope, t)] if slope else []
    terms += _outwards(loss, anchor, right - slope, t, +1, scale)
    terms += _outwards(loss, anchor, slope - left, t, -1, scale)
    constant = float(loss(anchor)) - slope * anchor
    if constant or not terms:
        terms.append(cp.Constant(np.full(t.shape, constant)) if scale is None else _number_of(constant, scale))
    return sum_of(terms), constraints


class Segment(NamedTuple):
    """A part of a piece of a convex function, seen outwards from an anchor: a variable u from 0 to its length."""

    sign: int  # whether the argument rises (+1) or falls (-1) along it
    start: float  # the derivative where it begins
    rate: float  # by how much the derivative changes per unit, at least 0
    length: float  # may be infinite


def conjugate_segments(loss: PLQ) -> tuple[float, float, list[Segment]]:
    """A conjugate as a sum of bounded variables: the slope nearest to 0, the value there, and the segments around it.

    ℓ*(s) is the least value of ℓ*(anchor) + Σ sign · start · u + rate · u² / 2 with s = anchor + Σ sign · u, which
    fills the segments in their order, as the derivative rises.  For c ℓ + β (·) they become c times as long, which is
    how an SVM's dual has the box 0 <= α <= C; a loss with two kinks, such as the convex part of the symmetric ramp,
    gets two bounded variables, as collobert2006 has one for each label.
    """
    conjugate, found = loss.conjugate(), []
    anchor = float(np.clip(0.0, conjugate.lower, conjugate.upper))
    for (a, b, _), left, right in conjugate.spans() if conjugate.lower < conjugate.upper else ():
        for sign, near, far in ((1, max(left, anchor), right), (-1, min(right, anchor), left)):
            if sign * (far - near) > 0:
                found.append(Segment(sign, float(b + 2 * a * near if a else b), float(2 * a), abs(far - near)))
    return anchor, float(conjugate(anchor)), found


def sum_of(terms: list[cp.Expression]) -> cp.Expression:
    """Sum of expressions, without a leading zero."""
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


def rows_of(instance: Any, f: cp.Expression) -> list[cp.Constraint]:
    """The linear constraints of an instance on outputs f."""
    found: list[cp.Constraint] = []
    for sums, low, high in instance.dense_rows():
        total = cp.Constant(sums, name="row") @ f
        ends = [total == low] if low == high else [total >= low, total <= high]
        found += [end for end, size in zip(ends, (low, high), strict=False) if np.isfinite(size)]
    return found


def _anchor(loss: PLQ) -> float:
    """A finite point to write the loss from: a minimizer if there is one, else the end or breakpoint nearest to one."""
    _, first, last = loss.minimizers()
    if not np.isnan(first) and (np.isfinite(first) or np.isfinite(last)):
        return float(
            (first + last) / 2 if np.isfinite(first) and np.isfinite(last) else first if np.isinf(last) else last
        )
    finite = loss.edges[np.isfinite(loss.edges)]
    return float(finite[np.argmin(np.abs(finite))]) if len(finite) else 0.0


def _number_of(number: float, scale: cp.Expression | None) -> float | cp.Expression:
    """A number, or that number of scales."""
    return number if scale is None else _times(number, scale)


def _outwards(
    loss: PLQ, anchor: float, kink: float, t: cp.Expression, direction: int, scale: cp.Expression | None
) -> list[cp.Expression]:
    """Terms of the loss on one side of the anchor, as functions of the distance from it in that direction."""

    def beyond(place: float) -> cp.Expression:
        away = t - _number_of(place, scale) if direction > 0 else _number_of(place, scale) - t
        return cp.pos(away if place else t if direction > 0 else -t)

    terms = [_times(kink, beyond(anchor))] if 0 < kink < np.inf else []
    jumps = dict(zip(loss.breaks.tolist(), loss.slope_jumps().tolist(), strict=True))
    for (a, _, _), left, right in loss.spans()[::direction]:
        near, far = (max(left, anchor), right) if direction > 0 else (min(right, anchor), left)
        if direction * (far - near) <= 0:
            continue
        if near != anchor and jumps[near] > 0:
            terms.append(_times(jumps[near], beyond(near)))
        if a > 0:
            width = abs(far - near)
            terms.append(_times(a, cp.square(beyond(near)) if np.isinf(far) else cp.huber(beyond(near), width)))
    return terms


def _times(factor: float, expression: cp.Expression) -> cp.Expression:
    return expression if factor == 1 else -expression if factor == -1 else float(factor) * expression


def written(regularizer: Regularizer, w: cp.Variable) -> tuple[cp.Expression, list[cp.Constraint]]:
    """R(w) and the constraints on w; a ValueError names a regularizer that writes no convex number and a list."""
    must = "must be a convex number by CVXPY's rules, and a list of constraints"
    try:
        term, limits = regularizer.expression(cp, w)
        term, limits = cp.Expression.cast_to_const(term), list(limits)
    except Exception as error:
        raise ValueError(
            f"regularizer={regularizer!r}: its expression {must}; it fails with {type(error).__name__}: {error}"
        ) from error
    if term.size != 1 or not term.is_convex():
        shown = f"its shape is {term.shape}, its curvature {term.curvature.lower()}"
        raise ValueError(f"regularizer={regularizer!r}: its expression {must}; {shown}")
    return term, limits


def sizes_of(problem: cp.Problem, direction: cp.Parameter) -> Array:
    """The largest size of each coordinate, for a problem that maximizes a ``direction`` of them; infinite for none."""
    found = np.zeros(direction.size)
    for j in range(len(found)):
        for sign in (1.0, -1.0):
            direction.value = sign * np.eye(len(found))[j]
            try:
                value = problem.solve(solver=cp.CLARABEL)
            except cp.error.SolverError:
                value = np.inf
            found[j] = max(found[j], 0.0 if value is None or np.isneginf(value) else float(value))
    return found


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
    if found is None:
        raise ValueError(
            f"addition {one.name!r} returns None; it must be an expression, constraints, or a pair of both"
        )
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
    if expression.is_constant() and not np.isfinite(expression.value).all():
        raise ValueError(f"addition {one.name!r} returns {term!r}, which is no finite number")
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
