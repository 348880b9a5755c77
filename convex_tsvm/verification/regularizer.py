"""A regularizer's value, conjugate, weights and CVXPY expressions, held to each other."""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np

from ..formulations.regularizers import Regularizer
from ..problem import Array
from .report import Check


def regularizer_checks(regularizer: Regularizer, n_features: int) -> Iterator[Check]:
    """Checks of a regularizer on random weights; none for ½ ‖w‖², which nothing has to be derived from."""
    if regularizer.is_squared_norm:
        return
    rng = np.random.default_rng(0)
    sizes = np.geomspace(0.3, 10, 6)[:, None]
    slopes = [regularizer.into_domain(v) for v in sizes * rng.normal(size=(len(sizes), n_features))]
    reached = [_supremum(regularizer, v) for v in slopes]
    # What a solver found may be outside the domain of R by its tolerance, where the value is infinite.
    weights = [w for _, w in reached if np.isfinite(regularizer.value(w))] or [np.zeros(n_features)]
    values = [regularizer.value(w) for w in weights]
    written = [_least(*regularizer.expression(cp, cp.Constant(w))) for w in weights]
    conjugates = [regularizer.conjugate(v) for v in slopes]
    dual = [_least(*regularizer.conjugate_expression(cp, cp.Constant(v))) for v in slopes]
    largest = "the regularizer's conjugate is the largest value of v·w - R(w), found by CVXPY"
    for name, says, source, found, others in (
        ("value", "the regularizer's value is that of its CVXPY expression", "", written, values),
        ("conjugate", largest, "Fenchel", conjugates, [value for value, _ in reached]),
        ("dual", "the conjugate as a CVXPY expression has the same values", "", dual, conjugates),
    ):
        # A conic solver's value is compared.
        yield Check(f"regularizer_{name}", says, source, _apart(np.array(found), np.array(others)), 1e-5)
    triples = [(v, regularizer.weights(v), conjugate) for v, conjugate in zip(slopes, conjugates, strict=True)]
    gaps = [(regularizer.value(w) + c - v @ w) / (1 + abs(c)) for v, w, c in triples if w is not None]
    says = "R(w) + R*(v) = v·w at the weights that belong to v" if gaps else "v does not determine the weights"
    yield Check("regularizer_weights", says, "Fenchel-Young", float(np.abs(gaps).max(initial=0.0)), 1e-8)


def _supremum(regularizer: Regularizer, v: Array) -> tuple[float, Array]:
    """The largest v·w - R(w), and a w where it is reached."""
    w = cp.Variable(len(v))
    objective, constraints = regularizer.expression(cp, w)
    value = cp.Problem(cp.Maximize(v @ w - objective), constraints).solve(solver="CLARABEL")
    return float(value), np.zeros(len(v)) if w.value is None else np.asarray(w.value)


def _least(objective: cp.Expression, constraints: list[cp.Constraint]) -> float:
    """The value of an expression, which may have variables of its own."""
    return float(cp.Problem(cp.Minimize(objective), constraints).solve(solver="CLARABEL"))


def _apart(one: Array, other: Array) -> float:
    """The largest relative difference; infinite where one of them is infinite."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(one - other) / (1 + np.abs(other))
    return float(np.nan_to_num(apart, nan=np.inf).max())
